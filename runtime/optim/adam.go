package optim

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

func pow(x, y float64) float64 { return math.Pow(x, y) }

// AdamOptions are the options of Adam and AdamW; not set: LR 0.001, Betas 0.9
// and 0.999, Eps 1e-8.
type AdamOptions struct {
	LR          float64
	Betas       [2]float64
	Eps         float64
	WeightDecay float64 // AdamW: 0.01 when not set; Zero for none
	AMSGrad     bool
	Maximize    bool
}

// Adam scales averaged gradients by the root of their averaged squares.
type Adam struct {
	base
	o         AdamOptions
	decoupled bool
}

// NewAdam makes an Adam optimizer: weight decay is added to the gradient.
func NewAdam(params []*tpu.Tensor, o AdamOptions) *Adam { return newAdam(params, o, false) }

// NewAdamW makes an AdamW optimizer: weight decay shrinks the parameter itself.
func NewAdamW(params []*tpu.Tensor, o AdamOptions) *Adam {
	o.WeightDecay = or(o.WeightDecay, 0.01)
	return newAdam(params, o, true)
}

func newAdam(params []*tpu.Tensor, o AdamOptions, decoupled bool) *Adam {
	o.Betas, o.Eps = betas(o.Betas), or(o.Eps, 1e-8)
	name := "adam"
	if decoupled {
		name = "adamw"
	}
	check(name, params, append(rates(o.Betas), atLeast0("lr", o.LR), atLeast0("eps", o.Eps), atLeast0("weight_decay", o.WeightDecay))...)
	a := &Adam{newBase(params, o.LR, 1e-3, o.Maximize), o, decoupled}
	a.update = a.step
	return a
}

func (a *Adam) step(p, g *tpu.Tensor, st slots, t tick) {
	b1, b2 := a.o.Betas[0], a.o.Betas[1]
	if a.decoupled {
		p.MulInPlace(t.number(func(lr, _ float64) float64 { return 1 - lr*a.o.WeightDecay }))
	} else {
		g = decayed(g, p, a.o.WeightDecay)
	}
	m, v := st.zeros("exp_avg", p), st.zeros("exp_avg_sq", p)
	m.LerpInPlace(g, 1-b1)
	square(v, g, b2)
	if a.o.AMSGrad {
		top := st.zeros("max_exp_avg_sq", p)
		top.CopyFrom(top.Maximum(v))
		v = top
	}
	denom := v.Sqrt().Div(t.number(func(_, n float64) float64 { return math.Sqrt(1 - pow(b2, n)) })).Add(a.o.Eps)
	p.AddcdivInPlace(m, denom, tpu.AddcdivOptions{Value: t.number(func(lr, n float64) float64 { return -lr / (1 - pow(b1, n)) })})
}

// AdamaxOptions are the options of Adamax; not set: LR 0.002, Betas 0.9 and 0.999, Eps 1e-8.
type AdamaxOptions struct {
	LR          float64
	Betas       [2]float64
	Eps         float64
	WeightDecay float64
	Maximize    bool
}

// Adamax is Adam with the largest gradient instead of the root of the squares.
type Adamax struct {
	base
	o AdamaxOptions
}

// NewAdamax makes an Adamax optimizer.
func NewAdamax(params []*tpu.Tensor, o AdamaxOptions) *Adamax {
	o.Betas, o.Eps = betas(o.Betas), or(o.Eps, 1e-8)
	check("adamax", params, append(rates(o.Betas), atLeast0("lr", o.LR), atLeast0("eps", o.Eps), atLeast0("weight_decay", o.WeightDecay))...)
	a := &Adamax{newBase(params, o.LR, 2e-3, o.Maximize), o}
	a.update = a.step
	return a
}

func (a *Adamax) step(p, g *tpu.Tensor, st slots, t tick) {
	g = decayed(g, p, a.o.WeightDecay)
	m, u := st.zeros("exp_avg", p), st.zeros("exp_inf", p)
	m.LerpInPlace(g, 1-a.o.Betas[0])
	u.CopyFrom(u.Mul(a.o.Betas[1]).Maximum(g.Abs().Add(a.o.Eps)))
	p.AddcdivInPlace(m, u, tpu.AddcdivOptions{Value: t.number(func(lr, n float64) float64 { return -lr / (1 - pow(a.o.Betas[0], n)) })})
}

