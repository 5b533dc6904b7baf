package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/simd"
)

// ordered loads as byType does, with U64 shifted so that int64 order is its order.
const topBit = math.MinInt64

// flip64 loads a U64 array as int64 in the same order; other arrays as they are.
func flip64(x Array) Array {
	if x.DType != dtype.U64 {
		return x
	}
	v := append([]int64(nil), Int64s(x)...)
	for i := range v {
		v[i] ^= topBit
	}
	return denseOf(v, x.Dims)
}

// unflip64 undoes flip64 on a result.
func unflip64(out Array) {
	if out.DType == dtype.U64 {
		v := As[int64](out.Buf)[:out.Size()]
		for i := range v {
			v[i] ^= topBit
		}
	}
}

// maxRow is the largest element; NaN wins. The row is not empty.
func maxRow[T accum](row []T) T {
	m := row[0]
	if m != m {
		return m
	}
	for _, v := range row[1:] {
		if v > m {
			m = v
		} else if v != v {
			return v
		}
	}
	return m
}

// minRow is the smallest element; NaN wins.
func minRow[T accum](row []T) T {
	m := row[0]
	if m != m {
		return m
	}
	for _, v := range row[1:] {
		if v < m {
			m = v
		} else if v != v {
			return v
		}
	}
	return m
}

// argMaxRow is the position of the first largest element; the first NaN wins.
func argMaxRow[T accum](row []T) int {
	k, m := 0, row[0]
	if m != m {
		return 0
	}
	for i, v := range row {
		if v > m {
			k, m = i, v
		} else if v != v {
			return i
		}
	}
	return k
}

// argMinRow is the position of the first smallest element; the first NaN wins.
func argMinRow[T accum](row []T) int {
	k, m := 0, row[0]
	if m != m {
		return 0
	}
	for i, v := range row {
		if v < m {
			k, m = i, v
		} else if v != v {
			return i
		}
	}
	return k
}

// Amax is the largest element over dim.
func Amax(c *Call) error {
	return extreme(c, amaxRows, 0, maxRow[float32], maxRow[float64], maxRow[int64])
}

// Amin is the smallest element over dim.
func Amin(c *Call) error {
	return extreme(c, aminRows, 0, minRow[float32], minRow[float64], minRow[int64])
}

// Aminmax is both: results min and max.
func Aminmax(c *Call) error {
	if err := extreme(c, aminRows, 0, minRow[float32], minRow[float64], minRow[int64]); err != nil {
		return err
	}
	return extreme(c, amaxRows, 1, maxRow[float32], maxRow[float64], maxRow[int64])
}

func extreme(c *Call, o *rowOp, out int, f32 func([]float32) float32, f64 func([]float64) float64, i64 func([]int64) int64) error {
	x, y := flip64(c.In[0]), c.Out[out]
	if y.Size() == 0 {
		return nil
	}
	axes := reducedAxes(c.Attrs, len(x.Dims))
	if done, err := extremeAlong(c, o, y, axes, o == amaxRows); done {
		return err
	}
	err := byType(y.DType,
		func() { reduceRows(x, y, axes, f32) },
		func() { reduceRows(x, y, axes, f64) },
		func() { reduceRows(x, y, axes, i64) })
	unflip64(y)
	return err
}

// MaxDim gives the largest element along dim and its first position.
func MaxDim(c *Call) error {
	return pickDim(c, simd.RunsOf(simd.Chosen()).ArgMax, argMaxRow[float64], argMaxRow[int64])
}

// MinDim gives the smallest element along dim and its first position.
func MinDim(c *Call) error {
	return pickDim(c, simd.RunsOf(simd.Chosen()).ArgMin, argMinRow[float64], argMinRow[int64])
}

// pickDim gives, for each row, the element at the position that f chooses, and the position.
func pickDim(c *Call, f32 func([]float32) int, f64 func([]float64) int, i64 func([]int64) int) error {
	x, y, idx := flip64(c.In[0]), c.Out[0], As[int64](c.Out[1].Buf)
	if y.Size() == 0 {
		return nil
	}
	axes := oneAxis(c.Attrs, len(x.Dims))
	err := byType(y.DType,
		func() { pickRows(x, y, idx, axes, f32) },
		func() { pickRows(x, y, idx, axes, f64) },
		func() { pickRows(x, y, idx, axes, i64) })
	unflip64(y)
	return err
}

func pickRows[T accum](x, y Array, idx []int64, axes []int, f func([]T) int) {
	dst := dest[T](y)
	rows(x, axes, func(i int, row []T) {
		k := f(row)
		dst[i], idx[i] = row[k], int64(k)
	})
	settle(y, dst)
}

// oneAxis gives the axis named by the int attribute dim; none for a 0-d array, which is a row of one.
func oneAxis(a Attrs, rank int) []int {
	if rank == 0 {
		return nil
	}
	d := a.Int("dim")
	if d < 0 {
		d += rank
	}
	return []int{d}
}

// Argmax gives the first position of the largest element, in the flattened array when dim is absent.
func Argmax(c *Call) error {
	return argRows(c, simd.RunsOf(simd.Chosen()).ArgMax, argMaxRow[float64], argMaxRow[int64])
}

// Argmin gives the first position of the smallest element.
func Argmin(c *Call) error {
	return argRows(c, simd.RunsOf(simd.Chosen()).ArgMin, argMinRow[float64], argMinRow[int64])
}

func argRows(c *Call, f32 func([]float32) int, f64 func([]float64) int, i64 func([]int64) int) error {
	x, idx := flip64(c.In[0]), As[int64](c.Out[0].Buf)
	if c.Out[0].Size() == 0 {
		return nil
	}
	axes := reducedAxes(c.Attrs, len(x.Dims))
	return byType(x.DType,
		func() { rows(x, axes, func(i int, r []float32) { idx[i] = int64(f32(r)) }) },
		func() { rows(x, axes, func(i int, r []float64) { idx[i] = int64(f64(r)) }) },
		func() { rows(x, axes, func(i int, r []int64) { idx[i] = int64(i64(r)) }) })
}
