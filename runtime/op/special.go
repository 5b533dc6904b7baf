package op

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Transcendental functions of one operand.
const (
	Exp       Name = "exp"
	Exp2      Name = "exp2"
	Expm1     Name = "expm1"
	Log       Name = "log"
	Log2      Name = "log2"
	Log10     Name = "log10"
	Log1p     Name = "log1p"
	Sin       Name = "sin"
	Cos       Name = "cos"
	Tan       Name = "tan"
	Asin      Name = "asin"
	Acos      Name = "acos"
	Atan      Name = "atan"
	Sinh      Name = "sinh"
	Cosh      Name = "cosh"
	Tanh      Name = "tanh"
	Asinh     Name = "asinh"
	Acosh     Name = "acosh"
	Atanh     Name = "atanh"
	Erf       Name = "erf"
	Erfc      Name = "erfc"
	Erfinv    Name = "erfinv"
	Erfcx     Name = "erfcx"
	Lgamma    Name = "lgamma"
	Digamma   Name = "digamma"
	Polygamma Name = "polygamma"
	Sinc      Name = "sinc"
	Logit     Name = "logit"
	I0        Name = "i0"
	I0e       Name = "i0e"
	I1        Name = "i1"
	I1e       Name = "i1e"
	Ndtr      Name = "ndtr"
	Ndtri     Name = "ndtri"
	LogNdtr   Name = "log_ndtr"
	Entr      Name = "entr"
	Angle     Name = "angle"
	Mvlgamma  Name = "mvlgamma"
)

// curve makes a row of a transcendental function: cost counts vector
// operations an element, d gives the derivative.
func curve(n Name, method, doc, example string, k kernel.Func, cost int64, low lowering, d func(k ew) Value) Def {
	row := Def{Name: n, Torch: string(n), Method: method, InPlace: true, Class: Elementwise, Params: unaryParams, Doc: doc, Example: example,
		Shape: likeInput, DType: realFloating, Kernel: k, Cost: perElement(cost, EUP), Lower: low}
	switch n {
	case Exp, Log, Sin, Cos, Tan, Sinh, Cosh, Tanh:
		row.DType = floating // complex numbers too
	}
	if d == nil {
		row.NoGrad = "PyTorch has no derivative for it either"
	} else {
		row.Grad = parts(times(d))
	}
	return row
}

// special is curve for functions of torch.special, which have no in-place form.
func special(n Name, method, doc, example string, k kernel.Func, cost int64, low lowering, d func(k ew) Value) Def {
	row := curve(n, method, doc, example, k, cost, low, d)
	row.Torch, row.InPlace = "special_"+string(n), false
	row.Traits = Composite
	return row
}

