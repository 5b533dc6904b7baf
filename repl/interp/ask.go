package interp

import "github.com/tpush/tpush/repl/cell"

// A Variable is a session variable with its value.
type Variable struct {
	Name, Type string
	Value      any
	Cell       int // that declared it
}

// Variables lists the session's variables by name.
func (in *Interp) Variables() []Variable {
	var out []Variable
	for _, v := range in.scope.Variables() {
		in.mu.Lock()
		p, ok := in.vars[v.Internal]
		in.mu.Unlock()
		if !ok {
			continue
		}
		out = append(out, Variable{v.Name, v.Type, valueOf(p.Elem()), v.Cell})
	}
	return out
}

// A Candidate is one way to go on at the cursor.
type Candidate = cell.Candidate

// Complete lists what may stand at the byte offset pos of src.
func (in *Interp) Complete(src string, pos int) []Candidate { return in.scope.Complete(src, pos) }

// TypeOf gives the type of an expression. The error is a *cell.CompileError.
func (in *Interp) TypeOf(expr string) (string, error) { return in.scope.TypeOf(expr) }

// Packages lists the import paths that cells can use.
func (in *Interp) Packages() []string { return in.importer.paths() }
