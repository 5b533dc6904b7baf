package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Losses of class targets. All of them rest on one linear function of the
// log-probabilities, smoothed_nll_loss, and its transpose, nll_loss_backward.
var classLossOps = []Def{
	{
		Name: NLLLoss, Torch: "nll_loss", Func: "NLLLoss", Class: Loss, Traits: Composite,
		Doc: "Negative log-probability of the target class; a mean divides by the used weights.", Example: `tpu.NLLLoss(tpu.From([][]float32{{-0.1, -2.4}}), tpu.I64.Zeros(1))`,
		Params: []Param{tensor("input"), tensor("target"), opt("weight", "factor of each class"), ignoreParam(), reductionParam()},
		Shape:  nllShape(NLLLoss, 0), DType: floatOnly(NLLLoss), Grad: nllGrad,
		Kernel: kernel.NLLLoss, Lower: nllHLO, Cost: perInput(2), Indices: classIndices(0, 1),
	},
	{
		Name: smoothedNLL, Torch: "nll_loss", Class: Loss, Traits: Composite,
		Doc:    "nll_loss with the target mixed with the uniform distribution: linear in the log-probabilities.",
		Params: []Param{tensor("input"), tensor("target"), opt("weight", "factor of each class"), ignoreParam(), reductionParam(), smoothingParam()},
		Shape:  nllShape(smoothedNLL, 0), DType: floatOnly(smoothedNLL), Grad: nllGrad,
		Kernel: kernel.NLLLoss, Lower: nllHLO, Cost: perInput(2), Indices: classIndices(0, 1),
	},
	{
		Name: nllBackward, Torch: "nll_loss_backward", Class: Loss, Traits: Composite,
		Doc:    "Gradient of smoothed_nll_loss for the log-probabilities, of whose values it does not depend.",
		Params: []Param{tensor("grad"), tensor("input"), tensor("target"), opt("weight", "factor of each class"), ignoreParam(), reductionParam(), smoothingParam()},
		Shape:  likeSecond, DType: secondType, Grad: nllBackwardGrad,
		Kernel: kernel.NLLLossBackward, Lower: nllBackwardHLO, Cost: perOut(2), Indices: classIndices(1, 2),
	},
	{
		Name: CrossEntropy, Torch: "cross_entropy_loss", Func: "CrossEntropy", Class: Loss, Traits: Composite,
		Doc: "Negative logarithm of the softmax of the target class, or of the classes weighted by target probabilities.", Example: `tpu.CrossEntropy(tpu.From([][]float32{{2, 0.1}}), tpu.I64.Zeros(1))`,
		Params: []Param{tensor("input"), tensor("target"), opt("weight", "factor of each class"), ignoreParam(), reductionParam(), smoothingParam()},
		Shape:  crossEntropyShape, DType: floatOnly(CrossEntropy), Grad: crossEntropyGrad,
		Kernel: kernel.CrossEntropy, Lower: crossEntropyHLO, Cost: perInputEUP(6), Indices: classIndices(0, 1),
	},
	{
		Name: crossEntropyBackward, Torch: "cross_entropy_loss", Class: Loss, Traits: Composite,
		Doc:    "Gradient of cross_entropy with class targets.",
		Params: []Param{tensor("grad"), tensor("input"), tensor("target"), opt("weight", "factor of each class"), ignoreParam(), reductionParam(), smoothingParam()},
		Shape:  likeSecond, DType: secondType, Grad: crossEntropyBackwardGrad,
		Kernel: kernel.CrossEntropyBackward, Lower: crossEntropyBackwardHLO, Cost: perOut(8), Indices: classIndices(1, 2),
	},
}

// perOut charges n vector operations and one transcendental function for each element of the result.
func perOut(n int64) func(in, out []shape.Spec, a Attrs) Cost {
	return func(_, out []shape.Spec, _ Attrs) Cost {
		e := int64(out[0].Size())
		return Cost{FLOPs: n * e, VPUOps: n * e, EUPOps: e, Unit: VPU}
	}
}

// classAxis is the axis of the classes: 1, or 0 without a batch.
func classAxis(x shape.Spec) int {
	if len(x.Dims) == 1 {
		return 0
	}
	return 1
}

// classIndices allows the classes of input x as targets at t, and ignore_index.
func classIndices(x, t int) func(in []shape.Spec, a Attrs) []IndexCheck {
	return func(in []shape.Spec, a Attrs) []IndexCheck {
		if !in[t].DType.IsInt() || len(in[x].Dims) == 0 {
			return nil
		}
		axis := classAxis(in[x])
		check := IndexCheck{Index: t, Into: x, Axis: axis, Lo: 0, Hi: int64(in[x].Dims[axis]) - 1}
		if a.Has("ignore_index") {
			skip := int64(a.Int("ignore_index"))
			check.Skip = &skip
		}
		return []IndexCheck{check}
	}
}

// checkClasses checks scores, targets and weight of a loss; the scores are input x, the target the one after.
func checkClasses(n Name, in []shape.Spec, a Attrs) ([]int, error) {
	if err := checkReduction(n, a); err != nil {
		return nil, err
	}
	x, t := in[0], in[1]
	if len(x.Dims) == 0 {
		return nil, &shape.RankError{Op: string(n), Dims: x.Dims, Min: 1, Max: -1}
	}
	axis := classAxis(x)
	rows := keptDims(x.Dims, []int{axis}, false)
	if !shape.EqualDims(rows, t.Dims) {
		return nil, &shape.MismatchError{Op: string(n), Left: x, Right: t, Axis: -1, Why: "the target is not the input without its class axis"}
	}
	return afterReduction(a, rows), checkClassWeight(n, x, axis, in)
}

