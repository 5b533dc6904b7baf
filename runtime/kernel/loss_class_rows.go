package kernel

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// Cross-entropy of dense rows of classes, in one program for all of them.

// A classRows is a program over rows of scores of one element type.
type classRows struct {
	slopes bool
	t      dtype.DType
}

// classPrograms remembers the programs of rows of classes.
var classPrograms sync.Map // of classRows: *jit.Kernel

// program gives for each row m, the largest score, and Σ e^(x−m). That of slopes
// gives instead, with y and g numbers of the row, for each class k the value of g
// where k is y, less g·e^(x−m)/Σ.
func (r classRows) program() *jit.Kernel {
	if p, ok := classPrograms.Load(r); ok {
		return p.(*jit.Kernel)
	}
	b := jit.NewBuilder()
	e := &expr{Builder: b, t: jit.F32, as: dtype.F32}
	x := inAs(b, r.t, b.In(r.t), jit.F32)
	exp, sum := e.shiftedExp(x)
	if r.slopes {
		y, g := b.RowIn(dtype.I32), b.RowIn(dtype.F32)
		at := b.Select(b.Eq(b.Column(jit.I32), y), g, b.F32(0))
		b.Out(r.t, b.Sub(at, b.Mul(exp, b.Div(g, sum))))
	} else {
		b.RowOut(dtype.F32, b.ReduceMax(x))
		b.RowOut(dtype.F32, sum)
	}
	p, _ := classPrograms.LoadOrStore(r, programs.Kernel(b.Program()))
	return p.(*jit.Kernel)
}

// call runs the program over the rows of x. in are numbers of a row; out is of x's
// type, or one element a row.
func (r classRows) call(x Array, in, out []jit.Operand) {
	row := []int{1, 0}
	c := &jit.Call{Dims: x.Dims, In: append([]jit.Operand{{Buf: x.Buf, Offset: x.Offset, Strides: x.Strides}}, in...), Out: out}
	for i := range in {
		c.In[i+1].Strides = row
	}
	for i := range out {
		if out[i].Strides == nil {
			out[i].Strides = row
		}
	}
	if x.Size() > heavyGrain {
		c.Parallel = Parallel
	}
	if err := r.program().Run(c); err != nil {
		panic(err) // the operands are made here
	}
}

// rows says whether x is a matrix of rows of classes that a program computes:
// targets are not smoothed.
func (l *classLoss) rows(x Array) bool {
	return len(x.Dims) == 2 && x.Size() > 0 && l.smoothing == 0 && jit.Natural(x.DType) == jit.F32
}

// eachOfRows gives the loss of each row of x.
func (l *classLoss) eachOfRows(x Array, each []float64) {
	top, sum := make([]float32, l.n), make([]float32, l.n)
	classRows{t: x.DType}.call(x, nil, []jit.Operand{{Buf: bytesOf(top)}, {Buf: bytesOf(sum)}})
	var at [1]float64
	for p := range each {
		lse := float64(top[p]) + math.Log(float64(sum[p]))
		each[p] = l.each(p, func(k int) float64 {
			loadRun(at[:], &x, x.Offset+p*x.Strides[0]+k*x.Strides[1], 1)
			return at[0] - lse
		})
	}
}

// slopesOfRows computes the gradient for x; up is the factor of a row.
func (l *classLoss) slopesOfRows(x, out Array, up func(p int) float64) {
	ys, g := make([]int32, l.n), make([]float32, l.n)
	for p := range ys {
		ys[p] = -1
		l.slope(p, func(k int, v float64) { ys[p], g[p] = int32(k), float32(v*up(p)) })
	}
	classRows{slopes: true, t: x.DType}.call(x, []jit.Operand{{Buf: bytesOf(ys)}, {Buf: bytesOf(g)}},
		[]jit.Operand{{Buf: out.Buf, Offset: out.Offset, Strides: out.Strides}})
	none := make([]float32, l.c)
	for p, y := range ys {
		if y < 0 { // ignored, whatever its scores are
			storeRun(&out, out.Offset+p*l.c, none)
		}
	}
}
