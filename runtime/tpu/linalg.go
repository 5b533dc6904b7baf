package tpu

import (
	"math"
	"strconv"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

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
func (t *Tensor) EigValsH(opts ...EigHOptions) *Tensor {
	t.engine()
	w, _ := t.EigH(opts...)
	return w
}

// SVDVals gives the singular values in descending order.
func (t *Tensor) SVDVals() *Tensor {
	t.engine()
	_, s, _ := t.SVD()
	return s
}

// RankOptions say which singular values, or eigenvalues, count as zero: those up
// to max(ATol, RTol·largest).
type RankOptions struct {
	ATol      any  // a number or a tensor, one for each matrix; 0 when not set
	RTol      any  // likewise; when neither is set, the longer side times the precision of the type
	Hermitian bool // the matrix is symmetric; its lower triangle is read
}

// limits is max(ATol, RTol·largest) for the sizes s of singular values, [..., k] → [..., 1].
func (o RankOptions) limits(t, s *Tensor) *Tensor {
	rtol, atol := o.RTol, o.ATol
	if rtol == nil {
		rtol = 0.0
		r := len(t.view.Dims)
		eps := float64(max(t.view.Dims[r-1], t.view.Dims[r-2])) * t.dt.Eps()
		switch a := atol.(type) {
		case nil:
			rtol = eps
		case *Tensor: // the default counts where no tolerance is given
			rtol = Where(a.Detach().Gt(0), 0.0, eps)
		default:
			if !(asFloat(a) > 0) {
				rtol = eps
			}
		}
	}
	if atol == nil {
		atol = 0.0
	}
	largest := s.Detach().AMax(-1)
	limit := largest.Mul(rtol)
	if a, ok := atol.(*Tensor); ok {
		return Maximum(limit, a.to(limit.dt)).Unsqueeze(-1)
	}
	return limit.ClampMin(asFloat(atol)).Unsqueeze(-1)
}

// pinv gives the options of PInv for t.
func (o RankOptions) pinv(t *Tensor) PInvOptions {
	tensor := func(x any) *Tensor {
		switch x := x.(type) {
		case nil:
			return nil
		case *Tensor:
			return x
		default:
			return t.s.e.fullOf(shape.Spec{DType: t.dt, Dims: []int{}}, asFloat(x))
		}
	}
	return PInvOptions{Atol: tensor(o.ATol), Rtol: tensor(o.RTol), Hermitian: o.Hermitian}
}

// asFloat gives a Go number as float64.
func asFloat(x any) float64 {
	switch x := x.(type) {
	case int:
		return float64(x)
	case float64:
		return x
	case LiveNumber:
		n, _ := number(x)
		return asFloat(n)
	}
	return 0
}

// MatrixRank counts the singular values that PInv would not take as zero.
func (t *Tensor) MatrixRank(opts ...RankOptions) *Tensor {
	t.engine()
	var o RankOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	r := len(t.view.Dims)
	if t.Size() == 0 {
		return I64.Zeros(t.view.Dims[:r-2]...)
	}
	x := t.Detach()
	var s *Tensor
	if o.Hermitian {
		s = x.EigValsH().Abs()
	} else {
		s = x.SVDVals()
	}
	return s.Gt(o.limits(x, s)).Sum(-1)
}

// Cond gives the condition number of matrices: the norm times that of the
// inverse. Order 2, the default, and -2 take the singular values; others are
// orders of MatrixNorm.
func (t *Tensor) Cond(p ...any) *Tensor {
	t.engine()
	order := any(nil)
	if len(p) > 0 {
		order = p[0]
	}
	r := len(t.view.Dims)
	if t.Size() == 0 {
		return DType(t.dt).Zeros(t.view.Dims[:r-2]...)
	}
	if x := asFloat(order); order == nil || x == 2 || x == -2 {
		s := t.SVDVals()
		k := s.Dim(-1)
		high, low := s.selectAt(-1, 0), s.selectAt(-1, k-1)
		if x == -2 {
			return low.Div(high)
		}
		return high.Div(low)
	}
	norm := func(x *Tensor) *Tensor {
		return call("matrix_norm", op.Attrs{{Name: "ord", Value: normName(order)}}, x)
	}
	return norm(t).Mul(norm(t.Inv()))
}

// normName is the name of a matrix norm's order.
func normName(p any) string {
	switch p := p.(type) {
	case string:
		return p
	case int:
		return strconv.Itoa(p)
	case float64:
		switch {
		case math.IsInf(p, 1):
			return "inf"
		case math.IsInf(p, -1):
			return "-inf"
		}
		return strconv.FormatFloat(p, 'g', -1, 64)
	}
	return "fro"
}

// LUFactor gives L and U of P·L·U = A in one matrix, and the row that each step swapped with, counted from 1.
func (t *Tensor) LUFactor(opts ...LUFactorExOptions) (factors, pivots *Tensor) {
	t.engine()
	f, p, _ := t.LUFactorEx(opts...)
	return f, p
}

// LU gives the factors of A = P·L·U, P a permutation.
func (t *Tensor) LU(opts ...LUFactorExOptions) (p, l, u *Tensor) {
	t.engine()
	f, piv, _ := t.LUFactorEx(opts...)
	return f.LUUnpack(piv)
}

// HouseholderProduct gives the first columns of the Q that Geqrf describes.
func (t *Tensor) HouseholderProduct(tau *Tensor) *Tensor {
	t.engine()
	d := t.view.Dims
	r := len(d)
	if r < 2 {
		t.engine().fail("householder_product", &shape.RankError{Op: "householder_product", Dims: d, Min: 2, Max: -1})
	}
	eye := DType(t.dt).Eye(d[r-2], d[r-1])
	return t.Ormqr(tau, eye.expandTo(d))
}

// Polar gives the factors A = U·H: U with orthonormal columns, H symmetric and
// positive semidefinite.
func (t *Tensor) Polar() (u, h *Tensor) {
	t.engine()
	left, s, right := t.SVD()
	return left.MatMul(right), right.T().Mul(s.Unsqueeze(-2)).MatMul(right)
}

// SVDFull is SVD with square U and Vh.
func (t *Tensor) SVDFull() (u, s, vh *Tensor) {
	t.engine()
	u, s, vh = t.SVD()
	return u.completed(), s, vh.T().completed().T()
}

// completed adds orthonormal columns to those of a matrix until it is square.
func (t *Tensor) completed() *Tensor {
	d := t.view.Dims
	r := len(d)
	m, k := d[r-2], d[r-1]
	if k == m {
		return t
	}
	q, _ := t.Detach().QR(QROptions{Mode: "complete"})
	return Cat(-1, t, q.narrow(-1, k, m-k))
}

// LstSq gives X with the least |A·X - B|, the squared residuals of the columns
// (empty unless A has more rows than columns and full rank) and the rank of A.
func (t *Tensor) LstSq(b *Tensor, opts ...RankOptions) (x, residuals, rank *Tensor) {
	t.engine()
	if len(opts) == 0 {
		opts = []RankOptions{{}}
	}
	d := t.view.Dims
	r := len(d)
	m, n := d[r-2], d[r-1]
	x = t.PInv(opts[0].pinv(t)).MatMul(b)
	rank = t.MatrixRank(opts...)
	residuals = DType(t.dt).Zeros(0)
	if m > n && rank.Eq(n).All().Item() != 0 {
		residuals = t.MatMul(x).Sub(b).Square().Sum(-2)
	}
	return x, residuals, rank
}

// TensorInv inverts a tensor as a matrix whose rows are the first ind axes.
func (t *Tensor) TensorInv(ind int) *Tensor {
	t.engine()
	d := t.view.Dims
	n := shape.Size(d[:ind])
	inv := t.Reshape(n, shape.Size(d[ind:])).Inv()
	return inv.Reshape(append(append([]int{}, d[ind:]...), d[:ind]...)...)
}

// TensorSolve gives X with tensordot(t, X) = b over all axes of X; dims are axes of t to move to the end first.
func (t *Tensor) TensorSolve(b *Tensor, dims ...int) *Tensor {
	t.engine()
	a := t
	if len(dims) > 0 {
		to := make([]int, len(dims))
		for i := range to {
			to[i] = len(a.view.Dims) - len(dims) + i
		}
		a = a.MoveDim(dims, to)
	}
	rest := a.view.Dims[len(b.view.Dims):]
	n := b.Size()
	return a.Reshape(n, shape.Size(rest)).Solve(b.Reshape(n)).Reshape(rest...)
}

// VecDot is the product of vectors along an axis, the last by default.
func (t *Tensor) VecDot(y *Tensor, axis ...int) *Tensor {
	t.engine()
	if len(axis) == 0 {
		axis = []int{-1}
	}
	return t.Mul(y).Sum(axis[0])
}
