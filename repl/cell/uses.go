//lint:file-ignore SA1019 the parser's objects tell locals from free names, which is all they are asked for

package cell

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// Uses gives the names of the session that a cell reads and those that it
// declares or sets, sorted, as far as its text tells: what a function of an
// earlier cell reads and sets counts for the cell that names it. A text that is
// no Go reads and sets nothing. It must be asked before the cell runs.
func (s *Scope) Uses(text string) (reads, writes []string) {
	u := &uses{s: s, reads: map[string]bool{}, writes: map[string]bool{}, seen: map[string]bool{}}
	text, _, _ = rewriteTokens(text)
	u.text(text, true)
	return sorted(u.reads), sorted(u.writes)
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// A uses collects the free names of texts.
type uses struct {
	s             *Scope
	reads, writes map[string]bool
	seen          map[string]bool // functions that were looked into
}

// text takes a cell, or a function of an earlier one, which declares nothing anew.
func (u *uses) text(text string, declares bool) {
	var decls, body strings.Builder
	for _, k := range split(text) {
		switch k.kind {
		case token.IMPORT, token.PACKAGE:
		case token.FUNC, token.TYPE, token.CONST:
			decls.WriteString(k.text + "\n")
		default:
			body.WriteString(k.text + "\n")
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+decls.String()+"func _() {\n"+body.String()+"}\n", 0)
	if err != nil {
		return
	}
	for _, d := range f.Decls {
		if declares {
			u.declared(d)
		}
		u.walk(d)
	}
}

// declared notes what a declaration, or the body of the cell, declares.
func (u *uses) declared(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				u.writes[spec.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					u.writes[id.Name] = true
				}
			}
		}
	case *ast.FuncDecl:
		if d.Name.Name != "_" && d.Recv == nil {
			u.writes[d.Name.Name] = true
		}
		if d.Name.Name == "_" && d.Body != nil {
			for _, st := range d.Body.List {
				for _, id := range topNames(unlabelled(st)) {
					u.writes[id.Name] = true
				}
			}
		}
	}
}

// walk notes the free names in syntax.
func (u *uses) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			u.read(n)
		case *ast.SelectorExpr:
			u.walk(n.X)
			return false
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); !ok || id.Obj != nil {
				u.walk(n.Key)
			}
			u.walk(n.Value)
			return false
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				id, plain := l.(*ast.Ident)
				if n.Tok != token.DEFINE {
					u.write(l)
				}
				if !plain || n.Tok != token.DEFINE && n.Tok != token.ASSIGN {
					u.walk(l)
				} else if n.Tok == token.ASSIGN && id.Obj != nil {
					u.read(id)
				}
			}
			for _, r := range n.Rhs {
				u.walk(r)
			}
			return false
		case *ast.IncDecStmt:
			u.write(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				u.write(n.Key)
				u.write(n.Value)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (strings.HasSuffix(f.Sel.Name, "InPlace") || f.Sel.Name == "SetIndex") {
				u.write(f.X)
			}
		}
		return true
	})
}

// free says whether an identifier is a name of the session.
func (u *uses) free(id *ast.Ident) bool { return id.Obj == nil && u.s.names[id.Name] != nil }

func (u *uses) read(id *ast.Ident) {
	if !u.free(id) {
		return
	}
	u.reads[id.Name] = true
	e := u.s.names[id.Name]
	if e.piece == nil || u.seen[id.Name] {
		return
	}
	u.seen[id.Name] = true
	u.text(e.piece.text, false)
}

// write notes the variable that is set when something in it is.
func (u *uses) write(e ast.Expr) {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if u.free(x) {
				u.writes[x.Name] = true
			}
			return
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return
		}
	}
}
