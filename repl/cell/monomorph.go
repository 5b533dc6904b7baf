package cell

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// monomorph makes a function of a generic one of ours by writing the type
// arguments in, unless the session or the cell has it, and gives its name.
func (c *compiler) monomorph(name string, args []ast.Expr) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = types.ExprString(a)
	}
	key := name + "[" + strings.Join(texts, ", ") + "]"
	for _, made := range []map[string]string{c.s.monos, c.monos} {
		if in := made[key]; in != "" {
			return in
		}
	}
	in := c.s.fresh(name + "ʹ")
	c.monos[key] = in
	file, err := parser.ParseFile(c.s.cfg.Fset, fmt.Sprintf("cell[%d]", c.src.Cell), "package main\n"+c.s.generics[name], parser.SkipObjectResolution)
	if err != nil {
		panic(&InternalError{"generic " + name, err})
	}
	d := file.Decls[0].(*ast.FuncDecl)
	with := map[string]ast.Expr{}
	i := 0
	for _, f := range d.Type.TypeParams.List {
		for _, id := range f.Names {
			with[id.Name] = args[i]
			i++
		}
	}
	d.Type.TypeParams = nil
	d.Name.Name = in
	astutil.Apply(d, nil, func(cur *astutil.Cursor) bool {
		switch n := cur.Node().(type) {
		case *ast.Ident:
			if a := with[n.Name]; a != nil && cur.Name() != "Sel" {
				e, err := parser.ParseExpr(types.ExprString(a)) // a node of its own for each place
				if err != nil {
					panic(&InternalError{"generic " + name, err})
				}
				setPos(e, n.Pos())
				if _, named := e.(*ast.Ident); !named && cur.Name() == "Fun" {
					e = &ast.ParenExpr{Lparen: n.Pos(), X: e, Rparen: n.Pos()}
				}
				cur.Replace(e)
			}
		case *ast.IndexExpr:
			if id, ok := n.X.(*ast.Ident); ok && c.s.generics[id.Name] != "" {
				cur.Replace(ident(c.monomorph(id.Name, []ast.Expr{n.Index}), n.Pos()))
			}
		case *ast.IndexListExpr:
			if id, ok := n.X.(*ast.Ident); ok && c.s.generics[id.Name] != "" {
				cur.Replace(ident(c.monomorph(id.Name, n.Indices), n.Pos()))
			}
		}
		return true
	})
	c.monoDecls = append(c.monoDecls, d)
	return in
}

// mentionsTypeParam tells whether a type parameter stands anywhere in t.
func mentionsTypeParam(t types.Type) bool {
	seen := map[types.Type]bool{}
	var in func(t types.Type) bool
	tuple := func(l *types.Tuple) bool {
		for v := range l.Variables() {
			if in(v.Type()) {
				return true
			}
		}
		return false
	}
	in = func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.TypeParam:
			return true
		case *types.Named:
			for a := range t.TypeArgs().Types() {
				if in(a) {
					return true
				}
			}
		case *types.Pointer:
			return in(t.Elem())
		case *types.Slice:
			return in(t.Elem())
		case *types.Array:
			return in(t.Elem())
		case *types.Chan:
			return in(t.Elem())
		case *types.Map:
			return in(t.Key()) || in(t.Elem())
		case *types.Signature:
			return tuple(t.Params()) || tuple(t.Results())
		case *types.Struct:
			for f := range t.Fields() {
				if in(f.Type()) {
					return true
				}
			}
		}
		return false
	}
	return in(t)
}
