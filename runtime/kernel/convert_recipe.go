package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/jit"
)

// A conversion changes the element type, as a program for each pair of types.
type conversion struct{ points points }

var toOp = &conversion{}

func conversionTypes(c *Call) (as, round dtype.DType) { return c.Out[0].DType, dtype.Invalid }

func (o *conversion) emit(c *Call) (recipe, dtype.DType, dtype.DType) {
	as, round := conversionTypes(c)
	return toRecipe, as, round
}
func (o *conversion) prepare() func(*Call, *Params) { return nil }
func (o *conversion) along() (rows, folds bool)     { return false, false }
func (o *conversion) knows(t jit.Type) bool         { return o.points.knows(toRecipe, t) }

// run converts c.In[0] to the type of c.Out[0]; neither is complex.
func (o *conversion) run(c *Call) error {
	_, err := o.points.compute(c, toRecipe, conversionTypes, nil, false)
	return err
}

// toRecipe: floats round to nearest even, floats become integers toward zero and
// saturated, integers wrap, and whatever is not zero is true.
func toRecipe(e *expr) jit.Value {
	to := e.as
	switch {
	case to == dtype.Bool:
		return e.truth(0)
	case !to.IsInt() || !e.from(0).IsFloat():
		return e.fetch(0, jit.Natural(to))
	}
	x := e.fetch(0, jit.Natural(e.from(0)))
	switch to {
	case dtype.U64:
		return e.ConvertU(x, jit.I64)
	case dtype.I64:
		return e.Convert(x, jit.I64)
	case dtype.I32:
		return e.Convert(x, jit.I32)
	}
	t := jit.I32
	if to == dtype.U32 {
		t = jit.I64
	}
	v := e.Convert(x, t)
	return e.Min(e.Max(v, e.Const(t, to.Lowest())), e.Const(t, to.Max()))
}
