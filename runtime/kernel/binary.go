package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// Operations of two operands that are exact or correctly rounded.

func loopAdd[T complexNumber](d, a, b, _ []T, _ *Params) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func loopSub[T complexNumber](d, a, b, _ []T, _ *Params) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func loopMul[T complexNumber](d, a, b, _ []T, _ *Params) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func loopDiv[T complexNumber](d, a, b, _ []T, _ *Params) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] / b[i]
	}
}

var (
	addOp     = &elementwise{short: shortAdd, recipe: of2((*jit.Builder).Add), c64: loopAdd[complex64], c128: loopAdd[complex128]}
	subOp     = &elementwise{short: shortSub, recipe: of2((*jit.Builder).Sub), c64: loopSub[complex64], c128: loopSub[complex128]}
	mulOp     = &elementwise{wide: true, short: shortMul, recipe: of2((*jit.Builder).Mul), c64: loopMul[complex64], c128: loopMul[complex128]}
	divOp     = &elementwise{wide: true, short: shortDiv, recipe: floatOf2((*jit.Builder).Div), c64: loopDiv[complex64], c128: loopDiv[complex128]}
	maximumOp = &elementwise{recipe: maxRecipe}
	minimumOp = &elementwise{recipe: minRecipe}
	fmaxOp    = &elementwise{recipe: fmaxRecipe}
	fminOp    = &elementwise{recipe: fminRecipe}
)

// scaled is a + alpha·b and its relatives: signs and order in alpha and flip.
var (
	addScaledOp  = &elementwise{recipe: addScaledRecipe, prep: prepAlpha}
	subScaledOp  = &elementwise{recipe: subScaledRecipe, prep: prepAlpha}
	rsubScaledOp = &elementwise{recipe: rsubScaledRecipe, prep: prepAlpha}
)

func prepAlpha(c *Call, p *Params) { p.number(0, c.Attrs.Get("alpha")) }

// number stores a Go number in slot i, as float and as integer.
func (p *Params) number(i int, v any) {
	switch v := v.(type) {
	case float64:
		p.F[i], p.I[i] = v, truncateI64(v)
	case int:
		p.F[i], p.I[i] = float64(v), int64(v)
	case bool:
		p.I[i] = int64(bit(v))
		p.F[i] = float64(p.I[i])
	}
}

// one says whether attribute alpha is absent or 1.
func one(c *Call) bool {
	switch v := c.Attrs.Get("alpha").(type) {
	case float64:
		return v == 1
	case int:
		return v == 1
	case bool:
		return v
	}
	return true
}

// Add computes a + alpha·b; the logical or of bools.
func Add(c *Call) error {
	if one(c) {
		return addOp.run(c)
	}
	if c.Out[0].DType.IsComplex() {
		return addOp.run(scaledOperand(c, 1))
	}
	return addScaledOp.run(c)
}

// Sub computes a - alpha·b.
func Sub(c *Call) error {
	if one(c) {
		return subOp.run(c)
	}
	if c.Out[0].DType.IsComplex() {
		return subOp.run(scaledOperand(c, 1))
	}
	return subScaledOp.run(c)
}

// Rsub computes b - alpha·a.
func Rsub(c *Call) error { return rsubScaledOp.run(c) }

// Mul computes a·b.
func Mul(c *Call) error { return mulOp.run(c) }

// Div computes a/b; attribute rounding_mode trunc or floor rounds the quotient.
func Div(c *Call) error {
	switch c.Attrs.Str("rounding_mode") {
	case "trunc":
		return divTruncOp.run(c)
	case "floor":
		return FloorDivide(c)
	}
	return divOp.run(c)
}

// Maximum computes the larger; NaN wins.
func Maximum(c *Call) error { return maximumOp.run(c) }

// Minimum computes the smaller; NaN wins.
func Minimum(c *Call) error { return minimumOp.run(c) }

// FMax computes the larger; a number wins against NaN.
func FMax(c *Call) error { return fmaxOp.run(c) }

// FMin computes the smaller; a number wins against NaN.
func FMin(c *Call) error { return fminOp.run(c) }

// Division of integers. By zero it follows the TPU: the quotient is -1 (all
// bits set) and the remainder the dividend.

func truncDivI64(x, y int64) int64 {
	if y == 0 {
		return -1
	}
	return x / y
}

