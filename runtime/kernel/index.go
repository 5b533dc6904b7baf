package kernel

import (
	"fmt"

	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// The rules for positions outside an axis are the TPU's: a read takes the
// nearest position inside, a write is dropped.

// nearIndex moves a position that is read to the nearest one of an axis of size n.
func nearIndex(i int64, n int) int { return int(min(max(i, 0), int64(n)-1)) }

// wrapIndex is nearIndex for operations whose positions may count from the end.
func wrapIndex(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	return nearIndex(i, n)
}

// dropIndex gives a position that is written, -1 when it is outside.
func dropIndex(i int64, n int) int {
	if i < 0 || i >= int64(n) {
		return -1
	}
	return int(i)
}

// dropWrapped is dropIndex for operations whose positions may count from the end.
func dropWrapped(i int64, n int) int {
	if i < 0 {
		i += int64(n)
	}
	return dropIndex(i, n)
}

// EmptyReadError says that a position was to be read from an axis without any.
type EmptyReadError struct {
	Axis int
	Dims []int
}

// Error is one line.
func (e *EmptyReadError) Error() string {
	return fmt.Sprintf("read from axis %d of %s, which is empty", e.Axis, shape.FormatDims(e.Dims))
}

// IndexSelect copies the positions of the second input, which has one axis or
// none, from the axis "dim".
func IndexSelect(c *Call) error {
	x, out := c.In[0], c.Out[0]
	if len(x.Dims) == 0 {
		Copy(Array{DType: out.DType, Buf: out.Buf, View: shape.Dense(nil)}, x)
		return nil
	}
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += len(x.Dims)
	}
	return selectRows(out, x, Int64s(c.In[1]), dim)
}

// Embedding copies rows of the table: indices [..] and weight [v,d] → [..,d].
func Embedding(c *Call) error { return selectRows(c.Out[0], c.In[1], Int64s(c.In[0]), 0) }

// selectRows copies x[.., idx[i], ..] for every i; out is x with len(idx) positions on the axis.
func selectRows(out, x Array, idx []int64, axis int) error {
	if out.Size() == 0 {
		return nil
	}
	n := x.Dims[axis]
	if n == 0 {
		return &EmptyReadError{axis, x.Dims}
	}
	w := out.DType.HostBytes()
	outer, inner := shape.Size(x.Dims[:axis]), shape.Size(x.Dims[axis+1:])
	x = Contiguous(x)
	row := inner * w
	src := x.Buf[x.Offset*w:]
	run := simd.RunsOf(simd.Chosen())
	past := len(out.Buf) >= pastCache
	Parallel(outer*len(idx), max(1, 1<<14/inner), func(lo, hi int) {
		var places [pickedRows + simd.RowsAhead]int
		for at := lo; at < hi; at += pickedRows {
			count := min(pickedRows, hi-at)
			for k := range count + simd.RowsAhead {
				r := min(at+k, hi-1)
				o, i := r/len(idx), r%len(idx)
				places[k] = (o*n + nearIndex(idx[i], n)) * row
			}
			run.PickRows(out.Buf[at*row:], src, row, places[:count+simd.RowsAhead], count, past)
		}
	})
	return nil
}

const (
	// pickedRows is how many rows are picked at a time.
	pickedRows = 64
	// pastCache is the size in bytes from which a result is not kept in the caches.
	pastCache = 8 << 20
)

// Gather reads out[i,j,..] = x[idx[i,j,..],j,..], the index on the axis "dim".
func Gather(c *Call) error {
	x, idx, out := c.In[0], c.In[1], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	if len(x.Dims) == 0 { // a 0-d input is one element
		x.View = shape.View{Dims: []int{1}, Strides: []int{0}, Offset: x.Offset}
		idx.View = shape.View{Dims: []int{idx.Size()}, Strides: []int{0}, Offset: idx.Offset}
		out.View = shape.Dense([]int{out.Size()})
		return gather(out, x, Int64s(idx), 0)
	}
	dim := c.Attrs.Int("dim")
	if dim < 0 {
		dim += len(x.Dims)
	}
	return gather(out, x, Int64s(idx), dim)
}

func gather(out, x Array, idx []int64, dim int) error {
	if x.Dims[dim] == 0 {
		return &EmptyReadError{dim, x.Dims}
	}
	switch out.DType.HostBytes() {
	case 1:
		gatherAs(As[uint8](out.Buf), As[uint8](x.Buf), x.View, out.Dims, idx, dim)
	case 2:
		gatherAs(As[uint16](out.Buf), As[uint16](x.Buf), x.View, out.Dims, idx, dim)
	case 4:
		gatherAs(As[uint32](out.Buf), As[uint32](x.Buf), x.View, out.Dims, idx, dim)
	case 8:
		gatherAs(As[uint64](out.Buf), As[uint64](x.Buf), x.View, out.Dims, idx, dim)
	case 16:
		gatherAs(As[complex128](out.Buf), As[complex128](x.Buf), x.View, out.Dims, idx, dim)
	}
	return nil
}

func gatherAs[T any](dst, src []T, v shape.View, dims []int, idx []int64, dim int) {
	r := len(dims)
	last := dims[r-1]
	n, st := v.Dims[dim], v.Strides[dim]
	Parallel(len(idx)/last, max(1, 1<<13/last), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			at, rest := v.Offset, o
			for d := r - 2; d >= 0; d-- {
				if d != dim {
					at += rest % dims[d] * v.Strides[d]
				}
				rest /= dims[d]
			}
			step := v.Strides[r-1]
			if dim == r-1 {
				step = 0
			}
			for j := range last {
				k := o*last + j
				dst[k] = src[at+nearIndex(idx[k], n)*st]
				at += step
			}
		}
	})
}

