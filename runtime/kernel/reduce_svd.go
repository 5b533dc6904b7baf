package kernel

import (
	"math"
	"sort"
)

// An svd is u·diag(s)·vᵀ of an m×n matrix with k = min(m, n): u is m×k, v is n×k, s falls.
type svd struct {
	m, n, k int
	u, v, s []float64
}

// newSVD decomposes a row-major m×n matrix by one-sided Jacobi rotations of
// pairs of columns until all are orthogonal.
func newSVD(a []float64, m, n int) *svd {
	if m < n { // work on the transpose, whose columns are fewer
		t := make([]float64, len(a))
		for i := range m {
			for j := range n {
				t[j*m+i] = a[i*n+j]
			}
		}
		d := newSVD(t, n, m)
		d.m, d.n, d.u, d.v = m, n, d.v, d.u
		return d
	}
	// Columns of a and of v lie one after the other.
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			c[j*m+i] = a[i*n+j]
		}
	}
	v := make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	rotate := func(x, y []float64, cos, sin float64) {
		for i := range x {
			x[i], y[i] = cos*x[i]-sin*y[i], sin*x[i]+cos*y[i]
		}
	}
	for sweep := 0; sweep < 60; sweep++ {
		still := true
		for p := range n {
			for q := p + 1; q < n; q++ {
				x, y := c[p*m:(p+1)*m], c[q*m:(q+1)*m]
				var xx, yy, xy float64
				for i := range x {
					xx += x[i] * x[i]
					yy += y[i] * y[i]
					xy += x[i] * y[i]
				}
				if math.Abs(xy) <= 1e-16*math.Sqrt(xx*yy) {
					continue
				}
				still = false
				z := (yy - xx) / (2 * xy)
				t := math.Copysign(1, z) / (math.Abs(z) + math.Sqrt(1+z*z))
				cos := 1 / math.Sqrt(1+t*t)
				rotate(x, y, cos, cos*t)
				rotate(v[p*n:(p+1)*n], v[q*n:(q+1)*n], cos, cos*t)
			}
		}
		if still {
			break
		}
	}
	s := make([]float64, n)
	order := make([]int, n)
	for j := range n {
		s[j], order[j] = normRow(c[j*m:(j+1)*m], 2), j
	}
	sort.SliceStable(order, func(i, j int) bool { return s[order[i]] > s[order[j]] })
	d := &svd{m: m, n: n, k: n, u: make([]float64, m*n), v: make([]float64, n*n), s: make([]float64, n)}
	for k, j := range order {
		d.s[k] = s[j]
		for i := range m {
			if s[j] > 0 {
				d.u[i*n+k] = c[j*m+i] / s[j]
			}
		}
		for i := range n {
			d.v[i*n+k] = v[j*n+i]
		}
	}
	return d
}

// outer is u·diag(w)·vᵀ.
func (d *svd) outer(w func(k int) float64, out []float64) {
	for i := range d.m {
		for j := range d.n {
			s := 0.0
			for k := range d.k {
				s += d.u[i*d.k+k] * w(k) * d.v[j*d.k+k]
			}
			out[i*d.n+j] = s
		}
	}
}

// singularNorm gives the norm of singular values that ord names: nuc, 2 or -2.
func singularNorm(s []float64, ord string) float64 {
	switch {
	case len(s) == 0:
		return 0
	case ord == "nuc":
		return sumRow(s)
	case ord == "-2":
		return s[len(s)-1]
	}
	return s[0]
}

// SingularNormBackward is the gradient of a norm of singular values: u·vᵀ, or
// the part of the one value that is the norm. Inputs dy, A; dim names the two axes of the matrices.
func SingularNormBackward(c *Call) error {
	x, ord := c.In[1], c.Attrs.Str("ord")
	axes := matrixAxes(c.Attrs, len(x.Dims))
	dy := Float64s(c.In[0])
	data, done := writeRows[float64](c.Out[0], axes)
	n := x.Dims[axes[1]]
	rows(x, axes, func(i int, a []float64) {
		d := newSVD(a, len(a)/max(n, 1), n)
		d.outer(func(k int) float64 {
			if ord == "nuc" && d.s[k] > 0 || ord == "2" && k == 0 || ord == "-2" && k == d.k-1 {
				return dy[i]
			}
			return 0
		}, data[i*len(a):(i+1)*len(a)])
	})
	done()
	return nil
}

// matrixAxes are the row and column axis named by dim, the last two when it is empty, not negative.
func matrixAxes(a Attrs, rank int) []int {
	d := a.Ints("dim")
	if len(d) != 2 {
		d = []int{-2, -1}
	}
	return []int{(d[0] + rank) % rank, (d[1] + rank) % rank}
}
