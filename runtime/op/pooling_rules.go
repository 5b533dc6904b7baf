package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// pooledType refuses bools and complex numbers, which have no largest element.
func pooledType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		if k := in[0].DType.Kind(); k == dtype.KindBool || k == dtype.KindComplex {
			return dtype.Invalid, &TypeError{Op: name, Arg: "input", DType: in[0].DType, Want: "a real number"}
		}
		return in[0].DType, nil
	}
}

func poolShape(name string, n int) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x := in[0]
		if x.Rank() != n+1 && x.Rank() != n+2 {
			return nil, wrongRank(name, "", x, n+1, n+2)
		}
		if err := spatialOf(name, a, n); err != nil {
			return nil, err
		}
		for i := range n {
			k, p := axisEntry(a, "kernel_size", i, 0), axisEntry(a, "padding", i, 0)
			switch {
			case k < 1:
				return nil, &shape.ArgumentError{Op: name, Arg: "kernel_size", Value: a.Ints("kernel_size"), Why: "it must be positive"}
			case p > k/2:
				return nil, &shape.ArgumentError{Op: name, Arg: "padding", Value: a.Ints("padding"), Why: "it is more than half the window"}
			}
		}
		out := slices.Clone(x.Dims)
		for i, p := range kernel.PoolAxes(a, x.Dims[x.Rank()-n:]) {
			if p.Out < 1 {
				return nil, &shape.ArgumentError{Op: name, Arg: "kernel_size", Value: a.Ints("kernel_size"), Why: fmt.Sprintf("no window fits axis %d of size %d", x.Rank()-n+i, p.In)}
			}
			out[x.Rank()-n+i] = p.Out
		}
		return out, nil
	}
}

func adaptiveShape(name string, n int) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x, size := in[0], a.Ints("output_size")
		if x.Rank() != n+1 && x.Rank() != n+2 {
			return nil, wrongRank(name, "", x, n+1, n+2)
		}
		if len(size) != 1 && len(size) != n {
			return nil, &shape.ArgumentError{Op: name, Arg: "output_size", Value: size, Why: fmt.Sprintf("one number or %d are needed", n)}
		}
		out := slices.Clone(x.Dims)
		for i := range n {
			s := axisEntry(a, "output_size", i, 1)
			if s < -1 {
				return nil, &shape.SizeError{Op: name, Dims: size, Axis: i}
			}
			if s >= 0 {
				out[x.Rank()-n+i] = s
			}
		}
		return out, nil
	}
}

// withPositions infers a second result of positions.
func withPositions(dims func(in []shape.Spec, a Attrs) ([]int, error), t func(in []shape.Spec, a Attrs) (dtype.DType, error)) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		d, err := t(in, a)
		if err != nil {
			return nil, err
		}
		size, err := dims(in, a)
		if err != nil {
			return nil, err
		}
		return []shape.Spec{{DType: d, Dims: size}, {DType: dtype.I64, Dims: size}}, nil
	}
}

// spreadShape: the last axes have the attribute size.
func spreadShape(in []shape.Spec, a Attrs) ([]int, error) {
	size := a.Ints("size")
	return append(slices.Clone(in[0].Dims[:in[0].Rank()-len(size)]), size...), nil
}

