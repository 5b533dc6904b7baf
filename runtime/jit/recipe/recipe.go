// Package recipe writes the functions of mathematics as operations of a jit
// program: each is written once, and what runs it (interpreter, machine code,
// one operation alone or forty of them fused) does not change a bit.
//
// It computes nothing itself. It imports jit alone. Invariant: every function
// takes and gives F32 values unless its comment says otherwise, follows IEEE 754
// and C's conventions for NaN, infinities and signed zeros, and stays within 1.5
// units of the last place of the exact result where its comment names no other
// bound.
package recipe

import "github.com/tpush/tpush/runtime/jit"

type (
	builder = jit.Builder
	value   = jit.Value
)

// poly is Horner's scheme c[0]·x^n + … + c[n], one FMA a coefficient.
func poly(b *builder, x value, c ...float32) value {
	p := b.F32(c[0])
	for _, k := range c[1:] {
		p = b.FMA(p, x, b.F32(k))
	}
	return p
}

// signed gives y ≥ 0 the sign of x.
func signed(b *builder, y, x value) value {
	return b.Or(y, b.And(x, b.Bits(b.I32(-1<<31), jit.F32)))
}

// clamp limits x to [lo, hi]; NaN stays.
func clamp(b *builder, x value, lo, hi float32) value {
	return b.Min(b.Max(x, b.F32(lo)), b.F32(hi))
}
