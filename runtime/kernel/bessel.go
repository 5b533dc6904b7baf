package kernel

import "math"

// Bessel functions that package math does not have, and Airy's function. Near
// zero they are power series; elsewhere K is its integral, whose trapezoidal
// sum converges faster than any power of the step.

var (
	besselJ0Op  = heavy(finite(math.J0))
	besselJ1Op  = heavy(finite(math.J1))
	besselY0Op  = heavy(finite(math.Y0))
	besselY1Op  = heavy(finite(math.Y1))
	besselI0Op  = heavy(finite(func(x float64) float64 { return math.Exp(math.Abs(x)) * bessel0e(x) }))
	besselI1Op  = heavy(finite(func(x float64) float64 { return math.Exp(math.Abs(x)) * bessel1e(x) }))
	besselK0Op  = heavy(func(x float64) float64 { return besselK(x, 0, false) })
	besselK1Op  = heavy(func(x float64) float64 { return besselK(x, 1, false) })
	besselK0eOp = heavy(func(x float64) float64 { return besselK(x, 0, true) })
	besselK1eOp = heavy(func(x float64) float64 { return besselK(x, 1, true) })
	sphericalOp = heavy(sphericalJ0)
	airyOp      = heavy(airy)
)

// finite is f with NaN at the infinities, as PyTorch's functions have it.
func finite(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if math.IsInf(x, 0) {
			return math.NaN()
		}
		return f(x)
	}
}

// eulerGamma is the Euler-Mascheroni constant.
const eulerGamma = 0.57721566490153286060651209008240243

// besselK is K₀ or K₁, times eˣ when scaled; ∞ at 0 and NaN below.
func besselK(x float64, n int, scaled bool) float64 {
	switch {
	case x == 0:
		return math.Inf(1)
	case x < 0 || x != x:
		return math.NaN()
	case math.IsInf(x, 1):
		return 0
	}
	if x > 2 {
		k := besselKIntegral(x, float64(n))
		if scaled {
			return k
		}
		return k * math.Exp(-x)
	}
	k := besselKSeries(x, n)
	if scaled {
		k *= math.Exp(x)
	}
	return k
}

// besselKSeries is Kₙ(x) for 0 < x ≤ 2:
// K₀ = Σ (Hₖ - γ - ln(x/2)) qᵏ/k!², K₁ = 1/x + (x/2) Σ (ln(x/2) + γ - (Hₖ + Hₖ₊₁)/2) qᵏ/(k!(k+1)!), q = x²/4.
func besselKSeries(x float64, n int) float64 {
	q, l := x*x/4, math.Log(x/2)+eulerGamma
	term, h, sum := 1.0, 0.0, 0.0
	for k := 0; k < 40; k++ {
		if n == 0 {
			sum += (h - l) * term
		} else {
			sum += (l - h - 0.5/float64(k+1)) * term
		}
		h += 1 / float64(k+1)
		term *= q / float64((k+1)*(k+1+n))
		if term < 1e-19 {
			break
		}
	}
	if n == 0 {
		return sum
	}
	return 1/x + x/2*sum
}

// besselKIntegral is eˣ·K(x) of order v for x > 2: ∫₀^∞ exp(-x(cosh t - 1)) cosh(vt) dt.
func besselKIntegral(x, v float64) float64 {
	h := min(0.15, 0.6/math.Sqrt(x))
	sum := 0.5
	for i := 1; ; i++ {
		t := h * float64(i)
		s := math.Sinh(t / 2)
		e := 2 * x * s * s
		if e > 42 {
			break
		}
		sum += math.Exp(-e) * math.Cosh(v*t)
	}
	return sum * h
}

// sphericalJ0 is sin(x)/x, 1 at 0 and 0 at infinity.
func sphericalJ0(x float64) float64 {
	switch {
	case math.IsInf(x, 0):
		return 0
	case math.Abs(x) < 1e-4:
		return 1 - x*x/6
	}
	return math.Sin(x) / x
}

