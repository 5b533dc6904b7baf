package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// indexHLO is the element type of computed positions in lowered programs.
const indexHLO = dtype.I32

// dotHLO writes dot_general in the type of its operands: the result has the
// batch axes, the other axes of x, the other axes of y. Precision HIGHEST
// keeps products of f32 exact.
func dotHLO(w *stablehlo.Writer, x, y stablehlo.Value, xBatch, yBatch, xK, yK []int) stablehlo.Value {
	return dotAs(w, x.Spec.DType, x, y, xBatch, yBatch, xK, yK)
}

// dotAs is dotHLO with a result of type t.
func dotAs(w *stablehlo.Writer, t dtype.DType, x, y stablehlo.Value, xBatch, yBatch, xK, yK []int) stablehlo.Value {
	return w.DotGeneral(x, y, stablehlo.DotDims{LHSBatch: xBatch, RHSBatch: yBatch, LHSContract: xK, RHSContract: yK}, t, stablehlo.Highest)
}

// matmulHLO lowers matmul of x and y to one dot_general with a result of the type of out.
func matmulHLO(w *stablehlo.Writer, x, y stablehlo.Value, out shape.Spec) stablehlo.Value {
	rx, ry := x.Spec.Rank(), y.Spec.Rank()
	if rx <= 2 && ry <= 2 || ry <= 2 {
		return dotAs(w, out.DType, x, y, nil, nil, []int{rx - 1}, []int{max(ry-2, 0)})
	}
	// Batched: both sides get the whole batch.
	if rx == 1 {
		x = w.Reshape(x, []int{1, x.Spec.Dims[0]})
		rx = 2
	}
	batch, _ := shape.Broadcast(x.Spec.Dims[:rx-2], y.Spec.Dims[:ry-2])
	x = w.BroadcastTo(x, append(append([]int{}, batch...), x.Spec.Dims[rx-2:]...))
	y = w.BroadcastTo(y, append(append([]int{}, batch...), y.Spec.Dims[ry-2:]...))
	n := len(batch)
	return w.Reshape(dotAs(w, out.DType, x, y, span(0, n), span(0, n), []int{n + 1}, []int{n}), out.Dims)
}

func lowerMatmul(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{matmulHLO(w, c.In[0], c.In[1], c.Out[0])}
}

// wideSum is the type of the sum of addmm and its family: narrow floats are
// rounded once, at the end.
func wideSum(out shape.Spec) dtype.DType {
	if t := out.DType; !t.IsFloat() || t.Bits() >= 32 {
		return t
	}
	return dtype.F32
}

// addedHLO lowers beta·add + alpha·product in the type of product.
func addedHLO(w *stablehlo.Writer, c *LowerCall, product stablehlo.Value) []stablehlo.Value {
	out := shape.Spec{DType: product.Spec.DType, Dims: c.Out[0].Dims}
	end := func(v stablehlo.Value) []stablehlo.Value { return []stablehlo.Value{w.Convert(v, c.Out[0].DType)} }
	r := w.Do("multiply", out, "", product, w.Splat(out, c.Attrs.Float("alpha")))
	if c.Attrs.Float("beta") == 0 {
		return end(r)
	}
	add := w.BroadcastTo(w.Convert(c.In[0], out.DType), out.Dims)
	add = w.Do("multiply", out, "", add, w.Splat(out, c.Attrs.Float("beta")))
	return end(w.Do("add", out, "", add, r))
}

func lowerAdded(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return addedHLO(w, c, matmulHLO(w, c.In[1], c.In[2], shape.Spec{DType: wideSum(c.Out[0]), Dims: c.Out[0].Dims}))
}

func lowerAddBMM(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return addedHLO(w, c, dotAs(w, wideSum(c.Out[0]), c.In[1], c.In[2], nil, nil, []int{0, 2}, []int{0, 1}))
}

func lowerAddr(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	t := c.Out[0].DType
	return addedHLO(w, c, dotHLO(w, w.Convert(c.In[1], t), w.Convert(c.In[2], t), nil, nil, nil, nil))
}

func lowerOuter(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	t := c.Out[0].DType
	return []stablehlo.Value{dotHLO(w, w.Convert(c.In[0], t), w.Convert(c.In[1], t), nil, nil, nil, nil)}
}

func lowerInner(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, y := c.In[0], c.In[1]
	if x.Spec.Rank() == 0 || y.Spec.Rank() == 0 {
		return []stablehlo.Value{dotHLO(w, x, y, nil, nil, nil, nil)}
	}
	return []stablehlo.Value{dotHLO(w, x, y, nil, nil, []int{x.Spec.Rank() - 1}, []int{y.Spec.Rank() - 1})}
}

