package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// oneAxis sees a scalar as a vector of one.
func oneAxis(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
	if x.Spec.Rank() == 0 {
		return w.Reshape(x, []int{1})
	}
	return x
}

func flatHLO(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
	return w.Reshape(x, []int{x.Spec.Size()})
}

// wrapHLO adds n to negative positions.
func wrapHLO(w *stablehlo.Writer, idx stablehlo.Value, n int) stablehlo.Value {
	neg := w.Compare("LT", idx, w.Splat(idx.Spec, 0))
	return w.Select(neg, w.Do("add", idx.Spec, "", idx, w.Splat(idx.Spec, float64(n))), idx)
}

func lowerIndexSelect(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	if c.Out[0].Size() == 0 {
		return []stablehlo.Value{w.Splat(c.Out[0], 0)}
	}
	x := oneAxis(w, c.In[0])
	idx := oneAxis(w, c.In[1])
	return []stablehlo.Value{w.Reshape(w.TakeAxis(x, idx, axisOf(c.Attrs.Int("dim"), x.Spec.Rank())), c.Out[0].Dims)}
}

func lowerGather(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	if c.Out[0].Size() == 0 {
		return []stablehlo.Value{w.Splat(c.Out[0], 0)}
	}
	x, idx := oneAxis(w, c.In[0]), oneAxis(w, c.In[1])
	return []stablehlo.Value{w.Reshape(w.TakeAlong(x, idx, axisOf(c.Attrs.Int("dim"), x.Spec.Rank())), c.Out[0].Dims)}
}

func lowerTake(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := flatHLO(w, c.In[0])
	if c.Out[0].Size() == 0 {
		return []stablehlo.Value{w.Splat(c.Out[0], 0)}
	}
	return []stablehlo.Value{w.TakeAxis(x, wrapHLO(w, c.In[1], x.Spec.Size()), 0)}
}

func lowerTakeAlong(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, idx, out := c.In[0], c.In[1], c.Out[0]
	dim := c.Attrs.Int("dim")
	if out.Size() == 0 {
		return []stablehlo.Value{w.Splat(out, 0)}
	}
	if dim == kernel.FlatDim {
		return []stablehlo.Value{w.TakeAxis(flatHLO(w, x), flatHLO(w, idx), 0)}
	}
	if out.Rank() == 0 {
		return []stablehlo.Value{x}
	}
	dim = axisOf(dim, out.Rank())
	dx := slices.Clone(out.Dims)
	dx[dim] = x.Spec.Dims[dim]
	return []stablehlo.Value{w.TakeAlong(w.BroadcastTo(x, dx), w.BroadcastTo(idx, out.Dims), dim)}
}

func lowerEmbedding(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	if c.Out[0].Size() == 0 {
		return []stablehlo.Value{w.Splat(c.Out[0], 0)}
	}
	return []stablehlo.Value{w.TakeAxis(c.In[1], c.In[0], 0)}
}

func lowerOneHot(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	idx, out := c.In[0], c.Out[0]
	s := shape.Spec{DType: idx.Spec.DType, Dims: out.Dims}
	r := out.Rank()
	eq := w.Compare("EQ", w.BroadcastInDim(idx, out.Dims, span(0, r-1)), w.Iota(s, r-1))
	return []stablehlo.Value{w.Convert(eq, out.DType)}
}

// positionsOf joins index tensors, broadcast to the shape b, into index vectors along a last axis.
func positionsOf(w *stablehlo.Writer, x shape.Spec, at []int, indices []stablehlo.Value, b []int) stablehlo.Value {
	parts := make([]stablehlo.Value, len(indices))
	for i, idx := range indices {
		idx = w.Convert(wrapHLO(w, idx, x.Dims[at[i]]), dtype.I64)
		idx = w.BroadcastTo(idx, b)
		parts[i] = w.Reshape(idx, append(slices.Clone(b), 1))
	}
	return w.Concatenate(len(b), parts...)
}

