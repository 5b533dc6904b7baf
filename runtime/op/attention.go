package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

const attentionName = "scaled_dot_product_attention"

func attentionRow() Def {
	return Def{Name: attentionName, Torch: attentionName, Func: "ScaledDotProductAttention", Class: Contract, Traits: Composite,
		Doc:     "softmax(query·keyᵀ·scale + mask)·value over the last two axes; a bool mask keeps where it is true.",
		Example: `tpu.ScaledDotProductAttention(tpu.Ones(1, 2, 3, 4), tpu.Ones(1, 2, 3, 4), tpu.Ones(1, 2, 3, 4), tpu.ScaledDotProductAttentionOptions{IsCausal: true})`,
		Params: []Param{tensor("query"), tensor("key"), tensor("value"), {Name: "attn_mask", Kind: KOptTensor, Doc: "broadcasts to [..,queries,keys]"},
			{Name: "is_causal", Kind: KBool, Default: false, Doc: "query i sees keys 0 to i"},
			{Name: "scale", Kind: KFloat, Default: 0.0, Doc: "factor of the scores; 0: one over the square root of the width"},
			{Name: "enable_gqa", Kind: KBool, Default: false, Doc: "each head of key and value serves several of query"}},
		Shape: attentionShape, DType: attentionType,
		Grad: attentionGrad, Kernel: kernel.Attention, Lower: lowerAttention, Cost: attentionCost}
}

func attentionType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	t, err := floatType(attentionName)(in[:3], a)
	if err != nil {
		return t, err
	}
	if len(in) > 3 && in[3].Valid() && in[3].DType != dtype.Bool && in[3].DType != t {
		return t, &TypesError{Op: attentionName, Left: in[0], Right: in[3]}
	}
	return t, nil
}

func attentionShape(in []shape.Spec, a Attrs) ([]int, error) {
	q, k, v := in[0], in[1], in[2]
	for i, s := range []shape.Spec{q, k, v} {
		if s.Rank() < 2 {
			return nil, wrongRank(attentionName, []string{"query", "key", "value"}[i], s, 2, -1)
		}
	}
	rq, rk, rv := q.Rank(), k.Rank(), v.Rank()
	if q.Dims[rq-1] != k.Dims[rk-1] {
		return nil, &shape.MismatchError{Op: attentionName, Left: q, Right: k, Axis: rq - 1, Why: fmt.Sprintf("widths %d and %d differ", q.Dims[rq-1], k.Dims[rk-1])}
	}
	if k.Dims[rk-2] != v.Dims[rv-2] {
		return nil, &shape.MismatchError{Op: attentionName, Left: k, Right: v, Axis: rk - 2, Why: fmt.Sprintf("%d keys and %d values", k.Dims[rk-2], v.Dims[rv-2])}
	}
	bq, bk, bv := q.Dims[:rq-2], slices.Clone(k.Dims[:rk-2]), slices.Clone(v.Dims[:rv-2])
	if a.Bool("enable_gqa") {
		if min(rq, rk, rv) < 3 {
			return nil, wrongRank(attentionName, "query", q, 3, -1)
		}
		h := bq[rq-3]
		for i, b := range [][]int{bk, bv} {
			n := b[len(b)-1]
			if n == 0 || h%n != 0 || n != h && len(b) != len(bq) {
				return nil, &shape.ArgumentError{Op: attentionName, Arg: "enable_gqa", Value: true, Why: fmt.Sprintf("%d heads of query are no multiple of %d of %s", h, n, []string{"key", "value"}[i])}
			}
			b[len(b)-1] = h
		}
	}
	batch, ok := shape.Broadcast(bq, bk)
	if ok {
		batch, ok = shape.Broadcast(batch, bv)
	}
	if !ok {
		return nil, &shape.MismatchError{Op: attentionName, Left: q, Right: k, Axis: -1, Why: "batch sizes do not broadcast"}
	}
	l, s := q.Dims[rq-2], k.Dims[rk-2]
	if len(in) > 3 && in[3].Valid() {
		if a.Bool("is_causal") {
			return nil, &shape.ArgumentError{Op: attentionName, Arg: "is_causal", Value: true, Why: "there is a mask too"}
		}
		full := append(slices.Clone(batch), l, s)
		if d, ok := shape.Broadcast(in[3].Dims, full); !ok || !shape.EqualDims(d, full) {
			return nil, shape.NewBroadcastError(attentionName, shape.Spec{DType: q.DType, Dims: full}, in[3])
		}
	}
	return append(slices.Clone(batch), l, v.Dims[rv-1]), nil
}

