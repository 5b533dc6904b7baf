package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Losses with one value for each row.
var rowLossOps = []Def{
	{
		Name: CosineEmbeddingLoss, Torch: "cosine_embedding_loss", Func: "CosineEmbeddingLoss", Class: Loss, Traits: Composite,
		Doc: "1 − cos where the target is 1, max(0, cos − margin) where it is −1.", Example: `tpu.CosineEmbeddingLoss(tpu.From([][]float32{{1, 0}}), tpu.From([][]float32{{1, 1}}), tpu.Of(1.0))`,
		Params: []Param{tensor("input1"), tensor("input2"), tensor("target"), realParam("margin", 0, "cosine allowed"), reductionParam()},
		Shape:  cosineLossShape, DType: floating, Grad: cosineLossGrad,
		Kernel: kernel.CosineEmbeddingLoss, Lower: cosineLossHLO, Cost: perInputEUP(8),
	},
	{
		Name: TripletMarginLoss, Torch: "triplet_margin_loss", Func: "TripletMarginLoss", Class: Loss, Traits: Composite,
		Doc: "max(0, d(anchor, positive) − d(anchor, negative) + margin).", Example: `tpu.TripletMarginLoss(tpu.From([][]float32{{1, 0}}), tpu.From([][]float32{{1, 1}}), tpu.From([][]float32{{0, 1}}))`,
		Params: []Param{tensor("anchor"), tensor("positive"), tensor("negative"), realParam("margin", 1, "distance wanted"), realParam("p", 2, "order of the norm"), epsParam(1e-6),
			flag("swap", false, "take the nearer of anchor and positive to the negative"), reductionParam()},
		Shape: tripletShape, DType: floating, Grad: tripletGrad,
		Kernel: kernel.TripletMarginLoss, Lower: tripletHLO, Cost: perInputEUP(12),
	},
	{
		Name: MultiMarginLoss, Torch: "multi_margin_loss", Func: "MultiMarginLoss", Class: Loss, Traits: Composite,
		Doc: "Mean over the other classes of max(0, margin − x[y] + x[i])^p.", Example: `tpu.MultiMarginLoss(tpu.From([][]float32{{0.1, 0.2}}), tpu.I64.Zeros(1))`,
		Params: []Param{tensor("input"), tensor("target"), realParam("p", 1, "exponent, 1 or 2"), realParam("margin", 1, "distance wanted"), opt("weight", "factor of each class"), reductionParam()},
		Shape:  multiMarginShape, DType: floatOnly(MultiMarginLoss), Grad: multiMarginGrad,
		Kernel: kernel.MultiMarginLoss, Lower: multiMarginHLO, Cost: perInput(6), Indices: classIndices(0, 1),
	},
	{
		Name: MultilabelSoftMarginLoss, Torch: "nn.functional.multilabel_soft_margin_loss", Func: "MultilabelSoftMarginLoss", Class: Loss, Traits: Composite,
		Doc: "Mean over classes of the binary cross entropy of sigmoid(x).", Example: `tpu.MultilabelSoftMarginLoss(tpu.From([][]float32{{0.1, 0.2}}), tpu.From([][]float32{{1, 0}}))`,
		Params: []Param{tensor("input"), tensor("target"), opt("weight", "factor of each class"), reductionParam()},
		Shape:  multilabelShape, DType: lossType(MultilabelSoftMarginLoss), Grad: multilabelGrad,
		Kernel: kernel.MultilabelSoftMarginLoss, Lower: multilabelHLO, Cost: perInputEUP(8),
	},
	{
		Name: CTCLoss, Torch: "ctc_loss.Tensor", Func: "CTCLoss", Class: Loss, Traits: Composite,
		Doc:     "Negative logarithm of the probability of a label sequence over all alignments.",
		Example: `tpu.CTCLoss(tpu.Randn(5, 1, 3).LogSoftmax(2), tpu.I64.Ones(1, 2), tpu.I64.Full(5, 1), tpu.I64.Full(2, 1))`,
		Params: []Param{tensor("log_probs"), tensor("targets"), tensor("input_lengths"), tensor("target_lengths"),
			{Name: "blank", Kind: KInt, Default: 0, Doc: "class of the blank"}, reductionParam(), flag("zero_infinity", false, "an impossible alignment counts 0")},
		Shape: ctcShape, DType: floatOnly(CTCLoss), Grad: ctcGrad,
		Kernel: kernel.CTCLoss, Lower: ctcHLO, Cost: perInputEUP(16), Indices: ctcIndices,
	},
	{
		Name: ctcBackward, Torch: "_ctc_loss_backward", Class: Loss, Traits: Composite,
		Doc: "Gradient of ctc_loss for the scores behind the log-probabilities.",
		Params: []Param{tensor("grad"), tensor("log_probs"), tensor("targets"), tensor("input_lengths"), tensor("target_lengths"),
			{Name: "blank", Kind: KInt, Default: 0, Doc: "class of the blank"}, reductionParam(), flag("zero_infinity", false, "an impossible alignment counts 0")},
		Shape: likeSecond, DType: secondType, NoGrad: "PyTorch has no second derivative of it either",
		Kernel: kernel.CTCLossBackward, Lower: ctcBackwardHLO, Cost: perInputEUP(32),
	},
}

