package kernel

import (
	"math"
	"math/cmplx"
)

// Operations of one operand that are exact or correctly rounded.

func loopNeg[T number | complexNumber](d, a, _, _ []T, _ *Params) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -a[i]
	}
}

func loopSquare[T number | complexNumber](d, a, _, _ []T, _ *Params) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] * a[i]
	}
}

func loopSame[T number | complexNumber](d, a, _, _ []T, _ *Params) { copy(d, a) }

func loopReciprocal[T float32 | float64 | complexNumber](d, a, _, _ []T, _ *Params) {
	a = a[:len(d)]
	for i := range d {
		d[i] = 1 / a[i]
	}
}

func loopSign[T number](d, a, _, _ []T, _ *Params) {
	for i, x := range a {
		switch {
		case x > 0:
			d[i] = 1
		case x < 0:
			d[i] = 0
			d[i]--
		default: // PyTorch's sign of NaN is 0
			d[i] = 0
		}
	}
}

func loopNot[T uint64 | int64](d, a, _, _ []T, _ *Params) {
	for i, x := range a {
		d[i] = ^x
	}
}

var (
	absOp = elementwise{
		f32: func(d, a, _, _ []float32, _ *Params) {
			a = a[:len(d)]
			for i := range d {
				d[i] = math.Float32frombits(math.Float32bits(a[i]) &^ (1 << 31))
			}
		},
		f64: func(d, a, _, _ []float64, _ *Params) {
			for i, x := range a {
				d[i] = math.Abs(x)
			}
		},
		i64: func(d, a, _, _ []int64, _ *Params) {
			for i, x := range a {
				d[i] = max(x, -x) // the least integer stays
			}
		},
		u64: loopSame[uint64],
	}
	negOp        = elementwise{f32: loopNeg[float32], f64: loopNeg[float64], i64: loopNeg[int64], u64: loopNeg[uint64], c64: loopNeg[complex64], c128: loopNeg[complex128]}
	squareOp     = elementwise{f32: loopSquare[float32], f64: loopSquare[float64], i64: loopSquare[int64], u64: loopSquare[uint64], c64: loopSquare[complex64], c128: loopSquare[complex128]}
	positiveOp   = elementwise{f32: loopSame[float32], f64: loopSame[float64], i64: loopSame[int64], u64: loopSame[uint64], c64: loopSame[complex64], c128: loopSame[complex128]}
	reciprocalOp = elementwise{f32: loopReciprocal[float32], f64: loopReciprocal[float64], c64: loopReciprocal[complex64], c128: loopReciprocal[complex128]}
	signOp       = elementwise{f32: loopSign[float32], f64: loopSign[float64], i64: loopSign[int64], u64: loopSign[uint64]}
	bitNotOp     = elementwise{i64: loopNot[int64], u64: loopNot[uint64], bit: func(d, a, _, _ []uint64, _ *Params) {
		for i, x := range a {
			d[i] = x ^ 1
		}
	}}
	sqrtOp = elementwise{
		z: cmplx.Sqrt,
		f32: func(d, a, _, _ []float32, _ *Params) {
			a = a[:len(d)]
			for i := range d {
				d[i] = float32(math.Sqrt(float64(a[i]))) // one rounding: the compiler emits SQRTSS
			}
		},
		f64: func(d, a, _, _ []float64, _ *Params) {
			for i, x := range a {
				d[i] = math.Sqrt(x)
			}
		},
	}
	rsqrtOp = elementwise{
		z: rsqrtComplex,
		f32: func(d, a, _, _ []float32, _ *Params) {
			for i, x := range a {
				d[i] = float32(1 / math.Sqrt(float64(x)))
			}
		},
		f64: func(d, a, _, _ []float64, _ *Params) {
			for i, x := range a {
				d[i] = 1 / math.Sqrt(x)
			}
		},
	}
	ceilOp  = integral(math.Ceil)
	floorOp = integral(math.Floor)
	truncOp = integral(math.Trunc)
	fracOp  = light(func(x float64) float64 {
		if math.IsInf(x, 0) {
			return math.NaN()
		}
		return x - math.Trunc(x)
	})
)

