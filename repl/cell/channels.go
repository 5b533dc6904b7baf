package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// Channel operations go through the runtime, which can interrupt them and sees
// when all goroutines of a cell wait for each other. Values pass by pointer, so
// that they keep their exact type.

// receives moves the receives of an expression in front of its statement.
func (f *function) receive(n *ast.UnaryExpr) (pre []ast.Stmt, v ast.Expr) {
	p := n.OpPos
	ch, _ := f.c.info.Types[n.X].Type.Underlying().(*types.Chan)
	name := f.c.temp("v")
	pre = []ast.Stmt{
		declStmt(varDecl(name, f.c.typeExpr(ch.Elem(), p), nil, p)),
		exprStmt(rt("Receive", p, ident(frameVar, p), n.X, addr(ident(name, p), p))),
	}
	return pre, f.c.typed(ident(name, p), ch.Elem())
}

func commaOkReceive(n *ast.AssignStmt) (*ast.UnaryExpr, bool) {
	if len(n.Lhs) != 2 || len(n.Rhs) != 1 {
		return nil, false
	}
	u, ok := unparen(n.Rhs[0]).(*ast.UnaryExpr)
	return u, ok && u.Op == token.ARROW
}

// receiveOk lowers v, ok := <-ch.
func (f *function) receiveOk(n *ast.AssignStmt, u *ast.UnaryExpr, defined []*ast.Ident) []ast.Stmt {
	p := n.Pos()
	ch, ok := f.c.info.Types[u.X].Type.Underlying().(*types.Chan)
	if !ok {
		return []ast.Stmt{n}
	}
	name, got := f.c.temp("v"), f.c.temp("k")
	out := []ast.Stmt{
		declStmt(varDecl(name, f.c.typeExpr(ch.Elem(), p), nil, p)),
		define(got, rt("Receive", p, ident(frameVar, p), u.X, addr(ident(name, p), p)), p),
	}
	n.Rhs = []ast.Expr{ident(name, p), ident(got, p)}
	return append(append(out, n), f.rootsOf(defined)...)
}

func (f *function) send(n *ast.SendStmt) []ast.Stmt {
	ch, ok := f.c.info.Types[n.Chan].Type.Underlying().(*types.Chan)
	if !ok || !f.framed || !f.c.s.cfg.Markers {
		return []ast.Stmt{n}
	}
	p := n.Pos()
	name := f.c.temp("v")
	pre := append(append(f.flush(p), f.c.holdAs(name, ch.Elem(), n.Value, p)...), f.mark(n.Arrow, true)...)
	return append(pre,
		exprStmt(rt("Send", p, ident(frameVar, p), n.Chan, addr(ident(name, p), p))))
}

// rangeChan makes a loop of receives.
func (f *function) rangeChan(n *ast.RangeStmt, label *ast.LabeledStmt, ch *types.Chan) []ast.Stmt {
	p := n.Pos()
	pre := f.exprs(p, &n.X)
	c, v, ok := f.c.temp("h"), f.c.temp("v"), f.c.temp("k")
	pre = append(pre, define(c, n.X, p))
	head := []ast.Stmt{
		declStmt(varDecl(v, f.c.typeExpr(ch.Elem(), p), nil, p)),
		define(ok, rt("Receive", p, ident(frameVar, p), ident(c, p), addr(ident(v, p), p)), p),
		ifStmt(&ast.UnaryExpr{OpPos: p, Op: token.NOT, X: ident(ok, p)}, p, &ast.BranchStmt{TokPos: p, Tok: token.BREAK}),
	}
	head = append(f.mark(p, true), head...)
	pre = append(pre, f.flush(p)...)
	if n.Key != nil && !isBlank(n.Key) {
		head = append(head, &ast.AssignStmt{Lhs: []ast.Expr{n.Key}, TokPos: p, Tok: n.Tok, Rhs: []ast.Expr{ident(v, p)}})
		if n.Tok == token.DEFINE {
			head = append(head, f.rootsOf(rangeNames(n))...)
		}
	}
	f.loopBody(n.Body, p, head, nil, label)
	loop := &ast.ForStmt{For: p, Body: n.Body}
	return f.wrap(p, pre, relabel(label, loop), true)
}

// selectStmt adds a case that an interrupt of the cell takes, where the
// statement could wait for ever.
func (f *function) selectStmt(n *ast.SelectStmt, label *ast.LabeledStmt) []ast.Stmt {
	p := n.Pos()
	blocking, hopeless := true, f.c.hopeless(n)
	pre := f.flush(p)
	if f.yield != nil {
		f.yield.enter(label, true)
		defer f.yield.leave()
	}
	for _, cl := range n.Body.List {
		cc := cl.(*ast.CommClause)
		if cc.Comm == nil {
			blocking = false
		} else {
			f.litsIn(cc.Comm)
		}
		f.scoped(func() {
			var roots []ast.Stmt
			if as, ok := cc.Comm.(*ast.AssignStmt); ok {
				roots = f.rootsOf(definedNames(as))
			}
			cc.Body = append(roots, f.stmts(cc.Body)...)
		})
	}
	pre = append(pre, f.mark(p, true)...)
	if !blocking || !f.framed || !f.c.s.cfg.Markers {
		return f.wrap(p, pre, relabel(label, n), false)
	}
	if len(n.Body.List) == 0 {
		return append(pre, exprStmt(rt("Forever", p, ident(frameVar, p))))
	}
	stop := &ast.CommClause{Case: p, Comm: exprStmt(&ast.UnaryExpr{OpPos: p, Op: token.ARROW, X: rt("Interrupted", p, ident(frameVar, p))}),
		Body: []ast.Stmt{exprStmt(rt("Poll", p, ident(frameVar, p)))}}
	if hopeless {
		pre = append(pre, exprStmt(rt("Blocks", p, ident(frameVar, p))))
		for _, cl := range n.Body.List {
			cc := cl.(*ast.CommClause)
			cc.Body = append([]ast.Stmt{exprStmt(rt("Unblocks", cc.Case, ident(frameVar, p)))}, cc.Body...)
		}
	}
	n.Body.List = append(n.Body.List, stop)
	return f.wrap(p, pre, relabel(label, n), false)
}
