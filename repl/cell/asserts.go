package cell

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// assertable tells whether the interpreter can be trusted with an assertion to
// t: all but interfaces with methods that types of cells can have.
func (c *compiler) assertable(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return true
	}
	_, param := types.Unalias(t).(*types.TypeParam)
	return param
}

// implementers lists the types of cells, and pointers to them, that have the
// methods of an interface.
func (c *compiler) implementers(i *types.Interface) (out []types.Type) {
	seen := map[types.Object]bool{}
	consider := func(o types.Object) {
		tn, ok := o.(*types.TypeName)
		if !ok || seen[o] || tn.IsAlias() {
			return
		}
		seen[o] = true
		named, ok := tn.Type().(*types.Named)
		if !ok || types.IsInterface(named) || named.TypeParams().Len() > 0 {
			return
		}
		if types.Implements(named, i) {
			out = append(out, named)
		}
		if p := types.NewPointer(named); types.Implements(p, i) {
			out = append(out, p)
		}
	}
	for _, name := range c.pkg.Scope().Names() {
		consider(c.pkg.Scope().Lookup(name))
	}
	for _, e := range c.s.sessionTypes {
		consider(e)
	}
	return out
}

// interfaceAssert writes x.(I) with a comma-ok as a call of a literal that
// tries the types of cells one by one, then the interpreter's own way for
// values of other types.
//
//	func(ʹx any) (ʹr I, ʹk bool) { if ʹv, ʹo := ʹx.(T); ʹo { return ʹv, true }; … }(x)
func (c *compiler) interfaceAssert(x ast.Expr, t types.Type, p token.Pos) ast.Expr {
	i := t.Underlying().(*types.Interface)
	params := []*ast.Field{{Names: []*ast.Ident{ident("ʹx", p)}, Type: anyType(p)}}
	results := []*ast.Field{
		{Names: []*ast.Ident{ident("ʹr", p)}, Type: c.typeExpr(t, p)},
		{Names: []*ast.Ident{ident("ʹk", p)}, Type: ident("bool", p)},
	}
	ret := func() ast.Stmt {
		return &ast.ReturnStmt{Return: p, Results: []ast.Expr{ident("ʹr", p), ident("ʹk", p)}}
	}
	var list []ast.Stmt
	for _, impl := range c.implementers(i) {
		v, o := c.temp("v"), c.temp("o")
		list = append(list,
			&ast.AssignStmt{Lhs: []ast.Expr{ident(v, p), ident(o, p)}, TokPos: p, Tok: token.DEFINE,
				Rhs: []ast.Expr{&ast.TypeAssertExpr{X: ident("ʹx", p), Lparen: p, Type: c.typeExpr(impl, p), Rparen: p}}},
			ifStmt(ident(o, p), p, assign(ident("ʹr", p), ident(v, p), p), assign(ident("ʹk", p), ident("true", p), p), ret()))
	}
	own := &ast.AssignStmt{Lhs: idents([]string{"ʹr", "ʹk"}, p), TokPos: p, Tok: token.ASSIGN,
		Rhs: []ast.Expr{&ast.TypeAssertExpr{X: ident("ʹx", p), Lparen: p, Type: c.typeExpr(t, p), Rparen: p}}}
	list = append(list, ifStmt(rt("Native", p, ident("ʹx", p)), p, own), ret())
	lit := &ast.FuncLit{Type: funcType(p, params, results), Body: block(p, list...)}
	c.raw[lit] = true
	return call(lit, p, x)
}

// commaOk gives the value and the ok of x.(t) as an expression of two values.
func (c *compiler) commaOk(x ast.Expr, t types.Type, p token.Pos) ast.Expr {
	if c.assertable(t) {
		return &ast.TypeAssertExpr{X: x, Lparen: p, Type: c.typeExpr(t, p), Rparen: p}
	}
	return c.interfaceAssert(x, t, p)
}

// assertOk lowers v, ok := x.(I) for an interface I.
func (c *compiler) assertOk(n *ast.AssignStmt) {
	if len(n.Lhs) != 2 || len(n.Rhs) != 1 {
		return
	}
	if e := c.assertPair(n.Rhs[0]); e != nil {
		n.Rhs[0] = e
	}
}

func (c *compiler) assertPair(e ast.Expr) ast.Expr {
	a, ok := unparen(e).(*ast.TypeAssertExpr)
	if !ok || a.Type == nil || c.pairs[a] {
		return nil
	}
	t := c.info.Types[a.Type].Type
	if t == nil || c.assertable(t) {
		c.pairs[a] = true
		return nil
	}
	return c.interfaceAssert(a.X, t, a.Lparen)
}

