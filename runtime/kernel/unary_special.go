package kernel

import (
	"math"
	"math/cmplx"

	recipes "github.com/tpush/tpush/runtime/jit/recipe"
)

// Transcendental functions of one operand. Narrow types take the recipe of the
// function where there is one; all others are computed in f64 and rounded once.

// heavy makes an operation of an expensive f64 function.
func heavy(f func(float64) float64) *elementwise {
	o := light(f)
	o.heavy = true
	return o
}

// narrow gives the types of 32 bits and fewer a recipe.
func (o *elementwise) narrow(r recipe) *elementwise {
	return o.known(narrowOnly(r))
}

// known gives a recipe to the types that it knows, f32 among them.
func (o *elementwise) known(r recipe) *elementwise {
	o.recipe, o.f32 = r, nil
	return o
}

var (
	expOp     = heavy(math.Exp).narrow(recipe1(recipes.Exp)).over(cmplx.Exp)
	exp2Op    = heavy(math.Exp2).narrow(recipe1(recipes.Exp2))
	expm1Op   = heavy(math.Expm1).narrow(recipe1(recipes.Expm1))
	logOp     = heavy(math.Log).narrow(recipe1(recipes.Log)).over(cmplx.Log)
	log2Op    = heavy(log2).narrow(recipe1(recipes.Log2))
	log10Op   = heavy(log10).narrow(recipe1(recipes.Log10))
	log1pOp   = heavy(math.Log1p).narrow(recipe1(recipes.Log1p))
	sinOp     = heavy(math.Sin).narrow(recipe1(recipes.Sin)).over(cmplx.Sin)
	cosOp     = heavy(math.Cos).narrow(recipe1(recipes.Cos)).over(cmplx.Cos)
	tanOp     = heavy(math.Tan).narrow(recipe1(recipes.Tan)).over(cmplx.Tan)
	asinOp    = heavy(math.Asin).narrow(recipe1(recipes.Asin))
	acosOp    = heavy(math.Acos).narrow(recipe1(recipes.Acos))
	atanOp    = heavy(math.Atan).narrow(recipe1(recipes.Atan))
	sinhOp    = heavy(math.Sinh).narrow(recipe1(recipes.Sinh)).over(cmplx.Sinh)
	coshOp    = heavy(math.Cosh).narrow(recipe1(recipes.Cosh)).over(cmplx.Cosh)
	tanhOp    = heavy(math.Tanh).narrow(recipe1(recipes.Tanh)).over(cmplx.Tanh)
	asinhOp   = heavy(math.Asinh).narrow(recipe1(recipes.Asinh))
	acoshOp   = heavy(math.Acosh).narrow(recipe1(recipes.Acosh))
	atanhOp   = heavy(math.Atanh).narrow(recipe1(recipes.Atanh))
	erfOp     = heavy(math.Erf).narrow(recipe1(recipes.Erf))
	erfcOp    = heavy(math.Erfc).narrow(recipe1(recipes.Erfc))
	erfinvOp  = heavy(math.Erfinv)
	lgammaOp  = heavy(lgamma)
	digammaOp = heavy(digamma)
	deg2radOp = &elementwise{recipe: factorRecipe(math.Pi / 180)}
	rad2degOp = &elementwise{recipe: factorRecipe(180 / math.Pi)}
	sincOp    = &elementwise{
		f32: func(d, a, _, _ []float32, _ *Params) {
			for i, x := range a {
				d[i] = float32(sinc(float64(x)))
				if math.Abs(float64(x)) > math.MaxFloat32/math.Pi {
					d[i] = float32(math.NaN()) // πx is infinite in f32
				}
			}
		},
		f64:   heavy(sinc).f64,
		heavy: true,
	}
	i0Op      = heavy(func(x float64) float64 { return math.Exp(math.Abs(x)) * bessel0e(x) })
	i0eOp     = heavy(bessel0e)
	i1Op      = heavy(func(x float64) float64 { return math.Exp(math.Abs(x)) * bessel1e(x) })
	i1eOp     = heavy(bessel1e)
	erfcxOp   = heavy(erfcx)
	ndtrOp    = heavy(func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }).narrow(recipe1(recipes.Phi))
	ndtriOp   = heavy(ndtri)
	logNdtrOp = heavy(logNdtr)
	entrOp    = heavy(entr)
)

