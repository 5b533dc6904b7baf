package interp

import (
	"sort"

	"github.com/tpush/tpush/repl/cell"
)

// A Variable is a session variable and what it holds now.
type Variable struct {
	Name  string
	Type  string // as the user writes it
	Value any
	Cell  int // that declared it
	exact any // as interfaces of cells hold it
}

// Shown is the variable as a value to be shown.
func (v Variable) Shown() Shown {
	return Shown{Value: v.Value, Type: v.Type, Name: v.Name, exact: v.exact}
}

// Variables lists the session's variables by name.
func (in *Interp) Variables() []Variable {
	in.types.Lock()
	defer in.types.Unlock()
	return in.variables()
}

// VariablesHere is Variables with those that the running cell has declared so
// far. It is for the cell's own goroutines, or while they wait.
func (in *Interp) VariablesHere() []Variable {
	in.types.Lock()
	defer in.types.Unlock()
	r := in.run
	defer in.scope.Preview(in.unit, func(name string) bool { return r != nil && r.reached[name] })()
	return in.variables()
}

func (in *Interp) variables() []Variable {
	in.mu.Lock()
	defer in.mu.Unlock()
	var list []Variable
	for _, v := range in.scope.Variables() {
		x := Variable{Name: v.Name, Type: v.Type, Cell: v.Cell}
		if p, ok := in.vars[v.Internal]; ok {
			x.exact = in.machine.iface(in.varTypes[v.Internal], p.UnsafePointer())
			x.Value = in.Plain(x.exact)
		}
		list = append(list, x)
	}
	return list
}

// TypeOf gives the type of an expression without running it. The error is a
// *cell.CompileError.
func (in *Interp) TypeOf(expr string) (string, error) {
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.TypeOf(expr)
}

// A Candidate is what may stand at a cursor.
type Candidate = cell.Candidate

// Complete lists what may stand at byte pos of a cell's text and where the
// word begins that it replaces.
func (in *Interp) Complete(text string, pos int) ([]Candidate, int) {
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.CompleteAt(text, pos)
}

// CompleteHere is Complete with what the running cell has declared so far in
// scope. It is for the cell's own goroutines, or while they wait.
func (in *Interp) CompleteHere(text string, pos int) ([]Candidate, int) {
	in.types.Lock()
	defer in.types.Unlock()
	r := in.run
	defer in.scope.Preview(in.unit, func(name string) bool { return r != nil && r.reached[name] })()
	return in.scope.CompleteAt(text, pos)
}

// Packages lists the import paths that cells may use.
func (in *Interp) Packages() []string {
	var list []string
	for p := range in.symbols {
		list = append(list, p)
	}
	sort.Strings(list)
	return list
}

// Uses gives the names of the session that a cell which has not run reads and
// those that it declares or sets, as far as its text tells.
func (in *Interp) Uses(text string) (reads, writes []string) {
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.Uses(text)
}

// Precheck gives the mistakes of a cell that is still being typed; nothing runs
// and nothing is declared.
func (in *Interp) Precheck(text string) []cell.Diagnostic {
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.Precheck(text)
}
