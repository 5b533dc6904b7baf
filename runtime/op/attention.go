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

const (
	attentionName = "scaled_dot_product_attention"
	attentionBack = "scaled_dot_product_attention_backward"
)

// attentionBackRow is the gradient for query, key and value.
func attentionBackRow() Def {
	return Def{Name: attentionBack, Torch: "_scaled_dot_product_flash_attention_for_cpu_backward", Class: Contract, Traits: Composite,
		Doc: "Gradient of scaled_dot_product_attention for query, key and value; the weights are computed again.",
		Params: []Param{tensor("grad_out"), tensor("query"), tensor("key"), tensor("value"), {Name: "attn_mask", Kind: KOptTensor, Doc: "broadcasts to [..,queries,keys]"},
			{Name: "is_causal", Kind: KBool, Default: false, Doc: "query i sees keys 0 to i"},
			{Name: "scale", Kind: KFloat, Default: 0.0, Doc: "factor of the scores; 0: one over the square root of the width"}},
		Results: []string{"query", "key", "value"}, Infer: attentionBackInfer,
		Grad: attentionBackGrad, Kernel: kernel.AttentionBackward, Lower: lowerAttentionBack, Cost: attentionBackCost}
}

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

// expandedTo stretches a value over a batch; its last two axes stay.
func expandedTo(b Builder, x Value, batch []int) Value {
	d := dims(x)
	return calc{b}.expand(x, append(slices.Clone(batch), d[len(d)-2:]...))
}

// attentionGrad is one operation, unless the mask wants a gradient.
func attentionGrad(b Builder, c *Call, dy []Value) []Value {
	if len(c.In) > 3 && c.In[3] != nil && c.Needs[3] {
		return attentionMaskGrad(b, c, dy[0])
	}
	g := dy[0]
	batch := dims(g)[:len(dims(g))-2]
	in := [3]Value{c.In[0], c.In[1], c.In[2]}
	own := func(x Value) []int { // the batch of keys or values, whose heads may be fewer
		to := slices.Clone(batch)
		if d := dims(x); c.Attrs.Bool("enable_gqa") && len(d) > 2 {
			to[len(to)-1] = d[len(d)-3]
		}
		return to
	}
	if k, v := own(in[1]), own(in[2]); slices.Equal(k, v) {
		in[1], in[2] = expandedTo(b, in[1], k), expandedTo(b, in[2], k)
	} else {
		h := batch[len(batch)-1]
		in[1], in[2] = expandedTo(b, heads(b, in[1], h), batch), expandedTo(b, heads(b, in[2], h), batch)
	}
	in[0] = expandedTo(b, in[0], batch)
	var mask Value
	if len(c.In) > 3 {
		mask = c.In[3]
	}
	a := attr("is_causal", c.Attrs.Bool("is_causal"), "scale", c.Attrs.Float("scale"))
	all := b.All(attentionBack, a, g, in[0], in[1], in[2], mask)
	out := make([]Value, len(c.In))
	for i := range in {
		if c.Needs[i] {
			out[i] = unheads(b, all[i], dims(c.In[i]))
		}
	}
	return out
}

// rowSum sums over the last axis, which stays as size 1.
func rowSum(b Builder, x Value) Value { return calc{b}.sum(x, len(dims(x))-1) }

// attentionWeights computes softmax(q·kᵀ·scale + mask), zero where nothing is seen.
func attentionWeights(b Builder, a Attrs, q, k, mask Value) Value {
	s := scaled(b, b.Do("matmul", nil, q, swapped(b, k)), kernel.AttentionScale(a, dims(q)[len(dims(q))-1]))
	keep := Value(nil)
	switch {
	case a.Bool("is_causal"):
		d := dims(s)
		keep = b.Do("tril", attr("diagonal", 0), b.Full(shape.Spec{DType: dtype.Bool, Dims: slices.Clone(d[len(d)-2:])}, 1))
	case mask != nil && mask.Spec().DType == dtype.Bool:
		keep = mask
	case mask != nil:
		s = b.Do("add", nil, s, mask)
	}
	if keep == nil {
		return b.Do("softmax", attr("dim", -1), s)
	}
	// A row that keeps nothing is NaN before its weights are set to zero.
	p := b.Do("softmax", attr("dim", -1), b.Do("where", nil, keep, s, b.Scalar(math.Inf(-1))))
	return b.Do("where", nil, keep, p, b.Scalar(0))
}