// light makes an operation of a cheap f64 function.
func light(f func(float64) float64) elementwise {
	return elementwise{
		f32: func(d, a, _, _ []float32, _ *Params) {
			a = a[:len(d)]
			for i := range d {
				d[i] = float32(f(float64(a[i])))
			}
		},
		f64: func(d, a, _, _ []float64, _ *Params) {
			a = a[:len(d)]
			for i := range d {
				d[i] = f(a[i])
			}
		},
	}
}

// integral makes an operation that leaves integers as they are.
func integral(f func(float64) float64) elementwise {
	o := light(f)
	o.i64, o.u64 = loopSame[int64], loopSame[uint64]
	return o
}

// Abs computes |x|; the most negative integer stays what it is.
func Abs(c *Call) error {
	if isComplex(c) {
		return absParts(c)
	}
	return absOp.run(c)
}

// Neg computes -x.
func Neg(c *Call) error { return negOp.run(c) }

// Square computes x·x.
func Square(c *Call) error { return squareOp.run(c) }

// Positive copies.
func Positive(c *Call) error { return positiveOp.run(c) }

// Reciprocal computes 1/x.
func Reciprocal(c *Call) error { return reciprocalOp.run(c) }

// Sign computes -1, 0 or 1; 0 for NaN.
func Sign(c *Call) error { return signOp.run(c) }

// BitwiseNot flips all bits; it negates a bool.
func BitwiseNot(c *Call) error { return bitNotOp.run(c) }

// Sqrt computes the square root, correctly rounded.
func Sqrt(c *Call) error { return sqrtOp.run(c) }

// Rsqrt computes 1/√x.
func Rsqrt(c *Call) error { return rsqrtOp.run(c) }

// Ceil rounds up.
func Ceil(c *Call) error { return ceilOp.run(c) }

// Floor rounds down.
func Floor(c *Call) error { return floorOp.run(c) }

// Trunc rounds toward zero.
func Trunc(c *Call) error { return truncOp.run(c) }

// Frac computes x - trunc(x).
func Frac(c *Call) error { return fracOp.run(c) }

var roundOp = elementwise{
	f32: func(d, a, _, _ []float32, p *Params) {
		for i, x := range a {
			d[i] = float32(roundDecimals(float64(x), p))
		}
	},
	f64: func(d, a, _, _ []float64, p *Params) {
		for i, x := range a {
			d[i] = roundDecimals(x, p)
		}
	},
	i64: loopSame[int64], u64: loopSame[uint64],
	prep: func(c *Call, p *Params) {
		n := c.Attrs.Int("decimals")
		p.I[0], p.F[0] = int64(n), math.Pow10(max(n, -n))
	},
}

func roundDecimals(x float64, p *Params) float64 {
	switch {
	case p.I[0] == 0:
		return math.RoundToEven(x)
	case p.I[0] > 0:
		return math.RoundToEven(x*p.F[0]) / p.F[0]
	}
	return math.RoundToEven(x/p.F[0]) * p.F[0]
}

// Round rounds half to even, to attribute decimals.
func Round(c *Call) error { return roundOp.run(c) }

