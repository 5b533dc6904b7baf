package tpu

import (
	"errors"
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
)

// inSlabs runs a test in the modes whose small results lie in slabs, without and
// with the last operations kept.
func inSlabs(t *testing.T, f func(t *testing.T, d *exec.Dispatcher)) {
	for _, m := range []*exec.Mode{exec.Debug, exec.Strict} {
		for _, kept := range []int{0, 64} {
			name := m.Name
			if kept > 0 {
				name += "/kept"
			}
			t.Run(name, func(t *testing.T) {
				d := use(t, m)
				d.SetHistory(kept, 1<<20)
				f(t, d)
			})
		}
	}
}

// TestResultsOfSlabsAreTold: whoever looks at the HBM sees each small result as
// the owner of a block of its own.
func TestResultsOfSlabsAreTold(t *testing.T) {
	inSlabs(t, func(t *testing.T, d *exec.Dispatcher) {
		x, y := F32.Ones(4), F32.Ones(4)
		var held []*Tensor
		for i := range 3 * batchSize {
			if i%3 == 0 {
				held = append(held, x.Mul(y))
			} else {
				held = append(held, x.Add(y))
			}
		}
		// One given up alone, and one written in place, leave the others as they are.
		free, written := held[40], held[41]
		id := written.Value().ID()
		free.Free()
		written.AddInPlace(x)
		owners := map[uint64]device.BlockInfo{}
		var used int64
		for _, b := range d.Device().HBM().State().Blocks {
			if b.Taken {
				used += b.Size
				owners[b.Owner.Value] = b
			}
		}
		if got := d.Device().HBM().Used(); got != used {
			t.Errorf("%d B are used, the blocks have %d", got, used)
		}
		for i, h := range held {
			v := h.Value()
			b, ok := owners[v.ID()]
			switch {
			case h == free:
				if ok {
					t.Error("what was freed has a block")
				}
			case !ok:
				t.Errorf("result %d has no block", i)
			case b.Owner.Op != v.OpNumber() || b.Owner.What != v.What() || b.Spec() != v.Spec().String() || b.Size != v.HBMBytes() || b.Bytes != v.Spec().Bytes():
				t.Errorf("result %d: %+v", i, b)
			}
		}
		if _, ok := owners[id]; ok {
			t.Error("the value that was written over has a block")
		}
		if got := written.Float32s()[0]; got != 3 {
			t.Errorf("the result written in place is %v", got)
		}
		runtime.KeepAlive(held)
	})
}

// TestFullHBMIsReclaimed: what the program has dropped makes room for what it
// makes, and what it holds does not.
func TestFullHBMIsReclaimed(t *testing.T) {
	inSlabs(t, func(t *testing.T, d *exec.Dispatcher) {
		x, y := F32.Ones(4), F32.Ones(4)
		first := x.Add(y)
		h := d.Device().HBM()
		const room = 4 * batchSize
		h.SetLimit(h.Used() + room*first.Value().HBMBytes())
		for range 10 * room {
			x.Add(y)
		}
		var held []*Tensor
		var oom *device.OutOfMemoryError
		err := Try(func() {
			for range room + 8 {
				held = append(held, x.Add(y))
			}
		})
		if err == nil { // Strict tells who reads
			err = Try(func() { held[len(held)-1].Float32s() })
		}
		if !errors.As(err, &oom) || oom.What != "add" || len(oom.Largest) == 0 || oom.Largest[0].What != "add" {
			t.Errorf("%d results in the room of %d: %v", len(held), room, err)
		}
		if len(held) < room-2*batchSize { // a slab that is not full keeps what was dropped of it
			t.Errorf("%d results of %d fitted", len(held), room)
		}
		if got := held[0].Float32s()[0] + first.Float32s()[0]; got != 4 {
			t.Errorf("what is held is %v", got)
		}
	})
}
