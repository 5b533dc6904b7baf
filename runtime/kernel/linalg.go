package kernel

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Factorizations run in f64 and round their results once.

// A FactorError says which matrix of a batch has no factorization, and why.
type FactorError struct {
	Op    string
	Batch int // which matrix, in row-major order of the batch
	Pivot int // the row or column that failed, from 0
	Why   string
}

// Error is one line: cholesky: matrix 0 is not positive definite at pivot 1.
func (e *FactorError) Error() string {
	return fmt.Sprintf("%s: matrix %d %s at pivot %d", e.Op, e.Batch, e.Why, e.Pivot)
}

// eachMatrix hands f the matrices of the inputs, [rows,cols] of the last two
// axes, and the memory of the outputs; both in f64, one call for each element
// of the batch. It stores the results.
func eachMatrix(c *Call, f func(b int, in, out [][]float64) error) error {
	batch := shape.Size(c.In[0].Dims[:len(c.In[0].Dims)-2])
	in, out := make([][]float64, len(c.In)), make([][]float64, len(c.Out))
	for i, a := range c.In {
		in[i] = append([]float64{}, Float64s(a)...)
	}
	for i, o := range c.Out {
		out[i] = make([]float64, o.Size())
	}
	errs := make([]error, batch)
	Parallel(batch, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			bi, bo := make([][]float64, len(in)), make([][]float64, len(out))
			for i, x := range in {
				n := len(x) / batch
				bi[i] = x[b*n : (b+1)*n]
			}
			for i, x := range out {
				n := len(x) / batch
				bo[i] = x[b*n : (b+1)*n]
			}
			errs[b] = f(b, bi, bo)
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for i, o := range c.Out {
		Convert(o, Array{DType: dtype.F64, View: shape.Dense(o.Dims), Buf: bytesOf(out[i])})
	}
	return nil
}

// Cholesky gives lower L with A = L·Lᵀ, or with "upper" its transpose. Only
// the lower triangle of A is read.
func Cholesky(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(b int, in, out [][]float64) error {
		a, l := in[0], out[0]
		for j := range n {
			for i := j; i < n; i++ {
				s := a[i*n+j]
				for k := range j {
					s -= l[i*n+k] * l[j*n+k]
				}
				if i > j {
					l[i*n+j] = s / l[j*n+j]
					continue
				}
				if !(s > 0) {
					return &FactorError{"cholesky", b, j, "is not positive definite"}
				}
				l[j*n+j] = math.Sqrt(s)
			}
		}
		if c.Attrs.Bool("upper") {
			transposeSquare(l, n)
		}
		return nil
	})
}

func transposeSquare(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
		}
	}
}

// decompose factors a[n,n] into P·A = L·U in place, and gives the row order and
// the sign of the permutation. singular is the first pivot that is zero, -1 for none.
func decompose(a []float64, n int) (perm []int, sign float64, singular int) {
	perm, sign, singular = make([]int, n), 1, -1
	for i := range perm {
		perm[i] = i
	}
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		if p != k {
			for j := range n {
				a[p*n+j], a[k*n+j] = a[k*n+j], a[p*n+j]
			}
			perm[p], perm[k] = perm[k], perm[p]
			sign = -sign
		}
		if a[k*n+k] == 0 {
			if singular < 0 {
				singular = k
			}
			continue
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			a[i*n+k] = f
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
		}
	}
	return perm, sign, singular
}

// solveWith solves L·U·x = P·b for m right-hand sides.
func solveWith(lu []float64, perm []int, n int, b, x []float64, m int) {
	for i := range n {
		copy(x[i*m:(i+1)*m], b[perm[i]*m:(perm[i]+1)*m])
	}
	for i := range n {
		for k := range i {
			f := lu[i*n+k]
			for j := range m {
				x[i*m+j] -= f * x[k*m+j]
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			f := lu[i*n+k]
			for j := range m {
				x[i*m+j] -= f * x[k*m+j]
			}
		}
		for j := range m {
			x[i*m+j] /= lu[i*n+i]
		}
	}
}

// Solve gives X with A·X = B. Both have the batch of the result; cols is the
// number of right-hand sides.
func Solve(c *Call) error {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	n := a.Dims[len(a.Dims)-1]
	lead := len(out.Dims) - 2
	if len(b.Dims) == 1 || len(b.Dims) == len(a.Dims)-1 && shape.EqualDims(b.Dims, a.Dims[:len(b.Dims)]) {
		lead = len(out.Dims) - 1
	}
	m := shape.Size(out.Dims[lead+1:])
	batch := out.Dims[:lead]
	a = expanded(a, append(append([]int{}, batch...), n, n))
	b = expanded(b, out.Dims)
	return eachMatrix(&Call{In: []Array{a, b}, Out: c.Out, Attrs: c.Attrs}, func(k int, in, out [][]float64) error {
		perm, _, singular := decompose(in[0], n)
		if singular >= 0 {
			return &FactorError{"solve", k, singular, "is singular"}
		}
		solveWith(in[0], perm, n, in[1], out[0], m)
		return nil
	})
}

// Inverse gives A⁻¹.
func Inverse(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(b int, in, out [][]float64) error {
		perm, _, singular := decompose(in[0], n)
		if singular >= 0 {
			return &FactorError{"inv", b, singular, "is singular"}
		}
		eye := make([]float64, n*n)
		for i := range n {
			eye[i*n+i] = 1
		}
		solveWith(in[0], perm, n, eye, out[0], n)
		return nil
	})
}

