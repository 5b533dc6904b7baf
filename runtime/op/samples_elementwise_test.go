package op

import "github.com/tpush/tpush/runtime/dtype"

// Elementwise gives sample calls of elementwise rows: ranges in which the
// function is smooth.
func (samples) Elementwise() map[Name][]sample {
	m := map[Name][]sample{}
	one := func(lo, hi float64, names ...Name) {
		for _, n := range names {
			m[n] = append(m[n], sample{in: []any{d(2, 3)}, lo: lo, hi: hi})
		}
	}
	one(-2, 2, Neg, Positive, Square, Exp, Exp2, Expm1, Sin, Cos, Sinh, Cosh, Tanh, Asinh, Atan, Erf, Erfc, Deg2Rad, Rad2Deg,
		I0, I0e, I1, I1e, Erfcx, Ndtr, LogNdtr, GELU, SiLU, Sigmoid, LogSigmoid, Softplus, Tanhshrink, Mish, NanToNum)
	one(0.2, 3, Abs, Sign, Sgn, Reciprocal, Sqrt, Rsqrt, Log, Log2, Log10, Log1p, Lgamma, Digamma, Entr, ReLU, ELU, SELU, CELU, LeakyReLU, Softsign)
	one(0.3, 4, BesselJ0, BesselJ1, BesselY0, BesselY1, BesselI0, BesselI1, BesselK0, BesselK1)
	one(-3, -0.2, Abs, Reciprocal, ELU, SELU, CELU, LeakyReLU, Softsign, ReLU, Sinc)
	one(-0.9, 0.9, Asin, Acos, Atanh, Erfinv, Tan)
	one(0.2, 3, Angle)
	one(1.2, 4, Acosh)
	one(0.1, 0.9, Ndtri, Logit, Sinc, Ceil, Floor, Trunc, Frac)
	one(0.6, 1.4, Round)
	one(0.5, 5.5, ReLU6)
	one(-2.8, 2.8, Hardsigmoid, Hardswish)
	one(3.2, 5, Hardswish)
	one(-0.9, 0.9, Hardtanh)
	one(0.6, 2, Hardshrink, Softshrink)
	one(-2, -0.6, Hardshrink, Softshrink)
	m[GELUBack] = []sample{{in: []any{d(2, 3), d(2, 3)}}, {in: []any{d(2, 3), d(2, 3)}, attrs: attrs("approximate", "tanh")}}
	m[GELU] = append(m[GELU], sample{in: []any{d(2, 3)}, attrs: attrs("approximate", "tanh")})
	m[Softplus] = append(m[Softplus], sample{in: []any{d(4)}, attrs: attrs("beta", 2.0, "threshold", 1.0)})
	m[ELU] = append(m[ELU], sample{in: []any{d(4)}, lo: -2, hi: -0.1, attrs: attrs("alpha", 0.7)})
	m[CELU] = append(m[CELU], sample{in: []any{d(4)}, lo: -2, hi: -0.1, attrs: attrs("alpha", 0.7)})
	m[Polygamma] = []sample{{in: []any{d(4)}, lo: 0.5, hi: 4, attrs: attrs("n", 1)}, {in: []any{d(4)}, lo: 1, hi: 4, attrs: attrs("n", 2), first: true}}
	m[Logit] = append(m[Logit], sample{in: []any{d(4)}, lo: 0.2, hi: 0.8, attrs: attrs("eps", 0.1)})
	m[Threshold] = []sample{{in: []any{d(4)}, lo: 0.6, hi: 2, attrs: attrs("threshold", 0.5, "value", 3.0)}, {in: []any{d(4)}, lo: -2, hi: 0.4, attrs: attrs("threshold", 0.5, "value", 3.0)}}
	m[PReLU] = []sample{{in: []any{d(2, 3, 2), f64s(d(3), 0.2, 0.3, -0.4)}}, {in: []any{d(4), f64s(d(1), 0.2)}}}
	m[GLU] = []sample{{in: []any{d(2, 4)}, attrs: attrs("dim", -1)}, {in: []any{d(2, 3)}, attrs: attrs("dim", 0)}}

	two := func(lo, hi float64, names ...Name) {
		for _, n := range names {
			m[n] = append(m[n], sample{in: []any{d(2, 3), d(2, 3)}, lo: lo, hi: hi})
		}
	}
	two(-2, 2, Add, Sub, Rsub, Mul, Maximum, Minimum, FMax, FMin, LogAddExp, LogAddExp2, Ldexp, ClampMinTensor, ClampMaxTensor)
	two(0.3, 3, Div, Pow, Atan2, Hypot, Copysign, Xlogy, Xlog1py)
	m[Zeta] = []sample{{in: []any{fixed{*f64s(d(3), 2, 3, 4)}, f64s(d(3), 0.7, 1.5, 2.5)}}}
	for _, n := range []Name{Igamma, Igammac} {
		m[n] = []sample{{in: []any{fixed{*f64s(d(3), 0.7, 2, 4)}, f64s(d(3), 0.5, 1.5, 5)}}}
	}
	for _, n := range []Name{Add, Sub, Rsub} {
		m[n] = append(m[n], sample{in: []any{d(3), d(3)}, attrs: attrs("alpha", -1.5)})
	}
	m[Add] = append(m[Add], sample{in: []any{d(3), 2.0}})
	m[Mul] = append(m[Mul], sample{in: []any{d(3), 2.0}})
	m[Div] = append(m[Div], sample{in: []any{d(3), f64s(d(3), 3, -4, 0.7)}, attrs: attrs("rounding_mode", "floor")})
	m[Pow] = append(m[Pow], sample{in: []any{d(3), 3.0}}, sample{in: []any{d(3), 2.0}}, sample{in: []any{2.5, d(3)}})
	m[FloatPower] = []sample{{in: []any{d(3), 3.0}}, {in: []any{d(3), d(3)}, lo: 0.3, hi: 2}}
	for _, n := range []Name{Remainder, FMod} {
		m[n] = []sample{{in: []any{f64s(d(3), 5.3, -3.1, 7.7), f64s(d(3), 2, 1.7, -3)}}}
	}
	m[Where] = []sample{{in: []any{bools(d(2, 2), true, false, false, true), d(2, 2), d(2, 2)}}, {in: []any{bools(d(2), true, false), d(2), 0.5}}}
	m[MaskedFill] = []sample{{in: []any{d(2, 2), bools(d(2, 2), true, false, false, true), 3.0}}}
	m[Clamp] = []sample{{in: []any{d(8)}, attrs: attrs("min", -0.77, "max", 1.1)}, {in: []any{d(8)}, attrs: attrs("min", -0.77)}}
	m[ClampMin] = []sample{{in: []any{d(8)}, attrs: attrs("min", 0.33)}}
	m[ClampMax] = []sample{{in: []any{d(8)}, attrs: attrs("max", 0.33)}}
	m[ClampTensor] = []sample{{in: []any{d(4), f64s(d(4), -0.5, 0.1, 1.9, -1), f64s(d(4), 0.5, 0.2, 0.3, 1.1)}}, {in: []any{d(4), nil, f64s(d(4), 0.5, 0.1, -0.3, 1.1)}}}
	m[Lerp] = []sample{{in: []any{d(3), d(3), d(3)}}, {in: []any{d(3), d(3), 0.3}}}
	m[Addcmul] = []sample{{in: []any{d(3), d(3), d(3)}, attrs: attrs("value", 0.5)}}
	m[Addcdiv] = []sample{{in: []any{d(3), d(3), d(3)}, lo: 0.4, hi: 2, attrs: attrs("value", 0.5)}}
	m[To] = []sample{{in: []any{d(3)}, attrs: attrs("dtype", f64s(nil, 0).DType)}}
	m[Mvlgamma] = []sample{{in: []any{d(3)}, lo: 2, hi: 5, attrs: attrs("p", 3)}}
	m[Frexp] = []sample{{in: []any{f64s(d(3), 0.7, -3, 5)}, out: []int{0}}}
	m[Nextafter] = []sample{{in: []any{d(3), fixed{*f64s(d(3), 9, 9, 9)}}}}
	m[Fill] = []sample{{in: []any{d(2, 3), d()}}}
	m[DropoutBack] = []sample{{in: []any{d(3), bools(d(3), true, false, true)}, attrs: attrs("scale", 1.5)}}
	m[NativeDropout] = []sample{{in: []any{dense(dtype.U64, d(2), []uint64{7, 3}), d(2, 5)}, attrs: attrs("p", 0.4)}}
	return m
}
