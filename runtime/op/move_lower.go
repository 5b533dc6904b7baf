package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

func lowerSame(_ *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{c.In[0]}
}

func lowerCopy(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{w.BroadcastTo(w.Convert(c.In[1], c.Out[0].DType), c.Out[0].Dims)}
}

func lowerCat(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	var xs []stablehlo.Value
	for _, x := range c.In {
		if !skipped(x.Spec) {
			xs = append(xs, w.Convert(x, c.Out[0].DType))
		}
	}
	if len(xs) == 0 {
		return []stablehlo.Value{w.Convert(c.In[0], c.Out[0].DType)}
	}
	return []stablehlo.Value{w.Concatenate(axisOf(c.Attrs.Int("dim"), c.Out[0].Rank()), xs...)}
}

func lowerStack(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	dim := axisOf(c.Attrs.Int("dim"), c.Out[0].Rank())
	var xs []stablehlo.Value
	for _, x := range c.In {
		x = w.Convert(x, c.Out[0].DType)
		xs = append(xs, w.Reshape(x, slices.Insert(slices.Clone(x.Spec.Dims), dim, 1)))
	}
	return []stablehlo.Value{w.Concatenate(dim, xs...)}
}

func lowerFlip(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{flipHLO(w, c.In[0], c.Attrs.Ints("dims")...)}
}

func flipHLO(w *stablehlo.Writer, x stablehlo.Value, axes ...int) stablehlo.Value {
	if len(axes) == 0 || x.Spec.Rank() == 0 {
		return x
	}
	ds := make([]int, len(axes))
	for i, d := range axes {
		ds[i] = axisOf(d, x.Spec.Rank())
	}
	return w.Reverse(x, ds)
}

func lowerRoll(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, dims := c.In[0], c.Attrs.Ints("dims")
	if len(dims) == 0 {
		x, dims = w.Reshape(x, []int{x.Spec.Size()}), []int{0}
	}
	for i, d := range dims {
		d = axisOf(d, x.Spec.Rank())
		n := x.Spec.Dims[d]
		if n == 0 {
			continue
		}
		s := ((c.Attrs.Ints("shifts")[i] % n) + n) % n
		if s > 0 {
			x = w.Concatenate(d, w.SliceAxis(x, d, n-s, n, 1), w.SliceAxis(x, d, 0, n-s, 1))
		}
	}
	return []stablehlo.Value{w.Reshape(x, c.Out[0].Dims)}
}

func lowerRepeat(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return []stablehlo.Value{w.Splat(out, 0)}
	}
	lead := out.Rank() - x.Spec.Rank()
	var pairs, axes []int
	for i, n := range out.Dims {
		size := 1
		if i >= lead {
			size = x.Spec.Dims[i-lead]
			axes = append(axes, 2*i+1)
		}
		pairs = append(pairs, n/size, size)
	}
	return []stablehlo.Value{w.Reshape(w.BroadcastInDim(x, pairs, axes), out.Dims)}
}

func lowerInterleave(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := c.In[0], c.Out[0]
	dim := c.Attrs.Int("dim")
	if dim == kernel.FlatDim || x.Spec.Rank() == 0 {
		x, dim = w.Reshape(x, []int{x.Spec.Size()}), 0
	}
	dim = axisOf(dim, x.Spec.Rank())
	full := slices.Insert(slices.Clone(x.Spec.Dims), dim+1, c.Attrs.Int("repeats"))
	var axes []int
	for i := range x.Spec.Dims {
		if i > dim {
			i++
		}
		axes = append(axes, i)
	}
	return []stablehlo.Value{w.Reshape(w.BroadcastInDim(x, full, axes), out.Dims)}
}

// lowerRepeatEach finds the source of every position: how many ends of runs lie before it.
func lowerRepeatEach(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := c.In[0], c.Out[0]
	dim := c.Attrs.Int("dim")
	if dim == kernel.FlatDim || x.Spec.Rank() == 0 {
		x, dim = flatHLO(w, x), 0
	}
	dim = axisOf(dim, x.Spec.Rank())
	n, m := x.Spec.Dims[dim], out.Dims[dim]
	if out.Size() == 0 {
		return []stablehlo.Value{w.Splat(out, 0)}
	}
	counts := w.Convert(w.BroadcastTo(oneAxis(w, c.In[1]), []int{n}), indexHLO)
	ends := w.ReduceWindow("add", counts, 0, stablehlo.Window{Dims: []int{n}, Padding: [][2]int{{n - 1, 0}}})
	grid := shape.Spec{DType: indexHLO, Dims: []int{m, n}}
	past := w.Compare("LE", w.BroadcastInDim(ends, grid.Dims, []int{1}), w.Iota(grid, 0))
	from := w.Reduce("add", w.Convert(past, indexHLO), []int{1}, 0)
	return []stablehlo.Value{w.TakeAxis(x, from, dim)}
}

