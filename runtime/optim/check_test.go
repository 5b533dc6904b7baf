package optim

import (
	"errors"
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/tpu"
)

// TestImpossibleOptions makes optimizers with options PyTorch refuses.
func TestImpossibleOptions(t *testing.T) {
	nan := math.NaN()
	for want, mk := range map[string]func(p []*tpu.Tensor){
		"sgd lr":                func(p []*tpu.Tensor) { NewSGD(p, SGDOptions{LR: -1}) },
		"sgd lr NaN":            func(p []*tpu.Tensor) { NewSGD(p, SGDOptions{LR: nan}) },
		"sgd momentum":          func(p []*tpu.Tensor) { NewSGD(p, SGDOptions{Momentum: -0.1}) },
		"sgd nesterov":          func(p []*tpu.Tensor) { NewSGD(p, SGDOptions{Nesterov: true}) },
		"sgd dampening":         func(p []*tpu.Tensor) { NewSGD(p, SGDOptions{Nesterov: true, Momentum: 0.9, Dampening: 0.1}) },
		"adam betas[0]":         func(p []*tpu.Tensor) { NewAdam(p, AdamOptions{Betas: [2]float64{1, 0.9}}) },
		"adam betas[1]":         func(p []*tpu.Tensor) { NewAdam(p, AdamOptions{Betas: [2]float64{0.9, -0.1}}) },
		"adam eps":              func(p []*tpu.Tensor) { NewAdam(p, AdamOptions{Eps: -1e-8}) },
		"adamw weight decay":    func(p []*tpu.Tensor) { NewAdamW(p, AdamOptions{WeightDecay: -1}) },
		"adamax lr":             func(p []*tpu.Tensor) { NewAdamax(p, AdamaxOptions{LR: -1}) },
		"nadam momentum decay":  func(p []*tpu.Tensor) { NewNAdam(p, NAdamOptions{MomentumDecay: -1}) },
		"radam betas":           func(p []*tpu.Tensor) { NewRAdam(p, RAdamOptions{Betas: [2]float64{0.9, 1}}) },
		"rmsprop alpha":         func(p []*tpu.Tensor) { NewRMSProp(p, RMSPropOptions{Alpha: -1}) },
		"adagrad lr decay":      func(p []*tpu.Tensor) { NewAdagrad(p, AdagradOptions{LRDecay: -1}) },
		"adadelta rho":          func(p []*tpu.Tensor) { NewAdadelta(p, AdadeltaOptions{Rho: 1.5}) },
		"adafactor d":           func(p []*tpu.Tensor) { NewAdafactor(p, AdafactorOptions{D: 0.5}) },
		"adafactor beta2 decay": func(p []*tpu.Tensor) { NewAdafactor(p, AdafactorOptions{Beta2Decay: 0.5}) },
		"rprop etas":            func(p []*tpu.Tensor) { NewRprop(p, RpropOptions{Etas: [2]float64{0.5, 0.9}}) },
		"asgd lr":               func(p []*tpu.Tensor) { NewASGD(p, ASGDOptions{LR: -1}) },
		"lion betas":            func(p []*tpu.Tensor) { NewLion(p, LionOptions{Betas: [2]float64{0.9, 2}}) },
		"muon momentum":         func(p []*tpu.Tensor) { NewMuon(p, MuonOptions{Momentum: -1}) },
		"muon vector":           func([]*tpu.Tensor) { NewMuon([]*tpu.Tensor{tpu.Ones(3).RequireGrad()}, MuonOptions{}) },
	} {
		var e *OptionError
		if err := tpu.Try(func() { mk([]*tpu.Tensor{tpu.Ones(2, 2).RequireGrad()}) }); !errors.As(err, &e) {
			t.Errorf("%s: %v", want, err)
		}
	}
	w := tpu.Ones(2).RequireGrad()
	for want, ps := range map[string][]*tpu.Tensor{"empty": nil, "nil": {nil}, "no leaf": {w.Mul(2)}, "twice": {w, w}} {
		var e *ParamsError
		if err := tpu.Try(func() { NewSGD(ps, SGDOptions{}) }); !errors.As(err, &e) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestRatesOfSchedules compares rates with those of PyTorch's schedulers of the same names.
func TestRatesOfSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		s    Schedule
		want []float64
	}{
		"polynomial":  {PolynomialLR{Steps: 4, Power: 2}, []float64{1, 0.5625, 0.25, 0.0625, 0, 0}},
		"cyclic":      {CyclicLR{Max: 3, Up: 2}, []float64{1, 2, 3, 2, 1, 2}},
		"triangular2": {CyclicLR{Max: 3, Up: 1, Down: 1, Mode: "triangular2"}, []float64{1, 3, 1, 2, 1, 1.5}},
		"sequential":  {SequentialLR{[]Schedule{ConstantLR{Factor: 0.5, Steps: 9}, StepLR{Size: 2}}, []int{2}}, []float64{0.5, 0.5, 1, 1, 0.1}},
		"chained":     {ChainedLR{ConstantLR{Factor: 0.5, Steps: 2}, ExponentialLR{0.5}}, []float64{0.5, 0.25, 0.25}},
		"multiply":    {MultiplicativeLR{func(i int) float64 { return 0.5 }}, []float64{1, 0.5, 0.25}},
		"linear one cycle": {OneCycleLR{Max: 1, Steps: 5, Rise: 0.6, Div: 2, FinalDiv: 2, Linear: true},
			[]float64{0.5, 0.75, 1, 0.625, 0.25}},
	} {
		for i, w := range c.want {
			if got := c.s.LR(1, i); math.Abs(got-w) > 1e-12 {
				t.Errorf("%s: rate of step %d is %v, want %v", name, i, got, w)
			}
		}
	}
}

func TestPlateau(t *testing.T) {
	opt := NewSGD([]*tpu.Tensor{tpu.Ones(1).RequireGrad()}, SGDOptions{LR: 1})
	p := NewPlateau(opt, PlateauOptions{Factor: 0.5, Patience: 1, Cooldown: 1})
	for i, c := range []struct{ measure, want float64 }{{3, 1}, {2, 1}, {2, 1}, {2, 0.5}, {2, 0.5}, {2, 0.5}, {2, 0.25}, {1, 0.25}} {
		if p.Step(c.measure); p.LR() != c.want {
			t.Errorf("step %d: rate %v, want %v", i, p.LR(), c.want)
		}
	}
}
