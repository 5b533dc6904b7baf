package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A declSource is a declaration that is kept as text: a function or method to
// compile it again, a type to know it again.
type declSource struct {
	name    string // P.Inc for a method
	pos     token.Pos
	uses    map[string]bool
	literal string
}

// collectSources notes the cell's declarations before the sugar and the
// lowering change them.
func (c *compiler) collectSources() {
	c.sources = nil
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d == c.body {
				continue
			}
			name := d.Name.Name
			if id := baseName(d.Recv); id != nil {
				name = id.Name + "." + name
			} else if d.Recv != nil {
				continue
			}
			c.sources = append(c.sources, declSource{name: name, pos: d.Pos(), uses: freeNames(d)})
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				sp := spec.(*ast.TypeSpec)
				c.sources = append(c.sources, declSource{name: sp.Name.Name, pos: sp.Pos(), literal: c.typeText(sp)})
			}
		}
	}
}

// freeNames lists the names of the session or the cell that a function uses.
func freeNames(d *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(m ast.Node) bool {
				if id, ok := m.(*ast.Ident); ok && isFree(id) {
					out[id.Name] = true
				}
				return true
			})
			return false
		case *ast.Ident:
			if n != d.Name && isFree(n) {
				out[n.Name] = true
			}
		}
		return true
	})
	return out
}

// isFree tells whether an identifier is not a local of its function.
func isFree(id *ast.Ident) bool {
	if id.Obj == nil {
		return types.Universe.Lookup(id.Name) == nil
	}
	switch id.Obj.Decl.(type) {
	case *ast.FuncDecl:
		return true
	case *ast.TypeSpec, *ast.ValueSpec:
		return true // perhaps a local one: one name too many does no harm
	}
	return false
}
