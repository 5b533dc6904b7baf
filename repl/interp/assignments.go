package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"unsafe"
)

func (c *fc) declStmt(n *ast.DeclStmt) stmt {
	g := n.Decl.(*ast.GenDecl)
	if g.Tok != token.VAR {
		return nil
	}
	var list []stmt
	for _, s := range g.Specs {
		list = append(list, c.varSpec(s.(*ast.ValueSpec)))
	}
	return sequence(list, nil)
}

func (c *fc) varSpec(s *ast.ValueSpec) stmt {
	if len(s.Values) == 0 {
		var list []stmt
		for _, id := range s.Names {
			o := c.info.Defs[id]
			if o == nil || id.Name == "_" {
				continue
			}
			t := c.typ(o.Type())
			_, mk := c.declare(o)
			list = append(list, func(f *fr) ctl { t.zero(mk(f)); return next })
		}
		return sequence(list, nil)
	}
	lhs := make([]ast.Expr, len(s.Names))
	for i, id := range s.Names {
		lhs[i] = id
	}
	var t *typ
	if s.Type != nil {
		t = c.m.types.of(c.typeOf(s.Type))
	}
	return c.define(lhs, s.Values, t)
}

// define compiles := and var with values.
func (c *fc) define(lhs, rhs []ast.Expr, t *typ) stmt {
	if len(lhs) == 1 && len(rhs) == 1 {
		return c.defineOne(lhs[0].(*ast.Ident), rhs[0], t)
	}
	get, ts := c.values(lhs, rhs, t)
	var sets []func(*fr, unsafe.Pointer)
	for i, l := range lhs {
		id := l.(*ast.Ident)
		o := c.info.Defs[id]
		if id.Name == "_" {
			sets = append(sets, func(*fr, unsafe.Pointer) {})
			continue
		}
		from := ts[i]
		if o == nil { // of an outer declaration: assigned
			e := c.expr(id)
			conv := c.convertMem(from, e.t)
			sets = append(sets, func(f *fr, p unsafe.Pointer) { e.t.copyTo(e.addr(f), conv(p)) })
			continue
		}
		vt := c.typ(o.Type())
		conv := c.convertMem(from, vt)
		_, mk := c.declare(o)
		sets = append(sets, func(f *fr, p unsafe.Pointer) { q := conv(p); vt.copyTo(mk(f), q) })
	}
	return func(f *fr) ctl {
		for i, p := range get(f) {
			sets[i](f, p)
		}
		return next
	}
}

func (c *fc) defineOne(id *ast.Ident, rhs ast.Expr, t *typ) stmt {
	o := c.info.Defs[id]
	if o == nil || id.Name == "_" {
		e := c.expr(rhs)
		if o == nil && id.Name != "_" {
			v := c.expr(id)
			x := c.mem(c.convertTo(e, v.t))
			return func(f *fr) ctl { v.t.copyTo(v.addr(f), x(f)); return next }
		}
		eval := c.evalOnly(e)
		return func(f *fr) ctl { eval(f); return next }
	}
	vt := c.typ(o.Type())
	e := c.as(rhs, vt)
	in := c.into(e)
	_, mk := c.declare(o)
	if c.escapes[o] {
		x := c.mem(e)
		k := c.slots[o]
		return func(f *fr) ctl { f.p[k] = x(f); return next }
	}
	if e.M != nil {
		return func(f *fr) ctl { p := e.M(f); vt.copyTo(mk(f), p); return next }
	}
	return func(f *fr) ctl { in(f, mk(f)); return next }
}

// values evaluates right sides into memory of their own.
func (c *fc) values(lhs, rhs []ast.Expr, t *typ) (func(*fr) []unsafe.Pointer, []*typ) {
	if len(lhs) != len(rhs) {
		p := c.multi(rhs[0])
		return p.run, p.results
	}
	var items []func(*fr) unsafe.Pointer
	var ts []*typ
	order := c.callsFirst(rhs)
	for i, r := range rhs {
		e := c.expr(r)
		want := t
		if want == nil {
			if id, ok := lhs[i].(*ast.Ident); ok && id.Name == "_" {
				want = e.t
			} else if ok && c.info.Defs[id] != nil {
				want = c.typ(c.info.Defs[id].Type())
			} else {
				want = c.m.types.of(c.typeOf(lhs[i]))
			}
		}
		e = c.convertTo(e, want)
		items = append(items, c.mem(e))
		ts = append(ts, e.t)
	}
	return func(f *fr) []unsafe.Pointer { return evaluate(f, items, order) }, ts
}

