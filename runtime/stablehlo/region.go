package stablehlo

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A Region writes the body of a region: it gets the block arguments and gives
// the values to return.
type Region func(w *Writer, args []Value) []Value

// region makes the function Op wants: a block with the given arguments, ended by a return.
func region(args []shape.Spec, r Region) func(*Writer) {
	return func(w *Writer) {
		vs := make([]Value, len(args))
		for i, s := range args {
			vs[i] = w.Fresh(s)
		}
		if len(vs) > 0 {
			w.Block(vs...)
		}
		w.Return(r(w, vs)...)
	}
}

// Binary is the region of two scalars that a StableHLO op of two operands
// combines: add, maximum. "" gives the second, as a plain scatter wants.
func Binary(name string) Region {
	return func(w *Writer, args []Value) []Value {
		if name == "" {
			return args[1:2]
		}
		return []Value{w.Do(name, args[0].Spec, "", args[0], args[1])}
	}
}

// without drops the given axes.
func without(dims, axes []int) []int {
	var out []int
	for i, d := range dims {
		if !slices.Contains(axes, i) {
			out = append(out, d)
		}
	}
	return out
}

// Reduce writes reduce over axes with the StableHLO op body (add, maximum, …)
// and the initial value init. The axes are dropped.
func (w *Writer) Reduce(body string, x Value, axes []int, init float64) Value {
	z := w.Splat(shape.Spec{DType: x.Spec.DType}, init)
	return w.ReduceRegion([]Value{x}, []Value{z}, axes, Binary(body))[0]
}

// ReduceRegion writes reduce of several operands of one shape over axes. The
// region gets the accumulators, then the elements: (a1, …, an, x1, …, xn) → n scalars.
func (w *Writer) ReduceRegion(xs, inits []Value, axes []int, r Region) []Value {
	out := scalars(xs)
	for i := range out {
		out[i].Dims = without(xs[0].Spec.Dims, axes)
	}
	return w.Op("stablehlo.reduce", slices.Concat(xs, inits), out, "dimensions = "+I64s(axes),
		region(slices.Concat(scalars(inits), scalars(xs)), r))
}

// ArgReduce writes the largest element along axis and its position, or the
// smallest: NaN wins, and among equals the first. index is the type of the position.
func (w *Writer) ArgReduce(x Value, axis int, largest bool, index dtype.DType) (value, at Value) {
	dir := "LT"
	if largest {
		dir = "GT"
	}
	init := w.Splat(shape.Spec{DType: x.Spec.DType}, Identity(x.Spec.DType, largest))
	zero := w.Splat(shape.Spec{DType: index}, 0)
	pos := w.Iota(shape.Spec{DType: index, Dims: x.Spec.Dims}, axis)
	out := w.ReduceRegion([]Value{x, pos}, []Value{init, zero}, []int{axis}, func(w *Writer, a []Value) []Value {
		b := shape.Spec{DType: dtype.Bool}
		v, i, u, j := a[0], a[1], a[2], a[3]
		better := w.Compare(dir, v, u)
		if v.Spec.DType.IsFloat() {
			better = w.Do("or", b, "", better, w.Compare("NE", v, v))
		}
		first := w.Do("and", b, "", w.Compare("EQ", v, u), w.Compare("LT", i, j))
		if v.Spec.DType.IsFloat() { // both NaN: the first, and not the one that came last
			nan := w.Do("and", b, "", w.Compare("NE", v, v), w.Compare("NE", u, u))
			later := w.Do("and", b, "", nan, w.Compare("GT", i, j))
			better = w.Do("and", b, "", better, w.Do("not", b, "", later))
		}
		take := w.Do("or", b, "", better, first)
		return []Value{w.Select(better, v, u), w.Select(take, i, j)}
	})
	return out[0], out[1]
}

// Identity is the value that the largest (or smallest) of it and x is x for:
// -Inf, or the lowest value of a type without it.
func Identity(t dtype.DType, largest bool) float64 {
	if largest {
		return -inf(t, -t.Lowest())
	}
	return inf(t, t.Max())
}

// inf is infinity where t has it, else the given bound.
func inf(t dtype.DType, bound float64) float64 {
	if f, ok := t.Format(); ok && f.Special == dtype.IEEE {
		return math.Inf(1)
	}
	return bound
}
