package recipe

import "math"

// Derivatives of activation functions, for their gradients.

// GELUSlope is the derivative of GELU: Φ(x) + x·φ(x), within 5e-7; NaN at
// infinities, where the second term is ∞·0.
func GELUSlope(b *builder, x value) value {
	bell := Exp(b, b.Mul(b.Mul(x, x), b.F32(-0.5)))
	return b.FMA(b.Mul(x, b.F32(float32(1/math.Sqrt(2*math.Pi)))), bell, Phi(b, x))
}

// GELUTanhSlope is the derivative of GELUTanh, x·s with s the sigmoid of
// u = 2·√(2/π)·(x + 0.044715·x³): s + x·s·(1−s)·u′, within 3e-6; NaN at infinities.
func GELUTanhSlope(b *builder, x value) value {
	c := 2 * math.Sqrt(2/math.Pi)
	x2 := b.Min(b.Mul(x, x), b.F32(1e30)) // a derivative of u of ∞ would make NaN of the 0 before it
	u := b.Mul(x, b.FMA(x2, b.F32(float32(c*0.044715)), b.F32(float32(c))))
	du := b.FMA(x2, b.F32(float32(3*c*0.044715)), b.F32(float32(c)))
	s := b.Div(b.F32(1), sigmoidDenom(b, u))
	rest := b.Sub(b.F32(1), s)
	return b.FMA(b.Mul(b.Mul(x, s), rest), du, s)
}
