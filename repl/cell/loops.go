package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// forStmt lowers a loop with three clauses: the init stands before the loop
// (the interpreter repeats some), a condition that runs ops is the first thing
// of the body, and each turn has its own variables where they are captured.
func (f *function) forStmt(n *ast.ForStmt, label *ast.LabeledStmt) []ast.Stmt {
	p := n.Pos()
	defer f.closeScope(f.openScope())
	names := definedNames(n.Init)
	captured := capturedNames(names, n.Body, n.Cond, n.Post)
	var pre []ast.Stmt
	scoped := false
	var own []*ast.Ident // declared by the loop statement itself
	init, _ := n.Init.(*ast.AssignStmt)
	switch {
	case n.Init == nil:
	case len(captured) > 0 && !assignsAny(captured, n.Body) && !assignsIn(captured, n.Cond) && capturedOnlyIn(captured, n.Body, n.Cond, n.Post):
		// the copy of a turn is never written: a plain one will do
		f.litsIn(n.Init)
		own = names
	case len(captured) > 0:
		return f.perTurn(n, label, names)
	case init == nil || len(init.Lhs) > 1 || n.Cond == nil || n.Post == nil || f.hasCalls(init) || f.c.s.cfg.Markers:
		pre = f.stmt(n.Init)
		n.Init = nil
		scoped = true
	default:
		f.litsIn(n.Init)
	}
	pre = append(pre, f.flush(p)...)
	var head []ast.Stmt
	if n.Cond != nil && f.hasWorthy(n.Cond) {
		head = f.breakUnless(n)
	} else if n.Cond != nil {
		f.litsIn(n.Cond)
		f.noChecks = true
		pre = append(pre, f.exprs(p, &n.Cond)...)
		f.noChecks = false
	}
	if n.Post != nil {
		f.litsIn(n.Post)
	}
	f.seeLoop(own)
	f.loopBody(n.Body, p, head, captured, label)
	return f.wrap(p, pre, relabel(label, n), scoped)
}

// breakUnless moves a loop's condition into its body.
func (f *function) breakUnless(n *ast.ForStmt) []ast.Stmt {
	p := n.Cond.Pos()
	cond := n.Cond
	n.Cond = nil
	head := f.exprs(p, &cond)
	not := &ast.UnaryExpr{OpPos: p, Op: token.NOT, X: &ast.ParenExpr{Lparen: p, X: cond, Rparen: p}}
	return append(head, ifStmt(not, p, &ast.BranchStmt{TokPos: p, Tok: token.BREAK}))
}

// loopBody lowers a body; head runs at the start of each turn of the loop at
// the position given.
func (f *function) loopBody(b *ast.BlockStmt, loop token.Pos, head []ast.Stmt, copies []string, label *ast.LabeledStmt) {
	if f.yield != nil {
		f.yield.enter(label, false)
		defer f.yield.leave()
	}
	p := b.Lbrace
	pre := head
	for _, name := range copies {
		pre = append(pre, define(name, ident(name, p), p))
	}
	f.again(copies)
	turn := f.hook(loop, Turn)
	var list []ast.Stmt
	f.scoped(func() { list = f.stmts(b.List) })
	pre, list = append(pre, turn...), joinHooks(turn, list)
	if len(copies) == 0 && len(pre) == 0 && len(list) == 0 {
		pre = []ast.Stmt{assign(ident("_", p), intLit(0, p), p)} // an empty body ends the function in some versions
	}
	b.List = append(pre, list...)
}

// poll lets an interrupt reach a loop.
func (f *function) poll(p token.Pos) []ast.Stmt {
	if !f.framed || !f.c.s.cfg.Markers || !f.loops {
		return nil
	}
	stop := append(f.mark(p, false), exprStmt(rt("Poll", p, ident(frameVar, p)))) // the stack then says in which loop it was
	return []ast.Stmt{ifStmt(ident(armedVar, p), p, stop...)}
}

