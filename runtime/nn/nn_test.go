package nn

import (
	"math"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/tpu"
)

type block struct {
	Attn *MultiHeadAttention
	Norm LayerNorm
	drop *Dropout
}

type model struct {
	Emb    *Embedding
	Blocks []block
	Tied   *Embedding
	scale  *tpu.Tensor
}

func newModel() *model {
	m := &model{Emb: NewEmbedding(5, 4)}
	for range 2 {
		m.Blocks = append(m.Blocks, block{NewMultiHeadAttention(4, 2, AttentionOptions{Causal: true, NoBias: true}), *NewLayerNorm(4), NewDropout(0.5)})
	}
	m.Tied = m.Emb
	m.scale = tpu.Ones(4).RequireGrad()
	return m
}

func TestParamsAreNamedByPath(t *testing.T) {
	var names []string
	for _, p := range NamedParams(newModel()) {
		names = append(names, p.Name)
	}
	want := []string{"emb.weight"}
	for _, b := range []string{"blocks.0", "blocks.1"} {
		for _, w := range []string{"wq", "wk", "wv", "wo"} {
			want = append(want, b+".attn."+w+".weight")
		}
		want = append(want, b+".norm.weight", b+".norm.bias")
	}
	want = append(want, "scale")
	if !slices.Equal(names, want) {
		t.Errorf("got %v\nwant %v", names, want)
	}
}

func TestEvalReachesUnexportedLayers(t *testing.T) {
	m := newModel()
	Eval(m)
	for i := range m.Blocks {
		if !m.Blocks[i].drop.Evaluating {
			t.Errorf("dropout of block %d still trains", i)
		}
	}
	Train(m)
	if m.Blocks[1].drop.Evaluating {
		t.Error("dropout does not train again")
	}
}

// TestCausalAttentionDoesNotLookAhead changes the last position and compares the first ones.
func TestCausalAttentionDoesNotLookAhead(t *testing.T) {
	m := NewMultiHeadAttention(4, 2, AttentionOptions{Causal: true})
	x := tpu.Randn(1, 3, 4)
	a := m.Forward(x).Float64s()
	y := x.Clone()
	y.SetIndex(9.0, 0, 2)
	b := m.Forward(y).Float64s()
	if !slices.Equal(a[:8], b[:8]) || slices.Equal(a[8:], b[8:]) {
		t.Errorf("got %v then %v", a, b)
	}
}

// TestBatchNormMovesItsStatistics checks the running mean after one batch.
func TestBatchNormMovesItsStatistics(t *testing.T) {
	l := NewBatchNorm(1)
	x := tpu.From([]float32{1, 3}, 2, 1)
	y := l.Forward(x).Float64s()
	if math.Abs(y[0]+1) > 1e-4 || math.Abs(l.RunningMean.Item()-0.2) > 1e-6 {
		t.Errorf("output %v, running mean %v", y, l.RunningMean.Item())
	}
	Eval(l)
	z := l.Forward(x).Float64s()
	if math.Abs(z[0]-(1-0.2)/math.Sqrt(l.RunningVar.Item()+1e-5)) > 1e-5 {
		t.Errorf("evaluating gives %v", z)
	}
}

func TestLoadRefusesAnotherShape(t *testing.T) {
	a, b := NewLinear(3, 2), NewLinear(3, 2)
	Load(a, State(b))
	if !slices.Equal(a.Weight.Float64s(), b.Weight.Float64s()) {
		t.Error("the weights differ after Load")
	}
	if err := tpu.Try(func() { Load(a, State(NewLinear(2, 2))) }); err == nil {
		t.Error("another shape was loaded")
	}
}
