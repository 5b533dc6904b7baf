package op

import "github.com/tpush/tpush/runtime/shape"

// ew writes the gradients of elementwise rows: operands are Values or Go
// numbers. Gradients come out in the shape of the result; whoever asked sums
// them to the operand's shape and converts them to its type.
type ew struct {
	Builder
	*Call
}

// a, b and e are the operands, y is the result.
func (k ew) a() Value { return k.In[0] }
func (k ew) b() Value { return k.In[1] }
func (k ew) e() Value { return k.In[2] }
func (k ew) y() Value { return k.Out[0] }

// val makes an operand of a Value or a number.
func (k ew) val(x any) Value {
	switch x := x.(type) {
	case float64:
		return k.Scalar(x)
	case int:
		return k.Scalar(float64(x))
	}
	return x.(Value)
}

// op applies a row without attributes.
func (k ew) op(n Name, xs ...any) Value {
	in := make([]Value, len(xs))
	for i, x := range xs {
		in[i] = k.val(x)
	}
	return k.Do(n, nil, in...)
}

func (k ew) add(x, y any) Value       { return k.op(Add, x, y) }
func (k ew) sub(x, y any) Value       { return k.op(Sub, x, y) }
func (k ew) mul(x, y any) Value       { return k.op(Mul, x, y) }
func (k ew) div(x, y any) Value       { return k.op(Div, x, y) }
func (k ew) neg(x any) Value          { return k.op(Neg, x) }
func (k ew) square(x any) Value       { return k.op(Square, x) }
func (k ew) zero() Value              { return k.Full(like1(k.Out[0].Spec()), 0) }
func (k ew) num(name string) float64  { return k.Attrs.Float(name) }
func (k ew) masked(c, dy Value) Value { return k.where(c, dy, 0.0) }

// where chooses; of two numbers it makes a tensor of the result's type.
func (k ew) where(c Value, x, y any) Value {
	if f, ok := y.(float64); ok {
		if v, ok := x.(Value); !ok || v.Spec().Weak {
			y = k.Full(shape.Spec{DType: k.y().Spec().DType, Dims: c.Spec().Dims}, f)
		}
	}
	return k.op(Where, c, x, y)
}

// like1 is s as the spec of a new tensor.
func like1(s shape.Spec) shape.Spec { return shape.Spec{DType: s.DType, Dims: s.Dims} }

// A part is the gradient for one operand; dy is the gradient of the result.
type part func(k ew, dy Value) Value

// parts makes a gradient rule; a nil part is an operand without gradient.
func parts(ps ...part) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		out := make([]Value, len(c.In))
		if dy[0] == nil {
			return out
		}
		for i, p := range ps {
			if p == nil || i >= len(c.In) || c.In[i] == nil || i < len(c.Needs) && !c.Needs[i] {
				continue
			}
			out[i] = p(ew{b, c}, dy[0])
		}
		return out
	}
}

// times is a part that multiplies dy by a derivative.
func times(f func(k ew) Value) part {
	return func(k ew, dy Value) Value { return k.mul(dy, f(k)) }
}

// zeroGrad is the part of functions that are constant almost everywhere.
func zeroGrad(k ew, _ Value) Value { return k.zero() }

// sameGrad passes dy on.
func sameGrad(_ ew, dy Value) Value { return dy }

// negGrad passes -dy on.
func negGrad(k ew, dy Value) Value { return k.neg(dy) }
