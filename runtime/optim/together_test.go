package optim

import (
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// TestAStepIsOneLaunch compares the parameters after some steps in modes that
// launch a step at once with those of Debug, which launches each operation, and
// HBM with what parameters and moments take.
func TestAStepIsOneLaunch(t *testing.T) {
	chip, err := device.LookupChip("v5e")
	if err != nil {
		t.Fatal(err)
	}
	for name, mk := range map[string]func([]*tpu.Tensor) Optimizer{
		"adamw":   func(p []*tpu.Tensor) Optimizer { return NewAdamW(p, AdamOptions{LR: 0.01}) },
		"sgd":     func(p []*tpu.Tensor) Optimizer { return NewSGD(p, SGDOptions{LR: 0.05, Momentum: 0.9}) },
		"rmsprop": func(p []*tpu.Tensor) Optimizer { return NewRMSProp(p, RMSPropOptions{LR: 0.01, Momentum: 0.5}) },
		"adagrad": func(p []*tpu.Tensor) Optimizer { return NewAdagrad(p, AdagradOptions{}) },
	} {
		var want [][]float64
		for _, m := range []*exec.Mode{exec.Debug, exec.Strict, exec.DeferAndFuse, exec.Compiled} {
			d := exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: m})
			restore := tpu.Use(d)
			var ps []*tpu.Tensor
			for i, dims := range [][]int{{64, 128}, {128}, {128, 3}, {3}} { // the first one is large enough to be written where it is
				p := tpu.Arange(float64(dims[0] * append(dims, 1)[1])).Mul(0.37).Sin().Mul(0.1 * float64(i+1)).View(dims...)
				ps = append(ps, p.Clone().RequireGrad())
			}
			opt := mk(ps)
			x := tpu.Arange(7*64).Mul(0.11).Cos().View(7, 64)
			for step := range 4 {
				opt.ZeroGrad()
				y := x.MatMul(ps[0]).Add(ps[1]).ReLU().MatMul(ps[2]).Add(ps[3])
				y.Mul(y).Mean().Backward()
				tpu.Sync()
				before, used := d.Stats().Launches, d.Device().HBM().Used()
				d.Device().HBM().ResetPeak()
				opt.Step()
				if n := d.Stats().Launches - before; m == exec.Strict && step > 0 {
					if n != 1 {
						t.Errorf("%s: a step takes %d launches", name, n)
					}
					if peak := d.Device().HBM().Peak(); peak > used+used/4 {
						t.Errorf("%s: HBM goes from %d to %d: parameters and moments are there twice", name, used, peak)
					}
				}
			}
			for i, p := range ps {
				got := p.Float64s()
				if m == exec.Debug {
					want = append(want, got)
					continue
				}
				for k := range got {
					if math.Float64bits(got[k]) != math.Float64bits(want[i][k]) {
						t.Fatalf("%s in %s: element %d of parameter %d is %v, in debug %v", name, m.Name, k, i, got[k], want[i][k])
					}
				}
			}
			restore()
		}
	}
}
