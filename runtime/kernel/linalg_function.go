package kernel

import "math"

// MatrixExp gives Σ Aᵏ/k!, by its series for A/2ˢ and s squarings.
func MatrixExp(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		a, norm := in[0], 0.0
		for i := range n {
			sum := 0.0
			for j := range n {
				sum += math.Abs(a[i*n+j])
			}
			norm = max(norm, sum)
		}
		s := 0
		for ; norm > 0.5 && s < 1100; s++ {
			norm /= 2
		}
		scale := math.Ldexp(1, -s)
		for i := range a {
			a[i] *= scale
		}
		// Horner: I + A(I + A/2(I + A/3(…))).
		e, t := make([]float64, n*n), make([]float64, n*n)
		for i := range n {
			e[i*n+i] = 1
		}
		for k := 18; k > 0; k-- {
			squareProduct(t, a, e, n)
			for i := range t {
				e[i] = t[i] / float64(k)
			}
			for i := range n {
				e[i*n+i]++
			}
		}
		for range s {
			squareProduct(t, e, e, n)
			e, t = t, e
		}
		copy(out[0], e)
		return nil
	})
}

// squareProduct is z = x·y of square matrices.
func squareProduct(z, x, y []float64, n int) {
	for i := range n {
		row := z[i*n : (i+1)*n]
		clear(row)
		for k := range n {
			f := x[i*n+k]
			for j, v := range y[k*n : (k+1)*n] {
				row[j] += f * v
			}
		}
	}
}

// MatrixSqrtH gives the symmetric root of a symmetric positive definite matrix;
// the lower triangle is read.
func MatrixSqrtH(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		a := in[0]
		for i := range n {
			for j := range i {
				a[j*n+i] = a[i*n+j]
			}
		}
		w, v := jacobi(a, n)
		for k := range n {
			root := math.Sqrt(w[k])
			for i := range n {
				for j := range n {
					out[0][i*n+j] += v[i*n+k] * root * v[j*n+k]
				}
			}
		}
		return nil
	})
}