var specialOps = []Def{
	curve(Exp, "Exp", "e to the power of each element.", `tpu.Of(0.0, 1.0).Exp()`, kernel.Exp, 8, unaryHLO("exponential"),
		func(k ew) Value { return k.y() }),
	curve(Exp2, "Exp2", "Two to the power of each element.", `tpu.Of(0.0, 3.0).Exp2()`, kernel.Exp2, 9,
		lowerWide(func(h hlo) stablehlo.Value { return h.do("power", h.num(2), h.in(0)) }),
		func(k ew) Value { return k.mul(k.y(), math.Ln2) }),
	curve(Expm1, "Expm1", "e to the power of each element, minus one, exact near zero.", `tpu.Of(0.001, 1.0).Expm1()`, kernel.Expm1, 10, unaryHLO("exponential_minus_one"),
		func(k ew) Value { return k.add(k.y(), 1) }),
	curve(Log, "Log", "Natural logarithm of each element.", `tpu.Of(1.0, 2.0).Log()`, kernel.Log, 10, unaryHLO("log"),
		func(k ew) Value { return k.op(Reciprocal, k.a()) }),
	curve(Log2, "Log2", "Logarithm to base 2 of each element.", `tpu.Of(1.0, 8.0).Log2()`, kernel.Log2, 11, logHLO(math.Ln2),
		func(k ew) Value { return k.op(Reciprocal, k.mul(k.a(), math.Ln2)) }),
	curve(Log10, "Log10", "Logarithm to base 10 of each element.", `tpu.Of(1.0, 100.0).Log10()`, kernel.Log10, 11, logHLO(math.Ln10),
		func(k ew) Value { return k.op(Reciprocal, k.mul(k.a(), math.Ln10)) }),
	curve(Log1p, "Log1p", "Natural logarithm of one plus each element, exact near zero.", `tpu.Of(0.001, 1.0).Log1p()`, kernel.Log1p, 12, unaryHLO("log_plus_one"),
		func(k ew) Value { return k.op(Reciprocal, k.add(k.a(), 1)) }),
	curve(Sin, "Sin", "Sine of each element, in radians.", `tpu.Of(0.0, 1.5).Sin()`, kernel.Sin, 20, unaryHLO("sine"),
		func(k ew) Value { return k.op(Cos, k.a()) }),
	curve(Cos, "Cos", "Cosine of each element, in radians.", `tpu.Of(0.0, 1.5).Cos()`, kernel.Cos, 20, unaryHLO("cosine"),
		func(k ew) Value { return k.neg(k.op(Sin, k.a())) }),
	curve(Tan, "Tan", "Tangent of each element, in radians.", `tpu.Of(0.0, 0.5).Tan()`, kernel.Tan, 30, unaryHLO("tan"),
		func(k ew) Value { return k.add(k.square(k.y()), 1) }),
	curve(Asin, "Asin", "Arcsine of each element.", `tpu.Of(0.0, 0.5).Asin()`, kernel.Asin, 30, chlo("asin"),
		func(k ew) Value { return k.op(Rsqrt, k.sub(1, k.square(k.a()))) }),
	curve(Acos, "Acos", "Arccosine of each element.", `tpu.Of(0.0, 0.5).Acos()`, kernel.Acos, 30, chlo("acos"),
		func(k ew) Value { return k.neg(k.op(Rsqrt, k.sub(1, k.square(k.a())))) }),
	curve(Atan, "Atan", "Arctangent of each element.", `tpu.Of(0.0, 1.0).Atan()`, kernel.Atan, 30, chlo("atan"),
		func(k ew) Value { return k.op(Reciprocal, k.add(k.square(k.a()), 1)) }),
	curve(Sinh, "Sinh", "Hyperbolic sine of each element.", `tpu.Of(0.0, 1.0).Sinh()`, kernel.Sinh, 20, chlo("sinh"),
		func(k ew) Value { return k.op(Cosh, k.a()) }),
	curve(Cosh, "Cosh", "Hyperbolic cosine of each element.", `tpu.Of(0.0, 1.0).Cosh()`, kernel.Cosh, 20, chlo("cosh"),
		func(k ew) Value { return k.op(Sinh, k.a()) }),
	curve(Tanh, "Tanh", "Hyperbolic tangent of each element.", `tpu.Of(0.0, 1.0).Tanh()`, kernel.Tanh, 15, unaryHLO("tanh"),
		func(k ew) Value { return k.sub(1, k.square(k.y())) }),
	curve(Asinh, "Asinh", "Inverse hyperbolic sine of each element.", `tpu.Of(0.0, 1.0).Asinh()`, kernel.Asinh, 30, chlo("asinh"),
		func(k ew) Value { return k.op(Rsqrt, k.add(k.square(k.a()), 1)) }),
	curve(Acosh, "Acosh", "Inverse hyperbolic cosine of each element.", `tpu.Of(1.5, 2.0).Acosh()`, kernel.Acosh, 30, chlo("acosh"),
		func(k ew) Value { return k.op(Rsqrt, k.sub(k.square(k.a()), 1)) }),
	curve(Atanh, "Atanh", "Inverse hyperbolic tangent of each element.", `tpu.Of(0.0, 0.5).Atanh()`, kernel.Atanh, 30, chlo("atanh"),
		func(k ew) Value { return k.op(Reciprocal, k.sub(1, k.square(k.a()))) }),
	curve(Erf, "Erf", "Error function of each element.", `tpu.Of(0.0, 1.0).Erf()`, kernel.Erf, 30, chlo("erf"),
		func(k ew) Value { return k.mul(k.gauss(), 2/math.Sqrt(math.Pi)) }),
	curve(Erfc, "Erfc", "One minus the error function of each element, exact where it is small.", `tpu.Of(0.0, 3.0).Erfc()`, kernel.Erfc, 30, chlo("erfc"),
		func(k ew) Value { return k.mul(k.gauss(), -2/math.Sqrt(math.Pi)) }),
	curve(Erfinv, "Erfinv", "Inverse of the error function, for elements between -1 and 1.", `tpu.Of(0.0, 0.5).Erfinv()`, kernel.Erfinv, 40, chlo("erf_inv"),
		func(k ew) Value { return k.mul(k.op(Exp, k.square(k.y())), math.Sqrt(math.Pi)/2) }),
	curve(Lgamma, "Lgamma", "Logarithm of the absolute value of the gamma function.", `tpu.Of(1.0, 5.0).Lgamma()`, kernel.Lgamma, 60, chlo("lgamma"),
		func(k ew) Value { return k.op(Digamma, k.a()) }),
	curve(Digamma, "Digamma", "Derivative of the logarithm of the gamma function.", `tpu.Of(1.0, 5.0).Digamma()`, kernel.Digamma, 60, lowerWide(lowerDigamma),
		func(k ew) Value { return k.Do(Polygamma, Attrs{{Name: "n", Value: 1}}, k.a()) }),
	{Name: Polygamma, Torch: "polygamma", Method: "Polygamma", Class: Elementwise, Traits: Composite,
		Params: []Param{{Name: "n", Kind: KInt, Doc: "which derivative; 0 is digamma itself"}, tensor("input")},
		Doc:    "Derivative number n of the digamma function.", Example: `tpu.Of(1.0, 5.0).Polygamma(1)`,
		Shape: likeInput, DType: realFloating, Kernel: kernel.Polygamma, Cost: perElement(80, EUP),
		Lower: lowerWide(lowerPolygamma),
		Grad: parts(func(k ew, dy Value) Value {
			return k.mul(dy, k.Do(Polygamma, Attrs{{Name: "n", Value: k.Attrs.Int("n") + 1}}, k.a()))
		})},
	{Name: Mvlgamma, Torch: "mvlgamma", Method: "Mvlgamma", InPlace: true, Class: Elementwise, Traits: Composite,
		Params: []Param{tensor("input"), {Name: "p", Kind: KInt, Doc: "dimension"}},
		Doc:    "Logarithm of the multivariate gamma function of dimension p.", Example: `tpu.Of(3.0, 5.0).Mvlgamma(2)`,
		Shape: likeInput, DType: mvlgammaType, Kernel: kernel.Mvlgamma, Cost: perElement(120, EUP), Lower: lowerWide(lowerMvlgamma),
		Grad: parts(times(func(k ew) Value {
			d := k.op(Digamma, k.a())
			for j := 1; j < k.Attrs.Int("p"); j++ {
				d = k.add(d, k.op(Digamma, k.sub(k.a(), float64(j)/2)))
			}
			return d
		}))},
	curve(Sinc, "Sinc", "Sine of pi times each element, divided by that; one at zero.", `tpu.Of(0.0, 0.5).Sinc()`, kernel.Sinc, 24, lowerWide(lowerSinc),
		func(k ew) Value {
			px := k.mul(k.a(), math.Pi)
			d := k.div(k.sub(k.mul(px, k.op(Cos, px)), k.op(Sin, px)), k.mul(px, k.a()))
			return k.where(k.op(Eq, k.a(), 0.0), 0.0, d)
		}),
	{Name: Logit, Torch: "logit", Method: "Logit", InPlace: true, Class: Elementwise, Traits: Composite,
		Params: []Param{tensor("input"), {Name: "eps", Kind: KFloat, Default: -1.0, Dynamic: true, Doc: "elements are clamped to [eps, 1-eps] first; negative: they are not"}},
		Doc:    "Logarithm of the odds of each element.", Example: `tpu.Of(0.25, 0.5).Logit()`,
		Shape: likeInput, DType: realFloating, Kernel: kernel.Logit, Cost: perElement(14, EUP), Lower: lowerWide(lowerLogit),
		Grad: parts(logitGrad)},
	{Name: Angle, Torch: "angle", Method: "Angle", Class: Elementwise, Params: unaryParams,
		Doc: "Angle of each element as a complex number: pi below zero, else zero.", Example: `tpu.Of(-1.0, 2.0).Angle()`,
		Shape: likeInput, DType: partType(realFloating), Kernel: kernel.Angle, Cost: perElement(3, VPU), Lower: lower(lowerAngle), Grad: parts(zeroGrad)},
	special(I0, "I0", "Modified Bessel function of order 0.", `tpu.Of(0.0, 1.0).I0()`, kernel.I0, 40,
		lowerWide(func(h hlo) stablehlo.Value { return h.mul(h.exp(h.abs(h.in(0))), lowerI0e(h)) }),
		func(k ew) Value { return k.op(I1, k.a()) }),
	special(I0e, "I0e", "Modified Bessel function of order 0, scaled by e to minus the absolute value.", `tpu.Of(0.0, 1.0).I0e()`, kernel.I0e, 30, lowerWide(lowerI0e),
		func(k ew) Value { return k.sub(k.op(I1e, k.a()), k.mul(k.op(Sign, k.a()), k.y())) }),
	special(I1, "I1", "Modified Bessel function of order 1.", `tpu.Of(0.0, 1.0).I1()`, kernel.I1, 40,
		lowerWide(func(h hlo) stablehlo.Value { return h.mul(h.exp(h.abs(h.in(0))), h.chlo("bessel_i1e", h.in(0))) }),
		func(k ew) Value { return k.sub(k.op(I0, k.a()), k.overX(k.y(), 0.5)) }),
	special(I1e, "I1e", "Modified Bessel function of order 1, scaled by e to minus the absolute value.", `tpu.Of(0.0, 1.0).I1e()`, kernel.I1e, 30, chlo("bessel_i1e"),
		func(k ew) Value {
			return k.sub(k.sub(k.op(I0e, k.a()), k.mul(k.op(Sign, k.a()), k.y())), k.overX(k.y(), 0.5))
		}),
	special(Erfcx, "Erfcx", "Error function's complement, scaled by e to the square.", `tpu.Of(0.0, 5.0).Erfcx()`, kernel.Erfcx, 40, lowerWide(lowerErfcx),
		func(k ew) Value { return k.sub(k.mul(k.mul(k.a(), k.y()), 2), 2/math.Sqrt(math.Pi)) }),
	special(Ndtr, "Ndtr", "Distribution function of the standard normal.", `tpu.Of(0.0, 1.0).Ndtr()`, kernel.Ndtr, 32, lowerWide(lowerNdtr),
		func(k ew) Value { return k.bell(k.a()) }),
	special(Ndtri, "Ndtri", "Quantile of the standard normal.", `tpu.Of(0.1, 0.5).Ndtri()`, kernel.Ndtri, 45,
		lowerWide(lowerNdtri),
		func(k ew) Value { return k.op(Reciprocal, k.bell(k.y())) }),
	special(LogNdtr, "LogNdtr", "Logarithm of the distribution function of the standard normal.", `tpu.Of(-20.0, 1.0).LogNdtr()`, kernel.LogNdtr, 50, lowerWide(lowerLogNdtr),
		func(k ew) Value {
			return k.div(math.Sqrt(2/math.Pi), k.op(Erfcx, k.mul(k.a(), -1/math.Sqrt2)))
		}),
	special(Entr, "Entr", "Minus x log x of each element; zero at zero.", `tpu.Of(0.0, 0.5).Entr()`, kernel.Entr, 12,
		lowerWide(func(h hlo) stablehlo.Value {
			x := h.in(0)
			y := h.Select(h.Compare("EQ", x, h.num(0)), h.num(0), h.neg(h.mul(x, h.log(x))))
			return h.Select(h.Compare("LT", x, h.num(0)), h.num(math.Inf(-1)), y)
		}),
		func(k ew) Value { return k.sub(-1, k.op(Log, k.a())) }),
}

