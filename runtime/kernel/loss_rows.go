package kernel

import "math"

// CosineEmbeddingLoss is 1 − cos where y = 1 and max(0, cos − margin) where
// y = −1, cos = x1·x2/√((‖x1‖²+ε)(‖x2‖²+ε)) along the last axis. Inputs x1, x2, y.
func CosineEmbeddingLoss(c *Call) error {
	margin := c.Attrs.Float("margin")
	dims := commonDims(c.In[:2])
	x1, x2 := Float64s(spread(c.In[0], dims)), Float64s(spread(c.In[1], dims))
	n := dims[len(dims)-1]
	ys := Float64s(spread(c.In[2], dims[:len(dims)-1]))
	each := make([]float64, len(ys))
	const eps = 1e-12
	for i, y := range ys {
		var dot, a, b float64
		for k := i * n; k < (i+1)*n; k++ {
			dot += x1[k] * x2[k]
			a += x1[k] * x1[k]
			b += x2[k] * x2[k]
		}
		cos := dot / math.Sqrt((a+eps)*(b+eps))
		switch y {
		case 1:
			each[i] = 1 - cos
		case -1:
			each[i] = max(0, cos-margin)
		}
	}
	reduceLoss(c, each)
	return nil
}

// TripletMarginLoss is max(0, d(a, p) − d(a, n) + margin), d the p-norm of the
// difference + eps along the last axis; swap takes the nearer of d(a, n) and d(p, n).
func TripletMarginLoss(c *Call) error {
	margin, p, eps, swap := c.Attrs.Float("margin"), c.Attrs.Float("p"), c.Attrs.Float("eps"), c.Attrs.Bool("swap")
	dims := commonDims(c.In)
	var in [3][]float64
	for i := range in {
		in[i] = Float64s(spread(c.In[i], dims))
	}
	n := dims[len(dims)-1]
	rows := 1
	for _, d := range dims[:len(dims)-1] {
		rows *= d
	}
	each := make([]float64, rows)
	for i := range each {
		a, b, z := in[0][i*n:(i+1)*n], in[1][i*n:(i+1)*n], in[2][i*n:(i+1)*n]
		far := distance(a, z, p, eps)
		if swap {
			far = min(far, distance(b, z, p, eps))
		}
		each[i] = max(0, distance(a, b, p, eps)-far+margin)
	}
	reduceLoss(c, each)
	return nil
}

// MultiMarginLoss is Σ over i≠y of w[y]·max(0, margin − x[y] + x[i])^p, divided
// by the number of classes. Inputs x [n, c] or [c], y, weight.
func MultiMarginLoss(c *Call) error {
	p, margin := c.Attrs.Float("p"), c.Attrs.Float("margin")
	x, ys := Float64s(c.In[0]), Int64s(c.In[1])
	weight := optional[float64](c, 2)
	classes := 1
	if r := len(c.In[0].Dims); r > 0 {
		classes = c.In[0].Dims[r-1]
	}
	each := make([]float64, len(ys))
	for i, y := range ys {
		y = clampIndex(y, classes)
		row := x[i*classes : (i+1)*classes]
		for k, v := range row {
			if d := margin - row[y] + v; k != int(y) && d > 0 {
				each[i] += math.Pow(d, p)
			}
		}
		each[i] /= float64(classes)
		if weight != nil {
			each[i] *= weight[y]
		}
	}
	reduceLoss(c, each)
	return nil
}

// clampIndex is the device's rule for a read out of range.
func clampIndex(i int64, n int) int64 { return min(max(i, 0), int64(n)-1) }

// MultilabelSoftMarginLoss is the mean over classes of −(y·log σ(x) + (1−y)·log σ(−x))·w. Inputs x, y, weight.
func MultilabelSoftMarginLoss(c *Call) error {
	dims := commonDims(c.In[:2])
	x, y := Float64s(spread(c.In[0], dims)), Float64s(spread(c.In[1], dims))
	var w []float64
	if len(c.In) > 2 && c.In[2].Valid() {
		w = Float64s(spread(c.In[2], dims))
	}
	n := dims[len(dims)-1]
	each := make([]float64, len(x)/max(n, 1))
	for i := range each {
		for k := i * n; k < (i+1)*n; k++ {
			l := y[k]*softplus(-x[k]) + (1-y[k])*softplus(x[k])
			if w != nil {
				l *= w[k]
			}
			each[i] += l
		}
		each[i] /= float64(n)
	}
	reduceLoss(c, each)
	return nil
}
