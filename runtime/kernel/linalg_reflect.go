package kernel

import "math"

// Factorizations by Householder reflections H = I - τ·v·vᵀ, v[0] = 1 above the
// diagonal, in the form of LAPACK: v below the diagonal, R on and above it.

// reflectors reduces a[m,n] to that form in place and gives the τ of its min(m,n) reflections.
func reflectors(a []float64, m, n int, tau []float64) {
	for j := range min(m, n) {
		below := 0.0
		for i := j + 1; i < m; i++ {
			below = math.Hypot(below, a[i*n+j])
		}
		if below == 0 {
			tau[j] = 0
			continue
		}
		alpha := a[j*n+j]
		beta := -math.Copysign(math.Hypot(alpha, below), alpha)
		tau[j] = (beta - alpha) / beta
		for i := j + 1; i < m; i++ {
			a[i*n+j] /= alpha - beta
		}
		a[j*n+j] = beta
		for c := j + 1; c < n; c++ {
			s := a[j*n+c]
			for i := j + 1; i < m; i++ {
				s += a[i*n+j] * a[i*n+c]
			}
			s *= tau[j]
			a[j*n+c] -= s
			for i := j + 1; i < m; i++ {
				a[i*n+c] -= s * a[i*n+j]
			}
		}
	}
}

// reflectBy applies reflection j of a[m,n] to every column of x[m,cols].
func reflectBy(a []float64, n, j int, tau float64, x []float64, m, cols int) {
	if tau == 0 {
		return
	}
	for c := range cols {
		s := x[j*cols+c]
		for i := j + 1; i < m; i++ {
			s += a[i*n+j] * x[i*cols+c]
		}
		s *= tau
		x[j*cols+c] -= s
		for i := j + 1; i < m; i++ {
			x[i*cols+c] -= s * a[i*n+j]
		}
	}
}

// Geqrf gives the reflections of A[m,n] and their factors τ[k].
func Geqrf(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		copy(out[0], in[0])
		reflectors(out[0], m, n, out[1])
		return nil
	})
}

// Ormqr multiplies C with Q = H₁·H₂·…·Hₖ, from the left or the right, or with its transpose.
func Ormqr(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	k := c.In[1].Dims[r-2]
	rows, cols := c.Out[0].Dims[r-2], c.Out[0].Dims[r-1]
	left, transpose := c.Attrs.Bool("left"), c.Attrs.Bool("transpose")
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		a, tau, x := in[0], in[1], out[0]
		copy(x, in[2])
		w := cols
		if !left { // C·Q = (Qᵀ·Cᵀ)ᵀ
			x, w = transposed(in[2], rows, cols), rows
		}
		for s := range k {
			j := k - 1 - s
			if left == transpose {
				j = s
			}
			reflectBy(a, n, j, tau[j], x, m, w)
		}
		if !left {
			copy(out[0], transposed(x, cols, rows))
		}
		return nil
	})
}

// transposed gives the transpose of a[m,n].
func transposed(a []float64, m, n int) []float64 {
	t := make([]float64, m*n)
	for i := range m {
		for j := range n {
			t[j*m+i] = a[i*n+j]
		}
	}
	return t
}

// QR gives the factors A[m,n] = Q[m,k]·R[k,n], Q with orthonormal columns; k is
// the smaller size, or m in mode complete.
func QR(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	k := c.Out[0].Dims[r-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		a, q, tau := in[0], out[0], make([]float64, min(m, n))
		reflectors(a, m, n, tau)
		for i := range k {
			for j := i; j < n; j++ {
				out[1][i*n+j] = a[i*n+j]
			}
			q[i*k+i] = 1
		}
		for j := len(tau) - 1; j >= 0; j-- {
			reflectBy(a, n, j, tau[j], q, m, k)
		}
		return nil
	})
}
