package interp

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"
)

// ptrTo puts a pointer word into memory.
func ptrTo(p unsafe.Pointer) unsafe.Pointer {
	q := new(unsafe.Pointer)
	*q = p
	return unsafe.Pointer(q)
}

// recv receives into p, and tells whether the channel was open.
func (f *fr) recv(ct *typ, ch unsafe.Pointer, et *typ, p unsafe.Pointer) bool {
	return receiveInto(f.f, ct.at(unsafe.Pointer(&ch)), et.at(p))
}

func (c *fc) receive(n *ast.UnaryExpr) ex {
	e := c.expr(n.X)
	u := coreOf(e.t.u).(*types.Chan)
	et, ct, x := c.m.types.of(u.Elem()), e.t, e.P
	mark := c.mark(n.OpPos)
	r := c.noAddr(c.load(et, func(f *fr) unsafe.Pointer {
		ch := x(f)
		mark(f)
		q := et.alloc()
		f.recv(ct, ch, et, q)
		return q
	}))
	return r
}

func (c *fc) receiveOk(n *ast.UnaryExpr) *callPlan {
	e := c.expr(n.X)
	u := coreOf(e.t.u).(*types.Chan)
	et, ct, x := c.m.types.of(u.Elem()), e.t, e.P
	mark := c.mark(n.OpPos)
	return &callPlan{[]*typ{et, c.m.types.of(types.Typ[types.Bool])}, func(f *fr) []unsafe.Pointer {
		ch := x(f)
		mark(f)
		q, ok := et.alloc(), new(bool)
		*ok = f.recv(ct, ch, et, q)
		return []unsafe.Pointer{q, unsafe.Pointer(ok)}
	}}
}

func (c *fc) sendStmt(n *ast.SendStmt) stmt {
	e := c.expr(n.Chan)
	u := coreOf(e.t.u).(*types.Chan)
	et, ct, x := c.m.types.of(u.Elem()), e.t, e.P
	val := c.mem(c.as(n.Value, et))
	mark := c.mark(n.Arrow)
	return func(f *fr) ctl {
		ch := x(f)
		p := val(f)
		mark(f)
		sendFrom(f.f, ct.at(unsafe.Pointer(&ch)), et.at(p))
		return next
	}
}

// selectStmt evaluates channels and values in order and waits for one case.
func (c *fc) selectStmt(n *ast.SelectStmt, label int) stmt {
	type clause struct {
		dir  reflect.SelectDir
		ch   func(*fr) unsafe.Pointer
		ct   *typ
		et   *typ
		val  func(*fr) unsafe.Pointer
		bind func(*fr, unsafe.Pointer, bool)
		body stmt
	}
	var clauses []clause
	hasDefault := false
	for _, s := range n.Body.List {
		cc := s.(*ast.CommClause)
		cl := clause{dir: reflect.SelectDefault}
		leave := c.inner()
		recvFrom := func(x ast.Expr) {
			u := unparenExpr(x).(*ast.UnaryExpr)
			e := c.expr(u.X)
			cl.dir, cl.ch, cl.ct = reflect.SelectRecv, e.P, e.t
			cl.et = c.m.types.of(coreOf(e.t.u).(*types.Chan).Elem())
		}
		switch s := cc.Comm.(type) {
		case nil:
			hasDefault = true
		case *ast.SendStmt:
			e := c.expr(s.Chan)
			cl.dir, cl.ch, cl.ct = reflect.SelectSend, e.P, e.t
			cl.et = c.m.types.of(coreOf(e.t.u).(*types.Chan).Elem())
			cl.val = c.mem(c.as(s.Value, cl.et))
		case *ast.ExprStmt:
			recvFrom(s.X)
		case *ast.AssignStmt:
			recvFrom(s.Rhs[0])
			boolT := c.m.types.of(types.Typ[types.Bool])
			ra := &ast.RangeStmt{Key: s.Lhs[0], Tok: s.Tok}
			if len(s.Lhs) == 2 {
				ra.Value = s.Lhs[1]
			}
			k, v := c.rangeVars(ra, cl.et, boolT)
			cl.bind = func(f *fr, p unsafe.Pointer, ok bool) {
				if k != nil {
					k(f, p)
				}
				if v != nil {
					v(f, unsafe.Pointer(&ok))
				}
			}
		}
		cl.body = c.block(cc.Body)
		leave()
		clauses = append(clauses, cl)
	}
	mark := c.begin(n.Pos())
	return func(f *fr) ctl {
		if mark != nil {
			mark(f)
		}
		cases := make([]reflect.SelectCase, len(clauses), len(clauses)+1)
		hopeless := true
		for i, cl := range clauses {
			sc := reflect.SelectCase{Dir: cl.dir}
			if cl.ch != nil {
				p := cl.ch(f)
				sc.Chan = cl.ct.at(unsafe.Pointer(&p))
				if p != nil && fromOutside(sc.Chan.Type()) {
					hopeless = false
				}
				if p == nil {
					sc.Chan = reflect.Value{}
				}
			}
			if cl.val != nil {
				p := cl.val(f)
				if sc.Chan.IsValid() {
					sc.Send = cl.et.at(p)
				}
			}
			cases[i] = sc
		}
		i, v, ok := f.choose(cases, hasDefault, hopeless)
		cl := clauses[i]
		if cl.bind != nil {
			p := cl.et.alloc()
			if v.IsValid() {
				cl.et.at(p).Set(v)
			}
			cl.bind(f, p, ok)
		}
		return switchEnd(f, cl.body(f), label)
	}
}

// choose waits for one of the cases; an interrupt ends the wait.
func (f *fr) choose(cases []reflect.SelectCase, hasDefault, hopeless bool) (int, reflect.Value, bool) {
	if hasDefault {
		return reflect.Select(cases)
	}
	n := len(cases)
	s := f.st
	if n == 0 {
		forever(f.f)
	}
	if n > 0 { // one may be ready
		i, v, ok := reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectDefault}))
		if i < n {
			return i, v, ok
		}
	}
	s.block("select", hopeless)
	i, v, ok := reflect.Select(append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(s.run.stop)}))
	s.unblock()
	if i == n {
		s.interrupted()
	}
	return i, v, ok
}