func lowerRot90(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := c.In[0]
	r := x.Spec.Rank()
	d := c.Attrs.Ints("dims")
	p, q := axisOf(d[0], r), axisOf(d[1], r)
	perm := span(0, r)
	perm[p], perm[q] = q, p
	switch ((c.Attrs.Int("k") % 4) + 4) % 4 {
	case 1:
		x = w.Transpose(w.Reverse(x, []int{q}), perm)
	case 2:
		x = w.Reverse(x, []int{p, q})
	case 3:
		x = w.Transpose(w.Reverse(x, []int{p}), perm)
	}
	return []stablehlo.Value{x}
}

// lowerTriangle keeps where column dir row + diagonal.
func lowerTriangle(dir string) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		x := c.In[0]
		r := x.Spec.Rank()
		m := diagonalCompareHLO(w, dir, x.Spec.Dims, r-2, r-1, c.Attrs.Int("diagonal"))
		return []stablehlo.Value{w.Select(m, x, w.Splat(x.Spec, 0))}
	}
}

func lowerDiag(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	a := attr("offset", c.Attrs.Int("diagonal"), "dim1", 0, "dim2", 1)
	if c.In[0].Spec.Rank() == 2 {
		return lowerStridedView(diagonalView)(w, &LowerCall{In: c.In, Out: c.Out, Attrs: a})
	}
	return lowerDiagEmbed(w, &LowerCall{In: c.In, Out: c.Out, Attrs: a})
}

func lowerDiagEmbed(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	v, err := diagonalView(shape.Dense(c.Out[0].Dims), c.Attrs)
	if err != nil {
		panic(err)
	}
	return []stablehlo.Value{writeHLO(w, w.Splat(c.Out[0], 0), c.In[0], v, false)}
}

func lowerDiagFlat(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := w.Reshape(c.In[0], []int{c.In[0].Spec.Size()})
	return lowerDiagEmbed(w, &LowerCall{In: []stablehlo.Value{x}, Out: c.Out, Attrs: attr("offset", c.Attrs.Int("offset"), "dim1", 0, "dim2", 1)})
}

func lowerPad(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, pad, mode := c.In[0], c.Attrs.Ints("pad"), c.Attrs.Str("mode")
	r := x.Spec.Rank()
	lo, hi := make([]int, r), make([]int, r)
	for i := 0; i < len(pad); i += 2 {
		d := r - 1 - i/2
		lo[d], hi[d] = pad[i], pad[i+1]
	}
	if mode == "constant" {
		v := w.Splat(shape.Spec{DType: x.Spec.DType}, numberAttr(c.Attrs.Get("value")))
		return []stablehlo.Value{w.Pad(x, v, lo, hi, nil)}
	}
	for d := range lo {
		if lo[d] == 0 && hi[d] == 0 {
			continue
		}
		n := x.Spec.Dims[d]
		core := w.SliceAxis(x, d, max(-lo[d], 0), n+min(hi[d], 0), 1)
		parts := []stablehlo.Value{}
		if lo[d] > 0 {
			parts = append(parts, padEdgeHLO(w, x, d, lo[d], true, mode))
		}
		parts = append(parts, core)
		if hi[d] > 0 {
			parts = append(parts, padEdgeHLO(w, x, d, hi[d], false, mode))
		}
		x = w.Concatenate(d, parts...)
	}
	return []stablehlo.Value{x}
}

// padEdgeHLO writes the k positions before or after an axis.
func padEdgeHLO(w *stablehlo.Writer, x stablehlo.Value, d, k int, before bool, mode string) stablehlo.Value {
	n := x.Spec.Dims[d]
	switch mode {
	case "reflect":
		if before {
			return w.Reverse(w.SliceAxis(x, d, 1, k+1, 1), []int{d})
		}
		return w.Reverse(w.SliceAxis(x, d, n-1-k, n-1, 1), []int{d})
	case "circular":
		if before {
			return w.SliceAxis(x, d, n-k, n, 1)
		}
		return w.SliceAxis(x, d, 0, k, 1)
	}
	e := w.SliceAxis(x, d, n-1, n, 1)
	if before {
		e = w.SliceAxis(x, d, 0, 1, 1)
	}
	dims := slices.Clone(x.Spec.Dims)
	dims[d] = k
	return w.BroadcastInDim(e, dims, span(0, len(dims)))
}