func interpolateShape(in []shape.Spec, a Attrs) ([]int, error) {
	const name = "interpolate"
	x, size, factor, mode := in[0], a.Ints("size"), a.Float("scale_factor"), a.Str("mode")
	n := x.Rank() - 2
	if n < 1 || n > 3 {
		return nil, wrongRank(name, "", x, 3, 5)
	}
	want := map[string]int{"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
	switch {
	case !slices.Contains([]string{"nearest", "nearest-exact", "area", "linear", "bilinear", "bicubic", "trilinear"}, mode):
		return nil, &shape.ArgumentError{Op: name, Arg: "mode", Value: mode, Why: "there is no such mode"}
	case want[mode] != 0 && want[mode] != n:
		return nil, wrongRank(name, mode, x, want[mode]+2, want[mode]+2)
	case want[mode] == 0 && a.Bool("align_corners"):
		return nil, &shape.ArgumentError{Op: name, Arg: "align_corners", Value: true, Why: "mode " + mode + " has none"}
	case a.Bool("antialias") && mode != "bilinear" && mode != "bicubic":
		return nil, &shape.ArgumentError{Op: name, Arg: "antialias", Value: true, Why: "mode " + mode + " has none"}
	case (len(size) == 0) == (factor == 0):
		return nil, &shape.ArgumentError{Op: name, Arg: "size", Value: size, Why: "either size or scale_factor is needed"}
	case len(size) > 1 && len(size) != n:
		return nil, &shape.ArgumentError{Op: name, Arg: "size", Value: size, Why: fmt.Sprintf("one number or %d are needed", n)}
	}
	out := slices.Clone(x.Dims)
	for i := range n {
		if len(size) > 0 {
			out[2+i] = axisEntry(a, "size", i, 1)
		} else {
			out[2+i] = int(math.Floor(float64(x.Dims[2+i]) * factor))
		}
		if out[2+i] < 1 || x.Dims[2+i] < 1 {
			return nil, &shape.ArgumentError{Op: name, Arg: "size", Value: out[2:], Why: "a size must be positive"}
		}
	}
	return out, nil
}

func interpolateBackShape(in []shape.Spec, a Attrs) ([]int, error) {
	return append(slices.Clone(in[0].Dims[:2]), a.Ints("in_size")...), nil
}

// maxPoolCost compares or adds every element of every window once.
func maxPoolCost(in, out []shape.Spec, _ Attrs) Cost {
	n := int64(max(in[0].Size(), out[0].Size()))
	return Cost{FLOPs: n, VPUOps: n, Unit: VPU}
}

// positionsGrad sends the gradient to the positions that the second result names.
func positionsGrad(n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		if dy[0] == nil {
			return []Value{nil}
		}
		return []Value{scatterPlanes(b, c.In[0], c.Out[1], dy[0], n)}
	}
}

// scatterPlanes adds g at flat positions of the planes of x.
func scatterPlanes(b Builder, x, at, g Value, n int) Value {
	xd, gd := dims(x), dims(g)
	lead := shape.Size(xd[:len(xd)-n])
	plane, k := shape.Size(xd[len(xd)-n:]), shape.Size(gd[len(gd)-n:])
	z := b.Full(shape.Spec{DType: x.Spec().DType, Dims: []int{lead, plane}}, 0)
	r := b.Do("scatter_add", attr("dim", 1), z, reshaped(b, at, lead, k), reshaped(b, g, lead, k))
	return reshaped(b, r, xd...)
}

// maxPoolGrad finds the positions again.
func maxPoolGrad(with Name, n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		at := b.All(with, c.Attrs, c.In[0])[1]
		return []Value{scatterPlanes(b, c.In[0], at, dy[0], n)}
	}
}

// sizeOfLast is the attribute size with the last n dimensions of v.
func sizeOfLast(v Value, n int) Attrs {
	d := dims(v)
	return attr("size", slices.Clone(d[len(d)-n:]))
}

func avgPoolGrad(back Name, n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		return []Value{b.Do(back, append(sizeOfLast(c.In[0], n), c.Attrs...), dy[0])}
	}
}

func avgPoolBackGrad(forward Name) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		a := slices.DeleteFunc(slices.Clone(c.Attrs), func(x Attr) bool { return x.Name == "size" })
		return []Value{b.Do(forward, a, dy[0])}
	}
}

func adaptiveAvgGrad(back Name, n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		return []Value{b.Do(back, sizeOfLast(c.In[0], n), dy[0])}
	}
}