// multi compiles an expression of two values: a call, or one with a comma-ok.
func (c *fc) multi(n ast.Expr) *callPlan {
	n = unparenExpr(n)
	boolT := c.m.types.of(types.Typ[types.Bool])
	switch x := n.(type) {
	case *ast.CallExpr:
		return c.expr(x).tuple
	case *ast.TypeAssertExpr:
		return c.assertOk(x)
	case *ast.IndexExpr:
		e := c.expr(x.X)
		u := coreOf(e.t.u).(*types.Map)
		kt, et, mt := c.m.types.of(u.Key()), c.m.types.of(u.Elem()), e.t
		m, key := e.P, c.mem(c.as(x.Index, kt))
		return &callPlan{[]*typ{et, boolT}, func(f *fr) []unsafe.Pointer {
			p := m(f)
			k := key(f)
			r, ok := et.alloc(), new(bool)
			if p != nil {
				if v := mt.at(unsafe.Pointer(&p)).MapIndex(kt.at(k)); v.IsValid() {
					et.at(r).Set(v)
					*ok = true
				}
			} else if kt.class == clsIface {
				c.m.hashable(*(*any)(k))
			}
			return []unsafe.Pointer{r, unsafe.Pointer(ok)}
		}}
	case *ast.UnaryExpr:
		return c.receiveOk(x)
	}
	c.fail(n, "expression of two values")
	return nil
}

// An lval is what can be assigned to.
type lval struct {
	t    *typ
	prep func(*fr)                 // evaluates the operands, nil if there are none
	addr func(*fr) unsafe.Pointer  // memory, after prep
	set  func(*fr, unsafe.Pointer) // for what has no memory of its own: map elements, fields of Go's structs
	get  ex                        // its value, after prep
}

// store puts what p points to into the place, after prep.
func (l *lval) store(f *fr, p unsafe.Pointer) {
	if l.set != nil {
		l.set(f, p)
		return
	}
	l.t.copyTo(l.addr(f), p)
}

func (c *fc) lval(n ast.Expr) *lval {
	n = unparenExpr(n)
	switch x := n.(type) {
	case *ast.Ident:
		if x.Name == "_" {
			return nil
		}
		e := c.expr(x)
		if e.addr == nil {
			c.fail(n, "assignment to %s", x.Name)
		}
		return &lval{t: e.t, addr: e.addr, get: e}
	case *ast.IndexExpr:
		e := c.expr(x.X)
		if u, ok := coreOf(e.t.u).(*types.Map); ok {
			return c.mapElem(e, u, x)
		}
	case *ast.SelectorExpr:
		if l := c.foreignLval(x); l != nil {
			return l
		}
	}
	e := c.expr(n)
	if e.addr == nil {
		c.fail(n, "assignment to %s", types.ExprString(n))
	}
	k := c.newSlot()
	a := e.addr
	at := func(f *fr) unsafe.Pointer { return f.p[k] }
	return &lval{t: e.t, prep: func(f *fr) { f.p[k] = a(f) }, addr: at, get: c.load(e.t, at)}
}

func (c *fc) mapElem(e ex, u *types.Map, n *ast.IndexExpr) *lval {
	kt, et, mt := c.m.types.of(u.Key()), c.m.types.of(u.Elem()), e.t
	m, key := e.P, c.mem(c.as(n.Index, kt))
	mk, kk := c.newSlot(), c.newSlot()
	mm := c.m
	mark := c.mark(n.Lbrack)
	return &lval{
		t: et,
		prep: func(f *fr) {
			f.p[mk] = m(f)
			f.p[kk] = key(f)
		},
		set: func(f *fr, p unsafe.Pointer) {
			q := f.p[mk]
			if q == nil {
				mark(f)
				panic(goError{"assignment to entry in nil map"})
			}
			if kt.class == clsIface {
				mark(f)
				mm.hashable(*(*any)(f.p[kk]))
			}
			mt.at(unsafe.Pointer(&q)).SetMapIndex(kt.at(f.p[kk]), et.at(p))
		},
		get: c.noAddr(c.load(et, func(f *fr) unsafe.Pointer {
			q := f.p[mk]
			r := et.alloc()
			if q != nil {
				if v := mt.at(unsafe.Pointer(&q)).MapIndex(kt.at(f.p[kk])); v.IsValid() {
					et.at(r).Set(v)
				}
			}
			return r
		})),
	}
}

// foreignLval assigns to an interface or function in a struct of Go.
func (c *fc) foreignLval(n *ast.SelectorExpr) *lval {
	s := c.info.Selections[n]
	if s == nil {
		if o, ok := c.info.Uses[n.Sel].(*types.Var); ok {
			return c.nativeVarLval(o, n)
		}
		return nil
	}
	recv := c.sub.typ(s.Recv())
	_, path, _ := c.selection(recv, s)
	e := c.fieldPath(c.expr(n.X), path[:len(path)-1], n.Sel.Pos())
	i := path[len(path)-1]
	if isPointerTo(e.t) {
		e = c.deref(e, n.Sel.Pos())
	}
	u, ok := e.t.u.(*types.Struct)
	if !ok || !c.m.isNativeMemory(e.t) {
		return nil
	}
	ft := c.m.types.of(u.Field(i).Type())
	if ft.plain {
		return nil
	}
	m, st, base, k := c.m, e.t, e.M, c.newSlot()
	return &lval{t: ft, prep: func(f *fr) { f.p[k] = base(f) },
		set: func(f *fr, p unsafe.Pointer) {
			v := st.at(f.p[k]).Field(i)
			v.Set(m.toGo(f, ft, p, v.Type(), goInspect))
		},
		get: c.foreignField(func(f *fr) unsafe.Pointer { return f.p[k] }, st, i, ft)}
}

