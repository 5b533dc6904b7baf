//go:build !race

package tpu

import (
	"fmt"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestEagerOperationsAllocateTheirResults: batchSize small operations make one
// slab for their tensors, one for their values, what outlives these (a list, a husk
// and a shelf), the cleanup that ties the two together, and the buffers with their
// arrays; nothing else, whether or not the operations are kept. Larger arrays add
// their place among what waits and a buffer of the pool.
func TestEagerOperationsAllocateTheirResults(t *testing.T) {
	most := map[int]float64{4: 9, 1024: 16}
	for _, m := range []*exec.Mode{exec.Debug, exec.Strict} {
		for _, kept := range []int{0, 256} {
			for _, n := range []int{4, 1024} {
				t.Run(fmt.Sprintf("%s/%d/%d", m.Name, kept, n), func(t *testing.T) {
					d := use(t, m)
					d.SetHistory(kept, 64<<20)
					x, y := F32.Ones(n), F32.Ones(n)
					ops := func() {
						for range batchSize {
							x.Add(y)
						}
					}
					for range 2 * (kept/batchSize + 1) { // the first operations make a program, the first records their lists
						ops()
					}
					if got := testing.AllocsPerRun(50, ops); got > most[n] {
						t.Errorf("%v allocations for %d operations, want %v at most", got, batchSize, most[n])
					}
				})
			}
		}
	}
}

// TestLoopsAllocateTheirResults is the same of operations that are queued, and of
// compiled functions that are launched without their body.
func TestLoopsAllocateTheirResults(t *testing.T) {
	d := use(t, exec.DeferAndFuse)
	x, y := F32.Ones(4), F32.Ones(4)
	add := Compile(func(x, y *Tensor) *Tensor { return x.Add(y) }).(func(_, _ *Tensor) *Tensor)
	chain := Compile(func() *Tensor { return x.Add(y).Mul(y) }).(func() *Tensor)
	for _, c := range []struct {
		name string
		op   func()
	}{
		{"queued", func() { x.Add(y) }},
		{"compiled, one operation", func() { add(x, y) }},
		{"compiled, two operations", func() { chain() }},
	} {
		ops := func() {
			for range batchSize {
				c.op()
			}
		}
		for range 2 * keptLaunches / batchSize { // the first launches of a region make the room in which they are kept
			ops()
		}
		if got := testing.AllocsPerRun(50, ops); got > 11 {
			t.Errorf("%s: %v allocations for %d operations", c.name, got, batchSize)
		}
	}
	if d.Stats().Replays == 0 {
		t.Error("nothing was launched without its body")
	}
}

// keptLaunches is how many launches a dispatcher remembers.
const keptLaunches = 1024
