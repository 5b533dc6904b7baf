package interp

import (
	"reflect"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// An Evaluation is Go compiled for a place in a cell. It can be run again and
// again, each time with the locals of another activation.
type Evaluation struct {
	Text string
	Free []string // locals that it uses
	in   *Interp
	unit *cell.Unit
	sh   []cell.ShownType
	run  func(locals []unsafe.Pointer) []any // nil: only declarations
}

// An EvalError says that an evaluation panicked. The cell goes on.
type EvalError struct {
	Value any
	Text  string
}

func (e *EvalError) Error() string { return "panic: " + e.Text }

// Unwrap gives the panic's value when it is an error.
func (e *EvalError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// An UnknownLocalError says that a local has no value to be seen.
type UnknownLocalError struct{ Name string }

func (e *UnknownLocalError) Error() string { return e.Name + " is not known here" }

// CompileEval compiles an expression or statements for a place with the given
// locals in scope, and the session's names as the running cell sees them. The
// error is a *cell.CompileError or *cell.InternalError.
func (in *Interp) CompileEval(text string, at *cell.Local) (*Evaluation, error) {
	in.types.Lock()
	defer in.types.Unlock()
	r := in.run
	c, err := in.preview(text, at, func(name string) bool { return r != nil && r.reached[name] })
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Text: text, in: in, unit: c.Unit, Free: c.Locals, sh: c.Shown}
	if e.run, err = in.machine.linkEval(c); err != nil {
		return nil, &cell.InternalError{Stage: "interpret", Err: err}
	}
	return e, nil
}

// CheckEval tells what is wrong with an expression for a place that the running
// cell has yet to come to: the variables that it declares further down count.
func (in *Interp) CheckEval(text string, at *cell.Local) error {
	in.types.Lock()
	defer in.types.Unlock()
	_, err := in.preview(text, at, func(string) bool { return true })
	return err
}

// preview compiles an evaluation with the names of the running unit in scope.
func (in *Interp) preview(text string, at *cell.Local, reached func(name string) bool) (*cell.Evaluation, error) {
	undo := in.scope.Preview(in.unit, reached)
	defer undo()
	return in.scope.CompileEval(text, at)
}

// Run evaluates on the calling goroutine: local gives the pointers of locals.
// Hooks are passed by. What it declares becomes part of the session. The error
// is an *EvalError or *UnknownLocalError.
func (e *Evaluation) Run(local func(name string) reflect.Value) ([]Shown, error) {
	out, err := e.call(local)
	if err != nil {
		return nil, err
	}
	if e.unit != nil {
		e.in.types.Lock()
		e.unit.Commit(func(string) bool { return true })
		e.in.types.Unlock()
		e.unit = nil
	}
	values := make([]Shown, len(out))
	for i, v := range out {
		values[i] = e.in.shown(v)
		values[i].Type = e.sh[i].Type
	}
	return values, nil
}

// Types are those of the values it gives, as the user writes them.
func (e *Evaluation) Types() []string {
	list := make([]string, len(e.sh))
	for i, t := range e.sh {
		list[i] = t.Type
	}
	return list
}

func (e *Evaluation) call(local func(name string) reflect.Value) (out []any, err error) {
	if e.run == nil {
		return nil, nil // only declarations
	}
	args := make([]unsafe.Pointer, len(e.Free))
	for i, name := range e.Free {
		p := local(name)
		if !p.IsValid() {
			return nil, &UnknownLocalError{name}
		}
		args[i] = p.UnsafePointer()
	}
	s := e.in.stacks.current()
	if s == nil { // no cell runs: one for the time of the evaluation
		s = e.in.stacks.attach(e.in, newRun(0), nil)
		defer e.in.stacks.detach(s)
	}
	away := s.enter()
	defer s.exit(away)
	s.trim()
	state := evaluating{s: s, depth: s.depth, snap: s.snap}
	if s.quiet == 0 && s.cut.Load() {
		s.uncut() // that of one before
	}
	s.quiet++
	defer state.end(&err)
	out = e.run(args)
	state.ended = true
	return out, nil
}
