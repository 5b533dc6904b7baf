package kernel

import (
	"fmt"
	"math"
	"sort"

	"github.com/tpush/tpush/runtime/dtype"
)

// Searchsorted gives, for each value, where it would be inserted into the
// sorted row of the same leading position (or into the only row): before
// equal elements, or after them when right. NaN goes to the end. Inputs
// sorted sequence, values, optional positions that sort the sequence.
func Searchsorted(c *Call) error {
	side := c.Attrs.Bool("right") || c.Attrs.Str("side") == "right"
	var sorter Array
	if len(c.In) > 2 {
		sorter = c.In[2]
	}
	return search(c.In[0], c.In[1], sorter, c.Out[0], side)
}

// Bucketize is Searchsorted with the operands exchanged: values, boundaries.
func Bucketize(c *Call) error {
	return search(c.In[1], c.In[0], Array{}, c.Out[0], c.Attrs.Bool("right"))
}

func search(seq, values, sorter, out Array, right bool) error {
	if out.Size() == 0 {
		return nil
	}
	t := dtype.F64
	if computeType(seq.DType) == dtype.I64 && computeType(values.DType) == dtype.I64 {
		t = dtype.I64
	}
	places := make([]int64, out.Size())
	if t == dtype.I64 {
		searchRows(Int64s(seq), Int64s(values), seq, values, sorter, places, right)
	} else {
		searchRows(Float64s(seq), Float64s(values), seq, values, sorter, places, right)
	}
	settle(out, places)
	if out.DType == dtype.I64 {
		copy(As[int64](out.Buf), places)
	}
	return nil
}

func searchRows[T accum](seq, values []T, s, v, sorter Array, places []int64, right bool) {
	n := s.Dims[len(s.Dims)-1]
	var by []int64
	if sorter.Valid() {
		by = Int64s(sorter)
	}
	width := len(values)
	if len(s.Dims) > 1 {
		width = v.Dims[len(v.Dims)-1]
	}
	Parallel(len(values), 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			base := 0
			if len(s.Dims) > 1 {
				base = i / width * n
			}
			x := values[i]
			places[i] = int64(sort.Search(n, func(k int) bool {
				at := k
				if by != nil {
					at = int(by[base+k])
				}
				if right {
					return less(x, seq[base+at])
				}
				return !less(seq[base+at], x)
			}))
		}
	})
}

// A NegativeCountError says that bincount met a negative value.
type NegativeCountError struct {
	Value int64
	At    int
}

// Error names the value and its position.
func (e *NegativeCountError) Error() string {
	return fmt.Sprintf("bincount: element %d is %d, below 0", e.At, e.Value)
}

// BincountSize is the number of bins that Bincount needs: the largest element plus one, at least minlength.
func BincountSize(x Array, minlength int) (int, error) {
	n := int64(minlength)
	for i, v := range Int64s(x) {
		if v < 0 {
			return 0, &NegativeCountError{v, i}
		}
		n = max(n, v+1)
	}
	return int(n), nil
}

// Bincount counts how often each value occurs, or adds the weights there; what
// is beyond the bins is dropped. Inputs x, optional weights.
func Bincount(c *Call) error {
	weights := optional[float64](c, 1)
	sums := make([]float64, c.Out[0].Size())
	for i, v := range Int64s(c.In[0]) {
		switch {
		case v < 0 || int(v) >= len(sums):
		case weights != nil:
			sums[v] += weights[i]
		default:
			sums[v]++
		}
	}
	Convert(c.Out[0], denseOf(sums, c.Out[0].Dims))
	return nil
}

// Histc counts elements in equal bins between min and max, both included;
// min = max means the range of the data, one wider on each side when that is empty too.
func Histc(c *Call) error {
	x := Float64s(c.In[0])
	lo, hi := c.Attrs.Float("min"), c.Attrs.Float("max")
	bins := c.Out[0].Size()
	if lo == hi && len(x) > 0 {
		lo, hi = minRow(x), maxRow(x)
	}
	if lo == hi {
		lo, hi = lo-1, hi+1
	}
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) || lo != lo || hi != hi {
		return &HistogramRangeError{lo, hi}
	}
	counts := make([]float64, bins)
	round := func(v float64) float64 { return v }
	if t := c.Out[0].DType; t.IsFloat() {
		round = t.Round // each step rounds, as on a device
	}
	for _, v := range x {
		if v >= lo && v <= hi {
			counts[min(int(round(round(round(v-lo)*float64(bins))/round(hi-lo))), bins-1)]++
		}
	}
	Convert(c.Out[0], denseOf(counts, c.Out[0].Dims))
	return nil
}

// A HistogramRangeError says that the range of a histogram is not finite.
type HistogramRangeError struct{ Lo, Hi float64 }

// Error names the range.
func (e *HistogramRangeError) Error() string {
	return fmt.Sprintf("histc: range [%v, %v] is not finite", e.Lo, e.Hi)
}

// Isin says for each element whether it occurs among the test elements, or does not when invert.
func Isin(c *Call) error {
	invert := c.Attrs.Bool("invert")
	out := c.Out[0].Buf
	set := func(i int, in bool) {
		out[i] = 0
		if in != invert {
			out[i] = 1
		}
	}
	if computeType(c.In[0].DType) == dtype.I64 && computeType(c.In[1].DType) == dtype.I64 {
		known := setOf(Int64s(c.In[1]))
		for i, v := range Int64s(c.In[0]) {
			set(i, known[v])
		}
		return nil
	}
	known := setOf(Float64s(c.In[1]))
	for i, v := range Float64s(c.In[0]) {
		set(i, known[v])
	}
	return nil
}

func setOf[T comparable](xs []T) map[T]bool {
	m := make(map[T]bool, len(xs))
	for _, x := range xs {
		m[x] = true
	}
	return m
}
