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
	SlabValues = device.ShelfPlaces
	SlabBytes  = 4 << 10
)

// A Husk is what outlives a Slab: the places in HBM of its values. It leads to
// no value that could be collected with its slab.
type Husk struct {
	stand  device.Shelf
	shelf  *device.Shelf // stand
	gone   uint32        // the values that were dropped
	others []*Value      // launched with a place of their own
	slab   *Slab         // when the history holds values of it: it is told of their end
}

// NewSlab makes a slab and, of h, which is zero, its husk.
func (d *Dispatcher) NewSlab(h *Husk) *Slab {
	d.hbm.Shelve(&h.stand)
	h.shelf = &h.stand
	return &Slab{}
}

// A Slot is room for one value in a slab.
type Slot struct {
	Slab *Slab
	Husk *Husk // of the slab
	At   int
}

// Value gives the room.
func (s *Slot) Value() *Value { return &s.Slab.vals[s.At] }

// recorded notes that the history holds the value.
func (s *Slot) recorded() {
	if s.Husk.slab == nil {
		s.Husk.slab = s.Slab
	}
}

// room gives the room as that of a value that nobody has launched yet; without a
// slab a room of its own.
func (s *Slot) room() *Value {
	if s.Slab == nil {
		return new(Value)
	}
	v := s.Value()
	*v = Value{husk: s.Husk, slot: uint8(s.At)}
	return v
}

// A huskDrop says which values of a slab were dropped.
type huskDrop struct {
	husk *Husk
	mask uint32
}

// DropHusk is Drop for the values of a slab whose bits are set in mask.
func (d *Dispatcher) DropHusk(h *Husk, mask uint32) {
	d.dropped.mu.Lock()
	d.dropped.husks = append(d.dropped.husks, huskDrop{h, mask})
	d.dropped.some.Store(true)
	d.dropped.mu.Unlock()
}

// releaseHusks gives back the HBM of dropped slabs.
func (d *Dispatcher) releaseHusks(list []huskDrop) {
	for _, x := range list {
		x.husk.gone |= x.mask
		x.husk.shelf.Drop(x.mask)
		if s := x.husk.slab; s != nil {
			for m := x.mask; m != 0; m &= m - 1 {
				d.release(&s.vals[bits.TrailingZeros32(m)])
			}
		}
		for _, v := range x.husk.others {
			d.release(v)
		}
	}
}

// Slabs says whether results go to slabs now: when Go's collector alone decides
// what lives. The history takes down an operation that is queued in the long way.
func (d *Dispatcher) Slabs() bool {
	return d.roots == nil && (d.mode.EveryOp || d.past.ring == nil)
}

// needed says whether a queued value of a slab may still be used. Its tensor may
// be gone though it is not.
func (v *Value) needed() bool {
	return !v.spent && (v.husk.gone&(1<<v.slot) == 0 || v.holders > 1)
}

// homed notes that v, which was launched the long way, has a place in HBM of its own.
func (d *Dispatcher) homed(v *Value) {
	d.addLive(v)
	if v.husk != nil {
		v.husk.others = append(v.husk.others, v)
	}
}
