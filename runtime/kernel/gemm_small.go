package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Trace sums the diagonal of a matrix.
func Trace(c *Call) error {
	x, out := c.In[0], c.Out[0]
	d := x
	d.View = shape.View{Dims: []int{min(x.Dims[0], x.Dims[1])}, Strides: []int{x.Strides[0] + x.Strides[1]}, Offset: x.Offset}
	einsum(out, Einsum{In: [][]rune{{'i'}}, Out: nil}, []Array{d})
	return nil
}

// Cross is the product of vectors of three along the attribute "dim".
func Cross(c *Call) error {
	out := c.Out[0]
	switch wideType(out.DType) {
	case dtype.F32:
		crossAs[float32](c)
	case dtype.F64:
		crossAs[float64](c)
	case dtype.C64:
		crossAs[complex64](c)
	case dtype.C128:
		crossAs[complex128](c)
	default:
		crossAs[int64](c)
	}
	return nil
}

func crossAs[T factor](c *Call) {
	out := c.Out[0]
	r := len(out.Dims)
	dim := (c.Attrs.Int("dim") + r) % r
	see := func(a Array) []T {
		a.View = shape.View{Dims: out.Dims, Strides: stretch(a.Dims, a.Strides, r), Offset: a.Offset}
		return wideElems[T](a)
	}
	x, y, z := see(c.In[0]), see(c.In[1]), wideResult[T](out)
	inner := shape.Size(out.Dims[dim+1:])
	for o := range shape.Size(out.Dims[:dim]) {
		for i := range inner {
			p0 := o*3*inner + i
			p1, p2 := p0+inner, p0+2*inner
			z[p0] = T(x[p1]*y[p2]) - T(x[p2]*y[p1])
			z[p1] = T(x[p2]*y[p0]) - T(x[p0]*y[p2])
			z[p2] = T(x[p0]*y[p1]) - T(x[p1]*y[p0])
		}
	}
	storeWide(out, z)
}

// CDist computes the p-norm of every difference of rows:
// out[..,i,j] = (Σₖ |a[..,i,k] - b[..,j,k]|^p)^(1/p); p 0 counts the differing
// terms, p ∞ takes the largest. Sums are taken in f64 and rounded once.
func CDist(c *Call) error {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	r := len(out.Dims)
	batch := out.Dims[:r-2]
	see := func(x Array) []float64 {
		d := append(append([]int{}, batch...), x.Dims[len(x.Dims)-2:]...)
		x.View = shape.View{Dims: d, Strides: stretch(x.Dims, x.Strides, r), Offset: x.Offset}
		return Float64s(x)
	}
	x, y := see(a), see(b)
	m, n, k := out.Dims[r-2], out.Dims[r-1], a.Dims[len(a.Dims)-1]
	p := c.Attrs.Float("p")
	res := make([]float64, out.Size())
	if n == 0 {
		return nil
	}
	Parallel(len(res)/n, max(1, 1<<12/max(1, n*k)), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			u := x[row*k:][:k]
			for j := range n {
				v := y[(row/m*n+j)*k:][:k]
				res[row*n+j] = normOfDifference(u, v, p)
			}
		}
	})
	Convert(out, Array{DType: dtype.F64, View: shape.Dense(out.Dims), Buf: bytesOf(res)})
	return nil
}

func normOfDifference(u, v []float64, p float64) float64 {
	s := 0.0
	switch {
	case p == 0:
		for i := range u {
			if u[i] != v[i] {
				s++
			}
		}
		return s
	case p == 1:
		for i := range u {
			s += math.Abs(u[i] - v[i])
		}
		return s
	case p == 2:
		for i := range u {
			d := u[i] - v[i]
			s += float64(d * d)
		}
		return math.Sqrt(s)
	case math.IsInf(p, 1):
		for i := range u {
			s = math.Max(s, math.Abs(u[i]-v[i]))
		}
		return s
	}
	for i := range u {
		s += math.Pow(math.Abs(u[i]-v[i]), p)
	}
	return math.Pow(s, 1/p)
}
