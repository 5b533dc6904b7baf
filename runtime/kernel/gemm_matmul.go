package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// MatMul computes out = a × b by PyTorch's rule for matmul: vectors take the
// place of a row (a) or a column (b), leading axes broadcast.
// [..,m,k] × [..,k,n] → [..,m,n].
func MatMul(c *Call) error {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	contractWide(out, matmulViews(a.View, b.View, out.Dims), a, b, nil)
	return nil
}

// Linear computes out = x × wᵀ + bias: [..,k] × [n,k] + [n] → [..,n].
func Linear(c *Call) error {
	x, w, out := c.In[0], c.In[1], c.Out[0]
	wv := w.View
	if len(wv.Dims) == 2 {
		wv = swapLast(wv)
	}
	var e *epilogue
	if len(c.In) > 2 && c.In[2].Valid() {
		e = &epilogue{add: c.In[2], alpha: 1, beta: 1}
	}
	contractWide(out, matmulViews(x.View, wv, out.Dims), x, w, e)
	return nil
}

// AddMM computes out = beta·c + alpha·(a × b) for the family of addmm, addmv,
// baddbmm: the rule of the product is MatMul's, c broadcasts to the result and
// is not read when beta is 0.
func AddMM(c *Call) error {
	add, a, b, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	e := &epilogue{add: add, alpha: c.Attrs.Float("alpha"), beta: c.Attrs.Float("beta")}
	contractWide(out, matmulViews(a.View, b.View, out.Dims), a, b, e)
	return nil
}

// AddBMM computes out[m,n] = beta·c + alpha·Σ a[b,m,k] × b[b,k,n], summed over the batch.
func AddBMM(c *Call) error {
	add, a, b, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	e := &epilogue{add: add, alpha: c.Attrs.Float("alpha"), beta: c.Attrs.Float("beta")}
	av := permuted(a.View, 1, 0, 2)
	bv := b.View
	contractWide(out, contraction{m: av.Dims[:1], n: bv.Dims[2:], k: av.Dims[1:],
		aM: av.Strides[:1], aK: av.Strides[1:], bK: bv.Strides[:2], bN: bv.Strides[2:]}, a, b, e)
	return nil
}

// Addr computes out = beta·c + alpha·(x ⊗ y): [m] and [n] → [m,n].
func Addr(c *Call) error {
	add, x, y, out := c.In[0], c.In[1], c.In[2], c.Out[0]
	if t := out.DType; t.IsFloat() && t.Bits() < 32 {
		addrSteps(c, t)
		return nil
	}
	e := &epilogue{add: add, alpha: c.Attrs.Float("alpha"), beta: c.Attrs.Float("beta")}
	contractWide(out, outerViews(x.View, y.View), x, y, e)
	return nil
}

// addrSteps is Addr of narrow floats: each of its steps rounds, as PyTorch's do.
func addrSteps(c *Call, t dtype.DType) {
	out := c.Out[0]
	add, x, y := Float64s(spread(c.In[0], out.Dims)), Float64s(c.In[1]), Float64s(c.In[2])
	alpha, beta := t.Round(c.Attrs.Float("alpha")), t.Round(c.Attrs.Float("beta"))
	n := len(y)
	res := make([]float64, len(x)*n)
	for i, u := range x {
		u = t.Round(alpha * u)
		for j, v := range y {
			r := t.Round(u * v)
			if beta != 0 {
				r += t.Round(beta * add[i*n+j])
			}
			res[i*n+j] = r
		}
	}
	Convert(out, denseOf(res, out.Dims))
}

// Outer computes x ⊗ y: [m] and [n] → [m,n].
func Outer(c *Call) error {
	contractWide(c.Out[0], outerViews(c.In[0].View, c.In[1].View), c.In[0], c.In[1], nil)
	return nil
}

// Inner contracts the last axes: [..a,k] and [..b,k] → [..a,..b]. A 0-d operand multiplies.
func Inner(c *Call) error {
	a, b := c.In[0], c.In[1]
	if len(a.Dims) == 0 || len(b.Dims) == 0 {
		contractWide(c.Out[0], contraction{m: a.Dims, aM: a.Strides, n: b.Dims, bN: b.Strides}, a, b, nil)
		return nil
	}
	i, j := len(a.Dims)-1, len(b.Dims)-1
	contractWide(c.Out[0], contraction{m: a.Dims[:i], n: b.Dims[:j], k: a.Dims[i:],
		aM: a.Strides[:i], aK: a.Strides[i:], bK: b.Strides[j:], bN: b.Strides[:j]}, a, b, nil)
	return nil
}

// An epilogue is added to a product: beta·add + alpha·product.
type epilogue struct {
	add         Array
	alpha, beta float64
}

// A contraction says over which axes two operands are multiplied and summed.
// The result has the axes batch, m, n in this order, dense.
//
//	out[b,m,n] = Σₖ A[b·aB + m·aM + k·aK] · B[b·bB + k·bK + n·bN]
type contraction struct {
	batch, m, n, k []int
	aB, aM, aK     []int
	bB, bK, bN     []int
}

// matmulViews is the contraction of matmul, with result dims out.
func matmulViews(a, b shape.View, out []int) contraction {
	var c contraction
	ra, rb := len(a.Dims), len(b.Dims)
	c.k, c.aK = a.Dims[ra-1:], a.Strides[ra-1:]
	if ra > 1 {
		c.m, c.aM = a.Dims[ra-2:ra-1], a.Strides[ra-2:ra-1]
	}
	kb := max(rb-2, 0)
	c.bK = b.Strides[kb : kb+1]
	if rb > 1 {
		c.n, c.bN = b.Dims[rb-1:], b.Strides[rb-1:]
	}
	c.batch = out[:len(out)-len(c.m)-len(c.n)]
	if ra > 2 {
		c.aB = stretch(a.Dims[:ra-2], a.Strides[:ra-2], len(c.batch))
	} else {
		c.aB = make([]int, len(c.batch))
	}
	if rb > 2 {
		c.bB = stretch(b.Dims[:rb-2], b.Strides[:rb-2], len(c.batch))
	} else {
		c.bB = make([]int, len(c.batch))
	}
	return c
}

func outerViews(x, y shape.View) contraction {
	return contraction{m: x.Dims, aM: x.Strides, n: y.Dims, bN: y.Strides}
}

// stretch gives strides for rank axes, broadcasting by numpy's rule.
func stretch(dims, strides []int, rank int) []int {
	st := make([]int, rank)
	for i, d := range dims {
		if d != 1 {
			st[rank-len(dims)+i] = strides[i]
		}
	}
	return st
}

func swapLast(v shape.View) shape.View {
	n := len(v.Dims)
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	p[n-1], p[n-2] = n-2, n-1
	return permuted(v, p...)
}

func permuted(v shape.View, perm ...int) shape.View {
	w := shape.View{Dims: make([]int, len(perm)), Strides: make([]int, len(perm)), Offset: v.Offset}
	for i, p := range perm {
		w.Dims[i], w.Strides[i] = v.Dims[p], v.Strides[p]
	}
	return w
}
