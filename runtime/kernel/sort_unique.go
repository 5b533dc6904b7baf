package kernel

import (
	"slices"

	"github.com/tpush/tpush/runtime/shape"
)

// Unique gives the distinct elements in order, or the distinct slices along
// dim; then which of them each element is, and how often each occurs: these
// two are asked for by return_inverse and return_counts, and empty otherwise.
// NaN equals nothing. The results have room for count distinct ones.
func Unique(c *Call) error { return unique(c, true) }

// UniqueConsecutive is Unique for runs of equal neighbours, in the order they stand in.
func UniqueConsecutive(c *Call) error { return unique(c, false) }

// UniqueCount counts the distinct elements, or slices along dim, of x; with
// consecutive, the runs of equal ones.
func UniqueCount(x Array, a Attrs, consecutive bool) int {
	x = flip64(x)
	n := 0
	byType(x.DType,
		func() { n = len(distinctOf[float32](x, a, !consecutive).first) },
		func() { n = len(distinctOf[float64](x, a, !consecutive).first) },
		func() { n = len(distinctOf[int64](x, a, !consecutive).first) })
	return n
}

func unique(c *Call, ordered bool) error {
	c.In[0] = flip64(c.In[0])
	out := c.Out[0]
	err := byType(out.DType,
		func() { uniqueAs[float32](c, ordered) },
		func() { uniqueAs[float64](c, ordered) },
		func() { uniqueAs[int64](c, ordered) })
	unflip64(c.Out[0])
	return err
}

// distinct is what is known of the distinct slices of an array.
type distinct[T accum] struct {
	data   []T   // slices one after the other
	m      int   // elements of a slice
	others []int // the axes of a slice
	first  []int // which slice stands for each distinct one
	places []int64
	counts []int64
}

func (d *distinct[T]) slice(i int) []T { return d.data[i*d.m : (i+1)*d.m] }

func distinctOf[T accum](x Array, a Attrs, ordered bool) *distinct[T] {
	d := &distinct[T]{m: 1}
	count := x.Size()
	if dim := a.Ints("dim"); len(dim) == 1 && len(x.Dims) > 0 {
		at := (dim[0] + len(x.Dims)) % len(x.Dims)
		for i := range x.Dims {
			if i != at {
				d.others = append(d.others, i)
			}
		}
		count = x.Dims[at]
		d.m = shape.Size(x.Dims) / max(count, 1)
	}
	moved, _ := axesLast(x, d.others)
	d.data = load[T](moved)
	idx := make([]int, count)
	for i := range idx {
		idx[i] = i
	}
	if ordered {
		slices.SortStableFunc(idx, func(a, b int) int { return slices.CompareFunc(d.slice(a), d.slice(b), compare3[T]) })
	}
	d.places = make([]int64, count)
	for k, i := range idx {
		if k == 0 || !slices.Equal(d.slice(i), d.slice(idx[k-1])) {
			d.first = append(d.first, i)
			d.counts = append(d.counts, 0)
		}
		d.places[i] = int64(len(d.first) - 1)
		d.counts[len(d.counts)-1]++
	}
	return d
}

func uniqueAs[T accum](c *Call, ordered bool) {
	d := distinctOf[T](c.In[0], c.Attrs, ordered)
	rowsOut, done := writeRows[T](c.Out[0], d.others)
	clear(rowsOut)
	for k, i := range d.first {
		if (k+1)*d.m <= len(rowsOut) {
			copy(rowsOut[k*d.m:], d.slice(i))
		}
	}
	done()
	for i, v := range [][]int64{d.places, d.counts} {
		dst := As[int64](c.Out[1+i].Buf)[:c.Out[1+i].Size()]
		clear(dst)
		copy(dst, v)
	}
}