// log2 is exact for powers of two, and NaN below zero.
func log2(x float64) float64 {
	if x <= 0 || x != x || math.IsInf(x, 0) {
		return math.Log(x)
	}
	return math.Log2(x)
}

func log10(x float64) float64 { return math.Log10(x) }

func lgamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	return l
}

// digamma is the derivative of lgamma: reflection for x < 0, the recurrence
// up to 10, then the asymptotic series. At 0 it is ∓∞, at negative integers NaN.
func digamma(x float64) float64 {
	switch {
	case x == 0:
		return math.Copysign(math.Inf(1), -x)
	case math.IsInf(x, -1) || x < 0 && x == math.Trunc(x):
		return math.NaN()
	case x < 0:
		_, f := math.Modf(x)
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*f)
	}
	s := 0.0
	for ; x < 10; x++ {
		s -= 1 / x
	}
	if math.IsInf(x, 1) {
		return x
	}
	z := 1 / (x * x)
	series := z * (1./12 - z*(1./120-z*(1./252-z*(1./240-z*(1./132-z*(691./32760-z/12))))))
	return s + math.Log(x) - 0.5/x - series
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func entr(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 0:
		return -x * math.Log(x)
	case x == 0:
		return 0
	}
	return math.Inf(-1)
}

// erfcx is exp(x²)·erfc(x).
func erfcx(x float64) float64 {
	if x < 25 {
		if x < -26.7 {
			return math.Inf(1)
		}
		if x < 5 {
			return math.Exp(x*x) * math.Erfc(x)
		}
	}
	if x > 1e8 {
		return 1 / (x * math.Sqrt(math.Pi))
	}
	// The continued fraction x + (1/2)/(x + 1/(x + (3/2)/(x + …))).
	f := x
	for k := 60; k > 0; k-- {
		f = x + float64(k)/2/f
	}
	return 1 / (f * math.Sqrt(math.Pi))
}

// ndtri is the inverse of ndtr.
func ndtri(p float64) float64 {
	switch {
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	case p > 0 && p < 0.1:
		return ndtriTail(p)
	case p > 0.9 && p < 1:
		return -ndtriTail(1 - p)
	}
	return math.Sqrt2 * math.Erfinv(2*p-1)
}

// ndtriTail is ndtri for small p: Newton's steps on the logarithm of ndtr.
func ndtriTail(p float64) float64 {
	l := math.Log(p)
	x := -math.Sqrt(-2 * l)
	for range 8 {
		step := (logNdtr(x) - l) * erfcx(-x/math.Sqrt2) * math.Sqrt(math.Pi/2)
		x -= step
		if math.Abs(step) <= 1e-16*math.Abs(x) {
			break
		}
	}
	return x
}

// logNdtr is log(ndtr(x)) without underflow.
func logNdtr(x float64) float64 {
	if x < -1 {
		return math.Log(erfcx(-x/math.Sqrt2)/2) - x*x/2
	}
	return math.Log1p(-math.Erfc(x/math.Sqrt2) / 2)
}

// bessel0e is exp(-|x|)·I₀(x): the power series, then the asymptotic one.
func bessel0e(x float64) float64 { return besselE(math.Abs(x), 0) }

// bessel1e is exp(-|x|)·I₁(x).
func bessel1e(x float64) float64 { return math.Copysign(besselE(math.Abs(x), 1), x) }

// besselE is exp(-x)·Iₙ(x) for x ≥ 0 and n = 0 or 1.
func besselE(x float64, n int) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	if x < 30 {
		// Σ (x/2)^(2k+n) / (k! (k+n)!)
		term := 1.0
		if n == 1 {
			term = x / 2
		}
		sum := term
		for k := 1; k < 200; k++ {
			term *= x * x / 4 / float64(k*(k+n))
			sum += term
			if term < sum*1e-17 {
				break
			}
		}
		return math.Exp(-x) * sum
	}
	// 1/√(2πx) · Σ (-1)^k Π((4n² - (2j-1)²)) / (k! (8x)^k)
	mu := float64(4 * n * n)
	term, sum := 1.0, 1.0
	for k := 1; k < 60; k++ {
		odd := float64(2*k - 1)
		next := -term * (mu - odd*odd) / (float64(k) * 8 * x)
		if math.Abs(next) > math.Abs(term) {
			break
		}
		term = next
		sum += term
		if math.Abs(term) < 1e-17 {
			break
		}
	}
	return sum / math.Sqrt(2*math.Pi*x)
}

