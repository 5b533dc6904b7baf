package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// stmts lowers a statement list.
func (f *function) stmts(in []ast.Stmt) (out []ast.Stmt) {
	for i := 0; i < len(in); i++ {
		st := in[i]
		ends := f.endsWithSweep(st)
		p := st.Pos()
		if f.hooked(st) {
			out = append(out, f.hook(p, Statement, st)...)
		}
		out = append(out, f.stmt(st)...)
		for i+1 < len(in) && declaresRoot(in[i+1]) { // before the sweep, or it frees the new variable's value
			i++
			out = append(out, in[i])
		}
		if ends {
			name := "End"
			if f.drops(st) {
				name = "Drop"
			}
			out = append(out, exprStmt(rt(name, p, ident(frameVar, p))))
		}
	}
	return out
}

// drops tells whether a statement may take the last way to a tensor without an
// op: it assigns over a variable, an element or a field, or deletes.
func (f *function) drops(st ast.Stmt) bool {
	switch st := st.(type) {
	case *ast.AssignStmt:
		for _, l := range st.Lhs {
			if st.Tok == token.ASSIGN && !isBlank(l) && f.c.s.holdsTensor(f.typeOf(l)) {
				return true
			}
		}
	case *ast.ExprStmt:
		c, ok := st.X.(*ast.CallExpr)
		return ok && (f.c.isBuiltin(c.Fun, "delete") || c.Fun != nil && rtName(c) == "Clear")
	}
	return false
}

// rtName gives the name of the runtime function that a call is of, "" if none.
func rtName(c *ast.CallExpr) string {
	if s, ok := c.Fun.(*ast.SelectorExpr); ok {
		if id, ok := s.X.(*ast.Ident); ok && id.Name == runtimePackage {
			return s.Sel.Name
		}
	}
	return ""
}

// declaresRoot tells whether a statement tells the runtime of a new variable.
func declaresRoot(st ast.Stmt) bool {
	es, ok := st.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := es.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Var" {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == runtimePackage
}

// endsWithSweep tells whether a statement may have made or dropped a tensor:
// the runtime is then told that it ended.
func (f *function) endsWithSweep(st ast.Stmt) (found bool) {
	if !f.framed || !f.c.s.cfg.Markers || f.c.s.cfg.Tensor.Path == "" {
		return false
	}
	switch st.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.DeclStmt, *ast.IncDecStmt, *ast.SendStmt:
	default:
		return false
	}
	ast.Inspect(st, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		if e, ok := n.(ast.Expr); ok && !found {
			t := f.c.info.Types[e]
			found = t.Type != nil && !t.IsType() && !t.IsBuiltin() && f.c.s.holdsTensor(t.Type)
			if id, ok := e.(*ast.Ident); ok && !found {
				o := f.c.info.ObjectOf(id)
				_, isVar := o.(*types.Var)
				found = isVar && f.c.s.holdsTensor(o.Type())
			}
		}
		return !found
	})
	return found
}

func (f *function) block(b *ast.BlockStmt) {
	if b != nil {
		f.scoped(func() { b.List = f.stmts(b.List) })
	}
}

// one makes a single statement of a list.
func one(list []ast.Stmt, p token.Pos) ast.Stmt {
	if len(list) == 1 {
		return list[0]
	}
	return block(p, list...)
}

// stmt lowers one statement: marks and temporaries first, then the statement.
func (f *function) stmt(st ast.Stmt) []ast.Stmt {
	switch n := st.(type) {
	case *ast.BlockStmt:
		f.block(n)
		return []ast.Stmt{n}
	case *ast.LabeledStmt:
		return f.labeled(n)
	case *ast.IfStmt:
		return f.ifStmt(n)
	case *ast.ForStmt:
		return f.forStmt(n, nil)
	case *ast.RangeStmt:
		return f.rangeStmt(n, nil)
	case *ast.SwitchStmt:
		return f.switchStmt(n, nil)
	case *ast.TypeSwitchStmt:
		return f.typeSwitch(n, nil)
	case *ast.SelectStmt:
		return f.selectStmt(n, nil)
	case *ast.GoStmt:
		return f.goStmt(n)
	case *ast.DeferStmt:
		return f.deferStmt(n)
	case *ast.ReturnStmt:
		return f.returnStmt(n)
	case *ast.BranchStmt:
		return f.branch(n)
	case *ast.AssignStmt:
		return f.assignStmt(n)
	case *ast.DeclStmt:
		return f.declStmt(n)
	case *ast.ExprStmt:
		pre := f.exprs(n.Pos(), &n.X)
		if _, moved := n.X.(*ast.Ident); moved {
			return pre
		}
		return append(pre, n)
	case *ast.SendStmt:
		pre := f.exprs(n.Pos(), &n.Chan, &n.Value)
		return append(pre, f.send(n)...)
	case *ast.IncDecStmt:
		return append(f.exprsTo(n.Pos(), 1, &n.X), n)
	}
	return []ast.Stmt{st}
}

