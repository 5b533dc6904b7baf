package optim

import (
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/tpu"
)

// TestOptimizersDescend minimizes (w - 3)² with each optimizer.
func TestOptimizersDescend(t *testing.T) {
	for name, mk := range map[string]func([]*tpu.Tensor) Optimizer{
		"sgd":       func(p []*tpu.Tensor) Optimizer { return NewSGD(p, SGDOptions{LR: 0.05, Momentum: 0.9, Nesterov: true}) },
		"adam":      func(p []*tpu.Tensor) Optimizer { return NewAdam(p, AdamOptions{LR: 0.1}) },
		"adamw":     func(p []*tpu.Tensor) Optimizer { return NewAdamW(p, AdamOptions{LR: 0.1, WeightDecay: Zero}) },
		"adamax":    func(p []*tpu.Tensor) Optimizer { return NewAdamax(p, AdamaxOptions{LR: 0.2}) },
		"nadam":     func(p []*tpu.Tensor) Optimizer { return NewNAdam(p, NAdamOptions{LR: 0.1}) },
		"radam":     func(p []*tpu.Tensor) Optimizer { return NewRAdam(p, RAdamOptions{LR: 0.2}) },
		"rmsprop":   func(p []*tpu.Tensor) Optimizer { return NewRMSProp(p, RMSPropOptions{LR: 0.05}) },
		"adagrad":   func(p []*tpu.Tensor) Optimizer { return NewAdagrad(p, AdagradOptions{LR: 1}) },
		"rprop":     func(p []*tpu.Tensor) Optimizer { return NewRprop(p, RpropOptions{}) },
		"lion":      func(p []*tpu.Tensor) Optimizer { return NewLion(p, LionOptions{LR: 0.05, Betas: [2]float64{0.5, 0.5}}) },
		"asgd":      func(p []*tpu.Tensor) Optimizer { return NewASGD(p, ASGDOptions{LR: 0.1}) },
		"adafactor": func(p []*tpu.Tensor) Optimizer { return NewAdafactor(p, AdafactorOptions{LR: 0.1}) },
	} {
		w := tpu.From([]float32{0, 10}).RequireGrad()
		opt := mk([]*tpu.Tensor{w})
		for range 200 {
			opt.ZeroGrad()
			d := w.Sub(3)
			d.Mul(d).Sum().Backward()
			opt.Step()
		}
		for _, x := range w.Float64s() {
			if math.Abs(x-3) > 0.5 {
				t.Errorf("%s ends at %v", name, w.Float64s())
				break
			}
		}
	}
}

// TestStepsCompileOnce changes the learning rate at every step.
func TestStepsCompileOnce(t *testing.T) {
	w := tpu.From([]float32{1, 2}).RequireGrad()
	opt := NewAdamW([]*tpu.Tensor{w}, AdamOptions{})
	sched := NewScheduler(opt, WarmupLR{Steps: 5, After: CosineLR{Steps: 20}})
	step := func() {
		w.Mul(w).Sum().Backward()
		opt.Step()
		opt.ZeroGrad()
		sched.Step()
		tpu.Sync()
	}
	step()
	step()
	before := tpu.CacheStats().Compilations
	for range 10 {
		step()
	}
	if n := tpu.CacheStats().Compilations - before; n != 0 {
		t.Errorf("%d programs more", n)
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		s    Schedule
		step int
		want float64
	}{
		{StepLR{Size: 3, Gamma: 0.5}, 6, 0.25},
		{MultiStepLR{Milestones: []int{4, 2}}, 3, 0.1},
		{ExponentialLR{Gamma: 0.5}, 3, 0.125},
		{CosineLR{Steps: 10, Min: 0.2}, 10, 0.2},
		{CosineRestartsLR{Steps: 3, Factor: 2}, 3, 1},
		{LinearLR{Start: 0.5, Steps: 2}, 1, 0.75},
		{ConstantLR{Factor: 0.5, Steps: 2}, 2, 1},
		{OneCycleLR{Max: 2, Steps: 11}, 0, 2.0 / 25},
		{WarmupLR{Steps: 4}, 1, 0.5},
		{LambdaLR{func(n int) float64 { return float64(n) }}, 7, 7},
	} {
		if got := c.s.LR(1, c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%T at step %d is %v, want %v", c.s, c.step, got, c.want)
		}
	}
}

// TestClipGradNorm wants the norm before and the norm after.
func TestClipGradNorm(t *testing.T) {
	w := tpu.From([]float32{3, 4}).RequireGrad()
	w.Mul(w).Sum().Div(2).Backward() // the gradient is w
	if n := ClipGradNorm([]*tpu.Tensor{w}, 1).Item(); math.Abs(n-5) > 1e-5 {
		t.Errorf("norm %v", n)
	}
	if g := w.Grad().Float64s(); math.Abs(g[0]-0.6) > 1e-5 || math.Abs(g[1]-0.8) > 1e-5 {
		t.Errorf("clipped to %v", g)
	}
}
