package device

import (
	"math/bits"

	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// ShelfPlaces is how many homes stand on a shelf.
const ShelfPlaces = 32

// A Home is where a buffer notes its block of HBM. Who cleans up after buffers
// that Go's collector took keeps their homes, and so nothing of the buffers
// themselves. There are as many homes as buffers, and the collector finds those of
// all that it took: they hold numbers, which it need not follow.
type Home struct{ block uint32 }

// Empty says whether there is no block.
func (m *Home) Empty() bool { return m.block == 0 }

// Put notes a block, nil that there is none.
func (m *Home) Put(b *Block) {
	m.block = 0
	if b != nil {
		m.block = b.number
	}
}

// A Shelf is homes of arrays that are made one after the other and that mostly go
// together. Arrays of one size that lie one behind the other are one Block, a
// strip: one more makes it longer, and all go in one step. Their addresses, the
// peak and what is free are those of as many Blocks, and whoever looks at the HBM
// sees as many.
//
// It exists because a Block for each array is what an eager operation on small
// arrays costs: Go's collector has to walk through all of them. Arrays whose
// place in the program is known, or whose life is traced, have Blocks of their own.
type Shelf struct {
	hbm   *HBM
	homes [ShelfPlaces]Home
	last  *Block // a strip that may become longer
	kinds [kindsKept]*Kind
	first uint64 // what the numbers of the notes count from
	notes [ShelfPlaces]note
}

// kindsKept is how many kinds of arrays stand on a shelf; others have Blocks of their own.
const kindsKept = 16

// A Kind is what all results of an operation for one set of types have in
// common as owners. It is not to be written to.
type Kind struct {
	What string
	Spec *shape.Spec
}

// A note is an owner in few bytes: its kind, and its numbers less the first of
// its shelf. An owner whose numbers are further off has a Block of its own.
type note struct {
	value, op, launch int32
	kind              uint8
}

// noted gives the note of t; false when it can't be one. The lock is held.
func (s *Shelf) noted(t *Tenant) (n note, ok bool) {
	if s.kinds[0] == nil {
		s.kinds[0], s.first = t.Kind, t.Value
	}
	k := 0
	for s.kinds[k] != t.Kind {
		if k++; k == kindsKept {
			return note{}, false
		}
		if s.kinds[k] == nil {
			s.kinds[k] = t.Kind
		}
	}
	value, op, launch := int64(t.Value-s.first), int64(t.Op-s.first), int64(t.Launch)-int64(s.first)
	n = note{int32(value), int32(op), int32(launch), uint8(k)}
	return n, int64(n.value) == value && int64(n.op) == op && int64(n.launch) == launch
}

// A Tenant is an Owner in the making.
type Tenant struct {
	Kind   *Kind
	Value  uint64
	Op     uint64
	Launch int
	Stack  *trace.Stack
}

// Owner spells it out.
func (t *Tenant) Owner() Owner {
	return Owner{Value: t.Value, Op: t.Op, Launch: t.Launch, What: t.Kind.What, Spec: t.Kind.Spec, Stack: t.Stack}
}

// NewShelf makes an empty shelf.
func (h *HBM) NewShelf() *Shelf {
	s := &Shelf{}
	h.Shelve(s)
	return s
}

// Shelve makes s, which is zero, an empty shelf.
func (h *HBM) Shelve(s *Shelf) { s.hbm = h }

// Home gives the home at a place.
func (s *Shelf) Home(at int) *Home { return &s.homes[at] }

// TryAlloc is HBM.TryAlloc for the home at a place, which has nothing.
func (s *Shelf) TryAlloc(at int, bytes, padded int64, t *Tenant) bool {
	h := s.hbm
	h.mu.Lock()
	b, ok := s.strip(at, bytes, padded, t)
	h.mu.Unlock()
	if ok {
		return b != nil
	}
	o := t.Owner()
	b = h.TryAlloc(bytes, padded, &o)
	s.homes[at].Put(b)
	return b != nil
}

// strip is TryAlloc for an array that may be part of a strip; ok says whether it
// may. The lock is held.
func (s *Shelf) strip(at int, bytes, padded int64, t *Tenant) (b *Block, ok bool) {
	if s.hbm.sink != nil || t.Stack != nil || padded == 0 {
		return nil, false
	}
	n, ok := s.noted(t)
	if !ok {
		return nil, false
	}
	if b = s.place(at, bytes, padded); b != nil {
		s.homes[at].Put(b)
		s.notes[at] = n
	}
	return b, true
}

// A Size is what an array needs in HBM, and what it takes.
type Size struct{ Bytes, Padded int64 }

// TryAllocAll is TryAlloc for results that come one after the other, of these
// sizes again and again. It gives how many there was room for.
func (h *HBM) TryAllocAll(out []Result, sizes []Size) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := 0; i < len(out); i++ {
		r, z := &out[i], sizes[i%len(sizes)]
		b, ok := r.Shelf.strip(r.At, z.Bytes, z.Padded, &r.Tenant)
		switch {
		case ok && b == nil:
			return i
		case ok:
			same := 1
			for same < len(out)-i && sizes[(i+same)%len(sizes)] == z {
				same++
			}
			i += r.Shelf.lengthen(b, out[i+1:i+same], z)
			continue
		}
		h.mu.Unlock()
		ok = r.Shelf.TryAlloc(r.At, z.Bytes, z.Padded, &r.Tenant)
		h.mu.Lock()
		if !ok {
			return i
		}
	}
	return len(out)
}

