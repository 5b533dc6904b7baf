package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// isPosition says whether elements of t may be positions.
func isPosition(t dtype.DType) bool { return t == dtype.I64 || t == dtype.I32 }

// indexedType gives the type of the first input and demands that all others are positions.
func indexedType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		for _, s := range in[1:] {
			if !isPosition(s.DType) && !(s.DType.IsInt() && s.Size() == 0) {
				return dtype.Invalid, &TypeError{Op: name, Arg: "index", DType: s.DType, Want: "i32 or i64"}
			}
		}
		return in[0].DType, nil
	}
}

// longIndexed is indexedType for rows with one index, the second input.
func longIndexed(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	one := indexedType(name)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) { return one(in[:2], a) }
}

// writeType demands positions in the second input and, when same is set, that
// the source at input at has the type of the first.
func writeType(name, arg string, at int, same bool) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	one := longIndexed(name)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		if in[at].DType != in[0].DType && !in[at].Weak {
			return dtype.Invalid, &TypesError{Op: name, Left: in[0], Right: in[at]}
		}
		return one(in, a)
	}
}

func embeddingType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if !isPosition(in[0].DType) {
		return dtype.Invalid, &TypeError{Op: "embedding", Arg: "input", DType: in[0].DType, Want: "i32 or i64"}
	}
	return in[1].DType, nil
}

func oneHotType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if in[0].DType != dtype.I64 {
		return dtype.Invalid, &TypeError{Op: "one_hot", Arg: "input", DType: in[0].DType, Want: "i64"}
	}
	return dtype.I64, nil
}

func indexType([]shape.Spec, Attrs) (dtype.DType, error) { return dtype.I64, nil }

// indexPutType: values must have the type of the input; a Go number converts.
func indexPutType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[1].DType != in[0].DType && !in[1].Weak {
		return dtype.Invalid, &TypesError{Op: "index_put", Left: in[0], Right: in[1]}
	}
	return indexedType("index_put")(append([]shape.Spec{in[0]}, in[2:]...), a)
}

func maskedType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		if in[1].DType != dtype.Bool {
			return dtype.Invalid, &TypeError{Op: name, Arg: "mask", DType: in[1].DType, Want: "bool"}
		}
		return in[0].DType, nil
	}
}

func maskedScatterType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[2].DType != in[0].DType {
		return dtype.Invalid, &TypesError{Op: "masked_scatter", Left: in[0], Right: in[2]}
	}
	return maskedType("masked_scatter")(in, a)
}

func indexSelectShape(in []shape.Spec, a Attrs) ([]int, error) {
	x, idx := in[0], in[1]
	dim, err := shape.Axis("index_select", a.Int("dim"), x.Rank())
	if err != nil {
		return nil, err
	}
	if idx.Rank() > 1 {
		return nil, wrongRank("index_select", "index", idx, 0, 1)
	}
	if x.Rank() == 0 {
		if idx.Size() != 1 {
			return nil, &shape.MismatchError{Op: "index_select", Left: x, Right: idx, Axis: -1, Why: "a scalar has one position"}
		}
		return x.Dims, nil
	}
	out := slices.Clone(x.Dims)
	out[dim] = idx.Size()
	return out, nil
}

// sameRank demands index and input of one rank, a scalar counting as one axis.
func sameRank(name, arg string, x, y shape.Spec) error {
	if max(x.Rank(), 1) != max(y.Rank(), 1) {
		return wrongRank(name, arg, y, x.Rank(), x.Rank())
	}
	return nil
}

func gatherShape(in []shape.Spec, a Attrs) ([]int, error) {
	x, idx := in[0], in[1]
	dim, err := shape.Axis("gather", a.Int("dim"), x.Rank())
	if err != nil {
		return nil, err
	}
	if err := sameRank("gather", "index", x, idx); err != nil && idx.Size() > 0 {
		return nil, err
	}
	return idx.Dims, withinOthers("gather", x, idx, dim)
}

// withinOthers demands that idx is no longer than x on any axis but dim.
func withinOthers(name string, x, idx shape.Spec, dim int) error {
	if idx.Size() == 0 || x.Rank() != idx.Rank() {
		return nil
	}
	for i, n := range idx.Dims {
		if i != dim && n > x.Dims[i] {
			return &shape.MismatchError{Op: name, Left: x, Right: idx, Axis: i, Why: fmt.Sprintf("the index has %d positions on axis %d, the tensor %d", n, i, x.Dims[i])}
		}
	}
	return nil
}

