package jit

import (
	"math"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
)

// A Value names one value of the Builder that made it. The zero Value is none.
type Value int32

// node is one operation. Arguments come before it.
type node struct {
	op   Op
	typ  Type
	args [3]Value
	imm  uint64
}

// A Builder makes a program. It is used by one goroutine.
type Builder struct {
	nodes   []node // nodes[0] is none
	row     []bool // one value a row
	tame    []bool // F32: of a NaN the low 16 bits are 0
	made    map[node]Value
	ins     []slot
	outs    []slot
	params  []Type
	rounded map[Value]dtype.DType // values known to be of a narrow type; NaN is canonical, but of BF16
}

// slot is an input or an output.
type slot struct {
	dtype dtype.DType
	size  int  // bytes of an element
	row   bool // one element a row
	col   bool // one element a column, a sum
	value Value
}

// NewBuilder starts a program.
func NewBuilder() *Builder {
	return &Builder{nodes: make([]node, 1, 64), row: make([]bool, 1, 64), tame: make([]bool, 1, 64), made: map[node]Value{}, rounded: map[Value]dtype.DType{}}
}

// Type gives the type of v.
func (b *Builder) Type(v Value) Type { return b.nodes[v].typ }

// IsRow says whether v is one value a row: a constant, a parameter, a
// reduction, a row input, or computed from such.
func (b *Builder) IsRow(v Value) bool { return b.row[v] }

// push adds a node or finds the equal one.
func (b *Builder) push(n node) Value {
	if sigs[n.op].commute && n.imm != minMaxNumber && n.args[0] > n.args[1] {
		n.args[0], n.args[1] = n.args[1], n.args[0]
	}
	if v, ok := b.made[n]; ok {
		return v
	}
	row := n.op != OpIn && n.op != OpColumn
	folds := sigs[n.op].args > 0 && !sigs[n.op].reduce
	for _, a := range n.args[:sigs[n.op].args] {
		row = row && (b.row[a] || sigs[n.op].reduce)
		folds = folds && b.nodes[a].op == OpConst
	}
	if folds {
		var x [3]uint64
		for i, a := range n.args[:sigs[n.op].args] {
			x[i] = b.nodes[a].imm
		}
		return b.constant(n.typ, eval(&n, b.nodes[n.args[0]].typ, x[0], x[1], x[2]))
	}
	v := Value(len(b.nodes))
	b.nodes = append(b.nodes, n)
	b.row = append(b.row, row)
	b.tame = append(b.tame, b.tames(&n))
	b.made[n] = v
	if b.chooses(&n) {
		b.rounded[v] = dtype.BF16
	}
	return v
}

// tames says whether n is tame: arithmetic hands on the bits of an operand's NaN
// or makes one of its own, which has none below.
func (b *Builder) tames(n *node) bool {
	args := n.args[:sigs[n.op].args]
	switch n.op {
	case OpParam, OpI32ToF32, OpI64ToF32:
		return true
	case OpConst:
		return n.imm&0xffff == 0 || !isNaN(F32, n.imm)
	case OpBits:
		of := &b.nodes[n.args[0]]
		return of.op == OpShl && of.imm >= 16 || of.op == OpRound16
	case OpAndNot, OpXor:
		if args = b.signed(n); args == nil {
			return false
		}
	case OpSelect:
		args = args[1:]
	case OpMin, OpMax: // the bits of a NaN and of the other operand may be mixed
		if b.rounded[args[0]] == dtype.BF16 && b.rounded[args[1]] == dtype.BF16 {
			return true
		}
		if n.imm != minMaxNumber && !b.plain(args[0]) && !b.plain(args[1]) {
			return false
		}
	case OpAdd, OpSub, OpMul, OpDiv, OpSqrt, OpFMA, OpFNMA, OpFloor, OpCeil, OpTrunc, OpRoundEven, OpScale:
	default:
		return false
	}
	for _, a := range args {
		if !b.tame[a] {
			return false
		}
	}
	return true
}

