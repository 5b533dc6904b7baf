package tpu

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Functions made of other operations: gradients, modes and second derivatives
// follow from those.

// Meshgrid gives for each vector a tensor of all combinations; the i-th varies along axis i.
func Meshgrid(xs ...*Tensor) []*Tensor { return grid("meshgrid", xs) }

// MeshgridXY is Meshgrid with the first two axes swapped: PyTorch's indexing="xy".
func MeshgridXY(xs ...*Tensor) []*Tensor {
	if len(xs) < 2 {
		return grid("meshgrid", xs)
	}
	// The grid of y, x, … has x along the second axis.
	out := grid("meshgrid", append([]*Tensor{xs[1], xs[0]}, xs[2:]...))
	out[0], out[1] = out[1], out[0]
	return out
}

func grid(name string, xs []*Tensor) []*Tensor {
	dims := make([]int, len(xs))
	for i, x := range xs {
		if len(x.view.Dims) > 1 {
			x.engine().fail(name, &shape.RankError{Op: name, Dims: x.view.Dims, Min: 0, Max: 1})
		}
		dims[i] = x.Size()
	}
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		one := make([]int, len(xs))
		for k := range one {
			one[k] = 1
		}
		one[i] = dims[i]
		out[i] = x.Reshape(one...).expandTo(dims)
	}
	return out
}

// CartesianProd gives the rows of all combinations of the elements of vectors.
func CartesianProd(xs ...*Tensor) *Tensor {
	if len(xs) == 1 {
		return call("alias", nil, xs[0])
	}
	cols := grid("cartesian_prod", xs)
	for i := range cols {
		cols[i] = cols[i].Reshape(-1)
	}
	return Stack(1, cols...)
}

// Combinations gives the r-element subsets of a vector, in order, as rows;
// with repetition when again is true.
func (t *Tensor) Combinations(r int, again bool) *Tensor {
	t.engine()
	n := t.Size()
	var rows []int
	var pick func(from int, have []int)
	pick = func(from int, have []int) {
		if len(have) == r {
			rows = append(rows, have...)
			return
		}
		for i := from; i < n; i++ {
			next := i + 1
			if again {
				next = i
			}
			pick(next, append(have[:len(have):len(have)], i))
		}
	}
	pick(0, nil)
	return t.Index(t.engine().indexOf(rows)).Reshape(len(rows)/max(r, 1), r)
}

// HStack joins tensors along the second axis, vectors along the first.
func HStack(xs ...*Tensor) *Tensor {
	in := each(xs, (*Tensor).AtLeast1D)
	if len(in) > 0 && len(in[0].view.Dims) == 1 {
		return Cat(0, in...)
	}
	return Cat(1, in...)
}

// VStack joins tensors along the first axis; a vector is a row.
func VStack(xs ...*Tensor) *Tensor { return Cat(0, each(xs, (*Tensor).AtLeast2D)...) }

// DStack joins tensors along the third axis.
func DStack(xs ...*Tensor) *Tensor { return Cat(2, each(xs, (*Tensor).AtLeast3D)...) }

// ColumnStack joins tensors along the second axis; a vector is a column.
func ColumnStack(xs ...*Tensor) *Tensor {
	return Cat(1, each(xs, func(x *Tensor) *Tensor {
		if len(x.view.Dims) < 2 {
			return x.Reshape(x.Size(), 1)
		}
		return x
	})...)
}

func each(xs []*Tensor, f func(*Tensor) *Tensor) []*Tensor {
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		out[i] = f(x)
	}
	return out
}

// BlockDiag puts matrices on the diagonal of one that is zero elsewhere; a vector is a row.
func BlockDiag(xs ...*Tensor) *Tensor {
	in := each(xs, (*Tensor).AtLeast2D)
	width := 0
	for _, x := range in {
		width += x.Dim(1)
	}
	left := 0
	rows := make([]*Tensor, len(in))
	for i, x := range in {
		h, w := x.Dim(0), x.Dim(1)
		rows[i] = Cat(1, x.DType().Zeros(h, left), x, x.DType().Zeros(h, width-left-w))
		left += w
	}
	return Cat(0, rows...)
}

// FlipLR turns the second axis around, FlipUD the first.
func (t *Tensor) FlipLR() *Tensor { return call("flip", op.Attrs{{Name: "dims", Value: []int{1}}}, t) }

