package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// sortAlong sorts the operand, at least 1-d, along an axis.
func (h formula) sortAlong(x stablehlo.Value, axes []int, descending bool) (v, at stablehlo.Value) {
	if x.Spec.DType == dtype.Bool {
		x = h.Convert(x, dtype.U8)
	}
	axis := 0
	if len(axes) > 0 {
		axis = axes[0]
	} else {
		x = h.Reshape(x, []int{1})
	}
	return h.SortIndex(x, axis, descending, dtype.I64)
}

func sortHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	v, at := h.sortAlong(c.In[0], c.axes(), c.Attrs.Bool("descending"))
	return []stablehlo.Value{h.result(v, c.Out[0]), h.result(at, c.Out[1])}
}

func argsortHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	_, at := h.sortAlong(c.In[0], c.axes(), c.Attrs.Bool("descending"))
	return h.results(at, c)
}

func msortHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	axes := []int{0}
	if len(c.In[0].Spec.Dims) == 0 {
		axes = nil
	}
	v, _ := h.sortAlong(c.In[0], axes, false)
	return h.results(v, c)
}

func topkHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	axes := c.axes()
	v, at := h.sortAlong(c.In[0], axes, c.Attrs.Bool("largest"))
	axis := 0
	if len(axes) > 0 {
		axis = axes[0]
	}
	k := c.Attrs.Int("k")
	if len(axes) == 0 && k == 0 {
		k = 1
	}
	v, at = h.SliceAxis(v, axis, 0, k, 1), h.SliceAxis(at, axis, 0, k, 1)
	return []stablehlo.Value{h.result(v, c.Out[0]), h.result(at, c.Out[1])}
}

// countBefore counts, for each value, the elements of its sorted row that go before it.
func (h formula) countBefore(seq, v stablehlo.Value, right bool, c *LowerCall) []stablehlo.Value {
	t := dtype.I64
	if seq.Spec.DType.IsFloat() || v.Spec.DType.IsFloat() {
		t = dtype.F32
		if seq.Spec.DType == dtype.F64 || v.Spec.DType == dtype.F64 {
			t = dtype.F64
		}
	}
	seq, v = h.Convert(seq, t), h.Convert(v, t)
	// values […, m, 1] against rows […, 1, n]
	rank := len(seq.Spec.Dims)
	n := seq.Spec.Dims[rank-1]
	lead := append([]int{}, seq.Spec.Dims[:rank-1]...)
	var a, b stablehlo.Value
	if rank == 1 {
		a = h.Reshape(v, append(append([]int{}, v.Spec.Dims...), 1))
		ones := make([]int, len(v.Spec.Dims)+1)
		for i := range ones {
			ones[i] = 1
		}
		ones[len(ones)-1] = n
		b = h.Reshape(seq, ones)
	} else {
		a = h.Reshape(v, append(append([]int{}, v.Spec.Dims...), 1))
		b = h.Reshape(seq, append(lead, 1, n))
	}
	dir := "LT"
	if right {
		dir = "LE"
	}
	before := h.cmp(dir, b, a)
	if t.IsFloat() { // NaN is above every number; after equals counts it too
		nan := h.isNaN(a)
		if right {
			before = h.or(before, nan)
		} else {
			before = h.or(before, h.and(nan, h.not(h.isNaN(b))))
		}
	}
	axis := len(before.Spec.Dims) - 1
	return h.results(h.sum(h.Convert(before, c.Out[0].DType), []int{axis}), c)
}

func searchsortedHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	seq := c.In[0]
	if len(c.In) > 2 && c.In[2].ID != "" {
		seq = h.TakeAlong(seq, h.Convert(c.In[2], dtype.I64), len(seq.Spec.Dims)-1)
	}
	return h.countBefore(seq, c.In[1], c.Attrs.Bool("right") || c.Attrs.Str("side") == "right", c)
}

func bucketizeHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return formula{w}.countBefore(c.In[1], c.In[0], c.Attrs.Bool("right"), c)
}

func histcHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.widen(c.In[0])
	x = h.Reshape(x, []int{x.Spec.Size()})
	bins := c.Out[0].Dims[0]
	lo, hi := c.Attrs.Float("min"), c.Attrs.Float("max")
	l, u := h.num(x, lo), h.num(x, hi)
	switch {
	case lo == hi && x.Spec.Size() > 0:
		l, u = h.Reshape(h.smallest(x, []int{0}), nil), h.Reshape(h.largest(x, []int{0}), nil)
		same := h.Compare("EQ", l, u)
		l, u = h.pick(same, h.plus(l, -1), l), h.pick(same, h.plus(u, 1), u)
	case lo == hi:
		l, u = h.num(x, lo-1), h.num(x, hi+1)
	}
	k := h.one("floor", h.times(h.div(h.sub(x, l), h.sub(u, l)), float64(bins)))
	k = h.min(k, h.num(k, float64(bins-1)))
	inside := h.and(h.cmp("GE", x, l), h.cmp("LE", x, u))
	k = h.pick(inside, k, h.num(k, -1))
	b := h.Iota(shape.Of(x.Spec.DType, 1, bins), 1)
	hit := h.cmp("EQ", h.Reshape(k, []int{x.Spec.Size(), 1}), b)
	return h.results(h.sum(h.Convert(hit, x.Spec.DType), []int{0}), c)
}

func isinHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	t, _ := resultType(c.In[0].Spec, c.In[1].Spec)
	x := h.Convert(c.In[0], t)
	n := c.In[1].Spec.Size()
	ones := make([]int, len(x.Spec.Dims)+1)
	for i := range ones {
		ones[i] = 1
	}
	ones[len(ones)-1] = n
	test := h.Reshape(h.Convert(c.In[1], t), ones)
	hit := h.cmp("EQ", h.Reshape(x, append(append([]int{}, x.Spec.Dims...), 1)), test)
	in := h.reduce("or", hit, []int{len(ones) - 1}, 0)
	if c.Attrs.Bool("invert") {
		in = h.not(in)
	}
	return h.results(in, c)
}

// uniqueHLO sorts (ordered), marks where a run of equal ones begins, and
// scatters values, inverse and counts to the number of the run.
func uniqueHLO(ordered bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		x := c.In[0]
		axis, _ := uniqueAxis(Unique, x.Spec, c.Attrs)
		n, m := x.Spec.Size(), 1
		flat := x
		if axis >= 0 {
			n = x.Spec.Dims[axis]
			flat = h.rowsLast(x, keptAxes(len(x.Spec.Dims), []int{axis}))
			m = x.Spec.Size() / max(n, 1)
		}
		if x.Spec.DType == dtype.Bool {
			flat = h.Convert(flat, dtype.U8)
		}
		if x.Spec.Size() == 0 {
			var out []stablehlo.Value
			for _, s := range c.Out {
				out = append(out, h.Splat(s, 0))
			}
			return out
		}
		flat = h.Reshape(flat, []int{n, m})
		at := h.Iota(shape.Of(dtype.I64, n), 0)
		if ordered { // by the columns, the last first: stable sorts make the order lexicographic
			for k := m - 1; k >= 0; k-- {
				rows := h.TakeAxis(flat, at, 0)
				key := h.Reshape(h.SliceAxis(rows, 1, k, k+1, 1), []int{n})
				at = h.Sort([]stablehlo.Value{key, at}, 0, false)[1]
			}
			flat = h.TakeAxis(flat, at, 0)
		}
		starts := h.Splat(shape.Of(dtype.Bool, 1), 1)
		if n > 1 {
			differ := h.Compare("NE", h.SliceAxis(flat, 0, 1, n, 1), h.SliceAxis(flat, 0, 0, n-1, 1))
			starts = h.Concatenate(0, starts, h.Reshape(h.reduce("or", differ, []int{1}, 0), []int{n - 1}))
		}
		run := h.plus(h.ReduceWindow("add", h.Convert(starts, dtype.I64), 0, window(1, n, true, false)), -1)
		count := c.Attrs.Int("count")
		put := func(body string, t dtype.DType, size int, index, v stablehlo.Value) stablehlo.Value {
			return h.PutAlong(body, h.Splat(shape.Of(t, size), 0), index, v, 0)
		}
		// Which row stands for each run: the first, that is the least position in sorted order.
		pos := h.Iota(shape.Of(dtype.I64, n), 0)
		first := h.PutAlong("minimum", h.Splat(shape.Of(dtype.I64, count), float64(n-1)), run, pos, 0)
		values := h.TakeAxis(flat, first, 0)
		if axis >= 0 {
			dims := append([]int{}, x.Spec.Dims...)
			dims[axis] = count
			values = h.unrows(values, dims, keptAxes(len(dims), []int{axis}))
		}
		out := []stablehlo.Value{h.result(values, c.Out[0])}
		if c.Attrs.Bool("return_inverse") {
			out = append(out, h.result(put("", dtype.I64, n, at, run), c.Out[1]))
		} else {
			out = append(out, h.Splat(c.Out[1], 0))
		}
		if c.Attrs.Bool("return_counts") {
			ones := h.Splat(shape.Of(dtype.I64, n), 1)
			out = append(out, h.result(put("add", dtype.I64, count, run, ones), c.Out[2]))
		} else {
			out = append(out, h.Splat(c.Out[2], 0))
		}
		return out
	}
}

func bincountHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	t := c.Out[0].DType
	v := h.Splat(shape.Spec{DType: t, Dims: c.In[0].Spec.Dims}, 1)
	if p, ok := c.param(1); ok {
		v = h.Convert(p, t)
	}
	return []stablehlo.Value{h.PutAlong("add", h.Splat(c.Out[0], 0), h.Convert(c.In[0], dtype.I64), v, 0)}
}
