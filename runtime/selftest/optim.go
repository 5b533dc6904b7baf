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

// given is an option of an optimizer: 0, the default, when it is not recorded.
func given(a map[string]any, key string) float64 {
	v, ok := a[key]
	switch {
	case !ok || v == nil:
		return 0
	case float(v) == 0:
		return optim.Zero
	}
	return float(v)
}

// pair gives two numbers of an option, zeros when it is not there.
func pair(a map[string]any, key string) (p [2]float64) {
	if l, ok := a[key].([]any); ok && len(l) == 2 {
		m := map[string]any{"0": l[0], "1": l[1]}
		p = [2]float64{given(m, "0"), given(m, "1")}
	}
	return p
}

func yes(v any) bool { b, _ := v.(bool); return b }

// makers build optimizers from PyTorch's keyword arguments.
var makers = map[string]func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer{
	"sgd": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewSGD(ps, optim.SGDOptions{LR: given(a, "lr"), Momentum: given(a, "momentum"), Dampening: given(a, "dampening"), WeightDecay: given(a, "weight_decay"), Nesterov: yes(a["nesterov"]), Maximize: yes(a["maximize"])})
	},
	"adam": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		if yes(a["decoupled_weight_decay"]) {
			o := adamOptions(a)
			if o.WeightDecay == 0 {
				o.WeightDecay = optim.Zero
			}
			return optim.NewAdamW(ps, o)
		}
		return optim.NewAdam(ps, adamOptions(a))
	},
	"adamw": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer { return optim.NewAdamW(ps, adamOptions(a)) },
	"adagrad": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdagrad(ps, optim.AdagradOptions{LR: given(a, "lr"), LRDecay: given(a, "lr_decay"), WeightDecay: given(a, "weight_decay"), InitialAccumulator: given(a, "initial_accumulator_value"), Eps: given(a, "eps"), Maximize: yes(a["maximize"])})
	},
	"rmsprop": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewRMSProp(ps, optim.RMSPropOptions{LR: given(a, "lr"), Alpha: given(a, "alpha"), Eps: given(a, "eps"), WeightDecay: given(a, "weight_decay"), Momentum: given(a, "momentum"), Centered: yes(a["centered"]), Maximize: yes(a["maximize"])})
	},
	"adadelta": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdadelta(ps, optim.AdadeltaOptions{LR: given(a, "lr"), Rho: given(a, "rho"), Eps: given(a, "eps"), WeightDecay: given(a, "weight_decay"), Maximize: yes(a["maximize"])})
	},
	"adamax": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewAdamax(ps, optim.AdamaxOptions{LR: given(a, "lr"), Betas: pair(a, "betas"), Eps: given(a, "eps"), WeightDecay: given(a, "weight_decay"), Maximize: yes(a["maximize"])})
	},
	"nadam": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewNAdam(ps, optim.NAdamOptions{LR: given(a, "lr"), Betas: pair(a, "betas"), Eps: given(a, "eps"), WeightDecay: given(a, "weight_decay"), MomentumDecay: given(a, "momentum_decay"), Decoupled: yes(a["decoupled_weight_decay"]), Maximize: yes(a["maximize"])})
	},
	"radam": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewRAdam(ps, optim.RAdamOptions{LR: given(a, "lr"), Betas: pair(a, "betas"), Eps: given(a, "eps"), WeightDecay: given(a, "weight_decay"), Decoupled: yes(a["decoupled_weight_decay"]), Maximize: yes(a["maximize"])})
	},
	"rprop": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewRprop(ps, optim.RpropOptions{LR: given(a, "lr"), Etas: pair(a, "etas"), Steps: pair(a, "step_sizes"), Maximize: yes(a["maximize"])})
	},
	"asgd": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewASGD(ps, optim.ASGDOptions{LR: given(a, "lr"), Lambda: given(a, "lambd"), Alpha: given(a, "alpha"), T0: given(a, "t0"), WeightDecay: given(a, "weight_decay"), Maximize: yes(a["maximize"])})
	},
	"adafactor": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		eps := pair(a, "eps")
		return optim.NewAdafactor(ps, optim.AdafactorOptions{LR: given(a, "lr"), Beta2Decay: given(a, "beta2_decay"), Eps1: eps[0], Eps2: eps[1], D: given(a, "d"), WeightDecay: given(a, "weight_decay"), Maximize: yes(a["maximize"])})
	},
	"lion": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		return optim.NewLion(ps, optim.LionOptions{LR: given(a, "lr"), Betas: pair(a, "betas"), WeightDecay: given(a, "weight_decay"), Maximize: yes(a["maximize"])})
	},
	"muon": func(ps []*tpu.Tensor, a map[string]any) optim.Optimizer {
		o := optim.MuonOptions{LR: given(a, "lr"), Momentum: given(a, "momentum"), WeightDecay: given(a, "weight_decay"), Eps: given(a, "eps"), Steps: whole(a["ns_steps"])}
		if on, ok := a["nesterov"].(bool); ok {
			o.Plain = !on
		}
		if l, ok := a["ns_coefficients"].([]any); ok && len(l) == 3 {
			o.Coefficients = [3]float64{float(l[0]), float(l[1]), float(l[2])}
		}
		o.MatchAdamW = a["adjust_lr_fn"] == "match_rms_adamw"
		return optim.NewMuon(ps, o)
	},
}

func adamOptions(a map[string]any) optim.AdamOptions {
	return optim.AdamOptions{LR: given(a, "lr"), Betas: pair(a, "betas"), Eps: given(a, "eps"), WeightDecay: given(a, "weight_decay"), AMSGrad: yes(a["amsgrad"]), Maximize: yes(a["maximize"])}
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
		s = optim.OneCycleLR{Max: float(a["max_lr"]), Steps: whole(a["total_steps"]), Rise: float(a["pct_start"]), Div: float(a["div_factor"]), FinalDiv: float(a["final_div_factor"]), Linear: a["anneal_strategy"] == "linear", ThreePhase: yes(a["three_phase"])}
	case "PolynomialLR":
		s = optim.PolynomialLR{Steps: whole(a["total_iters"]), Power: float(a["power"])}
	case "CyclicLR":
		c := optim.CyclicLR{Max: float(a["max_lr"]), Up: whole(a["step_size_up"]), Down: whole(a["step_size_down"]), Gamma: float(a["gamma"])}
		c.Mode, _ = a["mode"].(string)
		if low, ok := a["base_lr"]; ok {
			c.Min = float(low)
		}
		s = c
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
