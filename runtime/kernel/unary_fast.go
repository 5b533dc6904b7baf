package kernel

import "math"

// Fast exponentials for the narrow types: computed in f64 with a relative
// error below 1e-12, so that rounding to f32 is correct but for one case in
// some ten thousand. The f64 loops use package math.

// expFast is eˣ: 2ᵏ times a polynomial on ±½ log 2.
func expFast(x float64) float64 {
	if !(x < 700 && x > -700) {
		return math.Exp(x)
	}
	const magic = 3 << 51 // adding it rounds to an integer, in the low bits
	t := x*math.Log2E + magic
	k := t - magic
	r := x - k*math.Ln2
	// The Taylor polynomial of degree 10, by Estrin's scheme: short chains.
	r2 := r * r
	r4 := r2 * r2
	low := 1 + r + r2*(1./2+r*(1./6))
	mid := 1./24 + r*(1./120) + r2*(1./720+r*(1./5040))
	high := 1./40320 + r*(1./362880) + r2*(1./3628800)
	p := low + r4*(mid+r4*high)
	return p * math.Float64frombits((math.Float64bits(t)+1023)<<52)
}

// sigmoidFast is 1/(1 + e⁻ˣ).
func sigmoidFast(x float64) float64 { return 1 / (1 + expFast(-x)) }

// tanhFast is tanh x.
func tanhFast(x float64) float64 {
	if x < 0.01 && x > -0.01 {
		x2 := x * x
		return x - x*x2*(1./3-x2*(2./15))
	}
	if x > 20 {
		return 1
	}
	if x < -20 {
		return -1
	}
	return 1 - 2/(expFast(2*x)+1)
}

// heavyFast is heavy with another function for the narrow types.
func heavyFast(f, narrow func(float64) float64) elementwise {
	o := heavy(f)
	o.f32 = light(narrow).f32
	return o
}
