package kernel

import "math"

// exp32 is e^x for the f32 normalizations: x = n·ln 2 + r, a polynomial of
// degree 6 in r, then 2^n. Within 2 units in the last place.
func exp32(x float32) float32 {
	const (
		log2e = 1.44269504088896341
		ln2Hi = 0.693359375
		ln2Lo = -2.12194440e-4
		magic = 12582912 // 1.5·2^23: adding it rounds to an integer
	)
	switch {
	case x != x:
		return x
	case x > 88.7228394:
		return float32(math.Inf(1))
	case x < -103.972084:
		return 0
	}
	n := float32(x*log2e+magic) - magic
	r := float32(x-n*ln2Hi) - n*ln2Lo
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(float32(p*r)*r) + r + 1
	k := int32(n)
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
		x, m := any(x).([]float32), float32(m)
		for i, v := range x {
			y[i] = exp32(v - m)
		}
	case []float64:
		x, m := any(x).([]float64), float64(m)
		for i, v := range x {
			y[i] = math.Exp(v - m)
		}
	}
	return m, sumRow(y)
}