func adaptiveAvgBackGrad(forward Name, n int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		d := dims(c.In[0])
		return []Value{b.Do(forward, attr("output_size", slices.Clone(d[len(d)-n:])), dy[0])}
	}
}

func resizeAttrs(a Attrs) Attrs {
	return attr("scale_factor", a.Float("scale_factor"), "mode", a.Str("mode"), "align_corners", a.Bool("align_corners"), "antialias", a.Bool("antialias"), "recompute_scale_factor", a.Bool("recompute_scale_factor"),
		"scales_d", a.Float("scales_d"), "scales_h", a.Float("scales_h"), "scales_w", a.Float("scales_w"))
}

func interpolateGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("interpolate_backward", append(attr("in_size", slices.Clone(dims(c.In[0])[2:])), resizeAttrs(c.Attrs)...), dy[0])}
}

// interpolateBackGrad: with a factor, the size is the floor of a product, which the sizes must not contradict.
func interpolateBackGrad(b Builder, c *Call, dy []Value) []Value {
	a := resizeAttrs(c.Attrs)
	if c.Attrs.Float("scale_factor") == 0 {
		a = append(a, Attr{Name: "size", Value: slices.Clone(dims(c.In[0])[2:])})
	}
	return []Value{b.Do("interpolate", a, dy[0])}
}

// poolWindow is the window of a pooling over the last n axes of an array of the given rank.
func poolWindow(axes []kernel.PoolAxis, rank int) stablehlo.Window {
	v := stablehlo.Window{Padding: make([][2]int, rank)}
	for i := range rank {
		p := kernel.PoolAxis{Kernel: 1, Stride: 1, Dilation: 1}
		if j := i - (rank - len(axes)); j >= 0 {
			p = axes[j]
			reach := (p.Out-1)*p.Stride + p.Dilation*(p.Kernel-1) + 1
			v.Padding[i] = [2]int{p.Padding, reach - p.In - p.Padding}
		}
		v.Dims, v.Strides, v.WindowDilations = append(v.Dims, p.Kernel), append(v.Strides, p.Stride), append(v.WindowDilations, p.Dilation)
	}
	return v
}

func lowerMaxPool(n int) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		x := c.In[0]
		r := x.Spec.Rank()
		v := poolWindow(kernel.PoolAxes(c.Attrs, x.Spec.Dims[r-n:]), r)
		return []stablehlo.Value{w.ReduceWindow("maximum", x, stablehlo.Identity(x.Spec.DType, true), v)}
	}
}

// planePositions writes the position in the flattened last n axes for every element.
func planePositions(w *stablehlo.Writer, dims []int, n int) stablehlo.Value {
	v := shape.View{Dims: dims, Strides: shape.RowMajor(dims)}
	v.Strides = slices.Clone(v.Strides)
	for i := range len(dims) - n {
		v.Strides[i] = 0
	}
	return positionsHLO(w, v)
}

// largerHLO is the region that keeps the larger of two (value, position) pairs: NaN first, then the smaller position.
func largerHLO(w *stablehlo.Writer, a []stablehlo.Value) []stablehlo.Value {
	keep := w.Compare("GT", a[0], a[2])
	if a[0].Spec.DType.IsFloat() {
		keep = w.Do("or", keep.Spec, "", keep, w.Compare("NE", a[0], a[0]))
	}
	same := w.Do("and", keep.Spec, "", w.Compare("EQ", a[0], a[2]), w.Compare("LT", a[1], a[3]))
	keep = w.Do("or", keep.Spec, "", keep, same)
	return []stablehlo.Value{w.Select(keep, a[0], a[2]), w.Select(keep, a[1], a[3])}
}

