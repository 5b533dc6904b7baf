package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
)

// A scan runs along one axis from its start to its end, one element after the
// other. Sums and products of f32 and narrower are kept in float32.

// scan runs f over each row along the axis dim, in the type of the result.
func scan(c *Call, f32 func(x, y []float32), f64 func(x, y []float64), i64 func(x, y []int64)) error {
	x, out := c.In[0], c.Out[0]
	axes := oneAxis(c.Attrs, len(x.Dims))
	return byType(out.DType,
		func() { mapRows(x, out, axes, f32) },
		func() { mapRows(x, out, axes, f64) },
		func() { mapRows(x, out, axes, i64) })
}

func sums[T accum](x, y []T) {
	var s T
	for i, v := range x {
		s += v
		y[i] = s
	}
}

func products[T accum](x, y []T) {
	p := T(1)
	for i, v := range x {
		p *= v
		y[i] = p
	}
}

// Cumprod gives the running product along dim.
func Cumprod(c *Call) error { return scan(c, products[float32], products[float64], products[int64]) }

// Logcumsumexp gives the logarithm of the running sum of e^x along dim.
func Logcumsumexp(c *Call) error {
	return alongAxes(c.In[0], c.Out[0], oneAxis(c.Attrs, len(c.In[0].Dims)), func(x, y []float64) {
		s := math.Inf(-1)
		for i, v := range x {
			s = logAddExp(s, v)
			y[i] = s
		}
	})
}

func logAddExp(a, b float64) float64 {
	if a == b && math.IsInf(a, 0) {
		return a
	}
	m := max(a, b)
	if math.IsInf(m, 1) {
		return m
	}
	return m + math.Log1p(math.Exp(-math.Abs(a-b)))
}

// Cummax gives the running maximum along dim and its position, the later one
// of equal elements; NaN wins from where it stands.
func Cummax(c *Call) error {
	return cumExtreme(c, runningExtreme(func(v, m float32) bool { return v >= m }),
		runningExtreme(func(v, m float64) bool { return v >= m }), runningExtreme(func(v, m int64) bool { return v >= m }))
}

// Cummin gives the running minimum along dim and its position.
func Cummin(c *Call) error {
	return cumExtreme(c, runningExtreme(func(v, m float32) bool { return v <= m }),
		runningExtreme(func(v, m float64) bool { return v <= m }), runningExtreme(func(v, m int64) bool { return v <= m }))
}

func runningExtreme[T accum](takes func(v, m T) bool) func(x, y []T, idx []int64) {
	return func(x, y []T, idx []int64) {
		k := 0
		for i, v := range x {
			if i == 0 || v != v || takes(v, x[k]) {
				k = i
			}
			y[i], idx[i] = x[k], int64(k)
		}
	}
}

func cumExtreme(c *Call, f32 func([]float32, []float32, []int64), f64 func([]float64, []float64, []int64), i64 func([]int64, []int64, []int64)) error {
	c.In[0] = flip64(c.In[0])
	err := byType(c.Out[0].DType,
		func() { valuesAndIndices(c, 0, f32) },
		func() { valuesAndIndices(c, 0, f64) },
		func() { valuesAndIndices(c, 0, i64) })
	unflip64(c.Out[0])
	return err
}

// valuesAndIndices runs f on each row along dim: x of n elements, y and idx of
// n elements each, or of k when k is not 0.
func valuesAndIndices[T accum](c *Call, k int, f func(x, y []T, idx []int64)) {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return
	}
	axes := oneAxis(c.Attrs, len(x.Dims))
	data, done := writeRows[T](out, axes)
	places, donePlaces := writeRows[int64](c.Out[1], axes)
	rows(x, axes, func(i int, row []T) {
		n := len(row)
		if k > 0 {
			n = k
		}
		f(row, data[i*n:(i+1)*n], places[i*n:(i+1)*n])
	})
	done()
	donePlaces()
}

// CumprodBackward gives Σ over i≥k of dy[i]·(product of x up to i, without k),
// for each k: right also where elements are 0. Inputs x, dy.
func CumprodBackward(c *Call) error {
	return alongAxes2(c.In[0], c.In[1], c.Out[0], oneAxis(c.Attrs, len(c.In[0].Dims)), func(x, dy, out []float64) {
		s := 0.0
		for k := len(x) - 1; k >= 0; k-- {
			if k+1 < len(x) {
				s *= x[k+1]
			}
			s += dy[k]
			out[k] = s
		}
		p := 1.0
		for k, v := range x {
			out[k] *= p
			p *= v
		}
	})
}

// CumprodForward gives the change of the running product when x changes by v. Inputs x, v.
func CumprodForward(c *Call) error {
	return alongAxes2(c.In[0], c.In[1], c.Out[0], oneAxis(c.Attrs, len(c.In[0].Dims)), func(x, v, out []float64) {
		p, t := 1.0, 0.0
		for i := range x {
			t = t*x[i] + v[i]*p
			p *= x[i]
			out[i] = t
		}
	})
}

