package kernel

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd/simdtest"
)

// qkv is q, k, v of a batch of 8 sequences of 128, 8 heads of 32, as views of one product.
func qkv() (in []Array) {
	all := New(shape.Of(dtype.F32, 8, 128, 3, 8, 32))
	for i, x := range As[float32](all.Buf) {
		As[float32](all.Buf)[i] = x + float32(i%97)/97 - 0.5
	}
	for i := range 3 {
		a := all
		a.View = shape.View{Dims: []int{8, 8, 128, 32}, Strides: []int{128 * 768, 32, 768, 1}, Offset: i * 256}
		in = append(in, a)
	}
	return in
}

func BenchmarkAttention(b *testing.B) {
	out := New(shape.Of(dtype.F32, 8, 8, 128, 32))
	c := &Call{In: qkv(), Out: []Array{out}, Attrs: Attrs{{Name: "is_causal", Value: true}}}
	for b.Loop() {
		if err := Attention(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAttentionOfOne is one query of six heads and a cache of keys and values.
func BenchmarkAttentionOfOne(b *testing.B) {
	for _, t := range []dtype.DType{dtype.F32, dtype.BF16} {
		for _, keys := range []int{490, 512} {
			b.Run(fmt.Sprint(t, keys), func(b *testing.B) {
				cache := drawn(rand.New(rand.NewPCG(1, 1)), t, []int{6, 512, 64})
				cache.Dims = []int{6, keys, 64}
				q, out := New(shape.Of(t, 6, 1, 64)), New(shape.Of(t, 6, 1, 64))
				c := &Call{In: []Array{q, cache, cache}, Out: []Array{out}}
				for b.Loop() {
					if err := Attention(c); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkAttentionBackward(b *testing.B) {
	g := New(shape.Of(dtype.F32, 8, 8, 128, 32))
	for i := range As[float32](g.Buf) {
		As[float32](g.Buf)[i] = float32(i%89)/89 - 0.5
	}
	c := &Call{In: append([]Array{g}, qkv()...), Attrs: Attrs{{Name: "is_causal", Value: true}}}
	for range 3 {
		c.Out = append(c.Out, New(shape.Of(dtype.F32, 8, 8, 128, 32)))
	}
	for b.Loop() {
		if err := AttentionBackward(c); err != nil {
			b.Fatal(err)
		}
	}
}

// attentionCase is a call of attention of random operands.
type attentionCase struct {
	batch      []int
	heads      int // of keys and values, 0: as many
	l, s, e, f int
	causal     bool
	mask       string // "", bool, row (one for all queries), number
	t          dtype.DType
}

var attentionCases = []attentionCase{
	{batch: []int{2, 3}, l: 70, s: 70, e: 32, f: 32, causal: true, t: dtype.F32},
	{batch: []int{2}, l: 33, s: 45, e: 20, f: 37, causal: true, t: dtype.F32},
	{batch: []int{1}, l: 64, s: 9, e: 5, f: 64, causal: true, t: dtype.F64},
	{batch: []int{1, 4}, heads: 2, l: 40, s: 131, e: 16, f: 33, mask: "number", t: dtype.F32},
	{batch: []int{4}, heads: 1, l: 5, s: 7, e: 3, f: 2, mask: "bool", t: dtype.BF16},
	{batch: nil, l: 37, s: 64, e: 64, f: 80, mask: "bool", t: dtype.BF16},
	{batch: []int{2, 2}, l: 1, s: 150, e: 64, f: 64, mask: "row", t: dtype.BF16},
	{batch: []int{6}, l: 1, s: 131, e: 64, f: 64, t: dtype.F32},
	{batch: []int{2}, l: 3, s: 66, e: 48, f: 17, mask: "number", t: dtype.F64},
	{batch: []int{2}, l: 4, s: 1, e: 0, f: 3, t: dtype.F32},
	{batch: []int{2}, l: 50, s: 20, e: 8, f: 8, mask: "number", t: dtype.F16},
}

// drawn is a dense array of numbers between -1 and 1; half of all bools are true.
func drawn(r *rand.Rand, t dtype.DType, dims []int) Array {
	a := New(shape.Of(dtype.F64, dims...))
	for i := range As[float64](a.Buf)[:a.Size()] {
		if x := 2*r.Float64() - 1; t != dtype.Bool || x > 0 {
			As[float64](a.Buf)[i] = x
		}
	}
	return Cast(a, t)
}

// operands draws dy, q, k, v and mask; no row of the first four is dense when turned is set.
func (c *attentionCase) operands(r *rand.Rand, turned bool) []Array {
	matrix := func(batch []int, rows, cols int) Array {
		dims := append(append([]int{}, batch...), rows, cols)
		if !turned {
			return drawn(r, c.t, dims)
		}
		n := len(dims)
		dims[n-1], dims[n-2] = dims[n-2], dims[n-1]
		a := drawn(r, c.t, dims)
		a.View = swapLast(a.View)
		return a
	}
	keys := append([]int{}, c.batch...)
	if c.heads > 0 {
		keys[len(keys)-1] = c.heads
	}
	in := []Array{matrix(c.batch, c.l, c.f), matrix(c.batch, c.l, c.e), matrix(keys, c.s, c.e), matrix(keys, c.s, c.f), {}}
	switch c.mask {
	case "bool":
		in[4] = drawn(r, dtype.Bool, []int{c.l, c.s})
		clear(in[4].Buf[:c.s]) // the first query sees nothing
	case "row":
		in[4] = drawn(r, dtype.Bool, []int{1, 1, c.s})
	case "number":
		in[4] = drawn(r, c.t, append(append([]int{}, c.batch...), c.l, c.s))
	}
	return in
}

// plainAttention is attention and its gradients by their definition, in f64.
func plainAttention(c *attentionCase, in []Array) (out, dq, dk, dv []float64) {
	g, q, k, v := Float64s(in[0]), Float64s(in[1]), Float64s(in[2]), Float64s(in[3])
	n := shape.Size(c.batch)
	share := n / shape.Size(in[2].Dims[:len(in[2].Dims)-2])
	const scale = 0.7
	var add []float64
	if in[4].Valid() {
		add = Float64s(expanded(in[4], append(append([]int{}, c.batch...), c.l, c.s)))
	}
	out, dq, dk, dv = make([]float64, n*c.l*c.f), make([]float64, len(q)), make([]float64, len(k)), make([]float64, len(v))
	for h := range n {
		o := h / share
		for i := range c.l {
			p, dp := make([]float64, c.s), make([]float64, c.s)
			top, sum, pdp := math.Inf(-1), 0.0, 0.0
			for j := range c.s {
				for x := range c.e {
					p[j] += scale * q[(h*c.l+i)*c.e+x] * k[(o*c.s+j)*c.e+x]
				}
				switch {
				case c.causal && j > i:
					p[j] = math.Inf(-1)
				case c.mask == "number":
					p[j] += add[(h*c.l+i)*c.s+j]
				case c.mask != "" && add[(h*c.l+i)*c.s+j] == 0:
					p[j] = math.Inf(-1)
				}
				top = max(top, p[j])
			}
			if math.IsInf(top, -1) {
				continue // nothing is seen
			}
			for j := range p {
				p[j] = math.Exp(p[j] - top)
				sum += p[j]
			}
			for j := range p {
				p[j] /= sum
				for x := range c.f {
					out[(h*c.l+i)*c.f+x] += p[j] * v[(o*c.s+j)*c.f+x]
					dp[j] += g[(h*c.l+i)*c.f+x] * v[(o*c.s+j)*c.f+x]
					dv[(o*c.s+j)*c.f+x] += p[j] * g[(h*c.l+i)*c.f+x]
				}
				pdp += p[j] * dp[j]
			}
			for j := range p {
				ds := p[j] * (dp[j] - pdp) * scale
				for x := range c.e {
					dq[(h*c.l+i)*c.e+x] += ds * k[(o*c.s+j)*c.e+x]
					dk[(o*c.s+j)*c.e+x] += ds * q[(h*c.l+i)*c.e+x]
				}
			}
		}
	}
	return out, dq, dk, dv
}

// TestAttention compares with the definition, and the bits of all levels.
func TestAttention(t *testing.T) {
	simdtest.Everywhere(t, func(t *testing.T, _ simdtest.Way, found simdtest.Found) {
		for n, c := range attentionCases {
			in := c.operands(rand.New(rand.NewPCG(uint64(n), 1)), n%3 == 1)
			a := Attrs{{Name: "is_causal", Value: c.causal}, {Name: "scale", Value: 0.7}}
			forward := &Call{In: in[1:], Attrs: a, Out: []Array{New(shape.Spec{DType: c.t, Dims: append(append([]int{}, c.batch...), c.l, c.f)})}}
			backward := &Call{In: in, Attrs: a}
			for i := range 3 {
				backward.Out = append(backward.Out, New(shape.Spec{DType: c.t, Dims: in[i+1].Dims}))
			}
			if err := errors.Join(Attention(forward), AttentionBackward(backward)); err != nil {
				t.Fatal(err)
			}
			want := make([][]float64, 4)
			want[0], want[1], want[2], want[3] = plainAttention(&c, in)
			within := map[dtype.DType]float64{dtype.F64: 1e-12, dtype.F32: 1e-5, dtype.F16: 4e-3, dtype.BF16: 3e-2}[c.t]
			for i, o := range append(forward.Out, backward.Out...) {
				digest := fnv.New64()
				digest.Write(o.Buf[:o.Size()*o.DType.HostBytes()])
				found(fmt.Sprint(n, " ", i), digest.Sum64())
				for j, x := range Float64s(o) {
					if !(math.Abs(x-want[i][j]) <= within*(1+math.Abs(want[i][j]))) {
						t.Errorf("%+v: result %d[%d] is %v, want %v", c, i, j, x, want[i][j])
						break
					}
				}
			}
		}
	})
}
