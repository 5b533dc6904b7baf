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
