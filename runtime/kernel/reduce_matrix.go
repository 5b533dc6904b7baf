package kernel

// MatrixNorm is the Frobenius norm of the matrices in the two axes dim, or the
// largest (smallest with a minus sign) sum of magnitudes of a row (inf) or a column (1).
func MatrixNorm(c *Call) error {
	x := c.In[0]
	rank := len(x.Dims)
	d := c.Attrs.Ints("dim")
	row, col := (d[0]+rank)%rank, (d[1]+rank)%rank
	ord := c.Attrs.Str("ord")
	if ord == "fro" {
		reduceRows(x, c.Out[0], reducedAxes(c.Attrs, rank), func(r []float64) float64 { return normRow(r, 2) })
		return nil
	}
	sum, pick := col, row
	if ord == "1" || ord == "-1" {
		sum, pick = row, col
	}
	reduceRows(x, c.Out[0], []int{pick, sum}, func(r []float64) float64 {
		n := x.Dims[sum]
		sums := make([]float64, x.Dims[pick])
		for i := range sums {
			sums[i] = normRow(r[i*n:(i+1)*n], 1)
		}
		if ord[0] == '-' {
			return minRow(sums)
		}
		return maxRow(sums)
	})
	return nil
}