func takeShape(in []shape.Spec, _ Attrs) ([]int, error) {
	if in[0].Size() == 0 && in[1].Size() > 0 {
		return nil, &EmptyError{Op: "take", In: in[0], Axis: -1}
	}
	return in[1].Dims, nil
}

func takeAlongShape(in []shape.Spec, a Attrs) ([]int, error) {
	x, idx := in[0], in[1]
	if a.Int("dim") == kernel.FlatDim {
		return []int{idx.Size()}, nil
	}
	dim, err := shape.Axis("take_along_dim", a.Int("dim"), x.Rank())
	if err != nil {
		return nil, err
	}
	if x.Rank() != idx.Rank() {
		return nil, wrongRank("take_along_dim", "indices", idx, x.Rank(), x.Rank())
	}
	dx, di := slices.Clone(x.Dims), slices.Clone(idx.Dims)
	if len(dx) == 0 {
		return dx, nil
	}
	dx[dim], di[dim] = 1, 1
	out, ok := shape.Broadcast(dx, di)
	if !ok {
		return nil, &shape.MismatchError{Op: "take_along_dim", Left: x, Right: idx, Axis: -1, Why: "the other axes do not broadcast"}
	}
	out = slices.Clone(out)
	out[dim] = idx.Dims[dim]
	return out, nil
}

func embeddingShape(in []shape.Spec, a Attrs) ([]int, error) {
	w := in[1]
	if w.Rank() != 2 {
		return nil, wrongRank("embedding", "weight", w, 2, 2)
	}
	if p := a.Int("padding_idx"); p != noPadding && (p < -w.Dims[0] || p >= w.Dims[0]) {
		return nil, &shape.IndexError{Op: "embedding", Index: p, Axis: 0, Size: w.Dims[0]}
	}
	return append(slices.Clone(in[0].Dims), w.Dims[1]), nil
}

func oneHotShape(in []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("num_classes")
	if n < 0 || n == 0 && in[0].Size() > 0 {
		return nil, &shape.ArgumentError{Op: "one_hot", Arg: "num_classes", Value: n, Why: "it must be positive"}
	}
	return append(slices.Clone(in[0].Dims), n), nil
}

// oneHotHost counts the classes.
func oneHotHost(in []kernel.Array, a Attrs) (Attrs, error) {
	if a.Int("num_classes") != -1 {
		return a, nil
	}
	n := int64(0)
	for _, v := range kernel.Int64s(in[0]) {
		if v < 0 {
			return nil, &shape.IndexError{Op: "one_hot", Index: int(v), Axis: 0, Size: 0}
		}
		n = max(n, v+1)
	}
	if n == 0 {
		return nil, &shape.ArgumentError{Op: "one_hot", Arg: "num_classes", Value: -1, Why: "there is no index to count classes from"}
	}
	return withAttr(a, "num_classes", int(n)), nil
}

// withAttr gives attributes with one of them replaced.
func withAttr(a Attrs, name string, v any) Attrs {
	a = slices.Clone(a)
	for i := range a {
		if a[i].Name == name {
			a[i].Value = v
		}
	}
	return a
}

// countHost counts the elements of input i that are not zero.
func countHost(name string, i int) func(in []kernel.Array, a Attrs) (Attrs, error) {
	return func(in []kernel.Array, a Attrs) (Attrs, error) {
		if a.Int(name) >= 0 {
			return a, nil
		}
		return withAttr(a, name, kernel.CountNonzero(in[i])), nil
	}
}

// maskedSelectHost counts the true elements of the mask, broadcast to the input.
func maskedSelectHost(in []kernel.Array, a Attrs) (Attrs, error) {
	if a.Int("count") >= 0 {
		return a, nil
	}
	n := kernel.CountNonzero(in[1])
	if d, ok := shape.Broadcast(in[0].Dims, in[1].Dims); ok && in[1].Size() > 0 {
		n *= shape.Size(d) / in[1].Size()
	}
	return withAttr(a, "count", n), nil
}

func nonzeroShape(in []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("count")
	if n < 0 {
		return nil, &shape.ArgumentError{Op: "nonzero", Arg: "count", Value: n, Why: "it was not counted"}
	}
	return []int{n, in[0].Rank()}, nil
}

func maskedSelectShape(in []shape.Spec, a Attrs) ([]int, error) {
	if _, ok := shape.Broadcast(in[0].Dims, in[1].Dims); !ok {
		return nil, shape.NewBroadcastError("masked_select", in[0], in[1])
	}
	n := a.Int("count")
	if n < 0 {
		return nil, &shape.ArgumentError{Op: "masked_select", Arg: "count", Value: n, Why: "it was not counted"}
	}
	return []int{n}, nil
}

