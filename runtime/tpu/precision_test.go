package tpu

import (
	"math"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
)

// products are calls that multiply x and y on the matrix unit.
var products = map[string]func(x, y *Tensor) *Tensor{
	"matmul": func(x, y *Tensor) *Tensor { return x.MatMul(y) },
	"addmm":  func(x, y *Tensor) *Tensor { return x.Slice(1, 0, 1).AddMM(x, y) },
	"einsum": func(x, y *Tensor) *Tensor { return Einsum("ij,jk->ik", x, y) },
	"linear": func(x, y *Tensor) *Tensor { return Linear(x, y.T(), LinearOptions{Bias: y.Index(0)}) },
	"conv":   func(x, y *Tensor) *Tensor { return Conv1D(x.Unsqueeze(0), y.Reshape(32, 32, 1)) },
	"grad": func(x, y *Tensor) *Tensor {
		w := x.Detach().Clone().RequireGrad()
		return GradWith(w.MatMul(y), GradOptions{Gradient: x.OnesLike().Add(1.0 / 3)}, w)[0]
	},
}

// TestPrecisionKeepsBits compares products in each precision with f64: one pass
// keeps 8 bits of the operands, three passes 16, six all 24.
func TestPrecisionKeepsBits(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		Seed(3)
		x, y := Randn(32, 32), Randn(32, 32)
		for name, f := range products {
			want := f(x.To(F64), y.To(F64)).Float64s()
			size := 0.0
			for _, w := range want {
				size = max(size, math.Abs(w))
			}
			for i, p := range exec.Precisions() {
				var got []float64
				WithPrecision(p, func() { got = f(x, y).Float64s() })
				worst := 0.0
				for k := range got {
					worst = max(worst, math.Abs(got[k]-want[k])/size)
				}
				bits := []float64{20, 14, 6}[i]
				if worst > math.Exp2(-bits) || worst < math.Exp2(-bits-9) {
					t.Errorf("%s: %s at %s is off by 2^%.1f", m.Name, name, p, math.Log2(worst))
				}
			}
		}
	}
}

// TestPrecisionIsPasses compares the bits of one pass with a product of rounded operands.
func TestPrecisionIsPasses(t *testing.T) {
	d := use(t, exec.Debug)
	x, y := Randn(5, 40), Randn(40, 7)
	want := x.To(BF16).To(F32).MatMul(y.To(BF16).To(F32))
	SetPrecision("default")
	if got := x.MatMul(y); !slices.Equal(got.Float64s(), want.Float64s()) {
		t.Error("one pass is not the product of the rounded operands")
	}
	b := x.To(BF16).MatMul(y.To(BF16)).Float64s()
	i := I32.Ones(3, 3).MatMul(I32.Ones(3, 3)).Float64s()
	SetPrecision("highest")
	if !slices.Equal(b, x.To(BF16).MatMul(y.To(BF16)).Float64s()) || i[0] != 3 {
		t.Error("products of bf16 or of integers depend on the precision")
	}
	var e *exec.PrecisionError
	if err := Try(func() { SetPrecision("medium") }); !asError(err, &e) || d.Precision() != kernel.PrecisionHighest {
		t.Errorf("got %v, precision %s", err, d.Precision())
	}
	before := d.CacheStats().Compilations
	x.MatMul(y)
	WithPrecision("high", func() { x.MatMul(y); x.Add(1) })
	x.Add(1)
	if n := d.CacheStats().Compilations - before; n != 2 {
		t.Errorf("%d programs more, want 2: a product at another precision, and a sum", n)
	}
}
