package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

func copyShape(in []shape.Spec, _ Attrs) ([]int, error) {
	if d, ok := shape.Broadcast(in[0].Dims, in[1].Dims); !ok || !shape.EqualDims(d, in[0].Dims) {
		return nil, shape.NewBroadcastError("copy", in[0], in[1])
	}
	return in[0].Dims, nil
}

func copyKernel(c *kernel.Call) error {
	x := c.In[1]
	v, err := x.View.Expand(c.Out[0].Dims...)
	if err != nil {
		return err
	}
	x.View = v
	return kernel.Same(&kernel.Call{In: []kernel.Array{x}, Out: c.Out})
}

// joinedType promotes the inputs of cat and stack.
func joinedType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		if len(in) == 0 {
			return dtype.Invalid, &EmptyListError{Op: name}
		}
		return resultType(in...)
	}
}

// skipped says whether cat leaves an input out: PyTorch's old rule for shape [0].
func skipped(s shape.Spec) bool { return s.Rank() == 1 && s.Dims[0] == 0 }

func catShape(in []shape.Spec, a Attrs) ([]int, error) {
	var first shape.Spec
	for _, s := range in {
		if s.Rank() == 0 {
			return nil, wrongRank("cat", "tensors", s, 1, -1)
		}
		if !first.Valid() && !skipped(s) {
			first = s
		}
	}
	if !first.Valid() {
		_, err := shape.Axis("cat", a.Int("dim"), 1)
		return []int{0}, err
	}
	dim, err := shape.Axis("cat", a.Int("dim"), first.Rank())
	if err != nil {
		return nil, err
	}
	out := slices.Clone(first.Dims)
	out[dim] = 0
	for _, s := range in {
		if skipped(s) && first.Rank() != 1 {
			continue
		}
		if s.Rank() != first.Rank() {
			return nil, &shape.MismatchError{Op: "cat", Left: first, Right: s, Axis: -1, Why: fmt.Sprintf("ranks %d and %d differ", first.Rank(), s.Rank())}
		}
		for i, d := range s.Dims {
			if i != dim && d != out[i] {
				return nil, &shape.MismatchError{Op: "cat", Left: first, Right: s, Axis: i, Why: fmt.Sprintf("sizes %d and %d of axis %d differ", out[i], d, i)}
			}
		}
		out[dim] += s.Dims[dim]
	}
	return out, nil
}

func stackShape(in []shape.Spec, a Attrs) ([]int, error) {
	dim, err := shape.Axis("stack", a.Int("dim"), in[0].Rank()+1)
	if err != nil {
		return nil, err
	}
	for _, s := range in[1:] {
		if !shape.EqualDims(s.Dims, in[0].Dims) {
			return nil, &shape.MismatchError{Op: "stack", Left: in[0], Right: s, Axis: -1, Why: "shapes differ"}
		}
	}
	return slices.Insert(slices.Clone(in[0].Dims), dim, len(in)), nil
}

func flipShape(in []shape.Spec, a Attrs) ([]int, error) {
	_, err := shape.Axes("flip", a.Ints("dims"), in[0].Rank())
	return in[0].Dims, err
}

func rollShape(in []shape.Spec, a Attrs) ([]int, error) {
	shifts, dims := a.Ints("shifts"), a.Ints("dims")
	if len(dims) == 0 && len(shifts) != 1 || len(dims) > 0 && len(dims) != len(shifts) {
		return nil, &shape.ArgumentError{Op: "roll", Arg: "shifts", Value: shifts, Why: fmt.Sprintf("%d shifts for %d axes", len(shifts), len(dims))}
	}
	for _, d := range dims {
		if in[0].Rank() == 0 {
			return nil, &shape.AxisError{Op: "roll", Axis: d, Rank: 0}
		}
		if _, err := shape.Axis("roll", d, in[0].Rank()); err != nil {
			return nil, err
		}
	}
	return in[0].Dims, nil
}

