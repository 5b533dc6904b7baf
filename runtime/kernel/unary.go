package kernel

import (
	"math"
	"math/cmplx"

	"github.com/tpush/tpush/runtime/jit"
)

// Operations of one operand that are exact or correctly rounded.

func loopNeg[T complexNumber](d, a, _, _ []T, _ *Params) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -a[i]
	}
}

func loopSquare[T complexNumber](d, a, _, _ []T, _ *Params) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] * a[i]
	}
}

func loopSame[T number | complexNumber](d, a, _, _ []T, _ *Params) { copy(d, a) }

func loopReciprocal[T complexNumber](d, a, _, _ []T, _ *Params) {
	a = a[:len(d)]
	for i := range d {
		d[i] = 1 / a[i]
	}
}

var (
	absOp        = &elementwise{recipe: absRecipe}
	negOp        = &elementwise{recipe: of1((*jit.Builder).Neg), c64: loopNeg[complex64], c128: loopNeg[complex128]}
	squareOp     = &elementwise{recipe: squareRecipe, c64: loopSquare[complex64], c128: loopSquare[complex128]}
	positiveOp   = &elementwise{recipe: sameRecipe, c64: loopSame[complex64], c128: loopSame[complex128]}
	reciprocalOp = &elementwise{recipe: reciprocalRecipe, c64: loopReciprocal[complex64], c128: loopReciprocal[complex128]}
	signOp       = &elementwise{recipe: signRecipe}
	bitNotOp     = &elementwise{recipe: notRecipe}
	sqrtOp       = &elementwise{recipe: of1((*jit.Builder).Sqrt), z: cmplx.Sqrt}
	rsqrtOp      = &elementwise{recipe: rsqrtRecipe, z: rsqrtComplex}
	ceilOp       = &elementwise{recipe: integral((*jit.Builder).Ceil)}
	floorOp      = &elementwise{recipe: integral((*jit.Builder).Floor)}
	truncOp      = &elementwise{recipe: integral((*jit.Builder).Trunc)}
	fracOp       = &elementwise{recipe: fracRecipe}
)

// light makes an operation of a cheap f64 function.
func light(f func(float64) float64) *elementwise {
	return &elementwise{
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

var roundOp = &elementwise{
	recipe: roundRecipe,
	prep: func(c *Call, p *Params) {
		n := c.Attrs.Int("decimals")
		p.F[0], p.F[1] = 1, 1
		if n >= 0 {
			p.F[0] = math.Pow10(n)
		} else {
			p.F[1] = math.Pow10(-n)
		}
	},
}

// Round rounds half to even, to attribute decimals.
func Round(c *Call) error { return roundOp.run(c) }

var nanToNumOp = &elementwise{
	recipe: nanToNumRecipe,
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

var angleOp = &elementwise{recipe: angleRecipe}

// Angle computes π below zero, 0 elsewhere; the angle of a complex number.
func Angle(c *Call) error {
	if isComplex(c) {
		return angleParts(c)
	}
	return angleOp.run(c)
}

// Questions.

// bit gives 1 for true.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

var (
	isNaNOp      = &predicate{recipe: isNaNRecipe}
	isInfOp      = &predicate{recipe: isInfRecipe}
	isFiniteOp   = &predicate{recipe: isFiniteRecipe}
	isPosInfOp   = &predicate{recipe: isEndRecipe(1)}
	isNegInfOp   = &predicate{recipe: isEndRecipe(-1)}
	signBitOp    = &predicate{recipe: signBitRecipe}
	logicalNotOp = &predicate{recipe: logicalNotRecipe}
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
