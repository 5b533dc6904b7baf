package device

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// HBM is the allocator of one device: best fit over address-ordered blocks,
// neighbours merged on free. It places; the bytes themselves live on the host.
// It is for one goroutine at a time; State alone may be called meanwhile.
//
// Every block, free or taken, stands in a list by address; the free ones also
// stand in a tree by size, so that both finding and merging take O(log n).
type HBM struct {
	mu           sync.Mutex // held by what changes, and by State
	limit, align int64
	used, peak   int64
	padding      int64
	live         int // taken blocks

	head, tail *Block   // by address
	free       *Block   // tree by size, then address
	fit        fit      // last search of the tree
	spare      []*Block // Blocks to use again
	blocks     []*[blocksMade]Block
	leaving    []*Block // scratch of Shelf.Drop
	random     uint32   // priorities of the tree

	sink  trace.Sink
	clock *Clock
	event trace.Event // scratch: a Sink keeps no reference
	// The type of the last event and its text: few types follow each other.
	spec     *shape.Spec
	specText string
}

// A Block is a piece of HBM. The holder may read it until Free.
// Bytes and Owner mean nothing in a free block, Owner nothing in a strip.
type Block struct {
	Addr  int64
	Size  int64 // multiple of the granule
	Bytes int64 // what the numbers need
	Owner Owner

	shelf       *Shelf // whose strip it is; nil: it is none
	from, count uint8  // of a strip: its first place on the shelf, and how many
	taken       bool
	loose       bool   // freed and not in the tree: while FreeAll runs
	prev, next  *Block // by address
	left, right *Block // free tree
	priority    uint32
	number      uint32 // among all Blocks, from 1 on
}

// NewHBM makes an allocator of limit bytes in granules of align. sink and clock may be nil.
func NewHBM(limit, align int64, sink trace.Sink, clock *Clock) *HBM {
	h := &HBM{align: max(align, 1), sink: sink, clock: clock, random: 0x9e3779b9}
	h.SetLimit(limit)
	return h
}

