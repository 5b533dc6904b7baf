package kernel

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
	recipes "github.com/tpush/tpush/runtime/jit/recipe"
	"github.com/tpush/tpush/runtime/shape"
)

// A rowOp is an operation along rows that has a recipe: its sums are in the
// order of sumRow. Operand 0 has the rows; others have rows too, or one element
// for each position in a row.
type rowOp struct {
	recipe recipe
	points points
	folds  bool // the result is one element a row
	prep   func(c *Call, p *Params)
}

func (o *rowOp) emit(c *Call) (recipe, dtype.DType, dtype.DType) {
	return o.recipe, c.Out[0].DType, dtype.Invalid
}
func (o *rowOp) prepare() func(*Call, *Params) { return o.prep }
func (o *rowOp) along() (rows, folds bool)     { return true, o.folds }
func (o *rowOp) knows(t jit.Type) bool         { return o.points.knows(o.recipe, t) }

// count is the length of a row in the compute type.
func (e *expr) count() jit.Value { return e.length(e.t) }

var (
	sumRows     = &rowOp{folds: true, recipe: func(e *expr) jit.Value { return e.Sum(e.x(0)) }}
	meanRows    = &rowOp{folds: true, recipe: func(e *expr) jit.Value { return e.Div(e.Sum(e.x(0)), e.count()) }}
	amaxRows    = &rowOp{folds: true, recipe: ordersSigned((*jit.Builder).ReduceMax)}
	aminRows    = &rowOp{folds: true, recipe: ordersSigned((*jit.Builder).ReduceMin)}
	softmaxRows = &rowOp{recipe: narrowOnly(func(e *expr) jit.Value {
		y, s := e.shiftedExp(e.x(0))
		return e.Mul(y, e.Div(e.num(1), s))
	})}
	softminRows = &rowOp{recipe: narrowOnly(func(e *expr) jit.Value {
		y, s := e.shiftedExp(e.Neg(e.x(0)))
		return e.Mul(y, e.Div(e.num(1), s))
	})}
	logSoftmaxRows = &rowOp{recipe: narrowOnly(func(e *expr) jit.Value {
		x := e.x(0)
		_, s := e.shiftedExp(x)
		return e.Sub(e.Sub(x, e.ReduceMax(x)), recipes.Log(e.Builder, s))
	})}
	softmaxBackRows = &rowOp{recipe: floatsOnly(func(e *expr) jit.Value {
		dy, y := e.x(0), e.x(1)
		return e.Mul(y, e.Sub(dy, e.Sum(e.Mul(dy, y))))
	})}
	logSoftmaxBackRows = &rowOp{recipe: narrowOnly(func(e *expr) jit.Value {
		dy, y := e.x(0), e.x(1)
		return e.Sub(dy, e.Mul(recipes.Exp(e.Builder, y), e.Sum(dy)))
	})}
	standardizeRows = &rowOp{prep: prepEps, recipe: floatsOnly(func(e *expr) jit.Value {
		m, r := e.spread(e.x(0))
		return e.Mul(e.Sub(e.x(0), m), r)
	})}
	rmsStandardizeRows = &rowOp{prep: prepEps, recipe: floatsOnly(func(e *expr) jit.Value {
		return e.Mul(e.x(0), e.rootMeanSquare(e.x(0)))
	})}
	standardizeBackRows = &rowOp{prep: prepEps, recipe: floatsOnly(func(e *expr) jit.Value {
		dy, x := e.x(0), e.x(1)
		m, r := e.spread(x)
		n := e.count()
		h := e.Mul(e.Sub(x, m), r)
		m1 := e.Div(e.Sum(dy), n)
		m2 := e.Div(e.Sum(e.Mul(dy, h)), n)
		return e.Mul(r, e.Sub(e.Sub(dy, m1), e.Mul(h, m2)))
	})}
	rmsStandardizeBackRows = &rowOp{prep: prepEps, recipe: floatsOnly(func(e *expr) jit.Value {
		dy, x := e.x(0), e.x(1)
		r := e.rootMeanSquare(x)
		h := e.Mul(x, r)
		m2 := e.Div(e.Sum(e.Mul(dy, h)), e.count())
		return e.Mul(r, e.Sub(dy, e.Mul(h, m2)))
	})}
	layerNormRows = &rowOp{prep: prepEps, recipe: floatsOnly(func(e *expr) jit.Value {
		m, r := e.spread(e.x(0))
		return e.affine(e.Mul(e.Sub(e.x(0), m), r))
	})}
	rmsNormRows = &rowOp{prep: func(c *Call, p *Params) { p.F[0] = RMSEpsilon(c.Out[0].Spec(), c.Attrs) },
		recipe: floatsOnly(func(e *expr) jit.Value {
			return e.affine(e.Mul(e.x(0), e.rootMeanSquare(e.x(0))))
		})}
)