// chooses says whether n gives one of its operands, up to the sign, and those are bf16.
func (b *Builder) chooses(n *node) bool {
	args := n.args[:sigs[n.op].args]
	switch n.op {
	case OpMin, OpMax:
	case OpSelect:
		args = args[1:]
	case OpXor, OpAndNot:
		args = b.signed(n)
	default:
		return false
	}
	for _, a := range args {
		c := &b.nodes[a]
		if b.rounded[a] != dtype.BF16 && !(c.op == OpConst && c.typ == F32 && c.imm&0xffff == 0) {
			return false
		}
	}
	return len(args) > 0
}

// signed gives the operand whose sign n changes; none if n does something else.
func (b *Builder) signed(n *node) []Value {
	for i, a := range n.args[:2] {
		if c := &b.nodes[a]; c.op == OpConst && c.typ == F32 && c.imm == 1<<31 && (i == 0 || n.op == OpXor) {
			return n.args[1-i : 2-i]
		}
	}
	return nil
}

// plain says whether v is a constant that is neither NaN nor −0.
func (b *Builder) plain(v Value) bool {
	n := &b.nodes[v]
	return n.op == OpConst && !isNaN(n.typ, n.imm) && n.imm != 1<<(n.typ.bits()-1)
}

// op checks the operands, which have one type, and adds a node of type t;
// NoType stands for the operands' type.
func (b *Builder) op(o Op, t Type, imm uint64, args ...Value) Value {
	first := b.nodes[args[0]].typ
	ok := slices.Contains(sigs[o].types, first)
	for _, a := range args {
		ok = ok && b.nodes[a].typ == first
	}
	if !ok {
		b.mistake(o, args...)
	}
	if t == NoType {
		t = first
	}
	n := node{op: o, typ: t, imm: imm}
	copy(n.args[:], args)
	return b.push(n)
}

func (b *Builder) mistake(o Op, args ...Value) {
	e := &TypeError{Op: o}
	for _, a := range args {
		e.Types = append(e.Types, b.nodes[a].typ)
	}
	panic(e)
}

func (b *Builder) constant(t Type, bits uint64) Value {
	return b.push(node{op: OpConst, typ: t, imm: bits})
}

// F32 is a constant.
func (b *Builder) F32(x float32) Value { return b.constant(F32, uint64(math.Float32bits(x))) }

// F64 is a constant.
func (b *Builder) F64(x float64) Value { return b.constant(F64, math.Float64bits(x)) }

// I32 is a constant.
func (b *Builder) I32(x int32) Value { return b.constant(I32, uint64(uint32(x))) }

// I64 is a constant.
func (b *Builder) I64(x int64) Value { return b.constant(I64, uint64(x)) }

// Const is x as a constant of type t; a float is rounded to nearest, an integer truncated.
func (b *Builder) Const(t Type, x float64) Value {
	switch t {
	case F32:
		return b.F32(float32(x))
	case F64:
		return b.F64(x)
	case I32:
		return b.I32(int32(int64(x)))
	case I64:
		return b.I64(int64(x))
	}
	return b.constant(Mask, truth(x != 0))
}

// Param is a number given at each run, in Call.Params, in the order of declaration.
func (b *Builder) Param(t Type) Value {
	b.params = append(b.params, t)
	return b.push(node{op: OpParam, typ: t, imm: uint64(len(b.params) - 1)})
}

// Column is the position of the element in its row, as I32 or I64.
func (b *Builder) Column(t Type) Value {
	if t != I32 && t != I64 {
		panic(&TypeError{OpColumn, []Type{t}})
	}
	return b.push(node{op: OpColumn, typ: t})
}

// Add is x + y.
func (b *Builder) Add(x, y Value) Value { return b.op(OpAdd, NoType, 0, x, y) }

// Sub is x − y.
func (b *Builder) Sub(x, y Value) Value { return b.op(OpSub, NoType, 0, x, y) }

