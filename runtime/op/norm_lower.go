package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// softmaxHLO lowers softmax of sign·x.
func softmaxHLO(sign float64) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		x := h.Convert(c.In[0], wide(c.Out[0].DType))
		if sign < 0 {
			x = h.neg(x)
		}
		axes := c.axes()
		e := h.exp(h.sub(x, h.largest(x, axes)))
		return h.results(h.div(e, h.sum(e, axes)), c)
	}
}

func logSoftmaxHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	return h.results(h.logSoftmax(x, c.axes()), c)
}

func (h formula) logSoftmax(x stablehlo.Value, axes []int) stablehlo.Value {
	d := h.sub(x, h.largest(x, axes))
	return h.sub(d, h.log(h.sum(h.exp(d), axes)))
}

func softmaxBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	g, y := h.widen(c.In[0]), h.Convert(c.In[1], wide(c.In[0].Spec.DType))
	s := h.sum(h.mul(g, y), c.axes())
	return h.results(h.mul(y, h.sub(g, s)), c)
}

func logSoftmaxBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	g, y := h.widen(c.In[0]), h.Convert(c.In[1], wide(c.In[0].Spec.DType))
	return h.results(h.sub(g, h.mul(h.exp(y), h.sum(g, c.axes()))), c)
}

// standard standardizes over axes; r is 1/√(variance+eps).
func (h formula) standard(x stablehlo.Value, axes []int, center bool, eps float64) (z, r stablehlo.Value) {
	d := x
	if center {
		d = h.sub(x, h.mean(x, axes))
	}
	r = h.rsqrt(h.plus(h.mean(h.mul(d, d), axes), eps))
	return h.mul(d, r), r
}

// affine scales and shifts by parameters stretched from dims; absent ones do nothing.
func (h formula) affine(z stablehlo.Value, c *LowerCall, weight, bias int, dims []int) stablehlo.Value {
	if p, ok := c.param(weight); ok {
		z = h.mul(z, h.Reshape(h.Convert(p, z.Spec.DType), dims))
	}
	if p, ok := c.param(bias); ok {
		z = h.add(z, h.Reshape(h.Convert(p, z.Spec.DType), dims))
	}
	return z
}

// param gives an optional operand.
func (c *LowerCall) param(i int) (stablehlo.Value, bool) {
	if i < 0 || i >= len(c.In) || c.In[i].ID == "" {
		return stablehlo.Value{}, false
	}
	return c.In[i], true
}

func standardizeHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	z, _ := h.standard(h.widen(c.In[0]), c.axes(), c.Attrs.Bool("center"), c.Attrs.Float("eps"))
	return h.results(z, c)
}

func standardizeBackHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	axes := c.axes()
	g := h.widen(c.In[0])
	z, r := h.standard(h.Convert(c.In[1], g.Spec.DType), axes, c.Attrs.Bool("center"), c.Attrs.Float("eps"))
	d := h.sub(g, h.mul(z, h.mean(h.mul(g, z), axes)))
	if c.Attrs.Bool("center") {
		d = h.sub(d, h.mean(g, axes))
	}
	return h.results(h.mul(r, d), c)
}

func layerNormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	z, _ := h.standard(h.widen(c.In[0]), lastAxes(c.In[0].Spec, c.Attrs), true, c.Attrs.Float("eps"))
	return h.results(h.affine(z, c, 1, 2, c.Attrs.Ints("normalized_shape")), c)
}

func rmsNormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	z, _ := h.standard(h.widen(c.In[0]), lastAxes(c.In[0].Spec, c.Attrs), false, kernel.RMSEpsilon(c.In[0].Spec, c.Attrs))
	return h.results(h.affine(z, c, 1, -1, c.Attrs.Ints("normalized_shape")), c)
}

// groups standardizes groups of channels and applies channel parameters.
func (h formula) groups(c *LowerCall, groups, weight, bias int) []stablehlo.Value {
	x := h.widen(c.In[0])
	d := x.Spec.Dims
	cut := []int{d[0], groups, shape.Size(d[1:]) / max(groups, 1)}
	z, _ := h.standard(h.Reshape(x, cut), []int{2}, true, c.Attrs.Float("eps"))
	return h.results(h.affine(h.Reshape(z, d), c, weight, bias, channelDims(x.Spec)), c)
}

func groupNormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return formula{w}.groups(c, c.Attrs.Int("num_groups"), 1, 2)
}

