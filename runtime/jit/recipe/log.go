package recipe

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
)

// Logarithms: x = 2ᵉ·(1 + f) with 1 + f between √½ and √2.

// rootHalf is the bits of √½.
const rootHalf = 0x3f3504f3

// logTail is log(1 + f)/f - 1, within 2^-27 of log(1 + f)/f.
func logTail(b *builder, f value) value {
	p := poly(b, f, -0.0763615593, 0.127634481, -0.131602734, 0.14201425, -0.166233197, 0.20001246, -0.250008225, 0.333333313, -0.5)
	return b.Mul(p, f)
}

// split gives e and f of a normal x.
func split(b *builder, x value) (e, f value) {
	i := b.Sub(b.Bits(x, jit.I32), b.I32(rootHalf))
	e = b.Convert(b.Sar(i, 23), jit.F32)
	m := b.Bits(b.Add(b.And(i, b.I32(1<<23-1)), b.I32(rootHalf)), jit.F32)
	return e, b.Sub(m, b.F32(1))
}

// splitAny is split for any positive x.
func splitAny(b *builder, x value) (e, f value) {
	tiny := b.Lt(x, b.F32(0x1p-126))
	e, f = split(b, b.Select(tiny, b.Mul(x, b.F32(1<<23)), x))
	return b.Select(tiny, b.Sub(e, b.F32(23)), e), f
}

// logOf is e·log 2 + log(1 + f).
func logOf(b *builder, e, f value) value {
	r := b.FMA(logTail(b, f), f, b.Mul(e, b.F32(ln2Low)))
	return b.FMA(e, b.F32(ln2High), b.Add(f, r))
}

// logEnds replaces r, a logarithm of x + shift, where x is infinite, zero,
// negative or NaN.
func logEnds(b *builder, r, x value, shift float32) value {
	zero, inf := b.F32(-shift), b.F32(float32(math.Inf(1)))
	r = b.Select(b.Eq(x, inf), inf, r)
	r = b.Select(b.Eq(x, zero), b.F32(float32(math.Inf(-1))), r)
	return b.Select(b.Le(zero, x), r, b.F32(float32(math.NaN())))
}

// Log is the natural logarithm.
func Log(b *builder, x value) value {
	e, f := splitAny(b, x)
	return logEnds(b, logOf(b, e, f), x, 0)
}

// Log2 is the logarithm to base 2, exact for powers of two.
func Log2(b *builder, x value) value {
	e, f := splitAny(b, x)
	const high = 1.442695 // of log₂ e
	low := float32(math.Log2E - float64(float32(high)))
	q := b.Mul(logTail(b, f), f)
	r := b.FMA(q, b.F32(high), b.Mul(f, b.F32(low)))
	return logEnds(b, b.Add(e, b.FMA(f, b.F32(high), r)), x, 0)
}

// Log1p is log(1 + x).
func Log1p(b *builder, x value) value {
	r := log1pOf(b, x)
	return b.Select(b.Eq(x, b.F32(0)), x, logEnds(b, r, x, 1))
}

// log1pOf is log(1 + x) for finite x above -1.
func log1pOf(b *builder, x value) value {
	// Far out 1 + x is x; halving the exponent first keeps 2⁻ᵉ normal.
	far := b.Lt(b.F32(0x1p60), x)
	y := b.Select(far, b.Mul(x, b.F32(0x1p-64)), x)
	u := b.Select(far, y, b.Add(x, b.F32(1)))
	k := b.Sar(b.Sub(b.Bits(u, jit.I32), b.I32(rootHalf)), 23)
	s := b.Bits(b.Shl(b.Sub(b.I32(127), k), 23), jit.F32) // 2⁻ᵉ
	// f = (1 + x)·2⁻ᵉ - 1 without rounding 1 + x.
	f := b.FMA(y, s, b.Sub(b.Select(far, b.F32(0), s), b.F32(1)))
	e := b.Convert(k, jit.F32)
	return logOf(b, b.Select(far, b.Add(e, b.F32(64)), e), f)
}

