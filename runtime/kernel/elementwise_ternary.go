package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
)

// Operations of three operands, and bounds.

func loopWhere[T complexNumber](d, cond, a, b []T, _ *Params) {
	cond, a, b = cond[:len(d)], a[:len(d)], b[:len(d)]
	for i := range d {
		x := b[i]
		if cond[i] != 0 {
			x = a[i]
		}
		d[i] = x
	}
}

func loopMaskedFill[T complexNumber](d, a, mask, v []T, _ *Params) {
	for i, x := range a {
		if mask[i] != 0 {
			x = v[i]
		}
		d[i] = x
	}
}

func prepValue(c *Call, p *Params) { p.number(0, c.Attrs.Get("value")) }

// A limit is what is known of a bound beforehand; a clamp is a program for each.
type limit uint8

const (
	noLimit     limit = iota // absent or infinite
	zeroLimit                // +0
	numberLimit              // neither zero nor NaN in f32
	anyLimit
	numLimits
)

// limitOf looks at an attribute; free is the infinity that binds nothing.
func limitOf(a Attrs, name string, free float64) limit {
	if !a.Has(name) {
		return noLimit
	}
	var p Params
	p.number(0, a.Get(name))
	x := p.F[0]
	switch {
	case x == free:
		return noLimit
	case x == 0 && !math.Signbit(x):
		return zeroLimit
	case x == x && float32(x) != 0:
		return numberLimit
	}
	return anyLimit
}

// clamps are the variants of a clamp by its lower and its upper limit.
type clamps [numLimits][numLimits]*elementwise

func clampsOf(prep func(*Call, *Params)) *clamps {
	var c clamps
	for lo := range numLimits {
		for hi := range numLimits {
			c[lo][hi] = &elementwise{recipe: clampRecipe(lo, hi), prep: prep}
		}
	}
	return &c
}

// of chooses by the attributes of these names.
func (c *clamps) of(a Attrs, lo, hi string) *elementwise {
	return c[limitOf(a, lo, math.Inf(-1))][limitOf(a, hi, math.Inf(1))]
}

// prepBounds reads min and max; an infinite or absent one is no bound.
func prepBounds(c *Call, p *Params) {
	p.number(0, c.Attrs.Get("min"))
	p.number(1, c.Attrs.Get("max"))
	if !c.Attrs.Has("min") || math.IsInf(p.F[0], -1) {
		p.F[0], p.I[0] = math.Inf(-1), math.MinInt64
	}
	if !c.Attrs.Has("max") || math.IsInf(p.F[1], 1) {
		p.F[1], p.I[1] = math.Inf(1), math.MaxInt64
	}
	if c.Out[0].DType == dtype.U64 { // compared without sign
		p.I[0], p.I[1] = max(p.I[0], 0), max(p.I[1], 0)
		if p.I[1] == math.MaxInt64 {
			p.I[1] = -1
		}
	}
}

var (
	whereOp      = &elementwise{recipe: whereRecipe, c64: loopWhere[complex64], c128: loopWhere[complex128]}
	maskedFillOp = &elementwise{recipe: maskedFillRecipe, c64: loopMaskedFill[complex64], c128: loopMaskedFill[complex128]}
	clampOps     = clampsOf(prepBounds)
	clampByOp    = &elementwise{recipe: clampByRecipe}
	lerpOp       = &elementwise{wide: true, recipe: lerpRecipe}
	addcmulOp    = &elementwise{recipe: addcmulRecipe, prep: prepValue}
	addcdivOp    = &elementwise{recipe: addcdivRecipe, prep: prepValue}
)

// Where chooses a where cond is not zero, else b.
func Where(c *Call) error { return whereOp.run(c) }

// MaskedFill replaces a by the third operand where the mask is not zero.
func MaskedFill(c *Call) error { return maskedFillOp.run(c) }

// Clamp limits a to [min, max], attributes; NaN stays, and a NaN bound makes NaN.
func Clamp(c *Call) error { return clampOps.of(c.Attrs, "min", "max").run(c) }

// ClampBy limits a to [b, e], tensors of which one may be absent.
func ClampBy(c *Call) error { return clampByOp.run(c) }

// Lerp computes a + e·(b - a).
func Lerp(c *Call) error { return lerpOp.run(c) }

// Addcmul computes a + value·b·e.
func Addcmul(c *Call) error { return addcmulOp.run(c) }

// Addcdiv computes a + value·b/e.
func Addcdiv(c *Call) error { return addcdivOp.run(c) }
