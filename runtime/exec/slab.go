package exec

import (
	"math/bits"

	"github.com/tpush/tpush/runtime/device"
)

// A Slab is room for values that are made one after the other, with one
// allocation for all. While one of them is held the memory of all stays.
type Slab struct{ vals [SlabValues]Value }

// SlabValues is how many values share a slab; the numbers of each take at most
// SlabBytes on the host.
const (
	SlabValues = 32
	SlabBytes  = 4 << 10
)

// At gives the room for value i, for Apply1At.
func (s *Slab) At(i int) *Value { return &s.vals[i] }

// A slabDrop says which values of a slab were dropped.
type slabDrop struct {
	slab *Slab
	mask uint32
}

// DropSlab is Drop for the values of a slab whose bits are set in mask. Slots
// that were never filled do not count.
func (d *Dispatcher) DropSlab(s *Slab, mask uint32) {
	d.dropped.mu.Lock()
	d.dropped.slabs = append(d.dropped.slabs, slabDrop{s, mask})
	d.dropped.some = true
	d.dropped.mu.Unlock()
}

// releaseSlabs gives back the HBM of dropped slabs.
func (d *Dispatcher) releaseSlabs(list []slabDrop) {
	for _, x := range list {
		for m := x.mask; m != 0; m &= m - 1 {
			if v := &x.slab.vals[bits.TrailingZeros32(m)]; v.id != 0 {
				d.leave(v, Swept)
			}
		}
	}
	if len(d.leaving) == 0 {
		return
	}
	if f, ok := d.dev.(device.BulkFreer); ok {
		f.FreeAll(d.leaving)
	} else {
		for _, b := range d.leaving {
			b.Free()
		}
	}
	clear(d.leaving)
	d.leaving = d.leaving[:0]
}

// leave is release with the buffer kept back, to be freed with others.
func (d *Dispatcher) leave(v *Value, s State) {
	if v.state == Constant || v.state == Failed {
		return
	}
	if v.kept > 0 || v.buf == nil {
		d.free(v, s)
		return
	}
	d.unlist(v)
	d.leaving = append(d.leaving, v.buf)
	v.state = s
}
