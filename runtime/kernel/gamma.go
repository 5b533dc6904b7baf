package kernel

import "math"

// Incomplete gamma functions.

var (
	igammaOp  = pairs(func(a, x float64) float64 { p, _ := incomplete(a, x); return p }, nil, nil)
	igammacOp = pairs(func(a, x float64) float64 { _, q := incomplete(a, x); return q }, nil, nil)
)

// incomplete gives the regularized lower and upper incomplete gamma functions
// P(a,x) and Q(a,x), the smaller one without cancellation.
func incomplete(a, x float64) (p, q float64) {
	nan := math.NaN()
	switch {
	case a != a || x != x || a < 0 || x < 0:
		return nan, nan
	case a == 0 && x == 0:
		return nan, nan
	case a == 0:
		return 1, 0
	case x == 0:
		return 0, 1
	case math.IsInf(a, 1):
		if math.IsInf(x, 1) {
			return nan, nan
		}
		return 0, 1
	case math.IsInf(x, 1):
		return 1, 0
	}
	if a > 1e10 { // the normal distribution is as exact here
		z := math.Sqrt(9*a) * (math.Cbrt(x/a) - 1 + 1/(9*a))
		return math.Erfc(-z/math.Sqrt2) / 2, math.Erfc(z/math.Sqrt2) / 2
	}
	f := gammaDensity(a, x)
	if x < a+1 || x < 1 {
		// xᵃe⁻ˣ/Γ(a+1) · Σ xᵏ/((a+1)…(a+k))
		term, sum := 1.0, 1.0
		for k := 1.0; k < 2e6; k++ {
			term *= x / (a + k)
			sum += term
			if term < sum*1e-17 {
				break
			}
		}
		p = min(f*sum, 1)
		if a < 1 && p > 0.9 || a < 1 && x < 1.5 {
			return p, upperSeries(a, x)
		}
		return p, 1 - p
	}
	// xᵃe⁻ˣ/Γ(a) times the continued fraction 1/(x+1-a- 1(1-a)/(x+3-a- …)), by Lentz.
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for k := 1.0; k < 2e6; k++ {
		an := -k * (k - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = b + an/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < 1e-16 {
			break
		}
	}
	q = f * a * h
	return 1 - q, q
}

// upperSeries is Q(a,x) for small a and x:
// 1 - xᵃ/Γ(a+1) - xᵃ/Γ(a) Σ (-x)ᵏ/(k!(a+k)).
func upperSeries(a, x float64) float64 {
	term, sum := 1.0, 0.0
	for k := 1.0; k < 200; k++ {
		term *= -x / k
		sum += term / (a + k)
		if math.Abs(term) < 1e-18 {
			break
		}
	}
	l, _ := math.Lgamma(1 + a)
	return -math.Expm1(a*math.Log(x)-l) - a*sum*math.Exp(a*math.Log(x)-l)
}

// gammaDensity is xᵃ·e⁻ˣ/Γ(a+1) without overflow or cancellation.
func gammaDensity(a, x float64) float64 {
	if a < 10 {
		l, _ := math.Lgamma(a + 1)
		return math.Exp(a*math.Log(x) - x - l)
	}
	// Stirling: Γ(a+1) = √(2πa) (a/e)ᵃ e^δ.
	m := (x - a) / a
	r := 1 / (a * a)
	delta := (1./12 - r*(1./360-r*(1./1260-r*(1./1680-r/1188)))) / a
	return math.Exp(a*(log1pmx(m))-delta) / math.Sqrt(2*math.Pi*a)
}

// log1pmx is log(1+x) - x.
func log1pmx(x float64) float64 {
	if math.Abs(x) > 0.3 {
		return math.Log1p(x) - x
	}
	// 2·atanh(r) - x with r = x/(2+x), x = 2r/(1-r): the series starts at r².
	r := x / (2 + x)
	q := r * r
	sum, p := 0.0, q
	for k := 3.0; k < 80; k += 2 {
		sum += p / k
		p *= q
		if p < 1e-19 {
			break
		}
	}
	return 2*r*sum - x*r
}

// Igamma computes the regularized lower incomplete gamma function P(a,x).
func Igamma(c *Call) error { return igammaOp.run(c) }

// Igammac computes the regularized upper incomplete gamma function Q(a,x).
func Igammac(c *Call) error { return igammacOp.run(c) }
