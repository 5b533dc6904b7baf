package interp

import (
	"go/ast"
	"go/token"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

type stmt func(*fr) ctl

// block compiles a statement list.
func (c *fc) block(list []ast.Stmt) stmt {
	defer c.inner()()
	var out []stmt
	labels := map[int]int{}
	for _, n := range list {
		if l, ok := n.(*ast.LabeledStmt); ok {
			labels[c.label(l.Label)] = len(out)
		}
		if s := c.stmt(n); s != nil {
			out = append(out, s)
		}
	}
	return sequence(out, labels)
}

func sequence(out []stmt, labels map[int]int) stmt {
	if len(labels) > 0 {
		return func(f *fr) ctl {
			for i := 0; i < len(out); i++ {
				if r := out[i](f); r != next {
					if r == jump {
						if k, ok := labels[f.label]; ok {
							if f.st.armed.Load() {
								f.st.poll()
							}
							i = k - 1
							continue
						}
					}
					return r
				}
			}
			return next
		}
	}
	switch len(out) {
	case 0:
		return func(*fr) ctl { return next }
	case 1:
		return out[0]
	case 2:
		a, b := out[0], out[1]
		return func(f *fr) ctl {
			if r := a(f); r != next {
				return r
			}
			return b(f)
		}
	}
	return func(f *fr) ctl {
		for _, s := range out {
			if r := s(f); r != next {
				return r
			}
		}
		return next
	}
}

// label numbers a label.
func (c *fc) label(id *ast.Ident) int {
	o := c.info.ObjectOf(id)
	if o == nil {
		c.fail(id, "label %s", id.Name)
	}
	k, ok := c.labels[o]
	if !ok {
		c.nlabel++
		k = c.nlabel
		c.labels[o] = k
	}
	return k
}

// stmt compiles one statement, with what a debugger and the runtime are told.
func (c *fc) stmt(n ast.Stmt) stmt { return c.labelled(n, 0) }

// labelled is stmt for a statement with a label.
func (c *fc) labelled(n ast.Stmt, label int) stmt {
	switch x := n.(type) {
	case *ast.LabeledStmt:
		s := c.labelled(x.Stmt, c.label(x.Label))
		if s == nil {
			return func(*fr) ctl { return next }
		}
		return s
	case *ast.BlockStmt:
		s := c.block(x.List)
		if label == 0 {
			return s
		}
		return func(f *fr) ctl {
			r := s(f)
			if r == brk && f.label == label {
				f.label = 0
				return next
			}
			return r
		}
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		hook := c.hook(n.Pos(), cell.Statement)
		s := c.bare(n, label)
		if hook == nil {
			return s
		}
		return func(f *fr) ctl {
			hook(f)
			return s(f)
		}
	}
	return c.around(n, func() stmt { return c.bare(n, label) })
}

// around adds to a simple statement what happens before and after it.
func (c *fc) around(n ast.Stmt, compile func() stmt) stmt {
	if c.unit.bare {
		return compile()
	}
	if d, ok := n.(*ast.DeclStmt); ok && d.Decl.(*ast.GenDecl).Tok != token.VAR {
		return compile()
	}
	if _, ok := n.(*ast.EmptyStmt); ok {
		return nil
	}
	hook := c.site(n.Pos(), cell.Statement, cell.Assigned(n)...)
	c.m.in.scope.At(hook).Last = c.unit.line(n.End() - 1)
	begin := hook | beginBit
	in := c.m.in
	s := compile()
	if s == nil {
		return nil
	}
	if c.sweeps(n) {
		drops := c.drops(n)
		return func(f *fr) ctl {
			f.f.PC = begin
			if in.armed.Load() {
				in.hook(f.f, hook)
			}
			r := s(f)
			if r == next {
				if drops {
					in.drop(f.f)
				} else {
					in.end(f.f)
				}
			}
			return r
		}
	}
	if plainStmt(n) {
		return func(f *fr) ctl {
			if in.armed.Load() {
				in.hook(f.f, hook)
			}
			return s(f)
		}
	}
	return func(f *fr) ctl {
		f.f.PC = begin
		if in.armed.Load() {
			in.hook(f.f, hook)
		}
		return s(f)
	}
}

// plainStmt tells whether a statement can neither call nor fail.
func plainStmt(n ast.Stmt) bool {
	plain := true
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr, *ast.IndexExpr, *ast.SliceExpr, *ast.StarExpr, *ast.SelectorExpr, *ast.TypeAssertExpr, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
			plain = false
		case *ast.UnaryExpr:
			plain = plain && n.Op != token.ARROW
		case *ast.BinaryExpr:
			plain = plain && n.Op != token.QUO && n.Op != token.REM && n.Op != token.SHL && n.Op != token.SHR && n.Op != token.EQL && n.Op != token.NEQ
		case *ast.AssignStmt:
			plain = plain && n.Tok != token.QUO_ASSIGN && n.Tok != token.REM_ASSIGN && n.Tok != token.SHL_ASSIGN && n.Tok != token.SHR_ASSIGN
		case *ast.FuncLit:
			return false
		}
		return plain
	})
	return plain
}

