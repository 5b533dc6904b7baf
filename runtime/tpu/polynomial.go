package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A recurrence gives orthogonal polynomials one from the two before:
// p₀ = 1, p₁ = a·x + b, pₖ = next(k, x, pₖ₋₁, pₖ₋₂).
type recurrence struct {
	a, b    float64
	shifted bool // of 2x-1
	next    func(k float64, x, p, q *Tensor) *Tensor
}

func chebyshev(_ float64, x, p, q *Tensor) *Tensor { return x.Mul(2).Mul(p).Sub(q) }

// recurrences are the families, by PyTorch's names.
func recurrences(name string) (recurrence, bool) {
	r, ok := map[string]recurrence{
		"chebyshev_polynomial_t":         {1, 0, false, chebyshev},
		"chebyshev_polynomial_u":         {2, 0, false, chebyshev},
		"chebyshev_polynomial_v":         {2, -1, false, chebyshev},
		"chebyshev_polynomial_w":         {2, 1, false, chebyshev},
		"shifted_chebyshev_polynomial_t": {1, 0, true, chebyshev},
		"shifted_chebyshev_polynomial_u": {2, 0, true, chebyshev},
		"shifted_chebyshev_polynomial_v": {2, -1, true, chebyshev},
		"shifted_chebyshev_polynomial_w": {2, 1, true, chebyshev},
		"hermite_polynomial_h": {2, 0, false, func(k float64, x, p, q *Tensor) *Tensor {
			return x.Mul(2).Mul(p).Sub(q.Mul(2 * (k - 1)))
		}},
		"hermite_polynomial_he": {1, 0, false, func(k float64, x, p, q *Tensor) *Tensor {
			return x.Mul(p).Sub(q.Mul(k - 1))
		}},
		"laguerre_polynomial_l": {-1, 1, false, func(k float64, x, p, q *Tensor) *Tensor {
			return x.RSub(2*k - 1).Mul(p).Sub(q.Mul(k - 1)).Div(k)
		}},
		"legendre_polynomial_p": {1, 0, false, func(k float64, x, p, q *Tensor) *Tensor {
			return x.Mul(2*k - 1).Mul(p).Sub(q.Mul(k - 1)).Div(k)
		}},
	}[name]
	return r, ok
}

// Polynomial evaluates orthogonal polynomials of degree n, a number or a tensor
// that broadcasts with x: chebyshev_polynomial_t, _u, _v and _w, the same
// shifted, hermite_polynomial_h and _he, laguerre_polynomial_l,
// legendre_polynomial_p. A negative degree gives 0. It reads n.
func Polynomial(name string, x *Tensor, n any) *Tensor {
	r, ok := recurrences(name)
	if !ok {
		refuse("polynomial", &shape.ArgumentError{Op: "polynomial", Arg: "name", Value: name, Why: "there is no such family"})
	}
	if !x.dt.IsFloat() {
		x = x.to(dtype.F32)
	}
	degree, ok := n.(*Tensor)
	if !ok {
		degree = I64.Scalar(n)
	}
	if degree.dt.IsFloat() {
		degree = degree.Trunc()
	}
	both := BroadcastTensors(x, degree)
	x, degree = both[0], both[1]
	most := -1
	if degree.Size() > 0 {
		most = degree.Max().Int()
	}
	if r.shifted {
		x = x.Mul(2).Sub(1)
	}
	q, p := x.OnesLike(), x.Mul(r.a).Add(r.b)
	out := Where(degree.Eq(0), q, x.Mul(0))
	for k := 1; k <= most; k++ {
		if k > 1 {
			p, q = r.next(float64(k), x, p, q), p
		}
		out = Where(degree.Eq(k), p, out)
	}
	return out
}