// FlipUD turns the first axis around.
func (t *Tensor) FlipUD() *Tensor { return call("flip", op.Attrs{{Name: "dims", Value: []int{0}}}, t) }

// Ravel gives the elements in a row, as a view where the strides allow it.
func (t *Tensor) Ravel() *Tensor { return t.Reshape(-1) }

// Vander gives the powers of the elements of a vector, the highest first: [n] → [n,columns]; columns is n when not given.
func (t *Tensor) Vander(columns ...int) *Tensor {
	t.engine()
	n := t.Size()
	if len(columns) > 0 {
		n = columns[0]
	}
	powers := make([]int, n)
	for i := range powers {
		powers[i] = n - 1 - i
	}
	return t.Unsqueeze(1).Pow(t.engine().indexOf(powers))
}

// VanderIncreasing gives the powers of the elements along a new last axis, from
// 0 on: [..., n] → [..., n, columns]; columns is n when not given.
func (t *Tensor) VanderIncreasing(columns ...int) *Tensor {
	t = t.AtLeast1D()
	n := t.Dim(-1)
	if len(columns) > 0 {
		n = columns[0]
	}
	return t.Unsqueeze(-1).Pow(I64.Arange(n))
}

// attention is ScaledDotProductAttention that also gives the weights: a query
// that sees nothing has weights of zero.
func attention(q, k, v *Tensor, o MultiHeadOptions) (out, weights *Tensor) {
	s := q.MatMul(k.T()).Mul(1 / math.Sqrt(float64(q.Dim(-1))))
	var hidden *Tensor
	if o.IsCausal {
		hidden = Bool.Ones(s.Dim(-2), s.Dim(-1)).Tril().LogicalNot()
	}
	if m := o.Mask; m != nil {
		if m.dt == dtype.Bool {
			h := m.LogicalNot()
			if hidden != nil {
				h = h.LogicalOr(hidden)
			}
			hidden = h
		} else {
			s = s.Add(m.to(s.dt))
		}
	}
	if hidden != nil {
		s = s.MaskedFill(hidden, math.Inf(-1))
		blind := s.Detach().AMaxKeep(-1).Eq(math.Inf(-1))
		weights = s.MaskedFill(blind, 0).Softmax(-1).MaskedFill(blind, 0)
	} else {
		weights = s.Softmax(-1)
	}
	w := weights
	if o.Dropout > 0 {
		w = w.Dropout(o.Dropout)
	}
	return w.MatMul(v), weights
}

// MultiHeadOptions are the options of MultiHead.
type MultiHeadOptions struct {
	Mask     *Tensor // Bool: true takes part; float: added to the scores
	IsCausal bool    // query i sees keys 0 … i
	Dropout  float64 // of the weights
}

// RopeTables gives the cosines and sines of position·theta^(-2i/dim): two f32[length,dim/2].
func RopeTables(length, dim int, theta float64) (cos, sin *Tensor) {
	sized("rope_tables", []int{length, dim})
	a := kernel.New(shape.Of(dtype.F32, length, dim/2))
	p := kernel.As[float32](a.Buf)
	for i := range length {
		for j := range dim / 2 {
			f := float32(1 / math.Pow(theta, float64(float32(2*j)/float32(dim))))
			p[i*(dim/2)+j] = float32(i) * f
		}
	}
	angle := ambientEngine().upload(a, "rope_tables")
	return angle.Cos(), angle.Sin()
}

// RopeHalf rotates the two halves of the last axis against each other:
// x·cos + cat(-x₂, x₁)·sin.
func (t *Tensor) RopeHalf(cos, sin *Tensor) *Tensor {
	t.engine()
	n := t.Dim(-1)
	if cos.Dim(-1) != n {
		t.engine().fail("rope_half", &shape.MismatchError{Op: "rope_half", Left: t.Spec(), Right: cos.Spec(), Axis: len(t.view.Dims) - 1, Why: "the tables have the width of the tensor"})
	}
	a, b := t.narrow(-1, 0, n/2), t.narrow(-1, n/2, n-n/2)
	return t.Mul(cos).Add(Cat(-1, b.Neg(), a).Mul(sin))
}

