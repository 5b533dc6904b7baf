package tpu

import (
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestWritesOfAQueueInPlace writes large tensors in place while operations of the
// same queue, before and after the write, read what was there: former contents
// are seen by those that were asked for them.
func TestWritesOfAQueueInPlace(t *testing.T) {
	const n = 64 << 10 // larger than what is computed late
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
		t.Run(m.Name, func(t *testing.T) {
			use(t, m)
			first := func(x *Tensor) float64 { return x.Narrow(0, 0, 1).Sum().Item() }
			x, w := F32.Zeros(n).Add(1), F32.Zeros(n).Add(0.5)
			for turn := range 6 { // the same queue again and again
				was := float64(turn + 1)
				before := x.Mul(2)
				view := x.Narrow(0, 1, n-1)
				saved := x.Clone().RequireGrad()
				loss := saved.Mul(saved).Sum()
				late := x.Mul(3) // nobody asks for it before the write has run
				x.AddInPlace(w)
				x.AddInPlace(w)
				after := x.Mul(10)
				Sync(after)
				if got := first(after); got != 10*(was+1) {
					t.Errorf("turn %d: after the write %v", turn, got)
				}
				if got := first(before); got != 2*was {
					t.Errorf("turn %d: before the write %v", turn, got)
				}
				if got := first(late); got != 3*was {
					t.Errorf("turn %d: looked at afterwards %v", turn, got)
				}
				if got := first(view); got != was+1 {
					t.Errorf("turn %d: a view sees %v", turn, got)
				}
				loss.Backward()
				if got := first(saved.Grad()); got != 2*was {
					t.Errorf("turn %d: a gradient of %v", turn, got)
				}
			}
		})
	}
}