func checkClassWeight(n Name, x shape.Spec, axis int, in []shape.Spec) error {
	if len(in) > 2 && in[2].Valid() && !shape.EqualDims(in[2].Dims, x.Dims[axis:axis+1]) {
		return &shape.MismatchError{Op: string(n), Left: x, Right: in[2], Axis: axis, Why: "not one weight for each class"}
	}
	return nil
}

func nllShape(n Name, _ int) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		if t := in[1].DType; t != dtype.I64 && t != dtype.U8 {
			return nil, &TypeError{Op: string(n), Arg: "target", DType: t, Want: "i64"}
		}
		return checkClasses(n, in, a)
	}
}

func crossEntropyShape(in []shape.Spec, a Attrs) ([]int, error) {
	if s := a.Float("label_smoothing"); s < 0 || s > 1 {
		return nil, &shape.ArgumentError{Op: string(CrossEntropy), Arg: "label_smoothing", Value: s, Why: "outside [0, 1]"}
	}
	x, t := in[0], in[1]
	if !t.DType.IsFloat() {
		if !t.DType.IsInt() {
			return nil, &TypeError{Op: string(CrossEntropy), Arg: "target", DType: t.DType, Want: "an integer or a float"}
		}
		return checkClasses(CrossEntropy, in, a)
	}
	if err := checkReduction(CrossEntropy, a); err != nil {
		return nil, err
	}
	if len(x.Dims) == 0 || !shape.EqualDims(x.Dims, t.Dims) {
		return nil, &shape.MismatchError{Op: string(CrossEntropy), Left: x, Right: t, Axis: -1, Why: "probabilities do not have the shape of the input"}
	}
	axis := classAxis(x)
	return afterReduction(a, keptDims(x.Dims, []int{axis}, false)), checkClassWeight(CrossEntropy, x, axis, in)
}

// classAttrs are the attributes of a call with label_smoothing filled in.
func classAttrs(a Attrs) Attrs {
	return at("ignore_index", a.Int("ignore_index"), "reduction", a.Str("reduction"), "label_smoothing", a.Float("label_smoothing"))
}

// third gives the optional weight.
func third(in []Value, i int) Value {
	if i < len(in) {
		return in[i]
	}
	return nil
}

func nllGrad(b Builder, c *Call, dy []Value) []Value {
	g := b.Do(nllBackward, classAttrs(c.Attrs), dy[0], c.In[0], c.In[1], third(c.In, 2))
	return []Value{g, nil, nil}[:len(c.In)]
}

// nllBackwardGrad: the rule is the transpose of a linear function.
func nllBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	g := b.Do(smoothedNLL, classAttrs(c.Attrs), dy[0], calc{b}.to(c.In[2], dtype.I64), third(c.In, 3))
	return []Value{calc{b}.to(g, c.In[0].Spec().DType), nil, nil, nil}[:len(c.In)]
}

func crossEntropyGrad(b Builder, c *Call, dy []Value) []Value {
	k, x, t := calc{b}, c.In[0], c.In[1]
	if !t.Spec().DType.IsFloat() {
		g := k.Do(crossEntropyBackward, classAttrs(c.Attrs), dy[0], x, t, third(c.In, 2))
		return []Value{g, nil, nil}[:len(c.In)]
	}
	axis := classAxis(x.Spec())
	classes := x.Spec().Dims[axis]
	e := c.Attrs.Float("label_smoothing")
	kept := keptDims(x.Spec().Dims, []int{axis}, true)
	g := dy[0]
	switch c.Attrs.Str("reduction") {
	case "none":
		g = k.reshape(g, kept)
	case "mean":
		g = k.div(g, shape.Size(kept))
	}
	if w := third(c.In, 2); w != nil {
		dims := make([]int, len(x.Spec().Dims))
		for i := range dims {
			dims[i] = 1
		}
		dims[axis] = classes
		g = k.mul(g, k.reshape(w, dims))
	}
	lp := k.Do(LogSoftmax, at("dim", axis), x)
	out := make([]Value, len(c.In))
	q := t
	if e > 0 {
		q = k.add(k.mul(t, 1-e), e/float64(classes))
	}
	out[0] = k.Do("log_softmax_backward", at("dim", axis), k.to(k.neg(k.mul(q, g)), x.Spec().DType), lp)
	if c.Needs == nil || c.Needs[1] {
		out[1] = k.fit(k.mul(k.mul(lp, g), -(1-e)), t.Spec())
	}
	return out
}

// crossEntropyBackwardGrad: the rule is q − p·Σq, with q = nll_loss_backward(grad) and p = softmax(x).
func crossEntropyBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	k, g, x, v := calc{b}, c.In[0], c.In[1], dy[0]
	axis := classAxis(x.Spec())
	dim := at("dim", axis)
	p := k.Do(Softmax, dim, x)
	u := k.sub(v, k.sum(k.mul(v, p), axis))
	t := k.to(c.In[2], dtype.I64)
	dg := k.Do(smoothedNLL, c.Attrs, u, t, third(c.In, 3))
	q := k.Do(nllBackward, c.Attrs, g, x, t, third(c.In, 3))
	dx := k.neg(k.Do("softmax_backward", dim, k.mul(v, k.sum(q, axis)), p))
	return []Value{k.to(dg, g.Spec().DType), dx, nil, nil}[:len(c.In)]
}
