package jit

import (
	"errors"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
)

func TestCallsThatDoNotFit(t *testing.T) {
	b := NewBuilder()
	b.Out(dtype.F32, b.Add(b.In(dtype.F32), b.Param(F32)))
	p := b.Program()
	buf := aligned64(40)
	at := func(offset int, strides ...int) Operand { return Operand{Buf: buf, Offset: offset, Strides: strides} }
	ok := at(0, 1)
	for _, c := range []struct {
		want string
		call Call
	}{
		{"program takes 1 inputs, not 0", Call{Dims: []int{10}, Out: []Operand{ok}, Params: []uint64{0}}},
		{"program gives 1 outputs, not 0", Call{Dims: []int{10}, In: []Operand{ok}, Params: []uint64{0}}},
		{"program takes 1 parameters, not 0", Call{Dims: []int{10}, In: []Operand{ok}, Out: []Operand{ok}}},
		{"program has a negative dimension", Call{Dims: []int{-1}, In: []Operand{ok}, Out: []Operand{ok}, Params: []uint64{0}}},
		{"input 0 reaches beyond its buffer", Call{Dims: []int{11}, In: []Operand{ok}, Out: []Operand{ok}, Params: []uint64{0}}},
		{"output 0 reaches beyond its buffer", Call{Dims: []int{10}, In: []Operand{ok}, Out: []Operand{at(1, 1)}, Params: []uint64{0}}},
		{"input 0 reaches beyond its buffer", Call{Dims: []int{2}, In: []Operand{at(0, -1)}, Out: []Operand{ok}, Params: []uint64{0}}},
		{"input 0 has 2 strides for 1 dimensions", Call{Dims: []int{2}, In: []Operand{at(0, 1, 1)}, Out: []Operand{ok}, Params: []uint64{0}}},
		{"input 0 is not aligned", Call{Dims: []int{2}, In: []Operand{{Buf: buf[1:], Strides: []int{1}}}, Out: []Operand{ok}, Params: []uint64{0}}},
	} {
		for _, e := range levels() {
			err := e.engine.Kernel(p).Run(&c.call)
			var ce *CallError
			if !errors.As(err, &ce) || err.Error() != c.want {
				t.Errorf("%s: %v, want %s", e.name, err, c.want)
			}
		}
	}
}

func TestOperandTypesAreChecked(t *testing.T) {
	for _, f := range []func(b *Builder){
		func(b *Builder) { b.Add(b.F32(1), b.F64(1)) },
		func(b *Builder) { b.Div(b.I32(1), b.I32(1)) },
		func(b *Builder) { b.FMA(b.F32(1), b.F32(1), b.F64(1)) },
		func(b *Builder) { b.Shl(b.I32(1), 32) },
		func(b *Builder) { b.Select(b.I32(1), b.I32(1), b.I32(1)) },
		func(b *Builder) { b.Bits(b.F32(1), I64) },
		func(b *Builder) { b.In(dtype.C64) },
		func(b *Builder) { b.RowOut(dtype.F32, b.In(dtype.F32)) },
		func(b *Builder) { b.Column(F32) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*TypeError); !ok {
					t.Error("operands that do not fit were taken")
				}
			}()
			f(NewBuilder())
		}()
	}
}

func TestEqualOperationsAreMadeOnce(t *testing.T) {
	b := NewBuilder()
	x, y := b.In(dtype.F32), b.In(dtype.F32)
	if b.Add(x, y) != b.Add(y, x) || b.Sub(x, y) == b.Sub(y, x) {
		t.Error("sums are one value in both orders, differences are two")
	}
	if b.Mul(b.F32(3), b.F32(0.5)) != b.F32(1.5) {
		t.Error("constants are not computed while building")
	}
	b.Sqrt(x)
	b.Out(dtype.F32, b.Add(x, y))
	if n := b.Program().Ops(); n > 3 { // the sum, and NaN made canonical
		t.Errorf("%d operations: what no output needs is kept", n)
	}
}

func TestEngineRemembersPrograms(t *testing.T) {
	e := NewEngine(Tiles)
	build := func(x float32) *Program {
		b := NewBuilder()
		b.Out(dtype.F32, b.Add(b.In(dtype.F32), b.F32(x)))
		return b.Program()
	}
	first, again, other := e.Kernel(build(1)), e.Kernel(build(1)), e.Kernel(build(2))
	if first != again || first == other {
		t.Error("a program has one kernel, two programs have two")
	}
}

// TestEmptyRows gives reductions of nothing.
func TestEmptyRows(t *testing.T) {
	b := NewBuilder()
	x := b.In(dtype.F32)
	b.RowOut(dtype.F32, b.Sum(x))
	b.RowOut(dtype.F32, b.ReduceMax(x))
	b.RowOut(dtype.I32, b.ReduceMin(b.Convert(x, I32)))
	b.ColOut(dtype.F32, x)
	p := b.Program()
	for _, e := range levels() {
		out := func() Operand { return Operand{Buf: aligned64(12), Strides: []int{1, 0}} }
		c := &Call{Dims: []int{3, 0}, In: []Operand{{Strides: []int{0, 1}}}, Out: []Operand{out(), out(), out(), {Strides: []int{0, 1}}}}
		if err := e.engine.Kernel(p).Run(c); err != nil {
			t.Fatal(err)
		}
		for r := range 3 {
			for i, want := range []uint64{0, 0xff800000, 0x7fffffff} {
				if got := peek(c.Out[i].Buf, p.outs[i].dtype, r); got != want {
					t.Errorf("%s: output %d of row %d is %#x, want %#x", e.name, i, r, got, want)
				}
			}
		}
	}
}
