package kernel

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// shiftedExp sets y to e^(x−m), m the largest of x, and gives m and the sum in
// the fixed order. A row whose largest element is −∞ gives NaN, as 0/0 is.
func shiftedExp[T float32 | float64](x, y []T) (m, sum T) {
	switch y := any(y).(type) {
	case []float32:
		m32, s32 := shiftedExp32(any(x).([]float32), y)
		return T(m32), T(s32)
	case []float64:
		m = maxRow(x)
		x, m := any(x).([]float64), float64(m)
		for i, v := range x {
			y[i] = math.Exp(v - m)
		}
	}
	return m, sumRow(y)
}

// expRow is the program of shiftedExp32: e^(x−m), and for the row m and the sum.
var expRow = sync.OnceValue(func() *jit.Kernel {
	b := jit.NewBuilder()
	e := &expr{Builder: b, t: jit.F32, as: dtype.F32}
	x := b.In(dtype.F32)
	y, s := e.shiftedExp(x)
	b.Out(dtype.F32, y)
	b.RowOut(dtype.F32, b.ReduceMax(x))
	b.RowOut(dtype.F32, s)
	return programs.Kernel(b.Program())
})

func shiftedExp32(x, y []float32) (m, sum float32) {
	rc := rowCalls.Get().(*rowCall)
	rc.dims = append(rc.dims[:0], len(x))
	one := append(rc.strides[0][:0], 1)
	rc.strides[0] = one
	rc.in[0] = jit.Operand{Buf: bytesOf(x), Strides: one}
	outs := [3]jit.Operand{{Buf: bytesOf(y), Strides: one}, {Buf: bytesOf(rc.sums[:1]), Strides: one}, {Buf: bytesOf(rc.sums[1:]), Strides: one}}
	rc.outs = append(rc.outs[:0], outs[:]...)
	rc.call = jit.Call{Dims: rc.dims, In: rc.in[:1], Out: rc.outs}
	if err := expRow().Run(&rc.call); err != nil {
		panic(err) // the operands are made here
	}
	clear(rc.in[:])
	clear(rc.outs)
	m, sum = rc.sums[0], rc.sums[1]
	rowCalls.Put(rc)
	return m, sum
}