// attentionMaskGrad computes the weights p again. With g the gradient of p·v:
// dv = pᵀ·g, dp = g·vᵀ, ds = p·(dp − Σ dp·p), which is that of the mask,
// dq = ds·k·scale, dk = dsᵀ·q·scale.
func attentionMaskGrad(b Builder, c *Call, g Value) []Value {
	q, k, v, mask := c.In[0], c.In[1], c.In[2], c.In[3]
	if c.Attrs.Bool("enable_gqa") {
		d := dims(q)
		k, v = heads(b, k, d[len(d)-3]), heads(b, v, d[len(d)-3])
	}
	scale := kernel.AttentionScale(c.Attrs, dims(q)[len(dims(q))-1])
	p := attentionWeights(b, c.Attrs, q, k, mask)
	m := calc{b}
	pd := m.mul(p, m.do("matmul", g, swapped(b, v)))
	ds := m.sub(pd, m.mul(p, rowSum(b, pd)))
	out := make([]Value, len(c.In))
	if c.Needs[0] {
		out[0] = reduceTo(b, scaled(b, m.do("matmul", ds, k), scale), dims(q))
	}
	if c.Needs[1] {
		out[1] = unheads(b, scaled(b, m.do("matmul", swapped(b, ds), q), scale), dims(c.In[1]))
	}
	if c.Needs[2] {
		out[2] = unheads(b, m.do("matmul", swapped(b, p), g), dims(c.In[2]))
	}
	out[3] = reduceTo(b, ds, dims(mask))
	return out
}

// attentionBackInfer: q has the batch of the result, k and v have one batch,
// that of q but for a number of heads that divides its own.
func attentionBackInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	g, q, k, v := in[0], in[1], in[2], in[3]
	a = append(attr("enable_gqa", q.Rank() > 2), a...)
	out, err := attentionShape(in[1:], a)
	if err != nil {
		return nil, err
	}
	n := len(out) - 2
	fits := func(x shape.Spec) bool {
		return x.Rank() == len(out) && shape.EqualDims(x.Dims[:max(n-1, 0)], out[:max(n-1, 0)])
	}
	if !fits(q) || !fits(k) || !fits(v) || !shape.EqualDims(q.Dims[:n], out[:n]) || !shape.EqualDims(k.Dims[:n], v.Dims[:n]) {
		return nil, &shape.MismatchError{Op: attentionBack, Left: q, Right: k, Axis: -1, Why: "the batches differ"}
	}
	if !shape.EqualDims(g.Dims, out) {
		return nil, &shape.MismatchError{Op: attentionBack, Left: g, Right: q, Axis: -1, Why: "a gradient has the shape of its output"}
	}
	if _, err := attentionType(in[1:], a); err != nil {
		return nil, err
	}
	var specs []shape.Spec
	for _, x := range in[1:4] {
		specs = append(specs, like1(x))
	}
	return specs, nil
}

// attentionBackCost counts the five products.
func attentionBackCost(in, _ []shape.Spec, _ Attrs) Cost {
	g, q, k := in[0], in[1], in[2]
	r := g.Rank()
	l, f := g.Dims[r-2], g.Dims[r-1]
	s, e := k.Dims[r-2], q.Dims[r-1]
	b := shape.Size(g.Dims[:r-2])
	n := int64(b) * int64(l) * int64(s)
	return Cost{FLOPs: 2*n*int64(3*e+2*f) + 10*n, VPUOps: 10 * n, EUPOps: n, M: l, N: s, K: 3*e + 2*f, B: b, Unit: MXU}
}

// attentionBackGrad: with x, y and z the gradients of dq, dk and dv,
// w = dp − Σ p·dp, u = (x·kᵀ + q·yᵀ)·scale and r = Σ p·u, that of dp is
// a = p·(u − r), that of p is u·w − r·dp + g·zᵀ, and that of q·kᵀ is
// c = p·(p̄ − Σ p·p̄)·scale. So g gets a·v + p·z, v gets aᵀ·g, q gets c·k + ds·y
// and k gets cᵀ·q + dsᵀ·x.
func attentionBackGrad(b Builder, c *Call, dy []Value) []Value {
	g, q, k, v := c.In[0], c.In[1], c.In[2], c.In[3]
	m := calc{b}
	orZeros := func(i int, like Value) Value {
		if dy[i] == nil {
			return m.zeros(like)
		}
		return dy[i]
	}
	x, y, z := orZeros(0, q), orZeros(1, k), orZeros(2, v)
	if d := dims(q); len(d) > 2 {
		n := d[len(d)-3]
		k, v, y, z = heads(b, k, n), heads(b, v, n), heads(b, y, n), heads(b, z, n)
	}
	mul := func(x, y Value) Value { return m.do("matmul", x, y) }
	scale := kernel.AttentionScale(c.Attrs, dims(q)[len(dims(q))-1])
	p := attentionWeights(b, c.Attrs, q, k, third(c.In, 4))
	dp := mul(g, swapped(b, v))
	w := m.sub(dp, rowSum(b, m.mul(p, dp)))
	ds := m.mul(m.mul(p, w), scale)
	u := m.mul(m.add(mul(x, swapped(b, k)), mul(q, swapped(b, y))), scale)
	r := rowSum(b, m.mul(p, u))
	a := m.mul(p, m.sub(u, r))
	pBar := m.add(m.sub(m.mul(u, w), m.mul(r, dp)), mul(g, swapped(b, z)))
	cBar := m.mul(m.mul(p, m.sub(pBar, rowSum(b, m.mul(p, pBar)))), scale)
	return []Value{
		m.add(mul(a, v), mul(p, z)),
		m.add(mul(cBar, k), mul(ds, y)),
		unheads(b, m.add(mul(swapped(b, cBar), q), mul(swapped(b, ds), x)), dims(c.In[2])),
		unheads(b, mul(swapped(b, a), g), dims(c.In[3])),
		nil,
	}[:len(c.In)]
}

