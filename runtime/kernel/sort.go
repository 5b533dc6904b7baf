package kernel

import (
	"slices"
)

// Sort gives the elements along dim in ascending (or descending) order and
// where they came from. It is always stable, also when descending; NaN is above everything.
func Sort(c *Call) error { return sorted(c, c.Attrs.Bool("descending"), 0) }

// Argsort gives only the positions.
func Argsort(c *Call) error {
	x := c.In[0]
	values := Array{DType: x.DType, View: denseView(x.Dims), Buf: AllocRaw(x.Size() * x.DType.HostBytes())}
	return Sort(&Call{In: c.In, Out: []Array{values, c.Out[0]}, Attrs: c.Attrs})
}

// Topk gives the k largest (or smallest) elements along dim, in order, and where they are.
func Topk(c *Call) error {
	k := c.Attrs.Int("k")
	if k == 0 {
		return nil
	}
	return sorted(c, c.Attrs.Bool("largest"), k)
}

func sorted(c *Call, descending bool, k int) error {
	c = &Call{In: []Array{flip64(c.In[0])}, Out: c.Out, Attrs: c.Attrs}
	err := byType(c.Out[0].DType,
		func() { valuesAndIndices(c, k, sortRow[float32](descending)) },
		func() { valuesAndIndices(c, k, sortRow[float64](descending)) },
		func() { valuesAndIndices(c, k, sortRow[int64](descending)) })
	unflip64(c.Out[0])
	return err
}

// An item is an element and where it was.
type item[T accum] struct {
	v T
	i int32
}

// sortRow fills y with the first len(y) of the sorted x.
func sortRow[T accum](descending bool) func(x, y []T, idx []int64) {
	cmp := func(a, b item[T]) int {
		if d := compare3(a.v, b.v); d != 0 {
			return d
		}
		return int(a.i) - int(b.i)
	}
	if descending {
		cmp = func(a, b item[T]) int {
			if d := compare3(b.v, a.v); d != 0 {
				return d
			}
			return int(a.i) - int(b.i)
		}
	}
	return func(x, y []T, idx []int64) {
		if len(y) > len(x)/8 && radixRow(x, y, idx, descending) {
			return
		}
		items := make([]item[T], 0, len(x))
		if len(y) <= len(x)/8 {
			items = firstFew(items, x, len(y), cmp)
		} else {
			for i, v := range x {
				items = append(items, item[T]{v, int32(i)})
			}
			slices.SortFunc(items, cmp)
		}
		for i := range y {
			y[i], idx[i] = items[i].v, int64(items[i].i)
		}
	}
}

// firstFew gives the k first of x by cmp, in order: a heap whose root is the worst of those kept.
func firstFew[T accum](h []item[T], x []T, k int, cmp func(a, b item[T]) int) []item[T] {
	for i, v := range x {
		it := item[T]{v, int32(i)}
		if len(h) < k {
			h = append(h, it)
			for c := len(h) - 1; c > 0 && cmp(h[c], h[(c-1)/2]) > 0; c = (c - 1) / 2 {
				h[c], h[(c-1)/2] = h[(c-1)/2], h[c]
			}
			continue
		}
		if cmp(it, h[0]) >= 0 {
			continue
		}
		h[0] = it
		for p := 0; ; {
			c := 2*p + 1
			if c >= k {
				break
			}
			if c+1 < k && cmp(h[c+1], h[c]) > 0 {
				c++
			}
			if cmp(h[c], h[p]) <= 0 {
				break
			}
			h[c], h[p] = h[p], h[c]
			p = c
		}
	}
	slices.SortFunc(h, cmp)
	return h
}
