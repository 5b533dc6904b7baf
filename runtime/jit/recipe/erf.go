package recipe

import "math"

// Erf is the error function: a polynomial up to 0.921875, above it 1 - e^q of
// a polynomial q.
func Erf(b *builder, x value) value {
	a := b.Abs(x)
	z := b.Mul(a, a)
	p := poly(b, z, -0.000595969439, 0.00498737441, -0.0267629791, 0.11281731, -0.376124889, 0.128379151)
	small := b.FMA(p, a, a)
	t := b.Min(a, b.F32(4))
	q := poly(b, t, 1.08425011e-05, -0.000318916922, 0.00362668, -0.0237287581, 0.106198303, 0.635174572, 0.128642783)
	e, s := expParts(b, b.FMA(q, t, t), -1)
	big := b.FNMA(e, s, b.F32(1))
	return signed(b, b.Select(b.Lt(b.F32(0.921875), a), big, small), x)
}

// erfcAbs is erfc(t) for t ≥ 0, within 6 units in the last place: e^(-t²)
// times a function of (t-2)/(t+2) over 1 + 2t.
func erfcAbs(b *builder, t value) value {
	t = b.Min(t, b.F32(10.1))
	two := b.F32(2)
	q := b.Div(b.Sub(t, two), b.Add(t, two))
	p := poly(b, q, -0.000405285129, -0.0012391276, 0.00131427951, 0.00864113215, -0.00805789512, -0.0542076826,
		0.164054587, -0.166030943, -0.0927639157, 1.27697837)
	c := b.Div(p, b.FMA(t, two, b.F32(1)))
	// e^(-t²) with the rounding error of t².
	z := b.Mul(t, t)
	low := b.FNMA(t, t, z)
	e := ExpNegative(b, b.Neg(z))
	return b.Mul(b.FMA(e, low, e), c)
}

// Erfc is 1 - erf(x), within 6 units in the last place.
func Erfc(b *builder, x value) value {
	y := erfcAbs(b, b.Abs(x))
	return b.Select(b.Lt(x, b.F32(0)), b.Sub(b.F32(2), y), y)
}

// Phi is the normal distribution function ½·erfc(-x/√2), with the error of
// GELU.
func Phi(b *builder, x value) value {
	h := b.Mul(b.F32(0.5), erfcAbs(b, b.Mul(b.Abs(x), b.F32(math.Sqrt2/2))))
	return b.Select(b.Lt(x, b.F32(0)), h, b.Sub(b.F32(1), h))
}

// GELU is x·Φ(x), within 8 units in the last place; left of -4, where the
// rounding of x/√2 counts, the error grows with x².
func GELU(b *builder, x value) value { return b.Mul(x, Phi(b, x)) }