func lowerMaxPoolPositions(n int) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		x := c.In[0]
		r := x.Spec.Rank()
		v := poolWindow(kernel.PoolAxes(c.Attrs, x.Spec.Dims[r-n:]), r)
		t := x.Spec.DType
		inits := []stablehlo.Value{w.Splat(shape.Spec{DType: t}, stablehlo.Identity(t, true)), w.Splat(shape.Spec{DType: indexHLO}, math.MaxInt32)}
		out := w.ReduceWindowRegion([]stablehlo.Value{x, planePositions(w, x.Spec.Dims, n)}, inits, v, largerHLO)
		return []stablehlo.Value{out[0], w.Convert(out[1], dtype.I64)}
	}
}

// lowerAdaptiveMax reduces one axis after the other: every output position
// takes the largest of its slice. The first axis carries positions from the start.
func lowerAdaptiveMax(n int, positions bool) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		x, out := c.In[0], c.Out[0]
		r := x.Spec.Rank()
		t := x.Spec.DType
		inits := []stablehlo.Value{w.Splat(shape.Spec{DType: t}, stablehlo.Identity(t, true)), w.Splat(shape.Spec{DType: indexHLO}, math.MaxInt32)}
		pair := []stablehlo.Value{x, planePositions(w, x.Spec.Dims, n)}
		for d := r - 1; d >= r-n; d-- {
			in := x.Spec.Dims[d]
			var vs, ps []stablehlo.Value
			for o := range out.Dims[d] {
				lo, hi := kernel.AdaptiveRange(o, in, out.Dims[d])
				cut := []stablehlo.Value{w.SliceAxis(pair[0], d, lo, hi, 1), w.SliceAxis(pair[1], d, lo, hi, 1)}
				best := w.ReduceRegion(cut, inits, []int{d}, largerHLO)
				one := slices.Clone(pair[0].Spec.Dims)
				one[d] = 1
				vs, ps = append(vs, w.Reshape(best[0], one)), append(ps, w.Reshape(best[1], one))
			}
			if len(vs) == 0 {
				pair = []stablehlo.Value{w.Splat(out, 0), w.Splat(shape.Spec{DType: indexHLO, Dims: out.Dims}, 0)}
				break
			}
			pair = []stablehlo.Value{w.Concatenate(d, vs...), w.Concatenate(d, ps...)}
		}
		if !positions {
			return pair[:1]
		}
		return []stablehlo.Value{pair[0], w.Convert(pair[1], dtype.I64)}
	}
}

// lowerResample multiplies each resampled axis with the matrix of its taps.
func lowerResample(taps func(c *kernel.Call, in []int) []kernel.Taps, transposed bool) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		x, out := c.In[0], c.Out[0]
		big := x.Spec.Dims
		if transposed {
			big = out.Dims
		}
		call := &kernel.Call{In: []kernel.Array{{DType: x.Spec.DType, View: shape.Dense(x.Spec.Dims)}},
			Out: []kernel.Array{{DType: out.DType, View: shape.Dense(out.Dims)}}, Attrs: c.Attrs}
		wide := dtype.F32
		if x.Spec.DType == dtype.F64 || x.Spec.DType.IsComplex() {
			wide = x.Spec.DType
		}
		y := w.Convert(x, wide)
		ts := taps(call, big)
		lead := x.Spec.Rank() - len(ts)
		for i, t := range ts {
			d := lead + i
			rows, cols := len(t.At), t.In
			m := make([]float64, rows*cols)
			for o, at := range t.At {
				for k, q := range at {
					m[o*cols+q] += t.W[o][k]
				}
			}
			mat := w.Constant(shape.Spec{DType: wide, Dims: []int{rows, cols}}, m)
			k := 1
			if transposed {
				k = 0
			}
			y = dotHLO(w, y, mat, nil, nil, []int{d}, []int{k})
			// The new axis is last: bring it back.
			r := y.Spec.Rank()
			perm := append(append(span(0, d), r-1), span(d, r-1)...)
			if d != r-1 {
				y = w.Transpose(y, perm)
			}
		}
		return []stablehlo.Value{w.Convert(y, out.DType)}
	}
}