// floatsOnly keeps a recipe to floats.
func floatsOnly(r recipe) recipe {
	return func(e *expr) jit.Value {
		if !e.float() {
			return 0
		}
		return r(e)
	}
}

// ordersSigned is a reduction by an order that knows signed integers only.
func ordersSigned(f func(b *jit.Builder, x jit.Value) jit.Value) recipe {
	return func(e *expr) jit.Value {
		if e.unsigned() {
			return 0
		}
		return f(e.Builder, e.x(0))
	}
}

func prepEps(c *Call, p *Params) { p.F[0] = c.Attrs.Float("eps") }

// shiftedExp is e^(x − m), m the largest of the row, and its sum. A row whose
// largest element is −∞ gives NaN, as 0/0 is.
func (e *expr) shiftedExp(x jit.Value) (y, sum jit.Value) {
	y = recipes.ExpShifted(e.Builder, e.Sub(x, e.ReduceMax(x)))
	return y, e.Sum(y)
}

// rootOf is 1/√(v + eps), eps in slot 0, computed in f64.
func (e *expr) rootOf(v jit.Value) jit.Value {
	w := e.Add(e.Convert(v, jit.F64), e.attr(0, jit.F64, false))
	return e.Convert(e.Div(e.F64(1), e.Sqrt(w)), e.t)
}

// spread gives the mean of a row and 1/√(variance + eps).
func (e *expr) spread(x jit.Value) (mean, rstd jit.Value) {
	n := e.count()
	mean = e.Div(e.Sum(x), n)
	d := e.Sub(x, mean)
	return mean, e.rootOf(e.Div(e.Sum(e.Mul(d, d)), n))
}

// rootMeanSquare is 1/√(mean square + eps).
func (e *expr) rootMeanSquare(x jit.Value) jit.Value {
	return e.rootOf(e.Div(e.Sum(e.Mul(x, x)), e.count()))
}

// affine multiplies by operand 1 and adds operand 2, which may be absent.
func (e *expr) affine(y jit.Value) jit.Value {
	if w := e.x(1); w != 0 {
		y = e.Mul(y, w)
	}
	if b := e.x(2); b != 0 {
		y = e.Add(y, b)
	}
	return y
}

// numberBits is an integer as a parameter.
func numberBits(t jit.Type, n int) uint64 {
	switch t {
	case jit.F32:
		return uint64(math.Float32bits(float32(n)))
	case jit.F64:
		return math.Float64bits(float64(n))
	}
	return uint64(n)
}

// rowCall is the scratch of one run of a row operation.
type rowCall struct {
	call    jit.Call
	key     pointKey
	in      [3]jit.Operand
	out     [1]jit.Operand
	params  [8]uint64
	p       Params
	dims    []int
	strides [4][]int
	outs    []jit.Operand // of shiftedExp32
	sums    [2]float32
}

var rowCalls = sync.Pool{New: func() any { return new(rowCall) }}

// run computes c.Out[0] along the axes, given in ascending order: no when the
// recipe does not know the type or the layout has no rows.
func (o *rowOp) run(c *Call, axes []int) (done bool, err error) {
	out := &c.Out[0]
	if out.Size() == 0 || len(axes) == 0 {
		return false, nil
	}
	rc := rowCalls.Get().(*rowCall)
	defer rowCalls.Put(rc)
	k := &rc.key
	*k = pointKey{out: out.DType}
	for i := range c.In {
		a := &c.In[i]
		if !a.Valid() {
			continue
		}
		k.in[i], k.how[i] = a.DType, operandDense
	}
	q := o.points.find(k, func(k *pointKey) *point { return o.recipe.build(k, out.DType, dtype.Invalid, o.folds) })
	if q.kernel == nil {
		return false, nil
	}
	x := c.In[0]
	n, ok := rc.space(&x, axes)
	if !ok {
		x = Contiguous(x)
		if n, ok = rc.space(&x, axes); !ok {
			return false, nil
		}
	}
	rank := len(x.Dims)
	for i, j := range q.ins {
		a := c.In[j]
		if j == 0 {
			a = x
		}
		s := rc.strides[i][:0]
		switch {
		case len(a.Dims) == rank && shape.EqualDims(a.Dims, x.Dims):
			if s, ok = rowStrides(s, a.View, axes); !ok {
				a = Contiguous(a)
				if s, ok = rowStrides(s[:0], a.View, axes); !ok {
					return false, nil
				}
			}
		default: // an element for each position in a row
			if a.Size() != n {
				return false, nil
			}
			a = Contiguous(a)
			for range rc.dims[1:] {
				s = append(s, 0)
			}
			s = append(s, 1)
		}
		rc.strides[i] = s
		rc.in[i] = jit.Operand{Buf: a.Buf, Offset: a.Offset, Strides: s}
	}
	s := rc.strides[3][:0]
	if o.folds { // dense, in the order of the other axes
		s = append(s, shape.RowMajor(rc.dims[:len(rc.dims)-1])...)
		s = append(s, 0)
	} else if s, ok = rowStrides(s, out.View, axes); !ok {
		return false, nil
	}
	rc.strides[3] = s
	rc.out[0] = jit.Operand{Buf: out.Buf, Offset: out.Offset, Strides: s}
	if o.prep != nil {
		rc.p = Params{}
		o.prep(c, &rc.p)
	}
	for i := range q.params {
		if s := &q.params[i]; s.length {
			rc.params[i] = numberBits(s.t, n)
		} else {
			rc.params[i] = s.bits(c, &rc.p)
		}
	}
	rc.call.Dims, rc.call.In, rc.call.Out, rc.call.Params = rc.dims, rc.in[:len(q.ins)], rc.out[:], rc.params[:len(q.params)]
	rc.call.Parallel = nil
	if x.Size() > heavyGrain {
		rc.call.Parallel = Parallel
	}
	err = q.kernel.Run(&rc.call)
	clear(rc.in[:])
	clear(rc.out[:])
	return true, err
}

