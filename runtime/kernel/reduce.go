package kernel

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// accum is a type that reductions, scans and sorts compute in: float32 for
// floats of 32 bits and fewer, float64 for F64, int64 (wrapping) for integers
// and bools.
type accum interface{ float32 | float64 | int64 }

// computeType is the accumulator type for d, as a DType.
func computeType(d dtype.DType) dtype.DType {
	switch {
	case d == dtype.F64:
		return dtype.F64
	case d.IsFloat():
		return dtype.F32
	}
	return dtype.I64
}

// load gives the elements of a in row-major order as T. It may share a's
// memory: the result is only read.
func load[T accum](a Array) []T {
	var t T
	switch any(t).(type) {
	case float32:
		return any(Float32s(a)).([]T)
	case float64:
		return any(Float64s(a)).([]T)
	}
	return any(Int64s(a)).([]T)
}

// typeOf gives the DType of T.
func typeOf[T accum]() dtype.DType {
	var t T
	switch any(t).(type) {
	case float32:
		return dtype.F32
	case float64:
		return dtype.F64
	}
	return dtype.I64
}

// dest gives a place for the elements of out as T: out's own memory when the
// types agree, of unspecified contents. settle must be called on it.
func dest[T accum](out Array) []T {
	if out.DType == typeOf[T]() {
		return As[T](out.Buf)[:out.Size()]
	}
	return rawOf[T](out.Size())
}

// settle rounds v into out, unless it is out's own memory.
func settle[T accum](out Array, v []T) {
	if out.DType == typeOf[T]() {
		return
	}
	Convert(out, denseOf(v, out.Dims))
}

// denseOf sees v as an array.
func denseOf[T accum](v []T, dims []int) Array {
	return Array{DType: typeOf[T](), View: shape.Dense(dims), Buf: bytesOf(v)}
}

// reducedAxes gives the axes named by the attribute dim, not negative and in
// ascending order; none named means all of them.
func reducedAxes(a Attrs, rank int) []int {
	var axes []int
	switch d := a.Get("dim").(type) {
	case int:
		axes = []int{d}
	case []int:
		axes = slices.Clone(d)
	}
	if rank == 0 {
		return nil
	}
	if len(axes) == 0 {
		axes = make([]int, rank)
		for i := range axes {
			axes[i] = i
		}
		return axes
	}
	for i, x := range axes {
		if x < 0 {
			axes[i] = x + rank
		}
	}
	slices.Sort(axes)
	return axes
}

// axesLast gives a seen with the given axes (ascending) moved to the end, and
// the accum of elements of a row: the product of those axes.
func axesLast(a Array, axes []int) (v Array, n int) {
	v = a
	v.Dims, v.Strides = nil, nil
	n = 1
	for i := range a.Dims {
		if !slices.Contains(axes, i) {
			v.Dims = append(v.Dims, a.Dims[i])
			v.Strides = append(v.Strides, a.Strides[i])
		}
	}
	for _, i := range axes {
		v.Dims = append(v.Dims, a.Dims[i])
		v.Strides = append(v.Strides, a.Strides[i])
		n *= a.Dims[i]
	}
	return v, n
}

// rowGrain is how many rows of n elements are worth a goroutine.
func rowGrain(n int) int { return max(1, (1<<14)/max(n, 1)) }

// rows calls f for each row of x: the elements along axes, in row-major order,
// for each position of the other axes. Rows are only read. The row count is x
// without the axes; a row of no elements is still a row.
func rows[T accum](x Array, axes []int, f func(i int, row []T)) {
	v, n := axesLast(x, axes)
	data := load[T](v)
	count := 1
	for _, d := range v.Dims[:len(v.Dims)-len(axes)] {
		count *= d
	}
	Parallel(count, rowGrain(n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i, data[i*n:(i+1)*n])
		}
	})
}

// reduceRows sets each element of out to f of its row.
func reduceRows[T accum](x, out Array, axes []int, f func(row []T) T) {
	dst := dest[T](out)
	rows(x, axes, func(i int, row []T) { dst[i] = f(row) })
	settle(out, dst)
}

// byType runs the instance for the type that d computes in.
func byType(d dtype.DType, f32, f64, i64 func()) error {
	switch computeType(d) {
	case dtype.F32:
		f32()
	case dtype.F64:
		f64()
	default:
		i64()
	}
	return nil
}