func repeatShape(in []shape.Spec, a Attrs) ([]int, error) {
	times := a.Ints("sizes")
	if len(times) < in[0].Rank() {
		return nil, &shape.ArgumentError{Op: "repeat", Arg: "sizes", Value: times, Why: fmt.Sprintf("%d counts for %d axes", len(times), in[0].Rank())}
	}
	return repeated("repeat", in[0].Dims, times)
}

func tileShape(in []shape.Spec, a Attrs) ([]int, error) {
	times := a.Ints("dims")
	for len(times) < in[0].Rank() {
		times = append([]int{1}, times...)
	}
	return repeated("tile", in[0].Dims, times)
}

func repeated(name string, dims, times []int) ([]int, error) {
	out := slices.Clone(times)
	for i, t := range times {
		if t < 0 {
			return nil, &shape.SizeError{Op: name, Dims: times, Axis: i}
		}
		if j := i - (len(times) - len(dims)); j >= 0 {
			out[i] *= dims[j]
		}
	}
	return out, shape.CheckDims(name, out)
}

func interleaveShape(in []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("repeats")
	if n < 0 {
		return nil, &shape.SizeError{Op: "repeat_interleave", Dims: []int{n}, Axis: 0}
	}
	if a.Int("dim") == kernel.FlatDim {
		return []int{in[0].Size() * n}, nil
	}
	if in[0].Rank() == 0 {
		return []int{n}, nil
	}
	dim, err := shape.Axis("repeat_interleave", a.Int("dim"), in[0].Rank())
	if err != nil {
		return nil, err
	}
	out := slices.Clone(in[0].Dims)
	out[dim] *= n
	return out, nil
}

// repeatEachHost sums the counts.
func repeatEachHost(in []kernel.Array, a Attrs) (Attrs, error) {
	if a.Int("count") >= 0 {
		return a, nil
	}
	n := int64(0)
	for _, v := range kernel.Int64s(in[1]) {
		if v < 0 {
			return nil, &shape.SizeError{Op: "repeat_interleave", Dims: []int{int(v)}, Axis: 0}
		}
		n += v
	}
	if in[1].Size() == 1 { // one count for all positions
		size := in[0].Size()
		if d := a.Int("dim"); d != kernel.FlatDim && len(in[0].Dims) > 0 {
			axis, err := shape.Axis("repeat_interleave", d, len(in[0].Dims))
			if err != nil {
				return nil, err
			}
			size = in[0].Dims[axis]
		}
		n *= int64(size)
	}
	return withAttr(a, "count", int(n)), nil
}

func repeatEachShape(in []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("count")
	if n < 0 {
		return nil, &shape.ArgumentError{Op: "repeat_interleave", Arg: "count", Value: n, Why: "it was not counted"}
	}
	if in[1].Rank() > 1 {
		return nil, wrongRank("repeat_interleave", "repeats", in[1], 0, 1)
	}
	out, dim := []int{in[0].Size()}, 0
	if d := a.Int("dim"); d != kernel.FlatDim {
		axis, err := shape.Axis("repeat_interleave", d, in[0].Rank())
		if err != nil {
			return nil, err
		}
		if in[0].Rank() > 0 {
			out, dim = slices.Clone(in[0].Dims), axis
		}
	}
	if k := in[1].Size(); k != 1 && k != out[dim] {
		return nil, &shape.MismatchError{Op: "repeat_interleave", Left: in[0], Right: in[1], Axis: dim, Why: fmt.Sprintf("%d counts for %d positions", k, out[dim])}
	}
	out[dim] = n
	return out, nil
}

func rot90Shape(in []shape.Spec, a Attrs) ([]int, error) {
	d := a.Ints("dims")
	if len(d) != 2 {
		return nil, &shape.ArgumentError{Op: "rot90", Arg: "dims", Value: d, Why: "two axes are needed"}
	}
	if in[0].Rank() < 2 {
		return nil, wrongRank("rot90", "", in[0], 2, -1)
	}
	d, err := shape.Axes("rot90", d, in[0].Rank())
	if err != nil {
		return nil, err
	}
	out := slices.Clone(in[0].Dims)
	if a.Int("k")%2 != 0 {
		out[d[0]], out[d[1]] = out[d[1]], out[d[0]]
	}
	return out, nil
}

