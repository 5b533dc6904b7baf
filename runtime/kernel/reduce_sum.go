package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// The order of a sum is fixed; it depends on the accum of elements alone, not
// on strides, axes or threads, so that every implementation gives the same bits:
//
//   - a row is cut into blocks of sumBlock elements;
//   - in a block, lane l of 16 starts at 0 and adds elements l, l+16, l+32, …;
//   - lanes are folded in halves: l += l+8, l += l+4, l += l+2, l += l+1;
//   - block sums are folded in neighbouring pairs, an odd one is carried, until one is left.
const (
	sumLanes = 16
	sumBlock = 2048
)

// foldLanes adds the 16 lanes.
func foldLanes[T accum](s *[sumLanes]T) T {
	for w := sumLanes / 2; w > 0; w /= 2 {
		for l := range w {
			s[l] += s[l+w]
		}
	}
	return s[0]
}

// foldPairs adds block sums; it overwrites them.
func foldPairs[T accum](p []T) T {
	for n := len(p); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			p[i] = p[2*i] + p[2*i+1]
		}
		if n%2 == 1 {
			p[n/2] = p[n-1]
		}
	}
	if len(p) == 0 {
		return 0
	}
	return p[0]
}

// blockSum adds at most sumBlock elements.
func blockSum[T accum](x []T) T {
	var s [sumLanes]T
	n := len(x) &^ (sumLanes - 1)
	// Two passes of eight lanes: eight sums fit in registers, sixteen do not.
	for h := 0; h < sumLanes && n > 0; h += 8 {
		var a, b, c, d, e, f, g, k T
		for i := h; i < n; i += sumLanes {
			v := x[i : i+8 : i+8]
			a += v[0]
			b += v[1]
			c += v[2]
			d += v[3]
			e += v[4]
			f += v[5]
			g += v[6]
			k += v[7]
		}
		s[h], s[h+1], s[h+2], s[h+3], s[h+4], s[h+5], s[h+6], s[h+7] = a, b, c, d, e, f, g, k
	}
	for l, v := range x[n:] {
		s[l] += v
	}
	return foldLanes(&s)
}

// sumRow adds a row in the fixed order.
func sumRow[T accum](x []T) T {
	if len(x) <= sumBlock {
		return blockSum(x)
	}
	blocks := (len(x) + sumBlock - 1) / sumBlock
	p := make([]T, blocks)
	Parallel(blocks, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p[i] = blockSum(x[i*sumBlock : min((i+1)*sumBlock, len(x))])
		}
	})
	return foldPairs(p)
}

// columnTile is how many columns are added at a time: 16 lanes of them stay in L1.
const columnTile = 64

// sumColumns adds columns j0 … j0+w of the n rows of b columns of x, in the
// order of sumRow for each column, into dst; w is at most columnTile.
func sumColumns[T accum](x []T, n, b, j0, w int, dst []T) {
	var lanes [sumLanes * columnTile]T
	acc := lanes[:sumLanes*w]
	blocks := (n + sumBlock - 1) / sumBlock
	var part []T
	if blocks > 1 {
		part = make([]T, w*blocks)
	}
	for k := range max(blocks, 1) {
		if k > 0 {
			clear(acc)
		}
		for r := k * sumBlock; r < min((k+1)*sumBlock, n); r++ {
			row := x[r*b+j0:][:w]
			lane := acc[(r%sumLanes)*w:][:w]
			for j, v := range row {
				lane[j] += v
			}
		}
		for h := sumLanes / 2; h > 0; h /= 2 {
			lo, hi := acc[:h*w], acc[h*w:2*h*w]
			for i, v := range hi {
				lo[i] += v
			}
		}
		if blocks <= 1 {
			copy(dst[:w], acc)
			return
		}
		for j := range w {
			part[j*blocks+k] = acc[j]
		}
	}
	for j := range w {
		dst[j] = foldPairs(part[j*blocks : (j+1)*blocks])
	}
}

