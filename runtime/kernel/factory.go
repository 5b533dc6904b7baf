package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Full writes attribute fill_value everywhere.
func Full(c *Call) error {
	out := c.Out[0]
	var v Array
	switch x := c.Attrs.Get("fill_value").(type) {
	case int:
		v = New(shape.Of(dtype.I64))
		As[int64](v.Buf)[0] = int64(x)
	default:
		v = New(shape.Of(dtype.F64))
		var p Params
		p.number(0, x)
		As[float64](v.Buf)[0] = p.F[0]
	}
	v.Dims, v.Strides = out.Dims, make([]int, len(out.Dims))
	Convert(out, v)
	return nil
}

// Fill writes the second operand, which has no dimensions, everywhere.
func Fill(c *Call) error {
	v := c.In[1]
	v.Dims, v.Strides = c.Out[0].Dims, make([]int, len(c.Out[0].Dims))
	Convert(c.Out[0], v)
	return nil
}

// generate writes f(0), f(1), … in f64, or g in i64 when the result is an integer type.
func generate(out Array, f func(i int) float64, g func(i int) int64) {
	n := out.Size()
	if g != nil && out.DType.Kind() < dtype.KindFloat {
		Parallel(n, heavyGrain, func(lo, hi int) {
			var buf [chunk]int64
			for ; lo < hi; lo += chunk {
				m := min(chunk, hi-lo)
				for i := range m {
					buf[i] = g(lo + i)
				}
				storeRun(&out, lo, buf[:m])
			}
		})
		return
	}
	Parallel(n, heavyGrain, func(lo, hi int) {
		var buf [chunk]float64
		for ; lo < hi; lo += chunk {
			m := min(chunk, hi-lo)
			for i := range m {
				buf[i] = f(lo + i)
			}
			storeRun(&out, lo, buf[:m])
		}
	})
}

// Arange writes start, start + step, …
func Arange(c *Call) error {
	var p Params
	p.number(0, c.Attrs.Get("start"))
	p.number(1, c.Attrs.Get("step"))
	generate(c.Out[0],
		func(i int) float64 { return p.F[0] + float64(i)*p.F[1] },
		func(i int) int64 { return p.I[0] + int64(i)*p.I[1] })
	return nil
}

// linear gives element i of n from a to b, computed from the nearer end, so
// that both ends are exact.
func linear(i, n int, a, b float64) float64 {
	if n == 1 {
		return a
	}
	step := (b - a) / float64(n-1)
	if i < n/2 {
		return a + float64(i)*step
	}
	return b - float64(n-1-i)*step
}

// Linspace writes equally spaced numbers from start to end, both included.
func Linspace(c *Call) error {
	a, b, n := c.Attrs.Float("start"), c.Attrs.Float("end"), c.Attrs.Int("steps")
	generate(c.Out[0], func(i int) float64 { return linear(i, n, a, b) }, nil)
	return nil
}

// Logspace writes base to the power of equally spaced numbers.
func Logspace(c *Call) error {
	a, b, n, base := c.Attrs.Float("start"), c.Attrs.Float("end"), c.Attrs.Int("steps"), c.Attrs.Float("base")
	generate(c.Out[0], func(i int) float64 { return math.Pow(base, linear(i, n, a, b)) }, nil)
	return nil
}

// Eye writes ones on the diagonal of a matrix.
func Eye(c *Call) error {
	m := c.Out[0].Dims[1]
	is := func(i int) int64 { return int64(bit(i/m == i%m)) }
	generate(c.Out[0], func(i int) float64 { return float64(is(i)) }, is)
	return nil
}

// TriIndices gives the rows and columns of the lower (upper = false) or upper
// triangle of a row × col matrix, in row-major order, as i64[2,n].
func TriIndices(upper bool) Func {
	return func(c *Call) error {
		rows, cols, off := c.Attrs.Int("row"), c.Attrs.Int("col"), c.Attrs.Int("offset")
		out := Array{DType: dtype.I64, View: shape.Dense(c.Out[0].Dims), Buf: c.Out[0].Buf}
		if c.Out[0].DType != dtype.I64 {
			out = New(shape.Of(dtype.I64, c.Out[0].Dims...))
		}
		d := As[int64](out.Buf)
		n, k := c.Out[0].Dims[1], 0
		i := 0
		if !upper {
			i = max(0, -off) // the rows before are empty
		}
		for ; i < rows && k < n; i++ {
			from, to := 0, cols
			if upper {
				from = max(0, i+off)
			} else {
				to = min(cols, i+off+1)
			}
			for j := from; j < to; j++ {
				d[k], d[n+k] = int64(i), int64(j)
				k++
			}
		}
		if c.Out[0].DType != dtype.I64 {
			Convert(c.Out[0], out)
		}
		return nil
	}
}
