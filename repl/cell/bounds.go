package cell

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// The interpreter's index errors name neither the index nor the length, and it
// does not mind a negative shift. A comparison before the statement finds the
// error first and says it as Go does, at the place of the bracket. The operands
// are evaluated twice for it: they must be such that this changes nothing, which
// the results of calls are once they are moved into temporaries.

// A check is one comparison that must hold before a statement goes on.
type check struct {
	after int                  // how many events of the statement come before it
	ready func() bool          // whether its operands can be evaluated early
	holds func() ast.Expr      // the comparison
	bad   func() *ast.CallExpr // the call that panics; it gives a bool
	pos   token.Pos
	of    ast.Expr
}

// stmt makes the check a statement; mark stores the place of the error.
func (k *check) stmt(mark []ast.Stmt) ast.Stmt {
	not := &ast.UnaryExpr{OpPos: k.pos, Op: token.NOT, X: &ast.ParenExpr{Lparen: k.pos, X: k.holds(), Rparen: k.pos}}
	return ifStmt(not, k.pos, append(mark, exprStmt(k.bad()))...)
}

// guarded puts the checks of a condition in front of it, for places where no
// statement can stand: (0 <= i && i < len(x) || ʹrt.BadIndex(i, len(x))) && cond.
func (c *compiler) guarded(cond ast.Expr, checks []*check) ast.Expr {
	paren := func(e ast.Expr) ast.Expr { return &ast.ParenExpr{Lparen: e.Pos(), X: e, Rparen: e.Pos()} }
	t := c.info.Types[cond]
	for i := len(checks) - 1; i >= 0; i-- {
		k := checks[i]
		if k.after > 0 || !k.ready() {
			continue
		}
		ok := &ast.BinaryExpr{X: paren(k.holds()), OpPos: k.pos, Op: token.LOR, Y: k.bad()}
		cond = &ast.BinaryExpr{X: paren(ok), OpPos: k.pos, Op: token.LAND, Y: paren(cond)}
		c.info.Types[cond] = types.TypeAndValue{Type: t.Type}
	}
	return cond
}

// repeatable tells whether e can be evaluated early and twice.
func (c *compiler) repeatable(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		if tv, ok := c.info.Types[e]; ok && tv.IsType() {
			return false
		}
		return e.Name != "_"
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return c.repeatable(e.X)
	case *ast.StarExpr:
		return c.repeatable(e.X)
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			if _, isPkg := c.info.Uses[id].(*types.PkgName); isPkg {
				return false
			}
		}
		s := c.info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && c.repeatable(e.X)
	case *ast.IndexExpr: // its own check came before
		switch sequenceType(c.typeAt(e.X)).(type) {
		case *types.Slice, *types.Array, *types.Map, *types.Basic:
			return c.repeatable(e.X) && c.repeatable(e.Index)
		}
	case *ast.UnaryExpr:
		if c.held[e] {
			return true
		}
		return (e.Op == token.SUB || e.Op == token.ADD || e.Op == token.XOR) && c.repeatable(e.X)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.QUO, token.REM, token.AND, token.OR, token.XOR, token.AND_NOT, token.SHL, token.SHR:
			return c.repeatable(e.X) && c.repeatable(e.Y)
		}
	case *ast.CallExpr:
		if c.held[e] {
			return true // will be a temporary
		}
		if len(e.Args) != 1 || e.Ellipsis.IsValid() || !c.repeatable(e.Args[0]) {
			return false
		}
		if tv := c.info.Types[e.Fun]; tv.IsType() {
			b, ok := tv.Type.Underlying().(*types.Basic)
			return ok && b.Info()&types.IsNumeric != 0
		}
		return c.isBuiltin(e.Fun, "len") || c.isBuiltin(e.Fun, "cap")
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
	if p, ok := e.(*ast.ParenExpr); ok {
		return c.typeAt(p.X)
	}
	return types.Typ[types.Invalid]
}