// Exp computes eˣ.
func Exp(c *Call) error { return expOp.run(c) }

// Exp2 computes 2ˣ.
func Exp2(c *Call) error { return exp2Op.run(c) }

// Expm1 computes eˣ - 1 without cancellation.
func Expm1(c *Call) error { return expm1Op.run(c) }

// Log computes the natural logarithm.
func Log(c *Call) error { return logOp.run(c) }

// Log2 computes the logarithm to base 2.
func Log2(c *Call) error { return log2Op.run(c) }

// Log10 computes the logarithm to base 10.
func Log10(c *Call) error { return log10Op.run(c) }

// Log1p computes log(1 + x) without cancellation.
func Log1p(c *Call) error { return log1pOp.run(c) }

// Sin computes the sine.
func Sin(c *Call) error { return sinOp.run(c) }

// Cos computes the cosine.
func Cos(c *Call) error { return cosOp.run(c) }

// Tan computes the tangent.
func Tan(c *Call) error { return tanOp.run(c) }

// Asin computes the arcsine.
func Asin(c *Call) error { return asinOp.run(c) }

// Acos computes the arccosine.
func Acos(c *Call) error { return acosOp.run(c) }

// Atan computes the arctangent.
func Atan(c *Call) error { return atanOp.run(c) }

// Sinh computes the hyperbolic sine.
func Sinh(c *Call) error { return sinhOp.run(c) }

// Cosh computes the hyperbolic cosine.
func Cosh(c *Call) error { return coshOp.run(c) }

// Tanh computes the hyperbolic tangent.
func Tanh(c *Call) error { return tanhOp.run(c) }

// Asinh computes the inverse hyperbolic sine.
func Asinh(c *Call) error { return asinhOp.run(c) }

// Acosh computes the inverse hyperbolic cosine.
func Acosh(c *Call) error { return acoshOp.run(c) }

// Atanh computes the inverse hyperbolic tangent.
func Atanh(c *Call) error { return atanhOp.run(c) }

// Erf computes the error function.
func Erf(c *Call) error { return erfOp.run(c) }

// Erfc computes 1 - erf(x) without cancellation.
func Erfc(c *Call) error { return erfcOp.run(c) }

// Erfinv computes the inverse error function.
func Erfinv(c *Call) error { return erfinvOp.run(c) }

// Lgamma computes log|Γ(x)|.
func Lgamma(c *Call) error { return lgammaOp.run(c) }

// Digamma computes the derivative of log Γ.
func Digamma(c *Call) error { return digammaOp.run(c) }

// Deg2Rad converts degrees to radians.
func Deg2Rad(c *Call) error { return deg2radOp.run(c) }

// Rad2Deg converts radians to degrees.
func Rad2Deg(c *Call) error { return rad2degOp.run(c) }

// Sinc computes sin(πx)/(πx).
func Sinc(c *Call) error { return sincOp.run(c) }

// I0 computes the modified Bessel function of order 0.
func I0(c *Call) error { return i0Op.run(c) }

// I0e computes exp(-|x|)·I₀(x).
func I0e(c *Call) error { return i0eOp.run(c) }

// I1 computes the modified Bessel function of order 1.
func I1(c *Call) error { return i1Op.run(c) }

// I1e computes exp(-|x|)·I₁(x).
func I1e(c *Call) error { return i1eOp.run(c) }

// Erfcx computes exp(x²)·erfc(x).
func Erfcx(c *Call) error { return erfcxOp.run(c) }

// Ndtr computes the normal distribution function.
func Ndtr(c *Call) error { return ndtrOp.run(c) }

// Ndtri computes the inverse of Ndtr.
func Ndtri(c *Call) error { return ndtriOp.run(c) }

// LogNdtr computes the logarithm of Ndtr without underflow.
func LogNdtr(c *Call) error { return logNdtrOp.run(c) }

// Entr computes -x·log x, 0 at 0 and -∞ below.
func Entr(c *Call) error { return entrOp.run(c) }