// lengthen makes b, which has just got the array before, longer by as many of these
// as follow it there, and gives how many. It does what place would do with each
// while the block behind b is the best for them. The lock is held.
func (s *Shelf) lengthen(b *Block, out []Result, z Size) int {
	h := s.hbm
	size, f, at := h.roundUp(max(z.Padded, z.Bytes)), b.next, int(b.from)+int(b.count)
	if f == nil || h.fit.size != size || h.fit.best != f || f.Addr != b.Addr+b.Size {
		return 0
	}
	n := int64(0)
	for i := range out {
		r, rest := &out[i], f.Size-(n+1)*size
		if r.Shelf != s || r.At != at+i || r.Stack != nil || rest <= 0 || !h.fit.stays(rest, f.Addr+(n+1)*size) {
			break
		}
		note, ok := s.noted(&r.Tenant)
		if !ok {
			break
		}
		s.homes[r.At].Put(b)
		s.notes[r.At] = note
		n++
	}
	f.Addr += n * size
	f.Size -= n * size
	b.Size += n * size
	b.Bytes += n * z.Bytes
	b.count += uint8(n)
	h.took(int(n), n*size, n*z.Bytes)
	return int(n)
}

// place makes the last strip longer or begins one, nil when there is no room. The
// lock is held.
func (s *Shelf) place(at int, bytes, padded int64) *Block {
	h, b := s.hbm, s.last
	size := h.roundUp(max(padded, bytes))
	f, stays := h.bestFit(size)
	switch {
	case f == nil:
		return nil
	case b != nil && b.next == f && b.continues(at, size, bytes):
		if f.Size == size {
			h.removeFree(f)
			h.unlink(f)
			h.recycle(f)
		} else {
			h.shorten(f, size, stays)
		}
		b.Size += size
		b.Bytes += bytes
		b.count++
	default:
		b = h.carve(f, size, stays)
		b.Bytes, b.shelf, b.from, b.count = bytes, s, uint8(at), 1
		s.last = b
	}
	h.took(1, size, bytes)
	return b
}

// continues says whether an array for a place follows the strip: in the order of
// places, and in size. That it follows in HBM is known.
func (b *Block) continues(at int, size, bytes int64) bool {
	n := int64(b.count)
	return at == int(b.from+b.count) && size*n == b.Size && bytes*n == b.Bytes && b.Addr+b.Size == b.next.Addr
}

// Drop gives back what the homes whose bits are set in mask have.
func (s *Shelf) Drop(mask uint32) {
	h := s.hbm
	blocks := h.leaving[:0]
	for mask != 0 {
		at := bits.TrailingZeros32(mask)
		b := h.block(s.homes[at].block)
		if b != nil && b.shelf != nil {
			strip := b.places()
			if mask&strip != strip {
				s.split(b)
				continue
			}
			mask &^= strip
			clear(s.homes[b.from : b.from+b.count])
			s.forget(b)
		} else {
			mask &^= 1 << at
			s.homes[at].Put(nil)
		}
		if b != nil {
			blocks = append(blocks, b)
		}
	}
	h.FreeAll(blocks)
	clear(blocks)
	h.leaving = blocks[:0]
}

// places has the bits of the places of a strip.
func (b *Block) places() uint32 { return uint32(1<<b.count-1) << b.from }

// forget ends that b may become longer.
func (s *Shelf) forget(b *Block) {
	if s.last == b {
		s.last = nil
	}
}

// split gives each array of a strip a Block of its own.
func (s *Shelf) split(b *Block) {
	h := s.hbm
	h.mu.Lock()
	defer h.mu.Unlock()
	s.forget(b)
	next := b.next
	h.unlink(b)
	for i := range int(b.count) {
		x := h.newBlock()
		p := b.piece(i)
		x.Addr, x.Size, x.Bytes, x.Owner, x.taken, x.shelf = p.Addr, p.Size, p.Bytes, p.Owner, true, nil
		h.linkBefore(x, next)
		s.homes[int(b.from)+i].Put(x)
	}
	h.recycle(b)
}

// Alone gives the block that a home of this allocator notes, nil for none. It
// stands for no other array then.
func (h *HBM) Alone(m *Home) *Block {
	if b := h.block(m.block); b != nil && b.shelf != nil {
		b.shelf.split(b)
	}
	return h.block(m.block)
}

// arrays is how many arrays a taken block stands for.
func (b *Block) arrays() int {
	if b.shelf != nil {
		return int(b.count)
	}
	return 1
}

// piece describes array i of those that a taken block stands for.
func (b *Block) piece(i int) BlockInfo {
	if b.shelf == nil {
		return BlockInfo{Addr: b.Addr, Size: b.Size, Bytes: b.Bytes, Taken: true, Owner: b.Owner}
	}
	n, at := int64(b.count), int(b.from)+i
	s := b.shelf
	note := &s.notes[at]
	k := s.kinds[note.kind]
	return BlockInfo{Addr: b.Addr + b.Size/n*int64(i), Size: b.Size / n, Bytes: b.Bytes / n, Taken: true,
		Owner: Owner{Value: s.first + uint64(note.value), Op: s.first + uint64(note.op), Launch: int(int64(s.first) + int64(note.launch)), What: k.What, Spec: k.Spec}}
}
