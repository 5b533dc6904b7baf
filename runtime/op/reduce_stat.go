package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Names of the statistics.
const (
	Var        Name = "var"
	Std        Name = "std"
	VarMean    Name = "var_mean"
	StdMean    Name = "std_mean"
	Logsumexp  Name = "logsumexp"
	Norm       Name = "norm"
	VectorNorm Name = "vector_norm"
	MatrixNorm Name = "matrix_norm"
	Dist       Name = "dist"
	Renorm     Name = "renorm"
)

func correctionParam() Param {
	return Param{Name: "correction", Kind: KNumber, Default: 1.0, Doc: "subtracted from the count that the variance is divided by"}
}

var reduceStatOps = []Def{
	{
		Name: Var, Torch: "var.correction", Method: "Var", Class: Reduce, Traits: Composite,
		Doc: "Variance over the given axes, or all, divided by the count less correction.", Example: `tpu.Of(1.0, 2.0, 4.0).Var()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), correctionParam()},
		Shape:  reduced(Var), DType: momentType(Var), Grad: varGrad,
		Kernel: kernel.Var, Lower: momentsHLO(false, false), Cost: perInput(4),
	},
	{
		Name: Std, Torch: "std.correction", Method: "Std", Class: Reduce, Traits: Composite,
		Doc: "Standard deviation: the square root of the variance.", Example: `tpu.Of(1.0, 2.0, 4.0).Std()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), correctionParam()},
		Shape:  reduced(Std), DType: momentType(Std), Grad: stdGrad,
		Kernel: kernel.Std, Lower: momentsHLO(true, false), Cost: perInput(4),
	},
	{
		Name: VarMean, Torch: "var_mean.correction", Method: "VarMean", Class: Reduce, Traits: Composite, Results: []string{"var", "mean"},
		Doc: "Variance and mean over the given axes, or all.", Example: `tpu.Of(1.0, 2.0, 4.0).VarMean()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), correctionParam()},
		Infer:  momentsInfer(VarMean), Grad: varMeanGrad,
		Kernel: kernel.VarMean, Lower: momentsHLO(false, true), Cost: perInput(4),
	},
	{
		Name: StdMean, Torch: "std_mean.correction", Method: "StdMean", Class: Reduce, Traits: Composite, Results: []string{"std", "mean"},
		Doc: "Standard deviation and mean over the given axes, or all.", Example: `tpu.Of(1.0, 2.0, 4.0).StdMean()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), correctionParam()},
		Infer:  momentsInfer(StdMean), Grad: stdMeanGrad,
		Kernel: kernel.StdMean, Lower: momentsHLO(true, true), Cost: perInput(4),
	},
	{
		Name: Logsumexp, Torch: "logsumexp", Method: "LogSumExp", Class: Reduce, Traits: Composite,
		Doc: "Logarithm of the sum of e^x over the given axes, or all, without overflow.", Example: `tpu.Of(1000.0, 1000.0).LogSumExp()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reduced(Logsumexp), DType: realFloating, Grad: logsumexpGrad,
		Kernel: kernel.Logsumexp, Lower: logsumexpHLO, Cost: perInputEUP(4),
	},
	{
		Name: Norm, Torch: "norm.ScalarOpt_dim", Method: "Norm", Class: Reduce, Traits: Composite,
		Doc: "p-norm over the given axes, or all: p 2 unless given; 0 counts what is not 0, infinities give the extreme magnitude.", Example: `tpu.Of(3.0, 4.0).Norm()`,
		Params: []Param{tensor("self"), {Name: "p", Kind: KNumber, Default: 2.0, Doc: "order"}, dimsParam(), keepParam(), dtypeParam()},
		Shape:  normShape(Norm), DType: normType(Norm), Grad: normGrad,
		Kernel: kernel.Norm, Lower: normHLO, Cost: perInputEUP(3),
	},
	{
		Name: VectorNorm, Torch: "linalg_vector_norm", Func: "VectorNorm", Class: Reduce, Traits: Composite,
		Doc: "p-norm of vectors over the given axes, or all.", Example: `tpu.VectorNorm(tpu.Of(3.0, 4.0))`,
		Params: []Param{tensor("self"), {Name: "ord", Kind: KNumber, Default: 2.0, Doc: "order"}, dimsParam(), keepParam(), dtypeParam()},
		Shape:  normShape(VectorNorm), DType: normType(VectorNorm), Grad: normGrad,
		Kernel: kernel.Norm, Lower: normHLO, Cost: perInputEUP(3),
	},
	{
		Name: Dist, Torch: "dist", Method: "Dist", Class: Reduce, Traits: Composite,
		Doc: "p-norm of the difference of two tensors.", Example: `tpu.Of(3.0, 0.0).Dist(tpu.Of(0.0, 4.0))`,
		Params: []Param{tensor("self"), tensor("other"), {Name: "p", Kind: KNumber, Default: 2.0, Doc: "order"}},
		Shape:  distShape, DType: realFloating, Grad: distGrad,
		Kernel: kernel.Dist, Lower: distHLO, Cost: perInputEUP(4),
	},
	{
		Name: Renorm, Torch: "renorm", Method: "Renorm", Class: Reduce, Traits: Composite,
		Doc: "Scale every slice along an axis whose p-norm is above maxnorm down to it.", Example: `tpu.From([][]float32{{3, 4}, {0, 1}}).Renorm(2, 0, 1)`,
		Params: []Param{tensor("self"), {Name: "p", Kind: KFloat, Doc: "order"}, dimParam(), {Name: "maxnorm", Kind: KFloat, Doc: "largest norm"}},
		Shape:  renormShape, DType: floatOnly(Renorm), Grad: renormGrad,
		Kernel: kernel.Renorm, Lower: renormHLO, Cost: perInputEUP(4),
	},
}

func momentsInfer(n Name) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		t, err := momentType(n)(in, a)
		if err != nil {
			return nil, err
		}
		dims, err := reduced(n)(in, a)
		s := shape.Spec{DType: t, Dims: dims}
		return []shape.Spec{s, s}, err
	}
}

// varSlope is dy·2(x−mean)/(n−correction).
func varSlope(k calc, c *Call, dy Value) Value {
	x := c.In[0]
	axes := c.axes()
	n := max(0, float64(countOf(x.Spec(), axes))-c.Attrs.Float("correction"))
	d := k.sub(x, k.mean(x, axes...))
	return k.mul(k.mul(k.keep(dy, x.Spec(), axes), 2/n), d)
}

// stdSlope is varSlope of dy/(2·std), 0 where std is 0.
func stdSlope(k calc, c *Call, std, dy Value) Value {
	zero := k.eq(std, 0)
	return varSlope(k, c, k.where(zero, 0, k.div(dy, k.mul(std, 2))))
}

func varGrad(b Builder, c *Call, dy []Value) []Value { return []Value{varSlope(calc{b}, c, dy[0])} }

func stdGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{stdSlope(calc{b}, c, c.Out[0], dy[0])}
}

// withMean adds the gradient of the mean, the second result.
func withMean(k calc, c *Call, g Value, dy []Value) []Value {
	if dy[1] == nil {
		return []Value{g}
	}
	m := meanGrad(k.Builder, c, dy[1:])[0]
	if g == nil {
		return []Value{m}
	}
	return []Value{k.add(g, m)}
}

func varMeanGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	var g Value
	if dy[0] != nil {
		g = varSlope(k, c, dy[0])
	}
	return withMean(k, c, g, dy)
}

func stdMeanGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	var g Value
	if dy[0] != nil {
		g = stdSlope(k, c, c.Out[0], dy[0])
	}
	return withMean(k, c, g, dy)
}

// logsumexpGrad is dy·e^(x−y); an infinite result is taken as 0 in the exponent, as PyTorch does.
func logsumexpGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	axes := c.axes()
	y := k.keep(c.Out[0], x.Spec(), axes)
	y = k.where(k.eq(k.abs(y), math.Inf(1)), 0, y)
	return []Value{k.mul(k.keep(dy[0], x.Spec(), axes), k.exp(k.sub(x, y)))}
}

// normShape refuses a norm over nothing when the order has no neutral element.
func normShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		for _, name := range []string{"ord", "p"} {
			s, ok := a.Get(name).(string)
			if s == "nuc" && name == "p" {
				return nuclearShape(n, in, a)
			}
			if ok && s != "fro" {
				return nil, &shape.ArgumentError{Op: string(n), Arg: name, Value: s, Why: "no such norm of a vector"}
			}
		}
		if p := kernel.NormOrder(a); math.IsInf(p, 0) || p < 0 {
			return reducedSome(n)(in, a)
		}
		return reduced(n)(in, a)
	}
}

// normType is floatOnly.
func normType(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) { return floatOnly(n) }

// normSlope is the gradient of the p-norm n (axes kept) of x for dn (kept as well).
func normSlope(k calc, x, n, dn Value, p float64, axes []int) Value {
	switch p {
	case 0:
		return k.zeros(x)
	case 1:
		return k.mul(dn, k.sign(x))
	case 2:
		return k.mul(x, k.where(k.eq(n, 0), 0, k.div(dn, n)))
	}
	if math.IsInf(p, 0) {
		hit := k.eq(k.abs(x), n)
		count := k.to(k.Do(Sum, at("dim", axes, "keepdim", true), hit), x.Spec().DType)
		return k.mul(k.sign(x), k.where(hit, k.div(dn, count), 0))
	}
	a := k.abs(x)
	w := k.where(k.eq(n, 0), 0, k.mul(dn, k.pow(n, 1-p)))
	if p < 2 {
		return k.mul(k.mul(k.sign(x), k.where(k.eq(x, 0), 0, k.pow(a, p-1))), w)
	}
	return k.mul(k.mul(x, k.pow(a, p-2)), w)
}

func normGrad(b Builder, c *Call, dy []Value) []Value {
	if c.Attrs.Get("p") == "nuc" {
		return singularGrad(b, c, dy, "nuc")
	}
	k, x := calc{b}, c.In[0]
	axes := c.axes()
	n, dn := k.keep(c.Out[0], x.Spec(), axes), k.keep(dy[0], x.Spec(), axes)
	wide := k.to(x, n.Spec().DType)
	return []Value{k.to(normSlope(k, wide, n, dn, kernel.NormOrder(c.Attrs), axes), x.Spec().DType)}
}

func distShape(in []shape.Spec, a Attrs) ([]int, error) {
	if _, err := broadcast(in, a); err != nil {
		return nil, err
	}
	return []int{}, nil
}

func distGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	d := k.sub(c.In[0], c.In[1])
	g := normSlope(k, d, c.Out[0], dy[0], kernel.NormOrder(c.Attrs), nil)
	return []Value{k.fit(g, c.In[0].Spec()), k.neg(k.fit(g, c.In[1].Spec()))}
}

func renormShape(in []shape.Spec, a Attrs) ([]int, error) {
	if len(in[0].Dims) < 2 {
		return nil, &shape.RankError{Op: string(Renorm), Dims: in[0].Dims, Min: 2, Max: -1}
	}
	if _, err := shape.Axis(string(Renorm), a.Int("dim"), len(in[0].Dims)); err != nil {
		return nil, err
	}
	if p := a.Float("p"); p <= 0 {
		return nil, &shape.ArgumentError{Op: string(Renorm), Arg: "p", Value: p, Why: "not above 0"}
	}
	return in[0].Dims, nil
}

func renormGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	keep, _ := shape.Axis("", c.Attrs.Int("dim"), len(x.Spec().Dims))
	var axes []int
	for i := range x.Spec().Dims {
		if i != keep {
			axes = append(axes, i)
		}
	}
	p, limit := c.Attrs.Float("p"), c.Attrs.Float("maxnorm")
	n := k.Do(VectorNorm, at("ord", p, "dim", axes, "keepdim", true), x)
	over := k.gt(n, limit)
	m := k.add(n, 1e-7)
	scale := k.where(over, k.div(limit, m), 1)
	// y = x·scale(n): the scale's own share is −limit/m²·Σ dy·x.
	dn := k.where(over, k.div(k.mul(k.sum(k.mul(dy[0], x), axes...), -limit), k.mul(m, m)), 0)
	return []Value{k.add(k.mul(dy[0], scale), normSlope(k, x, n, dn, p, axes))}
}