// advancedHLO gives what a lowering of advanced indexing needs: the axes, the
// common shape of the indices, and the axes of the result that are not of it.
func advancedHLO(x shape.Spec, indices []stablehlo.Value, a Attrs) (at, b, window []int) {
	at = a.Ints("dims")
	if at == nil {
		at = span(0, len(indices))
	}
	b = []int{}
	for _, i := range indices {
		b, _ = shape.Broadcast(b, i.Spec.Dims)
	}
	out, pre := kernel.AdvancedDims(x.Dims, at, b)
	return at, b, append(span(0, pre), span(pre+len(b), len(out))...)
}

func lowerIndex(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, indices := c.In[0], c.In[1:]
	at, b, window := advancedHLO(x.Spec, indices, c.Attrs)
	sizes := slices.Clone(x.Spec.Dims)
	for _, d := range at {
		sizes[d] = 1
	}
	if c.Out[0].Size() == 0 {
		return []stablehlo.Value{w.Splat(c.Out[0], 0)}
	}
	return []stablehlo.Value{w.Gather(x, positionsOf(w, x.Spec, at, indices, b),
		stablehlo.GatherDims{Offset: window, CollapsedSlice: at, StartIndexMap: at, IndexVectorDim: len(b)}, sizes)}
}

func lowerIndexPut(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, v, indices := c.In[0], c.In[1], c.In[2:]
	at, b, window := advancedHLO(x.Spec, indices, c.Attrs)
	dims, _ := kernel.AdvancedDims(x.Spec.Dims, at, b)
	if shape.Size(dims) == 0 {
		return []stablehlo.Value{x}
	}
	v = w.Convert(v, x.Spec.DType)
	if r := v.Spec.Rank(); r > len(dims) {
		v = w.Reshape(v, v.Spec.Dims[r-len(dims):])
	}
	v = w.BroadcastTo(v, dims)
	body := ""
	if c.Attrs.Bool("accumulate") {
		body = "add"
	}
	return []stablehlo.Value{w.Scatter(body, x, positionsOf(w, x.Spec, at, indices, b), v,
		stablehlo.ScatterDims{UpdateWindow: window, InsertedWindow: at, ToOperand: at, IndexVectorDim: len(b)})}
}

func lowerPut(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := flatHLO(w, c.In[0])
	idx := wrapHLO(w, flatHLO(w, c.In[1]), x.Spec.Size())
	src := w.Convert(flatHLO(w, c.In[2]), x.Spec.DType)
	body := ""
	if c.Attrs.Bool("accumulate") {
		body = "add"
	}
	return []stablehlo.Value{w.Reshape(w.PutAlong(body, x, idx, src, 0), c.Out[0].Dims)}
}

// usedSource cuts a source to the size of its index.
func usedSource(w *stablehlo.Writer, src, idx stablehlo.Value) stablehlo.Value {
	for i, n := range idx.Spec.Dims {
		src = w.SliceAxis(src, i, 0, n, 1)
	}
	return src
}

func lowerScatter(body string) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		return []stablehlo.Value{scatterHLO(w, body, c.In[0], c.In[1], c.In[2], c.Attrs.Int("dim"))}
	}
}

func scatterHLO(w *stablehlo.Writer, body string, x, idx, src stablehlo.Value, dim int) stablehlo.Value {
	dims := x.Spec.Dims
	if idx.Spec.Size() == 0 {
		return x
	}
	x, idx, src = oneAxis(w, x), oneAxis(w, idx), oneAxis(w, w.Convert(src, x.Spec.DType))
	r := w.PutAlong(body, x, idx, usedSource(w, src, idx), axisOf(dim, x.Spec.Rank()))
	return w.Reshape(r, dims)
}

func lowerScatterValue(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, idx := c.In[0], c.In[1]
	v := w.Splat(shape.Spec{DType: x.Spec.DType, Dims: idx.Spec.Dims}, numberAttr(c.Attrs.Get("value")))
	return []stablehlo.Value{scatterHLO(w, "", x, idx, v, c.Attrs.Int("dim"))}
}

// reduceBody gives the StableHLO op of a value of the attribute reduce, and
// what leaves the other operand as it is.
func reduceBody(how string, t dtype.DType) (body string, neutral float64) {
	switch how {
	case "prod":
		return "multiply", 1
	case "amax":
		return "maximum", stablehlo.Identity(t, true)
	case "amin":
		return "minimum", stablehlo.Identity(t, false)
	}
	return "add", 0
}