// bare compiles a statement alone; label is that of the loop or switch.
func (c *fc) bare(n ast.Stmt, label int) stmt {
	switch n := n.(type) {
	case *ast.EmptyStmt:
		return nil
	case *ast.ExprStmt:
		return c.exprStmt(n.X)
	case *ast.IncDecStmt:
		op := token.ADD
		if n.Tok == token.DEC {
			op = token.SUB
		}
		return c.incDec(n, op)
	case *ast.AssignStmt:
		return c.assign(n)
	case *ast.DeclStmt:
		return c.declStmt(n)
	case *ast.ReturnStmt:
		return c.returnStmt(n)
	case *ast.BranchStmt:
		return c.branch(n)
	case *ast.IfStmt:
		return c.ifStmt(n)
	case *ast.ForStmt:
		return c.forStmt(n, label)
	case *ast.RangeStmt:
		return c.rangeStmt(n, label)
	case *ast.SwitchStmt:
		return c.switchStmt(n, label)
	case *ast.TypeSwitchStmt:
		return c.typeSwitch(n, label)
	case *ast.SelectStmt:
		return c.selectStmt(n, label)
	case *ast.SendStmt:
		return c.sendStmt(n)
	case *ast.GoStmt:
		return c.goStmt(n)
	case *ast.DeferStmt:
		return c.deferStmt(n)
	}
	c.fail(n, "statement %T", n)
	return nil
}

func (c *fc) exprStmt(n ast.Expr) stmt {
	e := c.expr(n)
	if e.tuple != nil {
		run := e.tuple.run
		return func(f *fr) ctl { run(f); return next }
	}
	eval := c.evalOnly(e)
	return func(f *fr) ctl { eval(f); return next }
}

// evalOnly evaluates an expression for its effects.
func (c *fc) evalOnly(e ex) func(*fr) {
	if e.isNil || e.val != nil {
		return func(*fr) {}
	}
	x := c.mem(e)
	return func(f *fr) { x(f) }
}

func (c *fc) branch(n *ast.BranchStmt) stmt {
	label := 0
	if n.Label != nil {
		label = c.label(n.Label)
	}
	r := next
	switch n.Tok {
	case token.BREAK:
		r = brk
	case token.CONTINUE:
		r = cont
	case token.GOTO:
		r = jump
	case token.FALLTHROUGH:
		r = fall
	}
	if label == 0 {
		return func(f *fr) ctl { f.label = 0; return r }
	}
	return func(f *fr) ctl { f.label = label; return r }
}

func (c *fc) returnStmt(n *ast.ReturnStmt) stmt {
	if len(n.Results) == 0 {
		return func(*fr) ctl { return ret }
	}
	rt := c.code.results
	slots := c.results
	if len(n.Results) == 1 && len(rt) == 1 {
		e := c.as(n.Results[0], rt[0])
		k, t := slots[0], rt[0]
		if !c.named && !c.code.defers {
			in := c.into(e)
			return func(f *fr) ctl { in(f, f.p[k]); return ret }
		}
		x := c.mem(e)
		return func(f *fr) ctl { t.copyTo(f.p[k], x(f)); return ret }
	}
	var get func(*fr) []unsafe.Pointer
	if len(n.Results) == 1 { // return g()
		p := c.expr(n.Results[0]).tuple
		conv := make([]func(unsafe.Pointer) unsafe.Pointer, len(rt))
		for i, t := range rt {
			conv[i] = c.convertMem(p.results[i], t)
		}
		get = func(f *fr) []unsafe.Pointer {
			in := p.run(f)
			out := make([]unsafe.Pointer, len(in))
			for i := range in {
				out[i] = conv[i](in[i])
			}
			return out
		}
	} else {
		items := make([]func(*fr) unsafe.Pointer, len(rt))
		for i, t := range rt {
			items[i] = c.mem(c.as(n.Results[i], t))
		}
		order := c.callsFirst(n.Results)
		get = func(f *fr) []unsafe.Pointer { return evaluate(f, items, order) }
	}
	return func(f *fr) ctl {
		for i, p := range get(f) {
			rt[i].copyTo(f.p[slots[i]], p)
		}
		return ret
	}
}

