package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// rowsAlong sees x as […, n], the axis of the call last, in the wide type; n is at least 1.
func (h formula) rowsAlong(x stablehlo.Value, c *LowerCall) stablehlo.Value {
	return h.rowsLast(h.Convert(x, wide(c.Out[0].DType)), c.axes())
}

// alongResult puts rows back and rounds them to result i.
func (h formula) alongResult(x stablehlo.Value, c *LowerCall, i int) stablehlo.Value {
	return h.result(h.unrows(x, c.Out[i].Dims, c.axes()), c.Out[i])
}

// nothing gives empty results when there is nothing to compute.
func (h formula) nothing(c *LowerCall) ([]stablehlo.Value, bool) {
	if c.Out[0].Size() > 0 {
		return nil, false
	}
	var out []stablehlo.Value
	for _, s := range c.Out {
		out = append(out, h.Splat(s, 0))
	}
	return out, true
}

// cumHLO lowers a running op to a window that reaches back to the start.
func cumHLO(body string, init float64) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		if out, ok := h.nothing(c); ok {
			return out
		}
		x := h.rowsAlong(c.In[0], c)
		rank := len(x.Spec.Dims)
		y := h.ReduceWindow(body, x, init, window(rank, x.Spec.Dims[rank-1], true, false))
		return []stablehlo.Value{h.alongResult(y, c, 0)}
	}
}

func cumprodForwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if out, ok := h.nothing(c); ok {
		return out
	}
	x, v := h.rowsAlong(c.In[0], c), h.rowsAlong(c.In[1], c)
	rank := len(x.Spec.Dims)
	y := h.ReduceWindowRegion([]stablehlo.Value{x, v}, []stablehlo.Value{h.num(x, 1), h.num(x, 0)},
		window(rank, x.Spec.Dims[rank-1], true, false), dualProduct)
	return []stablehlo.Value{h.alongResult(y[1], c, 0)}
}

// affine is the region that joins two maps s ↦ a·s + b, the later one first.
func affine(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
	h := formula{w}
	return []stablehlo.Value{h.mul(a[0], a[2]), h.add(a[1], h.mul(a[0], a[3]))}
}

// shiftLast moves elements of the last axis by one towards the start (by > 0) or the end, and fills with v.
func (h formula) shiftLast(x stablehlo.Value, by int, v float64) stablehlo.Value {
	rank := len(x.Spec.Dims)
	lo, hi := make([]int, rank), make([]int, rank)
	lo[rank-1], hi[rank-1] = -by, by
	return h.Pad(x, h.num(x, v), lo, hi, make([]int, rank))
}

// cumprodBackwardHLO: with the exclusive product p before k, and s[k] = dy[k] + x[k+1]·s[k+1], it is p·s.
func cumprodBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if out, ok := h.nothing(c); ok {
		return out
	}
	x, dy := h.rowsAlong(c.In[0], c), h.rowsAlong(c.In[1], c)
	rank := len(x.Spec.Dims)
	n := x.Spec.Dims[rank-1]
	p := h.ReduceWindow("multiply", x, 1, window(rank, n, true, true))
	next := h.shiftLast(x, 1, 0)
	s := h.ReduceWindowRegion([]stablehlo.Value{next, dy}, []stablehlo.Value{h.num(x, 1), h.num(x, 0)},
		window(rank, n, false, false), affine)
	return []stablehlo.Value{h.alongResult(h.mul(p, s[1]), c, 0)}
}

// cumprodSecondHLO works on n copies of the row, the m-th without element m.
func cumprodSecondHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if out, ok := h.nothing(c); ok {
		return out
	}
	x, dy, v := h.rowsAlong(c.In[0], c), h.rowsAlong(c.In[1], c), h.rowsAlong(c.In[2], c)
	rank := len(x.Spec.Dims)
	n := x.Spec.Dims[rank-1]
	lift := func(x stablehlo.Value) stablehlo.Value {
		dims := append(append([]int{}, x.Spec.Dims[:rank-1]...), 1, n)
		full := append(append([]int{}, x.Spec.Dims[:rank-1]...), n, n)
		return h.BroadcastTo(h.Reshape(x, dims), full)
	}
	xs, dys, vs := lift(x), lift(dy), lift(v)
	at := shape.Spec{DType: dtype.I64, Dims: xs.Spec.Dims}
	m, i := h.Iota(at, rank-1), h.Iota(at, rank)
	self := h.Compare("EQ", m, i)
	xs = h.pick(self, h.num(xs, 1), xs)
	vs = h.pick(self, h.num(vs, 0), vs)
	t := h.ReduceWindowRegion([]stablehlo.Value{xs, vs}, []stablehlo.Value{h.num(xs, 1), h.num(xs, 0)},
		window(rank+1, n, true, false), dualProduct)[1]
	s := h.sum(h.pick(h.Compare("GE", i, m), h.mul(dys, t), h.num(t, 0)), []int{rank})
	return []stablehlo.Value{h.alongResult(h.Reshape(s, x.Spec.Dims), c, 0)}
}

