package device

import (
	"cmp"
	"slices"

	"github.com/tpush/tpush/trace"
)

// A BlockInfo is a copy of what is known of a block, free (Taken false) or taken.
type BlockInfo struct {
	Addr  int64
	Size  int64
	Bytes int64 // what the numbers need; Size minus Bytes is padding
	Taken bool
	Owner Owner
}

// Spec is the type of what is in the block, "" when it is no array.
func (b *BlockInfo) Spec() string {
	if b.Owner.Spec == nil || !b.Owner.Spec.Valid() {
		return ""
	}
	return b.Owner.Spec.String()
}

// An OwnerUse is what one source line holds.
type OwnerUse struct {
	Frame        trace.Frame // the line; zero when the place is not known
	What         string      // the Owner.What of its largest block
	Count        int
	Bytes        int64 // HBM, padding included
	PaddingBytes int64
	LargestBytes int64
	Spec         string // of its largest block
}

// An HBMState is a copy of the whole allocator.
type HBMState struct {
	Used, Peak, Limit, Free, LargestFree int64
	Padding                              int64
	Fragmentation                        float64
	Live                                 int
	Owners                               []OwnerUse
	Blocks                               []BlockInfo
}

// State copies everything. It may be called while another goroutine allocates.
func (h *HBM) State() HBMState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return HBMState{
		Used: h.used, Peak: h.peak, Limit: h.limit, Free: h.FreeBytes(), LargestFree: h.LargestFree(), Padding: h.padding,
		Fragmentation: h.Fragmentation(), Live: h.live, Owners: h.Owners(), Blocks: h.Blocks(),
	}
}

// largestOwners is how many lines an OutOfMemoryError lists.
const largestOwners = 10

// Blocks copies all blocks, free ones too, in the order of their addresses.
func (h *HBM) Blocks() []BlockInfo {
	all := make([]BlockInfo, 0, 2*h.live+1)
	for b := h.head; b != nil; b = b.next {
		if !b.taken {
			all = append(all, BlockInfo{Addr: b.Addr, Size: b.Size})
			continue
		}
		for i := range b.arrays() {
			all = append(all, b.piece(i))
		}
	}
	return all
}

// taken goes through what is taken, in the order of the addresses.
func (h *HBM) taken(yield func(*BlockInfo) bool) {
	for b := h.head; b != nil; b = b.next {
		if !b.taken {
			continue
		}
		for i := range b.arrays() {
			if p := b.piece(i); !yield(&p) {
				return
			}
		}
	}
}

// Owners adds up the taken blocks by source line (by What where the place is
// not known), largest first.
func (h *HBM) Owners() []OwnerUse {
	type key struct {
		cell, line int
		file, what string
	}
	index := map[key]int{}
	var all []OwnerUse
	for b := range h.taken {
		f := b.Owner.Stack.Top()
		k := key{cell: f.Cell, line: f.Line, file: f.File}
		if k == (key{}) {
			k.what = b.Owner.What
		}
		i, ok := index[k]
		if !ok {
			i = len(all)
			index[k] = i
			all = append(all, OwnerUse{Frame: f})
		}
		u := &all[i]
		u.Count++
		u.Bytes += b.Size
		u.PaddingBytes += b.Size - b.Bytes
		if b.Size > u.LargestBytes {
			u.LargestBytes, u.What, u.Spec = b.Size, b.Owner.What, b.Owner.spec().String()
		}
	}
	slices.SortStableFunc(all, func(a, b OwnerUse) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return all
}

// Exhausted describes the present state as the error of a request that cannot be met.
func (h *HBM) Exhausted(bytes, padded int64, o Owner) *OutOfMemoryError {
	e := &OutOfMemoryError{
		What: o.What, Spec: o.spec(), Stack: o.Stack,
		RequestedBytes: bytes, PaddedBytes: h.roundUp(max(padded, bytes)),
		FreeBytes: h.FreeBytes(), LargestFreeBytes: h.LargestFree(), LimitBytes: h.limit, UsedBytes: h.used,
		Fragmentation: h.Fragmentation(), PaddingBytes: h.padding,
	}
	e.Largest = h.Owners()
	if len(e.Largest) > largestOwners {
		e.Largest = e.Largest[:largestOwners]
	}
	var most int64
	for b := range h.taken {
		if p := b.Size - b.Bytes; p > most {
			most, e.MostPadded = p, *b
		}
	}
	return e
}
