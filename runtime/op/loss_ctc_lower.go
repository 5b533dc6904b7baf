package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// A ctcGraph is what both lowerings of the connectionist temporal classification
// work with. The states of a target of length l are blank, label, blank, …,
// blank: 2·l+1 of them, s in all.
type ctcGraph struct {
	formula
	time, batch, states, classes int
	lp                           stablehlo.Value // log-probability of each state: [time, batch, states]
	all                          stablehlo.Value // log-probability of each class: [time, batch, classes]
	labels                       stablehlo.Value // class of each state: i64[batch, states]
	skips                        stablehlo.Value // whether a state may be reached from two before it: bool[batch, states]
	last                         stablehlo.Value // the last state, 2·l: i64[batch, 1]
	length                       stablehlo.Value // input lengths: i64[batch, 1]
	zero                         stablehlo.Value
	never                        stablehlo.Value // −∞
}

// newCTC reads the inputs from position first on: log-probabilities, targets, input lengths, target lengths.
func newCTC(h formula, c *LowerCall, first int, t dtype.DType) *ctcGraph {
	x := h.Convert(c.In[first], t)
	g := &ctcGraph{formula: h, time: x.Spec.Dims[0], batch: 1, classes: x.Spec.Dims[len(x.Spec.Dims)-1]}
	if len(x.Spec.Dims) == 3 {
		g.batch = x.Spec.Dims[1]
	}
	g.all = h.Reshape(x, []int{g.time, g.batch, g.classes})
	column := func(i int) stablehlo.Value { return h.Reshape(h.Convert(c.In[first+i], dtype.I64), []int{g.batch, 1}) }
	g.length = column(2)
	lengths := column(3)
	g.last = h.times(lengths, 2)
	targets := h.Convert(c.In[first+1], dtype.I64)
	longest := targets.Spec.Dims[len(targets.Spec.Dims)-1]
	if len(targets.Spec.Dims) == 1 { // one after the other: target i begins where the ones before it end
		flat := h.Reshape(lengths, []int{g.batch})
		begin := h.ReduceWindow("add", flat, 0, window(1, g.batch, true, true))
		at := h.add(h.Reshape(begin, []int{g.batch, 1}), h.Iota(shape.Of(dtype.I64, 1, longest), 1))
		at = h.min(at, h.num(at, float64(longest-1)))
		targets = h.TakeAxis(targets, at, 0)
	}
	g.states = 2*longest + 1
	// blank, target, blank, target, …: the targets with a blank before each and one at the end.
	blank := h.num(targets, float64(c.Attrs.Int("blank")))
	g.labels = h.Pad(targets, blank, []int{0, 1}, []int{0, 1}, []int{0, 1})
	other := h.Compare("NE", g.labels, g.shift(g.labels, 2, blank))
	s := h.Iota(shape.Of(dtype.I64, g.batch, g.states), 1)
	odd := h.is("EQ", h.two("remainder", s, h.num(s, 2)), 1)
	g.skips = h.and(h.and(other, odd), h.is("GE", s, 2))
	g.zero, g.never = h.num(x, 0), h.num(x, math.Inf(-1))
	index := h.BroadcastTo(g.labels, []int{g.time, g.batch, g.states})
	g.lp = h.TakeAlong(g.all, index, 2)
	return g
}

// shift moves states by n towards the end (n < 0: the start) and fills with v.
func (g *ctcGraph) shift(x stablehlo.Value, n int, v stablehlo.Value) stablehlo.Value {
	return g.Pad(x, v, []int{0, n}, []int{0, -n}, []int{0, 0})
}

// logAdd is log(e^a + e^b), −∞ when both are.
func (g *ctcGraph) logAdd(a, b stablehlo.Value) stablehlo.Value {
	m := g.max(a, b)
	gap := g.neg(g.abs(g.sub(a, b)))
	return g.pick(g.is("EQ", m, math.Inf(-1)), m, g.add(m, g.log1p(g.exp(gap))))
}

// state numbers the states: i64[batch, states].
func (g *ctcGraph) state() stablehlo.Value { return g.Iota(shape.Of(dtype.I64, g.batch, g.states), 1) }

// at is the step t of an array over time, as [batch, states].
func (g *ctcGraph) at(x, t stablehlo.Value) stablehlo.Value {
	o := g.Splat(shape.Of(dtype.I64), 0)
	row := g.DynamicSlice(x, []stablehlo.Value{t, o, o}, []int{1, g.batch, g.states})
	return g.Reshape(row, []int{g.batch, g.states})
}

// put stores a row as step t.
func (g *ctcGraph) put(x, row, t stablehlo.Value) stablehlo.Value {
	o := g.Splat(shape.Of(dtype.I64), 0)
	return g.DynamicUpdateSlice(x, g.Reshape(row, []int{1, g.batch, g.states}), []stablehlo.Value{t, o, o})
}

