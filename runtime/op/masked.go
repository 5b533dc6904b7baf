package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// maskedOps are the operations of torch.masked: reductions, scans and
// normalizations over the elements where a mask is true. All but the variances
// are the plain row on an input whose other elements are its neutral one.
var maskedOps = []Def{
	maskedRow(rowOf(reduceSumOps, Sum), "MaskedSum", "Sum", zeroFill, sumType),
	maskedRow(rowOf(reduceSumOps, Prod), "MaskedProd", "Product", oneFill, realSumType(Prod)),
	maskedRow(rowOf(reduceExtremeOps, Amax), "MaskedAMax", "Largest element", lowFill, orderedOnly(Amax)),
	maskedRow(rowOf(reduceExtremeOps, Amin), "MaskedAMin", "Smallest element", highFill, orderedOnly(Amin)),
	maskedRow(rowOf(reduceExtremeOps, Argmax), "MaskedArgMax", "Position of the largest element", lowFill, orderedOwn(Argmax)),
	maskedRow(rowOf(reduceExtremeOps, Argmin), "MaskedArgMin", "Position of the smallest element", highFill, orderedOwn(Argmin)),
	maskedRow(rowOf(reduceStatOps, Logsumexp), "MaskedLogSumExp", "Logarithm of the sum of e^x", lowFill, ownType),
	maskedNorm(),
	maskedRow(rowOf(scanOps, Cumsum), "MaskedCumSum", "Running sum", zeroFill, ownType),
	maskedRow(rowOf(scanOps, Cumprod), "MaskedCumProd", "Running product", oneFill, ownType),
	maskedRow(rowOf(softmaxOps, Softmax), "MaskedSoftmax", "Softmax", lowFill, floatOnly(Softmax)),
	maskedRow(rowOf(softmaxOps, LogSoftmax), "MaskedLogSoftmax", "Logarithm of softmax", lowFill, floatOnly(LogSoftmax)),
	maskedRow(rowOf(softmaxOps, Softmin), "MaskedSoftmin", "Softmin", highFill, floatOnly(Softmin)),
	maskedNormalize(),
	maskedLogAddExp,
	maskedMoment("masked.mean", "MaskedMean", "Mean", kernel.MaskedMean, maskedMean),
	maskedMoment("masked.var", "MaskedVar", "Variance", kernel.MaskedVar, maskedVar),
	maskedMoment("masked.std", "MaskedStd", "Standard deviation", kernel.MaskedStd, maskedStd),
}

// rowOf finds a row of a table.
func rowOf(table []Def, n Name) Def {
	for _, d := range table {
		if d.Name == n {
			return d
		}
	}
	panic("op: no row named " + string(n))
}

// ownType is the type of the input, or the attribute dtype.
func ownType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if t := a.DType("dtype"); t != dtype.Invalid {
		return t, nil
	}
	return in[0].DType, nil
}

// orderedOwn is ownType for elements that have an order: PyTorch gives even
// positions in the type of the input.
func orderedOwn(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	rule := orderedOnly(n)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		if _, err := rule(in, a); err != nil {
			return dtype.Invalid, err
		}
		return ownType(in, a)
	}
}

// A neutral is the neutral element of a row for an element type.
type neutral func(t dtype.DType) float64

func zeroFill(dtype.DType) float64   { return 0 }
func oneFill(dtype.DType) float64    { return 1 }
func lowFill(t dtype.DType) float64  { return stablehlo.Identity(t, true) }
func highFill(t dtype.DType) float64 { return stablehlo.Identity(t, false) }

// maskShape checks that the mask stretches to the input.
func maskShape(n Name, in []shape.Spec) error {
	if len(in) < 2 || !in[1].Valid() {
		return nil
	}
	if in[1].DType != dtype.Bool {
		return &TypeError{Op: string(n), Arg: "mask", DType: in[1].DType, Want: "bool"}
	}
	if d, ok := shape.Broadcast(in[0].Dims, in[1].Dims); !ok || !shape.EqualDims(d, in[0].Dims) {
		return shape.NewBroadcastError(string(n), in[0], in[1])
	}
	return nil
}