func likeSecond(in []shape.Spec, _ Attrs) ([]int, error)       { return in[1].Dims, nil }
func secondType(in []shape.Spec, _ Attrs) (dtype.DType, error) { return in[1].DType, nil }

// rowScale is the gradient of each of n row losses from that of the result.
func (k calc) rowScale(a Attrs, dy Value, n int) Value {
	if a.Str("reduction") == "mean" {
		return k.div(dy, n)
	}
	return dy
}

func cosineLossShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := checkReduction(CosineEmbeddingLoss, a); err != nil {
		return nil, err
	}
	dims, err := shape.BroadcastAll(string(CosineEmbeddingLoss), in[0], in[1])
	if err != nil {
		return nil, err
	}
	if len(dims) == 0 {
		return nil, &shape.RankError{Op: string(CosineEmbeddingLoss), Dims: dims, Min: 1, Max: 2}
	}
	rows := dims[:len(dims)-1]
	if !shape.EqualDims(in[2].Dims, rows) {
		return nil, &shape.MismatchError{Op: string(CosineEmbeddingLoss), Left: in[0], Right: in[2], Axis: -1, Why: "not one target for each row"}
	}
	return afterReduction(a, rows), nil
}

func cosineLossGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	dims, _ := shape.Broadcast(c.In[0].Spec().Dims, c.In[1].Spec().Dims)
	x1, x2 := c.In[0], c.In[1]
	last := len(dims) - 1
	kept := keptDims(dims, []int{last}, true)
	y := k.reshape(c.In[2], kept)
	s1, s2 := k.add(k.sum(k.mul(x1, x1), last), 1e-12), k.add(k.sum(k.mul(x2, x2), last), 1e-12)
	den := k.sqrt(k.mul(s1, s2))
	cos := k.div(k.sum(k.mul(x1, x2), last), den)
	g := k.rowScale(c.Attrs, dy[0], shape.Size(dims[:last]))
	if c.Attrs.Str("reduction") == "none" {
		g = k.reshape(g, kept)
	}
	over := k.gt(k.sub(cos, c.Attrs.Float("margin")), 0)
	g = k.expand(g, kept)
	zero := k.zeros(g)
	dc := k.where(k.eq(y, 1), k.neg(g), k.where(k.eq(y, -1), k.where(over, g, zero), zero))
	d1 := k.mul(dc, k.sub(k.div(x2, den), k.div(k.mul(cos, x1), s1)))
	d2 := k.mul(dc, k.sub(k.div(x1, den), k.div(k.mul(cos, x2), s2)))
	return []Value{k.fit(d1, x1.Spec()), k.fit(d2, x2.Spec()), nil}
}

func tripletShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := checkReduction(TripletMarginLoss, a); err != nil {
		return nil, err
	}
	dims, err := shape.BroadcastAll(string(TripletMarginLoss), in...)
	if err != nil {
		return nil, err
	}
	if len(dims) == 0 {
		return nil, &shape.RankError{Op: string(TripletMarginLoss), Dims: dims, Min: 1, Max: -1}
	}
	return afterReduction(a, dims[:len(dims)-1]), nil
}

func tripletGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	p, eps := c.Attrs.Float("p"), c.Attrs.Float("eps")
	var dims []int
	for _, x := range c.In {
		dims, _ = shape.Broadcast(dims, x.Spec().Dims)
	}
	last := len(dims) - 1
	axes := []int{last}
	kept := keptDims(dims, axes, true)
	diff := func(x, y Value) (d, n Value) {
		d = k.expand(k.add(k.sub(x, y), eps), dims)
		return d, k.Do(VectorNorm, at("ord", p, "dim", axes, "keepdim", true), d)
	}
	d1, near := diff(c.In[0], c.In[1])
	d2, far := diff(c.In[0], c.In[2])
	least := far
	var d3, other, swapped Value
	if c.Attrs.Bool("swap") {
		d3, other = diff(c.In[1], c.In[2])
		swapped = k.lt(other, far)
		least = k.where(swapped, other, far)
	}
	g := k.rowScale(c.Attrs, dy[0], shape.Size(dims[:last]))
	if c.Attrs.Str("reduction") == "none" {
		g = k.reshape(g, kept)
	}
	active := k.gt(k.add(k.sub(near, least), c.Attrs.Float("margin")), 0)
	g = k.where(active, k.expand(g, kept), 0)
	g1 := normSlope(k, d1, near, g, p, axes)
	back := k.neg(g)
	g2 := back
	if swapped != nil {
		g2 = k.where(swapped, 0, back)
	}
	s2 := normSlope(k, d2, far, g2, p, axes)
	da, dp, dn := k.add(g1, s2), k.neg(g1), k.neg(s2)
	if swapped != nil {
		s3 := normSlope(k, d3, other, k.where(swapped, back, 0), p, axes)
		dp, dn = k.add(dp, s3), k.sub(dn, s3)
	}
	return []Value{k.fit(da, c.In[0].Spec()), k.fit(dp, c.In[1].Spec()), k.fit(dn, c.In[2].Spec())}
}

func multiMarginShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := checkReduction(MultiMarginLoss, a); err != nil {
		return nil, err
	}
	x := in[0]
	if len(x.Dims) > 2 {
		return nil, &shape.RankError{Op: string(MultiMarginLoss), Dims: x.Dims, Min: 0, Max: 2}
	}
	if len(x.Dims) == 0 { // one class
		x.Dims = []int{1}
	}
	rows := x.Dims[:len(x.Dims)-1]
	if in[1].Size() != shape.Size(rows) {
		return nil, &shape.MismatchError{Op: string(MultiMarginLoss), Left: x, Right: in[1], Axis: 0, Why: "not one target for each row"}
	}
	if p := a.Float("p"); p != 1 && p != 2 {
		return nil, &shape.ArgumentError{Op: string(MultiMarginLoss), Arg: "p", Value: p, Why: "neither 1 nor 2"}
	}
	if in[1].DType != dtype.I64 && in[1].DType != dtype.I32 {
		return nil, &TypeError{Op: string(MultiMarginLoss), Arg: "target", DType: in[1].DType, Want: "an integer"}
	}
	if len(in) > 2 && in[2].Valid() && !shape.EqualDims(in[2].Dims, x.Dims[len(x.Dims)-1:]) {
		return nil, &shape.MismatchError{Op: string(MultiMarginLoss), Left: x, Right: in[2], Axis: len(x.Dims) - 1, Why: "not one weight for each class"}
	}
	return afterReduction(a, in[1].Dims), nil
}

func multiMarginGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	if len(x.Spec().Dims) == 0 { // one class has no other
		return append([]Value{k.mul(k.zeros(x), dy[0])}, make([]Value, len(c.In)-1)...)
	}
	last := len(x.Spec().Dims) - 1
	classes := x.Spec().Dims[last]
	kept := keptDims(x.Spec().Dims, []int{last}, true)
	y := k.to(k.reshape(c.In[1], kept), dtype.I64)
	xy := k.takeAlong(x, last, y)
	hot := k.putAlong(x, last, y, k.Full(shape.Spec{DType: x.Spec().DType, Dims: kept}, 1))
	m := k.where(k.eq(hot, 1), 0, k.add(k.sub(x, xy), c.Attrs.Float("margin")))
	one := k.Full(shape.Of(x.Spec().DType), 1)
	slope := one
	if c.Attrs.Float("p") == 2 {
		slope = k.mul(m, 2)
	}
	g := k.rowScale(c.Attrs, dy[0], shape.Size(kept))
	if c.Attrs.Str("reduction") == "none" {
		g = k.reshape(g, kept)
	}
	g = k.div(g, classes)
	if len(c.In) > 2 && c.In[2] != nil {
		w := k.expand(c.In[2], x.Spec().Dims)
		g = k.mul(g, k.takeAlong(w, last, y))
	}
	t := k.mul(k.where(k.gt(m, 0), slope, 0), g)
	return append([]Value{k.sub(t, k.mul(hot, k.sum(t, last))), nil}, make([]Value, len(c.In)-2)...)
}