// lowerAngle is π below zero and 0 elsewhere, NaN at NaN.
func lowerAngle(h hlo) stablehlo.Value {
	x := h.in(0)
	y := h.Select(h.Compare("LT", x, h.num(0)), h.num(math.Pi), h.num(0))
	return h.Select(h.Compare("NE", x, x), x, y)
}

// gauss is exp(-x²).
func (k ew) gauss() Value { return k.op(Exp, k.neg(k.square(k.a()))) }

// bell is the density of the standard normal at x.
func (k ew) bell(x Value) Value {
	return k.mul(k.op(Exp, k.mul(k.square(x), -0.5)), 1/math.Sqrt(2*math.Pi))
}

// overX is y/x, and its limit at 0.
func (k ew) overX(y Value, limit float64) Value {
	return k.where(k.op(Eq, k.a(), 0.0), limit, k.div(y, k.a()))
}

func logitGrad(k ew, dy Value) Value {
	eps := k.num("eps")
	g := k.div(dy, k.mul(k.a(), k.sub(1, k.a())))
	if eps < 0 {
		return k.where(k.op(LogicalOr, k.op(Lt, k.a(), 0.0), k.op(Gt, k.a(), 1.0)), math.NaN(), g)
	}
	return k.where(k.op(LogicalOr, k.op(Lt, k.a(), eps), k.op(Gt, k.a(), 1-eps)), 0.0, g)
}