// Mul is x·y.
func (b *Builder) Mul(x, y Value) Value { return b.op(OpMul, NoType, 0, x, y) }

// Div is x / y, of floats.
func (b *Builder) Div(x, y Value) Value { return b.op(OpDiv, NoType, 0, x, y) }

// Sqrt is √x, correctly rounded.
func (b *Builder) Sqrt(x Value) Value { return b.op(OpSqrt, NoType, 0, x) }

// FMA is x·y + z, rounded once.
func (b *Builder) FMA(x, y, z Value) Value { return b.op(OpFMA, NoType, 0, x, y, z) }

// FNMA is z − x·y, rounded once.
func (b *Builder) FNMA(x, y, z Value) Value { return b.op(OpFNMA, NoType, 0, x, y, z) }

// Min is the smaller of x and y; NaN wins, −0 is below +0. Integers are signed.
func (b *Builder) Min(x, y Value) Value { return b.op(OpMin, NoType, 0, x, y) }

// Max is the larger of x and y; NaN wins, +0 is above −0. Integers are signed.
func (b *Builder) Max(x, y Value) Value { return b.op(OpMax, NoType, 0, x, y) }

// AtLeast is Max for a bound that is neither NaN nor zero: one instruction.
func (b *Builder) AtLeast(x, bound Value) Value { return b.op(OpMax, NoType, minMaxNumber, x, bound) }

// AtMost is Min for a bound that is neither NaN nor zero.
func (b *Builder) AtMost(x, bound Value) Value { return b.op(OpMin, NoType, minMaxNumber, x, bound) }

// Floor rounds down to an integral value.
func (b *Builder) Floor(x Value) Value { return b.op(OpFloor, NoType, 0, x) }

// Ceil rounds up to an integral value.
func (b *Builder) Ceil(x Value) Value { return b.op(OpCeil, NoType, 0, x) }

// Trunc rounds toward zero to an integral value.
func (b *Builder) Trunc(x Value) Value { return b.op(OpTrunc, NoType, 0, x) }

// RoundEven rounds to the nearest integral value, to the even one at a tie.
func (b *Builder) RoundEven(x Value) Value { return b.op(OpRoundEven, NoType, 0, x) }

// Scale is x·2^k, rounded once, for an integral k of the type of x. x must be 0,
// infinite, NaN, or between 2^-14 and 2^14 in magnitude, and k may be NaN only
// when x is.
func (b *Builder) Scale(x, k Value) Value { return b.op(OpScale, NoType, 0, x, k) }

// ScaleNear is Scale for x between ½ and 2 in magnitude, or NaN, and k within ±250.
func (b *Builder) ScaleNear(x, k Value) Value { return b.op(OpScale, NoType, scaleNear, x, k) }

// And is the bitwise (for masks: logical) conjunction. Floats are taken as their bits.
func (b *Builder) And(x, y Value) Value { return b.op(OpAnd, NoType, 0, x, y) }

// Or is the bitwise (for masks: logical) disjunction.
func (b *Builder) Or(x, y Value) Value { return b.op(OpOr, NoType, 0, x, y) }

// Xor is the bitwise (for masks: logical) difference.
func (b *Builder) Xor(x, y Value) Value { return b.op(OpXor, NoType, 0, x, y) }

// AndNot is y without the bits of x: ^x & y, as VANDNPS.
func (b *Builder) AndNot(x, y Value) Value { return b.op(OpAndNot, NoType, 0, x, y) }

// Not inverts the bits of an integer, or a mask.
func (b *Builder) Not(x Value) Value {
	t := b.Type(x)
	if t == Mask {
		return b.Xor(x, b.constant(Mask, 1))
	}
	return b.Xor(x, b.Const(t, -1))
}

// Shl shifts an integer left by k bits, 0 ≤ k < its width.
func (b *Builder) Shl(x Value, k int) Value { return b.shift(OpShl, x, k) }

