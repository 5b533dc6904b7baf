package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	recipes "github.com/tpush/tpush/runtime/jit/recipe"
)

// Transcendental functions of two operands, computed in f64 and rounded once.

var (
	atan2Op     = pairs(math.Atan2, nil, nil).narrow(of2(recipes.Atan2))
	hypotOp     = pairs(math.Hypot, nil, nil)
	xlogyOp     = pairs(xTimes(math.Log), nil, nil)
	xlog1pyOp   = pairs(xTimes(math.Log1p), nil, nil)
	logaddexpOp = pairs(func(x, y float64) float64 {
		if x == y && math.IsInf(x, 0) {
			return x
		}
		return max(x, y) + math.Log1p(math.Exp(-math.Abs(x-y)))
	}, nil, nil)
	logaddexp2Op = pairs(func(x, y float64) float64 {
		if x == y && math.IsInf(x, 0) {
			return x
		}
		return max(x, y) + math.Log1p(math.Exp2(-math.Abs(x-y)))/math.Ln2
	}, nil, nil)
	ldexpOp = pairs(func(x, y float64) float64 { return x * math.Exp2(y) }, nil, nil)
	zetaOp  = pairs(zeta, nil, nil)
	powOp   = &elementwise{
		z2:     powComplex,
		recipe: narrowOnly(of2(recipes.Pow)),
		f64: func(d, a, b, _ []float64, _ *Params) {
			if !powConstant(d, a, b) {
				for i, x := range a {
					d[i] = math.Pow(x, b[i])
				}
			}
		},
		i64: func(d, a, b, _ []int64, _ *Params) {
			for i, x := range a {
				d[i] = powI64(x, b[i])
			}
		},
		u64: func(d, a, b, _ []uint64, _ *Params) {
			for i, x := range a {
				d[i] = powU64(x, b[i])
			}
		},
		heavy: true,
	}
	nextafterOp = &elementwise{
		f32: func(d, a, b, _ []float32, p *Params) {
			t := dtype.DType(p.N)
			for i, x := range a {
				if t == dtype.F32 {
					d[i] = math.Nextafter32(x, b[i])
				} else {
					d[i] = nextNarrow(t, x, b[i])
				}
			}
		},
		f64: func(d, a, b, _ []float64, _ *Params) {
			for i, x := range a {
				d[i] = math.Nextafter(x, b[i])
			}
		},
		prep: func(c *Call, p *Params) { p.N = int(c.Out[0].DType) },
	}
)

// xTimes makes x·f(y) with 0·anything = 0, but NaN where y is.
func xTimes(f func(float64) float64) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		switch {
		case y != y:
			return y
		case x == 0:
			return 0
		}
		return x * f(y)
	}
}

// powConstant handles an exponent that is the same for all elements and has a
// short way. Every short way is as exact as the long one.
func powConstant(d, a, b []float64) bool {
	y := b[0]
	switch y {
	case 2, 1, 0.5, -1:
	default:
		return false
	}
	for _, z := range b {
		if z != y {
			return false
		}
	}
	switch y {
	case 2:
		for i, x := range a {
			d[i] = x * x
		}
	case 1:
		copy(d, a)
	case 0.5:
		for i, x := range a {
			d[i] = math.Sqrt(x)
			if x == 0 || math.IsInf(x, -1) { // √-0 = -0, but (-0)^½ = 0, (-∞)^½ = ∞
				d[i] = math.Pow(x, 0.5)
			}
		}
	case -1:
		for i, x := range a {
			d[i] = 1 / x
		}
	}
	return true
}

// powI64 wraps; a negative exponent gives 0 except for the bases 1 and -1.
func powI64(x, y int64) int64 {
	if y < 0 {
		switch {
		case x == 1:
			return 1
		case x == -1 && y&1 == 0:
			return 1
		case x == -1:
			return -1
		}
		return 0
	}
	return int64(powU64(uint64(x), uint64(y)))
}

func powU64(x, y uint64) uint64 {
	r := uint64(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			r *= x
		}
		x *= x
	}
	return r
}

// nextNarrow is the neighbour of x toward y among the values of t.
func nextNarrow(t dtype.DType, x, y float32) float32 {
	switch {
	case x != x || y != y:
		return x + y
	case x == y:
		return y
	}
	if x == 0 {
		tiny := float32(t.Decode(1))
		if y < 0 {
			return -tiny
		}
		return tiny
	}
	code := t.Encode(float64(x))
	if (y > x) == (x > 0) {
		code++
	} else {
		code--
	}
	return float32(t.Decode(code))
}

// Pow computes a to the power of b.
func Pow(c *Call) error { return powOp.run(c) }

// Atan2 computes the angle of the point (b, a).
func Atan2(c *Call) error { return atan2Op.run(c) }

// Hypot computes √(a² + b²) without overflow.
func Hypot(c *Call) error { return hypotOp.run(c) }

// Xlogy computes a·log b, 0 where a is 0.
func Xlogy(c *Call) error { return xlogyOp.run(c) }

// Xlog1py computes a·log(1+b), 0 where a is 0.
func Xlog1py(c *Call) error { return xlog1pyOp.run(c) }

// LogAddExp computes log(eᵃ + eᵇ) without overflow.
func LogAddExp(c *Call) error { return logaddexpOp.run(c) }

// LogAddExp2 computes log₂(2ᵃ + 2ᵇ) without overflow.
func LogAddExp2(c *Call) error { return logaddexp2Op.run(c) }

// Ldexp computes a·2ᵇ.
func Ldexp(c *Call) error { return ldexpOp.run(c) }

// Zeta computes Hurwitz's zeta function Σ (b+k)^-a.
func Zeta(c *Call) error { return zetaOp.run(c) }

// Nextafter gives the neighbour of a toward b among the values of its type.
func Nextafter(c *Call) error { return nextafterOp.run(c) }
