package tpu

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// An Error is the only thing this package panics with. Unwrap reaches the typed cause.
type Error struct {
	Op    string       // the operation, "" when none was asked for
	Stack *trace.Stack // where the program was, nil when nobody knows
	Err   error
}

// Error is the cause, led by the operation unless it names it already.
func (e *Error) Error() string {
	s := e.Err.Error()
	if e.Op == "" || len(s) > len(e.Op) && s[:len(e.Op)] == e.Op && s[len(e.Op)] == ':' {
		return s
	}
	var oe *exec.OpError
	if errors.As(e.Err, &oe) {
		return s
	}
	return e.Op + ": " + s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Try runs f and gives the *Error it panicked with, nil when it did not. Other panics go on.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// fail panics with the cause of a refusal.
func (e *engine) fail(name string, err error) {
	var own *Error
	if errors.As(err, &own) {
		panic(own)
	}
	x := &Error{Op: name, Err: err}
	var oe *exec.OpError
	switch {
	case errors.As(err, &oe):
		x.Stack = oe.Stack
	case e != nil:
		x.Stack = e.d.Where()
	}
	panic(x)
}

// refuse panics with an *OperandError about a call that names no engine.
func refuse(name string, err error) { ambientEngine().fail(name, err) }

// An OperandError says that a Go value cannot be an operand.
type OperandError struct {
	Arg  string
	Type string // Go type of the value
	Why  string
}

// Error names the type.
func (e *OperandError) Error() string {
	s := e.Type + " is no operand"
	if e.Arg != "" {
		s = e.Arg + ": " + s
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

func operandError(x any, why string) *OperandError {
	t := "nil"
	if x != nil {
		t = reflect.TypeOf(x).String()
	}
	return &OperandError{Type: t, Why: why}
}

// A NilTensorError says that a *Tensor is nil.
type NilTensorError struct{ Arg string }

// Error names the argument.
func (e *NilTensorError) Error() string {
	if e.Arg == "" {
		return "the tensor is nil"
	}
	return e.Arg + ": the tensor is nil"
}

// A FreedError says that a tensor is used after Free.
type FreedError struct{ Spec shape.Spec }

// Error names the tensor.
func (e *FreedError) Error() string { return fmt.Sprintf("%v was freed", e.Spec) }

// A CastError says that the result of an in-place operation may not be stored in its target.
type CastError struct{ From, To dtype.DType }

// Error names both types.
func (e *CastError) Error() string {
	return fmt.Sprintf("a result of type %v may not be stored in place in %v", e.From, e.To)
}

// A ScalarError says that a tensor of several elements was asked for its only one.
type ScalarError struct{ Spec shape.Spec }

// Error names the tensor.
func (e *ScalarError) Error() string {
	return fmt.Sprintf("%v has %d elements, not one", e.Spec, e.Spec.Size())
}

// A RaggedError says that a nested slice is no box of numbers.
type RaggedError struct {
	Row       []int // which slice
	Len, Want int
}

// Error names the row.
func (e *RaggedError) Error() string {
	return fmt.Sprintf("row %s has %d elements, the first one of its level %d", shape.FormatDims(e.Row), e.Len, e.Want)
}

// An UnmadeTensorError says that a tensor is the zero value of its type: no
// factory and no operation made it.
type UnmadeTensorError struct{}

// Error says so.
func (e *UnmadeTensorError) Error() string {
	return "the tensor is the zero value of tpu.Tensor: nothing made it"
}
