package interp

import (
	"go/ast"
	"go/token"
	"unsafe"
)

// clauses are those of a switch, each with its tests of a V; def is the default
// one, -1 for none.
type clauses[V any] struct {
	tests [][]func(V) bool
	def   int
}

func (c *clauses[V]) add(cc *ast.CaseClause, tests []func(V) bool) {
	if cc.List == nil {
		c.def = len(c.tests)
	}
	c.tests = append(c.tests, tests)
}

// find gives the clause that v enters, -1 for none.
func (c *clauses[V]) find(v V) int {
	for i, tests := range c.tests {
		for _, t := range tests {
			if t(v) {
				return i
			}
		}
	}
	return c.def
}

// switchEnd tells what a clause that ended with r means behind its switch.
func switchEnd(f *fr, r ctl, label int) ctl {
	if r == brk && (f.label == 0 || f.label == label) {
		f.label = 0
		return next
	}
	return r
}

func (c *fc) switchStmt(n *ast.SwitchStmt, label int) stmt {
	defer c.inner()()
	var init stmt
	if n.Init != nil {
		init = c.simple(n.Init)
	}
	var tag ex
	var setTag func(*fr)
	begin := c.begin(n.Pos())
	if n.Tag != nil {
		e := c.expr(n.Tag)
		if e.val != nil {
			e = c.constant(c.m.types.of(c.typeOf(n.Tag)), e.val)
		}
		begin = c.begin(n.Tag.Pos())
		k := c.newSlot()
		t, x := e.t, c.mem(e)
		setTag = func(f *fr) { f.p[k] = x(f) }
		tag = c.load(t, func(f *fr) unsafe.Pointer { return f.p[k] })
	}
	clauses := clauses[*fr]{def: -1}
	var bodies []stmt
	for _, s := range n.Body.List {
		cc := s.(*ast.CaseClause)
		var conds []func(*fr) bool
		for _, e := range cc.List {
			if n.Tag == nil {
				conds = append(conds, c.cond(e))
				continue
			}
			conds = append(conds, c.compare(token.EQL, tag, c.expr(e), e.Pos()))
		}
		clauses.add(cc, conds)
		bodies = append(bodies, c.block(cc.Body))
	}
	return func(f *fr) ctl {
		if init != nil {
			init(f)
		}
		if begin != nil {
			begin(f)
		}
		if setTag != nil {
			setTag(f)
		}
		at := clauses.find(f)
		if at < 0 {
			return next
		}
		r := bodies[at](f)
		for r == fall {
			at++
			r = bodies[at](f)
		}
		return switchEnd(f, r, label)
	}
}

func (c *fc) typeSwitch(n *ast.TypeSwitchStmt, label int) stmt {
	defer c.inner()()
	var init stmt
	if n.Init != nil {
		init = c.simple(n.Init)
	}
	var x ast.Expr
	switch s := n.Assign.(type) {
	case *ast.AssignStmt:
		x = s.Rhs[0].(*ast.TypeAssertExpr).X
	case *ast.ExprStmt:
		x = s.X.(*ast.TypeAssertExpr).X
	}
	subject := c.expr(x)
	it := subject.t
	get := subject.A
	begin := c.begin(x.Pos())
	clauses := clauses[any]{def: -1}
	var bodies []func(*fr, any) ctl
	for _, s := range n.Body.List {
		cc := s.(*ast.CaseClause)
		leave := c.inner()
		var tests []func(any) bool
		var only *typ
		for _, e := range cc.List {
			if tv := c.info.Types[e]; tv.IsNil() {
				tests = append(tests, func(v any) bool { return v == nil })
				continue
			}
			t := c.m.types.of(c.typeOf(e))
			only = t
			tests = append(tests, c.m.tester(t))
		}
		bind := func(*fr, any) {}
		if o := c.info.Implicits[cc]; o != nil {
			t := it
			if len(cc.List) == 1 && only != nil {
				t = only
			}
			_, mk := c.declare(o)
			bind = func(f *fr, v any) { c.m.put(t, mk(f), v) }
		}
		body := c.block(cc.Body)
		leave()
		clauses.add(cc, tests)
		bodies = append(bodies, func(f *fr, v any) ctl { bind(f, v); return body(f) })
	}
	return func(f *fr) ctl {
		if init != nil {
			init(f)
		}
		if begin != nil {
			begin(f)
		}
		v := get(f)
		at := clauses.find(v)
		if at < 0 {
			return next
		}
		return switchEnd(f, bodies[at](f, v), label)
	}
}
