package selftest

import (
	"fmt"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/optim"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// pair gives two numbers of an option, zeros when it is not there.
func pair(v any) (p [2]float64) {
	if l, ok := v.([]any); ok && len(l) == 2 {
		p = [2]float64{float(l[0]), float(l[1])}
	}
	return p
}

func yes(v any) bool { b, _ := v.(bool); return b }

// makers build optimizers from PyTorch's keyword arguments.
var makers = map[string]func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer{
	"sgd": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewSGD(ps, optim.SGDOptions{LR: float(a["lr"]), Momentum: float(a["momentum"]), Dampening: float(a["dampening"]), WeightDecay: float(a["weight_decay"]), Nesterov: yes(a["nesterov"]), Maximize: yes(a["maximize"])})
	},
	"adam":  func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer { return optim.NewAdam(ps, adamOptions(a)) },
	"adamw": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer { return optim.NewAdamW(ps, adamOptions(a)) },
	"adagrad": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdagrad(ps, optim.AdagradOptions{LR: float(a["lr"]), LRDecay: float(a["lr_decay"]), WeightDecay: float(a["weight_decay"]), InitialAccumulator: float(a["initial_accumulator_value"]), Eps: float(a["eps"])})
	},
	"rmsprop": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewRMSProp(ps, optim.RMSPropOptions{LR: float(a["lr"]), Alpha: float(a["alpha"]), Eps: float(a["eps"]), WeightDecay: float(a["weight_decay"]), Momentum: float(a["momentum"]), Centered: yes(a["centered"])})
	},
	"adadelta": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdadelta(ps, optim.AdadeltaOptions{LR: float(a["lr"]), Rho: float(a["rho"]), Eps: float(a["eps"]), WeightDecay: float(a["weight_decay"])})
	},
	"adamax": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdamax(ps, optim.AdamaxOptions{LR: float(a["lr"]), Betas: pair(a["betas"]), Eps: float(a["eps"]), WeightDecay: float(a["weight_decay"])})
	},
	"nadam": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewNAdam(ps, optim.NAdamOptions{LR: float(a["lr"]), Betas: pair(a["betas"]), Eps: float(a["eps"]), WeightDecay: float(a["weight_decay"]), MomentumDecay: float(a["momentum_decay"]), Decoupled: yes(a["decoupled_weight_decay"])})
	},
	"radam": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewRAdam(ps, optim.RAdamOptions{LR: float(a["lr"]), Betas: pair(a["betas"]), Eps: float(a["eps"]), WeightDecay: float(a["weight_decay"]), Decoupled: yes(a["decoupled_weight_decay"])})
	},
	"rprop": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewRprop(ps, optim.RpropOptions{LR: float(a["lr"]), Etas: pair(a["etas"]), Steps: pair(a["step_sizes"])})
	},
	"asgd": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewASGD(ps, optim.ASGDOptions{LR: float(a["lr"]), Lambda: float(a["lambd"]), Alpha: float(a["alpha"]), T0: float(a["t0"]), WeightDecay: float(a["weight_decay"])})
	},
	"adafactor": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdafactor(ps, optim.AdafactorOptions{LR: float(a["lr"]), Beta2Decay: float(a["beta2_decay"]), D: float(a["d"]), WeightDecay: float(a["weight_decay"])})
	},
	"lion": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewLion(ps, optim.LionOptions{LR: float(a["lr"]), Betas: pair(a["betas"]), WeightDecay: float(a["weight_decay"])})
	},
	"muon": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewMuon(ps, optim.MuonOptions{LR: float(a["lr"]), Momentum: float(a["momentum"])})
	},
}

func adamOptions(a map[string]any) optim.AdamOptions {
	o := optim.AdamOptions{LR: float(a["lr"]), Betas: pair(a["betas"]), Eps: float(a["eps"]), WeightDecay: float(a["weight_decay"]), AMSGrad: yes(a["amsgrad"]), Maximize: yes(a["maximize"])}
	if wd, ok := a["weight_decay"]; ok && float(wd) == 0 {
		o.WeightDecay = -1
	}
	return o
}

