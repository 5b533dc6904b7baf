package simd

import "math"

// FMA32 is a·b+c rounded once, as the vector instruction does.
//
// The product is exact in f64. Its sum with c may be rounded there, which
// matters only when it then lies half way between two f32: so those cases,
// and results below the normal range of f32, round the first time to odd.
func FMA32(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	if roundsOnce(s) {
		return float32(s)
	}
	return fma32Odd(float64(a)*float64(b), float64(c))
}

// roundsOnce says that rounding s, rounded to f64 before, to f32 gives what
// rounding to f32 alone would have given.
func roundsOnce(s float64) bool {
	u := math.Float64bits(s)
	return u&(1<<29-1) != 1<<28 && u>>52&0x7FF > 1023-127
}

// fma32Odd adds exactly and rounds once.
func fma32Odd(p, c float64) float32 {
	s := p + c
	if s-s != 0 { // infinite or NaN
		return float32(s)
	}
	// The error of the addition, exact (Knuth).
	t := s - p
	e := (p - (s - t)) + (c - t)
	u := math.Float64bits(s)
	if e != 0 && u&1 == 0 {
		if (e > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}