var nanToNumOp = elementwise{
	f32: func(d, a, _, _ []float32, p *Params) {
		nan, hi, lo := float32(p.F[0]), float32(p.F[1]), float32(p.F[2])
		for i, x := range a {
			switch {
			case x != x:
				x = nan
			case x > math.MaxFloat32:
				x = hi
			case x < -math.MaxFloat32:
				x = lo
			}
			d[i] = x
		}
	},
	f64: func(d, a, _, _ []float64, p *Params) {
		for i, x := range a {
			switch {
			case x != x:
				x = p.F[0]
			case x > math.MaxFloat64:
				x = p.F[1]
			case x < -math.MaxFloat64:
				x = p.F[2]
			}
			d[i] = x
		}
	},
	i64: loopSame[int64], u64: loopSame[uint64],
	prep: func(c *Call, p *Params) {
		p.F[0], p.F[1], p.F[2] = c.Attrs.Float("nan"), c.Attrs.Float("posinf"), c.Attrs.Float("neginf")
		t := c.Out[0].DType
		if p.F[1] != p.F[1] {
			p.F[1] = t.Max()
		}
		if p.F[2] != p.F[2] {
			p.F[2] = t.Lowest()
		}
	},
}

// NanToNum replaces NaN and infinities by attributes nan, posinf and neginf;
// a NaN there stands for the largest or least finite value of the type.
func NanToNum(c *Call) error { return nanToNumOp.run(c) }

var angleOp = light(func(x float64) float64 {
	switch {
	case x < 0:
		return math.Pi
	case x != x:
		return x
	}
	return 0
})

// Angle computes π below zero, 0 elsewhere; the angle of a complex number.
func Angle(c *Call) error {
	if isComplex(c) {
		return angleParts(c)
	}
	return angleOp.run(c)
}

// Questions.

// ask makes a predicate of a question about an f64; integers are converted.
func ask(f func(float64) bool) predicate {
	return predicate{
		f32: func(d []uint8, a, _, _ []float32, _ *Params) {
			for i, x := range a {
				d[i] = bit(f(float64(x)))
			}
		},
		f64: func(d []uint8, a, _, _ []float64, _ *Params) {
			for i, x := range a {
				d[i] = bit(f(x))
			}
		},
		i64: func(d []uint8, a, _, _ []int64, _ *Params) {
			for i, x := range a {
				d[i] = bit(f(float64(x)))
			}
		},
		u64: func(d []uint8, a, _, _ []uint64, _ *Params) {
			for i, x := range a {
				d[i] = bit(f(float64(x)))
			}
		},
	}
}

// bit gives 1 for true.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

var (
	isNaNOp      = ask(func(x float64) bool { return x != x })
	isInfOp      = ask(func(x float64) bool { return math.IsInf(x, 0) })
	isFiniteOp   = ask(func(x float64) bool { return x-x == 0 })
	isPosInfOp   = ask(func(x float64) bool { return math.IsInf(x, 1) })
	isNegInfOp   = ask(func(x float64) bool { return math.IsInf(x, -1) })
	signBitOp    = ask(math.Signbit)
	logicalNotOp = ask(func(x float64) bool { return x == 0 })
)

// IsNaN asks x ≠ x.
func IsNaN(c *Call) error {
	if isComplex(c) {
		return askParts(c, func(re, im float64) bool { return re != re || im != im })
	}
	return isNaNOp.run(c)
}

// IsInf asks whether x is an infinity.
func IsInf(c *Call) error {
	if isComplex(c) {
		return askParts(c, func(re, im float64) bool { return math.IsInf(re, 0) || math.IsInf(im, 0) })
	}
	return isInfOp.run(c)
}

// IsFinite asks whether x is neither infinite nor NaN.
func IsFinite(c *Call) error {
	if isComplex(c) {
		return askParts(c, func(re, im float64) bool { return re-re == 0 && im-im == 0 })
	}
	return isFiniteOp.run(c)
}

// IsPosInf asks x = +∞.
func IsPosInf(c *Call) error { return isPosInfOp.run(c) }

// IsNegInf asks x = -∞.
func IsNegInf(c *Call) error { return isNegInfOp.run(c) }

// SignBit asks whether the sign bit is set, -0 included.
func SignBit(c *Call) error { return signBitOp.run(c) }

// LogicalNot asks x = 0.
func LogicalNot(c *Call) error {
	if isComplex(c) {
		return askParts(c, func(re, im float64) bool { return re == 0 && im == 0 })
	}
	return logicalNotOp.run(c)
}