// newOptimizer gives the step of an optimizer.
func newOptimizer(name string, attrs map[string]any, ps []*tpu.Tensor) (func() error, error) {
	mk := makers[name]
	if mk == nil {
		panic(skip("no optimizer " + name))
	}
	o := mk(ps, attrs)
	return func() error { o.Step(); return nil }, nil
}

// optimizer runs the steps of one optimizer, a clipping or a schedule.
func optimizer(r *conformance.Record) error {
	switch r.Op {
	case "clip_grad_norm", "clip_grad_value":
		return clip(r)
	case "lr_schedule":
		return schedule(r)
	}
	p := tensors{}.upload(r.Inputs[0].Array).RequireGrad()
	step, err := newOptimizer(r.Op, r.Attrs, []*tpu.Tensor{p})
	if err != nil {
		return err
	}
	for i, g := range r.Inputs[1].Items {
		p.SetGrad(tensors{}.upload(g.Array))
		if err := step(); err != nil {
			return err
		}
		if err := conformance.Compare(p.Array(), r.Outputs[i].Array, r.Tol); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func clip(r *conformance.Record) error {
	var ps []*tpu.Tensor
	for _, x := range r.Inputs[0].Items {
		g := tensors{}.upload(x.Array)
		p := g.ZerosLike().RequireGrad()
		p.SetGrad(g)
		ps = append(ps, p)
	}
	want := r.Outputs
	if r.Op == "clip_grad_value" {
		optim.ClipGradValue(ps, float(r.Attrs["clip_value"]))
	} else {
		norm := 2.0
		if n, ok := r.Attrs["norm_type"]; ok {
			norm = float(n)
		}
		total := optim.ClipGradNorm(ps, float(r.Attrs["max_norm"]), norm)
		if err := conformance.Compare(total.Array(), want[0].Array, r.Tol); err != nil {
			return fmt.Errorf("norm: %w", err)
		}
		want = want[1:]
	}
	for i, p := range ps {
		if err := conformance.Compare(p.Grad().Array(), want[i].Array, r.Tol); err != nil {
			return fmt.Errorf("gradient %d: %w", i, err)
		}
	}
	return nil
}

func whole(v any) int { n, _ := v.(int); return n }

func schedule(r *conformance.Record) error {
	a := r.Attrs
	var s optim.Schedule
	switch a["scheduler"] {
	case "StepLR":
		s = optim.StepLR{Size: whole(a["step_size"]), Gamma: float(a["gamma"])}
	case "MultiStepLR":
		s = optim.MultiStepLR{Milestones: ints(a["milestones"]), Gamma: float(a["gamma"])}
	case "ExponentialLR":
		s = optim.ExponentialLR{Gamma: float(a["gamma"])}
	case "CosineAnnealingLR":
		s = optim.CosineLR{Steps: whole(a["T_max"]), Min: float(a["eta_min"])}
	case "LinearLR":
		s = optim.LinearLR{Start: float(a["start_factor"]), End: float(a["end_factor"]), Steps: whole(a["total_iters"])}
	case "ConstantLR":
		s = optim.ConstantLR{Factor: float(a["factor"]), Steps: whole(a["total_iters"])}
	case "CosineAnnealingWarmRestarts":
		s = optim.CosineRestartsLR{Steps: whole(a["T_0"]), Factor: whole(a["T_mult"]), Min: float(a["eta_min"])}
	case "OneCycleLR":
		s = optim.OneCycleLR{Max: float(a["max_lr"]), Steps: whole(a["total_steps"]), Rise: float(a["pct_start"])}
	default:
		panic(skip(fmt.Sprintf("no schedule %v", a["scheduler"])))
	}
	want := r.Outputs[0].Array
	got := kernel.New(shape.Of(dtype.F64, want.Size()))
	for i := range want.Size() {
		kernel.As[float64](got.Buf)[i] = s.LR(float(a["base_lr"]), i)
	}
	return conformance.Compare(kernel.Cast(got, want.DType), want, r.Tol)
}
