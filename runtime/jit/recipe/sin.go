package recipe

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
)

// Sine, cosine and tangent are computed in F64 and rounded once: x = n·π/2 + r
// with |r| ≤ π/4.

// The terms of sin r/r and cos r in r², highest first: to 2^-49 and 2^-53.
var (
	sinTerms = []float64{1. / 6227020800, -1. / 39916800, 1. / 362880, -1. / 5040, 1. / 120, -1. / 6, 1}
	cosTerms = []float64{-1. / 87178291200, 1. / 479001600, -1. / 3628800, 1. / 40320, -1. / 720, 1. / 24, -1. / 2, 1}
)

// π/2 in three parts; n times the first is exact below 2^27.
const (
	halfPiHigh = 0x1.921fb50000000p+0
	halfPiMid  = 0x1.110b4611a6263p-26
	halfPiLow  = 0x1.8a2e03707344ap-81
)

// round64 plus a small number rounds it to an integer, which stands in the low bits.
const round64 = 3 << 51

// A number of 24 bits from 2^27 on is an integer times 2^k, for the k of a range
// by its magnitude: it is then as many turns as that integer times the fraction
// of 2^k/2π, of which parts of 29 bits make exact products.
var turns = []struct {
	from, unscale float64
	fraction      [3]float64
}{
	{0x1p27, 0x1p-4, [3]float64{0x1.17cc1b7p-1, 0x1.3910548p-32, 0x1.3f84eafa3ea6ap-59}},
	{0x1p53, 0x1p-30, [3]float64{0x1.c9c882ap-1, 0x1.4fe13aap-31, 0x1.e8fa9a6ee06dbp-59}},
	{0x1p79, 0x1p-56, [3]float64{0x1.29fc274p-2, 0x1.7d1f534p-30, 0x1.bb81b6c52b328p-59}},
	{0x1p105, 0x1p-82, [3]float64{0x1.5f47d4cp-2, 0x1.377036dp-30, 0x1.14acc9e21c821p-59}},
}

// quarters splits an F64 with 24 significant bits: n stands in the low bits of t.
func quarters(b *builder, x value) (t, r value) {
	magic := b.F64(round64)
	t = b.FMA(x, b.F64(2/math.Pi), magic)
	n := b.Sub(t, magic)
	r = b.FNMA(n, b.F64(halfPiHigh), x)
	r = b.FNMA(n, b.F64(halfPiMid), r)
	r = b.FNMA(n, b.F64(halfPiLow), r)

	a := b.Abs(x)
	unscale, fraction := b.F64(turns[0].unscale), [3]value{}
	for i := range fraction {
		fraction[i] = b.F64(turns[0].fraction[i])
	}
	for _, o := range turns[1:] {
		far := b.Le(b.F64(o.from), a)
		unscale = b.Select(far, b.F64(o.unscale), unscale)
		for i := range fraction {
			fraction[i] = b.Select(far, b.F64(o.fraction[i]), fraction[i])
		}
	}
	y := b.Mul(x, unscale)
	f := [3]value{2: b.Mul(y, fraction[2])}
	for i := range 2 {
		p := b.Mul(y, fraction[i])
		f[i] = b.Sub(p, b.RoundEven(p))
	}
	far := b.FMA(b.Add(f[0], f[1]), b.F64(4), magic)
	m := b.Mul(b.Sub(far, magic), b.F64(0.25))
	turn := b.Add(b.Add(b.Sub(f[0], m), f[1]), f[2])
	large := b.Le(b.F64(turns[0].from), a)
	return b.Select(large, far, t), b.Select(large, b.Mul(turn, b.F64(2*math.Pi)), r)
}

// terms is Horner's scheme in F64.
func terms(b *builder, x value, c ...float64) value {
	p := b.F64(c[0])
	for _, k := range c[1:] {
		p = b.FMA(p, x, b.F64(k))
	}
	return p
}

// sinCos gives sin r and cos r.
func sinCos(b *builder, r value) (sin, cos value) {
	z := b.Mul(r, r)
	return b.Mul(r, terms(b, z, sinTerms...)), terms(b, z, cosTerms...)
}

// turned is the sine of x + quarter·π/2.
func turned(b *builder, x value, quarter int64) value {
	t, r := quarters(b, b.Convert(x, jit.F64))
	n := b.Add(b.Bits(t, jit.I64), b.I64(quarter))
	sin, cos := sinCos(b, r)
	y := b.Select(b.Eq(b.And(n, b.I64(1)), b.I64(0)), sin, cos)
	sign := b.Shl(b.And(n, b.I64(2)), 62)
	return b.Convert(b.Xor(y, b.Bits(sign, jit.F64)), jit.F32)
}

// Sin is the sine, within 0.51 units in the last place.
func Sin(b *builder, x value) value { return turned(b, x, 0) }

// Cos is the cosine, within 0.51 units in the last place.
func Cos(b *builder, x value) value { return turned(b, x, 1) }

// Tan is the tangent, within 0.51 units in the last place.
func Tan(b *builder, x value) value {
	t, r := quarters(b, b.Convert(x, jit.F64))
	sin, cos := sinCos(b, r)
	even := b.Eq(b.And(b.Bits(t, jit.I64), b.I64(1)), b.I64(0))
	return b.Convert(b.Div(b.Select(even, sin, b.Neg(cos)), b.Select(even, cos, sin)), jit.F32)
}