var assignOps = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO, token.REM_ASSIGN: token.REM,
	token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR, token.SHL_ASSIGN: token.SHL, token.SHR_ASSIGN: token.SHR, token.AND_NOT_ASSIGN: token.AND_NOT,
}

func (c *fc) assign(n *ast.AssignStmt) stmt {
	if n.Tok == token.DEFINE {
		return c.define(n.Lhs, n.Rhs, nil)
	}
	if op, ok := assignOps[n.Tok]; ok {
		return c.opAssign(n.Lhs[0], op, n.Rhs[0], n.TokPos)
	}
	if len(n.Lhs) == 1 {
		return c.assignOne(n.Lhs[0], n.Rhs[0])
	}
	lv := make([]*lval, len(n.Lhs))
	for i, l := range n.Lhs {
		lv[i] = c.lval(l)
	}
	get, ts := c.values(n.Lhs, n.Rhs, nil)
	conv := make([]func(unsafe.Pointer) unsafe.Pointer, len(lv))
	for i, l := range lv {
		if l != nil && l.t != ts[i] {
			conv[i] = c.convertMem(ts[i], l.t)
		}
	}
	return func(f *fr) ctl {
		for _, l := range lv {
			if l != nil && l.prep != nil {
				l.prep(f)
			}
		}
		for i, p := range get(f) {
			l := lv[i]
			if l == nil {
				continue
			}
			if conv[i] != nil {
				p = conv[i](p)
			}
			l.store(f, p)
		}
		return next
	}
}

func (c *fc) assignOne(lhs, rhs ast.Expr) stmt {
	l := c.lval(lhs)
	if l == nil {
		eval := c.evalOnly(c.expr(rhs))
		return func(f *fr) ctl { eval(f); return next }
	}
	e := c.as(rhs, l.t)
	if l.set == nil && l.prep == nil {
		addr := l.addr
		switch {
		case e.I != nil && l.t.bits == 64:
			x := e.I
			return func(f *fr) ctl { v := x(f); *(*int64)(addr(f)) = v; return next }
		case e.M == nil:
			in := c.into(e)
			if e.t.class != clsComplex {
				return func(f *fr) ctl { in(f, addr(f)); return next }
			}
		}
		x := c.mem(e)
		return func(f *fr) ctl { p := x(f); l.t.copyTo(addr(f), p); return next }
	}
	x := c.mem(e)
	if hasCall(rhs) && !hasCall(lhs) { // what the call changes is seen on the left
		return func(f *fr) ctl {
			p := x(f)
			l.prep(f)
			l.store(f, p)
			return next
		}
	}
	return func(f *fr) ctl {
		l.prep(f)
		p := x(f)
		l.store(f, p)
		return next
	}
}

func hasCall(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

func (c *fc) incDec(n *ast.IncDecStmt, op token.Token) stmt {
	l := c.lval(n.X)
	if l.t.class == clsInt && l.set == nil && l.t.bits == 64 {
		addr, prep := l.addr, l.prep
		d := int64(1)
		if op == token.SUB {
			d = -1
		}
		if prep == nil {
			return func(f *fr) ctl { *(*int64)(addr(f)) += d; return next }
		}
		return func(f *fr) ctl { prep(f); *(*int64)(addr(f)) += d; return next }
	}
	one := c.constant(l.t, oneConst)
	return c.storeBack(l, c.arith(l.t, op, l.get, one, n.TokPos))
}

func (c *fc) opAssign(lhs ast.Expr, op token.Token, rhs ast.Expr, pos token.Pos) stmt {
	l := c.lval(lhs)
	shift := op == token.SHL || op == token.SHR
	var y ex
	if shift {
		y = c.expr(rhs)
	} else {
		y = c.as(rhs, l.t)
	}
	var before func(*fr)
	if c.calls(rhs) && !c.calls(lhs) {
		before, y = c.hold(y)
	}
	var e ex
	if shift {
		e = c.shift(l.t, op, l.get, y, pos)
	} else {
		e = c.arith(l.t, op, l.get, y, pos)
	}
	s := c.storeBack(l, e)
	if before == nil {
		return s
	}
	return func(f *fr) ctl { before(f); return s(f) }
}

func (c *fc) storeBack(l *lval, e ex) stmt {
	if l.set == nil && e.I != nil && l.t.bits == 64 {
		x, addr, prep := e.I, l.addr, l.prep
		if prep == nil {
			return func(f *fr) ctl { v := x(f); *(*int64)(addr(f)) = v; return next }
		}
		return func(f *fr) ctl { prep(f); v := x(f); *(*int64)(addr(f)) = v; return next }
	}
	x := c.mem(e)
	return func(f *fr) ctl {
		if l.prep != nil {
			l.prep(f)
		}
		p := x(f)
		l.store(f, p)
		return next
	}
}