// perTurn gives each turn of a loop its own variables, as Go does: the body
// works on a copy, and the next turn's copy is made before the post statement.
//
//	i := 0; ʹq := &i; ʹb := true
//	for { i := *ʹq; ʹq = &i; if ʹb { ʹb = false } else { post }; if !cond { break }; body }
func (f *function) perTurn(n *ast.ForStmt, label *ast.LabeledStmt, names []*ast.Ident) []ast.Stmt {
	p := n.Pos()
	pre := append(f.stmt(n.Init), f.flush(p)...)
	var head []ast.Stmt
	var turn []string
	for _, id := range names {
		o := f.c.info.Defs[id]
		if o == nil {
			continue
		}
		turn = append(turn, id.Name)
		q := f.c.temp("q")
		pre = append(pre, declStmt(varDecl(q, &ast.StarExpr{Star: p, X: f.c.typeExpr(o.Type(), p)}, addr(ident(id.Name, p), p), p)))
		head = append(head,
			define(id.Name, &ast.StarExpr{Star: p, X: ident(q, p)}, p),
			assign(ident(q, p), addr(ident(id.Name, p), p), p))
	}
	if n.Post != nil {
		b := f.c.temp("b")
		pre = append(pre, define(b, ident("true", p), p))
		var post []ast.Stmt
		f.again(turn)
		f.scoped(func() { post = f.stmt(n.Post) })
		st := ifStmt(ident(b, p), p, assign(ident(b, p), ident("false", p), p))
		st.Else = block(p, post...)
		head = append(head, st)
	}
	n.Init, n.Post = nil, nil
	if n.Cond != nil {
		head = append(head, f.breakUnless(n)...)
	}
	f.loopBody(n.Body, p, head, nil, label)
	return []ast.Stmt{block(p, append(pre, relabel(label, n))...)}
}

func (f *function) rangeStmt(n *ast.RangeStmt, label *ast.LabeledStmt) []ast.Stmt {
	p := n.Pos()
	defer f.closeScope(f.openScope())
	t := f.c.info.Types[n.X].Type
	if t == nil {
		t = types.Typ[types.Invalid]
	}
	switch u := coreType(t).(type) {
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			return f.rangeInt(n, label, t)
		}
	case *types.Signature:
		return f.rangeFunc(n, label, u)
	case *types.Chan:
		if f.framed && f.c.s.cfg.Markers {
			return f.rangeChan(n, label, u)
		}
	}
	pre := append(f.exprs(p, &n.X), f.flush(p)...)
	var names []*ast.Ident
	if n.Tok == token.DEFINE {
		names = rangeNames(n)
	}
	roots := f.rootsOf(names)
	f.loopBody(n.Body, p, nil, capturedNames(names, n.Body), label)
	if len(roots) > 0 {
		n.Body.List = append(roots, n.Body.List...)
	}
	return f.wrap(p, pre, relabel(label, n), false)
}

// coreType gives the type that decides how a value is ranged over.
func coreType(t types.Type) types.Type {
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		if i, ok := tp.Underlying().(*types.Interface); ok && i.NumEmbeddeds() == 1 {
			if u, ok := i.EmbeddedType(0).(*types.Union); ok && u.Len() == 1 {
				return u.Term(0).Type().Underlying()
			}
			return i.EmbeddedType(0).Underlying()
		}
	}
	return t.Underlying()
}

func rangeNames(n *ast.RangeStmt) (out []*ast.Ident) {
	for _, e := range []ast.Expr{n.Key, n.Value} {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			out = append(out, id)
		}
	}
	return out
}

