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
