// Package jit computes elementwise programs and programs over rows: a program
// is built once as typed SSA, and run over arrays of any layout.
//
// It knows numbers, element types and memory, not tensors or graphs. It never
// keeps an array after Run returned, starts no goroutine, and imports
// runtime/dtype and runtime/simd. Invariant: the reference interpreter (Program.Interpret)
// defines the bits of every result, and every faster way gives the same ones.
//
// # Building
//
// A Builder makes values; a Value is one number (or truth) for each element of
// the iteration space, whose last dimension is called the row:
//
//	b := jit.NewBuilder()
//	x := b.In(dtype.BF16)           // F32, as bf16 loads
//	k := b.Param(jit.F32)           // a number given at each run
//	y := b.RoundTo(dtype.BF16, b.Mul(x, k))
//	b.Out(dtype.BF16, b.Max(y, b.F32(0)))
//	p := b.Program()
//
// Reductions (Sum, ReduceMax, ReduceMin) give one value a row, which later
// operations may use like any other, so that a softmax is one program:
//
//	e := exp(b, b.Sub(x, b.ReduceMax(x)))
//	b.Out(dtype.F32, b.Div(e, b.Sum(e)))
//
// ColOut sums along columns, over all rows, in the same walk.
//
// Equal operations are made once, and operations on constants are computed
// while building. Nothing else is rewritten: in particular, a product and a sum
// are fused only where the program says FMA. A Builder panics with a *TypeError
// when operand types do not fit.
//
// # Running
//
// An Engine turns a Program into a Kernel (and remembers it by the program's
// Key); Kernel.Run takes a Call: dimensions, one Operand for each In, RowIn and
// for each Out, RowOut in the order of their declaration, and the parameters.
//
// # Numbers
//
//   - Floats are IEEE 754, rounded to nearest even, subnormals kept. FMA rounds
//     once.
//   - The payload and sign of a NaN are unspecified inside a program. A NaN that
//     is stored or passed through Canon is the quiet positive one of its type
//     (f32 0x7fc00000, f64 0x7ff8000000000000, bf16 0x7fc0, f16 0x7e00; 8-bit types
//     as runtime/dtype writes it). A program that looks at the bits of a possible
//     NaN (Bits, signs) passes it through Canon first.
//   - Integers wrap; a store of a wider one keeps the low bits.
//   - A sum runs in the order of sixteen lanes and blocks of 2048 elements along
//     the row: lane l adds elements l, l+16, … of a block, lanes are folded in
//     halves (l+8, l+4, l+2, l+1), blocks in neighbouring pairs.
package jit

import "fmt"

// Type is the type of a value inside a program.
type Type uint8

// The types. Unsigned integers share I32 and I64: the few operations that
// differ have names of their own.
const (
	NoType Type = iota
	F32
	F64
	I32
	I64
	Mask // a truth
	numTypes
)

// String gives the name: f32.
func (t Type) String() string {
	if t >= numTypes {
		return "invalid"
	}
	return [...]string{"none", "f32", "f64", "i32", "i64", "mask"}[t]
}

// wide says whether a value has 64 bits.
func (t Type) wide() bool { return t == F64 || t == I64 }

// float says whether t is F32 or F64.
func (t Type) float() bool { return t == F32 || t == F64 }

// integer gives the integer type of the size of t.
func (t Type) integer() Type {
	switch t {
	case F32:
		return I32
	case F64:
		return I64
	}
	return t
}

// bits is the width of a number.
func (t Type) bits() int {
	if t.wide() {
		return 64
	}
	return 32
}

// A TypeError says that an operation does not take operands of these types. It
// is a fault of the code that builds the program.
type TypeError struct {
	Op    Op
	Types []Type
}

// Error names operation and types.
func (e *TypeError) Error() string { return fmt.Sprintf("%v of %v", e.Op, e.Types) }

// A CallError says what of a call does not fit its program.
type CallError struct {
	Operand string // "input 2"; empty: the call itself
	What    string // "reads beyond its buffer"
}

// Error names operand and fault.
func (e *CallError) Error() string {
	if e.Operand == "" {
		return "program " + e.What
	}
	return e.Operand + " " + e.What
}