var logitOp = &elementwise{
	f32: func(d, a, _, _ []float32, p *Params) {
		for i, x := range a {
			d[i] = float32(logit(float64(x), p.F[0]))
		}
	},
	f64: func(d, a, _, _ []float64, p *Params) {
		for i, x := range a {
			d[i] = logit(x, p.F[0])
		}
	},
	heavy: true,
	prep:  func(c *Call, p *Params) { p.F[0] = c.Attrs.Float("eps") },
}

func logit(x, eps float64) float64 {
	if eps >= 0 && x == x {
		x = min(max(x, eps), 1-eps)
	}
	return math.Log(x / (1 - x))
}

// Logit computes log(x/(1-x)), of x clamped to [eps, 1-eps] when attribute eps ≥ 0.
func Logit(c *Call) error { return logitOp.run(c) }

var polygammaOp = &elementwise{
	f32: func(d, a, _, _ []float32, p *Params) {
		for i, x := range a {
			d[i] = float32(polygamma(p.N, float64(x)))
		}
	},
	f64: func(d, a, _, _ []float64, p *Params) {
		for i, x := range a {
			d[i] = polygamma(p.N, x)
		}
	},
	heavy: true,
	prep:  func(c *Call, p *Params) { p.N = c.Attrs.Int("n") },
}

var mvlgammaOp = &elementwise{
	f32: func(d, a, _, _ []float32, p *Params) {
		for i, x := range a {
			d[i] = float32(mvlgamma(float64(x), p.N))
		}
	},
	f64: func(d, a, _, _ []float64, p *Params) {
		for i, x := range a {
			d[i] = mvlgamma(x, p.N)
		}
	},
	heavy: true,
	prep:  func(c *Call, p *Params) { p.N = c.Attrs.Int("p") },
}

func mvlgamma(x float64, p int) float64 {
	sum := float64(p*(p-1)) / 4 * math.Log(math.Pi)
	for j := range p {
		sum += lgamma(x - float64(j)/2)
	}
	return sum
}

// Mvlgamma computes the logarithm of the multivariate gamma function of dimension p, an attribute.
func Mvlgamma(c *Call) error { return mvlgammaOp.run(c) }

// polygamma is the n-th derivative of digamma: (-1)^(n+1) n! ζ(n+1, x).
func polygamma(n int, x float64) float64 {
	switch n {
	case 0:
		return digamma(x)
	case 1:
		return trigamma(x)
	}
	g, _ := math.Lgamma(float64(n + 1))
	s := 1.0
	if n%2 == 0 {
		s = -1
	}
	return s * math.Exp(g) * zeta(float64(n+1), x)
}

// trigamma takes negative arguments by reflection.
func trigamma(x float64) float64 {
	if x < 0.5 {
		s := math.Sin(math.Pi * x)
		return -trigamma(1-x) + math.Pi*math.Pi/(s*s)
	}
	return zeta(2, x)
}

// Polygamma computes derivative number n (attribute) of the digamma function.
func Polygamma(c *Call) error { return polygammaOp.run(c) }

// zeta is Hurwitz's Σ (q+k)^-s, by the Euler-Maclaurin formula.
func zeta(s, q float64) float64 {
	switch {
	case s == 1:
		return math.Inf(1)
	case s < 1 || s != s || q != q:
		return math.NaN()
	case q <= 0:
		if q == math.Floor(q) {
			return math.Inf(1)
		}
		if s != math.Floor(s) {
			return math.NaN()
		}
	}
	sum := 0.0
	k := 0
	for ; k < 12 || q+float64(k) < 10; k++ {
		sum += math.Pow(q+float64(k), -s)
	}
	w := q + float64(k)
	sum += math.Pow(w, 1-s)/(s-1) + 0.5*math.Pow(w, -s)
	// Bernoulli terms B₂ⱼ/(2j)! · s(s+1)…(s+2j-2) · w^(-s-2j+1).
	b := [...]float64{1. / 6, -1. / 30, 1. / 42, -1. / 30, 5. / 66, -691. / 2730, 7. / 6, -3617. / 510}
	f := s * math.Pow(w, -s-1) / 2
	for j := range b {
		sum += b[j] * f
		m := float64(2*j + 1)
		f *= (s + m) * (s + m + 1) / (w * w * (m + 2) * (m + 3))
	}
	return sum
}
