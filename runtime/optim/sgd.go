package optim

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// SGDOptions are the options of SGD; LR is 0.001 when not set.
type SGDOptions struct {
	LR          float64
	Momentum    float64
	Dampening   float64
	WeightDecay float64
	Nesterov    bool
	Maximize    bool
}

// SGD is gradient descent: p -= lr·g, with momentum v = m·v + (1-dampening)·g in the place of g.
type SGD struct {
	base
	o SGDOptions
}

// NewSGD makes an SGD optimizer.
func NewSGD(params []*tpu.Tensor, o SGDOptions) *SGD {
	check("sgd", params, atLeast0("lr", o.LR), atLeast0("momentum", o.Momentum), atLeast0("weight_decay", o.WeightDecay))
	if o.Nesterov && (o.Momentum <= 0 || o.Dampening != 0) {
		panic(&tpu.Error{Op: "sgd", Err: &OptionError{"sgd", "momentum", o.Momentum}})
	}
	s := &SGD{newBase(params, o.LR, 1e-3, o.Maximize), o}
	s.update = s.step
	return s
}

func (s *SGD) step(p, g *tpu.Tensor, st slots, t tick) {
	g = decayed(g, p, s.o.WeightDecay)
	if m := s.o.Momentum; m != 0 {
		v := st["momentum"]
		if v == nil {
			v = tpu.Keep(g.Clone())
			st["momentum"] = v
		} else {
			v.MulInPlace(m)
			v.AddInPlace(g, tpu.AddOptions{Alpha: 1 - s.o.Dampening})
		}
		if s.o.Nesterov {
			g = g.Add(v, tpu.AddOptions{Alpha: m})
		} else {
			g = v
		}
	}
	p.AddInPlace(g, tpu.AddOptions{Alpha: t.rate(-1)})
}

// RpropOptions are the options of Rprop.
type RpropOptions struct {
	LR       float64    // first step size; 0.01 when not set
	Etas     [2]float64 // factors of the step size after a turn and without one; 0.5 and 1.2 when not set
	Steps    [2]float64 // smallest and largest step size; 1e-6 and 50 when not set
	Maximize bool
}

// Rprop steps by the sign of the gradient; the step grows while the sign stays.
type Rprop struct {
	base
	o RpropOptions
}

// NewRprop makes an Rprop optimizer.
func NewRprop(params []*tpu.Tensor, o RpropOptions) *Rprop {
	if o.Etas == [2]float64{} {
		o.Etas = [2]float64{0.5, 1.2}
	}
	if o.Steps == [2]float64{} {
		o.Steps = [2]float64{1e-6, 50}
	}
	check("rprop", params, atLeast0("lr", o.LR), limit{"etas[0]", o.Etas[0], Zero, 1, true}, limit{"etas[1]", o.Etas[1], math.Nextafter(1, 2), 0, false})
	r := &Rprop{newBase(params, o.LR, 0.01, o.Maximize), o}
	r.update = r.step
	return r
}

func (r *Rprop) step(p, g *tpu.Tensor, st slots, t tick) {
	prev := st.zeros("prev", p)
	size := st["step_size"]
	if size == nil {
		size = tpu.Keep(p.FullLike(r.lr))
		st["step_size"] = size
	}
	turn := g.Mul(prev).Sign()
	back := turn.Lt(0)
	one := p.OnesLike()
	factor := tpu.Where(back, one.Mul(r.o.Etas[0]), tpu.Where(turn.Gt(0), one.Mul(r.o.Etas[1]), one))
	size.CopyFrom(size.Mul(factor).Clamp(tpu.ClampOptions{Min: r.o.Steps[0], Max: r.o.Steps[1]}))
	g = tpu.Where(back, p.ZerosLike(), g)
	p.AddcmulInPlace(g.Sign(), size, tpu.AddcmulOptions{Value: -1})
	prev.CopyFrom(g)
}

// ASGDOptions are the options of ASGD.
type ASGDOptions struct {
	LR          float64 // 0.01 when not set
	Lambda      float64 // decay; 1e-4 when not set
	Alpha       float64 // power of the learning rate's fall; 0.75 when not set
	T0          float64 // step at which averaging starts; 1e6 when not set
	WeightDecay float64
	Maximize    bool
}

// ASGD is averaged stochastic gradient descent.
type ASGD struct {
	base
	o ASGDOptions
}

// NewASGD makes an ASGD optimizer.
func NewASGD(params []*tpu.Tensor, o ASGDOptions) *ASGD {
	o.Lambda, o.Alpha, o.T0 = or(o.Lambda, 1e-4), or(o.Alpha, 0.75), or(o.T0, 1e6)
	check("asgd", params, atLeast0("lr", o.LR), atLeast0("weight_decay", o.WeightDecay))
	a := &ASGD{base: newBase(params, o.LR, 0.01, o.Maximize), o: o}
	a.update = a.step
	return a
}

func (a *ASGD) step(p, g *tpu.Tensor, st slots, k tick) {
	tpu.RunAgain() // which operations follow hangs on the count
	t := k.count()
	g = decayed(g, p, a.o.WeightDecay)
	eta, mu := single(a.lr), 1.0
	if t > 1 {
		eta = single(a.lr / pow(1+a.o.Lambda*a.lr*float64(t-1), a.o.Alpha))
		mu = single(1 / max(1, float64(t-1)-a.o.T0))
	}
	p.MulInPlace(1 - a.o.Lambda*eta)
	p.AddInPlace(g, tpu.AddOptions{Alpha: -eta})
	mean := st.zeros("ax", p)
	if mu == 1 {
		mean.CopyFrom(p)
	} else {
		mean.AddInPlace(p.Sub(mean).Mul(mu))
	}
}

// LionOptions are the options of Lion; LR is 1e-4 and the betas are 0.9 and 0.99 when not set.
type LionOptions struct {
	LR          float64
	Betas       [2]float64
	WeightDecay float64
	Maximize    bool
}

// Lion steps by the sign of an average of gradients.
type Lion struct {
	base
	o LionOptions
}

// NewLion makes a Lion optimizer.
func NewLion(params []*tpu.Tensor, o LionOptions) *Lion {
	if o.Betas == [2]float64{} {
		o.Betas = [2]float64{0.9, 0.99}
	}
	check("lion", params, append(rates(o.Betas), atLeast0("lr", o.LR), atLeast0("weight_decay", o.WeightDecay))...)
	l := &Lion{newBase(params, o.LR, 1e-4, o.Maximize), o}
	l.update = l.step
	return l
}

func (l *Lion) step(p, g *tpu.Tensor, st slots, t tick) {
	m := st.zeros("exp_avg", p)
	b1, b2 := l.o.Betas[0], l.o.Betas[1]
	p.MulInPlace(t.number(func(lr, _ float64) float64 { return 1 - lr*l.o.WeightDecay }))
	p.AddInPlace(m.Mul(b1).Add(g, tpu.AddOptions{Alpha: 1 - b1}).Sign(), tpu.AddOptions{Alpha: t.rate(-1)})
	m.MulInPlace(b2)
	m.AddInPlace(g, tpu.AddOptions{Alpha: 1 - b2})
}

// single rounds to 32 bits: PyTorch keeps such a scalar as an f32 tensor.
func single(x float64) float64 { return float64(float32(x)) }
