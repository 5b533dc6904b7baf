package programs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"strings"
)

// Split cuts a program into cells: its declarations, those that need others
// after these, and then the statements of main, cut at random. It gives nil for
// a program that means something else in pieces: one with an init, or whose
// main declares a name of the package again.
func Split(src string, seed uint64) []string {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments)
	if err != nil {
		return nil
	}
	text := func(n ast.Node) string {
		return src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset]
	}
	r := rand.New(rand.NewPCG(seed, 17))
	var parts []part
	var main *ast.FuncDecl
	names := map[string]bool{}
	var imports []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv == nil && d.Name.Name == "init":
				return nil
			case d.Recv == nil && d.Name.Name == "main":
				main = d
				continue
			}
			p := part{text: text(d), uses: usedNames(d)}
			if d.Recv != nil {
				base, generic := receiverBase(d.Recv.List[0].Type)
				p.method = base
				p.with = generic || r.IntN(2) == 0
			} else {
				p.names = []string{d.Name.Name}
			}
			parts = append(parts, p)
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				imports = append(imports, text(d))
				continue
			}
			p := part{text: text(d), uses: usedNames(d)}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.names = append(p.names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						p.names = append(p.names, id.Name)
					}
				}
			}
			parts = append(parts, p)
		}
	}
	for _, p := range parts {
		for _, n := range p.names {
			names[n] = true
		}
	}
	cells := append([]string{strings.Join(imports, "\n")}, join(order(parts), r)...)
	if main == nil {
		return cells
	}
	body := main.Body.List
	for _, st := range body {
		for _, n := range declares(st) {
			if names[n] {
				return nil
			}
		}
	}
	if !separable(main.Body) {
		if len(body) == 0 {
			return cells
		}
		return append(cells, src[fset.Position(body[0].Pos()).Offset:fset.Position(main.Body.Rbrace).Offset])
	}
	var pieces []string
	for i, st := range body {
		end := fset.Position(main.Body.Rbrace).Offset
		if i+1 < len(body) {
			end = fset.Position(body[i+1].Pos()).Offset
		}
		pieces = append(pieces, src[fset.Position(st.Pos()).Offset:end])
	}
	return append(cells, join(pieces, r)...)
}

// join puts neighbours together at random.
func join(pieces []string, r *rand.Rand) (out []string) {
	for i, p := range pieces {
		if i > 0 && r.IntN(5) < 3 {
			out[len(out)-1] += "\n" + p
			continue
		}
		out = append(out, p)
	}
	return out
}

// A part is one declaration of a program.
type part struct {
	text   string
	names  []string
	uses   map[string]bool
	method string // type of a method's receiver
	with   bool   // stands in one cell with its type
}

// order puts parts that need one another into one piece, and each piece behind
// those that it needs.
func order(parts []part) []string {
	where := map[string]int{}
	for i, p := range parts {
		for _, n := range p.names {
			where[n] = i
		}
	}
	n := len(parts)
	needs := make([][]bool, n)
	for i := range needs {
		needs[i] = make([]bool, n)
	}
	for i, p := range parts {
		for u := range p.uses {
			if k, ok := where[u]; ok && k != i {
				needs[i][k] = true
			}
		}
		if p.method == "" {
			continue
		}
		t, ok := where[p.method]
		if !ok {
			continue
		}
		needs[i][t] = true
		if p.with {
			needs[t][i] = true
		}
	}
	for i, p := range parts { // who uses a type may use its methods
		for m, q := range parts {
			if t, ok := where[q.method]; ok && q.method != "" && m != i && t != i && needs[i][t] && p.method != q.method {
				needs[i][m] = true
			}
		}
	}
	for k := range n {
		for i := range n {
			if needs[i][k] {
				for j := range n {
					needs[i][j] = needs[i][j] || needs[k][j]
				}
			}
		}
	}
	done := make([]bool, n)
	var out []string
	for range n {
		for i := range n {
			if done[i] {
				continue
			}
			ready := true
			for j := range n {
				ready = ready && (!needs[i][j] || done[j] || needs[j][i] || i == j)
			}
			if !ready {
				continue
			}
			var texts []string
			for j := range n {
				if j == i || needs[i][j] && needs[j][i] {
					done[j] = true
					texts = append(texts, parts[j].text)
				}
			}
			out = append(out, strings.Join(texts, "\n"))
			break
		}
	}
	return out
}

func usedNames(n ast.Node) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			out[id.Name] = true
		}
		return true
	})
	return out
}

func receiverBase(t ast.Expr) (name string, generic bool) {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiverBase(t.X)
	case *ast.ParenExpr:
		return receiverBase(t.X)
	case *ast.IndexExpr:
		name, _ = receiverBase(t.X)
		return name, true
	case *ast.IndexListExpr:
		name, _ = receiverBase(t.X)
		return name, true
	case *ast.Ident:
		return t.Name, false
	}
	return "", false
}

// declares lists the names that a statement declares at its own level.
func declares(st ast.Stmt) (out []string) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		if st.Tok == token.DEFINE {
			for _, l := range st.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					out = append(out, id.Name)
				}
			}
		}
	case *ast.DeclStmt:
		if g, ok := st.Decl.(*ast.GenDecl); ok {
			for _, s := range g.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						out = append(out, id.Name)
					}
				}
			}
		}
	}
	return out
}

// separable tells whether statements mean the same in cells of their own: none
// defers, recovers, returns or jumps to another.
func separable(body *ast.BlockStmt) bool {
	ok := true
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt, *ast.ReturnStmt:
			ok = false
		case *ast.BranchStmt:
			ok = ok && n.Tok != token.GOTO
		}
		return ok
	})
	return ok && !slices.ContainsFunc(body.List, func(st ast.Stmt) bool {
		l, isLabel := st.(*ast.LabeledStmt)
		if !isLabel {
			return false
		}
		_, isBlock := l.Stmt.(*ast.BlockStmt)
		return isBlock
	})
}
