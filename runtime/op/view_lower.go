package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// lowerPermutation lowers a view that only reorders axes.
func lowerPermutation(f viewFunc) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		// The axes of a view with strides 0, 1, 2 … say where they came from.
		n := c.In[0].Spec.Rank()
		v := shape.View{Dims: slices.Clone(c.In[0].Spec.Dims), Strides: span(0, n)}
		v, err := f(v, c.Attrs)
		if err != nil {
			panic(err)
		}
		if slices.IsSorted(v.Strides) {
			return []stablehlo.Value{c.In[0]}
		}
		return []stablehlo.Value{w.Transpose(c.In[0], v.Strides)}
	}
}

func lowerReshape(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{w.Reshape(c.In[0], c.Out[0].Dims)}
}

func lowerExpand(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{w.BroadcastTo(c.In[0], c.Out[0].Dims)}
}

func lowerSlice(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, a := c.In[0], c.Attrs
	axis := (a.Int("dim") + x.Spec.Rank()) % x.Spec.Rank()
	start, n := shape.SliceRange(x.Spec.Dims[axis], a.Int("start"), a.Int("end"), a.Int("step"))
	limit := start
	if n > 0 {
		limit = start + (n-1)*a.Int("step") + 1
	}
	return []stablehlo.Value{w.SliceAxis(x, axis, start, limit, a.Int("step"))}
}

func lowerNarrow(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := c.In[0]
	axis := (c.Attrs.Int("dim") + x.Spec.Rank()) % x.Spec.Rank()
	start := c.Attrs.Int("start")
	if start < 0 {
		start += x.Spec.Dims[axis]
	}
	return []stablehlo.Value{w.SliceAxis(x, axis, start, start+c.Attrs.Int("length"), 1)}
}

func lowerSelect(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := c.In[0]
	axis := (c.Attrs.Int("dim") + x.Spec.Rank()) % x.Spec.Rank()
	i := (c.Attrs.Int("index") + x.Spec.Dims[axis]) % x.Spec.Dims[axis]
	return []stablehlo.Value{w.Reshape(w.SliceAxis(x, axis, i, i+1, 1), c.Out[0].Dims)}
}

// lowerStridedView lowers a view by the strides it has over a dense value.
func lowerStridedView(f viewFunc) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		v, err := f(shape.Dense(c.In[0].Spec.Dims), c.Attrs)
		if err != nil {
			panic(err)
		}
		return []stablehlo.Value{readHLO(w, c.In[0], v)}
	}
}

func lowerAsStrided(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	v, err := stridedOf(c.In[0].Spec, c.Attrs)
	if err != nil {
		panic(err)
	}
	return []stablehlo.Value{readHLO(w, c.In[0], v)}
}

// A boxes says how a view without shared elements lies in a dense base: when
// the base is reshaped to radix, the view is the box of the given size at
// start, its axes in the order of falling strides.
type boxes struct {
	radix, start, size []int
	order              []int // axis of the view that each box axis is; the last box axis may have none
	total              int   // elements of radix, at least those of the base
}

// boxOf finds the box of a view, ok false when there is none: elements that
// are shared, strides that do not divide each other, a run that crosses a row.
// Axes of size 1 and of stride 0 are left out.
func boxOf(v shape.View, elements int) (b boxes, ok bool) {
	for i, d := range v.Dims {
		if d != 1 && v.Strides[i] != 0 {
			b.order = append(b.order, i)
		}
	}
	slices.SortStableFunc(b.order, func(x, y int) int { return v.Strides[y] - v.Strides[x] })
	rest, unit := v.Offset, elements
	for k, i := range b.order {
		s := v.Strides[i]
		r := (unit + s - 1) / s
		if k > 0 && unit%s != 0 {
			return b, false
		}
		at := rest / s
		rest %= s
		if at+v.Dims[i] > r {
			return b, false
		}
		b.radix, b.start, b.size = append(b.radix, r), append(b.start, at), append(b.size, v.Dims[i])
		unit = s
	}
	if unit != 1 {
		b.radix, b.start, b.size = append(b.radix, unit), append(b.start, rest), append(b.size, 1)
	}
	b.total = shape.Size(b.radix)
	return b, true
}

// padFlat gives x as one axis of n elements, filled up with zeros.
func padFlat(w *stablehlo.Writer, x stablehlo.Value, n int) stablehlo.Value {
	have := x.Spec.Size()
	x = w.Reshape(x, []int{have})
	if have == n {
		return x
	}
	zero := w.Splat(shape.Spec{DType: x.Spec.DType}, 0)
	return w.Pad(x, zero, nil, []int{n - have}, nil)
}