func maskedScatterShape(in []shape.Spec, _ Attrs) ([]int, error) {
	d, ok := shape.Broadcast(in[0].Dims, in[1].Dims)
	if !ok {
		return nil, shape.NewBroadcastError("masked_scatter", in[0], in[1])
	}
	return d, nil
}

// advancedOf gives the indexed axes of a call and the shape of its result.
func advancedOf(name string, x shape.Spec, indices []shape.Spec, a Attrs) (at, out []int, err error) {
	at = a.Ints("dims")
	if at == nil {
		at = span(0, len(indices))
	}
	switch {
	case len(indices) == 0:
		return nil, nil, &EmptyListError{Op: name}
	case len(at) != len(indices):
		return nil, nil, &shape.ArgumentError{Op: name, Arg: "dims", Value: at, Why: fmt.Sprintf("%d axes for %d index tensors", len(at), len(indices))}
	case len(at) > x.Rank():
		return nil, nil, wrongRank(name, "input", x, len(at), -1)
	}
	for i, d := range at {
		if d < 0 || d >= x.Rank() {
			return nil, nil, &shape.AxisError{Op: name, Axis: d, Rank: x.Rank()}
		}
		if i > 0 && d <= at[i-1] {
			return nil, nil, &shape.ArgumentError{Op: name, Arg: "dims", Value: at, Why: "the axes must ascend"}
		}
	}
	b := indices[0].Dims
	for _, s := range indices[1:] {
		d, ok := shape.Broadcast(b, s.Dims)
		if !ok {
			return nil, nil, shape.NewBroadcastError(name, shape.Spec{DType: indices[0].DType, Dims: b}, s)
		}
		b = d
	}
	out, _ = kernel.AdvancedDims(x.Dims, at, b)
	return at, out, nil
}

func indexShape(in []shape.Spec, a Attrs) ([]int, error) {
	_, out, err := advancedOf("index", in[0], in[1:], a)
	return out, err
}

func indexPutShape(in []shape.Spec, a Attrs) ([]int, error) {
	_, out, err := advancedOf("index_put", in[0], in[2:], a)
	if err != nil {
		return nil, err
	}
	v := in[1].Dims
	for len(v) > len(out) && v[0] == 1 {
		v = v[1:]
	}
	if d, ok := shape.Broadcast(v, out); !ok || !shape.EqualDims(d, out) {
		return nil, &shape.MismatchError{Op: "index_put", Left: in[1], Right: shape.Spec{DType: in[0].DType, Dims: out}, Axis: -1, Why: "the values do not broadcast to the indexed part"}
	}
	return in[0].Dims, nil
}

func putShape(in []shape.Spec, _ Attrs) ([]int, error) {
	if in[1].Size() != in[2].Size() {
		return nil, &shape.MismatchError{Op: "put", Left: in[1], Right: in[2], Axis: -1, Why: fmt.Sprintf("%d positions and %d values", in[1].Size(), in[2].Size())}
	}
	return in[0].Dims, nil
}

func scatterShape(name string) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x, idx := in[0], in[1]
		dim, err := shape.Axis(name, a.Int("dim"), x.Rank())
		if err != nil {
			return nil, err
		}
		if idx.Size() == 0 {
			return x.Dims, nil
		}
		if err := sameRank(name, "index", x, idx); err != nil {
			return nil, err
		}
		if err := withinOthers(name, x, idx, dim); err != nil {
			return nil, err
		}
		if len(in) > 2 {
			src := in[2]
			if err := sameRank(name, "src", x, src); err != nil {
				return nil, err
			}
			for i, n := range idx.Dims {
				if src.Rank() == idx.Rank() && n > src.Dims[i] {
					return nil, &shape.MismatchError{Op: name, Left: idx, Right: src, Axis: i, Why: fmt.Sprintf("the index has %d positions on axis %d, the source %d", n, i, src.Dims[i])}
				}
			}
		}
		return x.Dims, nil
	}
}

// wantReduction refuses an unknown value of the attribute reduce.
func wantReduction(name string, a Attrs, known ...string) error {
	r := a.Str("reduce")
	if !slices.Contains(known, r) {
		return &shape.ArgumentError{Op: name, Arg: "reduce", Value: r, Why: fmt.Sprintf("it is none of %v", known)}
	}
	return nil
}

func scatterReduceShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := wantReduction("scatter_reduce", a, "sum", "prod", "mean", "amax", "amin"); err != nil {
		return nil, err
	}
	return scatterShape("scatter_reduce")(in, a)
}

func indexReduceShape(in []shape.Spec, a Attrs) ([]int, error) {
	if err := wantReduction("index_reduce", a, "prod", "mean", "amax", "amin"); err != nil {
		return nil, err
	}
	return indexWriteShape("index_reduce")(in, a)
}

// indexWriteShape demands a vector of positions and a source with one slice for each.
func indexWriteShape(name string) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		x, idx, src := in[0], in[1], in[2]
		dim, err := shape.Axis(name, a.Int("dim"), x.Rank())
		if err != nil {
			return nil, err
		}
		if idx.Rank() > 1 {
			return nil, wrongRank(name, "index", idx, 0, 1)
		}
		want := slices.Clone(x.Dims)
		if len(want) > 0 && src.Rank() > 0 {
			want[dim] = idx.Size()
		}
		if x.Rank() == 1 && src.Rank() == 0 && idx.Size() == 1 {
			return x.Dims, nil
		}
		if !shape.EqualDims(want, src.Dims) {
			return nil, &shape.MismatchError{Op: name, Left: x, Right: src, Axis: dim, Why: "the source does not have the shape " + shape.FormatDims(want)}
		}
		return x.Dims, nil
	}
}

func indexFillShape(in []shape.Spec, a Attrs) ([]int, error) {
	if _, err := shape.Axis("index_fill", a.Int("dim"), in[0].Rank()); err != nil {
		return nil, err
	}
	if in[1].Rank() > 1 {
		return nil, wrongRank("index_fill", "index", in[1], 0, 1)
	}
	return in[0].Dims, nil
}

// indexFillType: the value converts to the type of the input.
func indexFillType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[2].Rank() != 0 {
		return dtype.Invalid, wrongRank("index_fill", "value", in[2], 0, 0)
	}
	return longIndexed("index_fill")(in, a)
}

// axisIndices checks the index at position i, which points into the axis "dim" of input into.
func axisIndices(i, into int) func(in []shape.Spec, a Attrs) []IndexCheck {
	return func(in []shape.Spec, a Attrs) []IndexCheck {
		x := in[into]
		dim, n := axisOf(a.Int("dim"), x.Rank()), 1
		if x.Rank() > 0 {
			n = x.Dims[dim]
		}
		return []IndexCheck{{Index: i, Into: into, Axis: dim, Lo: 0, Hi: int64(n) - 1}}
	}
}

// fillIndices is axisIndices for positions that may count from the end.
func fillIndices(in []shape.Spec, a Attrs) []IndexCheck {
	c := axisIndices(1, 0)(in, a)
	c[0].Lo = -c[0].Hi - 1
	return c
}

// flatIndices checks an index into the flattened first input, which may count from the end.
func flatIndices(in []shape.Spec, _ Attrs) []IndexCheck {
	n := int64(in[0].Size())
	return []IndexCheck{{Index: 1, Into: 0, Axis: Flat, Lo: -n, Hi: n - 1}}
}

func takeAlongIndices(in []shape.Spec, a Attrs) []IndexCheck {
	if a.Int("dim") == kernel.FlatDim {
		n := int64(in[0].Size())
		return []IndexCheck{{Index: 1, Into: 0, Axis: 0, Lo: 0, Hi: n - 1}}
	}
	return axisIndices(1, 0)(in, a)
}

func embeddingIndices(in []shape.Spec, _ Attrs) []IndexCheck {
	return []IndexCheck{{Index: 0, Into: 1, Axis: 0, Lo: 0, Hi: int64(in[1].Dims[0]) - 1}}
}

func oneHotIndices(_ []shape.Spec, a Attrs) []IndexCheck {
	return []IndexCheck{{Index: 0, Into: -1, Lo: 0, Hi: int64(a.Int("num_classes")) - 1}}
}

// indexIndices checks all index tensors, which begin at input first and may count from the end.
func indexIndices(first int) func(in []shape.Spec, a Attrs) []IndexCheck {
	return func(in []shape.Spec, a Attrs) []IndexCheck {
		at := a.Ints("dims")
		if at == nil {
			at = span(0, len(in)-first)
		}
		var out []IndexCheck
		for k, d := range at {
			n := int64(in[0].Dims[d])
			out = append(out, IndexCheck{Index: first + k, Into: 0, Axis: d, Lo: -n, Hi: n - 1})
		}
		return out
	}
}
