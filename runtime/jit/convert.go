package jit

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
)

// Loads and stores move whole words of 8 to 64 bits; the values of narrow
// element types are decoded and encoded by operations of the program itself, so
// that each format is written once for every backend.

// storage is how an element lies in memory.
type storage uint8

const (
	stU8 storage = iota // loads into I32
	stI8
	stU16
	stI16
	stW32 // I32 or F32
	stU32 // loads into I64
	stW64
)

// bytes is the size of an element.
func (s storage) bytes() int { return [...]int{1, 1, 2, 2, 4, 4, 8}[s] }

// storageOf says how elements of d are stored.
func storageOf(d dtype.DType) storage {
	switch d {
	case dtype.I4, dtype.I8:
		return stI8
	case dtype.U16, dtype.BF16, dtype.F16:
		return stU16
	case dtype.I16:
		return stI16
	case dtype.I32, dtype.F32:
		return stW32
	case dtype.U32:
		return stU32
	case dtype.U64, dtype.I64, dtype.F64:
		return stW64
	}
	return stU8
}

// word is the type of an element as it is loaded, before it is decoded.
func word(d dtype.DType) Type {
	switch d {
	case dtype.F32:
		return F32
	case dtype.F64:
		return F64
	case dtype.U32, dtype.U64, dtype.I64:
		return I64
	}
	return I32
}

// Natural is the type In gives for elements of d: F32 for floats of up to 32
// bits, F64, I32 for bools and integers that fit it, I64 for u32 and 64-bit
// integers (u64 as its bits). Complex types have none.
func Natural(d dtype.DType) Type {
	switch {
	case d == dtype.Invalid || d.IsComplex():
		return NoType
	case d == dtype.F64:
		return F64
	case d.IsFloat():
		return F32
	}
	return word(d)
}

// In declares the next input and gives its element as Natural(d).
func (b *Builder) In(d dtype.DType) Value { return b.input(OpIn, d) }

// InAs is In converted to t.
func (b *Builder) InAs(d dtype.DType, t Type) Value { return b.as(d, b.In(d), t) }

// RowIn declares the next input, which has one element for each row: its
// stride along the last dimension is ignored.
func (b *Builder) RowIn(d dtype.DType) Value { return b.input(OpRowIn, d) }

// RowInAs is RowIn converted to t.
func (b *Builder) RowInAs(d dtype.DType, t Type) Value { return b.as(d, b.RowIn(d), t) }

// as converts an element of d; only u64 is not what its natural type says.
func (b *Builder) as(d dtype.DType, v Value, t Type) Value {
	if d == dtype.U64 && t.float() {
		return b.ConvertU(v, t)
	}
	return b.Convert(v, t)
}

func (b *Builder) input(o Op, d dtype.DType) Value {
	if Natural(d) == NoType {
		panic(&TypeError{Op: o})
	}
	b.ins = append(b.ins, slot{dtype: d, size: storageOf(d).bytes(), row: o == OpRowIn})
	v := b.push(node{op: o, typ: word(d), imm: uint64(len(b.ins) - 1)})
	b.ins[len(b.ins)-1].value = v
	return b.decode(d, v)
}

// Out declares the next output and stores v to it, converted to d: rounded to
// nearest even, floats to integers truncated and saturated at 64 bits, integers
// wrapped; Bool is v ≠ 0.
func (b *Builder) Out(d dtype.DType, v Value) { b.output(d, v, false) }

// RowOut is Out with one element a row, for v that is one value a row.
func (b *Builder) RowOut(d dtype.DType, v Value) {
	if !b.row[v] {
		b.mistake(OpRowIn, v)
	}
	b.output(d, v, true)
}

func (b *Builder) output(d dtype.DType, v Value, row bool) {
	b.outs = append(b.outs, slot{dtype: d, size: storageOf(d).bytes(), row: row, value: b.encode(d, v)})
}

// Bits is the bits of x as another type of the same width.
func (b *Builder) Bits(x Value, t Type) Value {
	if b.Type(x) == t {
		return x
	}
	if t == Mask || b.Type(x) == Mask || b.Type(x).wide() != t.wide() {
		b.mistake(OpBits, x)
	}
	return b.op(OpBits, t, 0, x)
}