// copyOperand copies an operand: a tree must not hold a node twice.
func (c *compiler) copyOperand(e ast.Expr) ast.Expr {
	var out ast.Expr
	switch e := e.(type) {
	case *ast.ParenExpr:
		out = &ast.ParenExpr{Lparen: e.Lparen, X: c.copyOperand(e.X), Rparen: e.Rparen}
	case *ast.StarExpr:
		out = &ast.StarExpr{Star: e.Star, X: c.copyOperand(e.X)}
	case *ast.SelectorExpr:
		s := &ast.SelectorExpr{X: c.copyOperand(e.X), Sel: ident(e.Sel.Name, e.Sel.Pos())}
		if sel := c.info.Selections[e]; sel != nil {
			c.info.Selections[s] = sel
		}
		out = s
	case *ast.IndexExpr:
		out = &ast.IndexExpr{X: c.copyOperand(e.X), Lbrack: e.Lbrack, Index: c.copyOperand(e.Index), Rbrack: e.Rbrack}
	case *ast.UnaryExpr:
		out = &ast.UnaryExpr{OpPos: e.OpPos, Op: e.Op, X: c.copyOperand(e.X)}
	case *ast.BinaryExpr:
		out = &ast.BinaryExpr{X: c.copyOperand(e.X), OpPos: e.OpPos, Op: e.Op, Y: c.copyOperand(e.Y)}
	case *ast.CallExpr:
		out = &ast.CallExpr{Fun: clone(e.Fun), Lparen: e.Lparen, Args: []ast.Expr{c.copyOperand(e.Args[0])}, Rparen: e.Rparen}
	default:
		return clone(e)
	}
	if tv, ok := c.info.Types[e]; ok {
		c.info.Types[out] = tv
	}
	return out
}

// sequenceType gives the type whose length bounds an index of t: of a pointer to
// an array that array.
func sequenceType(t types.Type) types.Type {
	u := coreType(t)
	if p, ok := u.(*types.Pointer); ok {
		if a, ok := p.Elem().Underlying().(*types.Array); ok {
			return a
		}
	}
	if b, ok := u.(*types.Basic); ok && b.Info()&types.IsString == 0 {
		return nil
	}
	return u
}

// isIndexed tells whether t has a length that bounds an index.
func isIndexed(t types.Type) bool {
	switch sequenceType(t).(type) {
	case *types.Slice, *types.Array, *types.Basic:
		return true
	}
	return false
}

// constIndex gives the value of a constant index.
func (c *compiler) constIndex(e ast.Expr) (int64, bool) {
	if l, ok := unparen(e).(*ast.BasicLit); ok && l.Kind == token.INT {
		return constant.Int64Val(constant.MakeFromLiteral(l.Value, token.INT, 0))
	}
	if v := c.info.Types[e].Value; v != nil {
		return constant.Int64Val(constant.ToInt(v))
	}
	return 0, false
}

// asInt makes an int of an index.
func (c *compiler) asInt(e ast.Expr) ast.Expr {
	x := c.copyOperand(e)
	if b, ok := c.typeAt(e).(*types.Basic); ok && (b.Kind() == types.Int || b.Kind() == types.UntypedInt) {
		return x
	}
	if _, ok := c.constIndex(e); ok {
		return x
	}
	return call(ident("int", e.Pos()), e.Pos(), x)
}

// atMost is 0 <= x && x <= limit, or x < limit for a strict bound. An x that
// can't be negative is not compared with 0; an int of a huge unsigned value is.
func (c *compiler) atMost(x ast.Expr, limit ast.Expr, strict bool, p token.Pos) ast.Expr {
	op := token.LEQ
	if strict {
		op = token.LSS
	}
	var cond ast.Expr = &ast.BinaryExpr{X: c.asInt(x), OpPos: p, Op: op, Y: limit}
	if !c.natural(x) {
		cond = &ast.BinaryExpr{X: &ast.BinaryExpr{X: c.asInt(x), OpPos: p, Op: token.GEQ, Y: intLit(0, p)}, OpPos: p, Op: token.LAND, Y: cond}
	}
	return cond
}

