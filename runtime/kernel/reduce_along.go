package kernel

import "github.com/tpush/tpush/runtime/shape"

// unmove gives the view of a dense result whose axes were moved to the end by
// axesLast, seen again in the order of dims.
func unmove(dims, axes []int) shape.View {
	moved := make([]int, 0, len(dims))
	isAxis := make([]bool, len(dims))
	for _, a := range axes {
		isAxis[a] = true
	}
	order := make([]int, 0, len(dims))
	for i := range dims {
		if !isAxis[i] {
			order = append(order, i)
		}
	}
	order = append(order, axes...)
	for _, i := range order {
		moved = append(moved, dims[i])
	}
	st := shape.RowMajor(moved)
	v := shape.View{Dims: dims, Strides: make([]int, len(dims))}
	for k, i := range order {
		v.Strides[i] = st[k]
	}
	return v
}

// writeRows gives a place for rows along axes of out as T, and a function that
// puts them where they belong.
func writeRows[T accum](out Array, axes []int) (data []T, done func()) {
	v := unmove(out.Dims, axes)
	if out.DType == typeOf[T]() && v.Contiguous() {
		return As[T](out.Buf)[:out.Size()], func() {}
	}
	data = rawOf[T](out.Size())
	return data, func() { Convert(out, Array{DType: typeOf[T](), View: v, Buf: bytesOf(data)}) }
}

// mapRows calls f for each row of x and the row of the same shape of out.
func mapRows[T accum](x, out Array, axes []int, f func(x, y []T)) {
	data, done := writeRows[T](out, axes)
	rows(x, axes, func(i int, row []T) { f(row, data[i*len(row):(i+1)*len(row)]) })
	done()
}

// mapRows2 is mapRows for two inputs of one shape.
func mapRows2[T accum](x, v, out Array, axes []int, f func(x, v, y []T)) {
	data, done := writeRows[T](out, axes)
	moved, n := axesLast(v, axes)
	vs := load[T](moved)
	rows(x, axes, func(i int, row []T) { f(row, vs[i*n:(i+1)*n], data[i*n:(i+1)*n]) })
	done()
}

// alongAxes is mapRows computed in float64 whatever the types are, alongAxes2 the same for two inputs.
func alongAxes(x, out Array, axes []int, f func(x, y []float64)) error {
	mapRows(x, out, axes, f)
	return nil
}

func alongAxes2(x, v, out Array, axes []int, f func(x, v, y []float64)) error {
	mapRows2(x, v, out, axes, f)
	return nil
}