// suits says whether rows are better walked one by one: not when their elements
// lie far apart and those of many rows lie together.
func (o *rowOp) suits(x Array, axes []int) bool {
	if len(axes) == 0 {
		return false
	}
	last := axes[len(axes)-1]
	return x.Strides[last] == 1 || x.Dims[last] == 1 || x.Size() == x.Dims[last]
}

// compute runs the operation on floats, along axes.
func (o *rowOp) compute(c *Call, axes []int) error {
	if c.Out[0].Size() == 0 {
		return nil
	}
	if len(axes) == 0 { // a number is a row of one element
		one := *c
		one.In, axes = append([]Array(nil), c.In...), []int{0}
		one.Out = append([]Array(nil), c.Out...)
		for i := range one.In {
			if one.In[i].Valid() {
				one.In[i].View = shape.View{Dims: []int{1}, Strides: []int{1}, Offset: one.In[i].Offset}
			}
		}
		one.Out[0].View = shape.Dense([]int{1})
		c = &one
	}
	done, err := o.run(c, axes)
	if done || err != nil {
		return err
	}
	// Rows that no stride walks in the result: computed dense, then put in place.
	v := unmove(c.Out[0].Dims, axes)
	moved, _ := axesLast(c.Out[0], axes)
	dense := New(shape.Of(c.Out[0].DType, moved.Dims...))
	t := &Call{Attrs: c.Attrs, Out: []Array{dense}}
	for _, a := range c.In {
		if a.Valid() && shape.EqualDims(a.Dims, c.In[0].Dims) {
			a, _ = axesLast(a, axes)
			a = Contiguous(a)
		}
		t.In = append(t.In, a)
	}
	if done, err = o.run(t, lastN(len(moved.Dims), len(axes))); err != nil {
		return err
	}
	if !done {
		return &UnsupportedError{c.Out[0].DType}
	}
	Convert(c.Out[0], Array{DType: dense.DType, View: v, Buf: dense.Buf})
	return nil
}

// space sets the dimensions: those of x without the axes, then the row.
func (rc *rowCall) space(x *Array, axes []int) (n int, ok bool) {
	if _, ok = rowStrides(nil, x.View, axes); !ok {
		return 0, false
	}
	rc.dims = rc.dims[:0]
	n = 1
	at := 0
	for i, d := range x.Dims {
		if at < len(axes) && axes[at] == i {
			n *= d
			at++
			continue
		}
		rc.dims = append(rc.dims, d)
	}
	rc.dims = append(rc.dims, n)
	return n, true
}

// rowStrides appends the strides of v with the axes as one dimension at the
// end: no when the axes cannot be walked with one stride.
func rowStrides(s []int, v shape.View, axes []int) ([]int, bool) {
	at, stride, n := 0, 0, 1
	for i := range v.Dims {
		if at < len(axes) && axes[at] == i {
			at++
			continue
		}
		s = append(s, v.Strides[i])
	}
	for k := len(axes) - 1; k >= 0; k-- {
		d, st := v.Dims[axes[k]], v.Strides[axes[k]]
		switch {
		case d == 1:
		case n == 1:
			stride, n = st, d
		case st == stride*n:
			n *= d
		default:
			return s, false
		}
	}
	return append(s, stride), true
}
