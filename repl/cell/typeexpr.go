package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// typeExpr writes a type as syntax at a position, with internal names.
func (c *compiler) typeExpr(t types.Type, p token.Pos) ast.Expr {
	if c.extra == nil {
		c.extra = map[string]string{}
	}
	t = plainSequences(t)
	text := types.TypeString(t, func(pkg *types.Package) string {
		if pkg.Path() == mainPath {
			return ""
		}
		if pkg.Path() == c.s.cfg.Tensor.Path {
			c.extra[tensorPackage] = pkg.Path()
			return tensorPackage
		}
		name := "ʹ" + pkg.Name()
		for n := 2; c.extra[name] != "" && c.extra[name] != pkg.Path(); n++ {
			name = fmt.Sprintf("ʹ%s%d", pkg.Name(), n)
		}
		c.extra[name] = pkg.Path()
		return name
	})
	e, err := parser.ParseExpr(text)
	if err != nil {
		panic(&InternalError{"type " + text, err})
	}
	e = c.ownGenerics(e)
	renames := map[string]string{}
	c.namesOf(t, renames, map[types.Type]bool{})
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if in, ok := renames[n.Name]; ok {
				n.Name = in
			}
		case *ast.FuncType:
			unname(n.Params)
			unname(n.Results)
		}
		return true
	})
	setPos(e, p)
	return e
}

// ownGenerics writes the generic types of the standard library as types of the
// runtime.
func (c *compiler) ownGenerics(e ast.Expr) ast.Expr {
	return astutil.Apply(e, nil, func(cur *astutil.Cursor) bool {
		x, ok := cur.Node().(*ast.IndexExpr)
		if !ok {
			return true
		}
		if s, ok := x.X.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				if name := genericTypes[c.extra[id.Name]+"."+s.Sel.Name]; name != "" {
					cur.Replace(sel(ident(runtimePackage, x.Pos()), name, x.Pos()))
				}
			}
		}
		return true
	}).(ast.Expr)
}

// unname drops the names of parameters. They mean nothing in a type, and the
// interpreter would take them for variables of the session that the
// declaration depends on.
func unname(l *ast.FieldList) {
	if l == nil {
		return
	}
	var out []*ast.Field
	for _, f := range l.List {
		for range max(len(f.Names), 1) {
			out = append(out, &ast.Field{Type: f.Type})
		}
	}
	l.List = out
}

// nameless drops the names of parameters wherever a function type stands in e.
func nameless(e ast.Node) {
	ast.Inspect(e, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			unname(f.Params)
			unname(f.Results)
		}
		return true
	})
}

// namesOf collects the storage names of the cell types inside t.
func (c *compiler) namesOf(t types.Type, out map[string]string, seen map[types.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	name := func(o types.Object) {
		if in, ok := c.s.internal[o]; ok {
			out[o.Name()] = in
		}
	}
	args := func(l *types.TypeList) {
		for a := range l.Types() {
			c.namesOf(a, out, seen)
		}
	}
	switch t := t.(type) {
	case *types.Named:
		name(t.Obj())
		args(t.TypeArgs())
	case *types.Alias:
		name(t.Obj())
		args(t.TypeArgs())
	case *types.Pointer:
		c.namesOf(t.Elem(), out, seen)
	case *types.Slice:
		c.namesOf(t.Elem(), out, seen)
	case *types.Array:
		c.namesOf(t.Elem(), out, seen)
	case *types.Chan:
		c.namesOf(t.Elem(), out, seen)
	case *types.Map:
		c.namesOf(t.Key(), out, seen)
		c.namesOf(t.Elem(), out, seen)
	case *types.Signature:
		c.namesOf(t.Params(), out, seen)
		c.namesOf(t.Results(), out, seen)
	case *types.Tuple:
		for v := range t.Variables() {
			c.namesOf(v.Type(), out, seen)
		}
	case *types.Struct:
		for v := range t.Fields() {
			c.namesOf(v.Type(), out, seen)
		}
	}
}

// setPos puts every node of e at p.
func setPos(e ast.Node, p token.Pos) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			n.NamePos = p
		case *ast.StarExpr:
			n.Star = p
		case *ast.ArrayType:
			n.Lbrack = p
		case *ast.MapType:
			n.Map = p
		case *ast.FuncType:
			n.Func = p
		case *ast.ChanType:
			n.Begin, n.Arrow = p, p
		case *ast.StructType:
			n.Struct = p
		case *ast.InterfaceType:
			n.Interface = p
		case *ast.BasicLit:
			n.ValuePos = p
		case *ast.Ellipsis:
			n.Ellipsis = p
		case *ast.FieldList:
			n.Opening, n.Closing = p, p
		case *ast.IndexExpr:
			n.Lbrack, n.Rbrack = p, p
		case *ast.IndexListExpr:
			n.Lbrack, n.Rbrack = p, p
		case *ast.ParenExpr:
			n.Lparen, n.Rparen = p, p
		case *ast.UnaryExpr:
			n.OpPos = p
		case *ast.BinaryExpr:
			n.OpPos = p
		case *ast.CallExpr:
			n.Lparen, n.Rparen = p, p
		}
		return true
	})
}