// natural tells whether an index can't be negative as an int.
func (c *compiler) natural(e ast.Expr) bool {
	if _, ok := c.constIndex(e); ok {
		return true
	}
	if b, ok := c.typeAt(e).Underlying().(*types.Basic); ok {
		switch b.Kind() {
		case types.Uint8, types.Uint16, types.Uint32:
			return true
		}
	}
	return false
}

func (c *compiler) lenOf(f string, x ast.Expr, p token.Pos) ast.Expr {
	if a, ok := sequenceType(c.typeAt(x)).(*types.Array); ok {
		return intLit(int(a.Len()), p)
	}
	return call(ident(f, p), p, c.copyOperand(x))
}

func (w *eventWalk) check(of ast.Expr, p token.Pos, operands []ast.Expr, holds func() ast.Expr, bad func() *ast.CallExpr) {
	c := w.c
	w.checks = append(w.checks, &check{of: of, after: len(w.events), pos: p, holds: holds, bad: bad, ready: func() bool {
		for _, e := range operands {
			if !c.repeatable(e) {
				return false
			}
		}
		return true
	}})
}

func (w *eventWalk) checkIndex(n *ast.IndexExpr) {
	c, p := w.c, n.Lbrack
	if !isIndexed(c.typeAt(n.X)) {
		return
	}
	if _, isConst := c.constIndex(n.Index); isConst {
		if _, isArray := sequenceType(c.typeAt(n.X)).(*types.Array); isArray {
			return // the type checker has seen it
		}
	}
	w.check(n, p, []ast.Expr{n.X, n.Index},
		func() ast.Expr { return c.atMost(n.Index, c.lenOf("len", n.X, p), true, p) },
		func() *ast.CallExpr { return rt("BadIndex", p, c.copyOperand(n.Index), c.lenOf("len", n.X, p)) })
}

// checkSlice compares the bounds in the order in which Go does: the last one
// with the length or the capacity, then each with the one behind it.
func (w *eventWalk) checkSlice(n *ast.SliceExpr) {
	c, p := w.c, n.Lbrack
	if !isIndexed(c.typeAt(n.X)) {
		return
	}
	bound, word := "len", "length"
	if _, ok := sequenceType(c.typeAt(n.X)).(*types.Slice); ok {
		bound, word = "cap", "capacity"
	}
	form := 2
	if n.Max != nil {
		form = 3
	}
	type limit struct {
		make func() ast.Expr
		of   []ast.Expr // operands
	}
	behind := limit{func() ast.Expr { return c.lenOf(bound, n.X, p) }, []ast.Expr{n.X}}
	outer := true // behind is the length or the capacity
	for i, x := range [...]ast.Expr{n.Max, n.High, n.Low} {
		if x == nil {
			if i == 1 {
				behind = limit{func() ast.Expr { return c.lenOf("len", n.X, p) }, []ast.Expr{n.X}}
				outer = false
			}
			continue
		}
		x, b, kind := x, behind, word
		if !outer {
			kind = "order"
		}
		if v, ok := c.constIndex(x); !ok || v != 0 {
			w.check(n, p, append([]ast.Expr{x}, b.of...),
				func() ast.Expr { return c.atMost(x, b.make(), false, p) },
				func() *ast.CallExpr {
					return rt("BadSlice", p, intLit(form, p), intLit(2-i, p), strLit(kind, p), c.copyOperand(x), b.make())
				})
		}
		behind, outer = limit{func() ast.Expr { return c.asInt(x) }, []ast.Expr{x}}, false
	}
}

// checkShift refuses a negative count.
func (w *eventWalk) checkShift(y ast.Expr, p token.Pos) {
	c := w.c
	b, ok := c.typeAt(y).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsUnsigned != 0 || c.info.Types[y].Value != nil {
		return
	}
	if _, isConst := c.constIndex(y); isConst {
		return
	}
	w.note(p)
	w.check(y, p, []ast.Expr{y},
		func() ast.Expr { return &ast.BinaryExpr{X: c.copyOperand(y), OpPos: p, Op: token.GEQ, Y: intLit(0, p)} },
		func() *ast.CallExpr { return rt("BadShift", p) })
}
