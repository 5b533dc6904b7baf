package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"unsafe"
)

// later compiles the call of a go or defer statement: function and arguments
// are evaluated now, the result makes the call.
func (c *fc) later(n *ast.CallExpr, at token.Pos) func(*fr) func(*fr) {
	tv := c.info.Types[n.Fun]
	if tv.IsBuiltin() || tv.IsType() {
		return c.laterBuiltin(n)
	}
	sig := c.typeOf(n.Fun).Underlying().(*types.Signature)
	args := c.args(n, sig)
	m := c.m
	if s, ok := unparenExpr(n.Fun).(*ast.SelectorExpr); ok {
		if sel := c.info.Selections[s]; sel != nil && sel.Kind() == types.MethodVal {
			recv := c.sub.typ(sel.Recv())
			o, path, _ := c.selection(recv, sel)
			e := c.towards(c.expr(s.X), path[:len(path)-1], s.Sel.Pos())
			fn := o.(*types.Func)
			msig := c.sub.typ(fn.Signature()).(*types.Signature)
			// The receiver is evaluated now and kept in a slot of a small activation.
			recvPtr := false
			if _, ptr := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer); ptr && !isPointerTo(e.t) && e.t.class != clsIface {
				recvPtr = true
			}
			var keep func(*fr) unsafe.Pointer
			var rt *typ
			if recvPtr {
				rt = m.types.of(types.NewPointer(e.t.t))
				a := e.addr
				if a == nil {
					a = c.mem(e)
				}
				keep = func(f *fr) unsafe.Pointer { return ptrTo(a(f)) }
			} else {
				rt = e.t
				if !isPointerTo(e.t) || fn.Signature().Recv() == nil {
					keep = c.mem(e)
				} else if _, ptr := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer); !ptr && e.t.class != clsIface {
					d := c.deref(e, s.Sel.Pos())
					rt, keep = d.t, c.mem(d)
				} else {
					keep = c.mem(e)
				}
			}
			inner := &fc{m: m, info: c.info, sub: c.sub, unit: c.unit, name: c.name, slots: map[types.Object]int{}, labels: map[types.Object]int{}, sig: c.sig, code: &code{name: c.name}}
			held := inner.load(rt, func(f *fr) unsafe.Pointer { return f.p[0] })
			plan := inner.methodPlan(held, fn, msig, func(f *fr) []unsafe.Pointer { return f.p[1:] }, c.mark(at), n.Ellipsis.IsValid(), s.Sel.Pos())
			return func(f *fr) func(*fr) {
				p := append([]unsafe.Pointer{keep(f)}, args(f)...)
				if rt.class == clsIface && *(*any)(p[0]) == nil {
					nilDeref()
				}
				return func(g *fr) {
					h := &fr{p: p, f: g.f, st: g.st, code: g.code, d: g.d}
					plan.run(h)
				}
			}
		}
	}
	fun := c.expr(n.Fun).P
	return func(f *fr) func(*fr) {
		cl := (*closure)(fun(f))
		a := args(f)
		return func(g *fr) { m.callClosure(g, cl, a) }
	}
}

func (c *fc) laterBuiltin(n *ast.CallExpr) func(*fr) func(*fr) {
	name := ""
	if id, ok := unparenExpr(n.Fun).(*ast.Ident); ok {
		name = id.Name
	}
	if name == "recover" { // it must be called by a deferred function, not be one
		return func(*fr) func(*fr) { return func(*fr) {} }
	}
	// The arguments are evaluated now into hidden variables.
	held := *n
	held.Args = append([]ast.Expr{}, n.Args...)
	inner := &fc{m: c.m, info: c.info, sub: c.sub, unit: c.unit, name: c.name, slots: map[types.Object]int{}, labels: map[types.Object]int{}, sig: c.sig, code: &code{name: c.name}, escapes: c.escapes}
	var gets []func(*fr) unsafe.Pointer
	info := *c.info
	info.Uses = map[*ast.Ident]types.Object{}
	info.Types = map[ast.Expr]types.TypeAndValue{}
	for k, v := range c.info.Types {
		if k == n.Fun || k == ast.Expr(n) {
			info.Types[k] = v
		}
	}
	for i, a := range n.Args {
		tv := c.info.Types[a]
		if tv.IsType() || tv.Value != nil || tv.IsNil() {
			info.Types[a] = tv
			continue
		}
		e := c.expr(a)
		id := &ast.Ident{Name: "ʹa", NamePos: a.Pos()}
		o := types.NewVar(a.Pos(), nil, "ʹa", e.t.t)
		info.Uses[id] = o
		info.Types[id] = types.TypeAndValue{Type: e.t.t}
		inner.slots[o] = len(gets)
		gets = append(gets, c.mem(e))
		held.Args[i] = id
	}
	info.Types[&held] = c.info.Types[n]
	inner.info = &info
	inner.code.nslots = len(gets)
	s := inner.exprStmt(&held)
	return func(f *fr) func(*fr) {
		p := make([]unsafe.Pointer, inner.code.nslots)
		for i, g := range gets {
			p[i] = g(f)
		}
		return func(g *fr) {
			h := &fr{p: p, f: g.f, st: g.st, code: g.code, d: g.d}
			s(h)
		}
	}
}

func (c *fc) deferStmt(n *ast.DeferStmt) stmt {
	later := c.later(n.Call, n.Pos())
	return func(f *fr) ctl {
		call := later(f)
		d := f.d
		d.calls = append(d.calls, func() { call(f) })
		return next
	}
}

func (c *fc) goStmt(n *ast.GoStmt) stmt {
	later := c.later(n.Call, n.Pos())
	m := c.m
	code := c.code
	return func(f *fr) ctl {
		call := later(f)
		m.in.spawn(f.f, func() {
			st := m.in.stacks.current()
			g := &fr{st: st, code: code}
			g.f = rootFrame(st)
			call(g)
		})
		return next
	}
}

// rootFrame is a frame outside of a stack, for what is called first on a
// goroutine.
func rootFrame(st *stack) *Frame { return &Frame{Stack: st, Live: true, depth: -1} }
