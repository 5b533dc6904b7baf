package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Scatter copies the first input and writes the source (third input) at
// out[idx[i,j,..],j,..], the index on the axis "dim". Where two sources meet,
// the last in row-major order stays.
func Scatter(c *Call) error {
	put(c.Out[0], c.In[0])
	scatterAll(c.Out[0], c.In[1], Cast(c.In[2], c.Out[0].DType), c.Attrs.Int("dim"))
	return nil
}

// ScatterValue is Scatter of one Go number, the attribute "value".
func ScatterValue(c *Call) error {
	out := c.Out[0]
	put(out, c.In[0])
	one := New(shape.Spec{DType: out.DType})
	fillAll(one, c.Attrs.Get("value"))
	idx := c.In[1]
	one.View = shape.View{Dims: idx.Dims, Strides: make([]int, len(idx.Dims))}
	scatterAll(out, idx, one, c.Attrs.Int("dim"))
	return nil
}

func scatterAll(out, idx, src Array, dim int) {
	switch out.DType.HostBytes() {
	case 1:
		scatterInto[uint8](out, idx, src, dim)
	case 2:
		scatterInto[uint16](out, idx, src, dim)
	case 4:
		scatterInto[uint32](out, idx, src, dim)
	case 8:
		scatterInto[uint64](out, idx, src, dim)
	case 16:
		scatterInto[complex128](out, idx, src, dim)
	}
}

func scatterInto[T any](out, idx, src Array, dim int) {
	dst, from := As[T](out.Buf), As[T](src.Buf)
	eachTarget(out, idx, src.View, dim, func(to, at int) { dst[to] = from[at] })
}

// eachTarget calls f with the position of the target and of the source for
// every index, in row-major order of the index; those outside are left out.
func eachTarget(out, idx Array, src shape.View, dim int, f func(to, from int)) {
	ids := Int64s(idx)
	st := shape.RowMajor(out.Dims)
	if len(out.Dims) == 0 {
		for i, k := range ids {
			if dropIndex(k, 1) == 0 {
				at := src.Offset
				if len(src.Dims) == 1 {
					at += i * src.Strides[0]
				}
				f(0, at)
			}
		}
		return
	}
	if len(idx.Dims) == 0 { // a 0-d index writes one element of a vector
		if k := dropIndex(ids[0], out.Dims[0]); k >= 0 {
			f(k, src.Offset)
		}
		return
	}
	if dim < 0 {
		dim += len(out.Dims)
	}
	pos := make([]int, len(idx.Dims))
	for _, id := range ids {
		k := dropIndex(id, out.Dims[dim])
		if k >= 0 {
			to, from := 0, src.Offset
			for d, p := range pos {
				from += p * src.Strides[d]
				if d == dim {
					p = k
				}
				to += p * st[d]
			}
			f(to, from)
		}
		for d := len(pos) - 1; d >= 0; d-- {
			if pos[d]++; pos[d] < idx.Dims[d] {
				break
			}
			pos[d] = 0
		}
	}
}

// A reducer says how scattered elements combine.
type reducer uint8

const (
	sumUp reducer = iota
	multiplyUp
	averageUp
	largest
	smallest
)

// reducerOf gives the reducer of a value of the attribute "reduce".
func reducerOf(name string) reducer {
	switch name {
	case "prod", "multiply":
		return multiplyUp
	case "mean":
		return averageUp
	case "amax":
		return largest
	case "amin":
		return smallest
	}
	return sumUp
}

// ScatterAdd is Scatter that adds, in f32 or wider, with one rounding at the end.
func ScatterAdd(c *Call) error {
	return reduceWide(c, c.In[1], c.In[2], c.Attrs.Int("dim"), sumUp, true)
}

// ScatterReduce is Scatter that combines by the attribute "reduce"; with
// "include_self" false, an element that is written does not count itself.
func ScatterReduce(c *Call) error {
	return reduceWide(c, c.In[1], c.In[2], c.Attrs.Int("dim"), reducerOf(c.Attrs.Str("reduce")), c.Attrs.Bool("include_self"))
}

// IndexReduce is ScatterReduce of whole slices: the index has one axis.
func IndexReduce(c *Call) error {
	idx, src := c.In[1], c.In[2]
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += max(len(src.Dims), 1)
	}
	return reduceWide(c, alongAxis(idx, src.Dims, dim), src, dim, reducerOf(c.Attrs.Str("reduce")), c.Attrs.Bool("include_self"))
}

// alongAxis sees a vector of indices as an index for every element of dims, the same along all axes but one.
func alongAxis(idx Array, dims []int, axis int) Array {
	v := shape.View{Dims: dims, Strides: make([]int, len(dims)), Offset: idx.Offset}
	if len(dims) > 0 && len(idx.Dims) > 0 {
		v.Strides[axis] = idx.Strides[0]
	}
	idx.View = v
	return idx
}

func reduceWide(c *Call, idx, src Array, dim int, how reducer, self bool) error {
	switch wideType(c.Out[0].DType) {
	case dtype.F32:
		reduceInto[float32](c, idx, src, dim, how, self)
	case dtype.F64:
		reduceInto[float64](c, idx, src, dim, how, self)
	case dtype.C64:
		reduceComplex[complex64](c, idx, src, dim)
	case dtype.C128:
		reduceComplex[complex128](c, idx, src, dim)
	default:
		reduceInto[int64](c, idx, src, dim, how, self)
	}
	return nil
}

