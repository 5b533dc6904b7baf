package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// hlo lowers elementwise rows: every value it handles has one spec, the
// compute type in the dimensions of the result.
type hlo struct {
	*stablehlo.Writer
	c    *LowerCall
	spec shape.Spec
}

// A lowering is the Lower field of a row.
type lowering = func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value

// lower makes a lowering of a formula computed in the type of the result.
func lower(f func(h hlo) stablehlo.Value) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		return []stablehlo.Value{f(hlo{w, c, like1(c.Out[0])})}
	}
}

// lowerKept is lower for products and quotients, where PyTorch does not round
// a 0-d operand to a narrow result before it computes.
func lowerKept(f func(h hlo) stablehlo.Value) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		s := like1(c.Out[0])
		if s.DType.IsFloat() && s.DType.Bits() < 32 {
			for _, v := range c.In {
				if v.Spec.DType.IsFloat() && v.Spec.DType != s.DType {
					s.DType = dtype.F32
				}
			}
		}
		return []stablehlo.Value{w.Convert(f(hlo{w, c, s}), c.Out[0].DType)}
	}
}

// lowerWide is lower for formulas of several steps: narrow floats are computed
// in f32 and rounded once, as the kernels do.
func lowerWide(f func(h hlo) stablehlo.Value) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		s := like1(c.Out[0])
		if s.DType.IsFloat() && s.DType != dtype.F64 {
			s.DType = dtype.F32
		}
		return []stablehlo.Value{w.Convert(f(hlo{w, c, s}), c.Out[0].DType)}
	}
}

// lowerAsk is lower for predicates: operands are taken in their common type.
func lowerAsk(f func(h hlo) stablehlo.Value) lowering {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		specs := make([]shape.Spec, len(c.In))
		for i, v := range c.In {
			specs[i] = v.Spec
		}
		t, err := resultType(specs...)
		if err != nil { // inference refused it before
			t = c.In[0].Spec.DType
		}
		return []stablehlo.Value{f(hlo{w, c, shape.Spec{DType: t, Dims: c.Out[0].Dims}})}
	}
}

// chlo lowers to a single CHLO operation, which XLA expands itself.
func chlo(name string) lowering {
	return lowerWide(func(h hlo) stablehlo.Value { return h.chlo(name, h.all()...) })
}

func (h hlo) in(i int) stablehlo.Value {
	return h.BroadcastTo(h.Convert(h.c.In[i], h.spec.DType), h.spec.Dims)
}

func (h hlo) all() []stablehlo.Value {
	out := make([]stablehlo.Value, len(h.c.In))
	for i := range out {
		out[i] = h.in(i)
	}
	return out
}

func (h hlo) do(name string, xs ...stablehlo.Value) stablehlo.Value {
	if xs[0].Spec.DType == dtype.Bool { // XLA adds and multiplies bools as one-bit integers
		switch name {
		case "add":
			name = "or"
		case "multiply":
			name = "and"
		}
	}
	return h.Do(name, xs[0].Spec, "", xs...)
}

func (h hlo) chlo(name string, xs ...stablehlo.Value) stablehlo.Value {
	return h.Op("chlo."+name, xs, []shape.Spec{xs[0].Spec}, "")[0]
}

func (h hlo) num(x float64) stablehlo.Value            { return h.Splat(h.spec, x) }
func (h hlo) attr(name string) stablehlo.Value         { return h.c.Splat(h.Writer, name, h.spec) }
func (h hlo) add(x, y stablehlo.Value) stablehlo.Value { return h.do("add", x, y) }
func (h hlo) sub(x, y stablehlo.Value) stablehlo.Value { return h.do("subtract", x, y) }
func (h hlo) mul(x, y stablehlo.Value) stablehlo.Value { return h.do("multiply", x, y) }
func (h hlo) div(x, y stablehlo.Value) stablehlo.Value { return h.do("divide", x, y) }
func (h hlo) max(x, y stablehlo.Value) stablehlo.Value { return h.do("maximum", x, y) }
func (h hlo) min(x, y stablehlo.Value) stablehlo.Value { return h.do("minimum", x, y) }
func (h hlo) neg(x stablehlo.Value) stablehlo.Value    { return h.do("negate", x) }
func (h hlo) abs(x stablehlo.Value) stablehlo.Value    { return h.do("abs", x) }
func (h hlo) exp(x stablehlo.Value) stablehlo.Value    { return h.do("exponential", x) }
func (h hlo) log(x stablehlo.Value) stablehlo.Value    { return h.do("log", x) }
func (h hlo) log1p(x stablehlo.Value) stablehlo.Value  { return h.do("log_plus_one", x) }
func (h hlo) and(x, y stablehlo.Value) stablehlo.Value { return h.do("and", x, y) }
func (h hlo) or(x, y stablehlo.Value) stablehlo.Value  { return h.do("or", x, y) }
func (h hlo) not(x stablehlo.Value) stablehlo.Value    { return h.do("not", x) }

// asBool is x ≠ 0.
func (h hlo) asBool(x stablehlo.Value) stablehlo.Value {
	if x.Spec.DType == dtype.Bool {
		return x
	}
	return h.Compare("NE", x, h.Splat(x.Spec, 0))
}

// trunc rounds toward zero.
func (h hlo) trunc(x stablehlo.Value) stablehlo.Value {
	return h.Select(h.Compare("LT", x, h.Splat(x.Spec, 0)), h.do("ceil", x), h.do("floor", x))
}
