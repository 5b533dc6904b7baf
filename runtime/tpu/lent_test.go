package tpu

import (
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestForgottenGradientsGoBack trains for some steps: gradients that nobody was
// given are gone when the next step begins, others stay.
func TestForgottenGradientsGoBack(t *testing.T) {
	const n = 64
	for _, m := range []*exec.Mode{exec.Debug, exec.Strict, exec.DeferAndFuse} {
		for _, shown := range []bool{false, true} {
			d := use(t, m)
			w, x := Full(0.5, n, n).RequireGrad(), Ones(n, n)
			var held []*Tensor
			var used int64
			for step := range 6 {
				Sync(Tidy(func() *Tensor {
					w.ZeroGrad()
					l := x.MatMul(w).Square().Mean()
					l.Backward()
					g := w.LentGrad()
					if shown {
						held = append(held, w.Grad())
					}
					NoGrad(func() { w.SubInPlace(g.Mul(0.1)) })
					return l.Detach()
				}))
				if now := d.Device().HBM().Used(); step > 1 && (now-used >= n*n*4) != shown {
					t.Errorf("%s, shown %v: step %d leaves %d more bytes", m.Name, shown, step, now-used)
				} else {
					used = now
				}
			}
			for _, g := range held {
				if g.Array().Buf == nil {
					t.Errorf("%s: a gradient that was given out is gone", m.Name)
				}
			}
		}
	}
}