// sumAs adds x over axes into dst, which has one element for each row.
func sumAs[T accum](x Array, axes []int, dst []T) {
	if a, n, b, ok := blocksOf(x, axes); ok && b >= 4 {
		if n*b >= columnWork && jit.Natural(x.DType) != jit.NoType {
			sumColumnsAs(x, a, n, b, dst)
			return
		}
		data := load[T](x)
		tiles := (b + columnTile - 1) / columnTile
		if a*tiles == 1 {
			sumColumns(data, n, b, 0, b, dst)
			return
		}
		Parallel(a*tiles, max(1, (1<<14)/max(n*min(b, columnTile), 1)), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				j0 := i % tiles * columnTile
				k := i / tiles
				sumColumns(data[k*n*b:(k+1)*n*b], n, b, j0, min(columnTile, b-j0), dst[k*b+j0:])
			}
		})
		return
	}
	rows(x, axes, func(i int, row []T) { dst[i] = sumRow(row) })
}

// blocksOf sees a dense array as a×n×b with the neighbouring axes in the middle.
func blocksOf(x Array, axes []int) (a, n, b int, ok bool) {
	if len(axes) == 0 || !x.Contiguous() || axes[len(axes)-1]-axes[0] != len(axes)-1 {
		return 0, 0, 0, false
	}
	a, n, b = 1, 1, 1
	for i, d := range x.Dims {
		switch {
		case i < axes[0]:
			a *= d
		case i > axes[len(axes)-1]:
			b *= d
		default:
			n *= d
		}
	}
	return a, n, b, true
}

// Sum adds over dim in the type of the result; a Bool result says whether any element is not 0.
func Sum(c *Call) error {
	if c.Out[0].DType == dtype.Bool {
		return Any(c)
	}
	return sumThen(c, -1)
}

// Mean is the sum divided by the count, rounded once.
func Mean(c *Call) error {
	n := 1
	for _, a := range reducedAxes(c.Attrs, len(c.In[0].Dims)) {
		n *= c.In[0].Dims[a]
	}
	return sumThen(c, n)
}

// sumThen adds, and divides by n unless that is negative.
func sumThen(c *Call, n int) error {
	return sumOver(c.In[0], c.Out[0], reducedAxes(c.Attrs, len(c.In[0].Dims)), n)
}

// sumOver is sumThen over the given axes.
func sumOver(x, out Array, axes []int, n int) error {
	switch out.DType {
	case dtype.C64:
		return sumComplex[float32](x, out, axes, n)
	case dtype.C128:
		return sumComplex[float64](x, out, axes, n)
	}
	return byType(out.DType,
		func() { sumScaled[float32](x, out, axes, float32(n), n >= 0) },
		func() { sumScaled[float64](x, out, axes, float64(n), n >= 0) },
		func() { sumScaled[int64](x, out, axes, 1, false) })
}

// sumComplex adds real and imaginary parts, each as a sum of reals.
func sumComplex[T float32 | float64](x, out Array, axes []int, n int) error {
	x = Cast(x, out.DType)
	dst := As[T](out.Buf)
	part := make([]T, out.Size())
	for k := range 2 {
		sumAs(partOf(x, k), axes, part)
		for i, s := range part {
			if n >= 0 {
				s /= T(n)
			}
			dst[2*i+k] = s
		}
	}
	return nil
}

// truths sees a complex array as bools, not 0; others as they are.
func truths(x Array) Array {
	if x.DType.IsComplex() {
		return Cast(x, dtype.Bool)
	}
	return x
}

func sumScaled[T accum](x, out Array, axes []int, n T, mean bool) {
	o := sumRows
	if mean {
		o = meanRows
	}
	if o.suits(x, axes) {
		if done, _ := o.run(&Call{In: []Array{x}, Out: []Array{out}}, axes); done {
			return
		}
	}
	dst := dest[T](out)
	sumAs(x, axes, dst)
	if mean {
		for i := range dst {
			dst[i] /= n
		}
	}
	settle(out, dst)
}