func multilabelShape(in []shape.Spec, a Attrs) ([]int, error) {
	n := MultilabelSoftMarginLoss
	if err := checkReduction(n, a); err != nil {
		return nil, err
	}
	if len(in[0].Dims) == 0 || !shape.EqualDims(in[0].Dims, in[1].Dims) {
		return nil, &shape.MismatchError{Op: string(n), Left: in[0], Right: in[1], Axis: -1, Why: "input and target differ"}
	}
	if len(in) > 2 && in[2].Valid() {
		if d, ok := shape.Broadcast(in[0].Dims, in[2].Dims); !ok || !shape.EqualDims(d, in[0].Dims) {
			return nil, shape.NewBroadcastError(string(n), in[0], in[2])
		}
	}
	return afterReduction(a, in[0].Dims[:len(in[0].Dims)-1]), nil
}

func multilabelGrad(b Builder, c *Call, dy []Value) []Value {
	k, x, y := calc{b}, c.In[0], c.In[1]
	last := len(x.Spec().Dims) - 1
	g := k.rowScale(c.Attrs, dy[0], shape.Size(x.Spec().Dims[:last]))
	if c.Attrs.Str("reduction") == "none" {
		g = k.reshape(g, keptDims(x.Spec().Dims, []int{last}, true))
	}
	g = k.div(g, x.Spec().Dims[last])
	if len(c.In) > 2 && c.In[2] != nil {
		g = k.mul(g, c.In[2])
	}
	out := []Value{k.fit(k.mul(k.sub(k.do("sigmoid", x), y), g), x.Spec()), nil}
	if y.Spec().DType.IsFloat() {
		out[1] = k.fit(k.neg(k.mul(x, g)), y.Spec())
	}
	return append(out, make([]Value, len(c.In)-2)...)
}

func ctcShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := checkReduction(CTCLoss, a); err != nil {
		return nil, err
	}
	x := in[0]
	if len(x.Dims) < 2 || len(x.Dims) > 3 {
		return nil, &shape.RankError{Op: string(CTCLoss), Arg: "log_probs", Dims: x.Dims, Min: 2, Max: 3}
	}
	batch := 1
	if len(x.Dims) == 3 {
		batch = x.Dims[1]
	}
	for _, l := range in[2:4] {
		if l.Size() != batch {
			return nil, &shape.MismatchError{Op: string(CTCLoss), Left: x, Right: l, Axis: 1, Why: "not one length for each batch element"}
		}
	}
	if len(in[1].Dims) < 1 || len(in[1].Dims) > 2 || len(in[1].Dims) == 2 && in[1].Dims[0] != batch {
		return nil, &shape.MismatchError{Op: string(CTCLoss), Left: x, Right: in[1], Axis: 1, Why: "not one target for each batch element"}
	}
	if b := a.Int("blank"); b < 0 || b >= x.Dims[len(x.Dims)-1] {
		return nil, &shape.IndexError{Op: string(CTCLoss), Index: b, Axis: len(x.Dims) - 1, Size: x.Dims[len(x.Dims)-1]}
	}
	if len(x.Dims) == 2 {
		return afterReduction(a, []int{}), nil
	}
	return afterReduction(a, []int{batch}), nil
}

func ctcIndices(in []shape.Spec, _ Attrs) []IndexCheck {
	last := len(in[0].Dims) - 1
	return []IndexCheck{
		{Index: 1, Into: 0, Axis: last, Lo: 0, Hi: int64(in[0].Dims[last]) - 1},
		{Index: 2, Into: -1, Lo: 0, Hi: int64(in[0].Dims[0])},
		{Index: 3, Into: -1, Lo: 0, Hi: int64(in[1].Dims[len(in[1].Dims)-1])},
	}
}

func ctcGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do(ctcBackward, c.Attrs, dy[0], c.In[0], c.In[1], c.In[2], c.In[3]), nil, nil, nil}
}
