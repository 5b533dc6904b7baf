package kernel

// MatrixNorm is a norm of the matrices in the two axes dim: Frobenius (fro),
// the largest (smallest with a minus sign) sum of magnitudes of a row (inf) or
// a column (1), the largest (smallest) singular value (2), or their sum (nuc).
func MatrixNorm(c *Call) error {
	x := c.In[0]
	axes := matrixAxes(c.Attrs, len(x.Dims))
	ord := c.Attrs.Str("ord")
	if ord == "" {
		ord = c.Attrs.Str("p")
	}
	switch ord {
	case "fro":
		reduceRows(x, c.Out[0], axes, func(r []float64) float64 { return normRow(r, 2) })
		return nil
	case "nuc", "2", "-2":
		n := x.Dims[axes[1]]
		reduceRows(x, c.Out[0], axes, func(r []float64) float64 {
			return singularNorm(newSVD(r, len(r)/max(n, 1), n).s, ord)
		})
		return nil
	}
	sum, pick := axes[1], axes[0]
	if ord == "1" || ord == "-1" {
		sum, pick = pick, sum
	}
	reduceRows(x, c.Out[0], []int{pick, sum}, func(r []float64) float64 {
		n := x.Dims[sum]
		sums := make([]float64, x.Dims[pick])
		for i := range sums {
			sums[i] = normRow(r[i*n:(i+1)*n], 1)
		}
		switch {
		case ord[0] == '-':
			return minRow(sums)
		case len(sums) == 0:
			return 0
		}
		return maxRow(sums)
	})
	return nil
}