// MaskBits is all ones where m holds, else 0, as I32 or I64.
func (b *Builder) MaskBits(m Value, t Type) Value { return b.op(OpMaskBits, t.integer(), 0, m) }

// Canon is x with every NaN replaced by the canonical one.
func (b *Builder) Canon(x Value) Value {
	if n := b.nodes[x]; !n.typ.float() || n.op == OpConst && !isNaN(n.typ, n.imm) {
		return x
	} else if n.op == OpSelect && b.nodes[n.args[0]] == (node{op: OpNe, typ: Mask, args: [3]Value{n.args[2], n.args[2]}}) &&
		b.nodes[n.args[1]] == (node{op: OpConst, typ: n.typ, imm: canonical(n.typ)}) {
		return x
	} else if n.op == OpI32ToF32 || n.op == OpI32ToF64 || n.op == OpI64ToF32 || n.op == OpI64ToF64 {
		return x
	}
	if d, ok := b.rounded[x]; ok && d != dtype.BF16 {
		return x
	}
	c := b.Select(b.Ne(x, x), b.constant(b.Type(x), canonical(b.Type(x))), x)
	b.tame[c] = true
	return c
}

// canonical is the bits of the canonical NaN.
func canonical(t Type) uint64 {
	if t == F32 {
		return 0x7fc00000
	}
	return 0x7ff8000000000000
}

func isNaN(t Type, bits uint64) bool {
	if t == F32 {
		return bits&0x7fffffff > 0x7f800000
	}
	return bits&(1<<63-1) > 0x7ff<<52
}

// Convert is x as t. Floats become integers by truncation, saturated, NaN 0;
// integers are signed, narrower ones keep the low bits; a mask becomes 0 or 1; a
// number becomes the mask x ≠ 0.
func (b *Builder) Convert(x Value, t Type) Value {
	from := b.Type(x)
	if from == t {
		return x
	}
	switch {
	case t == Mask:
		return b.Ne(x, b.Const(from, 0))
	case from == Mask:
		return b.Select(x, b.Const(t, 1), b.Const(t, 0))
	}
	switch [2]Type{from, t} {
	case [2]Type{F32, F64}:
		return b.op(OpF32ToF64, t, 0, x)
	case [2]Type{F64, F32}:
		return b.op(OpF64ToF32, t, 0, x)
	case [2]Type{I32, F32}:
		return b.op(OpI32ToF32, t, 0, x)
	case [2]Type{I32, F64}:
		return b.op(OpI32ToF64, t, 0, x)
	case [2]Type{I64, F32}:
		return b.op(OpI64ToF32, t, 0, x)
	case [2]Type{I64, F64}:
		return b.op(OpI64ToF64, t, 0, x)
	case [2]Type{I32, I64}:
		return b.op(OpSext, t, 0, x)
	case [2]Type{I64, I32}:
		return b.op(OpWrap, t, 0, x)
	case [2]Type{F32, I32}, [2]Type{F64, I32}:
		return b.saturate(x, b.op(OpTruncI32, t, 0, x), math.MaxInt32, 1<<31)
	}
	if from == F32 {
		x = b.Convert(x, F64)
	}
	return b.saturate(x, b.op(OpTruncI64, t, 0, x), math.MaxInt64, 1<<63)
}

// saturate corrects r, the truncation of x, above its range (below it the raw
// result is already the least integer) and for NaN.
func (b *Builder) saturate(x, r Value, most int64, limit float64) Value {
	t := b.Type(r)
	top := b.I64(most)
	if t == I32 {
		top = b.I32(int32(most))
	}
	r = b.Select(b.Le(b.Const(b.Type(x), limit), x), top, r)
	return b.Select(b.IsNaN(x), b.Const(t, 0), r)
}

// ConvertU is Convert between floats and I64 taken as unsigned.
func (b *Builder) ConvertU(x Value, t Type) Value {
	from := b.Type(x)
	switch {
	case from == I64 && t.float():
		// Half of a large number, its lowest bit kept sticky, rounds as the number does.
		half := b.Or(b.Shr(x, 1), b.And(x, b.I64(1)))
		f := b.Convert(half, t)
		return b.Select(b.Lt(x, b.I64(0)), b.Add(f, f), b.Convert(x, t))
	case from.float() && t == I64:
		if from == F32 {
			x = b.Convert(x, F64)
		}
		top := b.F64(1 << 63)
		low := b.op(OpTruncI64, I64, 0, x)
		high := b.Xor(b.op(OpTruncI64, I64, 0, b.Sub(x, top)), b.I64(math.MinInt64))
		r := b.Select(b.Lt(x, top), low, high)
		r = b.Select(b.Le(b.F64(1<<64), x), b.I64(-1), r)
		return b.Select(b.Lt(b.F64(0), x), r, b.I64(0))
	}
	return b.Convert(x, t)
}

