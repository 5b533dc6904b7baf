package kernel

// labelRows calls f for each row of scores and labels of a multilabel loss:
// the labels before the first −1, and which classes they are.
func labelRows(x Array, target Array, f func(i int, row []float64, labels []int64, isLabel []bool)) {
	n := 1
	if len(x.Dims) > 0 {
		n = x.Dims[len(x.Dims)-1]
	}
	xs, ts := Float64s(x), Int64s(target)
	for i := 0; n > 0 && i < len(xs)/n; i++ {
		labels := ts[i*n : (i+1)*n]
		for k, t := range labels {
			if t < 0 {
				labels = labels[:k]
				break
			}
		}
		isLabel := make([]bool, n)
		for _, t := range labels {
			isLabel[clampIndex(t, n)] = true
		}
		f(i, xs[i*n:(i+1)*n], labels, isLabel)
	}
}

// MultilabelMarginLoss is Σ over labels y and other classes i of max(0, 1 −
// (x[y] − x[i])), divided by the number of classes. Inputs x [n, c] or [c], labels alike.
func MultilabelMarginLoss(c *Call) error {
	x := c.In[0]
	each := make([]float64, rowCount(x.Dims))
	labelRows(x, c.In[1], func(i int, row []float64, labels []int64, isLabel []bool) {
		for _, y := range labels {
			for k, v := range row {
				if !isLabel[k] {
					each[i] += max(0, 1-row[clampIndex(y, len(row))]+v)
				}
			}
		}
		each[i] /= float64(len(row))
	})
	reduceLoss(c, each)
	return nil
}

// rowCount counts the rows of dims.
func rowCount(dims []int) int {
	n := 1
	for _, d := range dims[:max(0, len(dims)-1)] {
		n *= d
	}
	return n
}

// MultilabelMarginLossBackward is its gradient. Inputs dy, x, labels.
func MultilabelMarginLossBackward(c *Call) error {
	x := c.In[1]
	dy := Float64s(c.In[0])
	dst := dest[float64](c.Out[0])
	clear(dst)
	rows := rowCount(x.Dims)
	labelRows(x, c.In[2], func(i int, row []float64, labels []int64, isLabel []bool) {
		g := dy[0]
		switch c.Attrs.Str("reduction") {
		case "none":
			g = dy[i]
		case "mean":
			g /= float64(rows)
		}
		g /= float64(len(row))
		out := dst[i*len(row) : (i+1)*len(row)]
		for _, y := range labels {
			y = clampIndex(y, len(row))
			for k, v := range row {
				if !isLabel[k] && 1-row[y]+v > 0 {
					out[k] += g
					out[y] -= g
				}
			}
		}
	})
	settle(c.Out[0], dst)
	return nil
}