func mvlgammaType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if p := a.Int("p"); p < 1 {
		return dtype.Invalid, &shape.ArgumentError{Op: string(Mvlgamma), Arg: "p", Value: p, Why: "must be at least 1"}
	}
	return realFloating(in, a)
}

// lowerMvlgamma is p(p-1)/4·log π + Σ lgamma(x - j/2).
func lowerMvlgamma(h hlo) stablehlo.Value {
	p := h.c.Attrs.Int("p")
	sum := h.num(float64(p*(p-1)) / 4 * math.Log(math.Pi))
	for j := range p {
		sum = h.add(sum, h.chlo("lgamma", h.sub(h.in(0), h.num(float64(j)/2))))
	}
	return sum
}

func logHLO(base float64) lowering {
	return lowerWide(func(h hlo) stablehlo.Value { return h.div(h.log(h.in(0)), h.num(base)) })
}

func lowerSinc(h hlo) stablehlo.Value {
	px := h.mul(h.in(0), h.num(math.Pi))
	return h.Select(h.Compare("EQ", px, h.num(0)), h.num(1), h.div(h.do("sine", px), px))
}

func lowerLogit(h hlo) stablehlo.Value {
	x := h.in(0)
	if eps := h.c.Attrs.Float("eps"); eps >= 0 {
		x = h.min(h.max(x, h.num(eps)), h.num(1-eps))
	}
	return h.log(h.div(x, h.sub(h.num(1), x)))
}

