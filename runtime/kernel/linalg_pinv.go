package kernel

import "math"

// PInv gives the pseudoinverse. Inputs are the matrices and, each optional, the
// absolute and the relative size up to which singular values count as zero.
func PInv(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	batch := c.In[0].Dims[:r-2]
	tolerance := func(i int) []float64 {
		if i >= len(c.In) || !c.In[i].Valid() {
			return nil
		}
		return Float64s(spread(c.In[i], batch))
	}
	atol, rtol := tolerance(1), tolerance(2)
	eps := float64(max(m, n)) * c.In[0].DType.Eps()
	hermitian := c.Attrs.Bool("hermitian")
	return eachMatrix(&Call{In: c.In[:1], Out: c.Out, Attrs: c.Attrs}, func(b int, in, out [][]float64) error {
		if m == 0 || n == 0 {
			return nil
		}
		var u, s, v []float64 // A = U·diag(S)·Vᵀ with U[m,k], V[n,k]
		k := min(m, n)
		if hermitian {
			a := in[0]
			for i := range n {
				for j := range i {
					a[j*n+i] = a[i*n+j]
				}
			}
			s, u = jacobi(a, n)
			v = u
		} else {
			u, s, v = singular(in[0], m, n)
		}
		largest := 0.0
		for _, x := range s {
			largest = max(largest, math.Abs(x))
		}
		abs, rel := 0.0, eps
		if atol != nil {
			abs = atol[b]
		}
		if rtol != nil {
			rel = rtol[b]
		} else if abs > 0 {
			rel = 0
		}
		limit := max(abs, rel*largest)
		for l := range k {
			if !(math.Abs(s[l]) > limit) {
				continue
			}
			for i := range n {
				f := v[i*k+l] / s[l]
				for j := range m {
					out[0][i*m+j] += f * u[j*k+l]
				}
			}
		}
		return nil
	})
}
