package op

import (
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Names of the norms that also give their statistics.
const (
	NativeLayerNorm Name = "native_layer_norm"
	NativeBatchNorm Name = "native_batch_norm"
	SafeSoftmax     Name = "safe_softmax"
)

// nativeOps are norms as PyTorch's autograd sees them: with the mean and
// 1/√(variance+eps) they used; and softmax as attention uses it.
var nativeOps = []Def{
	{
		Name: NativeLayerNorm, Torch: "native_layer_norm", Func: "NativeLayerNorm", Class: Normalize, Traits: Composite, Results: []string{"output", "mean", "rstd"},
		Doc: "Layer norm with the mean and 1/√(variance+eps) of each row.", Example: `tpu.NativeLayerNorm(tpu.Of(1.0, 2.0, 4.0), []int{3})`,
		Params: []Param{tensor("input"), wholeNorm(), opt("weight", "scale of each element"), opt("bias", "shift of each element"), epsParam(1e-5)},
		Infer:  nativeLayerInfer, Grad: nativeLayerGrad,
		Kernel: kernel.NativeLayerNorm, Lower: nativeLayerHLO, Cost: perInput(8),
	},
	{
		Name: NativeBatchNorm, Torch: "native_batch_norm", Func: "NativeBatchNorm", Class: Normalize, Traits: Composite, Results: []string{"output", "save_mean", "save_invstd"},
		Doc: "Batch norm with the mean and 1/√(variance+eps) of each channel that it used.", Example: `tpu.NativeBatchNorm(tpu.From([][]float32{{1, 2}, {3, 6}}), tpu.NativeBatchNormOptions{Training: true})`,
		Params: []Param{tensor("input"), opt("weight", "scale of each channel"), opt("bias", "shift of each channel"), opt("running_mean", "mean of each channel"), opt("running_var", "variance of each channel"),
			flag("training", false, "use the statistics of this batch"), realParam("momentum", 0.1, "share of this batch in the running statistics"), epsParam(1e-5)},
		Infer: nativeBatchInfer, Grad: nativeBatchGrad,
		Kernel: kernel.NativeBatchNorm, Lower: nativeBatchHLO, Cost: perInput(8),
	},
	{
		Name: SafeSoftmax, Torch: "_safe_softmax", Func: "SafeSoftmax", Class: Normalize, Traits: Composite,
		Doc: "Softmax along an axis, 0 in a row that is −Inf throughout.", Example: `tpu.SafeSoftmax(tpu.Of(1.0, 2.0, 3.0), 0)`,
		Params: []Param{tensor("self"), dimParam(), dtypeParam()},
		Shape:  alongShape(SafeSoftmax), DType: floatOnly(SafeSoftmax), Grad: softmaxGrad,
		Kernel: kernel.SafeSoftmax, Lower: safeSoftmaxHLO, Cost: perInputEUP(6),
	},
}

// statType is the type of statistics: that of the parameters, else of the input.
func statType(in []shape.Spec) shape.Spec {
	for _, p := range in[1:] {
		if p.Valid() {
			return shape.Spec{DType: p.DType}
		}
	}
	return shape.Spec{DType: in[0].DType}
}

func nativeLayerInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	t, err := floatOnly(NativeLayerNorm)(in, a)
	if err != nil {
		return nil, err
	}
	dims, err := layerNormShape(NativeLayerNorm)(in, a)
	if err != nil {
		return nil, err
	}
	s := shape.Spec{DType: statType(in).DType, Dims: keptDims(dims, lastAxes(in[0], a), true)}
	return []shape.Spec{{DType: t, Dims: dims}, s, s}, nil
}