// airy is Ai(x): the Maclaurin series up to 2 from zero, K of order ⅓ above
// it; below it Taylor steps of the differential equation and, from -9 on, the asymptotic series.
func airy(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, 0):
		return math.NaN()
	case x > 105:
		return 0
	case x > 2.5:
		z := 2 * x * math.Sqrt(x) / 3
		return math.Sqrt(x/3) / math.Pi * besselKIntegral(z, 1./3) * math.Exp(-z)
	case x >= -2:
		a, _ := airySeries(x)
		return a
	case x > -9:
		at := -2.0
		a, d := airySeries(at)
		for at > x {
			step := max(x-at, -1)
			a, d = airyStep(at, a, d, step)
			at += step
		}
		return a
	}
	return airyWave(-x)
}

// airySeries gives Ai and its derivative near 0.
func airySeries(x float64) (a, d float64) {
	return airyStep(0, 0.35502805388781723926, -0.25881940379280679841, x)
}

// airyStep takes y and y' of a solution of y” = x·y from x to x+h.
func airyStep(x, y, d, h float64) (float64, float64) {
	// c[k] are the Taylor coefficients: (k+2)(k+1)c[k+2] = x·c[k] + c[k-1].
	c0, c1, c2 := y, d, x*y/2 // c[k-1], c[k], c[k+1]
	p := h                    // h^k
	sum, slope := y+d*h, d
	for k := 1; k < 120; k++ {
		slope += float64(k+1) * c2 * p
		p *= h
		sum += c2 * p
		c0, c1, c2 = c1, c2, (x*c1+c0)/float64((k+2)*(k+1))
		if k > 10 && math.Abs(c2*p) < 1e-19 && math.Abs(c1*p) < 1e-19 {
			break
		}
	}
	return sum, slope
}

// airyWave is Ai(-x) for large x, by its asymptotic series.
func airyWave(x float64) float64 {
	z := 2 * x * math.Sqrt(x) / 3
	even, odd := 1.0, 0.0
	u := 1.0
	for k := 1; k < 40; k++ {
		f := float64(6*k-5) * float64(6*k-3) * float64(6*k-1) / (216 * float64(k) * float64(2*k-1)) / z
		if f > 1 {
			break
		}
		u *= f
		s := u
		if k%4 >= 2 {
			s = -u
		}
		if k%2 == 0 {
			even += s
		} else {
			odd += s
		}
		if u < 1e-17 {
			break
		}
	}
	sin, cos := math.Sincos(z - math.Pi/4)
	return (cos*even + sin*odd) / (math.Sqrt(math.Pi) * math.Sqrt(math.Sqrt(x)))
}

// BesselJ0 computes the Bessel function of the first kind of order 0.
func BesselJ0(c *Call) error { return besselJ0Op.run(c) }

// BesselJ1 computes the Bessel function of the first kind of order 1.
func BesselJ1(c *Call) error { return besselJ1Op.run(c) }

// BesselY0 computes the Bessel function of the second kind of order 0.
func BesselY0(c *Call) error { return besselY0Op.run(c) }

// BesselY1 computes the Bessel function of the second kind of order 1.
func BesselY1(c *Call) error { return besselY1Op.run(c) }

// BesselI0 computes the modified Bessel function of the first kind of order 0.
func BesselI0(c *Call) error { return besselI0Op.run(c) }

// BesselI1 computes the modified Bessel function of the first kind of order 1.
func BesselI1(c *Call) error { return besselI1Op.run(c) }

// BesselK0 computes the modified Bessel function of the second kind of order 0.
func BesselK0(c *Call) error { return besselK0Op.run(c) }

// BesselK1 computes the modified Bessel function of the second kind of order 1.
func BesselK1(c *Call) error { return besselK1Op.run(c) }

// ScaledBesselK0 computes eˣ·K₀(x).
func ScaledBesselK0(c *Call) error { return besselK0eOp.run(c) }

// ScaledBesselK1 computes eˣ·K₁(x).
func ScaledBesselK1(c *Call) error { return besselK1eOp.run(c) }

// SphericalBesselJ0 computes sin(x)/x.
func SphericalBesselJ0(c *Call) error { return sphericalOp.run(c) }

// AiryAi computes Airy's function Ai.
func AiryAi(c *Call) error { return airyOp.run(c) }
