package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// Recipes of the elementwise operations that are exact or correctly rounded.
// Those of transcendental functions are in package recipe.

// of1 makes a recipe of an operation of one operand.
func of1(f func(b *jit.Builder, x jit.Value) jit.Value) recipe {
	return func(e *expr) jit.Value { return f(e.Builder, e.x(0)) }
}

// of2 makes a recipe of an operation of two operands.
func of2(f func(b *jit.Builder, x, y jit.Value) jit.Value) recipe {
	return func(e *expr) jit.Value { return f(e.Builder, e.x(0), e.x(1)) }
}

// floatOf2 is of2 for floats.
func floatOf2(f func(b *jit.Builder, x, y jit.Value) jit.Value) recipe {
	return floatsOnly(of2(f))
}

// integral leaves integers as they are.
func integral(f func(b *jit.Builder, x jit.Value) jit.Value) recipe {
	return func(e *expr) jit.Value {
		if !e.float() {
			return e.x(0)
		}
		return f(e.Builder, e.x(0))
	}
}

// recipe1 makes a recipe of a function of package recipe.
func recipe1(f func(b *jit.Builder, x jit.Value) jit.Value) recipe { return of1(f) }

// narrowOnly keeps a recipe to floats of 32 bits and fewer.
func narrowOnly(r recipe) recipe {
	return func(e *expr) jit.Value {
		if e.t != jit.F32 {
			return 0
		}
		return r(e)
	}
}

func sameRecipe(e *expr) jit.Value { return e.x(0) }

func absRecipe(e *expr) jit.Value {
	if e.as.Kind() == dtype.KindUint || e.as == dtype.Bool {
		return e.x(0)
	}
	return e.Abs(e.x(0))
}

func squareRecipe(e *expr) jit.Value { return e.Mul(e.x(0), e.x(0)) }

func reciprocalRecipe(e *expr) jit.Value { return e.Div(e.num(1), e.x(0)) }

func rsqrtRecipe(e *expr) jit.Value { return e.Div(e.num(1), e.Sqrt(e.x(0))) }

// signRecipe gives 0 for NaN, as PyTorch does.
func signRecipe(e *expr) jit.Value {
	x, zero := e.x(0), e.num(0)
	if e.unsigned() {
		return e.Select(e.Eq(x, zero), zero, e.num(1))
	}
	return e.Select(e.Lt(zero, x), e.num(1), e.Select(e.Lt(x, zero), e.num(-1), zero))
}

func notRecipe(e *expr) jit.Value {
	if e.as == dtype.Bool {
		return e.Not(e.truth(0))
	}
	return e.Not(e.x(0))
}

func fracRecipe(e *expr) jit.Value {
	x := e.x(0)
	return e.Sub(x, e.Trunc(x))
}

// roundRecipe rounds x·F[0]/F[1], both powers of ten of which one is 1, in f64.
func roundRecipe(e *expr) jit.Value {
	if !e.float() {
		return e.x(0)
	}
	x := e.fetch(0, jit.F64)
	up, down := e.attr(0, jit.F64, false), e.attr(1, jit.F64, false)
	return e.Mul(e.Div(e.RoundEven(e.Div(e.Mul(x, up), down)), up), down)
}

func nanToNumRecipe(e *expr) jit.Value {
	x := e.x(0)
	if !e.float() {
		return x
	}
	y := e.Select(e.Eq(x, e.num(math.Inf(1))), e.param(1), x)
	y = e.Select(e.Eq(x, e.num(math.Inf(-1))), e.param(2), y)
	return e.Select(e.IsNaN(x), e.param(0), y)
}

func angleRecipe(e *expr) jit.Value {
	x := e.x(0)
	y := e.Select(e.Lt(x, e.num(0)), e.num(math.Pi), e.num(0))
	return e.Select(e.IsNaN(x), x, y)
}

func factorRecipe(k float64) recipe {
	return func(e *expr) jit.Value { return e.Mul(e.x(0), e.num(k)) }
}

// Questions. A mask that no element has is written as x ≠ x of integers.

func (e *expr) never() jit.Value { return e.Lt(e.x(0), e.x(0)) }

func isNaNRecipe(e *expr) jit.Value { return e.Ne(e.x(0), e.x(0)) }

func isInfRecipe(e *expr) jit.Value {
	if !e.float() {
		return e.never()
	}
	return e.Eq(e.Abs(e.x(0)), e.num(math.Inf(1)))
}

func isFiniteRecipe(e *expr) jit.Value {
	if !e.float() {
		return e.Eq(e.x(0), e.x(0))
	}
	return e.Lt(e.Abs(e.x(0)), e.num(math.Inf(1)))
}

func isEndRecipe(sign int) recipe {
	return func(e *expr) jit.Value {
		if !e.float() {
			return e.never()
		}
		return e.Eq(e.x(0), e.num(math.Inf(sign)))
	}
}

func signBitRecipe(e *expr) jit.Value {
	x := e.x(0)
	switch {
	case e.t == jit.F32:
		return e.Lt(e.Bits(x, jit.I32), e.I32(0))
	case e.t == jit.F64:
		return e.Lt(e.Bits(x, jit.I64), e.I64(0))
	case e.unsigned():
		return e.never()
	}
	return e.Lt(x, e.num(0))
}

func logicalNotRecipe(e *expr) jit.Value { return e.Not(e.truth(0)) }

// Two operands.

// less is x < y in the order of the type.
func (e *expr) less(x, y jit.Value) jit.Value {
	if e.unsigned() {
		return e.LtU(x, y)
	}
	return e.Lt(x, y)
}