func (c *fc) ifStmt(n *ast.IfStmt) stmt {
	defer c.inner()()
	var init stmt
	if n.Init != nil {
		init = c.simple(n.Init)
	}
	cond := c.cond(n.Cond)
	then := c.block(n.Body.List)
	var els stmt
	if n.Else != nil {
		els = c.stmt(n.Else)
	}
	return func(f *fr) ctl {
		if init != nil {
			init(f)
		}
		if cond(f) {
			return then(f)
		}
		if els != nil {
			return els(f)
		}
		return next
	}
}

// cond compiles a condition, which begins a statement.
func (c *fc) cond(n ast.Expr) func(*fr) bool {
	x := c.expr(n).B
	if c.unit.bare || plainStmt(&ast.ExprStmt{X: n}) {
		return x
	}
	begin := c.site(n.Pos(), cell.NoHook) | beginBit
	return func(f *fr) bool {
		f.f.PC = begin
		return x(f)
	}
}

// poll lets an interrupt reach a loop.
func (c *fc) poll(p token.Pos) func(*fr) {
	mark := c.mark(p)
	return func(f *fr) {
		mark(f)
		f.st.poll()
	}
}

// turn gives what lets a debugger stop at the start of a turn of a loop.
func (c *fc) turn(p token.Pos) func(*fr) {
	if h := c.hook(p, cell.Turn); h != nil {
		return h
	}
	return func(*fr) {}
}

// simple compiles the statement in the head of another one.
func (c *fc) simple(n ast.Stmt) stmt {
	s := c.bare(n, 0)
	if s == nil || c.unit.bare || plainStmt(n) {
		return s
	}
	begin := c.site(n.Pos(), cell.NoHook) | beginBit
	in, sweeps, drops := c.m.in, c.sweeps(n), c.drops(n)
	return func(f *fr) ctl {
		f.f.PC = begin
		r := s(f)
		switch {
		case !sweeps:
		case drops:
			in.drop(f.f)
		default:
			in.end(f.f)
		}
		return r
	}
}

// inner begins a scope that the result ends.
func (c *fc) inner() func() {
	depth := len(c.scope)
	return func() { c.scope = c.scope[:depth] }
}

func (c *fc) forStmt(n *ast.ForStmt, label int) stmt {
	defer c.inner()()
	var init, post stmt
	if n.Init != nil {
		init = c.simple(n.Init)
	}
	var cond func(*fr) bool
	if n.Cond != nil {
		cond = c.cond(n.Cond)
	}
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	if n.Post != nil {
		post = c.simple(n.Post)
	}
	type turnVar struct {
		slot int
		t    *typ
	}
	var fresh []turnVar // each turn has its own
	if as, ok := n.Init.(*ast.AssignStmt); ok && as.Tok == token.DEFINE {
		for _, l := range as.Lhs {
			if o := c.info.Defs[l.(*ast.Ident)]; o != nil && c.escapes[o] {
				fresh = append(fresh, turnVar{c.slots[o], c.typ(o.Type())})
			}
		}
	}
	poll := c.poll(n.Pos())
	return func(f *fr) ctl {
		if init != nil {
			init(f)
		}
		for {
			if f.st.armed.Load() {
				poll(f)
			}
			if cond != nil && !cond(f) {
				return next
			}
			turn(f)
			if r := body(f); r != next {
				if stop, r := loopEnd(f, r, label); stop {
					return r
				}
			}
			for _, v := range fresh {
				f.p[v.slot] = v.t.clone(f.p[v.slot])
			}
			if post != nil {
				post(f)
			}
		}
	}
}

// loopEnd tells what a statement that ended a loop's body means for the loop.
func loopEnd(f *fr, r ctl, label int) (stop bool, out ctl) {
	switch r {
	case brk:
		if f.label == 0 || f.label == label {
			f.label = 0
			return true, next
		}
		return true, brk
	case cont:
		if f.label == 0 || f.label == label {
			f.label = 0
			return false, next
		}
		return true, cont
	}
	return true, r
}