func lowerNdtr(h hlo) stablehlo.Value { return h.phi(h.in(0)) }

// phi is the distribution function of the standard normal.
func (h hlo) phi(x stablehlo.Value) stablehlo.Value {
	return h.mul(h.chlo("erfc", h.mul(x, h.num(-1/math.Sqrt2))), h.num(0.5))
}

// lowerErfcx expands the continued fraction for large x and the definition elsewhere.
func lowerErfcx(h hlo) stablehlo.Value { return h.erfcx(h.in(0)) }

func (h hlo) erfcx(x stablehlo.Value) stablehlo.Value {
	small := h.mul(h.exp(h.mul(x, x)), h.chlo("erfc", x))
	f := x
	for k := 30; k > 0; k-- {
		f = h.add(x, h.div(h.num(float64(k)/2), f))
	}
	return h.Select(h.Compare("LT", x, h.num(3)), small, h.div(h.num(1/math.Sqrt(math.Pi)), f))
}

func lowerLogNdtr(h hlo) stablehlo.Value {
	x := h.in(0)
	t := h.mul(x, h.num(1/math.Sqrt2))
	low := h.sub(h.log(h.mul(h.erfcx(h.neg(t)), h.num(0.5))), h.mul(t, t))
	high := h.log1p(h.mul(h.chlo("erfc", t), h.num(-0.5)))
	return h.Select(h.Compare("LT", x, h.num(-1)), low, high)
}

func lowerI0e(h hlo) stablehlo.Value { return h.i0e(h.in(0)) }

// i0e writes exp(-|x|)·I₀(x): the power series below 12 and the asymptotic
// one above, with as many terms as f32 can tell apart.
func (h hlo) i0e(x stablehlo.Value) stablehlo.Value {
	x = h.abs(x)
	q := h.mul(h.mul(x, x), h.num(0.25))
	series := h.num(1)
	for k := 30; k > 0; k-- { // Horner: 1 + q/1² (1 + q/2² (1 + …))
		series = h.add(h.num(1), h.mul(h.mul(q, h.num(1/float64(k*k))), series))
	}
	small := h.mul(h.exp(h.neg(x)), series)
	r := h.div(h.num(1), x)
	tail := h.num(1)
	for k := 12; k > 0; k-- { // 1 + (1²/8x)(1 + (3²/16x)(1 + …))
		odd := float64(2*k - 1)
		tail = h.add(h.num(1), h.mul(h.mul(r, h.num(odd*odd/float64(8*k))), tail))
	}
	large := h.mul(tail, h.mul(h.do("rsqrt", x), h.num(1/math.Sqrt(2*math.Pi))))
	return h.Select(h.Compare("LT", x, h.num(12)), small, large)
}
