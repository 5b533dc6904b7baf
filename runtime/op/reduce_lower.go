package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// reduceHLO lowers to one reduce in the wide form of the result's type.
func reduceHLO(body string, init float64) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		if c.Out[0].DType == dtype.Bool {
			body := map[string]string{"add": "or", "multiply": "and"}[body]
			return h.results(h.reduce(body, h.nonzero(c.In[0]), c.axes(), init), c)
		}
		x := h.Convert(c.In[0], wide(c.Out[0].DType))
		return h.results(h.reduce(body, x, c.axes(), init), c)
	}
}

func meanHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	n := float64(countOf(c.In[0].Spec, c.axes()))
	return h.results(h.div(h.sum(x, c.axes()), h.num(x, n)), c)
}

func nansumHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	if x.Spec.DType.IsFloat() {
		x = h.pick(h.isNaN(x), h.num(x, 0), x)
	}
	return h.results(h.sum(x, c.axes()), c)
}

func nanmeanHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	nan := h.isNaN(x)
	n := h.sum(h.Convert(h.not(nan), x.Spec.DType), c.axes())
	return h.results(h.div(h.sum(h.pick(nan, h.num(x, 0), x), c.axes()), n), c)
}

func countHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	return h.results(h.sum(h.Convert(h.nonzero(c.In[0]), dtype.I64), c.axes()), c)
}

func truthHLO(body string, init float64) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		return h.results(h.reduce(body, h.nonzero(c.In[0]), c.axes(), init), c)
	}
}

// extremeOf reduces to the largest or smallest; bools compare as and, or.
func (h formula) extremeOf(x stablehlo.Value, axes []int, largest bool) stablehlo.Value {
	switch {
	case x.Spec.DType == dtype.Bool && largest:
		return h.reduce("or", x, axes, 0)
	case x.Spec.DType == dtype.Bool:
		return h.reduce("and", x, axes, 1)
	case largest:
		return h.largest(x, axes)
	}
	return h.smallest(x, axes)
}

func extremeHLO(largest bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		return h.results(h.extremeOf(c.In[0], c.axes(), largest), c)
	}
}

func aminmaxHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	return []stablehlo.Value{
		h.result(h.extremeOf(c.In[0], c.axes(), false), c.Out[0]),
		h.result(h.extremeOf(c.In[0], c.axes(), true), c.Out[1]),
	}
}

// asRows sees the operand as […, n], the reduced axes last; a bool as U8, so that it has an order.
func (h formula) asRows(c *LowerCall) (x stablehlo.Value, axis int) {
	x = c.In[0]
	if x.Spec.DType == dtype.Bool {
		x = h.Convert(x, dtype.U8)
	}
	x = h.rowsLast(x, c.axes())
	return x, len(x.Spec.Dims) - 1
}

func argPairHLO(largest bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		x, axis := h.asRows(c)
		v, i := h.ArgReduce(x, axis, largest, dtype.I64)
		return []stablehlo.Value{h.result(v, c.Out[0]), h.result(i, c.Out[1])}
	}
}

func argHLO(largest bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		x, axis := h.asRows(c)
		_, i := h.ArgReduce(x, axis, largest, dtype.I64)
		return h.results(i, c)
	}
}

// unrows puts […kept, n] back into the order of dims.
func (h formula) unrows(x stablehlo.Value, dims, axes []int) stablehlo.Value {
	order := append(keptAxes(len(dims), axes), axes...)
	moved, back := make([]int, len(order)), make([]int, len(order))
	inOrder := true
	for i, o := range order {
		moved[i], back[o] = dims[o], i
		inOrder = inOrder && i == o
	}
	x = h.Reshape(x, moved)
	if inOrder {
		return x
	}
	return h.Transpose(x, back)
}

// window is a window of n elements along the last axis: those before each
// position (or after), with the position itself unless exclusive.
func window(rank, n int, before, exclusive bool) stablehlo.Window {
	v := stablehlo.Window{Dims: make([]int, rank), Padding: make([][2]int, rank)}
	for i := range v.Dims {
		v.Dims[i] = 1
	}
	v.Dims[rank-1] = n
	pad := [2]int{n - 1, 0}
	if exclusive {
		pad = [2]int{n, -1}
	}
	if !before {
		pad[0], pad[1] = pad[1], pad[0]
	}
	v.Padding[rank-1] = pad
	return v
}

func prodOthersHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	axes := c.axes()
	x := h.rowsLast(h.widen(c.In[0]), axes)
	rank, n := len(x.Spec.Dims), x.Spec.Dims[len(x.Spec.Dims)-1]
	if n == 0 {
		return []stablehlo.Value{c.In[0]}
	}
	l := h.ReduceWindow("multiply", x, 1, window(rank, n, true, true))
	r := h.ReduceWindow("multiply", x, 1, window(rank, n, false, true))
	return h.results(h.unrows(h.mul(l, r), c.In[0].Spec.Dims, axes), c)
}

// dualProduct is the region that joins two stretches (product, its change).
func dualProduct(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
	h := formula{w}
	return []stablehlo.Value{h.mul(a[0], a[2]), h.add(h.mul(a[1], a[2]), h.mul(a[0], a[3]))}
}

func prodOthersBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	axes := c.axes()
	x, v := h.rowsLast(h.widen(c.In[0]), axes), h.rowsLast(h.widen(c.In[1]), axes)
	rank, n := len(x.Spec.Dims), x.Spec.Dims[len(x.Spec.Dims)-1]
	if n == 0 {
		return []stablehlo.Value{c.In[0]}
	}
	one, zero := h.num(x, 1), h.num(x, 0)
	xs, inits := []stablehlo.Value{x, v}, []stablehlo.Value{one, zero}
	l := h.ReduceWindowRegion(xs, inits, window(rank, n, true, true), dualProduct)
	r := h.ReduceWindowRegion(xs, inits, window(rank, n, false, true), dualProduct)
	return h.results(h.unrows(h.add(h.mul(l[1], r[0]), h.mul(l[0], r[1])), c.In[0].Spec.Dims, axes), c)
}

// momentsHLO lowers var and std, alone or with the mean.
func momentsHLO(root, mean bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		axes := c.axes()
		x := h.widen(c.In[0])
		n := float64(countOf(x.Spec, axes))
		m := h.div(h.sum(x, axes), h.num(x, n))
		d := h.sub(x, m)
		v := h.div(h.sum(h.mul(d, d), axes), h.num(x, max(0, n-c.Attrs.Float("correction"))))
		if root {
			v = h.sqrt(v)
		}
		out := []stablehlo.Value{h.result(v, c.Out[0])}
		if mean {
			out = append(out, h.result(m, c.Out[1]))
		}
		return out
	}
}

// logSumExp is log Σ e^x over axes, which stay as size 1.
func (h formula) logSumExp(x stablehlo.Value, axes []int) stablehlo.Value {
	m := h.largest(x, axes)
	m = h.pick(h.is("EQ", h.abs(m), math.Inf(1)), h.num(m, 0), m)
	return h.add(m, h.log(h.sum(h.exp(h.sub(x, m)), axes)))
}

func logsumexpHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	return h.results(h.logSumExp(h.wideIn(c, 0), c.axes()), c)
}

// norm is the p-norm over axes, which stay as size 1.
func (h formula) norm(x stablehlo.Value, axes []int, p float64) stablehlo.Value {
	a := h.abs(x)
	switch {
	case p == 0:
		return h.sum(h.Convert(h.nonzero(x), x.Spec.DType), axes)
	case p == 1:
		return h.sum(a, axes)
	case p == 2:
		return h.sqrt(h.sum(h.mul(x, x), axes))
	case math.IsInf(p, 1):
		return h.reduce("maximum", a, axes, 0)
	case math.IsInf(p, -1):
		return h.smallest(a, axes)
	}
	return h.pow(h.sum(h.pow(a, h.num(a, p)), axes), h.num(a, 1/p))
}

func normHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if c.Attrs.Get("p") == "nuc" {
		return h.singularNorm(c, "nuc")
	}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	return h.results(h.norm(x, c.axes(), kernel.NormOrder(c.Attrs)), c)
}

// everyAxis lists the axes of x.
func everyAxis(x stablehlo.Value) []int { return callAxes(x.Spec, nil) }

func distHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	t := wide(c.Out[0].DType)
	d := h.sub(h.Convert(c.In[0], t), h.Convert(c.In[1], t))
	return h.results(h.norm(d, everyAxis(d), kernel.NormOrder(c.Attrs)), c)
}

func renormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.widen(c.In[0])
	axes := keptAxes(len(x.Spec.Dims), c.axes())
	limit := c.Attrs.Float("maxnorm")
	n := h.norm(x, axes, c.Attrs.Float("p"))
	scale := h.pick(h.is("GT", n, limit), h.div(h.num(x, limit), h.plus(n, 1e-7)), h.num(x, 1))
	return h.results(h.mul(x, scale), c)
}

// oneHot reads the element at position k (…,1) of the last axis of x.
func (h formula) oneHot(x, k stablehlo.Value) stablehlo.Value {
	axis := len(x.Spec.Dims) - 1
	hit := h.cmp("EQ", h.Iota(shape.Spec{DType: k.Spec.DType, Dims: x.Spec.Dims}, axis), k)
	zero := h.num(x, 0)
	return h.reduce("add", h.pick(hit, x, zero), []int{axis}, 0)
}

// countValid counts what is not NaN along the last axis.
func (h formula) countValid(x stablehlo.Value) stablehlo.Value {
	axis := len(x.Spec.Dims) - 1
	if !x.Spec.DType.IsFloat() {
		return h.Splat(shape.Spec{DType: dtype.I64, Dims: keptDims(x.Spec.Dims, []int{axis}, true)}, float64(x.Spec.Dims[axis]))
	}
	return h.sum(h.Convert(h.Compare("EQ", x, x), dtype.I64), []int{axis})
}

// sorted gives a sorted row and where its elements were.
func (h formula) sorted(c *LowerCall) (v, at stablehlo.Value) {
	x, axis := h.asRows(c)
	return h.SortIndex(x, axis, false, dtype.I64)
}