// maskedExample is one line for a masked function.
func maskedExample(f string, reduction bool) string {
	if reduction {
		return "tpu." + f + "With(tpu.Of(1.0, 2.0, 4.0), tpu." + f + "Options{Mask: tpu.Of(1, 0, 1).Gt(0)})"
	}
	return "tpu." + f + "(tpu.Of(1.0, 2.0, 4.0), 0, tpu." + f + "Options{Mask: tpu.Of(1, 0, 1).Gt(0)})"
}

// maskedRow makes the masked form of a row of one input.
func maskedRow(base Def, f, what string, fill neutral, result func(in []shape.Spec, a Attrs) (dtype.DType, error)) Def {
	d := base
	d.Name, d.Torch = "masked."+base.Name, "masked."+string(base.Name)
	d.Method, d.Func, d.InPlace = "", f, false
	d.Doc = what + " of the elements where the mask is true."
	reduction := false
	for _, p := range base.Params {
		reduction = reduction || p.Name == "keepdim"
	}
	d.Example = maskedExample(f, reduction)
	d.Traits |= Composite
	d.Params = append(append([]Param{}, base.Params...), opt("mask", "where elements count; absent: everywhere"))
	if base.Name == Amax || base.Name == Amin || base.Name == Logsumexp || base.Name == Argmax || base.Name == Argmin {
		d.Params = append(d.Params, dtypeParam())
	}
	d.Shape = func(in []shape.Spec, a Attrs) ([]int, error) {
		if err := maskShape(d.Name, in); err != nil {
			return nil, err
		}
		return base.Shape(in[:1], a)
	}
	d.DType = func(in []shape.Spec, a Attrs) (dtype.DType, error) { return result(in[:1], a) }
	d.Kernel = func(c *kernel.Call) error {
		in := c.In[:1]
		if len(c.In) > 1 && c.In[1].Valid() {
			in = []kernel.Array{kernel.Masked(c.In[0], c.In[1], fill(c.In[0].DType))}
		}
		if !position(base.Name) {
			return base.Kernel(&kernel.Call{In: in, Out: c.Out, Attrs: c.Attrs})
		}
		at := kernel.New(shape.Spec{DType: dtype.I64, Dims: c.Out[0].Dims})
		err := base.Kernel(&kernel.Call{In: in, Out: []kernel.Array{at}, Attrs: c.Attrs})
		kernel.Convert(c.Out[0], at)
		return err
	}
	if base.Grad != nil {
		d.Grad = func(b Builder, c *Call, dy []Value) []Value {
			k := calc{b}
			out := make([]Value, len(c.In))
			x, m := c.In[0], third(c.In, 1)
			if m != nil {
				x = k.where(m, x, fill(x.Spec().DType))
			}
			g := base.Grad(b, &Call{Attrs: c.Attrs, In: []Value{x}, Out: c.Out, Needs: []bool{true}}, dy)[0]
			if m != nil && g != nil {
				g = k.where(m, g, 0)
			}
			out[0] = g
			return out
		}
	}
	d.Lower = func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		x := c.In[0]
		if m, ok := c.param(1); ok {
			x = h.pick(m, x, h.num(x, fill(x.Spec.DType)))
		}
		if !position(base.Name) {
			return base.Lower(w, &LowerCall{In: []stablehlo.Value{x}, Out: c.Out, Attrs: c.Attrs})
		}
		at := base.Lower(w, &LowerCall{In: []stablehlo.Value{x}, Out: []shape.Spec{{DType: dtype.I64, Dims: c.Out[0].Dims}}, Attrs: c.Attrs})[0]
		return []stablehlo.Value{w.Convert(at, c.Out[0].DType)}
	}
	return d
}

// position says whether a row computes positions.
func position(n Name) bool { return n == Argmax || n == Argmin }

