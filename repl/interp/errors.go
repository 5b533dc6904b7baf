package interp

import (
	"fmt"
	"time"

	"github.com/tpush/tpush/trace"
)

// A PanicError is a panic that no cell recovered.
type PanicError struct {
	Value any          // what was panicked with
	Stack *trace.Stack // where, innermost frame first
	Text  string       // as Go prints it, without "panic: "
}

func (e *PanicError) Error() string { return "panic: " + e.Text }

// Unwrap gives the panic's value when it is an error, so that errors.As reaches
// a typed error of the runtime.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// An InterruptError says that the cell was stopped from outside.
type InterruptError struct {
	Stack     *trace.Stack
	Abandoned bool // it did not stop: its goroutine was left behind
}

func (e *InterruptError) Error() string {
	if e.Abandoned {
		return "interrupted: the cell waits in a call that can't be stopped, and was left behind"
	}
	return "interrupted"
}

// A TimeoutError says that the cell ran longer than it may.
type TimeoutError struct {
	After     time.Duration
	Stack     *trace.Stack
	Abandoned bool
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("stopped after %v", e.After) }

// A DepthError says that calls were nested too deep.
type DepthError struct {
	Frames int
	Stack  *trace.Stack
}

func (e *DepthError) Error() string {
	return fmt.Sprintf("calls nested deeper than %d frames", e.Frames)
}

// A DeadlockError says that all goroutines of a cell wait and nothing can wake
// them.
type DeadlockError struct {
	Waits []Wait
}

// A Wait is one goroutine that waits.
type Wait struct {
	For   string // as Go writes it: "chan receive", "select", "sync.Mutex.Lock"
	Stack *trace.Stack
}

func (e *DeadlockError) Error() string {
	return "all goroutines are asleep - deadlock!"
}

// An ExitError says that the program asked to end.
type ExitError struct {
	Code  int
	Stack *trace.Stack
}

func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// A GoroutineError is a panic in a goroutine that a cell started.
type GoroutineError struct {
	Cell  int
	Panic *PanicError
}

func (e *GoroutineError) Error() string { return "panic in a goroutine: " + e.Panic.Text }
func (e *GoroutineError) Unwrap() error { return e.Panic }