// attentionCost counts both products.
func attentionCost(in, out []shape.Spec, _ Attrs) Cost {
	r := out[0].Rank()
	l, f := out[0].Dims[r-2], out[0].Dims[r-1]
	s, e := in[1].Dims[in[1].Rank()-2], in[0].Dims[in[0].Rank()-1]
	b := shape.Size(out[0].Dims[:r-2])
	n := int64(b) * int64(l) * int64(s)
	return Cost{FLOPs: 2*n*int64(e+f) + 5*n, VPUOps: 5 * n, EUPOps: n, M: l, N: s, K: e + f, B: b, Unit: MXU}
}

// heads repeats the heads of key or value for the heads of query.
func heads(b Builder, x Value, n int) Value {
	d := dims(x)
	if len(d) < 3 || d[len(d)-3] == n {
		return x
	}
	return b.Do("repeat_interleave", attr("repeats", n/d[len(d)-3], "dim", len(d)-3), x)
}

// unheads sums the gradient of repeated heads.
func unheads(b Builder, g Value, size []int) Value {
	d := dims(g)
	r := len(size)
	if len(d) != r || r < 3 || d[r-3] == size[r-3] || size[r-3] == 1 {
		return reduceTo(b, g, size)
	}
	pairs := slices.Insert(slices.Clone(d), r-2, d[r-3]/size[r-3])
	pairs[r-3] = size[r-3]
	one := slices.Clone(pairs)
	one[r-2] = 1
	return reduceTo(b, reshaped(b, reduceTo(b, reshaped(b, g, pairs...), one), slices.Delete(slices.Clone(one), r-2, r-1)...), size)
}

// attentionGrad computes the weights p again. With g the gradient of p·v:
// dv = pᵀ·g, dp = g·vᵀ, ds = p·(dp - Σ dp·p), dq = ds·k·scale, dk = dsᵀ·q·scale.
func attentionGrad(b Builder, c *Call, dy []Value) []Value {
	q, k, v, g := c.In[0], c.In[1], c.In[2], dy[0]
	if c.Attrs.Bool("enable_gqa") {
		d := dims(q)
		k, v = heads(b, k, d[len(d)-3]), heads(b, v, d[len(d)-3])
	}
	var mask Value
	if len(c.In) > 3 {
		mask = c.In[3]
	}
	e := dims(q)[len(dims(q))-1]
	scale := kernel.AttentionScale(c.Attrs, e)
	s := scaled(b, b.Do("matmul", nil, q, swapped(b, k)), scale)
	keep := Value(nil)
	switch {
	case c.Attrs.Bool("is_causal"):
		d := dims(s)
		keep = b.Do("tril", attr("diagonal", 0), b.Full(shape.Spec{DType: dtype.Bool, Dims: slices.Clone(d[len(d)-2:])}, 1))
	case mask != nil && mask.Spec().DType == dtype.Bool:
		keep = mask
	case mask != nil:
		s = b.Do("add", nil, s, mask)
	}
	var p Value
	if keep != nil {
		// A row that keeps nothing is NaN before its weights are set to zero.
		p = b.Do("softmax", attr("dim", -1), b.Do("where", nil, keep, s, b.Scalar(math.Inf(-1))))
		p = b.Do("where", nil, keep, p, b.Scalar(0))
	} else {
		p = b.Do("softmax", attr("dim", -1), s)
	}
	out := make([]Value, len(c.In))
	if c.Needs[2] {
		out[2] = unheads(b, b.Do("matmul", nil, swapped(b, p), g), dims(c.In[2]))
	}
	dp := b.Do("matmul", nil, g, swapped(b, v))
	pd := b.Do("mul", nil, p, dp)
	one := slices.Clone(dims(pd))
	one[len(one)-1] = 1
	ds := b.Do("sub", nil, pd, b.Do("mul", nil, p, reduceTo(b, pd, one)))
	if c.Needs[0] {
		out[0] = reduceTo(b, scaled(b, b.Do("matmul", nil, ds, k), scale), dims(c.In[0]))
	}
	if c.Needs[1] {
		out[1] = unheads(b, scaled(b, b.Do("matmul", nil, swapped(b, ds), q), scale), dims(c.In[1]))
	}
	if mask != nil && c.Needs[3] {
		out[3] = reduceTo(b, ds, dims(mask))
	}
	return out
}

