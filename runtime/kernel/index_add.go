package kernel

import (
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// addSlices adds src[.., i, ..] to the slice idx[i] of the axis, in order of i.
// The slices are brought into the order of their targets first, those of one
// target staying in order, so that every target is read and written once and
// threads share nothing.
func addSlices[T factor](c *Call, src Array, dim int) {
	out, idx := c.Out[0], Int64s(c.In[1])
	res, x := wideResult[T](out), wideElems[T](c.In[0])
	from := wideElems[T](src)
	n, inner, outer := 1, 1, 1
	if len(out.Dims) > 0 {
		n, inner, outer = out.Dims[dim], shape.Size(out.Dims[dim+1:]), shape.Size(out.Dims[:dim])
	}
	if len(res) == 0 {
		return
	}
	first, order := byTarget(idx, n)
	g := simd.KernelsOf[T](simd.Chosen())
	past := len(out.Buf) >= 4*pastCache
	each := (len(from) + len(res)) / (outer * n) // additions and copies of a target
	Parallel(outer*n, max(1, 1<<14/max(1, each)), func(lo, hi int) {
		var places []int
		for t := lo; t < hi; t++ {
			o, k := t/n, t%n
			picked := order[first[k]:first[k+1]]
			places = places[:0]
			// Behind the places come those of the next targets, which are hints.
			for _, i := range order[first[k]:min(int(first[k+1])+simd.RowsAhead, len(order))] {
				places = append(places, (o*len(idx)+int(i))*inner)
			}
			for len(places) < len(picked)+simd.RowsAhead {
				places = append(places, 0)
			}
			g.AddRows(res[t*inner:(t+1)*inner], x[t*inner:], from, places, len(picked), past)
		}
	})
	storeWide(out, res)
}

// byTarget lists the positions of idx by their value, which lies in [0, n), and
// in order for each value: those of k are order[first[k]:first[k+1]]. Others are left out.
func byTarget(idx []int64, n int) (first, order []int32) {
	first = make([]int32, n+2)
	for _, k := range idx {
		if uint64(k) < uint64(n) {
			first[k+2]++
		}
	}
	for k := range n {
		first[k+2] += first[k+1]
	}
	order = make([]int32, first[n+1])
	for i, k := range idx {
		if uint64(k) < uint64(n) {
			order[first[k+1]] = int32(i)
			first[k+1]++
		}
	}
	return first[:n+1], order
}