// assertOne lowers x.(I) with one result.
func (c *compiler) assertOne(a *ast.TypeAssertExpr) ast.Expr {
	if a.Type == nil || c.pairs[a] {
		return nil
	}
	t := c.info.Types[a.Type].Type
	if t == nil || c.assertable(t) && !c.ofCell(t) || hasTypeParam(t) {
		return nil
	}
	p := a.Lparen
	pair := c.commaOk(ident("ʹy", p), t, p)
	missing := ""
	if i, ok := t.Underlying().(*types.Interface); ok {
		missing = methodList(i)
	}
	from := "interface {}"
	st := c.subjects[a]
	if st == nil {
		st = c.info.Types[a.X].Type
	}
	if st != nil {
		if i, ok := st.Underlying().(*types.Interface); ok && i.NumMethods() > 0 {
			from = c.runtimeName(st)
		}
	}
	params := []*ast.Field{{Names: []*ast.Ident{ident("ʹy", p)}, Type: anyType(p)}}
	lit := &ast.FuncLit{Type: funcType(p, params, []*ast.Field{{Type: c.typeExpr(t, p)}}), Body: block(p,
		&ast.AssignStmt{Lhs: idents([]string{"ʹv", "ʹo"}, p), TokPos: p, Tok: token.DEFINE, Rhs: []ast.Expr{pair}},
		ifStmt(&ast.UnaryExpr{OpPos: p, Op: token.NOT, X: ident("ʹo", p)}, p, exprStmt(rt("NoAssert", p, ident("ʹy", p), strLit(from, p), strLit(c.runtimeName(t), p), strLit(missing, p)))),
		&ast.ReturnStmt{Return: p, Results: []ast.Expr{ident("ʹv", p)}})}
	c.raw[lit] = true
	return c.typed(call(lit, p, a.X), t)
}

// methodList names the methods of an interface in the order in which the run
// time looks for them.
func methodList(i *types.Interface) string {
	var names []string
	for m := range i.Methods() {
		names = append(names, m.Name())
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// ofCell tells whether t is a named type of a cell, or a pointer to one: the
// interpreter's own message would not name it.
func (c *compiler) ofCell(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == mainPath
}

// runtimeName gives a type's name as Go's run-time errors write it.
func (c *compiler) runtimeName(t types.Type) string {
	return plain(types.TypeString(t, func(p *types.Package) string { return p.Name() }))
}

// typeSwitch makes a switch on conditions of a type switch: the interpreter
// takes the wrong case for interfaces and for named types with methods.
//
//	ʹx := any(x); ʹv1, ʹo1 := ʹx.(T); switch { case ʹo1: v := ʹv1; … }
func (c *compiler) typeSwitch(n *ast.TypeSwitchStmt) (pre []ast.Stmt, out *ast.SwitchStmt) {
	p := n.Pos()
	var bound *ast.Ident
	var subject ast.Expr
	switch a := n.Assign.(type) {
	case *ast.AssignStmt:
		bound = a.Lhs[0].(*ast.Ident)
		subject = a.Rhs[0].(*ast.TypeAssertExpr).X
	case *ast.ExprStmt:
		subject = a.X.(*ast.TypeAssertExpr).X
	}
	orig, x := c.temp("x"), c.temp("x")
	from := ast.Expr(ident(orig, p))
	if t := c.info.Types[subject].Type; t != nil && c.isErrorType(t) {
		from = rt("Any", p, from)
	}
	pre = append(pre, define(orig, subject, p), declStmt(varDecl(x, anyType(p), from, p)))
	out = &ast.SwitchStmt{Switch: p, Body: block(p)}
	for _, cl := range n.Body.List {
		cc := cl.(*ast.CaseClause)
		q := cc.Pos()
		nc := &ast.CaseClause{Case: q, Colon: cc.Colon, Body: cc.Body}
		value := ast.Expr(ident(orig, q))
		for _, e := range cc.List {
			if tv := c.info.Types[e]; tv.IsNil() {
				nc.List = append(nc.List, &ast.BinaryExpr{X: ident(x, q), OpPos: q, Op: token.EQL, Y: ident("nil", q)})
				continue
			}
			t := c.info.Types[e].Type
			v, o := c.temp("v"), c.temp("o")
			pre = append(pre, &ast.AssignStmt{Lhs: idents([]string{v, o}, q), TokPos: q, Tok: token.DEFINE, Rhs: []ast.Expr{c.commaOk(ident(x, q), t, q)}})
			if len(cc.List) == 1 {
				value = ident(v, q)
			} else {
				pre = append(pre, assign(ident("_", q), ident(v, q), q))
			}
			nc.List = append(nc.List, ident(o, q))
		}
		if len(nc.List) > 1 { // the interpreter looks at the first of a list only
			cond := nc.List[0]
			for _, e := range nc.List[1:] {
				cond = &ast.BinaryExpr{X: cond, OpPos: q, Op: token.LOR, Y: e}
			}
			nc.List = []ast.Expr{cond}
		}
		if bound != nil && bound.Name != "_" && mentionsIn(cc.Body, bound.Name) {
			def := define(bound.Name, value, q)
			if o := c.info.Implicits[cc]; o != nil {
				c.info.Defs[def.Lhs[0].(*ast.Ident)] = o
				c.typed(value, o.Type())
			}
			c.madeUp([]ast.Stmt{nil, def})
			nc.Body = append([]ast.Stmt{def}, cc.Body...)
		}
		out.Body.List = append(out.Body.List, nc)
	}
	return pre, out
}

func mentionsIn(list []ast.Stmt, name string) bool {
	for _, st := range list {
		if mentions(st, name) {
			return true
		}
	}
	return false
}