// statGrads adds to dx what comes through the mean and rstd, whose gradients
// are dm and dr: dm/n, and −dr·rstd²·x̂/n.
func statGrads(k calc, x, dx, dm, dr, rstd Value, axes []int, eps float64) Value {
	n := countOf(x.Spec(), axes)
	add := func(g Value) {
		g = k.to(k.expand(g, x.Spec().Dims), x.Spec().DType)
		if dx == nil {
			dx = g
		} else {
			dx = k.add(dx, g)
		}
	}
	if dm != nil {
		add(k.div(dm, n))
	}
	if dr != nil {
		z := k.Do(standardize, at("dim", axes, "center", true, "eps", eps), x)
		add(k.neg(k.mul(z, k.div(k.mul(dr, k.mul(rstd, rstd)), n))))
	}
	return dx
}

func nativeLayerGrad(b Builder, c *Call, dy []Value) []Value {
	k, out := calc{b}, make([]Value, len(c.In))
	if dy[0] != nil {
		out = layerNormGrad(b, c, dy)
	}
	x := c.In[0]
	out[0] = statGrads(k, x, out[0], dy[1], dy[2], c.Out[2], lastAxes(x.Spec(), c.Attrs), c.Attrs.Float("eps"))
	return out
}

func nativeLayerHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.widen(c.In[0])
	axes := lastAxes(x.Spec, c.Attrs)
	z, r := h.standard(x, axes, true, c.Attrs.Float("eps"))
	y := h.affine(z, c, 1, 2, c.Attrs.Ints("normalized_shape"))
	return []stablehlo.Value{h.result(y, c.Out[0]), h.result(h.mean(x, axes), c.Out[1]), h.result(r, c.Out[2])}
}

// usual orders the inputs as batch_norm does: x, running mean and variance, weight, bias.
func usual[T any](in []T) []T { return []T{in[0], in[3], in[4], in[1], in[2]} }

func nativeBatchInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	for len(in) < 5 {
		in = append(in, shape.Spec{})
	}
	out, err := batchNormInfer(usual(in), a)
	if err != nil {
		return nil, err
	}
	s := shape.Spec{DType: statType(in).DType, Dims: in[0].Dims[1:2]}
	return []shape.Spec{out[0], s, s}, nil
}

func nativeBatchGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	out := make([]Value, 5)
	if dy[0] != nil {
		g := batchNormGrad(b, &Call{Attrs: c.Attrs, In: usual(c.In), Out: c.Out}, dy)
		out = []Value{g[0], g[3], g[4], nil, nil}
	}
	if c.Attrs.Bool("training") {
		x := c.In[0]
		stat := func(v Value) Value {
			if v == nil {
				return nil
			}
			return k.reshape(v, channelDims(x.Spec()))
		}
		axes := keptAxes(len(x.Spec().Dims), []int{1})
		out[0] = statGrads(k, x, out[0], stat(dy[1]), stat(dy[2]), stat(c.Out[2]), axes, c.Attrs.Float("eps"))
	}
	return out
}

func nativeBatchHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	in := &LowerCall{In: usual(c.In), Attrs: c.Attrs, Out: c.Out}
	eps := c.Attrs.Float("eps")
	if !c.Attrs.Bool("training") {
		t := wide(c.Out[1].DType)
		r := h.rsqrt(h.plus(h.Convert(in.In[2], t), eps))
		return []stablehlo.Value{h.result(h.byStats(in), c.Out[0]), h.result(h.Convert(in.In[1], t), c.Out[1]), h.result(r, c.Out[2])}
	}
	x := h.widen(c.In[0])
	axes := keptAxes(len(x.Spec.Dims), []int{1})
	z, r := h.standard(x, axes, true, eps)
	y := h.affine(z, in, 3, 4, channelDims(x.Spec))
	return []stablehlo.Value{h.result(y, c.Out[0]), h.result(h.mean(x, axes), c.Out[1]), h.result(r, c.Out[2])}
}

func safeSoftmaxHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	axes := c.axes()
	m := h.largest(x, axes)
	none := h.is("EQ", m, stablehlo.Identity(x.Spec.DType, true))
	e := h.exp(h.sub(x, h.pick(none, h.num(m, 0), m)))
	s := h.sum(e, axes)
	return h.results(h.pick(none, h.num(e, 0), h.div(e, h.pick(none, h.num(s, 1), s))), c)
}
