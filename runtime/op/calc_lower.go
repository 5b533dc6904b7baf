package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// formula writes formulas in StableHLO: operands of one element type, stretched to
// their common shape by numpy's rule.
type formula struct{ *stablehlo.Writer }

// wide is the type that sums of t are kept in.
func wide(t dtype.DType) dtype.DType {
	if t.IsFloat() && t.Bits() < 32 {
		return dtype.F32
	}
	return t
}

// widen converts x to the type its sums are kept in.
func (h formula) widen(x stablehlo.Value) stablehlo.Value { return h.Convert(x, wide(x.Spec.DType)) }

// num is a scalar constant of the type of x.
func (h formula) num(x stablehlo.Value, v float64) stablehlo.Value {
	return h.Splat(shape.Of(x.Spec.DType), v)
}

// pair stretches two operands to their common shape.
func (h formula) pair(x, y stablehlo.Value) (stablehlo.Value, stablehlo.Value) {
	dims, _ := shape.Broadcast(x.Spec.Dims, y.Spec.Dims)
	return h.BroadcastTo(x, dims), h.BroadcastTo(y, dims)
}

// two writes an op of two operands whose result has their type.
func (h formula) two(name string, x, y stablehlo.Value) stablehlo.Value {
	x, y = h.pair(x, y)
	return h.Do(name, x.Spec, "", x, y)
}

// one writes an op of one operand.
func (h formula) one(name string, x stablehlo.Value) stablehlo.Value {
	return h.Do(name, x.Spec, "", x)
}

func (h formula) add(x, y stablehlo.Value) stablehlo.Value           { return h.two("add", x, y) }
func (h formula) sub(x, y stablehlo.Value) stablehlo.Value           { return h.two("subtract", x, y) }
func (h formula) mul(x, y stablehlo.Value) stablehlo.Value           { return h.two("multiply", x, y) }
func (h formula) div(x, y stablehlo.Value) stablehlo.Value           { return h.two("divide", x, y) }
func (h formula) max(x, y stablehlo.Value) stablehlo.Value           { return h.two("maximum", x, y) }
func (h formula) min(x, y stablehlo.Value) stablehlo.Value           { return h.two("minimum", x, y) }
func (h formula) pow(x, y stablehlo.Value) stablehlo.Value           { return h.two("power", x, y) }
func (h formula) neg(x stablehlo.Value) stablehlo.Value              { return h.one("negate", x) }
func (h formula) abs(x stablehlo.Value) stablehlo.Value              { return h.one("abs", x) }
func (h formula) exp(x stablehlo.Value) stablehlo.Value              { return h.one("exponential", x) }
func (h formula) log(x stablehlo.Value) stablehlo.Value              { return h.one("log", x) }
func (h formula) log1p(x stablehlo.Value) stablehlo.Value            { return h.one("log_plus_one", x) }
func (h formula) sqrt(x stablehlo.Value) stablehlo.Value             { return h.one("sqrt", x) }
func (h formula) rsqrt(x stablehlo.Value) stablehlo.Value            { return h.one("rsqrt", x) }
func (h formula) and(x, y stablehlo.Value) stablehlo.Value           { return h.two("and", x, y) }
func (h formula) or(x, y stablehlo.Value) stablehlo.Value            { return h.two("or", x, y) }
func (h formula) not(x stablehlo.Value) stablehlo.Value              { return h.one("not", x) }
func (h formula) plus(x stablehlo.Value, v float64) stablehlo.Value  { return h.add(x, h.num(x, v)) }
func (h formula) times(x stablehlo.Value, v float64) stablehlo.Value { return h.mul(x, h.num(x, v)) }

// cmp compares at the common shape.
func (h formula) cmp(dir string, x, y stablehlo.Value) stablehlo.Value {
	x, y = h.pair(x, y)
	return h.Compare(dir, x, y)
}

// is compares with a number.
func (h formula) is(dir string, x stablehlo.Value, v float64) stablehlo.Value {
	return h.cmp(dir, x, h.num(x, v))
}

// isNaN says where x is NaN.
func (h formula) isNaN(x stablehlo.Value) stablehlo.Value { return h.Compare("NE", x, x) }

// pick selects at the common shape.
func (h formula) pick(c, x, y stablehlo.Value) stablehlo.Value {
	x, y = h.pair(x, y)
	dims, _ := shape.Broadcast(c.Spec.Dims, x.Spec.Dims)
	return h.Select(h.BroadcastTo(c, dims), h.BroadcastTo(x, dims), h.BroadcastTo(y, dims))
}

// reduce reduces axes and keeps them as size 1.
func (h formula) reduce(body string, x stablehlo.Value, axes []int, init float64) stablehlo.Value {
	if len(axes) == 0 {
		return x
	}
	return h.Reshape(h.Reduce(body, x, axes, init), keptDims(x.Spec.Dims, axes, true))
}

// sum adds over axes, which stay as size 1; largest gives the largest element.
func (h formula) sum(x stablehlo.Value, axes []int) stablehlo.Value {
	return h.reduce("add", x, axes, 0)
}

func (h formula) largest(x stablehlo.Value, axes []int) stablehlo.Value {
	return h.reduce("maximum", x, axes, stablehlo.Identity(x.Spec.DType, true))
}

func (h formula) smallest(x stablehlo.Value, axes []int) stablehlo.Value {
	return h.reduce("minimum", x, axes, stablehlo.Identity(x.Spec.DType, false))
}

// mean is the mean over axes, which stay as size 1.
func (h formula) mean(x stablehlo.Value, axes []int) stablehlo.Value {
	return h.times(h.sum(x, axes), 1/float64(countOf(x.Spec, axes)))
}

// result converts and reshapes x to a result.
func (h formula) result(x stablehlo.Value, out shape.Spec) stablehlo.Value {
	return h.Reshape(h.stretch(h.Convert(x, out.DType), out.Dims), out.Dims)
}

// stretch stretches x when it has fewer elements than dims.
func (h formula) stretch(x stablehlo.Value, dims []int) stablehlo.Value {
	if shape.Size(x.Spec.Dims) == shape.Size(dims) {
		return x
	}
	return h.BroadcastTo(x, dims)
}

// results is result for a single result.
func (h formula) results(x stablehlo.Value, c *LowerCall) []stablehlo.Value {
	return []stablehlo.Value{h.result(x, c.Out[0])}
}

// nonzero says where x is not 0.
func (h formula) nonzero(x stablehlo.Value) stablehlo.Value {
	if x.Spec.DType == dtype.Bool {
		return x
	}
	return h.is("NE", x, 0)
}

// axes gives the axes that a call reduces.
func (c *LowerCall) axes() []int { return callAxes(c.In[0].Spec, c.Attrs) }

// rowsLast gives x with the given axes moved to the end and joined: […kept, n].
func (h formula) rowsLast(x stablehlo.Value, axes []int) stablehlo.Value {
	kept := keptAxes(len(x.Spec.Dims), axes)
	perm := append(append([]int{}, kept...), axes...)
	inOrder := true
	for i, p := range perm {
		inOrder = inOrder && i == p
	}
	if !inOrder {
		x = h.Transpose(x, perm)
	}
	dims := append([]int{}, x.Spec.Dims[:len(kept)]...)
	return h.Reshape(x, append(dims, shape.Size(x.Spec.Dims[len(kept):])))
}
