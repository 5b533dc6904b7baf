package kernel

import "math"

// SafeSoftmax is Softmax, and 0 in a row that is −∞ throughout.
func SafeSoftmax(c *Call) error {
	return floatRows(c, safeSoftmaxRow[float32], safeSoftmaxRow[float64])
}

func safeSoftmaxRow[T float32 | float64](x, y []T) {
	if m := maxRow(x); m < 0 && math.IsInf(float64(m), -1) {
		clear(y)
		return
	}
	softmaxRow(x, y)
}

// stats gives mean and 1/√(variance+eps) of each row along axes as results 1 and 2.
func stats(c *Call, axes []int) {
	x := c.In[0]
	eps := c.Attrs.Float("eps")
	mean, rstd := dest[float64](c.Out[1]), dest[float64](c.Out[2])
	each := func(i int, m, v float64) { mean[i], rstd[i] = m, 1/math.Sqrt(v+eps) }
	if c.Out[0].Size() > 0 {
		byType(c.Out[0].DType,
			func() { rows(x, axes, func(i int, r []float32) { m, v := meanVar(r, 0); each(i, m, v) }) },
			func() { rows(x, axes, func(i int, r []float64) { m, v := meanVar(r, 0); each(i, m, v) }) }, nil)
	}
	settle(c.Out[1], mean)
	settle(c.Out[2], rstd)
}

// NativeLayerNorm is LayerNorm with the statistics of each row.
func NativeLayerNorm(c *Call) error {
	stats(c, lastN(len(c.In[0].Dims), len(c.Attrs.Ints("normalized_shape"))))
	return LayerNorm(&Call{In: c.In, Out: c.Out[:1], Attrs: c.Attrs})
}

// NativeBatchNorm is BatchNorm with the statistics it used. Inputs x, weight,
// bias, running mean, running variance.
func NativeBatchNorm(c *Call) error {
	in := make([]Array, 5)
	copy(in, c.In)
	in = []Array{in[0], in[3], in[4], in[1], in[2]}
	run := &Call{In: in, Attrs: c.Attrs, Out: []Array{c.Out[0], New(c.Out[1].Spec()), New(c.Out[2].Spec())}}
	if c.Attrs.Bool("training") {
		var axes []int
		for i := range c.In[0].Dims {
			if i != 1 {
				axes = append(axes, i)
			}
		}
		stats(c, axes)
		return BatchNorm(run)
	}
	Convert(c.Out[1], in[1])
	rstd := Float64s(in[2])
	v := make([]float64, len(rstd))
	for i, x := range rstd {
		v[i] = 1 / math.Sqrt(x+c.Attrs.Float("eps"))
	}
	Convert(c.Out[2], denseOf(v, c.Out[2].Dims))
	run.Out[1], run.Out[2] = New(in[1].Spec()), New(in[2].Spec())
	return BatchNorm(run)
}
