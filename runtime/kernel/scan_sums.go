package kernel

import "github.com/tpush/tpush/runtime/simd"

// Cumsum gives the running sum along dim.
func Cumsum(c *Call) error {
	x, out := c.In[0], c.Out[0]
	axes := oneAxis(c.Attrs, len(x.Dims))
	return byType(out.DType,
		func() { sumRowsF32(x, out, axes) },
		func() { mapRows(x, out, axes, sums[float64]) },
		func() { mapRows(x, out, axes, sums[int64]) })
}

// sumRowsF32 takes several rows at a time: the sums of one wait for each other.
func sumRowsF32(x, out Array, axes []int) {
	data, done := writeRows[float32](out, axes)
	v, n := axesLast(x, axes)
	src := load[float32](v)
	if n > 0 && len(src) > 0 {
		r := simd.RunsOf(simd.Chosen())
		Parallel(len(src)/n, max(rowGrain(n), r.SumRows), func(lo, hi int) {
			i := lo
			for ; i+r.SumRows <= hi; i += r.SumRows {
				r.Sums(n, src[i*n:], n, data[i*n:], n)
			}
			for ; i < hi; i++ {
				sums(src[i*n:(i+1)*n], data[i*n:(i+1)*n])
			}
		})
	}
	done()
}
