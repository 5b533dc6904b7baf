package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Local is a variable of a function that is in scope at a site: a list,
// innermost declaration first.
type Local struct {
	Name  string
	Slot  int        // among the variables of its activation
	Param bool       // of the function, its receiver or a named result
	Type  types.Type // as the cell was checked
	Up    *Local
}

// HookKind says what a site is for a debugger.
type HookKind uint8

// The kinds of sites.
const (
	NoHook    HookKind = iota // only a program counter
	Statement                 // before a statement
	Turn                      // at the start of a turn of a loop, the first one too
)

// Begins tells whether s is the statement of the loop whose turn t begins.
func (s *Site) Begins(t *Site) bool {
	return s.Kind == Statement && s.Cell == t.Cell && s.Line == t.Line && s.Column == t.Column && s.Func == t.Func
}

// Assigned lists the variables that a statement gives a value, as the user
// writes them.
func Assigned(st ast.Stmt) (out []string) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		for _, l := range st.Lhs {
			if id, ok := unparen(l).(*ast.Ident); ok && id.Name != "_" {
				out = append(out, plain(id.Name))
			}
		}
	case *ast.DeclStmt:
		if g, ok := st.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					out = append(out, plain(id.Name))
				}
			}
		}
	}
	return out
}
