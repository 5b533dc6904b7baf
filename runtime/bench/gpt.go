package bench

import (
	"math"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// A gpt is a transformer that norms before each part. Linear weights are
// [in,out] and have no bias.
type gpt struct {
	width, heads, vocab int
	tok, pos            *tpu.Tensor
	blocks              []block
	lnf                 norm
	head                *tpu.Tensor
}

// A norm is a layer norm over the last axis.
type norm struct{ w, b *tpu.Tensor }

func (n norm) of(x *tpu.Tensor) *tpu.Tensor {
	return tpu.LayerNorm(x, n.w.Dims(), tpu.LayerNormOptions{Weight: n.w, Bias: n.b})
}

type block struct {
	ln1, ln2           norm
	qkv, proj, fc, out *tpu.Tensor
}

// forward adds attention and the two linear layers to x; attend gives what the
// heads make of q|k|v.
func (b *block) forward(x *tpu.Tensor, attend func(qkv *tpu.Tensor) *tpu.Tensor) *tpu.Tensor {
	x = x.Add(attend(b.ln1.of(x).MatMul(b.qkv)).MatMul(b.proj))
	return x.Add(gelu(b.ln2.of(x).MatMul(b.fc)).MatMul(b.out))
}

// newGPT draws the parameters with the seeds 100, 101, … in the order of use.
func newGPT(d tpu.DType, layers, width, heads, vocab, length int) *gpt {
	seed := 99
	draw := func(scale float64, dims ...int) *tpu.Tensor {
		seed++
		return in(d, uniform(seed, scale, dims...))
	}
	linear := func(from, to int) *tpu.Tensor { return draw(1/math.Sqrt(float64(from)), from, to) }
	newNorm := func() norm { return norm{d.Ones(width), d.Zeros(width)} }
	g := &gpt{width: width, heads: heads, vocab: vocab, tok: draw(0.1, vocab, width), pos: draw(0.1, length, width)}
	for range layers {
		g.blocks = append(g.blocks, block{ln1: newNorm(), ln2: newNorm(),
			qkv: linear(width, 3*width), proj: linear(width, width), fc: linear(width, 4*width), out: linear(4*width, width)})
	}
	g.lnf, g.head = newNorm(), linear(width, vocab)
	return g
}

func (g *gpt) params() []*tpu.Tensor {
	ps := []*tpu.Tensor{g.tok, g.pos}
	for i := range g.blocks {
		b := &g.blocks[i]
		ps = append(ps, b.ln1.w, b.ln1.b, b.qkv, b.proj, b.ln2.w, b.ln2.b, b.fc, b.out)
	}
	return append(ps, g.lnf.w, g.lnf.b, g.head)
}

func (g *gpt) logits(x *tpu.Tensor) *tpu.Tensor { return g.lnf.of(x).MatMul(g.head) }

// The shape of the decoding workload: 64 tokens at positions 448 to 511.
const decodeStart, decodeTokens, decodeCache = 448, 64, 512

// decodeCases decode greedily from token 1; the keys and values of the
// positions before are given.
func decodeCases() []Case {
	var list []Case
	for _, d := range bothFloats {
		list = append(list, Case{Name: "decode", DType: d, Work: decodeTokens, Unit: "token", build: func(m *exec.Mode) unit {
			dec := newDecoder(d, m)
			return unit{
				run: func(n int) {
					for range n {
						dec.decode()
					}
				},
				check: func() []float64 { return dec.first() },
			}
		}})
	}
	return list
}

// A decoder is a model with its cache: per layer keys and values [heads,positions,width/heads].
type decoder struct {
	g            *gpt
	keys, values []*tpu.Tensor
	positions    []*tpu.Tensor // each position as i64[1]
	steps        *tpu.Tensor   // 0, 1, … as i64[positions]
	mode         *exec.Mode
	step         func(token, at *tpu.Tensor) *tpu.Tensor // compiled mode
}

func newDecoder(d tpu.DType, m *exec.Mode) *decoder {
	const layers, width, heads = 6, 384, 6
	dec := &decoder{g: newGPT(d, layers, width, heads, 1000, decodeCache), mode: m, steps: tpu.I64.Arange(decodeCache)}
	dims := []int{layers, 2, heads, decodeCache, width / heads}
	past := numbers(5, 0.5, dims...)
	for i := range past {
		if i/(width/heads)%decodeCache >= decodeStart {
			past[i] = 0
		}
	}
	cache := in(d, tpu.F32.From(past, dims...))
	for i := range layers {
		dec.keys = append(dec.keys, cache.Select(0, i).Select(0, 0).Clone())
		dec.values = append(dec.values, cache.Select(0, i).Select(0, 1).Clone())
	}
	for p := range decodeCache {
		dec.positions = append(dec.positions, tpu.I64.Of(p))
	}
	if m == exec.Compiled {
		dec.step = tpu.Compile(dec.static).(func(token, at *tpu.Tensor) *tpu.Tensor)
	}
	return dec
}

// heads cuts q|k|v of one token into [heads,1,width/heads] each.
func (d *decoder) heads(qkv *tpu.Tensor) (q, k, v *tpu.Tensor) {
	x := qkv.View(3, d.g.heads, 1, d.g.width/d.g.heads).Unbind(0)
	return x[0], x[1], x[2]
}

// growing attends to the positions so far: a view of the cache that grows.
func (d *decoder) growing(token *tpu.Tensor, pos int) *tpu.Tensor {
	x := tpu.Embedding(token, d.g.tok).Add(d.g.pos.Select(0, pos))
	for i := range d.g.blocks {
		x = d.g.blocks[i].forward(x, func(qkv *tpu.Tensor) *tpu.Tensor {
			q, k, v := d.heads(qkv)
			d.keys[i].Narrow(1, pos, 1).CopyFrom(k)
			d.values[i].Narrow(1, pos, 1).CopyFrom(v)
			o := tpu.ScaledDotProductAttention(q, d.keys[i].Narrow(1, 0, pos+1), d.values[i].Narrow(1, 0, pos+1))
			return o.Reshape(1, d.g.width)
		})
	}
	return d.g.logits(x)
}

// static attends to the whole cache through a mask, so that every position is
// the same program.
func (d *decoder) static(token, at *tpu.Tensor) *tpu.Tensor {
	mask := d.steps.Le(at).View(1, 1, decodeCache)
	x := tpu.Embedding(token, d.g.tok).Add(d.g.pos.IndexSelect(0, at))
	for i := range d.g.blocks {
		x = d.g.blocks[i].forward(x, func(qkv *tpu.Tensor) *tpu.Tensor {
			q, k, v := d.heads(qkv)
			d.keys[i].IndexCopyInPlace(1, at, k)
			d.values[i].IndexCopyInPlace(1, at, v)
			o := tpu.ScaledDotProductAttention(q, d.keys[i], d.values[i], tpu.ScaledDotProductAttentionOptions{AttnMask: mask})
			return o.Reshape(1, d.g.width)
		})
	}
	return d.g.logits(x)
}

func (d *decoder) next(token *tpu.Tensor, pos int) *tpu.Tensor {
	if d.step != nil {
		return d.step(token, d.positions[pos])
	}
	return d.growing(token, pos)
}

// decode reads one number at its end: the last token.
func (d *decoder) decode() int {
	var last int
	tpu.NoGrad(func() {
		token := tpu.I64.Of(1)
		for pos := decodeStart; pos < decodeStart+decodeTokens; pos++ {
			t := token
			token = tpu.Tidy(func() *tpu.Tensor { return d.next(t, pos).ArgMax(-1) })
		}
		last = token.Int()
	})
	return last
}

func (d *decoder) first() (v []float64) {
	tpu.NoGrad(func() { v = summary(d.next(tpu.I64.Of(1), decodeStart)) })
	return v
}