// lowerPadBackward adds the edges to the core, axis by axis, the other way round.
func lowerPadBackward(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	g, pad, mode, size := c.In[0], c.Attrs.Ints("pad"), c.Attrs.Str("mode"), c.Out[0].Dims
	r := len(size)
	zero := w.Splat(shape.Spec{DType: g.Spec.DType}, 0)
	for d := r - 1; d >= 0; d-- {
		k := 2 * (r - 1 - d)
		if k >= len(pad) {
			continue
		}
		lo, hi, n, m := pad[k], pad[k+1], size[d], g.Spec.Dims[d]
		spread := func(x stablehlo.Value, at int) stablehlo.Value {
			l, h := make([]int, r), make([]int, r)
			l[d], h[d] = at, n-at-x.Spec.Dims[d]
			return w.Pad(x, zero, l, h, nil)
		}
		sum := spread(w.SliceAxis(g, d, max(lo, 0), m-max(hi, 0), 1), max(-lo, 0))
		edge := func(e stablehlo.Value, cnt int, before bool) {
			switch mode {
			case "reflect":
				at := 1
				if !before {
					at = n - 1 - cnt
				}
				e = spread(w.Reverse(e, []int{d}), at)
			case "circular":
				at := n - cnt
				if !before {
					at = 0
				}
				e = spread(e, at)
			default:
				one := slices.Clone(e.Spec.Dims)
				one[d] = 1
				at := 0
				if !before {
					at = n - 1
				}
				e = spread(w.Reshape(w.Reduce("add", e, []int{d}, 0), one), at)
			}
			sum = w.Do("add", sum.Spec, "", sum, e)
		}
		if lo > 0 {
			edge(w.SliceAxis(g, d, 0, lo, 1), lo, true)
		}
		if hi > 0 {
			edge(w.SliceAxis(g, d, m-hi, m, 1), hi, false)
		}
		g = sum
	}
	return []stablehlo.Value{g}
}

// numberAttr gives a KNumber attribute as a float64.
func numberAttr(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

func lowerPixelShuffle(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, n := c.In[0], c.Attrs.Int("upscale_factor")
	k := x.Spec.Rank() - 3
	d := x.Spec.Dims
	split := append(slices.Clone(d[:k]), d[k]/(n*n), n, n, d[k+1], d[k+2])
	x = w.Transpose(w.Reshape(x, split), append(span(0, k+1), k+3, k+1, k+4, k+2))
	return []stablehlo.Value{w.Reshape(x, c.Out[0].Dims)}
}

func lowerPixelUnshuffle(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, n := c.In[0], c.Attrs.Int("downscale_factor")
	k := x.Spec.Rank() - 3
	d := x.Spec.Dims
	split := append(slices.Clone(d[:k+1]), d[k+1]/n, n, d[k+2]/n, n)
	x = w.Transpose(w.Reshape(x, split), append(span(0, k+1), k+2, k+4, k+1, k+3))
	return []stablehlo.Value{w.Reshape(x, c.Out[0].Dims)}
}

func lowerChannelShuffle(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, g := c.In[0], c.Attrs.Int("groups")
	d := x.Spec.Dims
	split := append([]int{d[0], g, d[1] / g}, d[2:]...)
	x = w.Transpose(w.Reshape(x, split), append([]int{0, 2, 1}, span(3, len(split))...))
	return []stablehlo.Value{w.Reshape(x, d)}
}

func lowerSumToSize(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{sumToHLO(w, w.Convert(c.In[0], c.Out[0].DType), c.Out[0])}
}

// sumToHLO sums x to the dimensions of out; narrow floats are summed in f32.
func sumToHLO(w *stablehlo.Writer, x stablehlo.Value, out shape.Spec) stablehlo.Value {
	lead := x.Spec.Rank() - out.Rank()
	var axes []int
	for i, d := range x.Spec.Dims {
		if i < lead || out.Dims[i-lead] != d {
			axes = append(axes, i)
		}
	}
	if len(axes) == 0 {
		return w.Reshape(x, out.Dims)
	}
	t := x.Spec.DType
	if t.IsFloat() && t.Bits() < 32 {
		x = w.Convert(x, dtype.F32)
	}
	x = w.Convert(w.Reduce("add", x, axes, 0), t)
	return w.Reshape(x, out.Dims)
}

// lowerWithin lowers the write of the second input into the part of the first that f sees.
func lowerWithin(f viewFunc, add bool) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		v, err := f(shape.Dense(c.In[0].Spec.Dims), c.Attrs)
		if err != nil {
			panic(err)
		}
		return []stablehlo.Value{writeHLO(w, c.In[0], c.In[1], v, add)}
	}
}