// An attentionHLO is attention as operations of StableHLO, its operands
// stretched over the batch of the result.
type attentionHLO struct {
	w       *stablehlo.Writer
	q, k, v stablehlo.Value
	batch   int        // axes of it
	full    shape.Spec // of the scores
	scale   float64
	p       stablehlo.Value // the weights
}

// over sums the scores' last axis away, and spreads what comes out over it again.
func (h *attentionHLO) over(how string, x stablehlo.Value, init float64, between func(stablehlo.Value) stablehlo.Value) stablehlo.Value {
	x = between(h.w.Reduce(how, x, []int{h.batch + 1}, init))
	return h.w.BroadcastInDim(x, h.full.Dims, span(0, h.batch+1))
}

// dot multiplies matrices of a batch over one axis of each.
func (h *attentionHLO) dot(x, y stablehlo.Value, xK, yK int) stablehlo.Value {
	n := h.batch
	return dotHLO(h.w, x, y, span(0, n), span(0, n), []int{n + xK}, []int{n + yK})
}

func newAttentionHLO(w *stablehlo.Writer, a Attrs, in []stablehlo.Value, out shape.Spec) *attentionHLO {
	r := out.Rank()
	q, k, v := in[0], in[1], in[2]
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
	n := len(batch)
	wide := dtype.F32
	if out.DType == dtype.F64 {
		wide = dtype.F64
	}
	full := shape.Spec{DType: wide, Dims: append(slices.Clone(batch), l, s)}
	h := &attentionHLO{w: w, q: fit(q), k: fit(k), v: fit(v), batch: n, full: full, scale: kernel.AttentionScale(a, q.Spec.Dims[q.Spec.Rank()-1])}
	p := w.Convert(h.dot(h.q, h.k, 1, 1), wide)
	p = w.Do("multiply", full, "", p, w.Splat(full, h.scale))
	var keep stablehlo.Value
	if a.Bool("is_causal") {
		keep = diagonalCompareHLO(w, "LE", full.Dims, n, n+1, 0)
	} else if len(in) > 3 && in[3].ID != "" {
		m := w.BroadcastTo(in[3], full.Dims)
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
	replaced := func(old, with float64) func(x stablehlo.Value) stablehlo.Value {
		return func(x stablehlo.Value) stablehlo.Value {
			return w.Select(w.Compare("EQ", x, w.Splat(x.Spec, old)), w.Splat(x.Spec, with), x)
		}
	}
	// A row that sees nothing has no largest score: take 0, its weights are 0 as well.
	p = w.Do("exponential", full, "", w.Do("subtract", full, "", p, h.over("maximum", p, none, replaced(none, 0))))
	h.p = w.Do("divide", full, "", p, h.over("add", p, 0, replaced(0, 1)))
	return h
}

func lowerAttention(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := newAttentionHLO(w, c.Attrs, c.In, c.Out[0])
	return []stablehlo.Value{h.dot(w.Convert(h.p, c.Out[0].DType), h.v, 1, 0)}
}

func lowerAttentionBack(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := newAttentionHLO(w, c.Attrs, c.In[1:], c.Out[0])
	wide := func(x stablehlo.Value) stablehlo.Value { return w.Convert(x, h.full.DType) }
	g, q, k, v := wide(c.In[0]), wide(h.q), wide(h.k), wide(h.v)
	pd := h.dot(g, v, 1, 1)
	sum := h.over("add", w.Do("multiply", h.full, "", h.p, pd), 0, func(x stablehlo.Value) stablehlo.Value { return x })
	ds := w.Do("multiply", h.full, "", h.p, w.Do("subtract", h.full, "", pd, sum))
	ds = w.Do("multiply", h.full, "", ds, w.Splat(h.full, h.scale))
	owned := func(x stablehlo.Value, out shape.Spec) stablehlo.Value { // heads that share keys are added up
		if n := len(out.Dims) - 3; n >= 0 && out.Dims[n] != x.Spec.Dims[n] {
			d := slices.Insert(slices.Clone(x.Spec.Dims), n+1, x.Spec.Dims[n]/out.Dims[n])
			d[n] = out.Dims[n]
			x = w.Reduce("add", w.Reshape(x, d), []int{n + 1}, 0)
		}
		return w.Convert(x, out.DType)
	}
	return []stablehlo.Value{
		w.Convert(h.dot(ds, k, 1, 0), c.Out[0].DType),
		owned(h.dot(ds, q, 0, 0), c.Out[1]),
		owned(h.dot(h.p, g, 0, 0), c.Out[2]),
	}
}