// alongAxes3 is alongAxes for three inputs of one shape.
func alongAxes3(c *Call, f func(a, b, d, y []float64)) error {
	axes := oneAxis(c.Attrs, len(c.In[0].Dims))
	var in [3][]float64
	n := 1
	for i := range in {
		var v Array
		v, n = axesLast(c.In[i], axes)
		in[i] = Float64s(v)
	}
	data, done := writeRows[float64](c.Out[0], axes)
	if n > 0 {
		Parallel(len(data)/n, rowGrain(n), func(lo, hi int) {
			for i := lo * n; i < hi*n; i += n {
				f(in[0][i:i+n], in[1][i:i+n], in[2][i:i+n], data[i:i+n])
			}
		})
	}
	done()
	return nil
}

// CumprodSecond gives, for each m, Σ over i≥m of dy[i]·∂(CumprodForward of v)[i]/∂x[m]. Inputs x, dy, v.
func CumprodSecond(c *Call) error {
	return alongAxes3(c, func(x, dy, v, out []float64) {
		for m := range x {
			p, t, s := 1.0, 0.0, 0.0
			for k := range x {
				if k != m {
					t = t*x[k] + v[k]*p
					p *= x[k]
				}
				if k >= m {
					s += dy[k] * t
				}
			}
			out[m] = s
		}
	})
}

// expGap is e^(a−b) for a ≤ b, 0 where both are −∞.
func expGap(a, b float64) float64 {
	if math.IsInf(a, -1) {
		return 0
	}
	return math.Exp(a - b)
}

// LogcumsumexpBackward gives Σ over i≥k of g[i]·e^(x[k]−y[i]), for each k, y
// the logcumsumexp of x: no exponent is above 0. Inputs g, x, y.
func LogcumsumexpBackward(c *Call) error {
	return alongAxes3(c, func(g, x, y, out []float64) {
		r := 0.0
		for k := len(x) - 1; k >= 0; k-- {
			if k+1 < len(x) {
				r *= expGap(y[k], y[k+1])
			}
			r += g[k]
			out[k] = r * expGap(x[k], y[k])
		}
	})
}

// LogcumsumexpForward gives Σ over k≤i of v[k]·e^(x[k]−y[i]), for each i. Inputs v, x, y.
func LogcumsumexpForward(c *Call) error {
	return alongAxes3(c, func(v, x, y, out []float64) {
		t := 0.0
		for i := range x {
			if i > 0 {
				t *= expGap(y[i-1], y[i])
			}
			t += v[i] * expGap(x[i], y[i])
			out[i] = t
		}
	})
}

// Diff gives the n-th difference of neighbours along dim; of bools, whether they differ.
func Diff(c *Call) error {
	x, out := c.In[0], c.Out[0]
	if out.Size() == 0 {
		return nil
	}
	axes := oneAxis(c.Attrs, len(x.Dims))
	n := c.Attrs.Int("n")
	f := differences[int64]
	if out.DType == dtype.Bool {
		f = func(x []int64) {
			for i := range x[1:] {
				x[i] ^= x[i+1]
			}
		}
	}
	return byType(out.DType,
		func() { diffRows(x, out, axes, n, differences[float32]) },
		func() { diffRows(x, out, axes, n, differences[float64]) },
		func() { diffRows(x, out, axes, n, f) })
}

// differences turns x into the differences of neighbours; the last element is left over.
func differences[T accum](x []T) {
	for i := range len(x) - 1 {
		x[i] = x[i+1] - x[i]
	}
}

func diffRows[T accum](x, out Array, axes []int, n int, f func([]T)) {
	data, done := writeRows[T](out, axes)
	rows(x, axes, func(i int, row []T) {
		d := append([]T(nil), row...)
		for range n {
			f(d)
			d = d[:len(d)-1]
		}
		copy(data[i*len(d):], d)
	})
	done()
}

// Trapezoid integrates samples along dim by the trapezoidal rule, at distance
// dx or at the points of the second input.
func Trapezoid(c *Call) error {
	dst := dest[float64](c.Out[0])
	intervals(c, func(i int, parts []float64) {
		dst[i] = 0
		for _, p := range parts {
			dst[i] += p
		}
	})
	settle(c.Out[0], dst)
	return nil
}

// CumulativeTrapezoid gives the integral up to each sample but the first.
func CumulativeTrapezoid(c *Call) error {
	data, done := writeRows[float64](c.Out[0], oneAxis(c.Attrs, len(c.In[0].Dims)))
	intervals(c, func(i int, parts []float64) { sums(parts, data[i*len(parts):(i+1)*len(parts)]) })
	done()
	return nil
}

// intervals calls f with the integrals between neighbouring samples of each row.
func intervals(c *Call, f func(i int, parts []float64)) {
	y := c.In[0]
	axes := oneAxis(c.Attrs, len(y.Dims))
	dx := c.Attrs.Float("dx")
	points := []float64(nil)
	shared := false
	if len(c.In) > 1 && c.In[1].Valid() {
		x := c.In[1]
		if shared = len(x.Dims) == 1; !shared {
			x, _ = axesLast(x, axes)
		}
		points = Float64s(x)
	}
	rows(y, axes, func(i int, row []float64) {
		at := points
		if points != nil && !shared {
			at = points[i*len(row) : (i+1)*len(row)]
		}
		parts := make([]float64, max(0, len(row)-1))
		for k := range parts {
			d := dx
			if at != nil {
				d = at[k+1] - at[k]
			}
			parts[k] = (row[k] + row[k+1]) / 2 * d
		}
		f(i, parts)
	})
}
