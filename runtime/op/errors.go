package op

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A TypesError says that two operands that must have one element type have two.
type TypesError struct {
	Op          string
	Left, Right shape.Spec
}

// Error is one line: mm: f32[2,2] and i32[2,2]: element types f32 and i32 differ.
func (e *TypesError) Error() string {
	return fmt.Sprintf("%s: %v and %v: element types %v and %v differ", e.Op, e.Left, e.Right, e.Left.DType, e.Right.DType)
}

// A TypeError says that an operand has an element type the operation refuses.
type TypeError struct {
	Op, Arg string
	DType   dtype.DType
	Want    string // what is accepted: an integer, i64, a float
}

// Error is one line: gather: index is i16, not i64. Rules that several rows share leave Op to the caller.
func (e *TypeError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("%s is %v, not %s", e.Arg, e.DType, e.Want)
	}
	return fmt.Sprintf("%s: %s is %v, not %s", e.Op, e.Arg, e.DType, e.Want)
}

// An EmptyListError says that an operation got no tensor at all.
type EmptyListError struct{ Op string }

// Error is one line: cat: no tensors.
func (e *EmptyListError) Error() string { return e.Op + ": no tensors" }

// wrongRank is the error of an operand that must have from lo to hi axes; hi < 0: no upper bound.
func wrongRank(name, arg string, s shape.Spec, lo, hi int) error {
	return &shape.RankError{Op: name, Arg: arg, Dims: s.Dims, Min: lo, Max: hi}
}