// RoundTo gives the value of type d nearest to x, in the type of x: what a store
// to d and a load from it would give, but for the bits of a NaN. Integers wrap to
// the width of d.
func (b *Builder) RoundTo(d dtype.DType, x Value) Value {
	t := b.Type(x)
	switch {
	case d.IsFloat() && t.float():
		if b.rounded[x] == d {
			return x
		}
		r := b.Convert(x, Natural(d))
		if d == dtype.F32 || d == dtype.F64 {
			r = b.Canon(r)
		} else {
			r = b.narrow(d, r)
		}
		r = b.Convert(r, t)
		b.rounded[r] = d
		return r
	case d == dtype.Bool && t != Mask:
		return b.Convert(b.Convert(x, Mask), t)
	case d.IsInt() && (t == I32 || t == I64):
		s := t.bits() - d.Bits()
		if s <= 0 {
			return x
		}
		if d.Kind() == dtype.KindUint {
			return b.Shr(b.Shl(x, s), s)
		}
		return b.Sar(b.Shl(x, s), s)
	case t == Mask:
		return x
	}
	return b.Convert(b.RoundTo(d, b.Convert(x, Natural(d))), t)
}

// narrow rounds an F32 to a narrower float.
func (b *Builder) narrow(d dtype.DType, x Value) Value {
	switch d {
	case dtype.BF16:
		if !b.tame[x] { // rounding carries into the sign of a NaN of ones
			x = b.Canon(x)
		}
		return b.Bits(b.round16(b.Bits(x, I32)), F32)
	}
	return b.decode(d, b.encode(d, x))
}

// round16 gives, of the bits of a number, those of the nearest bf16; of those of
// a tame NaN those of a NaN.
func (b *Builder) round16(u Value) Value { return b.op(OpRound16, I32, 0, u) }

// decode gives the value of a loaded element.
func (b *Builder) decode(d dtype.DType, u Value) Value {
	var v Value
	switch d {
	case dtype.BF16:
		v = b.Bits(b.Shl(u, 16), F32)
		b.rounded[v] = d
	case dtype.F16:
		v = b.op(OpF16Dec, F32, 0, u)
	case dtype.F8E5M2:
		v = b.op(OpF16Dec, F32, 0, b.Shl(u, 8))
	case dtype.F8E4M3, dtype.F8E4M3FNUZ, dtype.F8E5M2FNUZ, dtype.F4E2M1:
		v = b.decodeSmall(d, u)
	case dtype.F8E8M0:
		v = b.Bits(b.Select(b.Eq(u, b.I32(0)), b.I32(1<<22), b.Shl(u, 23)), F32)
		v = b.Select(b.Eq(u, b.I32(255)), b.constant(F32, canonical(F32)), v)
	default:
		return u
	}
	return v
}

// decodeSmall decodes a format of up to 8 bits with a sign.
func (b *Builder) decodeSmall(d dtype.DType, u Value) Value {
	f, _ := d.Format()
	n := f.Exp + f.Mant
	mag := b.And(u, b.I32(1<<n-1))
	normal := b.Add(b.Shl(mag, 23-f.Mant), b.I32(int32(127-f.Bias)<<23))
	small := b.Mul(b.op(OpI32ToF32, F32, 0, mag), b.F32(float32(math.Ldexp(1, 1-f.Bias-f.Mant))))
	v := b.Select(b.Lt(mag, b.I32(1<<f.Mant)), small, b.Bits(normal, F32))
	sign := b.Shl(b.And(u, b.I32(1<<n)), 31-n)
	v = b.Or(v, b.Bits(sign, F32))
	nan := b.constant(F32, canonical(F32))
	switch f.Special {
	case dtype.FN:
		v = b.Select(b.Eq(mag, b.I32(1<<n-1)), nan, v)
	case dtype.FNUZ:
		v = b.Select(b.Eq(u, b.I32(1<<n)), nan, v)
	}
	return v
}

