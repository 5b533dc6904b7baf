package stablehlo

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Slice writes slice: start, start+stride, … below limit on every axis. nil strides are ones.
func (w *Writer) Slice(x Value, start, limit, strides []int) Value {
	strides = fill(strides, len(start), 1)
	dims := make([]int, len(start))
	for i := range dims {
		dims[i] = max(limit[i]-start[i]+strides[i]-1, 0) / strides[i]
	}
	return w.Do("slice", like(x, dims),
		"limit_indices = "+I64s(limit)+", start_indices = "+I64s(start)+", strides = "+I64s(strides), x)
}

// SliceAxis slices one axis and keeps the others; nothing when nothing is cut off.
func (w *Writer) SliceAxis(x Value, axis, start, limit, stride int) Value {
	if start == 0 && limit == x.Spec.Dims[axis] && stride == 1 {
		return x
	}
	from, to, by := fill(nil, len(x.Spec.Dims), 0), append([]int(nil), x.Spec.Dims...), fill(nil, len(x.Spec.Dims), 1)
	from[axis], to[axis], by[axis] = start, limit, stride
	return w.Slice(x, from, to, by)
}

// Concatenate joins values along axis; a single one is given back.
func (w *Writer) Concatenate(axis int, xs ...Value) Value {
	if len(xs) == 1 {
		return xs[0]
	}
	dims := append([]int(nil), xs[0].Spec.Dims...)
	for _, x := range xs[1:] {
		dims[axis] += x.Spec.Dims[axis]
	}
	return w.Op("stablehlo.concatenate", xs, []shape.Spec{like(xs[0], dims)}, fmt.Sprintf("dimension = %d : i64", axis))[0]
}

// Pad surrounds x with the scalar v: low before, high after, interior between
// neighbours, on every axis. Negative low and high cut. nil is zeros.
func (w *Writer) Pad(x, v Value, low, high, interior []int) Value {
	n := len(x.Spec.Dims)
	low, high, interior = fill(low, n, 0), fill(high, n, 0), fill(interior, n, 0)
	dims := make([]int, n)
	for i, d := range x.Spec.Dims {
		dims[i] = low[i] + d + max(d-1, 0)*interior[i] + high[i]
	}
	return w.Do("pad", like(x, dims),
		"edge_padding_high = "+I64s(high)+", edge_padding_low = "+I64s(low)+", interior_padding = "+I64s(interior), x, v)
}

// Reverse turns axes around.
func (w *Writer) Reverse(x Value, axes []int) Value {
	return w.Do("reverse", x.Spec, "dimensions = "+I64s(axes), x)
}

// DynamicSlice takes sizes elements from the positions given by one scalar for
// each axis. A start that would leave x is moved back inside.
func (w *Writer) DynamicSlice(x Value, starts []Value, sizes []int) Value {
	return w.Do("dynamic_slice", like(x, sizes), "slice_sizes = "+I64s(sizes), append([]Value{x}, starts...)...)
}

// DynamicUpdateSlice replaces the part of x that begins at starts by u.
func (w *Writer) DynamicUpdateSlice(x, u Value, starts []Value) Value {
	return w.Do("dynamic_update_slice", x.Spec, "", append([]Value{x, u}, starts...)...)
}

// BitcastConvert reads the bits of x as type t. A narrower type adds a last
// axis, a wider one takes the last axis up.
func (w *Writer) BitcastConvert(x Value, t dtype.DType) Value {
	from, to := x.Spec.DType.Bits(), t.Bits()
	if x.Spec.DType == dtype.Bool {
		from = 1
	}
	dims := append([]int(nil), x.Spec.Dims...)
	switch {
	case from > to:
		dims = append(dims, from/to)
	case from < to && len(dims) > 0:
		dims = dims[:len(dims)-1]
	}
	return w.Do("bitcast_convert", shape.Spec{DType: t, Dims: dims}, "", x)
}

// Clamp writes clamp(lo, x, hi); lo and hi are scalars or of the shape of x.
func (w *Writer) Clamp(lo, x, hi Value) Value { return w.Do("clamp", x.Spec, "", lo, x, hi) }

// Full writes a splat of the shape of x.
func (w *Writer) Full(x Value, v float64) Value { return w.Splat(x.Spec, v) }

// ReducePrecision rounds floats to fewer bits and keeps their type.
func (w *Writer) ReducePrecision(x Value, exponent, mantissa int) Value {
	return w.Do("reduce_precision", x.Spec, fmt.Sprintf("exponent_bits = %d : i32, mantissa_bits = %d : i32", exponent, mantissa), x)
}

// CHLO writes a function of the client dialect that XLA expands: erf, erf_inv, lgamma, digamma.
func (w *Writer) CHLO(name string, out shape.Spec, in ...Value) Value {
	return w.Op("chlo."+name, in, []shape.Spec{out}, "")[0]
}

// FFT writes fft over the last len(lengths) axes. kind is FFT, IFFT, RFFT or IRFFT.
func (w *Writer) FFT(x Value, kind string, lengths []int) Value {
	dims := append([]int(nil), x.Spec.Dims...)
	t := x.Spec.DType
	last := lengths[len(lengths)-1]
	switch kind {
	case "RFFT":
		dims[len(dims)-1], t = last/2+1, dtype.C64
	case "IRFFT":
		dims[len(dims)-1], t = last, dtype.F32
	}
	return w.Do("fft", shape.Spec{DType: t, Dims: dims}, "fft_length = "+I64s(lengths)+", fft_type = #stablehlo<fft_type "+kind+">", x)
}

// Cholesky writes cholesky; the other triangle of the result is unspecified.
func (w *Writer) Cholesky(x Value, lower bool) Value {
	return w.Do("cholesky", x.Spec, fmt.Sprintf("lower = %t", lower), x)
}

// TriangularSolve solves a·y = b (left) or y·a = b for y.
func (w *Writer) TriangularSolve(a, b Value, left, lower, unit, transpose bool) Value {
	t := "NO_TRANSPOSE"
	if transpose {
		t = "TRANSPOSE"
	}
	return w.Do("triangular_solve", b.Spec,
		fmt.Sprintf("left_side = %t, lower = %t, transpose_a = #stablehlo<transpose %s>, unit_diagonal = %t", left, lower, t, unit), a, b)
}