// Det gives the determinant.
func Det(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		_, d, _ := decompose(in[0], n)
		for i := range n {
			d *= in[0][i*n+i]
		}
		out[0][0] = d
		return nil
	})
}

// SLogDet gives the sign of the determinant and the logarithm of its size.
func SLogDet(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		sign, log := signLog(in[0], n)
		out[0][0], out[1][0] = sign, log
		return nil
	})
}

// LogDet gives the logarithm of the determinant, NaN where that is negative.
func LogDet(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		sign, log := signLog(in[0], n)
		out[0][0] = log
		if sign < 0 {
			out[0][0] = math.NaN()
		}
		return nil
	})
}

func signLog(a []float64, n int) (sign, log float64) {
	_, sign, _ = decompose(a, n)
	for i := range n {
		d := a[i*n+i]
		if d == 0 {
			return 0, math.Inf(-1)
		}
		if d < 0 {
			sign = -sign
		}
		log += math.Log(math.Abs(d))
	}
	return sign, log
}

// SolveTriangular gives X with A·X = B, or X·A = B with "left" false. Only the
// triangle "upper" of A is read; with "unitriangular" its diagonal counts as ones.
func SolveTriangular(c *Call) error {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	n, r := a.Dims[len(a.Dims)-1], len(out.Dims)
	rows, cols := out.Dims[r-2], out.Dims[r-1]
	batch := out.Dims[:r-2]
	a = expanded(a, append(append([]int{}, batch...), n, n))
	b = expanded(b, out.Dims)
	upper, left, unit := c.Attrs.Bool("upper"), c.Attrs.Bool("left"), c.Attrs.Bool("unitriangular")
	return eachMatrix(&Call{In: []Array{a, b}, Out: c.Out, Attrs: c.Attrs}, func(_ int, in, out [][]float64) error {
		t, x := in[0], out[0]
		copy(x, in[1])
		if !left { // Aᵀ·Xᵀ = Bᵀ, row by row
			transposeSquare(t, n)
		}
		at := func(i, j int) *float64 { // element (i, j) of the n-row system
			if left {
				return &x[i*cols+j]
			}
			return &x[j*cols+i]
		}
		sides := cols
		if !left {
			sides = rows
		}
		for j := range sides {
			for s := range n {
				i, lo, hi := s, 0, s
				if upper == left { // from the last row up
					i = n - 1 - s
					lo, hi = i+1, n
				}
				v := *at(i, j)
				for k := lo; k < hi; k++ {
					v -= t[i*n+k] * *at(k, j)
				}
				if !unit {
					v /= t[i*n+i]
				}
				*at(i, j) = v
			}
		}
		return nil
	})
}

// Eigh gives the eigenvalues of a symmetric matrix in ascending order, and the
// eigenvectors as columns, by rotations. Only the lower triangle is read,
// unless the attribute "UPLO" is U.
func Eigh(c *Call) error {
	n := c.In[0].Dims[len(c.In[0].Dims)-1]
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		a := in[0]
		for i := range n {
			for j := range i {
				if c.Attrs.Str("UPLO") == "U" {
					a[i*n+j] = a[j*n+i]
				} else {
					a[j*n+i] = a[i*n+j]
				}
			}
		}
		w, v := jacobi(a, n)
		copy(out[0], w)
		if len(out) > 1 {
			copy(out[1], v)
		}
		return nil
	})
}

// jacobi diagonalizes the symmetric a[n,n], destroying it.
func jacobi(a []float64, n int) (w, v []float64) {
	v = make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 60 {
		off, all := 0.0, 0.0
		for i := range n {
			for j := range n {
				all += a[i*n+j] * a[i*n+j]
				if i != j {
					off += a[i*n+j] * a[i*n+j]
				}
			}
		}
		if off <= 1e-32*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p*n+q] == 0 {
					continue
				}
				th := (a[q*n+q] - a[p*n+p]) / (2 * a[p*n+q])
				t := 1 / (math.Abs(th) + math.Sqrt(th*th+1))
				if th < 0 {
					t = -t
				}
				cs := 1 / math.Sqrt(t*t+1)
				sn := t * cs
				for k := range n {
					x, y := a[k*n+p], a[k*n+q]
					a[k*n+p], a[k*n+q] = cs*x-sn*y, sn*x+cs*y
				}
				for k := range n {
					x, y := a[p*n+k], a[q*n+k]
					a[p*n+k], a[q*n+k] = cs*x-sn*y, sn*x+cs*y
				}
				for k := range n {
					x, y := v[k*n+p], v[k*n+q]
					v[k*n+p], v[k*n+q] = cs*x-sn*y, sn*x+cs*y
				}
			}
		}
	}
	w = make([]float64, n)
	for i := range n {
		w[i] = a[i*n+i]
	}
	// Ascending, the columns along.
	for i := range n {
		k := i
		for j := i + 1; j < n; j++ {
			if w[j] < w[k] {
				k = j
			}
		}
		if k != i {
			w[i], w[k] = w[k], w[i]
			for r := range n {
				v[r*n+i], v[r*n+k] = v[r*n+k], v[r*n+i]
			}
		}
	}
	return w, v
}

