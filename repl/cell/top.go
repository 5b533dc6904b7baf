package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// lowerTop lowers the cell's own statements; the last expression is kept in _n
// and shown.
func (c *compiler) lowerTop(u *Unit) []ast.Stmt {
	p := c.body.Body.Lbrace
	list := c.body.Body.List
	if c.last != nil && len(list) > 0 {
		if es, ok := list[len(list)-1].(*ast.ExprStmt); ok {
			list = append(list[:len(list)-1:len(list)-1], c.show(es, u)...)
		}
	}
	if c.isMain {
		for _, name := range []string{"init", "main"} {
			if in := c.hoisted[name]; in != "" {
				list = append(list, exprStmt(c.typed(call(ident(in, p), p), types.NewTuple())))
				c.madeUp([]ast.Stmt{nil, list[len(list)-1]})
			}
		}
	}
	f := &function{c: c, name: "(cell)", sig: types.NewSignatureType(nil, nil, nil, nil, nil, false), top: true}
	c.body.Body.List = list
	if len(list) == 0 && !c.hasForeignRedo() {
		return nil
	}
	f.lower(nil, c.body.Type, c.body.Body)
	return c.body.Body.List
}

func (c *compiler) hasForeignRedo() bool {
	for _, m := range c.foreign {
		if m.redo {
			return true
		}
	}
	return false
}

// show makes the statements that keep and show the last expression.
func (c *compiler) show(es *ast.ExprStmt, u *Unit) []ast.Stmt {
	p := es.Pos()
	tv := c.info.Types[es.X]
	tuple, isTuple := tv.Type.(*types.Tuple)
	switch {
	case tv.Type == nil, tv.IsVoid(), isTuple && tuple.Len() == 0:
		return []ast.Stmt{es}
	case c.prints(es.X):
		return []ast.Stmt{es}
	case isTuple:
		var out []ast.Stmt
		names := make([]string, tuple.Len())
		as := &ast.AssignStmt{TokPos: p, Tok: token.ASSIGN, Rhs: []ast.Expr{es.X}}
		for i := range names {
			names[i] = c.temp("v")
			t := tuple.At(i).Type()
			out = append(out, declStmt(varDecl(names[i], c.typeExpr(t, p), nil, p)))
			as.Lhs = append(as.Lhs, ident(names[i], p))
		}
		out = append(out, as)
		c.madeUp(out)
		if c.quiet {
			return out
		}
		for i, name := range names {
			u.Shown = append(u.Shown, ShownType{Type: c.s.TypeString(tuple.At(i).Type())})
			out = append(out, exprStmt(rt("Show", p, addr(ident(name, p), p))))
		}
		return out
	}
	t := types.Default(tv.Type)
	if tv.IsNil() {
		t = types.Universe.Lookup("any").Type()
	}
	name := "_" + strconv.Itoa(c.src.Cell)
	in := c.s.fresh(name)
	e := &entry{name: name, internal: in, obj: types.NewVar(p, c.pkg, in, t), cell: c.src.Cell}
	c.resultVars = map[string]*entry{name: e, "ans": e}
	c.resultDecls = c.storageDecls(in, t, p)
	id := ident(in, p)
	c.typed(id, t)
	u.Vars = append(u.Vars, Variable{Name: name, Internal: in, Type: c.s.TypeString(t), Cell: c.src.Cell})
	out := []ast.Stmt{
		&ast.AssignStmt{Lhs: []ast.Expr{id}, TokPos: p, Tok: token.ASSIGN, Rhs: []ast.Expr{es.X}},
		exprStmt(rt("Var", p, strLit(in, p), addr(ident(in, p), p))),
	}
	if c.quiet {
		return out
	}
	shown := ShownType{Type: c.s.TypeString(t), Name: name}
	if tv.IsNil() {
		shown.Type = "untyped nil"
	}
	u.Shown = append(u.Shown, shown)
	// By name: handing the variable over once more would let the interpreter
	// compare all methods of its type again.
	return append(out, exprStmt(rt("ShowVar", p, strLit(in, p))))
}

// prints tells whether an expression is a call of the fmt.Print family, whose
// results nobody wants to see.
func (c *compiler) prints(e ast.Expr) bool {
	call, ok := unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn, ok := c.info.Uses[f.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "fmt" {
		return false
	}
	return strings.HasPrefix(fn.Name(), "Print") || strings.HasPrefix(fn.Name(), "Fprint")
}
