package tpu

import (
	"fmt"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestGradientsOfParts compares the gradients of parts, which are joined, with
// the weights of a sum over them.
func TestGradientsOfParts(t *testing.T) {
	for _, c := range []struct {
		name string
		loss func(x *Tensor) *Tensor // of x [3,4]
		want [12]float64
	}{
		{"unbind", func(x *Tensor) *Tensor {
			p := x.Unbind(0)
			return p[0].Add(p[1].Mul(2)).Add(p[2].Mul(3)).Sum()
		}, [12]float64{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}},
		{"unbind without one", func(x *Tensor) *Tensor {
			p := x.Unbind(1)
			return p[3].Mul(5).Add(p[0]).Sum()
		}, [12]float64{1, 0, 0, 5, 1, 0, 0, 5, 1, 0, 0, 5}},
		{"split", func(x *Tensor) *Tensor {
			p := x.Split(3, 1)
			return p[1].Sum().Mul(7).Add(p[0].Sum())
		}, [12]float64{1, 1, 1, 7, 1, 1, 1, 7, 1, 1, 1, 7}},
		{"one part", func(x *Tensor) *Tensor { return x.Narrow(1, -2, 1).Sum() }, [12]float64{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}},
		{"a gap between different parts", func(x *Tensor) *Tensor {
			return x.Narrow(1, 0, 2).Sum().Add(x.Select(1, -1).Mul(2).Sum())
		}, [12]float64{1, 1, 0, 2, 1, 1, 0, 2, 1, 1, 0, 2}},
		{"parts that overlap", func(x *Tensor) *Tensor {
			return x.Narrow(0, 0, 2).Sum().Add(x.Narrow(0, 1, 2).Mul(2).Sum())
		}, [12]float64{1, 1, 1, 1, 3, 3, 3, 3, 2, 2, 2, 2}},
		{"parts along two axes, and the whole", func(x *Tensor) *Tensor {
			return x.Select(0, 0).Sum().Add(x.Select(1, 1).Mul(2).Sum()).Add(x.Select(1, 0).Mul(3).Sum()).Add(x.Sum())
		}, [12]float64{5, 4, 2, 2, 4, 3, 1, 1, 4, 3, 1, 1}},
		{"steps", func(x *Tensor) *Tensor {
			return x.Slice(1, 0, 4, SliceOptions{Step: 2}).Sum().Add(x.Slice(1, 1, 4).Mul(2).Sum())
		}, [12]float64{1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2}},
		{"an empty part", func(x *Tensor) *Tensor { return x.Narrow(1, 2, 0).Sum().Add(x.Select(1, 2).Sum()) },
			[12]float64{0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0}},
	} {
		for _, m := range []*exec.Mode{exec.Strict, exec.DeferAndFuse, exec.Compiled} {
			t.Run(c.name+" "+m.Name, func(t *testing.T) {
				use(t, m)
				leaf := F64.Arange(12).View(3, 4)
				for _, through := range []bool{false, true} { // a leaf, and a result
					x := leaf.Detach().Clone().RequireGrad()
					y := x
					if through {
						y = x.Mul(1)
					}
					c.loss(y).Backward()
					if got := x.Grad().Float64s(); fmt.Sprint(got) != fmt.Sprint(c.want) {
						t.Errorf("got %v, want %v", got, c.want)
					}
					z := leaf.Detach().Clone().RequireGrad()
					if got := Grad(c.loss(z), z)[0].Float64s(); fmt.Sprint(got) != fmt.Sprint(c.want) {
						t.Errorf("asked for: got %v, want %v", got, c.want)
					}
				}
			})
		}
	}
}

// TestGradientOfPartsAgain differentiates the gradient of joined parts.
func TestGradientOfPartsAgain(t *testing.T) {
	use(t, exec.Strict)
	x := F64.Of(2.0, 3.0, 5.0).RequireGrad()
	p := x.Unbind(0)
	y := p[0].Mul(p[1]).Mul(p[2])
	g := GradWith(y, GradOptions{CreateGraph: true}, x)[0]
	h := Grad(g.Mul(F64.Of(1.0, 10.0, 100.0)).Sum(), x)[0]
	if got := fmt.Sprint(h.Float64s()); got != "[350 205 23]" {
		t.Error(got)
	}
}