// walk goes over the steps, from the first or the last, and keeps each row: the
// row of a step is start at the first one, else from the row before it, plus its log-probabilities.
func (g *ctcGraph) walk(forward bool) stablehlo.Value {
	s := g.state()
	rows := g.Splat(g.lp.Spec, math.Inf(-1))
	begin := g.Splat(shape.Of(dtype.I64), 0)
	row := g.BroadcastTo(g.never, []int{g.batch, g.states})
	var start, skips stablehlo.Value
	by := 1
	if forward {
		start = g.and(g.is("LT", s, 2), g.cmp("LE", s, g.last))
		skips = g.skips
	} else {
		by = -1
		begin = g.num(begin, float64(g.time-1))
		start = g.and(g.cmp("LE", s, g.last), g.cmp("GE", s, g.plus(g.last, -1)))
		no := g.Splat(shape.Of(dtype.Bool), 0)
		skips = g.shift(g.skips, -2, no)
	}
	out := g.While([]stablehlo.Value{begin, row, rows},
		func(w *stablehlo.Writer, a []stablehlo.Value) stablehlo.Value {
			h := formula{w}
			if forward {
				return h.is("LT", a[0], float64(g.time))
			}
			return h.is("GE", a[0], 0)
		},
		func(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
			t, row := a[0], a[1]
			next := g.logAdd(g.logAdd(row, g.shift(row, by, g.never)), g.pick(skips, g.shift(row, 2*by, g.never), g.never))
			var begins stablehlo.Value
			if forward {
				begins = g.BroadcastTo(g.is("EQ", t, 0), []int{g.batch, 1})
			} else {
				begins = g.cmp("EQ", t, g.plus(g.length, -1))
			}
			next = g.pick(begins, g.pick(start, g.zero, g.never), next)
			next = g.add(next, g.at(g.lp, t))
			inside := g.and(g.cmp("LT", t, g.length), g.cmp("LE", s, g.last))
			next = g.pick(inside, next, g.never)
			if forward { // the last row of each stays, for the result
				next = g.pick(g.cmp("LT", t, g.length), next, row)
			}
			return []stablehlo.Value{g.plus(t, float64(by)), next, g.put(a[2], next, t)}
		})
	return out[2]
}

// total is the log-probability of the targets, [batch, 1], from the prefixes.
func (g *ctcGraph) total(alpha stablehlo.Value) stablehlo.Value {
	last := g.Reshape(g.SliceAxis(alpha, 0, g.time-1, g.time, 1), []int{g.batch, g.states})
	s := g.state()
	end := func(k stablehlo.Value) stablehlo.Value {
		return g.reduce("maximum", g.pick(g.cmp("EQ", s, k), last, g.never), []int{1}, math.Inf(-1))
	}
	sum := g.logAdd(end(g.last), end(g.plus(g.last, -1)))
	empty := g.pick(g.is("EQ", g.last, 0), g.zero, g.never)
	return g.pick(g.is("EQ", g.length, 0), empty, sum)
}

// share is what the loss of each batch element counts for in the result: [batch, 1].
func (g *ctcGraph) share(c *LowerCall) stablehlo.Value {
	one := g.Splat(shape.Of(g.lp.Spec.DType, g.batch, 1), 1)
	if c.Attrs.Str("reduction") != "mean" {
		return one
	}
	l := g.Convert(g.max(g.two("divide", g.last, g.num(g.last, 2)), g.num(g.last, 1)), g.lp.Spec.DType)
	return g.div(one, g.times(l, float64(g.batch)))
}

func ctcHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	g := newCTC(h, c, 0, wide(c.Out[0].DType))
	l := h.neg(g.total(g.walk(true)))
	if c.Attrs.Bool("zero_infinity") {
		l = h.pick(h.is("EQ", l, math.Inf(1)), g.zero, l)
	}
	l = h.mul(l, g.share(c))
	if c.Attrs.Str("reduction") != "none" {
		l = h.sum(l, []int{0, 1})
	}
	return h.results(l, c)
}

// ctcBackwardHLO: e^lp − Σ over the states of a class of their posterior probability e^(alpha+beta−lp−total).
func ctcBackwardHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	g := newCTC(h, c, 1, wide(c.Out[0].DType))
	alpha := g.walk(true)
	total := g.total(alpha)
	sum := h.add(alpha, g.walk(false))
	post := h.exp(h.sub(h.sub(sum, g.lp), h.Reshape(total, []int{1, g.batch, 1})))
	post = h.pick(h.is("EQ", sum, math.Inf(-1)), g.zero, post)
	class := h.Iota(shape.Of(dtype.I64, 1, 1, g.classes), 2)
	hot := h.Convert(h.cmp("EQ", h.Reshape(g.labels, []int{g.batch, g.states, 1}), class), post.Spec.DType)
	each := h.DotGeneral(post, hot, stablehlo.DotDims{LHSBatch: []int{1}, RHSBatch: []int{0}, LHSContract: []int{2}, RHSContract: []int{1}}, post.Spec.DType, stablehlo.Highest)
	dy := h.Convert(c.In[0], post.Spec.DType)
	if c.Attrs.Str("reduction") == "none" {
		dy = h.Reshape(dy, []int{g.batch, 1})
	}
	f := h.mul(g.share(c), dy)
	if c.Attrs.Bool("zero_infinity") {
		f = h.pick(h.is("EQ", total, math.Inf(-1)), g.zero, f)
	}
	d := h.mul(h.sub(h.exp(g.all), h.Transpose(each, []int{1, 0, 2})), h.Reshape(f, []int{1, g.batch, 1}))
	t := h.Iota(shape.Of(dtype.I64, g.time, 1, 1), 0)
	inside := h.cmp("LT", t, h.Reshape(g.length, []int{1, g.batch, 1}))
	return h.results(h.pick(inside, d, g.zero), c)
}