// RopeInterleaved rotates the pairs (0,1), (2,3), … of the last axis.
func (t *Tensor) RopeInterleaved(cos, sin *Tensor) *Tensor {
	t.engine()
	n := t.Dim(-1)
	if n%2 != 0 || cos.Dim(-1) != n/2 {
		t.engine().fail("rope_interleaved", &shape.MismatchError{Op: "rope_interleaved", Left: t.Spec(), Right: cos.Spec(), Axis: len(t.view.Dims) - 1, Why: "the tables have half the width of the tensor"})
	}
	p := t.Reshape(append(append([]int{}, t.view.Dims[:len(t.view.Dims)-1]...), n/2, 2)...)
	a, b := p.selectAt(-1, 0), p.selectAt(-1, 1)
	x := a.Mul(cos).Sub(b.Mul(sin))
	y := a.Mul(sin).Add(b.Mul(cos))
	return Stack(-1, x, y).Reshape(t.view.Dims...)
}

// gates is x·wᵢᵀ + bᵢ + h·wₕᵀ + bₕ.
func gates(x, h, wi, wh, bi, bh *Tensor) *Tensor {
	return linear(x, wi, bi).Add(linear(h, wh, bh))
}

func linear(x, w, b *Tensor) *Tensor { return Linear(x, w, LinearOptions{Bias: b}) }

// RNNTanhCell is one step of a recurrent network: tanh(x·wᵢᵀ + bᵢ + h·wₕᵀ + bₕ).
func RNNTanhCell(x, h, wi, wh, bi, bh *Tensor) *Tensor { return gates(x, h, wi, wh, bi, bh).Tanh() }

// RNNReluCell is RNNTanhCell with relu.
func RNNReluCell(x, h, wi, wh, bi, bh *Tensor) *Tensor { return gates(x, h, wi, wh, bi, bh).ReLU() }

// GRUCell is one step of a gated recurrent unit; the gates of the weights are reset, update, new.
func GRUCell(x, h, wi, wh, bi, bh *Tensor) *Tensor {
	a, b := linear(x, wi, bi).Chunk(3, -1), linear(h, wh, bh).Chunk(3, -1)
	r, z := a[0].Add(b[0]).Sigmoid(), a[1].Add(b[1]).Sigmoid()
	n := a[2].Add(r.Mul(b[2])).Tanh()
	return n.Add(z.Mul(h.Sub(n)))
}

// LSTMCell is one step of a long short-term memory: the new h and c; the gates
// of the weights are input, forget, cell, output.
func LSTMCell(x, h, c, wi, wh, bi, bh *Tensor) (hidden, cell *Tensor) {
	g := gates(x, h, wi, wh, bi, bh).Chunk(4, -1)
	cell = g[1].Sigmoid().Mul(c).Add(g[0].Sigmoid().Mul(g[2].Tanh()))
	return g[3].Sigmoid().Mul(cell.Tanh()), cell
}

// MultiHead is attention of several heads with one projection of queries, keys
// and values, sequence first: [n,b,d], [m,b,d], [m,b,d] → [n,b,d] and the
// weights [b,heads,n,m].
func MultiHead(q, k, v, wIn, bIn, wOut, bOut *Tensor, heads int, opts ...MultiHeadOptions) (out, weights *Tensor) {
	var o MultiHeadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	d := q.Dim(-1)
	w := wIn.Chunk(3)
	b := []*Tensor{nil, nil, nil}
	if bIn != nil {
		b = bIn.Chunk(3)
	}
	part := func(x *Tensor, i int) *Tensor { // [n,b,d] → [b,heads,n,d/heads]
		y := linear(x, w[i], b[i])
		return y.Reshape(x.Dim(0), x.Dim(1), heads, d/heads).Permute(1, 2, 0, 3)
	}
	a, weights := attention(part(q, 0), part(k, 1), part(v, 2), o)
	return linear(a.Permute(2, 0, 1, 3).Reshape(q.view.Dims...), wOut, bOut), weights
}

// MultiDot is the product of several matrices; the first and the last may be vectors.
func MultiDot(xs ...*Tensor) *Tensor {
	r := xs[0]
	for _, x := range xs[1:] {
		r = r.MatMul(x)
	}
	return r
}

// ConvOptions are the options of Conv2D.
type ConvOptions = Conv2DOptions

// Ops lists the operations by name.
func Ops() []string {
	var names []string
	for _, n := range rowNames {
		names = append(names, string(n))
	}
	return names
}
