package recipe

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
)

// Inverse trigonometric functions are computed in F64 and rounded once.

// atanTerms is atan t/t in t², within 2^-49 for |t| ≤ tan(π/8).
var atanTerms = []float64{-0x1.9e7184adc8bd6p-6, 0x1.9b833908e4ee2p-5, -0x1.0a7807249a4eap-4, 0x1.3a4e3b3f021aap-4, -0x1.744e936fdbd01p-4,
	0x1.c71bc9f2a2cb9p-4, -0x1.249246f3c935cp-3, 0x1.9999999220685p-3, -0x1.55555555505aap-2, 1}

// angle is the angle, up to π/2, of the point (x, y) with x, y ≥ 0 of which one
// is neither zero nor infinite.
func angle(b *builder, y, x value) value {
	high, middle := b.Lt(b.Mul(x, b.F64(1+math.Sqrt2)), y), b.Lt(b.Mul(x, b.F64(math.Sqrt2-1)), y)
	of := func(h, m, l value) value { return b.Select(high, h, b.Select(middle, m, l)) }
	t := b.Div(of(b.Neg(x), b.Sub(y, x), y), of(y, b.Add(y, x), x))
	return b.FMA(t, terms(b, b.Mul(t, t), atanTerms...), of(b.F64(math.Pi/2), b.F64(math.Pi/4), b.F64(0)))
}

// Atan is the inverse tangent, within 0.51 units in the last place.
func Atan(b *builder, x value) value {
	x = b.Convert(x, jit.F64)
	return b.Convert(b.CopySign(angle(b, b.Abs(x), b.F64(1)), x), jit.F32)
}

// Asin is the inverse sine, within 0.51 units in the last place.
func Asin(b *builder, x value) value {
	x = b.Convert(x, jit.F64)
	a, one := b.Abs(x), b.F64(1)
	cos := b.Sqrt(b.Mul(b.Sub(one, a), b.Add(one, a)))
	return b.Convert(b.CopySign(angle(b, a, cos), x), jit.F32)
}

// Acos is the inverse cosine, within 0.51 units in the last place.
func Acos(b *builder, x value) value {
	x = b.Convert(x, jit.F64)
	one := b.F64(1)
	half := angle(b, b.Sqrt(b.Sub(one, x)), b.Sqrt(b.Add(one, x)))
	return b.Convert(b.Add(half, half), jit.F32)
}

// Atan2 is the angle of the point (x, y), within 0.51 units in the last place.
func Atan2(b *builder, y, x value) value {
	y, x = b.Convert(y, jit.F64), b.Convert(x, jit.F64)
	zero, most := b.F64(0), b.F64(0x1p1000) // an infinity is as good as that
	h, w := b.AtMost(b.Abs(y), most), b.AtMost(b.Abs(x), most)
	w = b.Select(b.And(b.Eq(h, zero), b.Eq(w, zero)), b.F64(1), w)
	a := angle(b, h, w)
	left := b.Lt(b.Bits(b.Canon(x), jit.I64), b.I64(0))
	return b.Convert(b.CopySign(b.Select(left, b.Sub(b.F64(math.Pi), a), a), y), jit.F32)
}