// Softplus is log(1 + eˣ), within 2.5 units in the last place.
func Softplus(b *builder, x value) value {
	r := log1pOf(b, Exp(b, b.Neg(b.Abs(x))))
	return b.Add(b.Max(x, b.F32(0)), r)
}

// LogSigmoid is log(1/(1 + e⁻ˣ)), within 2.5 units in the last place.
func LogSigmoid(b *builder, x value) value {
	r := log1pOf(b, Exp(b, b.Neg(b.Abs(x))))
	return b.Sub(b.Min(x, b.F32(0)), r)
}

// LogAddExp is log(eˣ + eʸ), within 2.5 units in the last place of the larger term.
func LogAddExp(b *builder, x, y value) value {
	m := b.Max(x, y)
	r := b.Add(m, log1pOf(b, Exp(b, b.Neg(b.Abs(b.Sub(x, y))))))
	return b.Select(b.Eq(x, y), b.Add(x, b.F32(math.Ln2)), r)
}

// Asinh is the inverse hyperbolic sine, within 2 units in the last place.
func Asinh(b *builder, x value) value {
	a := b.Abs(x)
	// asinh a = log1p(a + a²/(1 + √(1 + a²))); log a + log 2 where a² could overflow.
	far := b.Lt(b.F32(0x1p40), a)
	c := b.Min(a, b.F32(0x1p40))
	z := b.Mul(c, c)
	one := b.F32(1)
	near := log1pOf(b, b.Add(c, b.Div(z, b.Add(one, b.Sqrt(b.Add(one, z))))))
	r := b.Select(far, b.Add(Log(b, a), b.F32(math.Ln2)), near)
	return signed(b, b.Select(b.Eq(x, b.F32(0)), a, r), x)
}

// Atanh is the inverse hyperbolic tangent, within 2 units in the last place.
func Atanh(b *builder, x value) value {
	a := b.Abs(x)
	r := b.Mul(b.F32(0.5), Log1p(b, b.Div(b.Add(a, a), b.Sub(b.F32(1), a))))
	return signed(b, r, x)
}

// logTerms is atanh s/s in s², within 2^-50 where 1 + f is between √½ and √2.
var logTerms = []float64{1. / 19, 1. / 17, 1. / 15, 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1}

// log64 is log x of a positive, normal F64, within 2^-50.
func log64(b *builder, x value) value {
	root := b.I64(int64(math.Float64bits(math.Sqrt2 / 2)))
	i := b.Sub(b.Bits(x, jit.I64), root)
	e := b.Convert(b.Sar(i, 52), jit.F64)
	m := b.Bits(b.Add(b.And(i, b.I64(1<<52-1)), root), jit.F64)
	one := b.F64(1)
	s := b.Div(b.Sub(m, one), b.Add(m, one))
	p := b.Mul(b.Add(s, s), terms(b, b.Mul(s, s), logTerms...))
	return b.FMA(e, b.F64(math.Ln2), p)
}

// Log10 is the logarithm to base 10, within 0.51 units in the last place.
func Log10(b *builder, x value) value {
	r := b.Mul(log64(b, b.Convert(x, jit.F64)), b.F64(math.Log10E))
	return logEnds(b, b.Convert(r, jit.F32), x, 0)
}

// Acosh is the inverse hyperbolic cosine, within 0.51 units in the last place.
func Acosh(b *builder, x value) value {
	y, one := b.Convert(x, jit.F64), b.F64(1)
	r := b.Convert(log64(b, b.Add(y, b.Sqrt(b.Mul(b.Sub(y, one), b.Add(y, one))))), jit.F32)
	inf := b.F32(float32(math.Inf(1)))
	return b.Select(b.Le(b.F32(1), x), b.Select(b.Eq(x, inf), inf, r), b.F32(float32(math.NaN())))
}