// Shr shifts right by k bits, zeros coming in.
func (b *Builder) Shr(x Value, k int) Value { return b.shift(OpShr, x, k) }

// Sar shifts right by k bits, the sign coming in.
func (b *Builder) Sar(x Value, k int) Value { return b.shift(OpSar, x, k) }

func (b *Builder) shift(o Op, x Value, k int) Value {
	if k == 0 {
		return x
	}
	if k < 0 || k >= b.Type(x).bits() {
		b.mistake(o, x)
	}
	return b.op(o, NoType, uint64(k), x)
}

// ShlV shifts x left by k, an unsigned number; from the width on, 0.
func (b *Builder) ShlV(x, k Value) Value { return b.op(OpShlV, NoType, 0, x, k) }

// ShrV shifts x right by k, zeros coming in; from the width on, 0.
func (b *Builder) ShrV(x, k Value) Value { return b.op(OpShrV, NoType, 0, x, k) }

// SarV shifts x right by k, the sign coming in; from the width on, all sign.
func (b *Builder) SarV(x, k Value) Value { return b.op(OpSarV, NoType, 0, x, k) }

// signBit is the constant with the sign of t alone.
func (b *Builder) signBit(t Type) Value { return b.constant(t, 1<<(t.bits()-1)) }

// Neg is −x: a float's sign is inverted, NaN's too.
func (b *Builder) Neg(x Value) Value {
	if t := b.Type(x); t.float() {
		return b.Xor(x, b.signBit(t))
	}
	return b.Sub(b.Const(b.Type(x), 0), x)
}

// Abs is |x|; of the least integer it is that integer.
func (b *Builder) Abs(x Value) Value {
	t := b.Type(x)
	if t.float() {
		return b.AndNot(b.signBit(t), x)
	}
	return b.Max(x, b.Neg(x))
}

// CopySign is |x| with the sign of y.
func (b *Builder) CopySign(x, y Value) Value {
	s := b.signBit(b.Type(x))
	return b.Or(b.AndNot(s, x), b.And(s, y))
}

// Eq says x = y; nothing equals NaN.
func (b *Builder) Eq(x, y Value) Value { return b.op(OpEq, Mask, 0, x, y) }

// Ne is the opposite of Eq.
func (b *Builder) Ne(x, y Value) Value { return b.op(OpNe, Mask, 0, x, y) }

// Lt says x < y; integers are signed.
func (b *Builder) Lt(x, y Value) Value { return b.op(OpLt, Mask, 0, x, y) }

// Le says x ≤ y; integers are signed.
func (b *Builder) Le(x, y Value) Value { return b.op(OpLe, Mask, 0, x, y) }

// LtU says x < y for unsigned integers.
func (b *Builder) LtU(x, y Value) Value { return b.op(OpLtU, Mask, 0, x, y) }

// IsNaN says whether x is a NaN.
func (b *Builder) IsNaN(x Value) Value { return b.Ne(x, x) }

// Select is x where m holds, else y.
func (b *Builder) Select(m, x, y Value) Value {
	if b.Type(m) != Mask || b.Type(x) != b.Type(y) {
		b.mistake(OpSelect, m, x, y)
	}
	if x == y {
		return x
	}
	if b.Type(x) == Mask {
		return b.Or(b.And(m, x), b.AndNot(m, y))
	}
	return b.push(node{op: OpSelect, typ: b.Type(x), args: [3]Value{m, x, y}})
}

// Sum adds x along the row, in the fixed order of the package comment.
func (b *Builder) Sum(x Value) Value { return b.op(OpSum, NoType, 0, x) }

// ReduceMax is the largest element along the row, as Max; of an empty row −∞ or
// the least integer.
func (b *Builder) ReduceMax(x Value) Value { return b.op(OpReduceMax, NoType, 0, x) }

// ReduceMin is the smallest element along the row, as Min; of an empty row ∞ or
// the largest integer.
func (b *Builder) ReduceMin(x Value) Value { return b.op(OpReduceMin, NoType, 0, x) }
