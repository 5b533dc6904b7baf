package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// takesComplex says whether a row works on complex numbers: what moves
// elements, and the arithmetic that Fourier transforms and linear algebra are
// made of.
func (d *Def) takesComplex() bool {
	switch d.Name {
	case "scatter_reduce", "index_reduce", "bincount", "one_hot":
		return false
	case Abs, Neg, Positive, Reciprocal, Sqrt, Rsqrt, Square, Exp, Log, Sin, Cos, Tan, Sinh, Cosh, Tanh, Sigmoid, Angle,
		IsNaN, IsInf, IsFinite, LogicalNot, LogicalAnd, LogicalOr, LogicalXor,
		Add, Sub, Mul, Div, Pow, Eq, Ne, "equal", Where, MaskedFill, "masked_fill.Tensor", "to",
		"sum", "mean", "any", "all", "count_nonzero",
		"matmul", "mm", "bmm", "mv", "dot", "inner", "outer", "addmm", "addmv", "addr", "addbmm", "baddbmm", "linear", "einsum", "tensordot", "kron",
		"trace", "cross", "chain_matmul", "multi_dot":
		return true
	}
	switch d.Class {
	case View, Move, Index, Factory, Collective:
		return true
	}
	return false
}

// refuseComplex refuses complex operands of a row that does not take them.
func (d *Def) refuseComplex(in []shape.Spec) error {
	for i := range in {
		if t := in[i].DType; t >= dtype.C64 && !d.takesComplex() {
			return &TypeError{Op: string(d.Name), Arg: d.inputName(i), DType: t, Want: "a real number"}
		}
	}
	return nil
}

// inputName is the name of the parameter that input i belongs to.
func (d *Def) inputName(i int) string {
	names := d.Inputs()
	return names[min(i, len(names)-1)].Name
}
