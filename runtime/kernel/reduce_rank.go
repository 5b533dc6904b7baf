package kernel

import (
	"fmt"
	"math"
	"slices"
)

// less orders numbers with NaN above everything.
func less[T accum](a, b T) bool { return a < b || b != b && a == a }

// compare3 is less as -1, 0, 1.
func compare3[T accum](a, b T) int {
	switch {
	case less(a, b):
		return -1
	case less(b, a):
		return 1
	}
	return 0
}

// order gives the positions of row sorted stably by less.
func order[T accum](row []T) []int32 {
	idx := make([]int32, len(row))
	for i := range idx {
		idx[i] = int32(i)
	}
	slices.SortStableFunc(idx, func(a, b int32) int { return compare3(row[a], row[b]) })
	return idx
}

// selectK gives the position of the element of rank k (from 0), the first among equal ones by position.
func selectK[T accum](row []T, k int) int { return int(order(row)[k]) }

// medianRow is the position of the lower middle; a NaN wins.
func medianRow[T accum](row []T) int {
	for i, v := range row {
		if v != v {
			return i
		}
	}
	return selectK(row, (len(row)-1)/2)
}

// nanMedianRow is the position of the lower middle of what is not NaN; of a NaN when nothing else is there.
func nanMedianRow[T accum](row []T) int {
	n := 0
	for _, v := range row {
		if v == v {
			n++
		}
	}
	return selectK(row, max(0, (n-1)/2))
}

// Median is the lower middle of all elements, NaN when one is NaN; of no elements it is NaN.
func Median(c *Call) error {
	return pickAll(c, medianRow[float32], medianRow[float64], medianRow[int64])
}

// Nanmedian is the lower middle of the elements that are not NaN.
func Nanmedian(c *Call) error {
	return pickAll(c, nanMedianRow[float32], nanMedianRow[float64], nanMedianRow[int64])
}

func pickAll(c *Call, f32 func([]float32) int, f64 func([]float64) int, i64 func([]int64) int) error {
	x, y := flip64(c.In[0]), c.Out[0]
	axes := reducedAxes(nil, len(x.Dims))
	err := byType(y.DType,
		func() { reduceRows(x, y, axes, elementOr(f32, float32(math.NaN()))) },
		func() { reduceRows(x, y, axes, elementOr(f64, math.NaN())) },
		func() { reduceRows(x, y, axes, elementOr(i64, math.MinInt64)) })
	unflip64(y)
	return err
}

func elementOr[T accum](f func([]T) int, none T) func([]T) T {
	return func(row []T) T {
		if len(row) == 0 {
			return none
		}
		return row[f(row)]
	}
}

// MedianDim gives the lower middle along dim and its position.
func MedianDim(c *Call) error {
	return pickDim(c, medianRow[float32], medianRow[float64], medianRow[int64])
}

// NanmedianDim gives the lower middle of what is not NaN along dim and its position.
func NanmedianDim(c *Call) error {
	return pickDim(c, nanMedianRow[float32], nanMedianRow[float64], nanMedianRow[int64])
}

// KthValue gives the k-th smallest element along dim (k from 1) and its position.
func KthValue(c *Call) error {
	k := c.Attrs.Int("k") - 1
	return pickDim(c,
		func(r []float32) int { return selectK(r, k) },
		func(r []float64) int { return selectK(r, k) },
		func(r []int64) int { return selectK(r, k) })
}

// Mode gives the most frequent element along dim, the smallest of several, and its last position.
func Mode(c *Call) error { return pickDim(c, modeRow[float32], modeRow[float64], modeRow[int64]) }

func modeRow[T accum](row []T) int {
	idx := order(row)
	best, count := 0, 0
	for i := 0; i < len(idx); {
		j := i + 1
		for j < len(idx) && compare3(row[idx[i]], row[idx[j]]) == 0 {
			j++
		}
		if j-i > count {
			best, count = int(idx[j-1]), j-i
		}
		i = j
	}
	return best
}

// A QuantileRangeError says that a probability lies outside [0, 1].
type QuantileRangeError struct{ Q float64 }

// Error names the value.
func (e *QuantileRangeError) Error() string {
	return fmt.Sprintf("quantile: q = %v is outside [0, 1]", e.Q)
}

// rank is where a quantile lies in a row: between the elements lo and hi, weight w from lo to hi.
type rank struct {
	lo, hi int
	w      float64
}

// rankOf places probability q among the n smallest elements of idx. A row that
// holds a NaN (skip false) gives the NaN.
func rankOf(q float64, row []float64, idx []int32, how string, skip bool) rank {
	n := len(row)
	for n > 0 && row[idx[n-1]] != row[idx[n-1]] {
		n--
	}
	if n == 0 || n < len(row) && !skip {
		k := int(idx[len(row)-1])
		return rank{k, k, 0}
	}
	p := q * float64(n-1)
	f := math.Floor(p)
	w := p - f
	switch how {
	case "lower":
		w = 0
	case "higher":
		w = 0
		f = math.Ceil(p)
	case "nearest":
		f, w = math.RoundToEven(p), 0
	case "midpoint":
		if w > 0 {
			w = 0.5
		}
	}
	return rank{int(idx[int(f)]), int(idx[min(int(f)+1, n-1)]), w}
}

// quantiles calls f for each probability and row with the place of the quantile.
func quantiles(c *Call, f func(i int, row []float64, r rank)) error {
	qs := Float64s(c.In[1])
	for _, q := range qs {
		if !(q >= 0 && q <= 1) {
			return &QuantileRangeError{q}
		}
	}
	x := c.In[0]
	axes := reducedAxes(c.Attrs, len(x.Dims))
	skip, how := c.Attrs.Bool("ignore_nan"), c.Attrs.Str("interpolation")
	count := c.Out[0].Size() / max(len(qs), 1)
	rows(x, axes, func(i int, row []float64) {
		idx := order(row)
		for k, q := range qs {
			f(k*count+i, row, rankOf(q, row, idx, how, skip))
		}
	})
	return nil
}

// Quantile interpolates between the two elements of a row that surround each probability q.
func Quantile(c *Call) error {
	dst := dest[float64](c.Out[0])
	err := quantiles(c, func(i int, row []float64, r rank) {
		dst[i] = row[r.lo]
		if r.w > 0 {
			dst[i] += r.w * (row[r.hi] - row[r.lo])
		}
	})
	settle(c.Out[0], dst)
	return err
}

// QuantileRanks gives the positions in their row of the two elements and the weight of the upper one.
func QuantileRanks(c *Call) error {
	lo, hi := As[int64](c.Out[0].Buf), As[int64](c.Out[1].Buf)
	w := dest[float64](c.Out[2])
	err := quantiles(c, func(i int, _ []float64, r rank) { lo[i], hi[i], w[i] = int64(r.lo), int64(r.hi), r.w })
	settle(c.Out[2], w)
	return err
}
