package kernel

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// scoreKey tells the programs of scores apart.
type scoreKey struct {
	mask   dtype.DType // Invalid: there is none
	causal bool
	slopes bool
}

// scorePrograms remembers the programs of scores.
var scorePrograms sync.Map // of scoreKey: *jit.Kernel

// scoreProgram turns a row of f32 scores into weights: times a scale, plus a mask
// or where a mask is true, up to a limit of the row, and softmax. A row that sees
// nothing gives zeros. With slopes the gradient dp of the weights becomes that of
// the products of queries and keys too: p·(dp − Σ dp·p)·scale.
func scoreProgram(k scoreKey) *jit.Kernel {
	if p, ok := scorePrograms.Load(k); ok {
		return p.(*jit.Kernel)
	}
	b := jit.NewBuilder()
	e := &expr{Builder: b, t: jit.F32, as: dtype.F32}
	none := b.F32(float32(math.Inf(-1)))
	scale := b.Param(jit.F32)
	v := b.Mul(b.In(dtype.F32), scale)
	var dp jit.Value
	if k.slopes {
		dp = b.In(dtype.F32)
	}
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
	p := b.Mul(y, b.Div(b.F32(1), sum))
	p = b.Select(b.Eq(b.ReduceMax(v), none), b.F32(0), p)
	b.Out(dtype.F32, p)
	if k.slopes {
		b.Out(dtype.F32, b.Mul(b.Mul(p, b.Sub(dp, b.Sum(b.Mul(dp, p)))), scale))
	}
	x, _ := scorePrograms.LoadOrStore(k, programs.Kernel(b.Program()))
	return x.(*jit.Kernel)
}

// scoreRows turns blocks of scores into weights, for one goroutine.
type scoreRows[T float32 | float64] struct {
	a       *attending[T]
	program *jit.Kernel // nil for f64
	call    jit.Call
	in      [4]jit.Operand
	out     [2]jit.Operand
	dims    [2]int
	dense   [2]int
	masked  [2]int
	limited [2]int
	limits  [attendedRows]int32
	params  [1]uint64
}

// A row of limits steps by one query.
func newScoreRows[T float32 | float64](a *attending[T], slopes bool) *scoreRows[T] {
	s := &scoreRows[T]{a: a, limited: [2]int{1, 0}}
	if typeOf[T]() == dtype.F32 {
		k := scoreKey{causal: a.causal, slopes: slopes}
		if a.mask.Valid() {
			k.mask = a.mask.DType
		}
		s.program = scoreProgram(k)
		s.params[0] = uint64(math.Float32bits(float32(a.scale)))
		s.call = jit.Call{Dims: s.dims[:], Params: s.params[:]}
	}
	return s
}

// weights turns the scores of queries r to r+n of head i for the first keys into
// the weights p; rows are ld apart.
func (s *scoreRows[T]) weights(i, r, n, keys int, scores, p []T, ld int) {
	s.slopes(i, r, n, keys, scores, nil, p, nil, ld)
}

// slopes is weights that also turns the gradients dp of the weights into those of
// the products, ds.
func (s *scoreRows[T]) slopes(i, r, n, keys int, scores, dp, p, ds []T, ld int) {
	a := s.a
	if s.program == nil {
		for j := range n {
			w := p[j*ld:][:keys]
			s.weigh(i, r+j, scores[j*ld:], w)
			if dp != nil {
				slopeRow(w, dp[j*ld:][:keys], ds[j*ld:][:keys], a.scale)
			}
		}
		return
	}
	s.dims, s.dense = [2]int{n, keys}, [2]int{ld, 1}
	s.in[0] = jit.Operand{Buf: bytesOf(scores), Strides: s.dense[:]}
	s.out[0] = jit.Operand{Buf: bytesOf(p), Strides: s.dense[:]}
	ins, outs := 1, 1
	if dp != nil {
		s.in[1] = jit.Operand{Buf: bytesOf(dp), Strides: s.dense[:]}
		s.out[1] = jit.Operand{Buf: bytesOf(ds), Strides: s.dense[:]}
		ins, outs = 2, 2
	}
	if a.mask.Valid() {
		s.masked = [2]int{a.mask.row, a.mask.col}
		s.in[ins] = jit.Operand{Buf: a.mask.Buf, Offset: a.mask.at[i] + r*a.mask.row, Strides: s.masked[:]}
		ins++
	}
	if a.causal {
		for j := range n {
			s.limits[j] = int32(min(r+j+1, keys))
		}
		s.in[ins] = jit.Operand{Buf: bytesOf(s.limits[:]), Strides: s.limited[:]}
		ins++
	}
	s.call.In, s.call.Out = s.in[:ins], s.out[:outs]
	if err := s.program.Run(&s.call); err != nil {
		panic(err) // the operands are made here
	}
}

// weigh is weights for one query of f64.
func (s *scoreRows[T]) weigh(i, r int, scores, p []T) {
	a := s.a
	seen := len(p)
	if a.causal {
		seen = min(r+1, seen)
	}
	none := T(math.Inf(-1))
	top := none
	var m [1]float64
	for j := range p[:seen] {
		v := scores[j] * a.scale
		if a.mask.Valid() {
			loadRun(m[:], &a.mask.Array, a.mask.at[i]+r*a.mask.row+j*a.mask.col, 1)
			switch {
			case a.mask.DType != dtype.Bool:
				v += T(m[0])
			case m[0] == 0:
				v = none
			}
		}
		p[j] = v
		if v > top || v != v {
			top = v
		}
	}
	clear(p[seen:])
	if top == none {
		clear(p)
		return
	}
	softmaxRow(p[:seen], p[:seen])
}

// slopeRow turns the gradient of the weights p into that of the products.
func slopeRow[T float32 | float64](p, dp, ds []T, scale T) {
	for j, w := range p {
		ds[j] = dp[j] * w
	}
	sum := sumRow(ds)
	for j, w := range p {
		ds[j] = w * (dp[j] - sum) * scale
	}
}
