package stablehlo

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Sort writes sort of several arrays of one shape along axis by the first. It
// is stable. NaN is the largest of all, and 0 and -0 are equal, as in PyTorch:
// ascending puts NaN last, descending first.
func (w *Writer) Sort(xs []Value, axis int, descending bool) []Value {
	dir := "LT"
	if descending {
		dir = "GT"
	}
	return w.SortRegion(xs, axis, true, func(w *Writer, a []Value) []Value {
		if !a[0].Spec.DType.IsFloat() {
			return []Value{w.Compare(dir, a[0], a[1])}
		}
		return []Value{w.CompareTotal(dir, w.sortKey(a[0]), w.sortKey(a[1]))}
	})
}

// sortKey gives x with one zero and one NaN, so that the total order is PyTorch's.
func (w *Writer) sortKey(x Value) Value {
	zero := w.Splat(x.Spec, 0)
	x = w.Select(w.Compare("EQ", x, zero), zero, x)
	if f, ok := x.Spec.DType.Format(); ok && f.Special == dtype.Finite {
		return x
	}
	return w.Select(w.Compare("NE", x, x), w.constant(x.Spec, LiteralBits(x.Spec.DType, nan(x.Spec.DType))), x)
}

// nan is the positive quiet NaN of a type.
func nan(t dtype.DType) uint64 {
	if t == dtype.F64 {
		return 0x7ff8000000000000
	}
	f, _ := t.Format()
	return f.Encode(math.NaN(), dtype.Overflows)
}

// SortRegion writes sort with a comparator of its own, which gets the pair of
// every array: (a1, b1, a2, b2, …) → bool, true when the first goes before the second.
func (w *Writer) SortRegion(xs []Value, axis int, stable bool, r Region) []Value {
	var args []shape.Spec
	for _, s := range scalars(xs) {
		args = append(args, s, s)
	}
	return w.Op("stablehlo.sort", xs, specs(xs), fmt.Sprintf("dimension = %d : i64, is_stable = %t", axis, stable), region(args, r))
}

// SortIndex sorts x along axis and gives the values and the positions they had, of type index.
func (w *Writer) SortIndex(x Value, axis int, descending bool, index dtype.DType) (values, at Value) {
	out := w.Sort([]Value{x, w.Iota(shape.Spec{DType: index, Dims: x.Spec.Dims}, axis)}, axis, descending)
	return out[0], out[1]
}
