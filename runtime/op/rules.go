package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Shared rules: every function-valued field of a row names one of these, or a
// private one just below its table.

// likeInput gives the shape of the first input.
func likeInput(in []shape.Spec, _ Attrs) ([]int, error) { return in[0].Dims, nil }

// broadcast gives the common shape of all inputs.
func broadcast(in []shape.Spec, _ Attrs) ([]int, error) { return shape.BroadcastAll("", in...) }

// resultType is PyTorch's promotion over the given specs.
func resultType(in ...shape.Spec) (dtype.DType, error) {
	var buf [4]dtype.Operand
	ops := buf[:0]
	for _, s := range in {
		if !s.Valid() {
			continue
		}
		c := dtype.Dim
		switch {
		case s.Weak:
			c = dtype.Number
		case len(s.Dims) == 0:
			c = dtype.ZeroDim
		}
		ops = append(ops, dtype.Operand{DType: s.DType, Category: c})
	}
	return dtype.ResultType(ops...)
}

// promote gives the promoted type of all inputs.
func promote(in []shape.Spec, _ Attrs) (dtype.DType, error) { return resultType(in...) }

// sameType gives the type of the first input.
func sameType(in []shape.Spec, _ Attrs) (dtype.DType, error) { return in[0].DType, nil }

// floating gives the promoted type, with integers and bools turned into F32.
func floating(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	t, err := resultType(in...)
	if err == nil && t.Kind() < dtype.KindFloat {
		t = dtype.F32
	}
	return t, err
}

// boolean gives Bool.
func boolean(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if _, err := resultType(in...); err != nil {
		return dtype.Invalid, err
	}
	return dtype.Bool, nil
}

// perElement charges n vector operations for each element of the first result.
func perElement(n int64, u Unit) func(in, out []shape.Spec, a Attrs) Cost {
	return func(_, out []shape.Spec, _ Attrs) Cost {
		e := int64(out[0].Size())
		c := Cost{FLOPs: n * e, VPUOps: n * e, Unit: u}
		if u == EUP {
			c.EUPOps = e
		}
		return c
	}
}

// moves charges nothing but the bytes, which the device adds.
func moves(_, _ []shape.Spec, _ Attrs) Cost { return Cost{Unit: DMA} }

// unaryHLO lowers to one StableHLO op of one operand, in the type of the result.
func unaryHLO(name string) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		x := w.Convert(c.In[0], c.Out[0].DType)
		return []stablehlo.Value{w.Do(name, c.Out[0], "", x)}
	}
}

// binaryHLO lowers to one StableHLO op of two operands, converted and broadcast to the result.
func binaryHLO(name string) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	f := func(h hlo) stablehlo.Value { return h.do(name, h.in(0), h.in(1)) }
	if name == "multiply" || name == "divide" {
		return lowerKept(f)
	}
	return lower(f)
}

// tensor declares a tensor parameter.
func tensor(name string) Param { return Param{Name: name, Kind: KTensor} }

// operand declares a parameter that takes a tensor or a Go number.
func operand(name string) Param { return Param{Name: name, Kind: KOperand} }
