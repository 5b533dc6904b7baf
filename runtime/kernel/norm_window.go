package kernel

import "math"

// WindowSum adds, for each position i of the axis dim, elements i−before … i+after; what lies outside counts 0.
func WindowSum(c *Call) error {
	x := c.In[0]
	before, after := c.Attrs.Int("before"), c.Attrs.Int("after")
	return alongAxes(x, c.Out[0], oneAxis(c.Attrs, len(x.Dims)), func(x, y []float64) {
		for i := range x {
			y[i] = sumRow(x[max(0, i-before):min(len(x), i+after+1)])
		}
	})
}

// LocalResponseNorm divides by (k + alpha/size·Σ x² over size neighbouring channels)^beta.
func LocalResponseNorm(c *Call) error {
	size := c.Attrs.Int("size")
	alpha, beta, k := c.Attrs.Float("alpha"), c.Attrs.Float("beta"), c.Attrs.Float("k")
	return alongAxes(c.In[0], c.Out[0], []int{1}, func(x, y []float64) {
		for i, v := range x {
			s := 0.0
			for _, w := range x[max(0, i-size/2):min(len(x), i+(size-1)/2+1)] {
				s += w * w
			}
			y[i] = v / math.Pow(k+alpha/float64(size)*s, beta)
		}
	})
}

// Normalize divides by the p-norm along dim, or by eps when that is larger.
func Normalize(c *Call) error {
	p, eps := NormOrder(c.Attrs), c.Attrs.Float("eps")
	return alongAxes(c.In[0], c.Out[0], reducedAxes(c.Attrs, len(c.In[0].Dims)), func(x, y []float64) {
		n := max(normRow(x, p), eps)
		for i, v := range x {
			y[i] = v / n
		}
	})
}

// pairRows calls f for the rows along dim of two inputs stretched to their common shape, and stores what it gives.
func pairRows(c *Call, axes []int, f func(x, y []float64) float64) error {
	dims := commonDims(c.In[:2])
	dst := dest[float64](c.Out[0])
	v, n := axesLast(spread(c.In[1], dims), axes)
	ys := Float64s(v)
	rows(spread(c.In[0], dims), axes, func(i int, row []float64) { dst[i] = f(row, ys[i*n:(i+1)*n]) })
	settle(c.Out[0], dst)
	return nil
}

// CosineSimilarity is x·y / (max(‖x‖, eps)·max(‖y‖, eps)) along dim.
func CosineSimilarity(c *Call) error {
	eps := c.Attrs.Float("eps")
	rank := len(commonDims(c.In[:2]))
	return pairRows(c, oneAxis(c.Attrs, rank), func(x, y []float64) float64 { return cosine(x, y, eps) })
}

func cosine(x, y []float64, eps float64) float64 {
	p := make([]float64, len(x))
	for i := range x {
		p[i] = x[i] * y[i]
	}
	return sumRow(p) / (max(normRow(x, 2), eps) * max(normRow(y, 2), eps))
}

// PairwiseDistance is the p-norm of x − y + eps along the last axis.
func PairwiseDistance(c *Call) error {
	p, eps := c.Attrs.Float("p"), c.Attrs.Float("eps")
	rank := len(commonDims(c.In[:2]))
	return pairRows(c, lastN(rank, 1), func(x, y []float64) float64 { return distance(x, y, p, eps) })
}

func distance(x, y []float64, p, eps float64) float64 {
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i] + eps
	}
	return normRow(d, p)
}
