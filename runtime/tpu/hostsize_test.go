package tpu

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

func TestSizesThatHangOnNumbers(t *testing.T) {
	for _, m := range []*exec.Mode{exec.Debug, exec.DeferAndFuse} {
		use(t, m)
		x := Of(0.0, 1.0, 0.0, 3.0).RequireGrad()
		if got := x.Detach().Nonzero().Ints(); !slices.Equal(got, []int{1, 3}) {
			t.Errorf("nonzero gives %v, want [1 3]", got)
		}
		y := x.MaskedSelect(x.Gt(0.5))
		y.Backward(GradOptions{Gradient: Of(5.0, 7.0)})
		if got := y.Float64s(); !slices.Equal(got, []float64{1, 3}) {
			t.Errorf("masked_select gives %v, want [1 3]", got)
		}
		if got := x.Grad().Float64s(); !slices.Equal(got, []float64{0, 5, 0, 7}) {
			t.Errorf("the gradient is %v, want [0 5 0 7]", got)
		}
	}
}