// Nansum adds what is not NaN.
func Nansum(c *Call) error {
	x, out := c.In[0], c.Out[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	return byType(out.DType,
		func() { reduceRows(x, out, axes, func(r []float32) float32 { s, _ := sumNumbers(r); return s }) },
		func() { reduceRows(x, out, axes, func(r []float64) float64 { s, _ := sumNumbers(r); return s }) },
		func() { reduceRows(x, out, axes, sumRow[int64]) })
}

// Nanmean is the mean of what is not NaN; NaN when nothing is left.
func Nanmean(c *Call) error {
	x, out := c.In[0], c.Out[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	return byType(out.DType,
		func() {
			reduceRows(x, out, axes, func(r []float32) float32 { s, n := sumNumbers(r); return s / float32(n) })
		},
		func() {
			reduceRows(x, out, axes, func(r []float64) float64 { s, n := sumNumbers(r); return s / float64(n) })
		},
		func() {})
}

// sumNumbers adds what is not NaN, in the fixed order with 0 in its place, and counts it.
func sumNumbers[T float32 | float64](row []T) (T, int) {
	n := 0
	clean := row
	for i, v := range row {
		if v != v {
			if n == i { // the first NaN: from here on work on a copy
				clean = append([]T(nil), row...)
			}
			clean[i] = 0
			continue
		}
		n++
	}
	return sumRow(clean), n
}

// NonzeroCount counts what is not 0; NaN counts.
func NonzeroCount(c *Call) error {
	x, out := truths(c.In[0]), c.Out[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	dst := As[int64](out.Buf)
	return byType(x.DType,
		func() { rows(x, axes, func(i int, r []float32) { dst[i] = nonzeros(r) }) },
		func() { rows(x, axes, func(i int, r []float64) { dst[i] = nonzeros(r) }) },
		func() { rows(x, axes, func(i int, r []int64) { dst[i] = nonzeros(r) }) })
}

func nonzeros[T accum](row []T) int64 {
	n := int64(0)
	for _, v := range row {
		if v != 0 {
			n++
		}
	}
	return n
}

// Any says whether an element is not 0, All whether none is; NaN is not 0.
func Any(c *Call) error { return truth(c, func(nonzero, n int64) bool { return nonzero > 0 }) }

// All says whether no element is 0.
func All(c *Call) error { return truth(c, func(nonzero, n int64) bool { return nonzero == n }) }

func truth(c *Call, f func(nonzero, n int64) bool) error {
	x, out := truths(c.In[0]), c.Out[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	set := func(i int, nonzero int64, n int) {
		out.Buf[i] = 0
		if f(nonzero, int64(n)) {
			out.Buf[i] = 1
		}
	}
	return byType(x.DType,
		func() { rows(x, axes, func(i int, r []float32) { set(i, nonzeros(r), len(r)) }) },
		func() { rows(x, axes, func(i int, r []float64) { set(i, nonzeros(r), len(r)) }) },
		func() { rows(x, axes, func(i int, r []int64) { set(i, nonzeros(r), len(r)) }) })
}

// Prod multiplies over dim in the type of the result: 16 lanes, folded in halves as in a sum.
func Prod(c *Call) error {
	x, out := c.In[0], c.Out[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	if out.DType == dtype.Bool {
		return All(c)
	}
	return byType(out.DType,
		func() { reduceRows(x, out, axes, prodRow[float32]) },
		func() { reduceRows(x, out, axes, prodRow[float64]) },
		func() { reduceRows(x, out, axes, prodRow[int64]) })
}

func prodRow[T accum](row []T) T {
	var s [sumLanes]T
	for l := range s {
		s[l] = 1
	}
	for i, v := range row {
		s[i%sumLanes] *= v
	}
	for w := sumLanes / 2; w > 0; w /= 2 {
		for l := range w {
			s[l] *= s[l+w]
		}
	}
	return s[0]
}

// ProdOthers gives, for each element, the product of the others along dim: the
// derivative of Prod, right also where elements are 0.
func ProdOthers(c *Call) error {
	return alongAxes(c.In[0], c.Out[0], reducedAxes(c.Attrs, len(c.In[0].Dims)), func(x, y []float64) {
		p := 1.0
		for i, v := range x {
			y[i] = p
			p *= v
		}
		p = 1
		for i := len(x) - 1; i >= 0; i-- {
			y[i] *= p
			p *= x[i]
		}
	})
}

// ProdOthersBackward gives Σ over i≠k of v[i]·(the product of all x but i and k), for each k.
func ProdOthersBackward(c *Call) error {
	axes := reducedAxes(c.Attrs, len(c.In[0].Dims))
	return alongAxes2(c.In[0], c.In[1], c.Out[0], axes, func(x, v, y []float64) {
		// A segment is its product a and its sum b of v[i] times the others.
		right := make([][2]float64, len(x)+1)
		right[len(x)] = [2]float64{1, 0}
		for i := len(x) - 1; i >= 0; i-- {
			a, b := right[i+1][0], right[i+1][1]
			right[i] = [2]float64{a * x[i], b*x[i] + v[i]*a}
		}
		a, b := 1.0, 0.0
		for k := range x {
			y[k] = b*right[k+1][0] + a*right[k+1][1]
			a, b = a*x[k], b*x[k]+v[k]*a
		}
	})
}
