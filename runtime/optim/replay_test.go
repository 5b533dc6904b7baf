package optim

import (
	"fmt"
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// TestCompiledStepsAreSteps trains with each optimizer, its rate on a schedule,
// in a function that runs once and in one that runs at each call: all bits agree.
func TestCompiledStepsAreSteps(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(ps []*tpu.Tensor) Optimizer
		replays int64 // of 8 steps; the first ones make the optimizer's state
	}{
		{"sgd", func(ps []*tpu.Tensor) Optimizer { return NewSGD(ps, SGDOptions{LR: 0.1, WeightDecay: 0.1}) }, 6},
		{"momentum", func(ps []*tpu.Tensor) Optimizer {
			return NewSGD(ps, SGDOptions{LR: 0.1, Momentum: 0.9, Nesterov: true})
		}, 6},
		{"adam", func(ps []*tpu.Tensor) Optimizer {
			return NewAdam(ps, AdamOptions{LR: 0.1, AMSGrad: true, WeightDecay: 0.1})
		}, 6},
		{"adamw", func(ps []*tpu.Tensor) Optimizer { return NewAdamW(ps, AdamOptions{LR: 0.1, Maximize: true}) }, 6},
		{"adamax", func(ps []*tpu.Tensor) Optimizer { return NewAdamax(ps, AdamaxOptions{LR: 0.1}) }, 6},
		{"nadam", func(ps []*tpu.Tensor) Optimizer { return NewNAdam(ps, NAdamOptions{LR: 0.1}) }, 0},
		{"radam", func(ps []*tpu.Tensor) Optimizer { return NewRAdam(ps, RAdamOptions{LR: 0.1}) }, 0},
		{"asgd", func(ps []*tpu.Tensor) Optimizer { return NewASGD(ps, ASGDOptions{LR: 0.1, T0: 3}) }, 0},
		{"rprop", func(ps []*tpu.Tensor) Optimizer { return NewRprop(ps, RpropOptions{LR: 0.1}) }, 6},
		{"lion", func(ps []*tpu.Tensor) Optimizer { return NewLion(ps, LionOptions{LR: 0.1, WeightDecay: 0.1}) }, 6},
		{"adagrad", func(ps []*tpu.Tensor) Optimizer { return NewAdagrad(ps, AdagradOptions{LR: 0.1, LRDecay: 0.5}) }, 6},
		{"rmsprop", func(ps []*tpu.Tensor) Optimizer {
			return NewRMSProp(ps, RMSPropOptions{LR: 0.1, Momentum: 0.9, Centered: true})
		}, 6},
		{"adadelta", func(ps []*tpu.Tensor) Optimizer { return NewAdadelta(ps, AdadeltaOptions{}) }, 6},
		{"adafactor", func(ps []*tpu.Tensor) Optimizer { return NewAdafactor(ps, AdafactorOptions{WeightDecay: 0.1}) }, 6},
		{"muon", func(ps []*tpu.Tensor) Optimizer { return NewMuon(ps, MuonOptions{LR: 0.1}) }, 6},
	} {
		train := func(again bool) (said []string, replays int64) {
			chip, err := device.LookupChip("v5e")
			if err != nil {
				t.Fatal(err)
			}
			d := exec.New(sim.New(chip, sim.Options{}), exec.Options{Mode: exec.Strict})
			defer tpu.Use(d)()
			tpu.Seed(1)
			ps := []*tpu.Tensor{tpu.Randn(3, 4).RequireGrad(), tpu.Randn(4, 2).RequireGrad()}
			opt := c.make(ps)
			rate := NewScheduler(opt, CosineLR{Steps: 10})
			step := tpu.Compile(func(x *tpu.Tensor) *tpu.Tensor {
				if again {
					tpu.RunAgain()
				}
				opt.ZeroGrad()
				loss := x.MatMul(ps[0]).Dropout(0.25).Tanh().MatMul(ps[1]).Square().Mean()
				loss.Backward()
				ClipGradNorm(ps, 0.5)
				opt.Step()
				rate.Step()
				return loss.Detach()
			}).(func(*tpu.Tensor) *tpu.Tensor)
			for i := range 8 {
				if i == 5 {
					opt.SetLR(0.03)
				}
				said = append(said, spell(step(tpu.Randn(5, 3))))
				for _, p := range ps {
					said = append(said, spell(p), spell(p.Grad()))
				}
				said = append(said, fmt.Sprint(opt.LR()))
			}
			return said, d.Stats().Replays
		}
		once, replays := train(false)
		each, _ := train(true)
		if replays != c.replays {
			t.Errorf("%s: %d replays, want %d", c.name, replays, c.replays)
		}
		for i := range once {
			if once[i] != each[i] {
				t.Errorf("%s: result %d is %s when the program is launched again, %s when the function runs", c.name, i, once[i], each[i])
				break
			}
		}
	}
}

// spell gives the bits of a tensor.
func spell(x *tpu.Tensor) string {
	s := x.Spec().String()
	for _, v := range x.Float64s() {
		s += fmt.Sprintf(" %x", math.Float64bits(v))
	}
	return s
}
