package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// AdvancedDims gives the result of indexing the axes at (ascending) of an
// array by index arrays of the common shape b: b stands in place of the axes
// when they are neighbours, in front otherwise. pre counts the axes before b.
func AdvancedDims(dims, at, b []int) (out []int, pre int) {
	if len(at) == 0 {
		return append(append([]int{}, b...), dims...), 0
	}
	next := true
	for i, a := range at {
		next = next && a == at[0]+i
	}
	if next {
		pre = at[0]
		out = append(append(out, dims[:pre]...), b...)
		return append(out, dims[pre+len(at):]...), pre
	}
	out = append(out, b...)
	for i, d := range dims {
		if !containsInt(at, i) {
			out = append(out, d)
		}
	}
	return out, 0
}

func containsInt(xs []int, x int) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

// An advanced is a resolved advanced index: the array seen as pre × b × post,
// where the element of index b is at offset[b] + the rest; offset -1 is outside.
type advanced struct {
	offset    []int
	pre, post shape.View // of the axes that are not indexed
}

// resolve computes where each index points. Reads clamp, writes drop.
func resolve(v shape.View, at []int, indices []Array, write bool) advanced {
	var b []int
	for _, x := range indices {
		b, _ = shape.Broadcast(b, x.Dims)
	}
	if b == nil {
		b = []int{}
	}
	a := advanced{offset: make([]int, shape.Size(b))}
	for k, x := range indices {
		n, st := v.Dims[at[k]], v.Strides[at[k]]
		for i, id := range Int64s(expanded(x, b)) {
			switch {
			case !write:
				a.offset[i] += wrapIndex(id, n) * st
			case a.offset[i] >= 0:
				if p := dropWrapped(id, n); p >= 0 {
					a.offset[i] += p * st
				} else {
					a.offset[i] = -1
				}
			}
		}
	}
	_, pre := AdvancedDims(v.Dims, at, b)
	for i, d := range v.Dims {
		switch {
		case containsInt(at, i):
		case i < pre:
			a.pre.Dims, a.pre.Strides = append(a.pre.Dims, d), append(a.pre.Strides, v.Strides[i])
		default:
			a.post.Dims, a.post.Strides = append(a.post.Dims, d), append(a.post.Strides, v.Strides[i])
		}
	}
	return a
}

func loopsOf(v shape.View) []axis {
	out := make([]axis, len(v.Dims))
	for i, d := range v.Dims {
		out[i] = axis{d, v.Strides[i], 0}
	}
	return out
}

// runs calls f with every stretch of the result: where it begins there, and
// where in the array; a stretch is the last axis of post, or one element.
func (a advanced) runs(f func(to, from, n, step int)) {
	pre, post := loopsOf(a.pre), loopsOf(a.post)
	n, step := 1, 0
	if k := len(post) - 1; k >= 0 {
		n, step, post = post[k].n, post[k].dst, post[:k]
	}
	if n == 0 {
		return
	}
	inner := loopCount(post)
	to := 0
	for p := range loopCount(pre) {
		po, _ := loopOffsets(pre, p)
		for _, o := range a.offset {
			for q := range inner {
				qo, _ := loopOffsets(post, q)
				if o >= 0 {
					f(to, po+o+qo, n, step)
				}
				to += n
			}
		}
	}
}

// advancedAxes gives the indexed axes: the attribute "dims", or the first ones.
func advancedAxes(a Attrs, n int) []int {
	if d := a.Ints("dims"); d != nil {
		return d
	}
	d := make([]int, n)
	for i := range d {
		d[i] = i
	}
	return d
}

// Index reads x at index arrays, which broadcast with each other and may count
// from the end; the attribute "dims" says which axes they index.
func Index(c *Call) error {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	at := advancedAxes(c.Attrs, len(c.In)-1)
	for _, a := range at {
		if x.Dims[a] == 0 {
			return &EmptyReadError{a, x.Dims}
		}
	}
	r := resolve(x.View, at, c.In[1:], false)
	switch out.DType.HostBytes() {
	case 1:
		indexAs[uint8](out, x, r)
	case 2:
		indexAs[uint16](out, x, r)
	case 4:
		indexAs[uint32](out, x, r)
	case 8:
		indexAs[uint64](out, x, r)
	case 16:
		indexAs[complex128](out, x, r)
	}
	return nil
}

func indexAs[T any](out, x Array, r advanced) {
	dst, src := As[T](out.Buf), As[T](x.Buf)[x.Offset:]
	r.runs(func(to, from, n, step int) {
		copyRun(dst, src, to, from, axis{n, 1, step})
	})
}

// IndexPut copies the first input and writes the second, broadcast to the
// shape Index would give, at the index arrays that follow; with "accumulate" it adds.
func IndexPut(c *Call) error {
	x, values, out := c.In[0], c.In[1], c.Out[0]
	at := advancedAxes(c.Attrs, len(c.In)-2)
	r := resolve(out.View, at, c.In[2:], true)
	var b []int
	for _, i := range c.In[2:] {
		b, _ = shape.Broadcast(b, i.Dims)
	}
	dims, _ := AdvancedDims(out.Dims, at, b)
	for len(values.Dims) > len(dims) { // leading axes of size 1
		values.View = shape.View{Dims: values.Dims[1:], Strides: values.Strides[1:], Offset: values.Offset}
	}
	values = expanded(values, dims)
	if !c.Attrs.Bool("accumulate") {
		put(out, x)
		src := Cast(values, out.DType)
		switch out.DType.HostBytes() {
		case 1:
			indexPutAs[uint8](out, src, r)
		case 2:
			indexPutAs[uint16](out, src, r)
		case 4:
			indexPutAs[uint32](out, src, r)
		case 8:
			indexPutAs[uint64](out, src, r)
		case 16:
			indexPutAs[complex128](out, src, r)
		}
		return nil
	}
	switch wideType(out.DType) {
	case dtype.F32:
		indexAddAs[float32](out, x, values, r)
	case dtype.F64:
		indexAddAs[float64](out, x, values, r)
	case dtype.C64:
		indexAddAs[complex64](out, x, values, r)
	case dtype.C128:
		indexAddAs[complex128](out, x, values, r)
	default:
		indexAddAs[int64](out, x, values, r)
	}
	return nil
}

func indexPutAs[T any](out, src Array, r advanced) {
	dst, from := As[T](out.Buf), As[T](src.Buf)[src.Offset:]
	r.runs(func(at, to, n, step int) {
		copyRun(dst, from, to, at, axis{n, step, 1})
	})
}

func indexAddAs[T factor](out, x, values Array, r advanced) {
	res := wideResult[T](out)
	copy(res, wideElems[T](x))
	src := wideElems[T](values)
	r.runs(func(at, to, n, step int) {
		for _, v := range src[at : at+n] {
			res[to] += v
			to += step
		}
	})
	storeWide(out, res)
}
