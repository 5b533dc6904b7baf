package tpu

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// LinalgNormOptions are the options of LinalgNorm.
type LinalgNormOptions struct {
	Ord     any   // a number or the name of a matrix norm; 2 of all elements when not set
	Dim     []int // one axis: of vectors; two: of matrices; all when not set
	KeepDim bool
}

// LinalgNorm is the norm of vectors or matrices: of one axis a vector norm, of
// two, or of a matrix with an order, a matrix norm.
func (t *Tensor) LinalgNorm(opts ...LinalgNormOptions) *Tensor {
	t.engine()
	o := firstOption(opts)
	if o.Ord != nil && (len(o.Dim) == 2 || o.Dim == nil && len(t.view.Dims) == 2) {
		dim := o.Dim
		if dim == nil {
			dim = []int{-2, -1}
		}
		return call("matrix_norm", op.Attrs{{Name: "ord", Value: normName(o.Ord)}, {Name: "dim", Value: dim}, {Name: "keepdim", Value: o.KeepDim}}, t)
	}
	ord := 2.0
	if o.Ord != nil {
		ord = asFloat(o.Ord)
	}
	a := op.Attrs{{Name: "ord", Value: ord}, {Name: "keepdim", Value: o.KeepDim}}
	if o.Dim != nil {
		a = append(a, op.Attr{Name: "dim", Value: o.Dim})
	}
	return call("vector_norm", a, t)
}

// NativeGroupNorm is GroupNorm that also gives the mean and the reciprocal of
// the standard deviation of each group: [n,groups].
func NativeGroupNorm(x *Tensor, groups int, opts ...GroupNormOptions) (y, mean, rstd *Tensor) {
	someTensors("native_group_norm", x)
	o := firstOption(opts)
	eps := 1e-5
	if o.Eps != nil {
		eps = asFloat(o.Eps)
	}
	n := x.Dim(0)
	g := x
	if x.dt.Bits() < 32 {
		g = x.to(dtype.F32)
	}
	g = g.Reshape(n, groups, shape.Size(x.view.Dims[1:])/max(groups, 1))
	v := g.VarWith(VarOptions{Dim: []int{2}, Correction: 0})
	return GroupNorm(x, groups, opts...), g.Mean(2).to(x.dt), v.Add(eps).Rsqrt().to(x.dt)
}

// ChunkCat cuts each tensor into n pieces along an axis, the last filled with
// zeros, and joins what is left of them flat: [..,n, Σ sizes].
func ChunkCat(axis, n int, xs ...*Tensor) *Tensor {
	const name = "_chunk_cat"
	e := someTensors(name, xs...)
	if n < 1 {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "num_chunks", Value: n, Why: "it must be positive"})
	}
	flat := make([]*Tensor, len(xs))
	for i, x := range xs {
		d := x.axisOf(name, axis)
		size := (x.view.Dims[d] + n - 1) / n
		if more := size*n - x.view.Dims[d]; more > 0 {
			pad := make([]int, 2*(len(x.view.Dims)-d))
			pad[len(pad)-1] = more
			x = call("pad", op.Attrs{{Name: "pad", Value: pad}}, x)
		}
		flat[i] = x.Reshape(append(append([]int{}, x.view.Dims[:d]...), n, -1)...)
		axis = d
	}
	return Cat(axis+1, flat...)
}

// MaskedMedian is the lower median along an axis of the elements where the mask
// is true; nil: all. NaN where there is none.
func MaskedMedian(x, mask *Tensor, axis int, keep bool) *Tensor {
	someTensors("masked.median", x)
	if mask != nil {
		x = Where(mask.expandTo(x.view.Dims), x, math.NaN()).to(x.dt)
	}
	return callAll("nanmedian.dim", op.Attrs{{Name: "dim", Value: axis}, {Name: "keepdim", Value: keep}}, x)[0]
}

// AttentionWithLogSumExp is ScaledDotProductAttention that also gives the
// logarithm of the sum of e to the scores of each query: [..,queries].
func AttentionWithLogSumExp(q, k, v *Tensor, opts ...ScaledDotProductAttentionOptions) (out, lse *Tensor) {
	someTensors("scaled_dot_product_attention", q, k, v)
	o := firstOption(opts)
	scale := asFloat(o.Scale)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(q.Dim(-1)))
	}
	wide := func(x *Tensor) *Tensor {
		x = x.Detach()
		if x.dt.Bits() < 32 {
			x = x.to(dtype.F32)
		}
		return x
	}
	s := wide(q).MatMul(wide(k).T()).Mul(scale)
	if o.IsCausal {
		s = s.MaskedFill(Bool.Ones(s.Dim(-2), s.Dim(-1)).Tril().LogicalNot(), math.Inf(-1))
	}
	if m := o.AttnMask; m != nil {
		if m.dt == dtype.Bool {
			s = s.MaskedFill(m.LogicalNot(), math.Inf(-1))
		} else {
			s = s.Add(wide(m))
		}
	}
	return ScaledDotProductAttention(q, k, v, opts...), s.LogSumExp(-1)
}
