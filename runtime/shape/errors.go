package shape

import "fmt"

// A MismatchError says that the shapes of two operands do not fit together.
type MismatchError struct {
	Op          string
	Left, Right Spec
	Axis        int // axis of Left where they differ, -1 when the ranks do
	Why         string
}

// Error is one line: matmul: f32[128,64] and f32[32,10]: inner sizes 64 and 32 differ.
func (e *MismatchError) Error() string {
	s := fmt.Sprintf("%v and %v", e.Left, e.Right)
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

// An AxisError says that an axis does not exist.
type AxisError struct {
	Op         string
	Axis, Rank int
}

// Error names the legal range.
func (e *AxisError) Error() string {
	lo, hi := -max(e.Rank, 1), max(e.Rank, 1)-1
	return fmt.Sprintf("%s: axis %d is outside [%d, %d]", e.Op, e.Axis, lo, hi)
}

// An ArgumentError says that an attribute or an operand has an impossible value.
type ArgumentError struct {
	Op, Arg string
	Value   any
	Why     string
}

// Error names the argument, its value and the reason.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s = %v: %s", e.Op, e.Arg, e.Value, e.Why)
}

// A SizeError says that a size is negative, or that the sizes together are too large to address.
type SizeError struct {
	Op    string
	Dims  []int
	Axis  int // the axis of the negative size, -1 when the product is too large
	Bytes int // element size assumed, 0 for a negative size
}

// Error names the size.
func (e *SizeError) Error() string {
	if e.Axis >= 0 {
		return fmt.Sprintf("%s: size %d of axis %d is negative", e.Op, e.Dims[e.Axis], e.Axis)
	}
	return fmt.Sprintf("%s: %s has more bytes than 64 bits count", e.Op, FormatDims(e.Dims))
}

// A CountError says that a shape does not have the number of elements it must have.
type CountError struct {
	Op   string
	Dims []int // the shape asked for
	Want int   // elements there are
}

// Error names both.
func (e *CountError) Error() string {
	return fmt.Sprintf("%s: %s does not hold %d elements", e.Op, FormatDims(e.Dims), e.Want)
}

// A NotViewableError says that a shape cannot be had without a copy.
type NotViewableError struct {
	Op   string
	View View
	Dims []int // the shape asked for
}

// Error names shape, strides and the shape asked for.
func (e *NotViewableError) Error() string {
	return fmt.Sprintf("%s: %s with strides %s is no %s without a copy", e.Op, FormatDims(e.View.Dims), FormatDims(e.View.Strides), FormatDims(e.Dims))
}

// An ExpandError says that a shape does not stretch to another.
type ExpandError struct {
	Op       string
	From, To []int
	Axis     int // axis of To, -1 when To has too few
}

// Error names the axis.
func (e *ExpandError) Error() string {
	s := fmt.Sprintf("%s: %s to %s", e.Op, FormatDims(e.From), FormatDims(e.To))
	if e.Axis < 0 {
		return s + ": fewer axes than there are"
	}
	k := e.Axis - len(e.To) + len(e.From)
	if k < 0 {
		return fmt.Sprintf("%s: axis %d is new and has no size to keep", s, e.Axis)
	}
	return fmt.Sprintf("%s: axis %d has size %d, which does not stretch to %d", s, e.Axis, e.From[k], e.To[e.Axis])
}

// An IndexError says that a position is outside an axis.
type IndexError struct {
	Op                string
	Index, Axis, Size int
}

// Error names the legal range.
func (e *IndexError) Error() string {
	return fmt.Sprintf("%s: index %d is outside axis %d of size %d", e.Op, e.Index, e.Axis, e.Size)
}

// A RankError says that an operand has the wrong number of axes.
type RankError struct {
	Op       string
	Arg      string // which operand, "" when there is one
	Dims     []int
	Min, Max int // legal ranks; Max < 0: no upper bound
}

// Error names the legal ranks.
func (e *RankError) Error() string {
	want := fmt.Sprintf("%d", e.Min)
	switch {
	case e.Max < 0:
		want += " or more"
	case e.Max != e.Min:
		want += fmt.Sprintf(" to %d", e.Max)
	}
	arg := e.Arg
	if arg != "" {
		arg += " "
	}
	return fmt.Sprintf("%s: %s%s has %d axes, not %s", e.Op, arg, FormatDims(e.Dims), len(e.Dims), want)
}

// An OverlapError says that a view cannot be written because memory is shared.
type OverlapError struct {
	Op string
	// Target is the view that was to be written; Other is the operand that
	// shares part of it, the zero View when Target overlaps itself.
	Target, Other View
}

// Error says which of the two it is.
func (e *OverlapError) Error() string {
	if e.Other.Dims == nil && e.Other.Strides == nil {
		return fmt.Sprintf("%s: elements of the target %v share memory", e.Op, e.Target)
	}
	return fmt.Sprintf("%s: the target %v and an operand %v share part of their memory", e.Op, e.Target, e.Other)
}
