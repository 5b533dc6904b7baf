package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Names of the losses of several labels a row.
const (
	MultilabelMarginLoss Name = "multilabel_margin_loss"
	multilabelMarginBack Name = "multilabel_margin_loss_backward"
)

// labelLossOps compare the scores of a row's labels with those of the other classes.
var labelLossOps = []Def{
	{
		Name: MultilabelMarginLoss, Torch: "multilabel_margin_loss", Func: "MultilabelMarginLoss", Class: Loss, Traits: Composite,
		Doc:     "Mean over the classes of max(0, 1 − (x[y] − x[i])) for each label y of a row, up to the first −1, and each class i that is none.",
		Example: `tpu.MultilabelMarginLoss(tpu.From([][]float32{{0.1, 0.2, 0.4}}), tpu.I64.Zeros(1, 3))`,
		Params:  []Param{tensor("input"), tensor("target"), reductionParam()},
		Shape:   labelShape, DType: floatOnly(MultilabelMarginLoss), Grad: labelGrad,
		Kernel: kernel.MultilabelMarginLoss, Lower: labelHLO, Cost: perInput(16), Indices: labelIndices(0),
	},
	{
		Name: multilabelMarginBack, Torch: "multilabel_margin_loss_backward", Class: Loss, Traits: Composite,
		Doc:    "Gradient of multilabel_margin_loss.",
		Params: []Param{tensor("grad"), tensor("input"), tensor("target"), reductionParam()},
		Shape:  likeSecond, DType: secondType, NoGrad: "PyTorch has no second derivative of it either",
		Kernel: kernel.MultilabelMarginLossBackward, Lower: labelBackHLO, Cost: perInput(16), Indices: labelIndices(1),
	},
}

func labelShape(in []shape.Spec, a Attrs) ([]int, error) {
	x := in[0]
	if err := checkReduction(MultilabelMarginLoss, a); err != nil {
		return nil, err
	}
	if len(x.Dims) > 2 {
		return nil, &shape.RankError{Op: string(MultilabelMarginLoss), Dims: x.Dims, Min: 0, Max: 2}
	}
	if in[1].DType != dtype.I64 && in[1].DType != dtype.I32 {
		return nil, &TypeError{Op: string(MultilabelMarginLoss), Arg: "target", DType: in[1].DType, Want: "an integer"}
	}
	if !shape.EqualDims(x.Dims, in[1].Dims) {
		return nil, &shape.MismatchError{Op: string(MultilabelMarginLoss), Left: x, Right: in[1], Axis: -1, Why: "input and target differ"}
	}
	return afterReduction(a, x.Dims[:max(0, len(x.Dims)-1)]), nil
}

func labelIndices(x int) func(in []shape.Spec, a Attrs) []IndexCheck {
	return func(in []shape.Spec, _ Attrs) []IndexCheck {
		axis := len(in[x].Dims) - 1
		if axis < 0 {
			return nil
		}
		end := int64(-1)
		return []IndexCheck{{Index: x + 1, Into: x, Axis: axis, Lo: 0, Hi: int64(in[x].Dims[axis]) - 1, Skip: &end}}
	}
}

func labelGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do(multilabelMarginBack, c.Attrs, dy[0], c.In[0], c.In[1]), nil}
}

// labelGraph gives, for scores x seen as [n, c]: which class each label names,
// bool[n, label, c], and where a label's margin over a class is not kept, with by how much.
func (h formula) labelGraph(x, target stablehlo.Value) (hot, active, margin stablehlo.Value) {
	c := 1
	if len(x.Spec.Dims) > 0 {
		c = x.Spec.Dims[len(x.Spec.Dims)-1]
	}
	n := x.Spec.Size() / max(c, 1)
	x = h.Reshape(x, []int{n, c})
	t := h.Reshape(h.Convert(target, dtype.I64), []int{n, c})
	v := window(2, c, true, false)
	least := h.ReduceWindow("minimum", t, float64(c), v)
	valid := h.is("GE", least, 0)
	hot = h.cmp("EQ", h.Reshape(t, []int{n, c, 1}), h.Iota(shape.Of(dtype.I64, 1, 1, c), 2))
	hot = h.and(hot, h.Reshape(valid, []int{n, c, 1}))
	isLabel := h.reduce("or", hot, []int{1}, 0)
	zero := h.num(x, 0)
	wide := h.Reshape(x, []int{n, 1, c})
	mine := h.sum(h.pick(hot, wide, zero), []int{2})
	margin = h.add(h.sub(h.num(x, 1), mine), wide)
	active = h.and(h.and(h.Reshape(valid, []int{n, c, 1}), h.not(isLabel)), h.is("GT", margin, 0))
	return hot, active, margin
}

func labelHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 0)
	if x.Spec.Size() == 0 {
		return h.lossResult(h.Splat(shape.Spec{DType: x.Spec.DType, Dims: x.Spec.Dims[:len(x.Spec.Dims)-1]}, 0), c)
	}
	_, active, margin := h.labelGraph(x, c.In[1])
	classes := margin.Spec.Dims[2]
	l := h.sum(h.pick(active, margin, h.num(margin, 0)), []int{1, 2})
	l = h.times(l, 1/float64(classes))
	return h.lossResult(h.Reshape(l, x.Spec.Dims[:max(0, len(x.Spec.Dims)-1)]), c)
}

func labelBackHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 1)
	if x.Spec.Size() == 0 {
		return []stablehlo.Value{h.Splat(c.Out[0], 0)}
	}
	hot, active, margin := h.labelGraph(x, c.In[2])
	n, classes := margin.Spec.Dims[0], margin.Spec.Dims[2]
	f := h.Convert(active, x.Spec.DType)
	count := h.sum(f, []int{2}) // of each label: [n, label, 1]
	d := h.sub(h.sum(f, []int{1}), h.sum(h.mul(h.Convert(hot, x.Spec.DType), count), []int{1}))
	g := h.Convert(c.In[0], x.Spec.DType)
	switch c.Attrs.Str("reduction") {
	case "none":
		g = h.Reshape(g, []int{n, 1, 1})
	case "mean":
		g = h.times(g, 1/float64(n))
	}
	return h.results(h.mul(d, h.times(g, 1/float64(classes))), c)
}
