package tpu

import "github.com/tpush/tpush/runtime/shape"

// MatrixPower multiplies a matrix n times with itself; a negative n takes the inverse.
func (t *Tensor) MatrixPower(n int) *Tensor {
	t.engine()
	r := len(t.view.Dims)
	if r < 2 || t.view.Dims[r-1] != t.view.Dims[r-2] {
		t.engine().fail("matrix_power", &shape.ArgumentError{Op: "matrix_power", Arg: "input", Value: t.Spec(), Why: "its matrices are not square"})
	}
	x := t
	if n < 0 {
		x, n = t.Inv(), -n
	}
	var out *Tensor
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if out == nil {
				out = x
			} else {
				out = out.MatMul(x)
			}
		}
		if n > 1 {
			x = x.MatMul(x)
		}
	}
	switch {
	case out == nil: // the identity, with the type and batch of t
		return t.engine().fullOf(shape.Spec{DType: t.dt, Dims: t.view.Dims}, 1.0).Tril().Triu()
	case out == t:
		return t.Clone()
	}
	return out
}

// EigValsH gives the eigenvalues of a symmetric matrix in ascending order.
func (t *Tensor) EigValsH() *Tensor {
	w, _ := t.EigH()
	return w
}

// SVDVals gives the singular values in descending order.
func (t *Tensor) SVDVals() *Tensor {
	_, s, _ := t.SVD()
	return s
}

// PInv gives the pseudoinverse. Singular values up to the largest times the
// longer side times the precision of the type count as zero.
func (t *Tensor) PInv() *Tensor {
	u, s, v := t.SVD()
	r := len(t.view.Dims)
	limit := float64(max(t.view.Dims[r-1], t.view.Dims[r-2])) * t.dt.Eps()
	keep := s.Gt(s.Detach().AMax(-1).Unsqueeze(-1).Mul(limit))
	inverse := Where(keep, Where(keep, s, 1.0).Reciprocal(), 0.0)
	return v.T().Mul(inverse.Unsqueeze(-2)).MatMul(u.T())
}

// MatrixRank counts the singular values that PInv would not take as zero.
func (t *Tensor) MatrixRank() *Tensor {
	t.engine()
	s := t.Detach().SVDVals()
	r := len(t.view.Dims)
	limit := float64(max(t.view.Dims[r-1], t.view.Dims[r-2])) * t.dt.Eps()
	return s.Gt(s.AMax(-1).Unsqueeze(-1).Mul(limit)).Sum(-1)
}

// CholeskySolve gives X with A·X = t from the factor of A that Cholesky gives.
func (t *Tensor) CholeskySolve(factor *Tensor, upper bool) *Tensor {
	if upper {
		return factor.SolveTriangular(factor.T().SolveTriangular(t, false), true)
	}
	return factor.T().SolveTriangular(factor.SolveTriangular(t, false), true)
}
