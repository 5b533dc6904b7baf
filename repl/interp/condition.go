package interp

import (
	"errors"
	"go/ast"
	"sync/atomic"

	"github.com/tpush/tpush/repl/cell"
)

// A Condition is a boolean expression compiled for a place in a cell. It costs
// what the machine needs for the expression: the slots of the locals are known,
// and the activation that it runs in is used again.
type Condition struct {
	in    *Interp
	code  *code
	free  []*cell.Local // locals that it uses, in the first slots
	test  func(*fr) bool
	spare atomic.Pointer[fr] // for the next evaluation
}

// A NoConditionError says that a text is Go, but no boolean expression.
type NoConditionError struct{ Text, Type string }

func (e *NoConditionError) Error() string {
	if e.Type == "" {
		return e.Text + ": a condition is one expression of type bool"
	}
	return e.Text + ": a condition is of type bool, not " + e.Type
}

// CompileCondition compiles a condition for a place with the given locals in
// scope, and the session's names as the running cell sees them. The error is a
// *NoConditionError, *cell.CompileError or *cell.InternalError.
func (in *Interp) CompileCondition(text string, at *cell.Local) (*Condition, error) {
	in.types.Lock()
	defer in.types.Unlock()
	r := in.run
	e, err := in.preview(text, at, func(name string) bool { return r != nil && r.reached[name] })
	if err != nil {
		return nil, err
	}
	if len(e.Unit.Body) != 1 || !e.Unit.Body[0].Show {
		return nil, &NoConditionError{Text: text}
	}
	if len(e.Shown) != 1 || e.Unit.Info.TypeOf(e.Unit.Body[0].Stmt.(*ast.ExprStmt).X) == nil {
		return nil, &NoConditionError{Text: text}
	}
	c := &Condition{in: in}
	ok, err := in.machine.linkCondition(e, c)
	if err != nil {
		return nil, &cell.InternalError{Stage: "interpret", Err: err}
	}
	if !ok {
		return nil, &NoConditionError{text, e.Shown[0].Type}
	}
	for _, name := range e.Locals {
		l := at
		for l.Name != name {
			l = l.Up
		}
		c.free = append(c.free, l)
	}
	return c, nil
}

// linkCondition compiles the only expression of an evaluation; ok is false when
// it is not boolean.
func (m *machine) linkCondition(e *cell.Evaluation, into *Condition) (ok bool, err error) {
	if _, _, err = m.link(e.Unit, false); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	defer catchFault(&err)
	c := m.evaluation(e)
	x := c.expr(e.Unit.Body[0].Stmt.(*ast.ExprStmt).X)
	if x.B == nil {
		return false, nil
	}
	into.code, into.test = c.code, x.B
	return true, nil
}

// Holds evaluates the condition in the top frame of the calling goroutine. Hooks
// are passed by. The error is an *EvalError or *UnknownLocalError.
func (c *Condition) Holds(g *Goroutine) (holds bool, err error) {
	s := g.stack()
	s.trim()
	f := c.spare.Swap(nil)
	if f == nil {
		f = newFr(c.code, nil, s)
	}
	f.st = s
	if s.depth > 0 {
		top := s.frame(s.depth - 1)
		for i, l := range c.free {
			p := top.variable(l)
			if p == nil {
				return false, &UnknownLocalError{l.Name}
			}
			f.p[i] = p
		}
	} else if len(c.free) > 0 {
		return false, &UnknownLocalError{c.free[0].Name}
	}
	away := s.enter()
	defer s.exit(away)
	e := evaluating{s: s, depth: s.depth, snap: s.snap}
	s.quiet++
	defer e.end(&err)
	f.f = s.push(c.code.site)
	f.f.act = f
	holds = c.test(f)
	e.ended = true
	clear(f.p) // it keeps nothing alive
	f.f.act = nil
	f.f.Live = false
	s.depth = e.depth
	c.spare.Store(f)
	return holds, nil
}

// An evaluating is the state of a goroutine before an evaluation on it.
type evaluating struct {
	s     *stack
	depth int
	snap  *panicSnapshot
	ended bool
}

// end gives the goroutine its state back. It is deferred: the panic of an
// evaluation that did not end becomes an *EvalError.
func (e *evaluating) end(err *error) {
	s := e.s
	s.enter() // native code panicked
	if s.quiet--; s.quiet == 0 && s.cut.Load() {
		s.uncut()
	}
	s.snap = e.snap
	if e.ended {
		return
	}
	v := recover()
	for d := e.depth; d < s.depth; d++ {
		s.frame(d).Live = false
	}
	s.depth = e.depth
	if v == nil {
		return // the goroutine is unwound
	}
	v = s.in.registry.plainPanic(v)
	*err = &EvalError{Value: v, Text: s.in.registry.panicText(v)}
	var inner *EvalError
	if x, ok := v.(error); ok && errors.As(x, &inner) {
		*err = inner
	}
}
