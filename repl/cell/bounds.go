package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// The interpreter's index errors name neither the index nor the length. Where
// both operands are simple, a comparison before the statement finds the error
// first and says it as Go does.

// operandOnly tells whether e can be evaluated early and twice: names, fields
// of variables, numbers and sums of those.
func (c *compiler) operandOnly(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		if tv, ok := c.info.Types[e]; ok && tv.IsType() {
			return false
		}
		return e.Name != "_"
	case *ast.BasicLit:
		return e.Kind == token.INT
	case *ast.ParenExpr:
		return c.operandOnly(e.X)
	case *ast.SelectorExpr:
		id, ok := e.X.(*ast.Ident)
		if !ok {
			return false
		}
		if _, isPkg := c.info.Uses[id].(*types.PkgName); isPkg {
			return false
		}
		s := c.info.Selections[e]
		if s == nil || s.Kind() != types.FieldVal {
			return false
		}
		_, ptr := c.typeAt(id).Underlying().(*types.Pointer)
		return !ptr
	case *ast.BinaryExpr:
		return (e.Op == token.ADD || e.Op == token.SUB || e.Op == token.MUL) && c.operandOnly(e.X) && c.operandOnly(e.Y)
	}
	return false
}

func (c *compiler) typeAt(e ast.Expr) types.Type {
	if t := c.info.Types[e].Type; t != nil {
		return t
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := c.info.ObjectOf(id); o != nil {
			return o.Type()
		}
	}
	return types.Typ[types.Invalid]
}

// copyOperand copies an operand and its types.
func (c *compiler) copyOperand(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return &ast.ParenExpr{Lparen: e.Lparen, X: c.copyOperand(e.X), Rparen: e.Rparen}
	case *ast.BinaryExpr:
		return &ast.BinaryExpr{X: c.copyOperand(e.X), OpPos: e.OpPos, Op: e.Op, Y: c.copyOperand(e.Y)}
	}
	return clone(e)
}

// lengthOf gives the builtin that bounds an index of t, "" if t is no sequence.
func lengthOf(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Slice, *types.Array:
		return "len"
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return "len"
		}
	}
	return ""
}

// asInt makes an int of an index.
func (c *compiler) asInt(e ast.Expr) ast.Expr {
	x := c.copyOperand(e)
	if b, ok := c.typeAt(e).(*types.Basic); ok && (b.Kind() == types.Int || b.Kind() == types.UntypedInt) {
		return x
	}
	return call(ident("int", e.Pos()), e.Pos(), x)
}

func (w *eventWalk) checkIndex(n *ast.IndexExpr) {
	c := w.c
	if len(w.events) > 0 || lengthOf(c.typeAt(n.X)) == "" || !c.operandOnly(n.X) || !c.operandOnly(n.Index) {
		return
	}
	if _, isArray := c.typeAt(n.X).Underlying().(*types.Array); isArray && c.info.Types[n.Index].Value != nil {
		return
	}
	p := n.Lbrack
	size := func() ast.Expr { return call(ident("len", p), p, c.copyOperand(n.X)) }
	cond := &ast.BinaryExpr{X: c.asInt(n.Index), OpPos: p, Op: token.GEQ, Y: size()}
	w.checks = append(w.checks, ifStmt(cond, p, exprStmt(rt("BadIndex", p, c.asInt(n.Index), size()))))
}

func (w *eventWalk) checkSlice(n *ast.SliceExpr) {
	c := w.c
	t := c.typeAt(n.X)
	if len(w.events) > 0 || lengthOf(t) == "" || !c.operandOnly(n.X) || n.Max != nil {
		return
	}
	bound, word := "len", "length"
	if _, ok := t.Underlying().(*types.Slice); ok {
		bound, word = "cap", "capacity"
	}
	p := n.Lbrack
	check := func(x, limit func() ast.Expr, kind string) {
		cond := &ast.BinaryExpr{X: x(), OpPos: p, Op: token.GTR, Y: limit()}
		w.checks = append(w.checks, ifStmt(cond, p, exprStmt(rt("BadSlice", p, strLit(kind, p), x(), limit()))))
	}
	size := func(f string) func() ast.Expr {
		return func() ast.Expr { return call(ident(f, p), p, c.copyOperand(n.X)) }
	}
	operand := func(e ast.Expr) func() ast.Expr { return func() ast.Expr { return c.asInt(e) } }
	high := size("len")
	if n.High != nil {
		if !c.operandOnly(n.High) {
			return
		}
		high = operand(n.High)
		check(high, size(bound), word)
	}
	if n.Low != nil && c.operandOnly(n.Low) {
		check(operand(n.Low), high, "order")
	}
}