func reduceComplex[T factor](c *Call, idx, src Array, dim int) {
	out := c.Out[0]
	res := wideResult[T](out)
	copy(res, wideElems[T](c.In[0]))
	from := wideElems[T](src)
	eachTarget(out, idx, shape.Dense(src.Dims), dim, func(to, at int) { res[to] += from[at] })
	storeWide(out, res)
}

func reduceInto[T float32 | float64 | int64](c *Call, idx, src Array, dim int, how reducer, self bool) {
	out := c.Out[0]
	res := wideResult[T](out)
	copy(res, wideElems[T](c.In[0]))
	from := wideElems[T](src)
	var count []int32
	if how == averageUp || !self {
		count = make([]int32, len(res))
	}
	eachTarget(out, idx, shape.Dense(src.Dims), dim, func(to, at int) {
		x := from[at]
		if count != nil {
			count[to]++
			if !self && count[to] == 1 {
				res[to] = x
				return
			}
		}
		y := res[to]
		switch how {
		case sumUp, averageUp:
			y += x
		case multiplyUp:
			y *= x
		case largest:
			if x > y || x != x {
				y = x
			}
		case smallest:
			if x < y || x != x {
				y = x
			}
		}
		res[to] = y
	})
	if how == averageUp {
		for i, n := range count {
			if self && n > 0 {
				n++
			}
			if n > 1 {
				res[i] = divideFloor(res[i], T(n))
			}
		}
	}
	storeWide(out, res)
}

// divideFloor divides; integers round down.
func divideFloor[T float32 | float64 | int64](x, n T) T {
	q := x / n
	if _, ok := any(q).(int64); ok && q*n > x {
		q--
	}
	return q
}

// IndexAdd adds alpha times the slices of the source at the positions of a vector of indices.
func IndexAdd(c *Call) error {
	dim := c.Attrs.Int("dim")
	src := c.In[2]
	if dim < 0 {
		dim += max(len(src.Dims), 1)
	}
	if alpha := c.Attrs.Get("alpha"); alpha != nil && numberOf(alpha) != 1 {
		wide := New(shape.Spec{DType: wideType(src.DType), Dims: src.Dims})
		Convert(wide, src)
		switch wide.DType {
		case dtype.F32:
			scaleBy(As[float32](wide.Buf), numberOf(alpha))
		case dtype.F64:
			scaleBy(As[float64](wide.Buf), numberOf(alpha))
		case dtype.C64:
			scaleBy(As[complex64](wide.Buf), numberOf(alpha))
		case dtype.C128:
			scaleBy(As[complex128](wide.Buf), numberOf(alpha))
		default:
			scaleBy(As[int64](wide.Buf), numberOf(alpha))
		}
		src = wide
	}
	switch wideType(c.Out[0].DType) {
	case dtype.F32:
		addSlices[float32](c, src, dim)
	case dtype.F64:
		addSlices[float64](c, src, dim)
	case dtype.C64:
		addSlices[complex64](c, src, dim)
	case dtype.C128:
		addSlices[complex128](c, src, dim)
	default:
		addSlices[int64](c, src, dim)
	}
	return nil
}

func scaleBy[T factor](xs []T, a float64) {
	k := scalarOf[T](a)
	for i := range xs {
		xs[i] *= k
	}
}

// numberOf gives a Go number of any kind as a float64.
func numberOf(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// IndexCopy replaces the slices at the positions of a vector of indices by those of the source.
func IndexCopy(c *Call) error {
	out, src := c.Out[0], Cast(c.In[2], c.Out[0].DType)
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += max(len(out.Dims), 1)
	}
	put(out, c.In[0])
	scatterAll(out, alongAxis(c.In[1], src.Dims, dim), src, dim)
	return nil
}

// IndexFill sets the slices at the positions of a vector of indices to the
// third input, a scalar. They may count from the end.
func IndexFill(c *Call) error {
	x, idx, out := c.In[0], c.In[1], c.Out[0]
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += max(len(out.Dims), 1)
	}
	put(out, x)
	one := Cast(c.In[2], out.DType)
	dims := append([]int{}, out.Dims...)
	n := 1
	if len(dims) > 0 {
		n, dims[dim] = dims[dim], idx.Size()
	}
	idx = wrapped(idx, n)
	one.View = shape.View{Dims: dims, Strides: make([]int, len(dims)), Offset: one.Offset}
	scatterAll(out, alongAxis(idx, dims, dim), one, dim)
	return nil
}

// Put writes the source into the flattened input at every index, which may
// count from the end; with "accumulate" it adds.
func Put(c *Call) error {
	out := c.Out[0]
	flat := Call{In: []Array{flattened(c.In[0])}, Out: []Array{out}, Attrs: c.Attrs}
	flat.Out[0].View = shape.Dense([]int{out.Size()})
	src := flattened(c.In[2])
	idx := wrapped(c.In[1], out.Size())
	if c.Attrs.Bool("accumulate") {
		return reduceWide(&flat, idx, src, 0, sumUp, true)
	}
	put(out, c.In[0])
	scatterAll(flat.Out[0], idx, Cast(src, out.DType), 0)
	return nil
}

// wrapped gives flattened indices with those that count from the end made positive.
func wrapped(idx Array, n int) Array {
	ids := append([]int64{}, Int64s(idx)...)
	for i, k := range ids {
		if k < 0 {
			ids[i] = k + int64(n)
		}
	}
	return Array{DType: dtype.I64, View: shape.Dense([]int{len(ids)}), Buf: bytesOf(ids)}
}