func ltRecipe(e *expr) jit.Value { return e.less(e.x(0), e.x(1)) }

func gtRecipe(e *expr) jit.Value { return e.less(e.x(1), e.x(0)) }

func leRecipe(e *expr) jit.Value {
	if e.unsigned() {
		return e.Not(gtRecipe(e))
	}
	return e.Le(e.x(0), e.x(1))
}

func geRecipe(e *expr) jit.Value {
	if e.unsigned() {
		return e.Not(ltRecipe(e))
	}
	return e.Le(e.x(1), e.x(0))
}

func truthsRecipe(f func(b *jit.Builder, x, y jit.Value) jit.Value) recipe {
	return func(e *expr) jit.Value { return f(e.Builder, e.truth(0), e.truth(1)) }
}

// max and min let NaN win.
func (e *expr) max(x, y jit.Value) jit.Value {
	if e.unsigned() {
		return e.Select(e.LtU(x, y), y, x)
	}
	return e.Max(x, y)
}

func (e *expr) min(x, y jit.Value) jit.Value {
	if e.unsigned() {
		return e.Select(e.LtU(x, y), x, y)
	}
	return e.Min(x, y)
}

func maxRecipe(e *expr) jit.Value { return e.max(e.x(0), e.x(1)) }

func minRecipe(e *expr) jit.Value { return e.min(e.x(0), e.x(1)) }

// fmaxRecipe is max, but a number wins against NaN, and the first of two zeros.
func fmaxRecipe(e *expr) jit.Value {
	x, y := e.x(0), e.x(1)
	if !e.float() {
		return e.max(x, y)
	}
	return e.Select(e.Or(e.IsNaN(x), e.Lt(x, y)), y, x)
}

func fminRecipe(e *expr) jit.Value {
	x, y := e.x(0), e.x(1)
	if !e.float() {
		return e.min(x, y)
	}
	return e.Select(e.Or(e.IsNaN(x), e.Lt(y, x)), y, x)
}

func addScaledRecipe(e *expr) jit.Value { return e.Add(e.x(0), e.Mul(e.param(0), e.x(1))) }

func subScaledRecipe(e *expr) jit.Value { return e.Sub(e.x(0), e.Mul(e.param(0), e.x(1))) }

func rsubScaledRecipe(e *expr) jit.Value { return e.Sub(e.x(1), e.Mul(e.param(0), e.x(0))) }

func heavisideRecipe(e *expr) jit.Value {
	x, zero := e.x(0), e.num(0)
	y := e.num(1)
	if !e.unsigned() {
		y = e.Select(e.Lt(x, zero), zero, y)
	}
	if e.float() {
		y = e.Select(e.IsNaN(x), x, y)
	}
	return e.Select(e.Eq(x, zero), e.x(1), y)
}

// shrRecipe gives the sign for counts that are negative or not below the width.
func shrRecipe(e *expr) jit.Value {
	if e.unsigned() {
		return e.ShrV(e.x(0), e.x(1))
	}
	return e.SarV(e.x(0), e.x(1))
}

// Three operands and bounds.

func whereRecipe(e *expr) jit.Value { return e.Select(e.truth(0), e.x(1), e.x(2)) }

func maskedFillRecipe(e *expr) jit.Value { return e.Select(e.truth(1), e.x(2), e.x(0)) }

// clampRecipe: NaN, in x or in a bound, wins. Unsigned bounds were raised to 0.
func clampRecipe(lo, hi limit) recipe {
	return func(e *expr) jit.Value {
		x := e.limited(e.x(0), 0, lo, e.max, e.AtLeast)
		return e.limited(x, 1, hi, e.min, e.AtMost)
	}
}

// limited brings x within bound k; near is pick for a bound that is a number.
func (e *expr) limited(x jit.Value, k int, known limit, pick, near func(x, bound jit.Value) jit.Value) jit.Value {
	switch {
	case known == zeroLimit:
		return pick(x, e.num(0))
	case known == numberLimit && !e.unsigned():
		return near(x, e.bound(k))
	case known != noLimit:
		return pick(x, e.bound(k))
	}
	return x
}

// clampByRecipe has tensor bounds, either of which may be absent.
func clampByRecipe(e *expr) jit.Value {
	y := e.x(0)
	if lo := e.x(1); lo != 0 {
		y = e.max(y, lo)
	}
	if hi := e.x(2); hi != 0 {
		y = e.min(y, hi)
	}
	return y
}

// lerpRecipe is exact at weight 1.
func lerpRecipe(e *expr) jit.Value {
	x, y, t := e.x(0), e.x(1), e.x(2)
	d := e.Sub(y, x)
	near := e.Add(x, e.Mul(t, d))
	far := e.Sub(y, e.Mul(d, e.Sub(e.num(1), t)))
	return e.Select(e.Lt(e.Abs(t), e.num(0.5)), near, far)
}

func addcmulRecipe(e *expr) jit.Value {
	return e.Add(e.x(0), e.Mul(e.Mul(e.param(0), e.x(1)), e.x(2)))
}

func addcdivRecipe(e *expr) jit.Value {
	return e.Add(e.x(0), e.Div(e.Mul(e.param(0), e.x(1)), e.x(2)))
}

func dropoutRecipe(e *expr) jit.Value {
	return e.Select(e.truth(1), e.Mul(e.x(0), e.x(2)), e.num(0))
}

func dropoutBackRecipe(e *expr) jit.Value {
	return e.Mul(e.Mul(e.x(0), e.x(1)), e.param(0))
}
