package stablehlo

import (
	"slices"

	"github.com/tpush/tpush/runtime/shape"
)

// A Window moves over every axis of an array. Nil lists are the neutral ones.
type Window struct {
	Dims                           []int
	Strides                        []int
	BaseDilations, WindowDilations []int
	Padding                        [][2]int
}

func (v Window) filled() Window {
	n := len(v.Dims)
	v.Strides, v.BaseDilations, v.WindowDilations = fill(v.Strides, n, 1), fill(v.BaseDilations, n, 1), fill(v.WindowDilations, n, 1)
	if v.Padding == nil {
		v.Padding = make([][2]int, n)
	}
	return v
}

// ReduceWindow reduces every window with the StableHLO op body from the
// initial value init, which padding counts as too.
func (w *Writer) ReduceWindow(body string, x Value, init float64, v Window) Value {
	z := w.Splat(shape.Spec{DType: x.Spec.DType}, init)
	return w.ReduceWindowRegion([]Value{x}, []Value{z}, v, Binary(body))[0]
}

// ReduceWindowRegion is ReduceWindow of several operands of one shape with a
// region of its own: (a1, …, an, x1, …, xn) → n scalars.
func (w *Writer) ReduceWindowRegion(xs, inits []Value, v Window, r Region) []Value {
	v = v.filled()
	dims := make([]int, len(v.Dims))
	for i, d := range xs[0].Spec.Dims {
		dims[i] = windowed(d, v.Dims[i], v.Strides[i], v.BaseDilations[i], v.WindowDilations[i], v.Padding[i])
	}
	out := scalars(xs)
	for i := range out {
		out[i].Dims = dims
	}
	return w.Op("stablehlo.reduce_window", slices.Concat(xs, inits), out, list(
		"base_dilations = "+I64s(v.BaseDilations),
		"padding = "+pairs(v.Padding),
		"window_dilations = "+I64s(v.WindowDilations),
		"window_dimensions = "+I64s(v.Dims),
		"window_strides = "+I64s(v.Strides),
	), region(slices.Concat(scalars(inits), scalars(xs)), r))
}

// SelectAndScatter gives every element of source to the element of x that its
// window selects (dir GE: the first largest, LE: the first smallest), and
// combines what comes to one element with the op scatter, from init. It is
// the gradient of pooling; Dims, Strides and Padding of the window count.
func (w *Writer) SelectAndScatter(x, source Value, init float64, v Window, dir, scatter string) Value {
	v = v.filled()
	elem := scalars([]Value{x, x})
	z := w.Splat(elem[0], init)
	return w.Op("stablehlo.select_and_scatter", []Value{x, source, z}, []shape.Spec{x.Spec}, list(
		"padding = "+pairs(v.Padding),
		"window_dimensions = "+I64s(v.Dims),
		"window_strides = "+I64s(v.Strides),
	), region(elem, func(w *Writer, a []Value) []Value { return []Value{w.Compare(dir, a[0], a[1])} }),
		region(elem, Binary(scatter)))[0]
}