// encode gives the word to store for v as an element of d.
func (b *Builder) encode(d dtype.DType, v Value) Value {
	t := b.Type(v)
	switch {
	case d == dtype.Bool:
		return b.Convert(b.Convert(v, Mask), I32)
	case Natural(d) == NoType:
		panic(&TypeError{Op: OpIn})
	case d.IsInt():
		switch {
		case d == dtype.U64 && t.float():
			v = b.ConvertU(v, I64)
		case t.float():
			v = b.Convert(v, I64)
		case t == Mask:
			v = b.Convert(v, I32)
		}
		if d == dtype.I4 || d == dtype.U4 {
			v = b.RoundTo(d, v)
		}
		return b.Convert(v, b.stored(d, b.Type(v)))
	}
	known := b.rounded[v]
	v = b.Convert(v, Natural(d))
	switch d {
	case dtype.F32, dtype.F64:
		return b.Canon(v)
	case dtype.BF16:
		u := b.Bits(v, I32)
		if known != d {
			u = b.round16(u)
		}
		return b.Select(b.IsNaN(v), b.I32(0x7fc0), b.Shr(u, 16))
	case dtype.F16:
		return b.op(OpF16Enc, I32, 0, b.Canon(v))
	case dtype.F8E8M0:
		return b.encodeScale(v)
	}
	return b.encodeSmall(d, v)
}

// stored is the integer type whose low bits are stored as d, given a value of type t.
func (b *Builder) stored(d dtype.DType, t Type) Type {
	if storageOf(d).bytes() == 8 {
		return I64
	}
	if t == I64 && d == dtype.U32 {
		return I64
	}
	return I32
}

// encodeSmall rounds to a format of up to 8 bits with a sign, as runtime/dtype does.
func (b *Builder) encodeSmall(d dtype.DType, x Value) Value {
	f, _ := d.Format()
	n := f.Exp + f.Mant
	bits := b.Bits(x, I32)
	mag := b.And(bits, b.I32(math.MaxInt32))
	// Below the normal numbers, adding 2^23 units of the last place leaves the rounded multiple.
	magic := int32(127+1-f.Bias-f.Mant+23) << 23
	small := b.Sub(b.Bits(b.Add(b.Bits(mag, F32), b.constant(F32, uint64(uint32(magic)))), I32), b.I32(magic))
	s := 23 - f.Mant
	r := b.Add(b.Add(mag, b.I32(1<<(s-1)-1)), b.And(b.Shr(mag, s), b.I32(1)))
	normal := b.Sub(b.Shr(r, s), b.I32(int32(127-f.Bias)<<f.Mant))
	c := b.Select(b.Lt(mag, b.I32(int32(128-f.Bias)<<23)), small, normal)
	sign := b.And(b.Shr(bits, 31-n), b.I32(1<<n))
	nan := int32(1<<n - 1)
	switch f.Special {
	case dtype.FN:
		c = b.Or(sign, b.Min(c, b.I32(1<<n-2)))
	case dtype.IEEE:
		top := int32(1<<n - 1<<f.Mant)
		nan = top | 1<<(f.Mant-1)
		c = b.Or(sign, b.Min(c, b.I32(top)))
	case dtype.Finite:
		nan = 1 << n
		c = b.Or(sign, b.Min(c, b.I32(1<<n-1)))
	case dtype.FNUZ:
		nan = 1 << n
		over := b.Lt(b.I32(1<<n-1), c)
		c = b.Select(b.Eq(c, b.I32(0)), c, b.Or(sign, c))
		c = b.Select(over, b.I32(nan), c)
	}
	return b.Select(b.IsNaN(x), b.I32(nan), c)
}

// encodeScale gives the power of two nearest to |x|, the larger at a tie; 255 is NaN.
func (b *Builder) encodeScale(x Value) Value {
	mag := b.And(b.Bits(x, I32), b.I32(math.MaxInt32))
	c := b.Shr(b.Add(mag, b.I32(1<<22)), 23)
	// Between the two smallest powers always up.
	low := b.Select(b.Lt(b.I32(1<<22), mag), b.I32(1), b.I32(0))
	c = b.Select(b.Lt(mag, b.I32(1<<23)), low, c)
	return b.Min(c, b.I32(255))
}