// Alloc takes padded bytes, rounded up to the granule, for an array whose numbers need bytes.
// A block of 0 bytes has no place. It returns *OutOfMemoryError when no free block is large enough.
func (h *HBM) Alloc(bytes, padded int64, o Owner) (*Block, error) {
	if b := h.TryAlloc(bytes, padded, &o); b != nil {
		return b, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return nil, h.Exhausted(bytes, padded, o)
}

// TryAlloc is Alloc that gives nil when no free block is large enough.
func (h *HBM) TryAlloc(bytes, padded int64, o *Owner) *Block {
	h.mu.Lock()
	size := h.roundUp(max(padded, bytes))
	if size == 0 {
		b := h.newBlock()
		b.Addr, b.Size, b.Bytes, b.Owner, b.taken, b.shelf = 0, 0, 0, *o, true, nil
		h.mu.Unlock()
		return b
	}
	f, stays := h.bestFit(size)
	if f == nil {
		h.mu.Unlock()
		return nil
	}
	b := h.carve(f, size, stays)
	b.Bytes, b.Owner = bytes, *o
	h.took(1, size, bytes)
	if h.sink != nil {
		h.emit(trace.Alloc, b)
	}
	h.mu.Unlock()
	return b
}

// carve makes the first size bytes of a free block a taken one. stays is that of bestFit.
func (h *HBM) carve(f *Block, size int64, stays bool) *Block {
	b := f
	switch {
	case f.Size == size:
		h.removeFree(f)
	default:
		b = h.newBlock()
		b.Addr, b.Size = f.Addr, size
		h.shorten(f, size, stays)
		h.linkBefore(b, f)
	}
	b.taken, b.shelf = true, nil
	return b
}

// shorten takes the first size bytes, and not all, from a free block.
func (h *HBM) shorten(f *Block, size int64, stays bool) {
	if !stays {
		h.removeFree(f)
	}
	f.Addr += size
	f.Size -= size
	if !stays {
		h.insertFree(f)
	}
}

// took counts arrays more, which take size bytes together and need bytes.
func (h *HBM) took(arrays int, size, bytes int64) {
	h.live += arrays
	h.used += size
	h.padding += size - bytes
	h.peak = max(h.peak, h.used)
}

// Fits says whether bytes can be taken now, in one piece.
func (h *HBM) Fits(bytes int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, _ := h.bestFit(h.roundUp(bytes))
	return f != nil
}

// Passes says whether bytes can be taken now, and counts them as if they had been
// for a moment.
func (h *HBM) Passes(bytes int64) bool {
	if h.sink != nil {
		b := h.TryAlloc(bytes, bytes, &Owner{What: "temp"})
		if b != nil {
			h.Free(b)
		}
		return b != nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	size := h.roundUp(bytes)
	f, _ := h.bestFit(size)
	if size > 0 && f == nil {
		return false
	}
	h.peak = max(h.peak, h.used+size)
	return true
}

// Free gives a block back. The caller must not use it afterwards.
func (h *HBM) Free(b *Block) {
	h.mu.Lock()
	h.release(b)
	h.settle(b)
	h.mu.Unlock()
}

// FreeAll is Free of each, in order: blocks that are neighbours are merged
// before they are put in order.
func (h *HBM) FreeAll(blocks []*Block) {
	h.mu.Lock()
	for _, b := range blocks {
		h.release(b)
	}
	for _, b := range blocks {
		if b.loose {
			h.settle(b)
		}
	}
	h.mu.Unlock()
}

// release ends the use of a block; it is free then, but not in the tree: loose.
func (h *HBM) release(b *Block) {
	if !b.taken {
		panic("device: block freed twice")
	}
	b.taken, b.loose = false, true
	if b.Size == 0 {
		return
	}
	h.live -= b.arrays()
	if b.shelf != nil {
		b.shelf = nil
	}
	h.used -= b.Size
	h.padding -= b.Size - b.Bytes
	if h.sink != nil {
		h.emit(trace.Free, b)
	}
}

// settle merges a loose block with the free ones beside it, loose or not, and
// puts the result into the tree.
func (h *HBM) settle(b *Block) {
	b.loose = false
	if b.Size == 0 {
		h.recycle(b)
		return
	}
	// Space above a lowered limit is not offered again.
	b.Size = min(b.Size, h.limit-b.Addr)
	if b.Size <= 0 {
		h.unlink(b)
		h.recycle(b)
		return
	}
	for p := b.prev; p != nil && !p.taken && p.Addr+p.Size == b.Addr; p = b.prev {
		b.Addr = p.Addr
		b.Size += p.Size
		h.absorb(p)
	}
	for n := b.next; n != nil && !n.taken && b.Addr+b.Size == n.Addr; n = b.next {
		size := min(n.Size, h.limit-n.Addr) // a loose one may lie beyond a lowered limit
		if size <= 0 {
			break
		}
		b.Size += size
		h.absorb(n)
	}
	h.insertFree(b)
}

// absorb takes away a free block that became part of its neighbour.
func (h *HBM) absorb(b *Block) {
	if !b.loose {
		h.removeFree(b)
	}
	b.loose = false
	h.unlink(b)
	h.recycle(b)
}

// Move hands a block to another owner, as donation does: no HBM is taken or
// given back, but the trace sees the old value end and the new one begin.
func (h *HBM) Move(b *Block, bytes int64, o Owner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.Size != 0 {
		h.padding += b.Bytes - bytes
		if h.sink != nil {
			h.used -= b.Size
			h.emit(trace.Free, b)
			h.used += b.Size
		}
	}
	b.Bytes, b.Owner = bytes, o
	if b.Size != 0 && h.sink != nil {
		h.emit(trace.Alloc, b)
	}
}

// Used is the HBM taken, in bytes.
func (h *HBM) Used() int64 { return h.used }

// Peak is the highest Used since the last ResetPeak.
func (h *HBM) Peak() int64 { return h.peak }

// ResetPeak starts a new peak at what is used now.
func (h *HBM) ResetPeak() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peak = h.used
}

// Limit is the size of the HBM, in bytes.
func (h *HBM) Limit() int64 { return h.limit }

// FreeBytes is what is not taken; 0 when the limit was lowered below Used.
func (h *HBM) FreeBytes() int64 { return max(0, h.limit-h.used) }

// Live counts the taken blocks that have a place.
func (h *HBM) Live() int { return h.live }

// Padding is the part of Used that holds no numbers.
func (h *HBM) Padding() int64 { return h.padding }

// SetLimit changes the size. Blocks beyond a lowered limit stay until they are
// freed; their space is then gone.
func (h *HBM) SetLimit(limit int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limit = max(0, limit) / h.align * h.align
	h.free, h.fit.size = nil, noFit
	var gap int64 // first address not covered yet
	for b := h.head; b != nil; {
		next := b.next
		if !b.taken {
			b.left, b.right = nil, nil
			h.unlink(b)
			h.recycle(b)
		}
		b = next
	}
	for b := h.head; b != nil; b = b.next {
		h.addFree(gap, min(b.Addr, h.limit), b)
		gap = b.Addr + b.Size
	}
	h.addFree(gap, h.limit, nil)
}

// addFree puts the free block [from, to) before next, or at the end.
func (h *HBM) addFree(from, to int64, next *Block) {
	if from >= to {
		return
	}
	b := h.newBlock()
	b.Addr, b.Size, b.taken = from, to-from, false
	h.linkBefore(b, next)
	h.insertFree(b)
}

// LargestFree is the largest block that can be taken now.
func (h *HBM) LargestFree() int64 {
	b := h.free
	if b == nil {
		return 0
	}
	for b.right != nil {
		b = b.right
	}
	return b.Size
}

// Fragmentation is the part of the free HBM that the largest free block does
// not hold: 0 when all is in one piece, near 1 when there are only crumbs.
func (h *HBM) Fragmentation() float64 {
	if f := h.FreeBytes(); f > 0 {
		return max(0, 1-float64(h.LargestFree())/float64(f))
	}
	return 0
}

// roundUp rounds n up to the granule; it saturates.
func (h *HBM) roundUp(n int64) int64 {
	if n > math.MaxInt64-h.align {
		return math.MaxInt64
	}
	n += h.align - 1
	if h.align&(h.align-1) == 0 {
		return n &^ (h.align - 1)
	}
	return n / h.align * h.align
}

func (h *HBM) emit(k trace.Kind, b *Block) {
	e := &h.event
	*e = trace.Event{
		Kind: k, Stack: b.Owner.Stack, Value: b.Owner.Value, Name: b.Owner.What,
		Bytes: b.Bytes, PaddedBytes: b.Size, InUseBytes: h.used,
	}
	if s := b.Owner.Spec; s != nil && s.Valid() {
		if s != h.spec {
			h.spec, h.specText = s, s.String()
		}
		e.Spec = h.specText
	}
	if h.clock != nil {
		e.AtNS = h.clock.HostNS
	}
	h.sink.Emit(e)
}

// blocksMade is how many Blocks are made at once: the collector looks at one
// array more quickly than at as many objects.
const blocksMade = 64

// newBlock gives a Block that is linked nowhere, with unspecified contents. It
// does not look into it: it may not be in any cache.
func (h *HBM) newBlock() *Block {
	k := len(h.spare) - 1
	if k < 0 {
		more := new([blocksMade]Block)
		h.blocks = append(h.blocks, more)
		for i := range more {
			more[i].number = uint32((len(h.blocks)-1)*blocksMade + i + 1)
			if i > 0 {
				h.spare = append(h.spare, &more[i])
			}
		}
		return &more[0]
	}
	b := h.spare[k]
	h.spare = h.spare[:k]
	return b
}

// block gives the Block of a number, nil for 0.
func (h *HBM) block(number uint32) *Block {
	if number == 0 {
		return nil
	}
	return &h.blocks[(number-1)/blocksMade][(number-1)%blocksMade]
}

// recycle keeps b, which is linked nowhere, for newBlock. It clears nothing:
// writing pointers is what costs time here, and the user sets every field.
func (h *HBM) recycle(b *Block) { h.spare = append(h.spare, b) }

// linkBefore puts b before next in the list by address; at the end when next is nil.
func (h *HBM) linkBefore(b, next *Block) {
	b.next = next
	if next != nil {
		b.prev = next.prev
		next.prev = b
	} else {
		b.prev = h.tail
		h.tail = b
	}
	if b.prev != nil {
		b.prev.next = b
	} else {
		h.head = b
	}
}

func (h *HBM) unlink(b *Block) {
	if b.prev != nil {
		b.prev.next = b.next
	} else {
		h.head = b.next
	}
	if b.next != nil {
		b.next.prev = b.prev
	} else {
		h.tail = b.prev
	}
	b.prev, b.next = nil, nil
}
