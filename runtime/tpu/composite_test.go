package tpu

import (
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestCheckpointGivesTheSameGradients compares with the plain function, dropout included, and counts what the tape holds.
func TestCheckpointGivesTheSameGradients(t *testing.T) {
	for _, m := range exec.Modes() {
		use(t, m)
		w := From([]float32{0.5, -1, 2, 0.25}).RequireGrad()
		f := func(x *Tensor) *Tensor { return x.Mul(w).Tanh().Dropout(0.5).Exp() }
		x := From([]float32{1, 2, 3, 4}).RequireGrad()
		run := func(f func(*Tensor) *Tensor) ([]float64, []float64) {
			Seed(3)
			w.ZeroGrad()
			x.ZeroGrad()
			f(x.Mul(2)).Sum().Backward()
			return w.Grad().Float64s(), x.Grad().Float64s()
		}
		gw, gx := run(f)
		cw, cx := run(Checkpoint(f).(func(*Tensor) *Tensor))
		if !slices.Equal(gw, cw) || !slices.Equal(gx, cx) {
			t.Errorf("%s: %v %v, with a checkpoint %v %v", m.Name, gw, gx, cw, cx)
		}
	}
}

// TestMeshgridXY wants the sizes of the first two axes swapped.
func TestMeshgridXY(t *testing.T) {
	use(t, exec.Debug)
	g := MeshgridXY(Of(1, 2), Of(3, 4, 5))
	if got := g[0].Ints(); !slices.Equal(got, []int{1, 2, 1, 2, 1, 2}) || g[0].Dim(0) != 3 {
		t.Errorf("got %v of %v", got, g[0].Spec())
	}
	if got := g[1].Ints(); !slices.Equal(got, []int{3, 3, 4, 4, 5, 5}) {
		t.Errorf("got %v", got)
	}
}
