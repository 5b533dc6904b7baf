package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/tpush/tpush/runtime/spelling"
)

// nearest gives the name that stands here and is written most like the unknown
// one of a message of go/types, "" when none is near.
func (c *compiler) nearest(e types.Error) string {
	name, isField := strings.CutPrefix(e.Msg, "unknown field ")
	if isField {
		name, _, _ = strings.Cut(name, " ")
	} else if !strings.HasPrefix(e.Msg, "undefined: ") && !strings.Contains(e.Msg, "has no field or method ") || strings.Contains(e.Msg, ", but does have ") {
		return ""
	}
	var unknown *ast.Ident
	var in ast.Expr // what it is selected from
	ast.Inspect(c.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Pos() == e.Pos || n.Pos() == e.Pos && strings.HasPrefix(e.Msg, "undefined: ") {
				if id, ok := n.X.(*ast.Ident); !ok || n.Sel.Pos() == e.Pos || c.packageOf(id) != nil {
					unknown, in = n.Sel, n.X
				}
			}
		case *ast.Ident:
			if n.Pos() == e.Pos && unknown == nil {
				unknown = n
			}
		}
		return unknown == nil
	})
	if unknown == nil || isField && unknown.Name != name {
		return ""
	}
	want := plain(unknown.Name)
	best, at := "", min(2, (len(want)+1)/3)+1
	consider := func(name string) {
		if d := spelling.Distance(strings.ToLower(want), strings.ToLower(name)); name != want && d < at || name != want && d == at && best != "" && name < best {
			best, at = name, d
		}
	}
	switch {
	case isField:
		fields(c.literalAround(unknown), 0, func(f *types.Var) { consider(f.Name()) })
	case in == nil:
		for name := range c.s.names {
			consider(name)
		}
		for name := range c.hoisted {
			consider(name)
		}
		for name := range c.env {
			consider(name)
		}
		for id, o := range c.info.Defs {
			if o != nil && o.Parent() != nil && o.Parent().Contains(unknown.Pos()) && id.Pos() < unknown.Pos() {
				consider(o.Name())
			}
		}
	default:
		if id, ok := in.(*ast.Ident); ok {
			if p := c.packageOf(id); p != nil {
				for _, name := range p.Scope().Names() {
					if token.IsExported(name) {
						consider(name)
					}
				}
				break
			}
		}
		if t := c.info.TypeOf(in); t != nil {
			eachMember(t, func(o types.Object) { consider(o.Name()) })
		}
	}
	return best
}

// literalAround gives the type of the struct literal that a key stands in.
func (c *compiler) literalAround(key *ast.Ident) types.Type {
	t := types.Type(types.Typ[types.Invalid])
	ast.Inspect(c.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			for _, e := range lit.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key == key && c.info.TypeOf(lit) != nil {
					t = c.info.TypeOf(lit)
				}
			}
		}
		return true
	})
	return t
}

// packageOf gives the package that an identifier names, nil for none.
func (c *compiler) packageOf(id *ast.Ident) *types.Package {
	if p, ok := c.info.Uses[id].(*types.PkgName); ok {
		return p.Imported()
	}
	return nil
}

// eachMember visits the methods and fields that a value of a type has and that
// cells may name.
func eachMember(t types.Type, visit func(types.Object)) {
	see := func(o types.Object) {
		if o.Exported() || o.Pkg() != nil && o.Pkg().Path() == mainPath {
			visit(o)
		}
	}
	recv := t
	if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
		recv = types.NewPointer(t)
	}
	for s := range types.NewMethodSet(recv).Methods() {
		see(s.Obj())
	}
	fields(t, 0, func(f *types.Var) { see(f) })
}