// maskedNorm is the masked form of vector_norm.
func maskedNorm() Def {
	d := maskedRow(rowOf(reduceStatOps, VectorNorm), "MaskedNorm", "p-norm", zeroFill, floatOnly(VectorNorm))
	d.Name, d.Torch = "masked.norm", "masked.norm"
	return d
}

// maskedNormalize is the masked form of normalize.
func maskedNormalize() Def {
	d := maskedRow(rowOf(distanceOps, UnitNorm), "MaskedNormalize", "Quotient by the p-norm", zeroFill, floatOnly(UnitNorm))
	d.Params = []Param{tensor("input"), {Name: "ord", Kind: KNumber, Doc: "order"}, {Name: "dim", Kind: KInts, Doc: "axes"}, epsParam(1e-12), dtypeParam(), opt("mask", "where elements count; absent: everywhere")}
	d.Example = "tpu.MaskedNormalize(tpu.Of(3.0, 4.0, 5.0), 2, []int{0}, tpu.MaskedNormalizeOptions{Mask: tpu.Of(1, 1, 0).Gt(0)})"
	return d
}

// maskedLogAddExp is log(e^x + e^y), an operand counting as −∞ where its mask is false.
var maskedLogAddExp = Def{
	Name: "masked.logaddexp", Torch: "masked.logaddexp", Func: "MaskedLogAddExp", Class: Elementwise, Traits: Composite,
	Doc:     "Logarithm of e^x + e^y, each where its mask is true.",
	Example: "tpu.MaskedLogAddExp(tpu.Of(1.0, 2.0), tpu.Of(3.0, 4.0), tpu.MaskedLogAddExpOptions{InputMask: tpu.Of(1, 0).Gt(0)})",
	Params:  []Param{tensor("input"), tensor("other"), opt("input_mask", "where the input counts"), opt("other_mask", "where the other counts"), dtypeParam()},
	Shape:   maskedPairShape, DType: maskedPairType, Grad: maskedLogAddExpGrad,
	Kernel: kernel.MaskedLogAddExp, Lower: maskedLogAddExpHLO, Cost: perInputEUP(6),
}

func maskedPairShape(in []shape.Spec, _ Attrs) ([]int, error) {
	dims, err := shape.BroadcastAll("masked.logaddexp", in[0], in[1])
	if err != nil {
		return nil, err
	}
	for i, m := range in[2:] {
		if err := maskShape("masked.logaddexp", []shape.Spec{in[i], m}); err != nil {
			return nil, err
		}
	}
	return dims, nil
}

func maskedPairType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if t := a.DType("dtype"); t != dtype.Invalid {
		return t, nil
	}
	return realFloating(in[:2], a)
}

// maskedLogAddExpGrad is dy·e^(x−result) inside the mask.
func maskedLogAddExpGrad(b Builder, c *Call, dy []Value) []Value {
	k, out := calc{b}, make([]Value, len(c.In))
	y := c.Out[0]
	safe := k.where(k.eq(y, math.Inf(-1)), 0, y)
	for i := range 2 {
		g := k.mul(dy[0], k.exp(k.sub(c.In[i], safe)))
		if m := third(c.In, 2+i); m != nil {
			g = k.where(m, g, 0)
		}
		out[i] = k.fit(g, c.In[i].Spec())
	}
	return out
}

func maskedLogAddExpHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	side := func(i int) stablehlo.Value {
		x := h.wideIn(c, i)
		if m, ok := c.param(2 + i); ok {
			x = h.pick(m, x, h.num(x, math.Inf(-1)))
		}
		return x
	}
	x, y := h.pair(side(0), side(1))
	m := h.max(x, y)
	l := h.add(m, h.log1p(h.exp(h.neg(h.abs(h.sub(x, y))))))
	return h.results(h.pick(h.is("EQ", h.abs(m), math.Inf(1)), m, l), c)
}