// NAdamOptions are the options of NAdam; not set: LR 0.002, Betas 0.9 and 0.999, Eps 1e-8, MomentumDecay 0.004.
type NAdamOptions struct {
	LR            float64
	Betas         [2]float64
	Eps           float64
	WeightDecay   float64
	MomentumDecay float64
	Decoupled     bool // weight decay shrinks the parameter itself
	Maximize      bool
}

// NAdam is Adam with Nesterov's momentum.
type NAdam struct {
	base
	o       NAdamOptions
	product map[*tpu.Tensor]float64
}

// NewNAdam makes a NAdam optimizer.
func NewNAdam(params []*tpu.Tensor, o NAdamOptions) *NAdam {
	o.Betas, o.Eps, o.MomentumDecay = betas(o.Betas), or(o.Eps, 1e-8), or(o.MomentumDecay, 4e-3)
	check("nadam", params, append(rates(o.Betas), atLeast0("lr", o.LR), atLeast0("eps", o.Eps), atLeast0("weight_decay", o.WeightDecay), atLeast0("momentum_decay", o.MomentumDecay))...)
	n := &NAdam{newBase(params, o.LR, 2e-3, o.Maximize), o, map[*tpu.Tensor]float64{}}
	n.update = n.step
	return n
}

func (n *NAdam) step(p, g *tpu.Tensor, st slots, k tick) {
	tpu.RunAgain() // the product of the factors so far is a Go number
	t := k.count()
	b1, b2 := n.o.Betas[0], n.o.Betas[1]
	if n.o.Decoupled {
		p.MulInPlace(1 - n.lr*n.o.WeightDecay)
	} else {
		g = decayed(g, p, n.o.WeightDecay)
	}
	mu := b1 * (1 - 0.5*pow(0.96, float64(t)*n.o.MomentumDecay))
	next := b1 * (1 - 0.5*pow(0.96, float64(t+1)*n.o.MomentumDecay))
	product := single(mu)
	if t > 1 {
		product = single(single(mu) * n.product[p])
	}
	n.product[p] = product
	m, v := st.zeros("exp_avg", p), st.zeros("exp_avg_sq", p)
	m.LerpInPlace(g, 1-b1)
	square(v, g, b2)
	denom := v.Div(1 - pow(b2, float64(t))).Sqrt().Add(n.o.Eps)
	p.AddcdivInPlace(g, denom, tpu.AddcdivOptions{Value: -n.lr * (1 - mu) / (1 - product)})
	p.AddcdivInPlace(m, denom, tpu.AddcdivOptions{Value: -n.lr * next / (1 - product*next)})
}

// RAdamOptions are the options of RAdam; not set: LR 0.001, Betas 0.9 and 0.999, Eps 1e-8.
type RAdamOptions struct {
	LR          float64
	Betas       [2]float64
	Eps         float64
	WeightDecay float64
	Decoupled   bool
	Maximize    bool
}

// RAdam is Adam that trusts the squares only when it has seen enough of them.
type RAdam struct {
	base
	o RAdamOptions
}

// NewRAdam makes a RAdam optimizer.
func NewRAdam(params []*tpu.Tensor, o RAdamOptions) *RAdam {
	o.Betas, o.Eps = betas(o.Betas), or(o.Eps, 1e-8)
	check("radam", params, append(rates(o.Betas), atLeast0("lr", o.LR), atLeast0("eps", o.Eps), atLeast0("weight_decay", o.WeightDecay))...)
	r := &RAdam{newBase(params, o.LR, 1e-3, o.Maximize), o}
	r.update = r.step
	return r
}

func (r *RAdam) step(p, g *tpu.Tensor, st slots, t tick) {
	tpu.RunAgain() // which operations follow hangs on the count
	b1, b2, n := r.o.Betas[0], r.o.Betas[1], float64(t.count())
	if r.o.Decoupled {
		p.MulInPlace(1 - r.lr*r.o.WeightDecay)
	} else {
		g = decayed(g, p, r.o.WeightDecay)
	}
	m, v := st.zeros("exp_avg", p), st.zeros("exp_avg_sq", p)
	m.LerpInPlace(g, 1-b1)
	square(v, g, b2)
	c1, c2 := 1-pow(b1, n), 1-pow(b2, n)
	most := 2/(1-b2) - 1
	rho := most - 2*n*pow(b2, n)/c2
	if rho <= 5 {
		p.AddInPlace(m.Div(c1), tpu.AddOptions{Alpha: -r.lr})
		return
	}
	rect := math.Sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
	p.AddcdivInPlace(m, v.Sqrt().Add(r.o.Eps), tpu.AddcdivOptions{Value: -r.lr / c1 * rect * math.Sqrt(c2)})
}
