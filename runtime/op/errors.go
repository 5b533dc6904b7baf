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

// Error is one line: gather: index is i16, not i64.
func (e *TypeError) Error() string {
	return fmt.Sprintf("%s: %s is %v, not %s", e.Op, e.Arg, e.DType, e.Want)
}

// A RankError says that an operand has the wrong number of dimensions.
type RankError struct {
	Op, Arg string
	Got     shape.Spec
	Want    string // 2, or 1 to 3
}

// Error is one line: mm: input is f32[2,3,4], of rank 3, not 2.
func (e *RankError) Error() string {
	return fmt.Sprintf("%s: %s is %v, of rank %d, not %s", e.Op, e.Arg, e.Got, e.Got.Rank(), e.Want)
}

// An IndexError says that a Go number used as an index is outside its axis.
type IndexError struct {
	Op          string
	Axis        int
	Index, Size int
}

// Error is one line: select: index 3 is outside axis 0 of size 3.
func (e *IndexError) Error() string {
	return fmt.Sprintf("%s: index %d is outside axis %d of size %d", e.Op, e.Index, e.Axis, e.Size)
}

// A CountError says that elements cannot be arranged as asked: their number differs.
type CountError struct {
	Op   string
	From []int // the dimensions there are
	To   []int // the dimensions asked for, -1 where free
}

// Error is one line: view: [2,3] has 6 elements and cannot be [4].
func (e *CountError) Error() string {
	return fmt.Sprintf("%s: %s has %d elements and cannot be %s", e.Op, shape.FormatDims(e.From), shape.Size(e.From), shape.FormatDims(e.To))
}

// A StrideError says that the elements would have to be copied to be seen so.
type StrideError struct {
	Op   string
	View shape.View
	To   []int
}

// Error is one line: view: [3,2] with strides [1,3] cannot be seen as [6] without a copy.
func (e *StrideError) Error() string {
	return fmt.Sprintf("%s: %s with strides %s cannot be seen as %s without a copy", e.Op, shape.FormatDims(e.View.Dims), shape.FormatDims(e.View.Strides), shape.FormatDims(e.To))
}

// An ExpandError says that dimensions cannot be stretched as asked.
type ExpandError struct {
	Op       string
	From, To []int
	Why      string
}

// Error is one line: expand: [3] to [4]: size 3 cannot become 4.
func (e *ExpandError) Error() string {
	return fmt.Sprintf("%s: %s to %s: %s", e.Op, shape.FormatDims(e.From), shape.FormatDims(e.To), e.Why)
}

// An EmptyListError says that an operation got no tensor at all.
type EmptyListError struct{ Op string }

// Error is one line: cat: no tensors.
func (e *EmptyListError) Error() string { return e.Op + ": no tensors" }
