package optim

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// AdagradOptions are the options of Adagrad; not set: LR 0.01, Eps 1e-10.
type AdagradOptions struct {
	LR                 float64
	LRDecay            float64
	WeightDecay        float64
	InitialAccumulator float64
	Eps                float64
	Maximize           bool
}

// Adagrad scales gradients by the root of the sum of their squares.
type Adagrad struct {
	base
	o AdagradOptions
}

// NewAdagrad makes an Adagrad optimizer.
func NewAdagrad(params []*tpu.Tensor, o AdagradOptions) *Adagrad {
	o.Eps = or(o.Eps, 1e-10)
	check("adagrad", params, atLeast0("lr", o.LR), atLeast0("lr_decay", o.LRDecay), atLeast0("weight_decay", o.WeightDecay),
		atLeast0("initial_accumulator_value", o.InitialAccumulator), atLeast0("eps", o.Eps))
	a := &Adagrad{newBase(params, o.LR, 0.01, o.Maximize), o}
	a.update = a.step
	return a
}

func (a *Adagrad) step(p, g *tpu.Tensor, st slots, t tick) {
	g = decayed(g, p, a.o.WeightDecay)
	sum := st["sum"]
	if sum == nil {
		sum = tpu.Keep(p.FullLike(a.o.InitialAccumulator))
		st["sum"] = sum
	}
	sum.AddcmulInPlace(g, g)
	p.AddcdivInPlace(g, sum.Sqrt().Add(a.o.Eps), tpu.AddcdivOptions{Value: t.number(func(lr, n float64) float64 { return -lr / (1 + (n-1)*a.o.LRDecay) })})
}

// RMSPropOptions are the options of RMSProp; not set: LR 0.01, Alpha 0.99, Eps 1e-8.
type RMSPropOptions struct {
	LR          float64
	Alpha       float64
	Eps         float64
	WeightDecay float64
	Momentum    float64
	Centered    bool // by the variance instead of the squares
	Maximize    bool
}

// RMSProp scales gradients by the root of their averaged squares.
type RMSProp struct {
	base
	o RMSPropOptions
}

// NewRMSProp makes an RMSProp optimizer.
func NewRMSProp(params []*tpu.Tensor, o RMSPropOptions) *RMSProp {
	o.Alpha, o.Eps = or(o.Alpha, 0.99), or(o.Eps, 1e-8)
	check("rmsprop", params, atLeast0("lr", o.LR), atLeast0("eps", o.Eps), atLeast0("momentum", o.Momentum), atLeast0("weight_decay", o.WeightDecay), atLeast0("alpha", o.Alpha))
	r := &RMSProp{newBase(params, o.LR, 0.01, o.Maximize), o}
	r.update = r.step
	return r
}

func (r *RMSProp) step(p, g *tpu.Tensor, st slots, t tick) {
	g = decayed(g, p, r.o.WeightDecay)
	v := st.zeros("square_avg", p)
	square(v, g, r.o.Alpha)
	if r.o.Centered {
		m := st.zeros("grad_avg", p)
		m.LerpInPlace(g, 1-r.o.Alpha)
		v = v.Addcmul(m, m, tpu.AddcmulOptions{Value: -1})
	}
	denom := v.Sqrt().Add(r.o.Eps)
	if r.o.Momentum > 0 {
		buf := st.zeros("momentum", p)
		buf.MulInPlace(r.o.Momentum)
		buf.AddcdivInPlace(g, denom)
		p.AddInPlace(buf, tpu.AddOptions{Alpha: t.rate(-1)})
		return
	}
	p.AddcdivInPlace(g, denom, tpu.AddcdivOptions{Value: t.rate(-1)})
}

// AdadeltaOptions are the options of Adadelta; not set: LR 1, Rho 0.9, Eps 1e-6.
type AdadeltaOptions struct {
	LR          float64
	Rho         float64
	Eps         float64
	WeightDecay float64
	Maximize    bool
}

