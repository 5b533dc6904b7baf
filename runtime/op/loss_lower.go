package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// lossResult reduces the losses of elements or rows.
func (h formula) lossResult(each stablehlo.Value, c *LowerCall) []stablehlo.Value {
	every := everyAxis(each)
	n := float64(each.Spec.Size())
	switch c.Attrs.Str("reduction") {
	case "mean":
		each = h.div(h.sum(each, every), h.num(each, n))
	case "sum":
		each = h.sum(each, every)
	case "batchmean":
		if len(each.Spec.Dims) > 0 {
			n = float64(each.Spec.Dims[0])
		}
		each = h.div(h.sum(each, every), h.num(each, n))
	}
	return h.results(each, c)
}

// pointHLO lowers a loss of elements: f gets the operands in the wide type at
// their common shape; an absent one is the number 1.
func pointHLO(f func(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		var dims []int
		for _, x := range c.In {
			if x.ID != "" {
				dims, _ = shape.Broadcast(dims, x.Spec.Dims)
			}
		}
		v := make([]stablehlo.Value, 4)
		for i := range v {
			if x, ok := c.param(i); ok {
				v[i] = h.BroadcastTo(h.Convert(x, wide(c.Out[0].DType)), dims)
			} else {
				v[i] = h.Splat(shape.Spec{DType: wide(c.Out[0].DType), Dims: dims}, 1)
			}
		}
		return h.lossResult(f(h, v, c.Attrs), c)
	}
}

func mseHLO(h formula, v []stablehlo.Value, _ Attrs) stablehlo.Value {
	d := h.sub(v[0], v[1])
	return h.mul(h.mul(d, d), v[2])
}

func l1HLO(h formula, v []stablehlo.Value, _ Attrs) stablehlo.Value {
	return h.mul(h.abs(h.sub(v[0], v[1])), v[2])
}

func smoothL1HLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	beta := a.Float("beta")
	d := h.abs(h.sub(v[0], v[1]))
	line := h.plus(d, -beta/2)
	if beta == 0 {
		return line
	}
	return h.pick(h.is("LT", d, beta), h.times(h.mul(d, d), 1/(2*beta)), line)
}

func huberHLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	delta := a.Float("delta")
	d := h.abs(h.sub(v[0], v[1]))
	y := h.pick(h.is("LE", d, delta), h.times(h.mul(d, d), 0.5), h.times(h.plus(d, -delta/2), delta))
	return h.mul(y, v[2])
}

func bceHLO(h formula, v []stablehlo.Value, _ Attrs) stablehlo.Value {
	x, y := v[0], v[1]
	clamp := func(l stablehlo.Value) stablehlo.Value { return h.max(l, h.num(l, -100)) }
	a := h.mul(h.plus(y, -1), clamp(h.log1p(h.neg(x))))
	return h.mul(h.sub(a, h.mul(y, clamp(h.log(x)))), v[2])
}

// softplus is log(1 + e^x) without overflow.
func (h formula) softplus(x stablehlo.Value) stablehlo.Value {
	return h.add(h.max(x, h.num(x, 0)), h.log1p(h.exp(h.neg(h.abs(x)))))
}

func bceLogitsHLO(h formula, v []stablehlo.Value, _ Attrs) stablehlo.Value {
	x, y := v[0], v[1]
	lw := h.plus(h.mul(h.plus(v[3], -1), y), 1)
	l := h.add(h.mul(h.sub(h.num(y, 1), y), x), h.mul(lw, h.softplus(h.neg(x))))
	return h.mul(l, v[2])
}

func klHLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	x, y := v[0], v[1]
	if a.Bool("log_target") {
		return h.mul(h.exp(y), h.sub(y, x))
	}
	return h.pick(h.is("EQ", y, 0), h.num(y, 0), h.mul(y, h.sub(h.log(y), x)))
}

func hingeHLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	x, y := v[0], v[1]
	zero := h.num(x, 0)
	far := h.max(h.sub(h.num(x, a.Float("margin")), x), zero)
	return h.add(h.pick(h.is("NE", y, 1), far, zero), h.pick(h.is("NE", y, -1), x, zero))
}

func rankingHLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	m := h.plus(h.neg(h.mul(v[2], h.sub(v[0], v[1]))), a.Float("margin"))
	return h.max(m, h.num(m, 0))
}

func softMarginHLO(h formula, v []stablehlo.Value, _ Attrs) stablehlo.Value {
	return h.softplus(h.neg(h.mul(v[0], v[1])))
}

func gaussianHLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	w := h.max(v[2], h.num(v[2], a.Float("eps")))
	d := h.sub(v[0], v[1])
	y := h.times(h.add(h.log(w), h.div(h.mul(d, d), w)), 0.5)
	if a.Bool("full") {
		y = h.plus(y, math.Log(2*math.Pi)/2)
	}
	return y
}

func poissonHLO(h formula, v []stablehlo.Value, a Attrs) stablehlo.Value {
	x, y := v[0], v[1]
	s := h.sub(x, h.mul(y, h.log(h.plus(x, a.Float("eps")))))
	if a.Bool("log_input") {
		s = h.sub(h.exp(x), h.mul(y, x))
	}
	if a.Bool("full") {
		t := h.add(h.sub(h.mul(y, h.log(y)), y), h.times(h.log(h.times(y, 2*math.Pi)), 0.5))
		s = h.add(s, h.pick(h.is("GT", y, 1), t, h.num(y, 0)))
	}
	return s
}

// dropLast takes the last axis, of size 1, off.
func (h formula) dropLast(x stablehlo.Value) stablehlo.Value {
	return h.Reshape(x, x.Spec.Dims[:len(x.Spec.Dims)-1])
}

func cosineLossHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x, y := h.pair(h.wideIn(c, 0), h.wideIn(c, 1))
	t := h.wideIn(c, 2)
	axes := []int{len(x.Spec.Dims) - 1}
	square := func(x stablehlo.Value) stablehlo.Value { return h.plus(h.sum(h.mul(x, x), axes), 1e-12) }
	cos := h.dropLast(h.div(h.sum(h.mul(x, y), axes), h.sqrt(h.mul(square(x), square(y)))))
	zero := h.num(cos, 0)
	far := h.max(h.plus(cos, -c.Attrs.Float("margin")), zero)
	l := h.pick(h.is("EQ", t, 1), h.sub(h.num(cos, 1), cos), h.pick(h.is("EQ", t, -1), far, zero))
	return h.lossResult(l, c)
}

func tripletHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	p, eps := c.Attrs.Float("p"), c.Attrs.Float("eps")
	a, b, n := h.wideIn(c, 0), h.wideIn(c, 1), h.wideIn(c, 2)
	near, far := h.distance(a, b, p, eps), h.distance(a, n, p, eps)
	if c.Attrs.Bool("swap") {
		far = h.min(far, h.distance(b, n, p, eps))
	}
	l := h.plus(h.sub(near, far), c.Attrs.Float("margin"))
	return h.lossResult(h.dropLast(h.max(l, h.num(l, 0))), c)
}

// hotClasses marks, along axis, the class of each target: t has size 1 there.
func (h formula) hotClasses(t stablehlo.Value, axis, classes int) stablehlo.Value {
	dims := append([]int{}, t.Spec.Dims...)
	dims[axis] = classes
	return h.cmp("EQ", h.Iota(shape.Spec{DType: t.Spec.DType, Dims: dims}, axis), t)
}

func multiMarginHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 0)
	if len(x.Spec.Dims) == 0 {
		x = h.Reshape(x, []int{1})
	}
	last := len(x.Spec.Dims) - 1
	axes := []int{last}
	hot := h.hotClasses(h.Reshape(c.In[1], keptDims(x.Spec.Dims, axes, true)), last, x.Spec.Dims[last])
	zero := h.num(x, 0)
	xy := h.sum(h.pick(hot, x, zero), axes)
	m := h.plus(h.sub(x, xy), c.Attrs.Float("margin"))
	m = h.pick(hot, zero, h.max(m, zero))
	if c.Attrs.Float("p") == 2 {
		m = h.mul(m, m)
	}
	l := h.mean(m, axes)
	if wt, ok := c.param(2); ok {
		l = h.mul(l, h.sum(h.pick(hot, h.Convert(wt, x.Spec.DType), zero), axes))
	}
	return h.lossResult(h.Reshape(l, c.In[1].Spec.Dims), c)
}

func multilabelHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x, y := h.wideIn(c, 0), h.wideIn(c, 1)
	l := h.add(h.mul(y, h.softplus(h.neg(x))), h.mul(h.sub(h.num(y, 1), y), h.softplus(x)))
	if wt, ok := c.param(2); ok {
		l = h.mul(l, h.Convert(wt, x.Spec.DType))
	}
	return h.lossResult(h.dropLast(h.mean(l, []int{len(x.Spec.Dims) - 1})), c)
}

// classHLO is what the lowering of a class loss works with: targets with the
// class axis as size 1, their one-hot mark, and the factor of each class (1 where ignored counts 0).
type classHLO struct {
	formula
	axis   int
	factor stablehlo.Value // of each class in −Σ factor·lp
	used   stablehlo.Value // of each target in the divisor of a mean
}

