package interp

import (
	"go/ast"
)

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
	type clause struct {
		tests []func(any) bool
		bind  func(*fr, any)
		body  stmt
	}
	var clauses []clause
	def := -1
	for _, s := range n.Body.List {
		cc := s.(*ast.CaseClause)
		cl := clause{}
		leave := c.inner()
		if cc.List == nil {
			def = len(clauses)
		}
		var only *typ
		for _, e := range cc.List {
			if tv := c.info.Types[e]; tv.IsNil() {
				cl.tests = append(cl.tests, func(v any) bool { return v == nil })
				continue
			}
			t := c.m.types.of(c.typeOf(e))
			only = t
			cl.tests = append(cl.tests, c.m.tester(t))
		}
		if o := c.info.Implicits[cc]; o != nil {
			t := it
			if len(cc.List) == 1 && only != nil {
				t = only
			}
			_, mk := c.declare(o)
			cl.bind = func(f *fr, v any) { c.m.put(t, mk(f), v) }
		}
		cl.body = c.block(cc.Body)
		leave()
		clauses = append(clauses, cl)
	}
	return func(f *fr) ctl {
		if init != nil {
			init(f)
		}
		if begin != nil {
			begin(f)
		}
		v := get(f)
		at := def
	find:
		for i := range clauses {
			for _, t := range clauses[i].tests {
				if t(v) {
					at = i
					break find
				}
			}
		}
		if at < 0 {
			return next
		}
		if b := clauses[at].bind; b != nil {
			b(f, v)
		}
		r := clauses[at].body(f)
		if r == brk && (f.label == 0 || f.label == label) {
			f.label = 0
			return next
		}
		return r
	}
}