func lowerScatterReduce(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{scatterReduceHLO(w, c.In[0], c.In[1], c.In[2], c.Attrs)}
}

func scatterReduceHLO(w *stablehlo.Writer, x, idx, src stablehlo.Value, a Attrs) stablehlo.Value {
	how, dim := a.Str("reduce"), a.Int("dim")
	body, neutral := reduceBody(how, x.Spec.DType)
	start := x
	self := a.Bool("include_self")
	if !self {
		v := w.Splat(shape.Spec{DType: x.Spec.DType, Dims: idx.Spec.Dims}, neutral)
		start = scatterHLO(w, "", x, idx, v, dim)
	}
	r := scatterHLO(w, body, start, idx, src, dim)
	if how != "mean" {
		return r
	}
	s := shape.Spec{DType: x.Spec.DType, Dims: idx.Spec.Dims}
	base := w.Splat(x.Spec, 0)
	if self {
		base = w.Splat(x.Spec, 1)
	}
	n := scatterHLO(w, "add", base, idx, w.Splat(s, 1), dim)
	n = w.Do("maximum", n.Spec, "", n, w.Splat(n.Spec, 1))
	if x.Spec.DType.IsFloat() {
		return w.Do("divide", r.Spec, "", r, n)
	}
	// Integers round down: a remainder with the other sign takes one off.
	q := w.Do("divide", r.Spec, "", r, n)
	back := w.Do("multiply", r.Spec, "", q, n)
	return w.Select(w.Compare("GT", back, r), w.Do("subtract", q.Spec, "", q, w.Splat(q.Spec, 1)), q)
}

// spreadHLO makes an index for every element of dims of a vector along one axis.
func spreadHLO(w *stablehlo.Writer, idx stablehlo.Value, dims []int, axis int) stablehlo.Value {
	if len(dims) == 0 {
		return w.Reshape(idx, []int{})
	}
	return w.BroadcastInDim(oneAxis(w, idx), dims, []int{axis})
}

func lowerIndexReduce(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	src := c.In[2]
	dim := axisOf(c.Attrs.Int("dim"), src.Spec.Rank())
	return []stablehlo.Value{scatterReduceHLO(w, c.In[0], spreadHLO(w, c.In[1], src.Spec.Dims, dim), src, c.Attrs)}
}

// putSlicesHLO writes the slices of src at positions of an axis.
func putSlicesHLO(w *stablehlo.Writer, body string, x, idx, src stablehlo.Value, dim int) stablehlo.Value {
	dims := x.Spec.Dims
	x, idx, src = oneAxis(w, x), oneAxis(w, idx), oneAxis(w, w.Convert(src, x.Spec.DType))
	dim = axisOf(dim, x.Spec.Rank())
	n := idx.Spec.Size()
	window := append(span(0, dim), span(dim+1, x.Spec.Rank())...)
	r := w.Scatter(body, x, w.Reshape(idx, []int{n, 1}), src,
		stablehlo.ScatterDims{UpdateWindow: window, InsertedWindow: []int{dim}, ToOperand: []int{dim}, IndexVectorDim: 1})
	return w.Reshape(r, dims)
}

func lowerIndexAdd(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	src := c.In[2]
	if a := numberAttr(c.Attrs.Get("alpha")); a != 1 {
		src = w.Do("multiply", src.Spec, "", src, w.Splat(src.Spec, a))
	}
	return []stablehlo.Value{putSlicesHLO(w, "add", c.In[0], c.In[1], src, c.Attrs.Int("dim"))}
}

func lowerIndexCopy(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{putSlicesHLO(w, "", c.In[0], c.In[1], c.In[2], c.Attrs.Int("dim"))}
}

func lowerIndexFill(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, idx := c.In[0], c.In[1]
	dims := slices.Clone(x.Spec.Dims)
	if len(dims) == 0 {
		dims = []int{1}
	}
	dims[axisOf(c.Attrs.Int("dim"), len(dims))] = idx.Spec.Size()
	v := w.BroadcastTo(w.Convert(c.In[2], x.Spec.DType), dims)
	n := dims[axisOf(c.Attrs.Int("dim"), len(dims))]
	if x.Spec.Rank() > 0 {
		n = x.Spec.Dims[axisOf(c.Attrs.Int("dim"), x.Spec.Rank())]
	}
	return []stablehlo.Value{putSlicesHLO(w, "", x, wrapHLO(w, idx, n), v, c.Attrs.Int("dim"))}
}