// classes prepares the scores x and inputs t (target) and w (weight).
func (h formula) classes(x stablehlo.Value, c *LowerCall, t, w int) classHLO {
	k := classHLO{formula: h, axis: classAxis(x.Spec)}
	n := x.Spec.Dims[k.axis]
	e := c.Attrs.Float("label_smoothing")
	target := h.Reshape(h.Convert(c.In[t], dtype.I64), keptDims(x.Spec.Dims, []int{k.axis}, true))
	ignored := h.is("EQ", target, float64(c.Attrs.Int("ignore_index")))
	// Reads out of range clamp.
	clamped := h.min(h.max(target, h.num(target, 0)), h.num(target, float64(n-1)))
	hot := h.Convert(h.hotClasses(clamped, k.axis, n), x.Spec.DType)
	one := h.num(x, 1)
	weights := h.BroadcastTo(one, x.Spec.Dims)
	if p, ok := c.param(w); ok {
		dims := make([]int, len(x.Spec.Dims))
		for i := range dims {
			dims[i] = 1
		}
		dims[k.axis] = n
		weights = h.BroadcastTo(h.Reshape(h.Convert(p, x.Spec.DType), dims), x.Spec.Dims)
	}
	zero := h.num(x, 0)
	chosen := h.mul(hot, weights)
	k.used = h.pick(ignored, zero, h.sum(chosen, []int{k.axis}))
	k.factor = chosen
	if e > 0 {
		k.factor = h.add(h.times(chosen, 1-e), h.times(weights, e/float64(n)))
	}
	k.factor = h.pick(ignored, zero, k.factor)
	return k
}

// loss reduces −Σ factor·lp.
func (k classHLO) loss(lp stablehlo.Value, c *LowerCall) []stablehlo.Value {
	zero := k.num(lp, 0)
	part := k.pick(k.is("EQ", k.factor, 0), zero, k.mul(k.factor, lp))
	l := k.neg(k.sum(part, []int{k.axis}))
	switch c.Attrs.Str("reduction") {
	case "sum":
		l = k.sum(l, everyAxis(l))
	case "mean":
		l = k.div(k.sum(l, everyAxis(l)), k.sum(k.used, everyAxis(k.used)))
	}
	return k.results(l, c)
}

// slope is the gradient of the loss for lp.
func (k classHLO) slope(dy stablehlo.Value, c *LowerCall) stablehlo.Value {
	g := k.Convert(dy, k.factor.Spec.DType)
	switch c.Attrs.Str("reduction") {
	case "none":
		g = k.Reshape(g, k.used.Spec.Dims)
	case "mean":
		g = k.div(g, k.Reshape(k.sum(k.used, everyAxis(k.used)), nil))
	}
	return k.neg(k.mul(k.factor, g))
}

func nllHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 0)
	return h.classes(x, c, 1, 2).loss(x, c)
}

func nllBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 1)
	return h.results(h.classes(x, c, 2, 3).slope(c.In[0], c), c)
}

func crossEntropyHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 0)
	axis := classAxis(x.Spec)
	lp := h.logSoftmax(x, []int{axis})
	if !c.In[1].Spec.DType.IsFloat() {
		return h.classes(x, c, 1, 2).loss(lp, c)
	}
	q := h.wideIn(c, 1)
	if e := c.Attrs.Float("label_smoothing"); e > 0 {
		q = h.plus(h.times(q, 1-e), e/float64(x.Spec.Dims[axis]))
	}
	if p, ok := c.param(2); ok {
		dims := make([]int, len(x.Spec.Dims))
		for i := range dims {
			dims[i] = 1
		}
		dims[axis] = x.Spec.Dims[axis]
		q = h.mul(q, h.Reshape(h.Convert(p, x.Spec.DType), dims))
	}
	part := h.pick(h.is("EQ", q, 0), h.num(q, 0), h.mul(q, lp))
	return h.lossResult(h.Reshape(h.neg(h.sum(part, []int{axis})), keptDims(x.Spec.Dims, []int{axis}, false)), c)
}

func crossEntropyBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.wideIn(c, 1)
	axes := []int{classAxis(x.Spec)}
	e := h.exp(h.sub(x, h.largest(x, axes)))
	p := h.div(e, h.sum(e, axes))
	q := h.classes(x, c, 2, 3).slope(c.In[0], c)
	return h.results(h.sub(q, h.mul(p, h.sum(q, axes))), c)
}
