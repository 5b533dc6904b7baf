package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/jit"
)

// Recipes of quotients and remainders: floats of 32 bits and fewer in F64, where
// they are exact, and 32-bit integers. Others keep their loops.

// modulus gives the remainder of a division toward zero of two F64 with 24
// significant bits, as math.Mod does. A quotient has up to 277 bits and is taken
// away 52 of them at a time: each product and difference is exact.
func (e *expr) modulus(x, y jit.Value) jit.Value {
	zero := e.F64(0)
	a, c := e.Abs(x), e.Abs(y)
	r, inverse := a, e.Div(e.F64(1), c)
	for range 6 {
		r = e.FNMA(e.Trunc(e.Mul(r, inverse)), c, r)
	}
	r = e.Select(e.Lt(r, zero), e.Add(r, c), r) // the inverse was too large
	r = e.Select(e.Le(c, r), e.Sub(r, c), r)
	r = e.Select(e.Eq(c, e.F64(math.Inf(1))), e.Add(a, e.Sub(a, a)), r)
	return e.CopySign(r, e.Canon(x))
}

// quotientOf gives the truncated quotient of two I32; by zero it is -1.
func (e *expr) quotientOf(x, y jit.Value) jit.Value {
	q := e.Convert(e.Div(e.Convert(x, jit.F64), e.Convert(y, jit.F64)), jit.I32)
	q = e.Select(e.Eq(y, e.I32(-1)), e.Neg(x), q) // the least integer has no opposite
	return e.Select(e.Eq(y, e.I32(0)), e.I32(-1), q)
}

// opposed says whether rounding down differs from rounding toward zero: there is
// a remainder, of another sign than y.
func (e *expr) opposed(r, y jit.Value) jit.Value {
	zero := e.Const(e.Type(r), 0)
	return e.And(e.Ne(r, zero), e.Xor(e.Lt(r, zero), e.Lt(y, zero)))
}

// overFloats is a recipe of f for F32, which gets and gives F64, and of i for I32.
func overFloats(f, i func(e *expr, x, y jit.Value) jit.Value) recipe {
	return func(e *expr) jit.Value {
		switch e.t {
		case jit.F32:
			return e.Convert(f(e, e.Convert(e.x(0), jit.F64), e.Convert(e.x(1), jit.F64)), jit.F32)
		case jit.I32:
			return i(e, e.x(0), e.x(1))
		}
		return 0
	}
}

// rest is x less q times y, and x where y is 0.
func (e *expr) rest(x, y, q jit.Value) jit.Value {
	return e.Select(e.Eq(y, e.I32(0)), x, e.Sub(x, e.Mul(q, y)))
}

var (
	fmodRecipe = overFloats((*expr).modulus, func(e *expr, x, y jit.Value) jit.Value { return e.rest(x, y, e.quotientOf(x, y)) })

	remainderRecipe = overFloats(func(e *expr, x, y jit.Value) jit.Value {
		r := e.modulus(x, y)
		return e.Select(e.opposed(r, y), e.Add(r, y), r)
	}, func(e *expr, x, y jit.Value) jit.Value {
		r := e.rest(x, y, e.quotientOf(x, y))
		return e.Select(e.And(e.Ne(y, e.I32(0)), e.opposed(r, y)), e.Add(r, y), r)
	})

	floorDivRecipe = overFloats(func(e *expr, x, y jit.Value) jit.Value {
		r, zero := e.modulus(x, y), e.F64(0)
		d := e.Div(e.Sub(x, r), y)
		d = e.Select(e.opposed(r, y), e.Sub(d, e.F64(1)), d)
		f := e.Floor(d)
		f = e.Select(e.Lt(e.F64(0.5), e.Sub(d, f)), e.Add(f, e.F64(1)), f)
		quotient := e.Div(x, y)
		f = e.Select(e.Eq(d, zero), e.CopySign(zero, e.Canon(quotient)), f)
		return e.Select(e.Eq(y, zero), quotient, f)
	}, func(e *expr, x, y jit.Value) jit.Value {
		q := e.quotientOf(x, y)
		down := e.And(e.Ne(y, e.I32(0)), e.opposed(e.rest(x, y, q), y))
		return e.Select(down, e.Sub(q, e.I32(1)), q)
	})
)
