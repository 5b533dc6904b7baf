package exec

import (
	"fmt"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// An UnknownModeError names a mode that does not exist.
type UnknownModeError struct{ Name string }

// Error names the mode and the ones there are.
func (e *UnknownModeError) Error() string {
	return fmt.Sprintf("mode: unknown mode %q, there are debug, strict, fuse, compiled", e.Name)
}

// An OpError says which operation was refused or failed, and where it was written.
type OpError struct {
	Op    string
	OpN   uint64
	Stack *trace.Stack
	Err   error

	told bool // the program has seen it
}

// Error is the cause, led by the operation unless it names it already.
func (e *OpError) Error() string {
	s := e.Err.Error()
	if len(s) > len(e.Op) && s[:len(e.Op)] == e.Op && (s[len(e.Op)] == ':' || s[len(e.Op)] == ' ') {
		return s
	}
	return e.Op + ": " + s
}

// Unwrap gives the cause.
func (e *OpError) Unwrap() error { return e.Err }

// A FailedValueError is the failure that made a value unusable. Every value
// poisoned by one fault holds the same Origin: the first failure.
type FailedValueError struct {
	Spec   shape.Spec // of the value that was asked for
	Op     string     // operation that would have made it
	Stack  *trace.Stack
	Origin *OpError
}

// Error names the value and the first failure.
func (e *FailedValueError) Error() string {
	if e.Origin.Op == e.Op && e.Origin.Stack == e.Stack {
		return e.Origin.Error()
	}
	return fmt.Sprintf("%s: %v was not computed because an earlier op failed: %v", e.Op, e.Spec, e.Origin)
}

// Unwrap gives the first failure.
func (e *FailedValueError) Unwrap() error { return e.Origin }

// A BoundsError says that index values point outside their target. Nothing ran.
type BoundsError struct {
	Op         string
	OpN        uint64
	Stack      *trace.Stack
	Index      shape.Spec // type of the index tensor
	IndexAt    int        // its position among the operands
	IndexParam int        // its position among the row's parameters, attributes counted
	IndexStack *trace.Stack
	Into       shape.Spec // type of the operand it points into, invalid when none
	IntoAt     int
	IntoParam  int
	IntoStack  *trace.Stack
	Axis       int
	Lo, Hi     int64 // legal values
	Min, Max   int64 // of the index values
	Bad, Total int
	First      []Bad // the first bad elements, at most 8
}

// A Bad is one index value outside its range.
type Bad struct {
	At    []int // its own position in the index tensor
	Value int64
}

// Error names the first bad element: gather: index 50257 at [3,17] is outside axis 0 of bf16[50257,1024] (size 50257).
func (e *BoundsError) Error() string {
	f := e.First[0]
	if !e.Into.Valid() {
		return fmt.Sprintf("%s: index %d at %s is outside [%d, %d]", e.Op, f.Value, shape.FormatDims(f.At), e.Lo, e.Hi)
	}
	if e.Axis == op.Flat {
		return fmt.Sprintf("%s: index %d at %s is outside the %d elements of %v", e.Op, f.Value, shape.FormatDims(f.At), e.Hi+1, e.Into)
	}
	return fmt.Sprintf("%s: index %d at %s is outside axis %d of %v (size %d)", e.Op, f.Value, shape.FormatDims(f.At), e.Axis, e.Into, e.Hi+1)
}

// A ReadWhileTracingError says that a value was read inside a compiled function.
type ReadWhileTracingError struct {
	Spec   shape.Spec
	Reason Reason
}

// Error names the read.
func (e *ReadWhileTracingError) Error() string {
	return fmt.Sprintf("%v: %v is read inside a compiled function, where it has no value yet", e.Reason, e.Spec)
}

// A MissingRowError says that an operation has no row.
type MissingRowError struct {
	Name    string
	Nearest string // the operation that was probably meant, "" when none is near
}

// Error names it.
func (e *MissingRowError) Error() string {
	if e.Nearest != "" {
		return fmt.Sprintf("%s: no such operation; the nearest is %s", e.Name, e.Nearest)
	}
	return fmt.Sprintf("%s: no such operation", e.Name)
}
