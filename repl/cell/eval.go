package cell

import (
	"fmt"
	"go/token"
	"go/types"
)

// An Evaluation is Go compiled for a place in a cell that runs: the unit's
// statements use the locals there as variables.
type Evaluation struct {
	Unit   *Unit
	Locals []string     // that it uses
	Vars   []*types.Var // what stands for them in the unit
	Shown  []ShownType
}

// An evaluation is the state of a compiler that compiles one.
type evaluation struct {
	locals map[string]*Local
	used   []*Local
	vars   map[*Local]*types.Var
}

// evalSuffix makes the internal names of locals; messages lose it.
const evalSuffix = "ʹ99999"

// CompileEval compiles statements, or an expression, in the scope of a place
// whose locals are given, the session's names around them. The error is a
// *CompileError or *InternalError.
func (s *Scope) CompileEval(text string, at *Local) (e *Evaluation, err error) {
	defer func() {
		if r := recover(); r != nil {
			if x, ok := r.(*InternalError); ok {
				e, err = nil, x
				return
			}
			e, err = nil, &InternalError{"evaluate", fmt.Errorf("%v", r)}
		}
	}()
	src := Source{Text: text}
	c := &compiler{s: s, src: &src, lines: lineStarts(text), skip: map[string]bool{}, eval: &evaluation{locals: map[string]*Local{}}}
	for ; at != nil; at = at.Up {
		if c.eval.locals[at.Name] == nil {
			c.eval.locals[at.Name] = at
		}
	}
	u, again, err := c.compile()
	for name, why := range again {
		return nil, &CompileError{[]Diagnostic{{Line: 1, Column: 1, Kind: "type", Msg: name + ": " + why}}}
	}
	if err != nil {
		return nil, err
	}
	e = &Evaluation{Unit: u, Shown: u.Shown}
	for _, l := range c.eval.used {
		e.Locals, e.Vars = append(e.Locals, l.Name), append(e.Vars, c.eval.vars[l])
	}
	return e, nil
}

// local gives the internal name of a local that an evaluation may use.
func (e *evaluation) local(name string) (string, bool) {
	if e == nil || e.locals[name] == nil {
		return "", false
	}
	l := e.locals[name]
	for _, u := range e.used {
		if u == l {
			return name + evalSuffix, true
		}
	}
	e.used = append(e.used, l)
	return name + evalSuffix, true
}

// insert brings the used locals into a package's scope.
func (e *evaluation) insert(pkg *types.Package) {
	if e == nil {
		return
	}
	e.vars = map[*Local]*types.Var{}
	for _, l := range e.used {
		e.vars[l] = types.NewVar(token.NoPos, pkg, l.Name+evalSuffix, l.Type)
		pkg.Scope().Insert(e.vars[l])
	}
}

// Preview enters the names of a unit that still runs in the scope, those of
// variables as far as the run reached them; undo takes them out again.
func (s *Scope) Preview(u *Unit, reached func(internal string) bool) (undo func()) {
	if u == nil || u.commit == nil {
		return func() {}
	}
	return u.commit(reached)
}