func (f *function) assignStmt(n *ast.AssignStmt) []ast.Stmt {
	var slots []*ast.Expr
	var defined []*ast.Ident
	for i := range n.Lhs {
		if n.Tok == token.DEFINE {
			if id, ok := n.Lhs[i].(*ast.Ident); ok {
				defined = append(defined, id)
			}
			continue
		}
		slots = append(slots, &n.Lhs[i])
	}
	for i := range n.Rhs {
		slots = append(slots, &n.Rhs[i])
	}
	if u, ok := commaOkReceive(n); ok && f.c.s.cfg.Markers && f.framed {
		return append(f.exprs(n.Pos(), &u.X), f.receiveOk(n, u, defined)...)
	}
	var pre []ast.Stmt
	if n.Tok == token.SHL_ASSIGN || n.Tok == token.SHR_ASSIGN {
		pre = f.shiftAssign(n)
	} else {
		pre = f.exprsTo(n.Pos(), len(slots)-len(n.Rhs), slots...)
	}
	pre = append(pre, f.holdInterfaces(n)...)
	return append(append(pre, n), f.rootsOf(defined)...)
}

// shiftAssign checks the count of x <<= n.
func (f *function) shiftAssign(n *ast.AssignStmt) []ast.Stmt {
	shift := ast.Expr(&ast.BinaryExpr{X: n.Lhs[0], OpPos: n.TokPos, Op: token.SHL, Y: n.Rhs[0]})
	pre := f.exprs(n.Pos(), &shift)
	b := shift.(*ast.BinaryExpr)
	n.Lhs[0], n.Rhs[0] = b.X, b.Y
	return pre
}

// holdInterfaces makes interfaces of values before they are assigned to an
// element or a field of interface type: the interpreter fails at a literal there.
func (f *function) holdInterfaces(n *ast.AssignStmt) (pre []ast.Stmt) {
	if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
		return nil
	}
	for i, l := range n.Lhs {
		if _, ok := unparen(l).(*ast.Ident); ok && !isLiteral(n.Rhs[i]) && !f.c.needsError(f.typeOf(l), n.Rhs[i]) {
			continue
		}
		want, tv := f.typeOf(l), f.c.info.Types[n.Rhs[i]]
		if want == nil || tv.Type == nil || tv.IsNil() || tv.Value != nil || !types.IsInterface(want) || types.IsInterface(tv.Type) || hasTypeParam(want) {
			continue
		}
		name := f.c.temp("h")
		pre = append(pre, f.c.holdAs(name, want, n.Rhs[i], n.Pos())...)
		n.Rhs[i] = f.c.typed(ident(name, n.Pos()), want)
	}
	return pre
}

func (f *function) declStmt(n *ast.DeclStmt) []ast.Stmt {
	g, ok := n.Decl.(*ast.GenDecl)
	if !ok || g.Tok != token.VAR {
		if ok && g.Tok == token.CONST {
			g.Specs = f.c.constDecl(g)
			if len(g.Specs) == 0 {
				return nil
			}
			g.Lparen, g.Rparen = g.TokPos, g.TokPos
		}
		if ok && g.Tok == token.TYPE {
			f.c.identify(g)
		}
		return []ast.Stmt{n}
	}
	var slots []*ast.Expr
	var defined []*ast.Ident
	for _, spec := range g.Specs {
		vs := spec.(*ast.ValueSpec)
		for i := range vs.Values {
			slots = append(slots, &vs.Values[i])
		}
		defined = append(defined, vs.Names...)
	}
	pre := f.exprs(n.Pos(), slots...)
	pre = append(pre, f.freshVars(g)...)
	return append(pre, f.rootsOf(defined)...)
}