// cumExtremeHLO keeps the pair (value, position); of equal values the later wins, and NaN stays.
func cumExtremeHLO(largest bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		if out, ok := h.nothing(c); ok {
			return out
		}
		x, axis := h.asRows(c)
		pos := h.Iota(shape.Spec{DType: dtype.I64, Dims: x.Spec.Dims}, axis)
		dir := "LE"
		if largest {
			dir = "GE"
		}
		inits := []stablehlo.Value{h.num(x, stablehlo.Identity(x.Spec.DType, largest)), h.num(pos, -1)}
		y := h.ReduceWindowRegion([]stablehlo.Value{x, pos}, inits, window(axis+1, x.Spec.Dims[axis], true, false),
			func(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
				h := formula{w}
				v, i, u, j := a[0], a[1], a[2], a[3]
				// Whichever comes later in the row is taken when it reaches the other, or is NaN.
				swap := h.Compare("GT", i, j)
				ev, ei := h.Select(swap, u, v), h.Select(swap, j, i)
				lv, li := h.Select(swap, v, u), h.Select(swap, i, j)
				take := h.Compare(dir, lv, ev)
				if v.Spec.DType.IsFloat() {
					take = h.or(take, h.isNaN(lv))
				}
				take = h.or(take, h.is("LT", ei, 0))
				return []stablehlo.Value{h.Select(take, lv, ev), h.Select(take, li, ei)}
			})
		return []stablehlo.Value{h.alongResult(y[0], c, 0), h.alongResult(y[1], c, 1)}
	}
}

// logcumsumexpHLO joins by log(e^a + e^b).
func logcumsumexpHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if out, ok := h.nothing(c); ok {
		return out
	}
	x := h.rowsAlong(c.In[0], c)
	rank := len(x.Spec.Dims)
	y := h.ReduceWindowRegion([]stablehlo.Value{x}, []stablehlo.Value{h.num(x, math.Inf(-1))},
		window(rank, x.Spec.Dims[rank-1], true, false), func(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
			h := formula{w}
			m := h.max(a[0], a[1])
			l := h.add(m, h.log1p(h.exp(h.neg(h.abs(h.sub(a[0], a[1]))))))
			return []stablehlo.Value{h.pick(h.Compare("EQ", a[0], a[1]), h.plus(m, math.Ln2), l)}
		})
	return []stablehlo.Value{h.alongResult(y[0], c, 0)}
}

func diffHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if out, ok := h.nothing(c); ok {
		return out
	}
	axis := c.axes()[0]
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	for range c.Attrs.Int("n") {
		n := x.Spec.Dims[axis]
		a, b := h.SliceAxis(x, axis, 1, n, 1), h.SliceAxis(x, axis, 0, n-1, 1)
		if x.Spec.DType == dtype.Bool {
			x = h.two("xor", a, b)
		} else {
			x = h.sub(a, b)
		}
	}
	return h.results(x, c)
}

// intervals gives the integral over each interval between samples; at least two samples.
func (h formula) intervals(c *LowerCall, axis int) stablehlo.Value {
	t := wide(c.Out[0].DType)
	y := h.Convert(c.In[0], t)
	n := y.Spec.Dims[axis]
	ends := func(x stablehlo.Value) (stablehlo.Value, stablehlo.Value) {
		return h.SliceAxis(x, axis, 1, n, 1), h.SliceAxis(x, axis, 0, n-1, 1)
	}
	a, b := ends(y)
	s := h.times(h.add(a, b), 0.5)
	p, ok := c.param(1)
	if !ok {
		return h.times(s, c.Attrs.Float("dx"))
	}
	x := h.Convert(p, t)
	if len(x.Spec.Dims) == 1 {
		dims := make([]int, len(y.Spec.Dims))
		for i := range dims {
			dims[i] = 1
		}
		dims[axis] = n
		x = h.Reshape(x, dims)
	}
	u, v := ends(x)
	return h.mul(s, h.sub(u, v))
}

func trapezoidHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	axis := c.axes()[0]
	if c.In[0].Spec.Dims[axis] < 2 {
		return []stablehlo.Value{h.Splat(c.Out[0], 0)}
	}
	return h.results(h.sum(h.intervals(c, axis), []int{axis}), c)
}

func cumulativeHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	if out, ok := h.nothing(c); ok {
		return out
	}
	axis := c.axes()[0]
	s := h.rowsLast(h.intervals(c, axis), []int{axis})
	rank := len(s.Spec.Dims)
	y := h.ReduceWindow("add", s, 0, window(rank, s.Spec.Dims[rank-1], true, false))
	return []stablehlo.Value{h.alongResult(y, c, 0)}
}

// logcumsumexpWeightsHLO multiplies by the matrix e^(x[k]−y[i]), k ≤ i, from one side or the other.
func logcumsumexpWeightsHLO(forward bool) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		h := formula{w}
		if out, ok := h.nothing(c); ok {
			return out
		}
		g, x, y := h.rowsAlong(c.In[0], c), h.rowsAlong(c.In[1], c), h.rowsAlong(c.In[2], c)
		rank := len(x.Spec.Dims)
		n := x.Spec.Dims[rank-1]
		lead := x.Spec.Dims[:rank-1]
		row := func(v stablehlo.Value) stablehlo.Value { return h.Reshape(v, append(append([]int{}, lead...), n, 1)) }
		col := func(v stablehlo.Value) stablehlo.Value { return h.Reshape(v, append(append([]int{}, lead...), 1, n)) }
		gap := h.sub(row(x), col(y)) // [k, i]
		at := shape.Spec{DType: dtype.I64, Dims: gap.Spec.Dims}
		used := h.and(h.Compare("LE", h.Iota(at, rank-1), h.Iota(at, rank)), h.is("GT", row(x), math.Inf(-1)))
		weight := h.exp(h.pick(used, gap, h.num(gap, math.Inf(-1))))
		side, axis := col, rank
		if forward {
			side, axis = row, rank-1
		}
		s := h.sum(h.mul(weight, side(g)), []int{axis})
		return []stablehlo.Value{h.alongResult(h.Reshape(s, x.Spec.Dims), c, 0)}
	}
}