func triangleShape(name string) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, _ Attrs) ([]int, error) {
		if in[0].Rank() < 2 {
			return nil, wrongRank(name, "", in[0], 2, -1)
		}
		return in[0].Dims, nil
	}
}

func diagShape(in []shape.Spec, a Attrs) ([]int, error) {
	k := a.Int("diagonal")
	switch in[0].Rank() {
	case 1:
		n := in[0].Dims[0] + max(k, -k)
		return []int{n, n}, nil
	case 2:
		v, err := shape.Dense(in[0].Dims).Diagonal(k, 0, 1)
		return v.Dims, err
	}
	return nil, wrongRank("diag", "", in[0], 1, 2)
}

func diagEmbedShape(in []shape.Spec, a Attrs) ([]int, error) {
	r := in[0].Rank()
	if r == 0 {
		return nil, wrongRank("diag_embed", "", in[0], 1, -1)
	}
	d, err := shape.Axes("diag_embed", []int{a.Int("dim1"), a.Int("dim2")}, r+1)
	if err != nil {
		return nil, err
	}
	k := a.Int("offset")
	n := in[0].Dims[r-1] + max(k, -k)
	out := slices.Insert(slices.Clone(in[0].Dims[:r-1]), min(d[0], d[1]), n)
	return slices.Insert(out, max(d[0], d[1]), n), nil
}

func diagFlatShape(in []shape.Spec, a Attrs) ([]int, error) {
	k := a.Int("offset")
	n := in[0].Size() + max(k, -k)
	return []int{n, n}, nil
}

func padShape(in []shape.Spec, a Attrs) ([]int, error) {
	pad, mode, r := a.Ints("pad"), a.Str("mode"), in[0].Rank()
	switch {
	case len(pad)%2 != 0:
		return nil, &shape.ArgumentError{Op: "pad", Arg: "pad", Value: pad, Why: "the amounts must come in pairs"}
	case len(pad)/2 > r:
		return nil, &shape.ArgumentError{Op: "pad", Arg: "pad", Value: pad, Why: fmt.Sprintf("%d pairs for %d axes", len(pad)/2, r)}
	}
	switch mode {
	case "constant":
	case "reflect", "replicate", "circular":
		n := len(pad) / 2
		if n < 1 || n > 3 || r != n+1 && r != n+2 {
			return nil, wrongRank("pad", "", in[0], n+1, n+2)
		}
	default:
		return nil, &shape.ArgumentError{Op: "pad", Arg: "mode", Value: mode, Why: "it is none of constant, reflect, replicate, circular"}
	}
	out := slices.Clone(in[0].Dims)
	for i := 0; i < len(pad); i += 2 {
		d := r - 1 - i/2
		n := out[d]
		lo, hi := pad[i], pad[i+1]
		most := max(lo, hi)
		switch {
		case mode == "reflect" && most >= n && most > 0, mode == "circular" && most > n:
			return nil, &shape.ArgumentError{Op: "pad", Arg: "pad", Value: pad, Why: fmt.Sprintf("%d is too much for axis %d of size %d", most, d, n)}
		case mode == "replicate" && n == 0 && most > 0:
			return nil, &shape.ArgumentError{Op: "pad", Arg: "pad", Value: pad, Why: fmt.Sprintf("axis %d is empty", d)}
		}
		out[d] = n + lo + hi
		if out[d] < 0 {
			return nil, &shape.ArgumentError{Op: "pad", Arg: "pad", Value: pad, Why: fmt.Sprintf("axis %d of size %d would get size %d", d, n, out[d])}
		}
	}
	return out, nil
}

func sizeAttr(_ []shape.Spec, a Attrs) ([]int, error) { return a.Ints("size"), nil }