// TakeAlongDim is Gather with the other axes of both broadcast; without "dim",
// input and indices are flattened.
func TakeAlongDim(c *Call) error {
	x, idx, out := c.In[0], c.In[1], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	dim := c.Attrs.Int("dim")
	if dim == FlatDim {
		x, idx = flattened(x), flattened(idx)
		return gather(out, x, Int64s(idx), 0)
	}
	if dim < 0 {
		dim += len(out.Dims)
	}
	dx := append([]int{}, out.Dims...)
	dx[dim] = x.Dims[dim]
	x.View = shape.View{Dims: dx, Strides: stretch(x.Dims, x.Strides, len(dx)), Offset: x.Offset}
	idx.View = shape.View{Dims: out.Dims, Strides: stretch(idx.Dims, idx.Strides, len(dx)), Offset: idx.Offset}
	return gather(out, x, Int64s(idx), dim)
}

// flattened sees a as one axis, by a copy when its strides forbid it.
func flattened(a Array) Array {
	a = Contiguous(a)
	v := shape.Dense([]int{a.Size()})
	v.Offset = a.Offset
	a.View = v
	return a
}

// Take reads the flattened input at every index, which may count from the end.
func Take(c *Call) error {
	x, out := flattened(c.In[0]), c.Out[0]
	n := x.Dims[0]
	if out.Size() == 0 {
		return nil
	}
	if n == 0 {
		return &EmptyReadError{0, c.In[0].Dims}
	}
	idx := append([]int64{}, Int64s(c.In[1])...)
	for i, v := range idx {
		idx[i] = int64(wrapIndex(v, n))
	}
	out.View = shape.Dense([]int{out.Size()})
	return gather(out, x, idx, 0)
}

// OneHot writes 1 at the class of every index, 0 elsewhere; a class outside gives zeros.
func OneHot(c *Call) error {
	out := c.Out[0]
	n := out.Dims[len(out.Dims)-1]
	dst := As[int64](out.Buf)[:out.Size()]
	clear(dst)
	for i, v := range Int64s(c.In[0]) {
		if k := dropIndex(v, n); k >= 0 {
			dst[i*n+k] = 1
		}
	}
	return nil
}

// CountNonzero counts the elements that are not zero.
func CountNonzero(a Array) int {
	n := 0
	for _, b := range Bools(a) {
		if b != 0 {
			n++
		}
	}
	return n
}

// Nonzero lists the positions of the elements that are not zero, one row each, in row-major order.
func Nonzero(c *Call) error {
	x, out := c.In[0], c.Out[0]
	dst := As[int64](out.Buf)
	r := len(x.Dims)
	k := 0
	for i, b := range Bools(x) {
		if b == 0 || k >= out.Dims[0] {
			continue
		}
		rest := i
		for d := r - 1; d >= 0; d-- {
			dst[k*r+d] = int64(rest % x.Dims[d])
			rest /= x.Dims[d]
		}
		k++
	}
	clear(dst[k*r : out.Dims[0]*r])
	return nil
}

// expanded sees a broadcast to dims.
func expanded(a Array, dims []int) Array {
	a.View = shape.View{Dims: dims, Strides: stretch(a.Dims, a.Strides, len(dims)), Offset: a.Offset}
	return a
}

// MaskedSelect copies the elements where the mask is true, in row-major order.
func MaskedSelect(c *Call) error {
	x, mask, out := c.In[0], c.In[1], c.Out[0]
	dims, _ := shape.Broadcast(x.Dims, mask.Dims)
	x = Contiguous(expanded(x, dims))
	w := out.DType.HostBytes()
	src, k := x.Buf[x.Offset*w:], 0
	n := out.Size()
	for i, b := range Bools(expanded(mask, dims)) {
		if b != 0 && k < n {
			copy(out.Buf[k*w:(k+1)*w], src[i*w:(i+1)*w])
			k++
		}
	}
	clear(out.Buf[k*w : n*w])
	return nil
}

// MaskedScatter replaces the elements where the mask is true by those of the
// source, in row-major order.
func MaskedScatter(c *Call) error {
	x, mask, src, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	put(out, expanded(x, out.Dims))
	src = Cast(flattened(src), out.DType)
	w := out.DType.HostBytes()
	from, k, n := src.Buf[src.Offset*w:], 0, src.Size()
	for i, b := range Bools(expanded(mask, out.Dims)) {
		if b == 0 {
			continue
		}
		if k < n {
			copy(out.Buf[i*w:(i+1)*w], from[k*w:(k+1)*w])
		}
		k++
	}
	if k > n {
		return &shape.MismatchError{Op: "masked_scatter", Left: mask.Spec(), Right: c.In[2].Spec(), Axis: -1,
			Why: fmt.Sprintf("the mask selects %d elements, the source has %d", k, n)}
	}
	return nil
}

// MaskedScatterBackward lists the elements of the gradient where the mask is
// true, filled up with zeros to the attribute "size".
func MaskedScatterBackward(c *Call) error {
	g, mask, out := c.In[0], c.In[1], c.Out[0]
	g = Contiguous(g)
	w := out.DType.HostBytes()
	src, k, n := g.Buf[g.Offset*w:], 0, out.Size()
	for i, b := range Bools(expanded(mask, g.Dims)) {
		if b != 0 && k < n {
			copy(out.Buf[k*w:(k+1)*w], src[i*w:(i+1)*w])
			k++
		}
	}
	clear(out.Buf[k*w : n*w])
	return nil
}