// Adadelta scales gradients by the ratio of averaged steps and gradients.
type Adadelta struct {
	base
	o AdadeltaOptions
}

// NewAdadelta makes an Adadelta optimizer.
func NewAdadelta(params []*tpu.Tensor, o AdadeltaOptions) *Adadelta {
	o.Rho, o.Eps = or(o.Rho, 0.9), or(o.Eps, 1e-6)
	check("adadelta", params, atLeast0("lr", o.LR), limit{"rho", o.Rho, 0, 1, false}, atLeast0("eps", o.Eps), atLeast0("weight_decay", o.WeightDecay))
	a := &Adadelta{newBase(params, o.LR, 1, o.Maximize), o}
	a.update = a.step
	return a
}

func (a *Adadelta) step(p, g *tpu.Tensor, st slots, t tick) {
	g = decayed(g, p, a.o.WeightDecay)
	v, acc := st.zeros("square_avg", p), st.zeros("acc_delta", p)
	square(v, g, a.o.Rho)
	delta := acc.Add(a.o.Eps).Sqrt().Div(v.Add(a.o.Eps).Sqrt()).Mul(g)
	square(acc, delta, a.o.Rho)
	p.AddInPlace(delta, tpu.AddOptions{Alpha: t.rate(-1)})
}

// AdafactorOptions are the options of Adafactor; not set: LR 0.01, Beta2Decay
// -0.8, Eps2 0.001, D 1, and Eps1 the eps of the parameter's type.
type AdafactorOptions struct {
	LR          float64
	Beta2Decay  float64
	Eps1, Eps2  float64
	D           float64
	WeightDecay float64
	Maximize    bool
}

// Adafactor keeps the squares of a matrix as a row and a column.
type Adafactor struct {
	base
	o AdafactorOptions
}

// NewAdafactor makes an Adafactor optimizer.
func NewAdafactor(params []*tpu.Tensor, o AdafactorOptions) *Adafactor {
	o.Beta2Decay, o.Eps2, o.D = or(o.Beta2Decay, -0.8), or(o.Eps2, 1e-3), or(o.D, 1)
	check("adafactor", params, atLeast0("lr", o.LR), limit{"beta2_decay", o.Beta2Decay, math.Inf(-1), Zero, true}, atLeast0("eps[0]", o.Eps1), atLeast0("eps[1]", o.Eps2),
		limit{"d", o.D, 1, 0, false}, atLeast0("weight_decay", o.WeightDecay))
	a := &Adafactor{newBase(params, o.LR, 0.01, o.Maximize), o}
	a.update = a.step
	return a
}

func (a *Adafactor) step(p, g *tpu.Tensor, st slots, t tick) {
	eps1 := or(a.o.Eps1, p.DType().Eps())
	weight := t.number(func(_, n float64) float64 { return pow(n, a.o.Beta2Decay) })
	rho := t.number(func(lr, n float64) float64 { return math.Min(lr, 1/math.Sqrt(n)) })
	root := math.Sqrt(float64(p.Size()))
	scale := norm2(p).Div(root).ClampMin(a.o.Eps2).Mul(rho)
	p.MulInPlace(t.number(func(lr, _ float64) float64 { return 1 - lr*a.o.WeightDecay }))
	var v *tpu.Tensor
	if n := g.Rank(); n > 1 {
		rows, cols := g.Dim(-1), g.Dim(-2)
		row := g.Mul(g).SumKeep(-1).Div(rows)
		col := g.Mul(g).SumKeep(-2).Div(cols)
		rv, cv := st.zeros("row_var", row), st.zeros("col_var", col)
		rv.LerpInPlace(row, weight)
		cv.LerpInPlace(col, weight)
		v = rv.MatMul(cv).Div(rv.MeanKeep(-2).ClampMin(eps1))
	} else {
		kept := st.zeros("variance", p)
		kept.LerpInPlace(g.Mul(g), weight)
		v = kept
	}
	step := v.ClampMin(eps1 * eps1).Rsqrt().Mul(g)
	denom := norm2(step).Div(root * a.o.D).ClampMin(1)
	p.SubInPlace(step.Mul(scale.Div(denom)))
}