func pixelShuffleShape(in []shape.Spec, a Attrs) ([]int, error) {
	n, r := a.Int("upscale_factor"), in[0].Rank()
	n = min(n, 1<<30) // its square is counted
	if r < 3 {
		return nil, wrongRank("pixel_shuffle", "", in[0], 3, -1)
	}
	if n <= 0 || in[0].Dims[r-3]%(n*n) != 0 {
		return nil, &shape.ArgumentError{Op: "pixel_shuffle", Arg: "upscale_factor", Value: n, Why: fmt.Sprintf("its square does not divide %d channels", in[0].Dims[r-3])}
	}
	out := slices.Clone(in[0].Dims)
	out[r-3], out[r-2], out[r-1] = out[r-3]/(n*n), out[r-2]*n, out[r-1]*n
	return out, nil
}

func pixelUnshuffleShape(in []shape.Spec, a Attrs) ([]int, error) {
	n, r := a.Int("downscale_factor"), in[0].Rank()
	if r < 3 {
		return nil, wrongRank("pixel_unshuffle", "", in[0], 3, -1)
	}
	if n <= 0 || in[0].Dims[r-2]%n != 0 || in[0].Dims[r-1]%n != 0 {
		return nil, &shape.ArgumentError{Op: "pixel_unshuffle", Arg: "downscale_factor", Value: n, Why: fmt.Sprintf("it does not divide %d and %d", in[0].Dims[r-2], in[0].Dims[r-1])}
	}
	out := slices.Clone(in[0].Dims)
	out[r-3], out[r-2], out[r-1] = out[r-3]*n*n, out[r-2]/n, out[r-1]/n
	return out, nil
}

func channelShuffleShape(in []shape.Spec, a Attrs) ([]int, error) {
	g := a.Int("groups")
	if in[0].Rank() < 3 {
		return nil, wrongRank("channel_shuffle", "", in[0], 3, -1)
	}
	if g <= 0 || in[0].Dims[1]%g != 0 {
		return nil, &shape.ArgumentError{Op: "channel_shuffle", Arg: "groups", Value: g, Why: fmt.Sprintf("it does not divide %d channels", in[0].Dims[1])}
	}
	return in[0].Dims, nil
}

func sumToSizeShape(in []shape.Spec, a Attrs) ([]int, error) {
	size := a.Ints("size")
	if d, ok := shape.Broadcast(size, in[0].Dims); !ok || !shape.EqualDims(d, in[0].Dims) {
		return nil, &shape.ArgumentError{Op: "sum_to_size", Arg: "size", Value: size, Why: "it does not broadcast to " + shape.FormatDims(in[0].Dims)}
	}
	return size, nil
}

// sumToSizeType: sums of integers and bools are i64.
func sumToSizeType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[0].DType.Kind() < dtype.KindFloat && !shape.EqualDims(in[0].Dims, a.Ints("size")) {
		return dtype.I64, nil
	}
	return in[0].DType, nil
}

func sumToSizeCost(in, _ []shape.Spec, _ Attrs) Cost {
	n := int64(in[0].Size())
	return Cost{FLOPs: n, VPUOps: n, Unit: VPU}
}

// withinShape demands that the second input has the shape of the part that f sees.
func withinShape(name string, f viewFunc) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		v, err := f(shape.Dense(in[0].Dims), a)
		if err != nil {
			return nil, err
		}
		if a.Has("storage_offset") {
			if v, err = stridedOf(in[0], a); err != nil {
				return nil, err
			}
		}
		if !shape.EqualDims(v.Dims, in[1].Dims) {
			return nil, &shape.MismatchError{Op: name, Left: in[0], Right: in[1], Axis: -1, Why: "src does not have the shape " + shape.FormatDims(v.Dims)}
		}
		return in[0].Dims, nil
	}
}

func withinType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		if in[0].DType != in[1].DType {
			return dtype.Invalid, &TypesError{Op: name, Left: in[0], Right: in[1]}
		}
		return in[0].DType, nil
	}
}
