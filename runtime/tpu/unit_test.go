package tpu

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/par"
	"github.com/tpush/tpush/runtime/simd"
)

// Products of bf16 that a unit of the processor computes have the same bits in
// every mode, on one thread and on two; asked for exact ones, those of f32.
func TestUnitProductsAgree(t *testing.T) {
	defer par.Default().SetThreads(0)
	var want, exact []float64
	for _, m := range exec.Modes() {
		for threads := range 2 {
			par.Default().SetThreads(threads + 1)
			use(t, m)
			Seed(4)
			x, y := Randn(80, 96).To(BF16), Randn(96, 128).To(BF16)
			f := func(x, y *Tensor) *Tensor { return x.MatMul(y).Add(1).Mul(2) }
			got := f(x, y).Float64s()
			compiled := Compile(f).(func(x, y *Tensor) *Tensor)(x, y).Float64s()
			SetExactBF16(true)
			slow := f(x, y).Float64s()
			wide := x.To(F32).MatMul(y.To(F32)).To(BF16).Add(1).Mul(2).Float64s()
			SetExactBF16(false)
			if want == nil {
				want, exact = got, slow
			}
			if !slices.Equal(got, want) || !slices.Equal(compiled, want) {
				t.Errorf("%s on %d threads: the product differs", m.Name, threads+1)
			}
			if !slices.Equal(slow, exact) || !slices.Equal(slow, wide) {
				t.Errorf("%s on %d threads: the exact product differs", m.Name, threads+1)
			}
		}
	}
	if simd.ChosenUnit() == simd.Exact && !slices.Equal(want, exact) {
		t.Error("without a unit, products are not exact")
	}
}
