package pjrt_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// train takes three steps of a small network and gives its losses and weights.
// place puts tensor i (x, y, w1, w2) where it belongs.
func train(place func(i int, x *tpu.Tensor) *tpu.Tensor) (out []float64) {
	tpu.Seed(7)
	x, y := place(0, tpu.Randn(16, 8)), place(1, tpu.Randn(16, 4))
	w1, w2 := place(2, tpu.Randn(8, 12).Mul(0.3)).RequireGrad(), place(3, tpu.Randn(12, 4).Mul(0.3)).RequireGrad()
	for range 3 {
		loss := x.MatMul(w1).ReLU().MatMul(w2).Sub(y).Square().Mean()
		loss.Backward()
		out = append(out, loss.Item())
		tpu.NoGrad(func() {
			for _, w := range []*tpu.Tensor{w1, w2} {
				w.SubInPlace(w.Grad().Mul(0.1))
				w.ZeroGrad()
			}
		})
	}
	return append(append(out, w1.Float64s()...), w2.Float64s()...)
}

// TestTrainingIsTheSame: cut over a mesh, in each mode, a training step gives
// the numbers of one device.
func TestTrainingIsTheSame(t *testing.T) {
	d := meshed(t, 4)
	in := func(m *exec.Mode, f func()) {
		defer tpu.Use(exec.New(d, exec.Options{Mode: m}))()
		f()
	}
	for _, m := range []*exec.Mode{exec.Debug, exec.Compiled} {
		var want []float64
		in(m, func() { want = train(func(_ int, x *tpu.Tensor) *tpu.Tensor { return x }) })
		for name, tt := range map[string]struct {
			dims  []int
			names []string
			at    [4][]tpu.Placement
		}{
			"data parallel":   {[]int{4}, []string{"dp"}, [4][]tpu.Placement{{tpu.Shard(0)}, {tpu.Shard(0)}, {tpu.Replicate()}, {tpu.Replicate()}}},
			"tensor parallel": {[]int{4}, []string{"tp"}, [4][]tpu.Placement{{tpu.Replicate()}, {tpu.Replicate()}, {tpu.Shard(1)}, {tpu.Shard(0)}}},
			"both": {[]int{2, 2}, []string{"dp", "tp"}, [4][]tpu.Placement{
				{tpu.Shard(0), tpu.Replicate()}, {tpu.Shard(0), tpu.Replicate()}, {tpu.Replicate(), tpu.Shard(1)}, {tpu.Replicate(), tpu.Shard(0)}}},
		} {
			t.Run(fmt.Sprint(m.Name, " ", name), func(t *testing.T) {
				in(m, func() {
					mesh := tpu.InitDeviceMesh(tt.dims, tt.names...)
					got := train(func(i int, x *tpu.Tensor) *tpu.Tensor { return tpu.DistributeTensor(x, mesh, tt.at[i]...) })
					for i := range want {
						if math.Abs(got[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
							t.Fatalf("number %d is %v, want %v", i, got[i], want[i])
						}
					}
					w := tpu.DistributeTensor(tpu.Ones(8, 12), mesh, tt.at[2]...)
					if p := w.Placements(mesh); fmt.Sprint(p) != fmt.Sprint(tt.at[2]) {
						t.Errorf("w1 is placed %v, want %v", p, tt.at[2])
					}
					if tt.at[2][len(tt.at[2])-1] == tpu.Shard(1) && w.ToLocal(0).Dim(1) == 12 {
						t.Error("a device holds all of w1")
					}
				})
			})
		}
	}
}