func lowerAttention(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	out := c.Out[0]
	r := out.Rank()
	q, k, v := c.In[0], c.In[1], c.In[2]
	batch := out.Dims[:r-2]
	l, s := q.Spec.Dims[q.Spec.Rank()-2], k.Spec.Dims[k.Spec.Rank()-2]
	fit := func(x stablehlo.Value) stablehlo.Value {
		d := x.Spec.Dims
		if n := len(d); n == r && r > 2 && d[r-3] != 1 && d[r-3] != batch[r-3] {
			full := slices.Insert(slices.Clone(d), r-2, batch[r-3]/d[r-3])
			x = w.BroadcastInDim(x, full, append(span(0, r-2), r-1, r))
			x = w.Reshape(x, append(append(slices.Clone(d[:r-3]), batch[r-3]), d[r-2:]...))
		}
		d = x.Spec.Dims
		return w.BroadcastTo(x, append(slices.Clone(batch), d[len(d)-2:]...))
	}
	q, k, v = fit(q), fit(k), fit(v)
	n := len(batch)
	wide := dtype.F32
	if out.DType == dtype.F64 {
		wide = dtype.F64
	}
	full := shape.Spec{DType: wide, Dims: append(slices.Clone(batch), l, s)}
	p := w.Convert(dotHLO(w, q, k, span(0, n), span(0, n), []int{n + 1}, []int{n + 1}), wide)
	p = w.Do("multiply", full, "", p, w.Splat(full, kernel.AttentionScale(c.Attrs, q.Spec.Dims[n+1])))
	var keep stablehlo.Value
	if c.Attrs.Bool("is_causal") {
		keep = diagonalCompareHLO(w, "LE", full.Dims, n, n+1, 0)
	} else if len(c.In) > 3 && c.In[3].ID != "" {
		m := w.BroadcastTo(c.In[3], full.Dims)
		if m.Spec.DType == dtype.Bool {
			keep = m
		} else {
			p = w.Do("add", full, "", p, w.Convert(m, wide))
		}
	}
	none := math.Inf(-1)
	if keep.ID != "" {
		p = w.Select(keep, p, w.Splat(full, none))
	}
	last := []int{n + 1}
	spread := func(x stablehlo.Value) stablehlo.Value { return w.BroadcastInDim(x, full.Dims, span(0, n+1)) }
	top := w.Reduce("maximum", p, last, none)
	// A row that sees nothing has no largest score: take 0, its weights are 0 as well.
	top = w.Select(w.Compare("EQ", top, w.Splat(top.Spec, none)), w.Splat(top.Spec, 0), top)
	p = w.Do("exponential", full, "", w.Do("subtract", full, "", p, spread(top)))
	sum := w.Reduce("add", p, last, 0)
	sum = w.Select(w.Compare("EQ", sum, w.Splat(sum.Spec, 0)), w.Splat(sum.Spec, 1), sum)
	p = w.Convert(w.Do("divide", full, "", p, spread(sum)), out.DType)
	return []stablehlo.Value{dotHLO(w, p, v, span(0, n), span(0, n), []int{n + 1}, []int{n})}
}
