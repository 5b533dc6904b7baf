package kernel

import "math"

// Operations of three operands, and bounds.

func loopWhere[T number | complexNumber](d, cond, a, b []T, _ *Params) {
	cond, a, b = cond[:len(d)], a[:len(d)], b[:len(d)]
	for i := range d {
		x := b[i]
		if cond[i] != 0 {
			x = a[i]
		}
		d[i] = x
	}
}

func loopMaskedFill[T number | complexNumber](d, a, mask, v []T, _ *Params) {
	for i, x := range a {
		if mask[i] != 0 {
			x = v[i]
		}
		d[i] = x
	}
}

// loopClamp takes builtin min and max: NaN, in x or in a bound, wins.
func loopClamp[T number](d, a, _, _ []T, p *Params) {
	lo, hi := param[T](p, 0), param[T](p, 1)
	a = a[:len(d)]
	for i := range d {
		d[i] = min(max(a[i], lo), hi)
	}
}

// loopClampBy has tensor bounds, either of which may be absent.
func loopClampBy[T number](d, a, lo, hi []T, _ *Params) {
	copy(d, a)
	if lo != nil {
		loopMax(d, d, lo, nil, nil)
	}
	if hi != nil {
		loopMin(d, d, hi, nil, nil)
	}
}

func loopLerp[T float32 | float64](d, a, b, w []T, _ *Params) {
	for i, x := range a {
		y, t := b[i], w[i]
		if t < 0.5 && t > -0.5 {
			d[i] = x + T(t*(y-x))
		} else { // exact at t = 1
			d[i] = y - T((y-x)*(1-t))
		}
	}
}

func loopAddcmul[T number](d, a, x, y []T, p *Params) {
	k := param[T](p, 0)
	for i, v := range a {
		d[i] = v + T(T(k*x[i])*y[i])
	}
}

func loopAddcdiv[T float32 | float64](d, a, x, y []T, p *Params) {
	k := param[T](p, 0)
	for i, v := range a {
		d[i] = v + T(k*x[i])/y[i]
	}
}

func prepValue(c *Call, p *Params) { p.number(0, c.Attrs.Get("value")) }

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
}

// loopClampU64 cannot take a negative bound, nor one above the greatest int64 as "none".
func loopClampU64(d, a, _, _ []uint64, p *Params) {
	lo, hi := uint64(max(p.I[0], 0)), uint64(max(p.I[1], 0))
	if p.I[1] == math.MaxInt64 {
		hi = math.MaxUint64
	}
	for i, x := range a {
		d[i] = min(max(x, lo), hi)
	}
}

var (
	whereOp      = elementwise{f32: loopWhere[float32], f64: loopWhere[float64], i64: loopWhere[int64], u64: loopWhere[uint64], c64: loopWhere[complex64], c128: loopWhere[complex128]}
	maskedFillOp = elementwise{f32: loopMaskedFill[float32], f64: loopMaskedFill[float64], i64: loopMaskedFill[int64], u64: loopMaskedFill[uint64], c64: loopMaskedFill[complex64], c128: loopMaskedFill[complex128]}
	clampOp      = elementwise{f32: loopClamp[float32], f64: loopClamp[float64], i64: loopClamp[int64], u64: loopClampU64, prep: prepBounds}
	clampByOp    = elementwise{f32: loopClampBy[float32], f64: loopClampBy[float64], i64: loopClampBy[int64], u64: loopClampBy[uint64]}
	lerpOp       = elementwise{wide: true, f32: loopLerp[float32], f64: loopLerp[float64]}
	addcmulOp    = elementwise{f32: loopAddcmul[float32], f64: loopAddcmul[float64], i64: loopAddcmul[int64], u64: loopAddcmul[uint64], prep: prepValue}
	addcdivOp    = elementwise{f32: loopAddcdiv[float32], f64: loopAddcdiv[float64], prep: prepValue}
)

// Where chooses a where cond is not zero, else b.
func Where(c *Call) error { return whereOp.run(c) }

// MaskedFill replaces a by the third operand where the mask is not zero.
func MaskedFill(c *Call) error { return maskedFillOp.run(c) }

// Clamp limits a to [min, max], attributes; NaN stays, and a NaN bound makes NaN.
func Clamp(c *Call) error { return clampOp.run(c) }

// ClampBy limits a to [b, e], tensors of which one may be absent.
func ClampBy(c *Call) error { return clampByOp.run(c) }

// Lerp computes a + e·(b - a).
func Lerp(c *Call) error { return lerpOp.run(c) }

// Addcmul computes a + value·b·e.
func Addcmul(c *Call) error { return addcmulOp.run(c) }

// Addcdiv computes a + value·b/e.
func Addcdiv(c *Call) error { return addcdivOp.run(c) }