// maskedMoment makes a masked mean, variance or standard deviation: f gives it
// from the input, its elements outside the mask 0, the mask as numbers, and the count.
func maskedMoment(n Name, f, what string, k kernel.Func, slope func(k calc, c *Call, x, m, n, dy Value) Value) Def {
	params := []Param{tensor("input"), dimsParam(), keepParam(), dtypeParam(), opt("mask", "where elements count; absent: everywhere")}
	if n != "masked.mean" {
		params = []Param{tensor("input"), dimsParam(), flag("unbiased", true, "divide by one less than the count"),
			{Name: "correction", Kind: KNumber, Default: math.Inf(-1), Doc: "what is taken from the count before it divides, instead of unbiased; minus infinity: not set"}, keepParam(), dtypeParam(), opt("mask", "where elements count; absent: everywhere")}
	}
	return Def{
		Name: n, Torch: string(n), Func: f, Class: Reduce, Traits: Composite,
		Doc: what + " of the elements where the mask is true.", Example: maskedExample(f, true), Params: params,
		Shape: func(in []shape.Spec, a Attrs) ([]int, error) {
			if err := maskShape(n, in); err != nil {
				return nil, err
			}
			return reduced(n)(in[:1], a)
		},
		DType: func(in []shape.Spec, a Attrs) (dtype.DType, error) {
			if t := a.DType("dtype"); t != dtype.Invalid {
				return t, nil
			}
			return realFloating(in[:1], a)
		},
		Grad:   maskedMomentGrad(slope),
		Kernel: k, Lower: maskedMomentHLO(n), Cost: perInput(6),
	}
}

func maskedMomentGrad(slope func(k calc, c *Call, x, m, n, dy Value) Value) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		k, x := calc{b}, c.In[0]
		axes := c.axes()
		t := dy[0].Spec().DType
		wide := k.to(x, t)
		m := k.Full(shape.Spec{DType: t, Dims: x.Spec().Dims}, 1)
		if mask := third(c.In, 1); mask != nil {
			m = k.where(mask, m, 0)
			wide = k.where(mask, wide, 0)
		}
		g := slope(k, c, wide, m, k.sum(m, axes...), k.keep(dy[0], x.Spec(), axes))
		out := make([]Value, len(c.In))
		out[0] = k.to(k.mul(g, m), x.Spec().DType)
		return out
	}
}

// maskedMean spreads dy over the elements; where the mask hides them all there are none.
func maskedMean(k calc, _ *Call, _, _, n, dy Value) Value {
	return k.where(k.eq(n, 0), 0, k.div(dy, k.where(k.eq(n, 0), 1, n)))
}

func maskedVar(k calc, c *Call, x, _, n, dy Value) Value {
	axes := c.axes()
	mean := k.div(k.sum(x, axes...), n)
	return k.mul(k.div(k.mul(dy, 2), k.sub(n, kernel.Correction(c.Attrs))), k.sub(x, mean))
}

func maskedStd(k calc, c *Call, x, m, n, dy Value) Value {
	std := k.keep(c.Out[0], c.In[0].Spec(), c.axes())
	zero := k.eq(std, 0)
	return maskedVar(k, c, x, m, n, k.where(zero, 0, k.div(dy, k.mul(std, 2))))
}

func maskedMomentHLO(name Name) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		axes := c.axes()
		x := h.Convert(c.In[0], wide(c.Out[0].DType))
		n := h.num(x, float64(countOf(x.Spec, axes)))
		in := h.Splat(shape.Spec{DType: dtype.Bool, Dims: x.Spec.Dims}, 1)
		if m, ok := c.param(1); ok {
			in = h.BroadcastTo(m, x.Spec.Dims)
			n = h.sum(h.Convert(in, x.Spec.DType), axes)
		}
		zero := h.num(x, 0)
		mean := h.div(h.sum(h.pick(in, x, zero), axes), n)
		if name == "masked.mean" {
			return h.results(mean, c)
		}
		d := h.pick(in, h.sub(x, mean), zero)
		if less := kernel.Correction(c.Attrs); less != 0 {
			n = h.max(h.plus(n, -less), zero)
		}
		v := h.div(h.sum(h.mul(d, d), axes), n)
		if name == "masked.std" {
			v = h.sqrt(v)
		}
		return h.results(v, c)
	}
}
