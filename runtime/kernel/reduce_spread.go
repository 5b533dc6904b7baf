package kernel

import "github.com/tpush/tpush/runtime/shape"

// denseView is the row-major view of dims.
func denseView(dims []int) shape.View { return shape.Dense(dims) }

// spread sees a stretched to dims by numpy's rule: stretched axes have stride 0.
func spread(a Array, dims []int) Array {
	v := shape.View{Dims: dims, Strides: make([]int, len(dims)), Offset: a.Offset}
	skip := len(dims) - len(a.Dims)
	for i, d := range a.Dims {
		if d != 1 {
			v.Strides[skip+i] = a.Strides[i]
		}
	}
	a.View = v
	return a
}

// broadcastPair gives the elements of two arrays at their common shape.
func broadcastPair(a, b Array) (x, y []float64) {
	dims, _ := shape.Broadcast(a.Dims, b.Dims)
	return Float64s(spread(a, dims)), Float64s(spread(b, dims))
}

// commonDims gives the broadcast shape of the valid arrays.
func commonDims(in []Array) []int {
	var dims []int
	for i, a := range in {
		if i == 0 {
			dims = a.Dims
		} else if a.Valid() {
			dims, _ = shape.Broadcast(dims, a.Dims)
		}
	}
	return dims
}
