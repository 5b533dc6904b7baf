package kernel

import (
	"github.com/tpush/tpush/runtime/jit"
	recipes "github.com/tpush/tpush/runtime/jit/recipe"
)

// Recipes of activation functions.

func reluRecipe(e *expr) jit.Value { return e.max(e.x(0), e.num(0)) }

func relu6Recipe(e *expr) jit.Value { return e.min(e.max(e.x(0), e.num(0)), e.num(6)) }

// scaleBelow multiplies what is not positive.
func (e *expr) scaleBelow(k jit.Value) jit.Value {
	x := e.x(0)
	return e.Select(e.Lt(e.num(0), x), x, e.Mul(x, k))
}

func leakyRecipe(e *expr) jit.Value { return e.scaleBelow(e.param(0)) }

func preluRecipe(e *expr) jit.Value { return e.scaleBelow(e.x(1)) }

func thresholdRecipe(e *expr) jit.Value {
	x := e.x(0)
	if e.unsigned() {
		return e.Select(e.LtU(e.bound(0), x), x, e.param(1))
	}
	return e.Select(e.Le(x, e.bound(0)), e.param(1), x)
}

// eluOf is x above zero and scale·(e^(x/width) - 1) below.
func (e *expr) eluOf(scale, width jit.Value) jit.Value {
	x := e.x(0)
	m := x
	if width != 0 {
		m = e.Div(x, width)
	}
	return e.Select(e.Lt(e.num(0), x), x, e.Mul(scale, recipes.Expm1(e.Builder, m)))
}

func eluRecipe(e *expr) jit.Value { return e.eluOf(e.param(0), 0) }

func celuRecipe(e *expr) jit.Value { return e.eluOf(e.param(0), e.param(0)) }

func seluRecipe(e *expr) jit.Value { return e.Mul(e.num(seluScale), e.eluOf(e.num(seluAlpha), 0)) }

// softplusRecipe is log(1 + e^(βx))/β, and x where βx is above the threshold.
func softplusRecipe(e *expr) jit.Value {
	x, beta := e.x(0), e.param(0)
	z := e.Mul(x, beta)
	y := e.Div(recipes.Softplus(e.Builder, z), beta)
	return e.Select(e.Lt(e.param(1), z), x, y)
}

// six is min(max(x+3, 0), 6).
func (e *expr) six() jit.Value {
	return e.Min(e.Max(e.Add(e.x(0), e.num(3)), e.num(0)), e.num(6))
}

func hardsigmoidRecipe(e *expr) jit.Value { return e.Div(e.six(), e.num(6)) }

func hardswishRecipe(e *expr) jit.Value { return e.Div(e.Mul(e.x(0), e.six()), e.num(6)) }

func softsignRecipe(e *expr) jit.Value {
	x := e.x(0)
	return e.Div(x, e.Add(e.num(1), e.Abs(x)))
}

func tanhshrinkRecipe(e *expr) jit.Value { return e.Sub(e.x(0), recipes.Tanh(e.Builder, e.x(0))) }

func hardshrinkRecipe(e *expr) jit.Value {
	x, l := e.x(0), e.param(0)
	inside := e.And(e.Le(e.Neg(l), x), e.Le(x, l))
	return e.Select(inside, e.num(0), x)
}

func softshrinkRecipe(e *expr) jit.Value {
	x, l := e.x(0), e.param(0)
	y := e.Select(e.IsNaN(x), x, e.num(0))
	y = e.Select(e.Lt(x, e.Neg(l)), e.Add(x, l), y)
	return e.Select(e.Lt(l, x), e.Sub(x, l), y)
}
