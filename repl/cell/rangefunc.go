package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A yieldBody is the body of a loop over a function, which becomes a function
// literal. Leaving it by anything but the end of a turn is told to the code
// after the loop through a number.
type yieldBody struct {
	f      *function
	code   string // variable with the way out
	exits  []yieldExit
	nested []nestedLoop
	label  string // of the loop itself
	outer  *yieldBody
	rets   []string // variables with the results of a return
}

type yieldExit struct {
	code int
	st   []ast.Stmt
}

// A nestedLoop is a loop, switch or select inside the body: break and continue
// there are its own.
type nestedLoop struct {
	label    string
	isSwitch bool
}

func (y *yieldBody) enter(label *ast.LabeledStmt, isSwitch bool) {
	n := nestedLoop{isSwitch: isSwitch}
	if label != nil {
		n.label = label.Label.Name
	}
	y.nested = append(y.nested, n)
}

func (y *yieldBody) leave() { y.nested = y.nested[:len(y.nested)-1] }

// rangeFunc makes a call of the sequence with the body as its yield function.
func (f *function) rangeFunc(n *ast.RangeStmt, label *ast.LabeledStmt, sig *types.Signature) []ast.Stmt {
	p := n.Pos()
	pre := f.exprs(p, &n.X)
	yield, ok := sig.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok {
		return append(pre, n)
	}
	y := &yieldBody{f: f, code: f.c.temp("c"), outer: f.yield}
	if label != nil {
		y.label = label.Label.Name
	}
	var params []*ast.Field
	var head []ast.Stmt
	exprs := []ast.Expr{n.Key, n.Value}
	for i := range yield.Params().Len() {
		name := f.c.temp("k")
		t := yield.Params().At(i).Type()
		if e := exprs[i]; e != nil && !isBlank(e) {
			if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
				name = id.Name
			} else {
				head = append(head, assign(e, ident(name, p), p))
			}
		}
		params = append(params, &ast.Field{Names: []*ast.Ident{ident(name, p)}, Type: f.c.typeExpr(t, p)})
	}
	f.yield = y
	outerVars, outerPending := f.vars, f.pending
	f.vars, f.pending = nil, nil
	f.seeBody(outerVars, n.Body)
	head = append(f.poll(p), head...)
	if n.Tok == token.DEFINE {
		head = append(head, f.rootsOf(rangeNames(n))...)
	}
	list := append(head, f.stmts(n.Body.List)...)
	f.vars, f.pending = outerVars, outerPending
	f.yield = y.outer
	if f.framed { // the body is a call of its own, above the sequence's frame
		id := f.site(p)
		f.c.s.nameRoots(id, f.roots)
		list = append([]ast.Stmt{define(frameVar, rt("EnterBody", p, ident(frameVar, p), intLit(id, p), intLit(len(f.roots), p), intLit(f.slots, p)), p)}, list...)
	}
	list = append(append(list, f.leave(p)...), &ast.ReturnStmt{Return: n.Body.Rbrace, Results: []ast.Expr{ident("true", p)}})
	lit := &ast.FuncLit{Type: funcType(p, params, []*ast.Field{{Type: ident("bool", p)}}), Body: block(p, list...)}
	f.c.raw[lit] = true
	out := append(pre, define(y.code, intLit(0, p), p))
	for i, name := range y.rets {
		out = append(out, declStmt(varDecl(name, f.c.typeExpr(f.sig.Results().At(i).Type(), p), nil, p)))
	}
	out = append(out, exprStmt(call(n.X, p, lit)))
	for _, e := range y.exits {
		if len(e.st) == 0 {
			continue
		}
		cond := &ast.BinaryExpr{X: ident(y.code, p), OpPos: p, Op: token.EQL, Y: intLit(e.code, p)}
		out = append(out, ifStmt(cond, p, e.st...))
	}
	return []ast.Stmt{block(p, out...)}
}

// exit leaves the body; after runs behind the loop.
func (y *yieldBody) exit(p token.Pos, after []ast.Stmt) []ast.Stmt {
	code := len(y.exits) + 1
	y.exits = append(y.exits, yieldExit{code, after})
	out := append([]ast.Stmt{assign(ident(y.code, p), intLit(code, p), p)}, y.f.leave(p)...)
	return append(out, &ast.ReturnStmt{Return: p, Results: []ast.Expr{ident("false", p)}})
}

// yieldBranch lowers break, continue and goto inside such a body.
func (f *function) yieldBranch(n *ast.BranchStmt) []ast.Stmt {
	p := n.Pos()
	y := f.yield
	next := append(f.leave(p), &ast.ReturnStmt{Return: p, Results: []ast.Expr{ident("true", p)}})
	if n.Tok == token.FALLTHROUGH {
		return []ast.Stmt{n}
	}
	if n.Label == nil {
		for i := len(y.nested) - 1; i >= 0; i-- {
			if n.Tok == token.BREAK || !y.nested[i].isSwitch {
				return []ast.Stmt{n}
			}
		}
		if n.Tok == token.CONTINUE {
			return next
		}
		return y.exit(p, nil)
	}
	for _, l := range y.nested {
		if l.label == n.Label.Name {
			return []ast.Stmt{n}
		}
	}
	if y.label == n.Label.Name {
		if n.Tok == token.CONTINUE {
			return next
		}
		return y.exit(p, nil)
	}
	after := []ast.Stmt{n}
	if y.outer != nil { // the label belongs to a loop further out
		f.yield = y.outer
		after = f.yieldBranch(n)
		f.yield = y
	}
	return y.exit(p, after)
}

// yieldReturn keeps the results of a return and returns behind the loop.
func (f *function) yieldReturn(n *ast.ReturnStmt) []ast.Stmt {
	p := n.Pos()
	y := f.yield
	after := &ast.ReturnStmt{Return: p}
	var pre []ast.Stmt
	if len(n.Results) > 0 {
		slots := make([]*ast.Expr, len(n.Results))
		for i := range n.Results {
			slots[i] = &n.Results[i]
		}
		pre = f.exprs(p, slots...)
		if y.rets == nil {
			for range f.sig.Results().Len() {
				y.rets = append(y.rets, f.c.temp("v"))
			}
		}
		pre = append(pre, &ast.AssignStmt{Lhs: idents(y.rets, p), TokPos: p, Tok: token.ASSIGN, Rhs: n.Results})
		after.Results = idents(y.rets, p)
		for i, e := range after.Results {
			f.c.typed(e, f.sig.Results().At(i).Type())
		}
	}
	f.yield = y.outer
	rest := f.returnStmt(after)
	f.yield = y
	return append(pre, y.exit(p, rest)...)
}
