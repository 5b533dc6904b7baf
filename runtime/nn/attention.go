package nn

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// A MultiHeadAttention lets every position look at others through several
// heads: [b,n,dim] → [b,n,dim].
type MultiHeadAttention struct {
	WQ, WK, WV, WO *Linear
	Heads          int
	Causal         bool     // a position sees only itself and earlier ones
	Drop           *Dropout // of the attention weights, nil for none
}

// AttentionOptions are the options of NewMultiHeadAttention.
type AttentionOptions struct {
	Causal  bool
	NoBias  bool
	Dropout float64
	DType   tpu.DType
}

// NewMultiHeadAttention draws an attention layer; heads must divide dim.
func NewMultiHeadAttention(dim, heads int, opts ...AttentionOptions) *MultiHeadAttention {
	o := first(opts)
	l := LinearOptions{NoBias: o.NoBias, DType: o.DType}
	m := &MultiHeadAttention{NewLinear(dim, dim, l), NewLinear(dim, dim, l), NewLinear(dim, dim, l), NewLinear(dim, dim, l), heads, o.Causal, nil}
	if o.Dropout > 0 {
		m.Drop = NewDropout(o.Dropout)
	}
	return m
}

// Forward lets x look at itself.
func (m *MultiHeadAttention) Forward(x *tpu.Tensor) *tpu.Tensor { return m.Cross(x, x) }

// Cross lets x look at y: [b,n,dim], [b,m,dim] → [b,n,dim].
func (m *MultiHeadAttention) Cross(x, y *tpu.Tensor) *tpu.Tensor {
	q, k, v := m.split(m.WQ.Forward(x)), m.split(m.WK.Forward(y)), m.split(m.WV.Forward(y))
	out := Attention(q, k, v, m.Causal, m.Drop)
	return m.WO.Forward(out.Transpose(1, 2).Reshape(x.Dims()...))
}

// split makes [b,n,dim] into [b,heads,n,dim/heads].
func (m *MultiHeadAttention) split(x *tpu.Tensor) *tpu.Tensor {
	return x.Reshape(x.Dim(0), x.Dim(1), m.Heads, x.Dim(2)/m.Heads).Transpose(1, 2)
}

// Attention is softmax(q·kᵀ/√d)·v: [..,n,d], [..,m,d], [..,m,e] → [..,n,e].
// Without dropout it is one operation.
func Attention(q, k, v *tpu.Tensor, causal bool, drop *Dropout) *tpu.Tensor {
	if drop == nil || drop.Evaluating || drop.P == 0 {
		return tpu.ScaledDotProductAttention(q, k, v, tpu.ScaledDotProductAttentionOptions{IsCausal: causal})
	}
	s := q.MatMul(k.T()).Mul(1 / math.Sqrt(float64(q.Dim(-1))))
	if causal {
		s = s.MaskedFill(tpu.Ones(s.Dim(-2), s.Dim(-1)).Tril().Eq(0), math.Inf(-1))
	}
	return drop.Forward(s.Softmax(-1)).MatMul(v)
}
