package recipe

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
)

// expTerms is eʳ, within 2^-46 for |r| ≤ ½·log 2.
var expTerms = []float64{1. / 39916800, 1. / 3628800, 1. / 362880, 1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1}

// exp264 is 2ᶻ in F64, for z within ±1000.
func exp264(b *builder, z value) value {
	magic := b.F64(round64)
	t := b.Add(z, magic)
	r := b.Mul(b.Sub(z, b.Sub(t, magic)), b.F64(math.Ln2))
	power := b.Shl(b.Add(b.Bits(t, jit.I64), b.I64(1023)), 52)
	return b.Mul(terms(b, r, expTerms...), b.Bits(power, jit.F64))
}

// Pow is xʸ, computed in F64 and rounded once: within 0.51 units in the last
// place, squares as a product. The special cases are those of C.
func Pow(b *builder, x, y value) value {
	zero, one, inf := b.F64(0), b.F64(1), b.F64(math.Inf(1))
	a, k := b.Abs(b.Convert(x, jit.F64)), b.Convert(y, jit.F64)
	l := b.Mul(log64(b, a), b.F64(math.Log2E))
	l = b.Select(b.Eq(a, zero), b.F64(math.Inf(-1)), b.Select(b.Lt(a, inf), l, a)) // NaN stays
	z := b.Select(b.Eq(a, one), zero, b.Mul(k, l))
	r := b.Convert(exp264(b, b.AtMost(b.AtLeast(z, b.F64(-400)), b.F64(400))), jit.F32)

	half := b.Mul(y, b.F32(0.5))
	whole := b.Eq(b.RoundEven(y), y)
	odd := b.And(whole, b.Ne(b.RoundEven(half), half))
	negative := b.Lt(b.Bits(b.Canon(x), jit.I32), b.I32(0))
	sign := b.And(b.MaskBits(b.And(odd, negative), jit.I32), b.I32(-1<<31))
	r = b.Xor(r, b.Bits(sign, jit.F32))
	root := b.And(b.And(b.Lt(x, b.F32(0)), b.Lt(b.Abs(x), b.F32(float32(math.Inf(1))))), b.Not(whole))
	r = b.Select(root, b.F32(float32(math.NaN())), r)
	r = b.Select(b.Eq(y, b.F32(2)), b.Mul(x, x), r)
	return b.Select(b.Eq(y, b.F32(0)), b.F32(1), r)
}