func floorDivI64(x, y int64) int64 {
	if y == 0 {
		return -1
	}
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

func divU64(x, y uint64) uint64 {
	if y == 0 {
		return math.MaxUint64
	}
	return x / y
}

func floorModI64(x, y int64) int64 {
	if y == 0 {
		return x
	}
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

func truncModI64(x, y int64) int64 {
	if y == 0 {
		return x
	}
	return x % y
}

func modU64(x, y uint64) uint64 {
	if y == 0 {
		return x
	}
	return x % y
}

// floorDiv is Python's: the floor of the exact quotient, which the rounded quotient's floor is not.
func floorDiv(x, y float64) float64 {
	if y == 0 {
		return x / y
	}
	mod := math.Mod(x, y)
	div := (x - mod) / y
	if mod != 0 && (y < 0) != (mod < 0) {
		div--
	}
	if div == 0 {
		return math.Copysign(0, x/y)
	}
	f := math.Floor(div)
	if div-f > 0.5 {
		f++
	}
	return f
}

// floorMod has the sign of y.
func floorMod(x, y float64) float64 {
	mod := math.Mod(x, y)
	if mod != 0 && (y < 0) != (mod < 0) {
		mod += y
	}
	return mod
}

// pairs makes an operation of f64, i64 and u64 functions; f32 is computed in f64.
func pairs(f func(x, y float64) float64, i func(x, y int64) int64, u func(x, y uint64) uint64) *elementwise {
	o := new(elementwise)
	if f != nil {
		o.f32 = func(d, a, b, _ []float32, _ *Params) {
			a, b = a[:len(d)], b[:len(d)]
			for k := range d {
				d[k] = float32(f(float64(a[k]), float64(b[k])))
			}
		}
		o.f64 = func(d, a, b, _ []float64, _ *Params) {
			a, b = a[:len(d)], b[:len(d)]
			for k := range d {
				d[k] = f(a[k], b[k])
			}
		}
	}
	if i != nil {
		o.i64 = func(d, a, b, _ []int64, _ *Params) {
			a, b = a[:len(d)], b[:len(d)]
			for k := range d {
				d[k] = i(a[k], b[k])
			}
		}
	}
	if u != nil {
		o.u64 = func(d, a, b, _ []uint64, _ *Params) {
			a, b = a[:len(d)], b[:len(d)]
			for k := range d {
				d[k] = u(a[k], b[k])
			}
		}
	}
	o.heavy = true
	return o
}

var (
	divTruncOp = &elementwise{
		f32: func(d, a, b, _ []float32, p *Params) {
			t := dtype.DType(p.N) // the quotient rounds before it is cut
			for i, x := range a {
				d[i] = float32(math.Trunc(float64(t.RoundF32(x / b[i]))))
			}
		},
		f64: func(d, a, b, _ []float64, _ *Params) {
			for i, x := range a {
				d[i] = math.Trunc(x / b[i])
			}
		},
		i64: pairs(nil, truncDivI64, nil).i64,
		u64: pairs(nil, nil, divU64).u64,
		prep: func(c *Call, p *Params) {
			p.N = int(c.Out[0].DType)
			if len(c.In[1].Dims) == 0 { // a number divides in f32
				p.N = int(dtype.F32)
			}
		},
	}
	floorDivOp  = pairs(floorDiv, floorDivI64, divU64).known(floorDivRecipe)
	remainderOp = pairs(floorMod, floorModI64, modU64).known(remainderRecipe)
	fmodOp      = pairs(math.Mod, truncModI64, modU64).known(fmodRecipe)
	gcdOp       = pairs(nil, func(x, y int64) int64 { return int64(gcd(magnitude(x), magnitude(y))) }, gcd)
	lcmOp       = pairs(nil, func(x, y int64) int64 { return int64(lcm(magnitude(x), magnitude(y))) }, lcm)
	copysignOp  = &elementwise{recipe: floatOf2((*jit.Builder).CopySign)}
	heavisideOp = &elementwise{recipe: heavisideRecipe}
)

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func gcd(x, y uint64) uint64 {
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

func lcm(x, y uint64) uint64 {
	if x == 0 || y == 0 {
		return 0
	}
	return x / gcd(x, y) * y
}

// FloorDivide computes floor(a/b) of the exact quotient.
func FloorDivide(c *Call) error { return floorDivOp.run(c) }

// Remainder computes a - b·floor(a/b): it has the sign of b.
func Remainder(c *Call) error { return remainderOp.run(c) }

// FMod computes a - b·trunc(a/b): it has the sign of a.
func FMod(c *Call) error { return fmodOp.run(c) }

// GCD computes the greatest common divisor, not negative.
func GCD(c *Call) error { return gcdOp.run(c) }

// LCM computes the least common multiple, not negative.
func LCM(c *Call) error { return lcmOp.run(c) }

// Copysign gives a the sign of b.
func Copysign(c *Call) error { return copysignOp.run(c) }

// Heaviside is 0 below zero, 1 above, b at zero.
func Heaviside(c *Call) error { return heavisideOp.run(c) }

// Bits.

var (
	andOp = &elementwise{recipe: of2((*jit.Builder).And)}
	orOp  = &elementwise{recipe: of2((*jit.Builder).Or)}
	xorOp = &elementwise{recipe: of2((*jit.Builder).Xor)}
	shlOp = &elementwise{recipe: of2((*jit.Builder).ShlV)}
	shrOp = &elementwise{recipe: shrRecipe}
)

// BitwiseAnd computes a & b.
func BitwiseAnd(c *Call) error { return andOp.run(c) }

// BitwiseOr computes a | b.
func BitwiseOr(c *Call) error { return orOp.run(c) }

// BitwiseXor computes a ^ b.
func BitwiseXor(c *Call) error { return xorOp.run(c) }

// ShiftLeft computes a << b; 0 for counts that are negative or at least the width.
func ShiftLeft(c *Call) error { return shlOp.run(c) }

// ShiftRight computes a >> b, arithmetically; the sign for counts that are negative or at least the width.
func ShiftRight(c *Call) error { return shrOp.run(c) }