// SVD gives the reduced factors: A[m,n] = U[m,k]·diag(S[k])·Vh[k,n], S descending.
func SVD(c *Call) error {
	r := len(c.In[0].Dims)
	m, n := c.In[0].Dims[r-2], c.In[0].Dims[r-1]
	k := min(m, n)
	return eachMatrix(c, func(_ int, in, out [][]float64) error {
		u, s, v := singular(in[0], m, n)
		copy(out[0], u)
		copy(out[1], s)
		copy(out[2], transposed(v, n, k))
		return nil
	})
}

// singular gives U[m,k], S[k] and V[n,k] with a = U·diag(S)·Vᵀ, S descending, by
// one-sided rotations of the shorter side's vectors.
func singular(a []float64, m, n int) (u, s, v []float64) {
	k := min(m, n)
	long, wide := max(m, n), m < n
	// g has k columns of the long size; z collects the rotations.
	g, z := make([]float64, long*k), make([]float64, k*k)
	for i := range m {
		for j := range n {
			if wide {
				g[j*k+i] = a[i*n+j]
			} else {
				g[i*k+j] = a[i*n+j]
			}
		}
	}
	for i := range k {
		z[i*k+i] = 1
	}
	orthogonalize(g, z, long, k)
	norms, sorted := columnNorms(g, long, k)
	s = make([]float64, k)
	left, right := make([]float64, long*k), make([]float64, k*k)
	for o, col := range sorted {
		s[o] = norms[col]
		for i := range long {
			if norms[col] > 0 {
				left[i*k+o] = g[i*k+col] / norms[col]
			}
		}
		for i := range k {
			right[i*k+o] = z[i*k+col]
		}
	}
	for o := range k {
		if s[o] == 0 {
			completeColumn(left, long, k, o)
		}
	}
	if wide {
		return right, s, left
	}
	return left, s, right
}

// completeColumn makes column o of q[rows,k] a unit vector orthogonal to those before it.
func completeColumn(q []float64, rows, k, o int) {
	best, at := -1.0, 0
	for i := range rows { // the axis that the columns before use least
		rest := 1.0
		for j := range o {
			rest -= q[i*k+j] * q[i*k+j]
		}
		if rest > best {
			best, at = rest, i
		}
	}
	v := make([]float64, rows)
	v[at] = 1
	for range 2 { // twice is enough
		for j := range o {
			d := 0.0
			for i := range v {
				d += v[i] * q[i*k+j]
			}
			for i := range v {
				v[i] -= d * q[i*k+j]
			}
		}
	}
	norm := 0.0
	for _, x := range v {
		norm = math.Hypot(norm, x)
	}
	for i, x := range v {
		q[i*k+o] = x / norm
	}
}

// orthogonalize rotates the k columns of g until they are orthogonal, and those of z along.
func orthogonalize(g, z []float64, long, k int) {
	for range 60 {
		done := true
		for p := range k {
			for q := p + 1; q < k; q++ {
				var x, y, d float64
				for i := range long {
					u, v := g[i*k+p], g[i*k+q]
					x, y, d = x+u*u, y+v*v, d+u*v
				}
				if math.Abs(d) <= 1e-16*math.Sqrt(x*y) || d == 0 {
					continue
				}
				done = false
				th := (y - x) / (2 * d)
				t := 1 / (math.Abs(th) + math.Sqrt(th*th+1))
				if th < 0 {
					t = -t
				}
				cs := 1 / math.Sqrt(t*t+1)
				sn := t * cs
				for i := range long {
					u, v := g[i*k+p], g[i*k+q]
					g[i*k+p], g[i*k+q] = cs*u-sn*v, sn*u+cs*v
				}
				for i := range k {
					u, v := z[i*k+p], z[i*k+q]
					z[i*k+p], z[i*k+q] = cs*u-sn*v, sn*u+cs*v
				}
			}
		}
		if done {
			return
		}
	}
}

// columnNorms gives the lengths of the columns, and their order, longest first.
func columnNorms(g []float64, long, k int) (s []float64, order []int) {
	s, order = make([]float64, k), make([]int, k)
	for j := range k {
		for i := range long {
			s[j] += g[i*k+j] * g[i*k+j]
		}
		s[j] = math.Sqrt(s[j])
		order[j] = j
	}
	for i := range k {
		for j := i; j > 0 && s[order[j]] > s[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	return s, order
}