func lowerLinear(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, m, out := c.In[0], c.In[1], c.Out[0]
	r := dotHLO(w, x, m, nil, nil, []int{x.Spec.Rank() - 1}, []int{m.Spec.Rank() - 1})
	if len(c.In) > 2 && c.In[2].ID != "" {
		r = w.Do("add", out, "", r, w.BroadcastTo(c.In[2], out.Dims))
	}
	return []stablehlo.Value{r}
}

func lowerTensorDot(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, y := c.In[0], c.In[1]
	ax, ay, err := tensordotAxes([]shape.Spec{x.Spec, y.Spec}, c.Attrs)
	if err != nil {
		panic(err)
	}
	xd, yd := append([]int{}, x.Spec.Dims...), append([]int{}, y.Spec.Dims...)
	for i := range ax {
		n := max(xd[ax[i]], yd[ay[i]])
		xd[ax[i]], yd[ay[i]] = n, n
	}
	return []stablehlo.Value{dotHLO(w, w.BroadcastTo(x, xd), w.BroadcastTo(y, yd), nil, nil, ax, ay)}
}

func lowerBilinear(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, y, m, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	lead := x.Spec.Rank() - 1
	t := dotHLO(w, x, m, nil, nil, []int{lead}, []int{1}) // [..,o,j]
	r := dotHLO(w, t, y, span(0, lead), span(0, lead), []int{lead + 1}, []int{lead})
	if len(c.In) > 3 && c.In[3].ID != "" {
		r = w.Do("add", out, "", r, w.BroadcastTo(c.In[3], out.Dims))
	}
	return []stablehlo.Value{r}
}

func lowerKron(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	out := c.Out[0]
	x, y := w.Convert(c.In[0], out.DType), w.Convert(c.In[1], out.DType)
	r := out.Rank()
	var pairs, ax, ay []int
	for i := range r {
		m, n := 1, 1
		if j := i - (r - x.Spec.Rank()); j >= 0 {
			m = x.Spec.Dims[j]
			ax = append(ax, 2*i)
		}
		if j := i - (r - y.Spec.Rank()); j >= 0 {
			n = y.Spec.Dims[j]
			ay = append(ay, 2*i+1)
		}
		pairs = append(pairs, m, n)
	}
	full := shape.Spec{DType: out.DType, Dims: pairs}
	p := w.Do("multiply", full, "", w.BroadcastInDim(x, pairs, ax), w.BroadcastInDim(y, pairs, ay))
	return []stablehlo.Value{w.Reshape(p, out.Dims)}
}

// lowerTrace sums what a mask of the diagonal keeps.
func lowerTrace(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := c.In[0]
	x = w.Convert(x, c.Out[0].DType)
	m := diagonalMaskHLO(w, x.Spec.Dims, 0, 1, 0)
	x = w.Select(m, x, w.Splat(x.Spec, 0))
	return []stablehlo.Value{w.Reduce("add", x, []int{0, 1}, 0)}
}

// diagonalMaskHLO writes a bool array that is true where index along axis y = index along axis x + offset.
func diagonalMaskHLO(w *stablehlo.Writer, dims []int, x, y, offset int) stablehlo.Value {
	return diagonalCompareHLO(w, "EQ", dims, x, y, offset)
}

// diagonalCompareHLO compares (index along y) with (index along x) + offset.
func diagonalCompareHLO(w *stablehlo.Writer, dir string, dims []int, x, y, offset int) stablehlo.Value {
	s := shape.Spec{DType: indexHLO, Dims: dims}
	i := w.Do("add", s, "", w.Iota(s, x), w.Splat(s, float64(offset)))
	return w.Compare(dir, w.Iota(s, y), i)
}

// lowerCross rotates by slicing: (a₁b₂-a₂b₁, a₂b₀-a₀b₂, a₀b₁-a₁b₀).
func lowerCross(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	out := c.Out[0]
	x, y := w.BroadcastTo(c.In[0], out.Dims), w.BroadcastTo(c.In[1], out.Dims)
	axis, err := shape.Axis("cross", c.Attrs.Int("dim"), out.Rank())
	if err != nil {
		panic(err)
	}
	part := func(v stablehlo.Value, i int) stablehlo.Value {
		return w.SliceAxis(v, axis, i%3, i%3+1, 1)
	}
	var parts []stablehlo.Value
	for i := range 3 {
		p, q := part(x, i+1), part(y, i+2)
		r, s := part(x, i+2), part(y, i+1)
		parts = append(parts, w.Do("subtract", p.Spec, "", w.Do("multiply", p.Spec, "", p, q), w.Do("multiply", p.Spec, "", r, s)))
	}
	return []stablehlo.Value{w.Concatenate(axis, parts...)}
}
