package kernel

import "math"

// The exponential of the f32 normalizations: x = n·ln 2 + r, a polynomial of
// degree 7 in r, then 2^n. Within 2 units in the last place; every step is
// rounded to float32, so that every implementation gives the same bits.
const (
	log2E     = 1.44269504088896341
	ln2Hi     = 0.693359375
	ln2Lo     = -2.12194440e-4
	expMagic  = 12582912 // 1.5·2^23: adding it rounds to an integer, which is then in the low bits
	magicBits = 0x4b400000
	expTop    = 88.3762589 // above it 2^n may not be a float32
	expBottom = -87.3365402
)

// expPoly is e^r for |r| ≤ ln 2 / 2.
func expPoly(r float32) float32 {
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	return float32(float32(p*r)*r) + r + 1
}

// exp32 is e^x.
func exp32(x float32) float32 {
	switch {
	case x != x:
		return x
	case x > 88.7228394:
		return float32(math.Inf(1))
	case x < -103.972084:
		return 0
	}
	t := float32(x*log2E) + expMagic
	n := t - expMagic
	k := int32(math.Float32bits(t)) - magicBits
	p := expPoly(float32(x-float32(n*ln2Hi)) - float32(n*ln2Lo))
	if k < -126 { // subnormal results: scale in two steps
		p *= math.Float32frombits(uint32(k+24+127) << 23)
		return p * (1.0 / (1 << 24))
	}
	if k > 127 {
		p *= 2
		k--
	}
	return p * math.Float32frombits(uint32(k+127)<<23)
}

// expShifted sets y to e^(x−m): exp32, with the common case in the loop.
func expShifted(x, y []float32, m float32) {
	y = y[:len(x)]
	for i, v := range x {
		v -= m
		if !(v >= expBottom && v <= expTop) {
			y[i] = exp32(v)
			continue
		}
		t := float32(v*log2E) + expMagic
		n := t - expMagic
		p := expPoly(float32(v-float32(n*ln2Hi)) - float32(n*ln2Lo))
		y[i] = p * math.Float32frombits((math.Float32bits(t)-magicBits+127)<<23)
	}
}

// expOf is e^x in T.
func expOf[T float32 | float64](x T) T {
	if v, ok := any(x).(float32); ok {
		return T(exp32(v))
	}
	return T(math.Exp(float64(x)))
}

// shiftedExp sets y to e^(x−m), m the largest of x, and gives m and the sum in
// the fixed order. A row whose largest element is −∞ gives NaN, as 0/0 is.
func shiftedExp[T float32 | float64](x, y []T) (m, sum T) {
	m = maxRow(x)
	switch y := any(y).(type) {
	case []float32:
		expShifted(any(x).([]float32), y, float32(m))
	case []float64:
		x, m := any(x).([]float64), float64(m)
		for i, v := range x {
			y[i] = math.Exp(v - m)
		}
	}
	return m, sumRow(y)
}
