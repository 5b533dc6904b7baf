package kernel

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
	"github.com/tpush/tpush/runtime/shape"
)

// attentionKey tells the programs of attention weights apart.
type attentionKey struct {
	mask   dtype.DType // Invalid: there is none
	causal bool
}

// attentionPrograms remembers the programs of attention weights.
var attentionPrograms sync.Map // of attentionKey: *jit.Kernel

// attentionProgram turns a row of f32 scores into weights: times a scale, plus a
// mask or where a mask is true, up to a limit of the row, and softmax. A row that
// sees nothing gives zeros.
func attentionProgram(k attentionKey) *jit.Kernel {
	if p, ok := attentionPrograms.Load(k); ok {
		return p.(*jit.Kernel)
	}
	b := jit.NewBuilder()
	e := &expr{Builder: b, t: jit.F32, as: dtype.F32}
	none := b.F32(float32(math.Inf(-1)))
	v := b.Mul(b.In(dtype.F32), b.Param(jit.F32))
	switch k.mask {
	case dtype.Invalid:
	case dtype.Bool:
		v = b.Select(b.Convert(b.In(dtype.Bool), jit.Mask), v, none)
	default:
		v = b.Add(v, inAs(b, k.mask, b.In(k.mask), jit.F32))
	}
	if k.causal {
		v = b.Select(b.Lt(b.Column(jit.I32), b.RowIn(dtype.I32)), v, none)
	}
	y, sum := e.shiftedExp(v)
	w := b.Mul(y, b.Div(b.F32(1), sum))
	b.Out(dtype.F32, b.Select(b.Eq(b.ReduceMax(v), none), b.F32(0), w))
	p, _ := attentionPrograms.LoadOrStore(k, programs.Kernel(b.Program()))
	return p.(*jit.Kernel)
}

// attentionRows32 turns scores [batch..,l,s] into weights in their place.
func attentionRows32(scores []float32, mask Array, causal bool, batch []int, l, s int, scale float32) error {
	dims := append(append([]int{}, batch...), l, s)
	k := attentionKey{causal: causal}
	dense := jit.Operand{Buf: bytesOf(scores), Strides: shape.RowMajor(dims)}
	c := &jit.Call{Dims: dims, Params: []uint64{uint64(math.Float32bits(scale))}, In: []jit.Operand{dense}, Out: []jit.Operand{dense}}
	if mask.Valid() {
		k.mask = mask.DType
		c.In = append(c.In, jit.Operand{Buf: mask.Buf, Offset: mask.Offset, Strides: stretch(mask.Dims, mask.Strides, len(dims))})
	}
	if causal {
		limits := make([]int32, l)
		for i := range limits {
			limits[i] = int32(min(i+1, s))
		}
		st := make([]int, len(dims))
		st[len(st)-2] = 1
		c.In = append(c.In, jit.Operand{Buf: bytesOf(limits), Strides: st})
	}
	if len(scores) > heavyGrain {
		c.Parallel = Parallel
	}
	return attentionProgram(k).Run(c)
}