// ranksHLO writes for every element of a flat mask how many true ones are before it.
func ranksHLO(w *stablehlo.Writer, mask stablehlo.Value) stablehlo.Value {
	x := w.Convert(mask, indexHLO)
	n := x.Spec.Size()
	if n == 0 {
		return x
	}
	sum := w.ReduceWindow("add", x, 0, stablehlo.Window{Dims: []int{n}, Padding: [][2]int{{n - 1, 0}}})
	return w.Do("subtract", x.Spec, "", sum, x)
}

// chosenHLO writes the flat positions of the n true elements of a flat mask.
func chosenHLO(w *stablehlo.Writer, mask stablehlo.Value, n int) stablehlo.Value {
	// A false element is sent outside, where writes are dropped.
	s := shape.Spec{DType: indexHLO, Dims: mask.Spec.Dims}
	to := w.Select(mask, ranksHLO(w, mask), w.Splat(s, float64(n)))
	return w.PutAlong("", w.Splat(shape.Spec{DType: indexHLO, Dims: []int{n}}, 0), to, w.Iota(s, 0), 0)
}

func lowerNonzero(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := c.In[0], c.Out[0]
	n, r := out.Dims[0], out.Dims[1]
	if out.Size() == 0 {
		return []stablehlo.Value{w.Splat(out, 0)}
	}
	mask := flatHLO(w, x)
	if mask.Spec.DType != dtype.Bool {
		mask = w.Compare("NE", mask, w.Splat(mask.Spec, 0))
	}
	at := chosenHLO(w, mask, n)
	parts := make([]stablehlo.Value, r)
	for d := r - 1; d >= 0; d-- {
		size := w.Splat(at.Spec, float64(x.Spec.Dims[d]))
		parts[d] = w.Reshape(w.Do("remainder", at.Spec, "", at, size), []int{n, 1})
		at = w.Do("divide", at.Spec, "", at, size)
	}
	return []stablehlo.Value{w.Convert(w.Concatenate(1, parts...), out.DType)}
}

func lowerMaskedSelect(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	full, _ := shape.Broadcast(c.In[0].Spec.Dims, c.In[1].Spec.Dims)
	x, m := flatHLO(w, w.BroadcastTo(c.In[0], full)), flatHLO(w, w.BroadcastTo(c.In[1], full))
	if c.Out[0].Size() == 0 {
		return []stablehlo.Value{w.Splat(c.Out[0], 0)}
	}
	return []stablehlo.Value{w.TakeAxis(x, chosenHLO(w, m, c.Out[0].Dims[0]), 0)}
}

func lowerMaskedScatter(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	out := c.Out[0]
	x, m := w.BroadcastTo(c.In[0], out.Dims), w.BroadcastTo(c.In[1], out.Dims)
	src := flatHLO(w, c.In[2])
	if src.Spec.Size() == 0 || out.Size() == 0 {
		return []stablehlo.Value{x}
	}
	at := w.Reshape(ranksHLO(w, flatHLO(w, m)), out.Dims)
	return []stablehlo.Value{w.Select(m, w.TakeAxis(src, at, 0), x)}
}

func lowerMaskedScatterBackward(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	g, out := c.In[0], c.Out[0]
	n := out.Size()
	if n == 0 || g.Spec.Size() == 0 {
		return []stablehlo.Value{w.Splat(out, 0)}
	}
	m := flatHLO(w, w.BroadcastTo(c.In[1], g.Spec.Dims))
	s := shape.Spec{DType: indexHLO, Dims: m.Spec.Dims}
	to := w.Select(m, ranksHLO(w, m), w.Splat(s, float64(n)))
	r := w.PutAlong("", w.Splat(shape.Spec{DType: out.DType, Dims: []int{n}}, 0), to, flatHLO(w, g), 0)
	return []stablehlo.Value{w.Reshape(r, out.Dims)}
}
