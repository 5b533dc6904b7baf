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
	shelf  *device.Shelf
	others []*Value // launched with a place of their own
	slab   *Slab    // when the history holds values of it: it is told of their end
}

// NewSlab makes a slab and its husk.
func (d *Dispatcher) NewSlab() (*Slab, *Husk) { return &Slab{}, &Husk{shelf: d.hbm.NewShelf()} }

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

// Slabs says whether results go to slabs now: when each is launched at once and
// Go's collector alone decides what lives.
func (d *Dispatcher) Slabs() bool {
	return d.roots == nil && d.mode.EveryOp
}
