package recipe

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
)

// Exponentials: x = n·log 2 + r with |r| ≤ ½·log 2, and eˣ = 2ⁿ·eʳ.

// log 2 in two parts; n times the first is exact.
const (
	ln2High = 0.693145751953125
	ln2Low  = 1.42860682030941723e-6
)

// magic plus a small number rounds it to an integer, which then stands in the
// low bits.
const magic = 3 << 22

// expTail holds the coefficients of (eʳ - 1 - r)/r², within 2^-28.
var expTail = []float32{0.00138205127, 0.00836925022, 0.0416682847, 0.166665167, 0.49999994}

// reduce splits x·scale, with scale a power of two or the negative of one, into
// n·log 2 + r·scale: t holds n, plus bias, in its low bits.
func reduce(b *builder, x value, scale float64, bias int) (t, n, r value) {
	m := b.F32(float32(magic + bias))
	t = b.FMA(x, b.F32(float32(math.Log2E*scale)), m)
	n = b.Sub(t, m)
	r = b.FNMA(n, b.F32(float32(ln2High/scale)), x)
	return t, n, b.FNMA(n, b.F32(float32(ln2Low/scale)), r)
}

// tail is factor·(e^(scale·r) - 1 - scale·r)/r², for powers of two.
func tail(b *builder, r value, scale, factor float64) value {
	c := make([]float32, len(expTail))
	s := scale * scale * factor
	for i := len(c) - 1; i >= 0; i-- {
		c[i] = float32(float64(expTail[i]) * s)
		s *= scale
	}
	return poly(b, r, c...)
}

// expPoly is e^(scale·r).
func expPoly(b *builder, r value, scale float64) value {
	p := tail(b, r, scale, 1)
	return b.FMA(b.FMA(p, r, b.F32(float32(scale))), r, b.F32(1))
}

// pow2 is the power of two whose biased exponent stands in the low bits of t;
// 255 gives infinity.
func pow2(b *builder, t value) value { return b.Bits(b.Shl(b.Bits(t, jit.I32), 23), jit.F32) }

// expParts gives p and s with e^(scale·x) = p·s, for arguments within -87 … 88.3;
// s is infinite from 88.376 to 88.8.
func expParts(b *builder, x value, scale float64) (p, s value) {
	t, _, r := reduce(b, x, scale, 127)
	return expPoly(b, r, scale), pow2(b, t)
}

// Exp is eˣ.
func Exp(b *builder, x value) value {
	_, n, r := reduce(b, clamp(b, x, -104, 88.8), 1, 0)
	return b.ScaleNear(expPoly(b, r, 1), n)
}

// ExpNegative is eˣ for x that is never positive.
func ExpNegative(b *builder, x value) value {
	_, n, r := reduce(b, b.Max(x, b.F32(-104)), 1, 0)
	return b.ScaleNear(expPoly(b, r, 1), n)
}

// ExpShifted is eˣ for x that is never positive, and 0 where that is below
// 2^-125: what a largest element of 1 is added to. No subnormal number is made on
// the way, for which processors take a hundred times as long; a mask of -∞ is
// nothing special then.
func ExpShifted(b *builder, x value) value {
	least := b.F32(-86.5)
	p, s := expParts(b, b.Max(x, least), 1)
	return b.Select(b.Lt(x, least), b.F32(0), b.Mul(p, s))
}

// Exp2 is 2ˣ.
func Exp2(b *builder, x value) value {
	x = clamp(b, x, -150, 128)
	n := b.RoundEven(x)
	p := poly(b, b.Sub(x, n), 0.000153291097, 0.00133913266, 0.00961850118, 0.0555035882, 0.240226477, 0.693147182, 1)
	return b.ScaleNear(p, n)
}

// Expm1 is eˣ - 1.
func Expm1(b *builder, x value) value {
	t, _, r := reduce(b, clamp(b, x, -25, 88.8), 1, 126)
	em := b.FMA(b.Mul(tail(b, r, 1, 1), r), r, r)
	s := pow2(b, t) // half of 2ⁿ, for the greatest n
	y := b.FMA(em, s, b.Sub(s, b.F32(0.5)))
	return b.Select(b.Eq(x, b.F32(0)), x, b.Add(y, y))
}

// Sigmoid is 1/(1 + e⁻ˣ), within 2 units in the last place; 0 below -88.376.
func Sigmoid(b *builder, x value) value { return b.Div(b.F32(1), sigmoidDenom(b, x)) }

// sigmoidDenom is 1 + e⁻ˣ.
func sigmoidDenom(b *builder, x value) value {
	p, s := expParts(b, clamp(b, x, -88.8, 86), -1)
	return b.FMA(p, s, b.F32(1))
}

// SiLU is x·sigmoid(x), within 2.5 units in the last place; -0 below -88.376.
func SiLU(b *builder, x value) value { return b.Div(x, sigmoidDenom(b, x)) }

// GELUTanh is x·½(1 + tanh(√(2/π)·(x + 0.044715·x³))), as x·sigmoid of twice
// the argument. Left of -2, where the rounding of the argument counts, the
// error grows to some 30 units in the last place of results below 1e-20.
func GELUTanh(b *builder, x value) value {
	c := 2 * math.Sqrt(2/math.Pi)
	u := b.Mul(x, b.FMA(b.Mul(x, x), b.F32(float32(c*0.044715)), b.F32(float32(c))))
	return b.Div(x, sigmoidDenom(b, u))
}

// Tanh is the hyperbolic tangent, within 2 units in the last place: h/(h + 1)
// of h = ½·(e²ˣ - 1).
func Tanh(b *builder, x value) value {
	a := b.Min(b.Abs(x), b.F32(10))
	// One step of reduction: where n is large, h/(h + 1) hardly depends on h.
	m := b.F32(magic + 127)
	t := b.FMA(a, b.F32(float32(2*math.Log2E)), m)
	r := b.FNMA(b.Sub(t, m), b.F32(math.Ln2/2), a)
	s := pow2(b, t)
	em := b.FMA(b.Mul(tail(b, r, 2, 0.5), r), r, r) // ½·(e²ʳ - 1)
	h := b.FMA(em, s, b.FMA(s, b.F32(0.5), b.F32(-0.5)))
	return signed(b, b.Div(h, b.Add(h, b.F32(1))), x)
}

// expHalf is ½·eˣ for x ≥ -87, without overflow where only eˣ would.
func expHalf(b *builder, x value) value {
	_, n, r := reduce(b, b.Min(x, b.F32(89.6)), 1, 0)
	return b.ScaleNear(expPoly(b, r, 1), b.Sub(n, b.F32(1)))
}

// Sinh is the hyperbolic sine, within 3 units in the last place.
func Sinh(b *builder, x value) value {
	a := b.Abs(x)
	m := Expm1(b, b.Min(a, b.F32(20)))
	small := b.Mul(b.Add(m, b.Div(m, b.Add(m, b.F32(1)))), b.F32(0.5))
	return signed(b, b.Select(b.Lt(b.F32(20), a), expHalf(b, a), small), x)
}

// Cosh is the hyperbolic cosine.
func Cosh(b *builder, x value) value {
	h := expHalf(b, b.Abs(x))
	return b.Add(h, b.Div(b.F32(0.25), h))
}

// Mish is x·tanh(log(1 + eˣ)), within 4 units in the last place.
func Mish(b *builder, x value) value {
	e := Exp(b, b.Min(x, b.F32(30)))
	n := b.Mul(e, b.Add(e, b.F32(2)))
	return b.Mul(x, b.Div(n, b.Add(n, b.F32(2))))
}