// rangeInt makes a counting loop.
func (f *function) rangeInt(n *ast.RangeStmt, label *ast.LabeledStmt, t types.Type) []ast.Stmt {
	p := n.Pos()
	pre := f.exprs(p, &n.X)
	lim, ctr := f.c.temp("n"), f.c.temp("i")
	kt := types.Default(t)
	if n.Key != nil && !isBlank(n.Key) {
		if x := f.typeOf(n.Key); x != nil && valid(x) {
			kt = x
		}
	}
	pre = append(append(pre, f.c.holdAs(lim, kt, n.X, p)...), f.flush(p)...)
	var head []ast.Stmt
	if n.Key != nil && !isBlank(n.Key) {
		head = append(head, &ast.AssignStmt{Lhs: []ast.Expr{n.Key}, TokPos: p, Tok: n.Tok, Rhs: []ast.Expr{ident(ctr, p)}})
		if n.Tok == token.DEFINE {
			head = append(head, f.rootsOf(rangeNames(n))...)
		}
	}
	zero := call(f.c.typeExpr(kt, p), p, intLit(0, p))
	loop := &ast.ForStmt{For: p, Init: define(ctr, zero, p), Cond: &ast.BinaryExpr{X: ident(ctr, p), OpPos: p, Op: token.LSS, Y: ident(lim, p)},
		Post: &ast.IncDecStmt{X: ident(ctr, p), TokPos: p, Tok: token.INC}, Body: n.Body}
	f.loopBody(n.Body, p, head, nil, label)
	return f.wrap(p, pre, relabel(label, loop), true)
}

// definedNames lists what a simple statement defines.
func definedNames(st ast.Stmt) (out []*ast.Ident) {
	as, ok := st.(*ast.AssignStmt)
	if !ok || as.Tok != token.DEFINE {
		return nil
	}
	for _, l := range as.Lhs {
		if id, ok := l.(*ast.Ident); ok && id.Name != "_" {
			out = append(out, id)
		}
	}
	return out
}

// capturedNames lists the variables that a literal uses or whose address is taken.
func capturedNames(names []*ast.Ident, parts ...ast.Node) (out []string) {
	for _, id := range names {
		for _, n := range parts {
			if !isNil(n) && captures(n, id.Name) {
				out = append(out, id.Name)
				break
			}
		}
	}
	return out
}

// isNil tells whether an interface holds no node.
func isNil(n ast.Node) bool {
	switch n := n.(type) {
	case nil:
		return true
	case *ast.BlockStmt:
		return n == nil
	case ast.Expr:
		return n == nil
	}
	return false
}

func captures(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			found = found || mentions(n, name)
			return false
		case *ast.UnaryExpr:
			if n.Op == token.AND && mentions(n.X, name) {
				found = true
			}
		}
		return !found
	})
	return found
}

func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}

func capturedOnlyIn(names []string, body *ast.BlockStmt, cond ast.Expr, post ast.Stmt) bool {
	for _, name := range names {
		if cond != nil && captures(cond, name) || post != nil && captures(post, name) || takesAddress(body, name) {
			return false
		}
	}
	return true
}

func takesAddress(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.AND && mentions(u.X, name) {
			found = true
		}
		return !found
	})
	return found
}

func assignsIn(names []string, e ast.Expr) bool {
	if e == nil {
		return false
	}
	return assignsAny(names, e)
}

// assignsAny tells whether one of the variables is written in n.
func assignsAny(names []string, n ast.Node) (found bool) {
	check := func(e ast.Expr) {
		if id, ok := unparen(e).(*ast.Ident); ok {
			for _, name := range names {
				found = found || id.Name == name
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, l := range n.Lhs {
					check(l)
				}
			}
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				check(n.Key)
				if n.Value != nil {
					check(n.Value)
				}
			}
		}
		return !found
	})
	return found
}

// hasCalls tells whether a simple statement calls anything.
func (f *function) hasCalls(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.FuncLit:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// hasWorthy tells whether an expression runs code of cells or ops, or calls
// something before an index that must be checked.
func (f *function) hasWorthy(e ast.Expr) bool {
	w := &eventWalk{c: f.c}
	w.expr(&e)
	if _, moved := w.plan(); moved > 0 {
		return true
	}
	for _, ev := range w.events {
		if ev.worthy {
			return true
		}
	}
	return false
}
