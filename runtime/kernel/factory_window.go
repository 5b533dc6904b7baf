package kernel

import "math"

// Window functions: attribute window_length points; periodic ones are the
// symmetric window of one more point, without the last.

// A taper gives, for the attributes and the distance m of the ends, the
// function from position to value.
type taper func(a Attrs, m float64) func(i float64) float64

func (w taper) run(c *Call) error {
	n := c.Attrs.Int("window_length")
	m := float64(n - 1)
	if c.Attrs.Bool("periodic") {
		m = float64(n)
	}
	f := w(c.Attrs, m)
	generate(c.Out[0], func(i int) float64 {
		if n == 1 {
			return 1
		}
		return f(float64(i))
	}, nil)
	return nil
}

// cosines is a0 - a1 cos(2πi/m) + a2 cos(4πi/m) - …
func cosines(coef ...float64) taper {
	return func(_ Attrs, m float64) func(i float64) float64 {
		return func(i float64) float64 {
			sum, sign := 0.0, 1.0
			for k, a := range coef {
				sum += sign * a * math.Cos(2*math.Pi*float64(k)*i/m)
				sign = -sign
			}
			return sum
		}
	}
}

// CosineSumWindow makes the kernel of the window a0 - a1 cos(2πi/m) + a2 cos(4πi/m) - …
func CosineSumWindow(coef ...float64) Func { return cosines(coef...).run }

// GeneralHammingWindow is alpha - (1 - alpha) cos(2πi/m).
func GeneralHammingWindow(c *Call) error {
	a := c.Attrs.Float("alpha")
	return cosines(a, 1-a).run(c)
}

// GeneralCosineWindow has attributes a0 … a4 as coefficients.
func GeneralCosineWindow(c *Call) error {
	a := c.Attrs
	return cosines(a.Float("a0"), a.Float("a1"), a.Float("a2"), a.Float("a3"), a.Float("a4")).run(c)
}

// BartlettWindow is a triangle.
func BartlettWindow(c *Call) error {
	return taper(func(_ Attrs, m float64) func(i float64) float64 {
		return func(i float64) float64 { return 1 - math.Abs(2*i/m-1) }
	}).run(c)
}

// CosineWindow is half a sine wave, sampled between its zeros.
func CosineWindow(c *Call) error {
	return taper(func(_ Attrs, m float64) func(i float64) float64 {
		return func(i float64) float64 { return math.Sin(math.Pi * (i + 0.5) / (m + 1)) }
	}).run(c)
}

// ExponentialWindow falls by attribute tau from the middle.
func ExponentialWindow(c *Call) error {
	return taper(func(a Attrs, m float64) func(i float64) float64 {
		tau := a.Float("tau")
		return func(i float64) float64 { return math.Exp(-math.Abs(i-m/2) / tau) }
	}).run(c)
}

// GaussianWindow has standard deviation std, an attribute, in points.
func GaussianWindow(c *Call) error {
	return taper(func(a Attrs, m float64) func(i float64) float64 {
		std := a.Float("std")
		return func(i float64) float64 { t := (i - m/2) / std; return math.Exp(-t * t / 2) }
	}).run(c)
}

// KaiserWindow is I₀(beta·√(1 - t²))/I₀(beta) with t from -1 to 1.
func KaiserWindow(c *Call) error {
	return taper(func(a Attrs, m float64) func(i float64) float64 {
		beta := a.Float("beta")
		return func(i float64) float64 {
			t := 2*i/m - 1
			x := beta * math.Sqrt(max(1-t*t, 0))
			return math.Exp(x-beta) * bessel0e(x) / bessel0e(beta)
		}
	}).run(c)
}