// freshVars declares variables by :=, which makes new ones each time it runs;
// the interpreter's var statement in a loop goes on with the old ones, which
// closures may hold.
func (f *function) freshVars(g *ast.GenDecl) (out []ast.Stmt) {
	p := g.TokPos
	for _, spec := range g.Specs {
		vs := spec.(*ast.ValueSpec)
		if len(vs.Values) != 0 && vs.Type == nil && len(vs.Values) != len(vs.Names) {
			out = append(out, &ast.AssignStmt{Lhs: exprsOf(vs.Names), TokPos: p, Tok: token.DEFINE, Rhs: vs.Values})
			continue
		}
		one := &ast.GenDecl{Tok: token.VAR, TokPos: p, Specs: []ast.Spec{vs}}
		var again []ast.Stmt
		for i, id := range vs.Names {
			if id.Name == "_" {
				continue
			}
			name := f.c.temp("z")
			vs.Names[i] = ident(name, id.Pos())
			again = append(again, define(id.Name, ident(name, id.Pos()), id.Pos()))
			if o := f.c.info.Defs[id]; o != nil {
				f.c.info.Defs[again[len(again)-1].(*ast.AssignStmt).Lhs[0].(*ast.Ident)] = o
			}
		}
		if len(vs.Values) > 0 && len(vs.Values) == len(vs.Names) {
			for i, id := range vs.Names {
				v := vs.Values[i]
				t := f.c.info.Types[v].Type
				if vs.Type != nil {
					t = f.c.info.Types[vs.Type].Type
				}
				if id.Name == "_" || t == nil {
					out = append(out, declStmt(&ast.GenDecl{Tok: token.VAR, TokPos: p, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{id}, Type: vs.Type, Values: []ast.Expr{v}}}}))
					continue
				}
				out = append(out, f.c.holdAs(id.Name, types.Default(t), v, p)...)
			}
			out = append(out, again...)
			continue
		}
		out = append(append(out, declStmt(one)), again...)
	}
	return out
}

