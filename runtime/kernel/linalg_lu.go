package kernel

import "math"

// LUFactor gives L and U of P·L·U = A[m,n] in one matrix, the row each step
// swapped with (from 1), and the first pivot that is zero (from 1; 0: none).
func LUFactor(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	pivot := c.Attrs.Bool("pivot")
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		a := out[0]
		copy(a, in[0])
		for k := range min(m, n) {
			p := k
			for i := k + 1; i < m && pivot; i++ {
				if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
					p = i
				}
			}
			out[1][k] = float64(p + 1)
			if p != k {
				for j := range n {
					a[p*n+j], a[k*n+j] = a[k*n+j], a[p*n+j]
				}
			}
			if a[k*n+k] == 0 {
				if out[2][0] == 0 {
					out[2][0] = float64(k + 1)
				}
				continue
			}
			for i := k + 1; i < m; i++ {
				f := a[i*n+k] / a[k*n+k]
				a[i*n+k] = f
				for j := k + 1; j < n; j++ {
					a[i*n+j] -= f * a[k*n+j]
				}
			}
		}
		return nil
	})
}

// rowOrder gives the rows of A in the order of those of L·U, from recorded swaps.
func rowOrder(pivots []float64, m int) []int {
	perm := make([]int, m)
	for i := range perm {
		perm[i] = i
	}
	for i, p := range pivots {
		if q := int(p) - 1; q >= 0 && q < m {
			perm[i], perm[q] = perm[q], perm[i]
		}
	}
	return perm
}

// LUUnpack gives P, L and U of what LUFactor gave.
func LUUnpack(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	k := min(m, n)
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		if c.Attrs.Bool("unpack_pivots") {
			for i, row := range rowOrder(in[1], m) {
				out[0][row*m+i] = 1
			}
		}
		if !c.Attrs.Bool("unpack_data") {
			return nil
		}
		for i := range m {
			for j := range n {
				x := in[0][i*n+j]
				switch {
				case i > j && j < k:
					out[1][i*k+j] = x
				case i <= j && i < k:
					out[2][i*n+j] = x
				}
			}
			if i < k {
				out[1][i*k+i] = 1
			}
		}
		return nil
	})
}

// LUSolve gives X with A·X = B from what LUFactor gave of A, or Aᵀ·X = B with
// "adjoint", or X·A = B with "left" false.
func LUSolve(c *Call) error {
	r := len(c.Out[0].Dims)
	batch, rows, cols := c.Out[0].Dims[:r-2], c.Out[0].Dims[r-2], c.Out[0].Dims[r-1]
	d := c.In[0].Dims
	n := d[len(d)-1]
	left, adjoint := c.Attrs.Bool("left"), c.Attrs.Bool("adjoint")
	in := []Array{expanded(c.In[0], append(append([]int{}, batch...), n, n)), expanded(c.In[1], append(append([]int{}, batch...), n)), expanded(c.In[2], c.Out[0].Dims)}
	return eachMatrix(&Call{In: in, Out: c.Out, Attrs: c.Attrs}, func(_ int, in, out [][]float64) error {
		perm := rowOrder(in[1], n)
		b, x, w := in[2], out[0], cols
		if !left { // X·A = B is Aᵀ·Xᵀ = Bᵀ
			b, x, w = transposed(b, rows, cols), make([]float64, len(b)), rows
		}
		if left == adjoint {
			solveTransposed(in[0], perm, n, b, x, w)
		} else {
			solveWith(in[0], perm, n, b, x, w)
		}
		if !left {
			copy(out[0], transposed(x, cols, rows))
		}
		return nil
	})
}

// solveTransposed solves (Pᵀ·L·U)ᵀ·x = b for m right-hand sides.
func solveTransposed(lu []float64, perm []int, n int, b, x []float64, m int) {
	y := append([]float64{}, b...)
	for i := range n { // Uᵀ
		for j := range m {
			y[i*m+j] /= lu[i*n+i]
		}
		for k := i + 1; k < n; k++ {
			for j := range m {
				y[k*m+j] -= lu[i*n+k] * y[i*m+j]
			}
		}
	}
	for i := n - 1; i >= 0; i-- { // Lᵀ
		for k := range i {
			for j := range m {
				y[k*m+j] -= lu[i*n+k] * y[i*m+j]
			}
		}
	}
	for i, row := range perm {
		copy(x[row*m:(row+1)*m], y[i*m:(i+1)*m])
	}
}

// CholeskySolve gives X with A·X = B from the factor of A: In is B and the factor.
func CholeskySolve(c *Call) error {
	out := c.Out[0]
	r := len(out.Dims)
	n, cols := out.Dims[r-2], out.Dims[r-1]
	upper := c.Attrs.Bool("upper")
	in := []Array{expanded(c.In[0], out.Dims), expanded(c.In[1], append(append([]int{}, out.Dims[:r-2]...), n, n))}
	return eachMatrix(&Call{In: in, Out: c.Out, Attrs: c.Attrs}, func(_ int, in, out [][]float64) error {
		l := in[1]
		if upper {
			l = transposed(l, n, n)
		}
		copy(out[0], in[0])
		choleskySolve(l, n, out[0], cols)
		return nil
	})
}

// choleskySolve replaces x[n,cols] by (L·Lᵀ)⁻¹·x.
func choleskySolve(l []float64, n int, x []float64, cols int) {
	for i := range n {
		for k := range i {
			for j := range cols {
				x[i*cols+j] -= l[i*n+k] * x[k*cols+j]
			}
		}
		for j := range cols {
			x[i*cols+j] /= l[i*n+i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			for j := range cols {
				x[i*cols+j] -= l[k*n+i] * x[k*cols+j]
			}
		}
		for j := range cols {
			x[i*cols+j] /= l[i*n+i]
		}
	}
}

// CholeskyInverse gives A⁻¹ from the factor of A.
func CholeskyInverse(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	upper := c.Attrs.Bool("upper")
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		l := in[0]
		if upper {
			l = transposed(l, n, n)
		}
		for i := range n {
			out[0][i*n+i] = 1
		}
		choleskySolve(l, n, out[0], n)
		return nil
	})
}