// ranked gives value and position of rank k in sorted rows. A value that is to be
// NaN survives, because the other elements of the row count as 0 only where they are not chosen.
func (h formula) ranked(c *LowerCall, v, at, k stablehlo.Value) []stablehlo.Value {
	out := []stablehlo.Value{h.result(h.oneHot(v, k), c.Out[0])}
	if len(c.Out) > 1 {
		out = append(out, h.result(h.oneHot(at, k), c.Out[1]))
	}
	return out
}

// medianHLO takes rank (n−1)/2 of the sorted row; the first NaN when there is
// one, or the middle of the others when skip.
func medianHLO(skip bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		v, at := h.sorted(c)
		n := v.Spec.Dims[len(v.Spec.Dims)-1]
		valid := h.countValid(v)
		two, one := h.num(valid, 2), h.num(valid, 1)
		k := h.max(h.div(h.sub(valid, one), two), h.num(valid, 0))
		if !skip {
			k = h.pick(h.is("LT", valid, float64(n)), valid, k)
		}
		return h.ranked(c, v, at, k)
	}
}

func kthHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	v, at := h.sorted(c)
	k := h.Splat(shape.Of(dtype.I64), float64(c.Attrs.Int("k")-1))
	return h.ranked(c, v, at, k)
}

// modeHLO counts each sorted element's equals up to it: the longest run ends
// where that count is largest, and the first such run is of the smallest value.
func modeHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	v, at := h.sorted(c)
	rank := len(v.Spec.Dims)
	n := v.Spec.Dims[rank-1]
	a := h.Reshape(v, append(append([]int{}, v.Spec.Dims...), 1))
	b := h.Reshape(v, append(append([]int{}, v.Spec.Dims[:rank-1]...), 1, n))
	same := h.cmp("EQ", a, b)
	before := shape.Spec{DType: dtype.I64, Dims: same.Spec.Dims}
	upTo := h.Compare("LE", h.Iota(before, rank), h.Iota(before, rank-1))
	count := h.Reshape(h.sum(h.Convert(h.and(same, upTo), dtype.I64), []int{rank}), v.Spec.Dims)
	_, k := h.ArgReduce(count, rank-1, true, dtype.I64)
	return h.ranked(c, v, at, h.Reshape(k, keptDims(v.Spec.Dims, []int{rank - 1}, true)))
}

// quantileAt gives, as […q, kept…], the sorted values around each quantile, their positions and the weight.
func (h formula) quantileAt(c *LowerCall) (lo, hi, loAt, hiAt, weight stablehlo.Value) {
	v, at := h.sorted(c)
	t := wide(v.Spec.DType)
	n := v.Spec.Dims[len(v.Spec.Dims)-1]
	valid := h.countValid(v)
	// One leading axis for the probabilities: [q, 1…, 1] against [kept…, n].
	q := h.Convert(c.In[1], t)
	qdims := append([]int{q.Spec.Size()}, make([]int, len(v.Spec.Dims))...)
	for i := range qdims[1:] {
		qdims[1+i] = 1
	}
	q = h.Reshape(q, qdims)
	p := h.mul(q, h.sub(h.Convert(valid, t), h.num(q, 1)))
	f := h.one("floor", p)
	w := h.sub(p, f)
	zero := h.num(p, 0)
	switch c.Attrs.Str("interpolation") {
	case "lower":
		w = h.Splat(w.Spec, 0)
	case "higher":
		f, w = h.one("ceil", p), h.Splat(w.Spec, 0)
	case "nearest":
		f, w = h.one("round_nearest_even", p), h.Splat(w.Spec, 0)
	case "midpoint":
		w = h.pick(h.is("GT", w, 0), h.num(w, 0.5), zero)
	}
	k := h.Convert(f, dtype.I64)
	last := h.sub(valid, h.num(valid, 1))
	up := h.min(h.plus(k, 1), last)
	broken := h.is("EQ", valid, 0)
	if !c.Attrs.Bool("ignore_nan") {
		broken = h.is("LT", valid, float64(n))
	}
	end := h.num(valid, float64(n-1))
	k, up, w = h.pick(broken, end, k), h.pick(broken, end, up), h.pick(broken, zero, w)
	lift := func(x stablehlo.Value) stablehlo.Value {
		return h.BroadcastTo(x, append([]int{qdims[0]}, x.Spec.Dims...))
	}
	vq, aq := lift(v), lift(at)
	return h.Convert(h.oneHot(vq, k), t), h.Convert(h.oneHot(vq, up), t), h.oneHot(aq, k), h.oneHot(aq, up), w
}

func quantileHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	lo, hi, _, _, weight := h.quantileAt(c)
	y := h.pick(h.is("GT", weight, 0), h.add(lo, h.mul(weight, h.sub(hi, lo))), lo)
	return h.results(y, c)
}

func quantileRanksHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	_, _, lo, hi, weight := h.quantileAt(c)
	return []stablehlo.Value{h.result(lo, c.Out[0]), h.result(hi, c.Out[1]), h.result(weight, c.Out[2])}
}