func exprsOf(ids []*ast.Ident) []ast.Expr {
	out := make([]ast.Expr, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

func (f *function) ifStmt(n *ast.IfStmt) []ast.Stmt {
	p := n.Pos()
	defer f.closeScope(f.openScope())
	var pre []ast.Stmt
	scoped := n.Init != nil
	if n.Init != nil {
		pre = f.stmt(n.Init)
		n.Init = nil
	}
	cond := f.exprs(p, &n.Cond)
	pre = append(pre, cond...)
	f.block(n.Body)
	if n.Else != nil {
		q := n.Else.Pos()
		f.scoped(func() {
			var list []ast.Stmt
			if f.hooked(n.Else) { // else if
				list = f.hook(q, Statement)
			}
			n.Else = one(append(list, f.stmt(n.Else)...), q)
		})
		if _, ok := n.Else.(*ast.IfStmt); !ok {
			if _, ok := n.Else.(*ast.BlockStmt); !ok {
				n.Else = block(n.Else.Pos(), n.Else)
			}
		}
	}
	list := append(pre, ast.Stmt(n))
	if scoped || len(pre) > 1 {
		return []ast.Stmt{block(p, list...)}
	}
	return list
}

func (f *function) switchStmt(n *ast.SwitchStmt, label *ast.LabeledStmt) []ast.Stmt {
	p := n.Pos()
	defer f.closeScope(f.openScope())
	if f.yield != nil {
		f.yield.enter(label, true)
		defer f.yield.leave()
	}
	var pre []ast.Stmt
	scoped := n.Init != nil
	if n.Init != nil {
		pre = f.stmt(n.Init)
		n.Init = nil
	}
	if n.Tag != nil {
		pre = append(pre, f.exprs(p, &n.Tag)...)
	} else {
		pre = append(append(pre, f.flush(p)...), f.mark(p, true)...)
	}
	for _, cl := range n.Body.List {
		cc := cl.(*ast.CaseClause)
		for _, e := range cc.List {
			f.litsIn(e)
		}
		for i := range cc.List {
			if n.Tag == nil {
				f.guardCase(&cc.List[i])
			}
		}
		f.scoped(func() { cc.Body = f.stmts(cc.Body) })
	}
	return f.wrap(p, pre, relabel(label, n), scoped)
}

func (f *function) typeSwitch(n *ast.TypeSwitchStmt, label *ast.LabeledStmt) []ast.Stmt {
	p := n.Pos()
	defer f.closeScope(f.openScope())
	if f.yield != nil {
		f.yield.enter(label, true)
		defer f.yield.leave()
	}
	var pre []ast.Stmt
	if n.Init != nil {
		pre = f.stmt(n.Init)
		n.Init = nil
	}
	setup, sw := f.c.typeSwitch(n)
	for _, st := range setup {
		if as, ok := st.(*ast.AssignStmt); ok && len(as.Rhs) == 1 {
			pre = append(pre, f.exprs(p, &as.Rhs[0])...)
		}
		pre = append(pre, st)
	}
	for _, cl := range sw.Body.List {
		cc := cl.(*ast.CaseClause)
		f.scoped(func() { cc.Body = f.stmts(cc.Body) })
	}
	return f.wrap(p, pre, relabel(label, sw), true)
}

// wrap puts what precedes a statement in front of it, in a block of its own
// where it declares something.
func (f *function) wrap(p token.Pos, pre []ast.Stmt, st ast.Stmt, scoped bool) []ast.Stmt {
	list := append(pre, st)
	if scoped {
		return []ast.Stmt{block(p, list...)}
	}
	return list
}

func relabel(l *ast.LabeledStmt, st ast.Stmt) ast.Stmt {
	if l == nil {
		return st
	}
	l.Stmt = st
	return l
}

// labeled keeps the label on the loop or switch that break and continue mean.
func (f *function) labeled(n *ast.LabeledStmt) []ast.Stmt {
	switch st := n.Stmt.(type) {
	case *ast.ForStmt:
		return append(f.hook(st.Pos(), Statement), f.forStmt(st, n)...)
	case *ast.RangeStmt:
		return append(f.hook(st.Pos(), Statement), f.rangeStmt(st, n)...)
	case *ast.SwitchStmt:
		return append(f.hook(st.Pos(), Statement), f.switchStmt(st, n)...)
	case *ast.TypeSwitchStmt:
		return append(f.hook(st.Pos(), Statement), f.typeSwitch(st, n)...)
	case *ast.SelectStmt:
		return append(f.hook(st.Pos(), Statement), f.selectStmt(st, n)...)
	}
	inner := n.Stmt
	var list []ast.Stmt
	if f.hooked(inner) {
		list = f.hook(inner.Pos(), Statement)
	}
	list = append(list, f.stmt(inner)...)
	if len(list) == 0 {
		n.Stmt = &ast.EmptyStmt{Semicolon: n.Colon}
		return []ast.Stmt{n}
	}
	n.Stmt = list[0]
	return append([]ast.Stmt{n}, list[1:]...)
}

// returnStmt evaluates the results, pops the frame and returns. In a function
// that defers, the body is a closure: the results are assigned.
func (f *function) returnStmt(n *ast.ReturnStmt) []ast.Stmt {
	if f.yield != nil {
		return f.yieldReturn(n)
	}
	return f.returnFrom(n)
}

func (f *function) returnFrom(n *ast.ReturnStmt) []ast.Stmt {
	p := n.Pos()
	if len(n.Results) == 0 {
		if f.defers {
			return []ast.Stmt{n}
		}
		return append(f.leave(p), n)
	}
	slots := make([]*ast.Expr, len(n.Results))
	for i := range n.Results {
		slots[i] = &n.Results[i]
	}
	pre := f.exprs(p, slots...)
	if f.defers {
		pre = append(pre, f.setResults(f.results, n.Results, p)...)
		return append(pre, &ast.ReturnStmt{Return: p})
	}
	named := len(f.results) > 0 && len(n.Results) > 1
	if (!f.framed && !named || !named && plainResults(n.Results)) && !f.mustHold(n.Results) {
		return append(append(pre, f.leave(p)...), n)
	}
	temps, set := f.resultTemps(n.Results, p)
	pre = append(append(pre, set...), f.leave(p)...)
	return append(pre, &ast.ReturnStmt{Return: p, Results: temps})
}

// mustHold tells whether a result has to become an interface by itself first.
func (f *function) mustHold(results []ast.Expr) bool {
	if f.sig == nil || f.sig.Results().Len() != len(results) {
		return false
	}
	for i, e := range results {
		t := f.sig.Results().At(i).Type()
		if f.c.needsError(t, e) || isLiteral(e) && types.IsInterface(t) && !hasTypeParam(t) {
			return true
		}
	}
	return false
}

// plainResults tells whether returning the expressions can neither call nor fail.
func plainResults(list []ast.Expr) bool {
	for _, e := range list {
		switch e := unparen(e).(type) {
		case *ast.Ident, *ast.BasicLit, *ast.FuncLit:
		case *ast.UnaryExpr:
			if _, ok := e.X.(*ast.BasicLit); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// resultTemps evaluates results into temporaries of the function's result types.
func (f *function) resultTemps(results []ast.Expr, p token.Pos) (temps []ast.Expr, set []ast.Stmt) {
	res := f.sig.Results()
	names := make([]string, res.Len())
	for i := range names {
		names[i] = f.c.temp("r")
		temps = append(temps, ident(names[i], p))
	}
	if len(results) != res.Len() { // return g() with several results
		for i, name := range names {
			set = append(set, declStmt(varDecl(name, f.c.typeExpr(res.At(i).Type(), p), nil, p)))
		}
		set = append(set, &ast.AssignStmt{Lhs: idents(names, p), TokPos: p, Tok: token.ASSIGN, Rhs: results})
		return temps, set
	}
	for i, name := range names {
		set = append(set, f.c.holdAs(name, res.At(i).Type(), results[i], p)...)
	}
	return temps, set
}

// holdAs declares a variable of a type with a value. The interpreter skips a
// call of a generic function in var x T = f(), so a call is held by := first.
func (c *compiler) holdAs(name string, t types.Type, v ast.Expr, p token.Pos) []ast.Stmt {
	tv := c.info.Types[v]
	call, isCall := unparen(v).(*ast.CallExpr)
	isCall = isCall && !c.info.Types[call.Fun].IsType() && tv.Value == nil && tv.Type != nil
	if isCall && types.Identical(tv.Type, t) {
		return []ast.Stmt{define(name, v, p)}
	}
	var pre []ast.Stmt
	if c.needsError(t, v) {
		v = c.typed(rt("Error", p, v), t)
	} else if isCall && !c.isAnyBuiltin(call.Fun) || isLiteral(v) && types.IsInterface(t) {
		held := c.temp("h")
		pre = append(pre, define(held, v, p))
		v = c.typed(ident(held, p), tv.Type)
	}
	return append(pre, declStmt(varDecl(name, c.typeExpr(t, p), v, p)))
}

// isLiteral tells whether e is a composite literal or the address of one.
func isLiteral(e ast.Expr) bool {
	e = unparen(e)
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = unparen(u.X)
	}
	_, ok := e.(*ast.CompositeLit)
	return ok
}

// needsError tells whether v is a plain struct of a cell that becomes an error:
// of such a value the interpreter's own form keeps only a field.
func (c *compiler) needsError(t types.Type, v ast.Expr) bool {
	vt := c.info.Types[v].Type
	if t == nil || vt == nil || !types.Identical(t, types.Universe.Lookup("error").Type()) {
		return false
	}
	n, ok := types.Unalias(vt).(*types.Named)
	if !ok || n.TypeArgs().Len() > 0 {
		return false
	}
	_, isStruct := n.Underlying().(*types.Struct)
	return isStruct && c.ofCell(n)
}

func (c *compiler) isAnyBuiltin(f ast.Expr) bool {
	id, ok := unparen(f).(*ast.Ident)
	if !ok {
		return false
	}
	_, ok = c.info.Uses[id].(*types.Builtin)
	return ok
}

// setResults assigns results to named variables, all evaluated first.
func (f *function) setResults(names []string, results []ast.Expr, p token.Pos) []ast.Stmt {
	if len(names) == 1 || len(results) != len(names) {
		return []ast.Stmt{&ast.AssignStmt{Lhs: idents(names, p), TokPos: p, Tok: token.ASSIGN, Rhs: results}}
	}
	temps, set := f.resultTemps(results, p)
	for i, name := range names {
		set = append(set, assign(ident(name, p), temps[i], p))
	}
	return set
}

func (f *function) branch(n *ast.BranchStmt) []ast.Stmt {
	if f.yield != nil {
		return f.yieldBranch(n)
	}
	return []ast.Stmt{n}
}

// declared types of variables that range and define introduce.
func (f *function) typeOf(e ast.Expr) types.Type {
	if id, ok := e.(*ast.Ident); ok {
		if o := f.c.info.ObjectOf(id); o != nil {
			return o.Type()
		}
	}
	return f.c.info.Types[e].Type
}