// norm2 is the root of the sum of all squares.
func norm2(x *tpu.Tensor) *tpu.Tensor { return x.Mul(x).Sum().Sqrt() }

// MuonOptions are the options of Muon; not set: LR 0.001, Momentum 0.95,
// Steps 5, Eps 1e-7, WeightDecay 0.1 (Zero for none). Nesterov's momentum is used unless Plain.
type MuonOptions struct {
	LR          float64
	WeightDecay float64
	Momentum    float64
	Plain       bool
	Steps       int
	Eps         float64
	// Coefficients of the quintic iteration; 3.4445, -4.7750 and 2.0315 when not set.
	Coefficients [3]float64
	// MatchAdamW scales a step as AdamW's are: by 0.2·√max(m,n) instead of √max(1,m/n).
	MatchAdamW bool
}

// Muon steps along the nearest orthogonal matrix to the averaged gradient; its
// parameters are matrices. The iteration runs in bf16.
type Muon struct {
	base
	o MuonOptions
}

// NewMuon makes a Muon optimizer.
func NewMuon(params []*tpu.Tensor, o MuonOptions) *Muon {
	o.Momentum, o.Eps, o.WeightDecay = or(o.Momentum, 0.95), or(o.Eps, 1e-7), or(o.WeightDecay, 0.1)
	if o.Steps == 0 {
		o.Steps = 5
	}
	if o.Coefficients == [3]float64{} {
		o.Coefficients = [3]float64{3.4445, -4.7750, 2.0315}
	}
	check("muon", params, atLeast0("lr", o.LR), atLeast0("momentum", o.Momentum), atLeast0("weight_decay", o.WeightDecay), limit{"ns_steps", float64(o.Steps), 0, 99, false})
	for _, p := range params {
		if p.Rank() != 2 {
			panic(&tpu.Error{Op: "muon", Err: &OptionError{"muon", "rank of a parameter", float64(p.Rank())}})
		}
	}
	m := &Muon{newBase(params, o.LR, 1e-3, false), o}
	m.update = m.step
	return m
}

func (m *Muon) step(p, g *tpu.Tensor, st slots, t tick) {
	buf := st.zeros("momentum", p)
	buf.LerpInPlace(g, 1-m.o.Momentum)
	u := buf
	if !m.o.Plain {
		u = g.Lerp(buf, m.o.Momentum)
	}
	u = orthogonal(u, m.o)
	rows, cols := float64(p.Dim(0)), float64(p.Dim(1))
	scale := math.Sqrt(math.Max(1, rows/cols))
	if m.o.MatchAdamW {
		scale = 0.2 * math.Sqrt(math.Max(rows, cols))
	}
	p.MulInPlace(t.number(func(lr, _ float64) float64 { return 1 - lr*m.o.WeightDecay }))
	p.AddInPlace(u, tpu.AddOptions{Alpha: t.rate(-scale)})
}

// orthogonal brings the singular values of a matrix near 1 by a quintic iteration.
func orthogonal(g *tpu.Tensor, o MuonOptions) *tpu.Tensor {
	a, b, c := o.Coefficients[0], o.Coefficients[1], o.Coefficients[2]
	x := g.To(tpu.BF16)
	tall := x.Dim(0) > x.Dim(1)
	if tall {
		x = x.T()
	}
	x = x.Div(norm2(x.To(tpu.F32)).To(tpu.BF16).ClampMin(o.Eps))
	for range o.Steps {
		gram := x.MatMul(x.T())
		poly := gram.AddMM(gram, gram, tpu.AddMMOptions{Beta: b, Alpha: c})
		x = x.AddMM(poly, x, tpu.AddMMOptions{Beta: a})
	}
	if tall {
		x = x.T()
	}
	return x
}