// byStats standardizes by given statistics.
func (h formula) byStats(c *LowerCall) stablehlo.Value {
	x := h.widen(c.In[0])
	dims := channelDims(x.Spec)
	m := h.Reshape(h.Convert(c.In[1], x.Spec.DType), dims)
	v := h.Reshape(h.Convert(c.In[2], x.Spec.DType), dims)
	z := h.mul(h.sub(x, m), h.rsqrt(h.plus(v, c.Attrs.Float("eps"))))
	return h.affine(z, c, 3, 4, dims)
}

func instanceNormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if !c.Attrs.Bool("use_input_stats") {
		return h.results(h.byStats(c), c)
	}
	return h.groups(c, c.In[0].Spec.Dims[1], 3, 4)
}

func batchNormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if !c.Attrs.Bool("training") {
		return []stablehlo.Value{h.result(h.byStats(c), c.Out[0]), c.In[1], c.In[2]}
	}
	x := h.widen(c.In[0])
	axes := keptAxes(len(x.Spec.Dims), []int{1})
	n := float64(countOf(x.Spec, axes))
	m := h.mean(x, axes)
	d := h.sub(x, m)
	v := h.mean(h.mul(d, d), axes)
	z := h.mul(d, h.rsqrt(h.plus(v, c.Attrs.Float("eps"))))
	out := []stablehlo.Value{h.result(h.affine(z, c, 3, 4, channelDims(x.Spec)), c.Out[0])}
	momentum := c.Attrs.Float("momentum")
	for i, s := range []stablehlo.Value{m, h.times(v, n/(n-1))} {
		s = h.Reshape(s, []int{x.Spec.Dims[1]})
		if old, ok := c.param(1 + i); ok {
			s = h.add(h.times(h.Convert(old, s.Spec.DType), 1-momentum), h.times(s, momentum))
		}
		out = append(out, h.result(s, c.Out[1+i]))
	}
	return out
}

// windowSum adds elements from before to after each position of an axis.
func (h formula) windowSum(x stablehlo.Value, axis, before, after int) stablehlo.Value {
	rank := len(x.Spec.Dims)
	v := stablehlo.Window{Dims: make([]int, rank), Padding: make([][2]int, rank)}
	for i := range v.Dims {
		v.Dims[i] = 1
	}
	v.Dims[axis] = before + after + 1
	v.Padding[axis] = [2]int{before, after}
	return h.ReduceWindow("add", x, 0, v)
}

func windowSumHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	return h.results(h.windowSum(h.widen(c.In[0]), c.axes()[0], c.Attrs.Int("before"), c.Attrs.Int("after")), c)
}

func lrnHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.widen(c.In[0])
	size := c.Attrs.Int("size")
	s := h.windowSum(h.mul(x, x), 1, size/2, (size-1)/2)
	d := h.plus(h.times(s, c.Attrs.Float("alpha")/float64(size)), c.Attrs.Float("k"))
	return h.results(h.div(x, h.pow(d, h.num(d, c.Attrs.Float("beta")))), c)
}

// unit divides by the norm over axes, or by eps.
func (h formula) unit(x stablehlo.Value, axes []int, p, eps float64) stablehlo.Value {
	return h.div(x, h.max(h.norm(x, axes, p), h.num(x, eps)))
}

func normalizeHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	return h.results(h.unit(h.widen(c.In[0]), c.axes(), kernel.NormOrder(c.Attrs), c.Attrs.Float("eps")), c)
}

// wideIn converts input i to the wide form of the result's type.
func (h formula) wideIn(c *LowerCall, i int) stablehlo.Value {
	t := wide(c.Out[0].DType)
	if !t.IsFloat() {
		t = dtype.F32
	}
	return h.Convert(c.In[i], t)
}

func cosineHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x, y := h.pair(h.wideIn(c, 0), h.wideIn(c, 1))
	axis, _ := shape.Axis("", c.Attrs.Int("dim"), len(x.Spec.Dims))
	axes := []int{axis}
	eps := h.num(x, c.Attrs.Float("eps"))
	d := h.mul(h.max(h.norm(x, axes, 2), eps), h.max(h.norm(y, axes, 2), eps))
	return h.results(h.div(h.sum(h.mul(x, y), axes), d), c)
}

// distance is the p-norm of x − y + eps along the last axis.
func (h formula) distance(x, y stablehlo.Value, p, eps float64) stablehlo.Value {
	d := h.plus(h.sub(x, y), eps)
	return h.norm(d, []int{len(d.Spec.Dims) - 1}, p)
}

func distanceHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	return h.results(h.distance(h.wideIn(c, 0), h.wideIn(c, 1), c.Attrs.Float("p"), c.Attrs.Float("eps")), c)
}
