package tpu

import (
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestLoopsDoNotLeak runs loops of small operations, whose results share their
// memory: what the collector finds gives its HBM back, computed or not.
func TestLoopsDoNotLeak(t *testing.T) {
	loops := []struct {
		name string
		turn func(x, a *Tensor) *Tensor
	}{
		{"a chain", func(x, a *Tensor) *Tensor { return x.Mul(a).Add(a) }},
		{"temporaries are freed", func(x, a *Tensor) *Tensor {
			return Tidy(func() *Tensor { return x.Mul(a).Add(a).Sub(a) })
		}},
		{"a result is freed before it is computed", func(x, a *Tensor) *Tensor {
			y := x.Mul(a)
			z := y.Add(a)
			y.Free()
			return z
		}},
		{"nobody wants a result", func(x, a *Tensor) *Tensor {
			x.Sub(a).Free()
			return x.Add(a)
		}},
		{"in place", func(x, a *Tensor) *Tensor {
			x.MulInPlace(a)
			x.AddInPlace(a)
			return x
		}},
		{"in place, while somebody else has the value", func(x, a *Tensor) *Tensor {
			y := x.Mul(a)
			z := y.Detach()
			y.AddInPlace(a)
			return z.Add(y)
		}},
		{"views", func(x, a *Tensor) *Tensor { return x.Reshape(2, 4).T().Mul(2).T().Reshape(8).Add(a) }},
	}
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse} {
		for _, l := range loops {
			d := use(t, m)
			a := From([]float32{0, 1, 0, 0, 1, 0, 0, 0})
			var live [2]int
			for i, turns := range []int{500, 2000} {
				x := a.Clone()
				for range turns {
					x = l.turn(x, a)
				}
				Sync(x)
				x.Free()
				for range 3 {
					runtime.GC()
					Of(1.0) // what the collector found is given back
				}
				live[i] = d.Device().HBM().Live()
			}
			if live[1] > live[0]+100 {
				t.Errorf("%s, %s: %d arrays, then %d", m.Name, l.name, live[0], live[1])
			}
		}
	}
}

// TestChipOfSmallTensors changes the chip while there is room for more small
// tensors beside the ones of the former.
func TestChipOfSmallTensors(t *testing.T) {
	for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse} {
		d := use(t, m)
		for i, chip := range []string{"v5e", "v5p"} {
			SetChip(chip)
			x := Ones(4)
			for range 3 { // launched at once when it has been before
				y := x.Add(x)
				Sync()
				if n := d.Device().HBM().Live(); n != 2 {
					t.Errorf("%s, chip %d: %d arrays, want 2", m.Name, i, n)
				}
				y.Free()
			}
			x.Free()
		}
	}
}