// boxed reshapes a dense base to the radix of its box.
func (b boxes) boxed(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
	if x.Spec.Size() == b.total {
		return w.Reshape(x, b.radix)
	}
	return w.Reshape(padFlat(w, x, b.total), b.radix)
}

// readHLO writes the read of a view of a dense base: reshape, slice, transpose
// and broadcast where that can say it, a gather of computed positions else.
func readHLO(w *stablehlo.Writer, x stablehlo.Value, v shape.View) stablehlo.Value {
	out := shape.Spec{DType: x.Spec.DType, Dims: v.Dims}
	if out.Size() == 0 {
		return w.Splat(out, 0)
	}
	b, ok := boxOf(v, x.Spec.Size())
	if !ok {
		flat := w.Reshape(x, []int{x.Spec.Size()})
		return w.TakeAxis(flat, positionsHLO(w, v), 0)
	}
	limit := make([]int, len(b.start))
	cut := false
	for i := range limit {
		limit[i] = b.start[i] + b.size[i]
		cut = cut || b.size[i] != b.radix[i]
	}
	y := b.boxed(w, x)
	if cut {
		y = w.Slice(y, b.start, limit, nil)
	}
	// Only the axes of the view, in their order.
	y = w.Reshape(y, b.size[:len(b.order)])
	sorted := slices.Sorted(slices.Values(b.order))
	if !slices.Equal(sorted, b.order) {
		perm := make([]int, len(sorted))
		for i, a := range sorted {
			perm[i] = slices.Index(b.order, a)
		}
		y = w.Transpose(y, perm)
	}
	if shape.Size(y.Spec.Dims) == out.Size() {
		return w.Reshape(y, v.Dims)
	}
	return w.BroadcastInDim(y, v.Dims, sorted)
}

// positionsHLO writes the position in the base of every element of a view.
func positionsHLO(w *stablehlo.Writer, v shape.View) stablehlo.Value {
	s := shape.Spec{DType: indexHLO, Dims: v.Dims}
	p := w.Splat(s, float64(v.Offset))
	for i, st := range v.Strides {
		if v.Dims[i] == 1 || st == 0 {
			continue
		}
		t := w.Iota(s, i)
		if st != 1 {
			t = w.Do("multiply", s, "", t, w.Splat(s, float64(st)))
		}
		p = w.Do("add", s, "", p, t)
	}
	return p
}

// writeHLO writes src into the view of a dense base; add sums with what is
// there, and with elements of src that share a place.
func writeHLO(w *stablehlo.Writer, x, src stablehlo.Value, v shape.View, add bool) stablehlo.Value {
	if src.Spec.Size() == 0 {
		return x
	}
	b, ok := boxOf(v, x.Spec.Size())
	if ok && shape.Size(b.size) == src.Spec.Size() {
		if add {
			src = w.Do("add", src.Spec, "", readHLO(w, x, v), src)
		}
		// The axes of the box, in its order.
		keep := slices.Sorted(slices.Values(b.order))
		y := w.Reshape(src, dimsAt(v.Dims, keep))
		if !slices.Equal(keep, b.order) {
			perm := make([]int, len(keep))
			for i, a := range b.order {
				perm[i] = slices.Index(keep, a)
			}
			y = w.Transpose(y, perm)
		}
		y = w.Reshape(y, b.size)
		if slices.Equal(b.size, b.radix) && x.Spec.Size() == b.total {
			return w.Reshape(y, x.Spec.Dims)
		}
		starts := make([]stablehlo.Value, len(b.start))
		for i, s := range b.start {
			starts[i] = w.Splat(shape.Spec{DType: indexHLO}, float64(s))
		}
		y = w.DynamicUpdateSlice(b.boxed(w, x), y, starts)
		n := x.Spec.Size()
		if b.total != n {
			y = w.SliceAxis(w.Reshape(y, []int{b.total}), 0, 0, n, 1)
		}
		return w.Reshape(y, x.Spec.Dims)
	}
	body := ""
	if add {
		body = "add"
	}
	flat := w.Reshape(x, []int{x.Spec.Size()})
	pos := w.Reshape(positionsHLO(w, v), []int{src.Spec.Size(), 1})
	y := w.Scatter(body, flat, pos, w.Reshape(src, []int{src.Spec.Size()}),
		stablehlo.ScatterDims{InsertedWindow: []int{0}, ToOperand: []int{0}, IndexVectorDim: 1})
	return w.Reshape(y, x.Spec.Dims)
}
