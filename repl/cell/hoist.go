package cell

import (
	"go/ast"
	"go/token"
	"go/types"
)

// An event is a call or a receive inside a statement, in evaluation order.
type event struct {
	slot   *ast.Expr
	pos    token.Pos
	worthy bool // runs code of cells or ops: its position must be exact
	multi  bool // has not exactly one result: can't be moved
	recv   *ast.UnaryExpr
	cond   *ast.BinaryExpr // && or || whose right side needs statements of its own
}

// exprs lowers the expressions of a statement: literals inside them, then the
// marks. With several calls whose positions matter, all but the last are moved
// in front, each with a mark of its own: the order of calls is Go's, and each
// op is known by its column. Calls before an index that must be checked are
// moved as well.
func (f *function) exprs(p token.Pos, slots ...*ast.Expr) []ast.Stmt {
	return f.exprsTo(p, 0, slots...)
}

// exprsTo is exprs for an assignment whose targets are the first slots: their
// own indices are looked at when everything has been evaluated.
func (f *function) exprsTo(p token.Pos, targets int, slots ...*ast.Expr) (pre []ast.Stmt) {
	for _, s := range slots {
		if *s != nil {
			f.litsIn(*s)
			pre = append(pre, f.holdLits(*s)...)
		}
	}
	if !f.framed || !f.c.s.cfg.Markers {
		return pre
	}
	w := &eventWalk{c: f.c}
	var late []*check
	for i, s := range slots {
		w.expr(s)
		if i < targets {
			late = append(late, w.takeOwn(*s)...)
		}
	}
	for _, k := range late {
		k.after = len(w.events)
		w.checks = append(w.checks, k)
	}
	for _, guard := range w.guards {
		guard()
	}
	if f.noChecks {
		*slots[0] = f.c.guarded(*slots[0], w.checks)
		w.checks = nil
	}
	last, moved := w.plan()
	checks := w.checks
	if last < 0 && moved == 0 {
		if w.first.IsValid() {
			if w.unchecked() {
				pre = append(pre, f.flush(w.first)...)
			}
			pre = append(pre, f.mark(w.first, true)...)
		}
		return append(pre, f.checksUpTo(&checks, 0)...)
	}
	pre = append(pre, f.flush(p)...)
	begins := true
	if len(checks) > 0 {
		pre = append(pre, f.mark(w.first, true)...)
		begins = false
	}
	for i, e := range w.events {
		pre = append(pre, f.checksUpTo(&checks, i)...)
		if i > last && i >= moved {
			break
		}
		if e.cond != nil {
			list, v := f.shortCircuit(e.cond)
			pre = append(pre, list...)
			*e.slot = v
			begins = false
			continue
		}
		if e.worthy || i < moved {
			pre = append(pre, f.mark(e.pos, begins)...)
			begins = false
		}
		if e.recv != nil {
			list, v := f.receive(e.recv)
			pre = append(pre, list...)
			*e.slot = v
			continue
		}
		if i == last && i >= moved || e.multi {
			continue
		}
		name := f.c.temp("t")
		x := *e.slot
		pre = append(pre, define(name, x, x.Pos()))
		*e.slot = f.c.typed(ident(name, x.Pos()), f.c.info.Types[x].Type)
	}
	if moved == len(w.events) {
		pre = append(pre, f.checksUpTo(&checks, moved)...)
	}
	return pre
}

// plan gives the last event whose position matters, -1 for none, and how many
// events must be moved in front so that the checks behind them can be made.
func (w *eventWalk) plan() (last, moved int) {
	last = -1
	w.c.held = map[ast.Expr]bool{}
	defer func() { w.c.held = nil }()
	whole := len(w.events) // the events before this one can all be moved
	for i, e := range w.events {
		if e.worthy {
			last = i
		}
		if e.multi && whole == len(w.events) {
			whole = i
		}
		if i < whole {
			w.c.held[*e.slot] = true
		}
	}
	kept := w.checks[:0]
	for _, k := range w.checks {
		if k.after > whole || !k.ready() {
			continue
		}
		kept = append(kept, k)
		moved = max(moved, k.after)
	}
	w.checks = kept
	return last, moved
}

// checksUpTo makes the checks that come before event i, and drops them from the list.
func (f *function) checksUpTo(checks *[]*check, i int) (out []ast.Stmt) {
	for len(*checks) > 0 && (*checks)[0].after <= i {
		k := (*checks)[0]
		*checks = (*checks)[1:]
		out = append(out, k.stmt(append(f.fillWaiting(k.pos), f.mark(k.pos, false)...)))
	}
	return out
}

// guardCase checks the indices of a switch case that is a condition.
func (f *function) guardCase(slot *ast.Expr) {
	if !f.framed || !f.c.s.cfg.Markers {
		return
	}
	w := &eventWalk{c: f.c}
	w.expr(slot)
	for _, guard := range w.guards {
		guard()
	}
	*slot = f.c.guarded(*slot, w.checks)
}

// holdLits gives literals that are passed to native code a variable each: passed
// directly, they would see the variables of the loop's last turn.
func (f *function) holdLits(e ast.Expr) (pre []ast.Stmt) {
	if !f.loops {
		return nil
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if s, ok := unparen(n.Fun).(*ast.SelectorExpr); ok {
				id, _ := s.X.(*ast.Ident)
				spawned := id != nil && id.Name == runtimePackage && s.Sel.Name == "Spawned"
				if o := f.c.info.Uses[s.Sel]; !spawned && (o == nil || o.Pkg() == nil || o.Pkg().Path() == mainPath) {
					return true
				}
			} else {
				return true
			}
			for i, a := range n.Args {
				if lit, ok := a.(*ast.FuncLit); ok {
					name := f.c.temp("l")
					pre = append(pre, define(name, lit, lit.Pos()))
					n.Args[i] = f.c.typed(ident(name, lit.Pos()), f.c.info.Types[lit].Type)
				}
			}
		}
		return true
	})
	return pre
}

// shortCircuit makes an if of && or ||, so that the right side can have marks
// and temporaries that run only when it does.
func (f *function) shortCircuit(n *ast.BinaryExpr) (pre []ast.Stmt, v ast.Expr) {
	p := n.OpPos
	name := f.c.temp("b")
	t := types.Default(f.c.info.Types[n].Type)
	cond := ast.Expr(ident(name, p))
	if n.Op == token.LOR {
		cond = &ast.UnaryExpr{OpPos: p, Op: token.NOT, X: cond}
	}
	var right []ast.Stmt
	f.scoped(func() { right = append(f.exprs(n.Y.Pos(), &n.Y), assign(ident(name, p), n.Y, p)) })
	return []ast.Stmt{define(name, n.X, p), ifStmt(cond, p, right...)}, f.c.typed(ident(name, p), t)
}

// An eventWalk collects the events of expressions in evaluation order.
type eventWalk struct {
	c      *compiler
	events []event
	first  token.Pos // first thing that can fail
	notes  []token.Pos
	checks []*check
	guards []func() // put the checks of right sides of && and || in front of those
}

// takeOwn takes the checks of the expression itself, not of its parts, out.
func (w *eventWalk) takeOwn(e ast.Expr) (own []*check) {
	n, ok := unparen(e).(*ast.IndexExpr)
	if !ok {
		return nil
	}
	kept := w.checks[:0]
	for _, k := range w.checks {
		if k.of == ast.Expr(n) {
			own = append(own, k)
		} else {
			kept = append(kept, k)
		}
	}
	w.checks = kept
	return own
}

func (w *eventWalk) note(p token.Pos) {
	w.notes = append(w.notes, p)
	if !w.first.IsValid() {
		w.first = p
	}
}

func (w *eventWalk) list(l []ast.Expr) {
	for i := range l {
		w.expr(&l[i])
	}
}

func (w *eventWalk) expr(slot *ast.Expr) {
	if slot == nil || *slot == nil {
		return
	}
	switch n := (*slot).(type) {
	case *ast.ParenExpr:
		w.expr(&n.X)
	case *ast.SelectorExpr:
		if id, ok := n.X.(*ast.Ident); ok {
			if _, ok := w.c.info.Uses[id].(*types.PkgName); ok {
				return
			}
		}
		w.expr(&n.X)
		if t := w.c.info.Types[n.X].Type; t != nil {
			if _, ok := t.Underlying().(*types.Pointer); ok {
				w.note(n.Sel.Pos())
			}
		}
	case *ast.IndexExpr:
		if w.c.info.Types[n.Index].IsType() {
			return
		}
		w.expr(&n.X)
		w.expr(&n.Index)
		w.note(n.Lbrack)
		w.checkIndex(n)
	case *ast.SliceExpr:
		w.expr(&n.X)
		w.expr(&n.Low)
		w.expr(&n.High)
		w.expr(&n.Max)
		w.note(n.Lbrack)
		w.checkSlice(n)
	case *ast.StarExpr:
		w.expr(&n.X)
		w.note(n.Star)
	case *ast.TypeAssertExpr:
		w.expr(&n.X)
		w.note(n.Lparen)
	case *ast.UnaryExpr:
		w.expr(&n.X)
		if n.Op == token.ARROW {
			w.note(n.OpPos)
			if t := w.c.info.Types[n.X].Type; t != nil {
				if _, ok := t.Underlying().(*types.Chan); ok {
					w.events = append(w.events, event{slot: slot, pos: n.OpPos, worthy: true, recv: n})
				}
			}
		}
	case *ast.BinaryExpr:
		w.expr(&n.X)
		if n.Op == token.LAND || n.Op == token.LOR {
			in := &eventWalk{c: w.c}
			in.expr(&n.Y)
			if in.first.IsValid() {
				w.note(in.first)
			}
			worthy, moved := 0, false
			var at token.Pos
			for _, e := range in.events {
				if e.worthy {
					if worthy == 0 {
						at = e.pos
					}
					worthy++
					moved = moved || e.recv != nil || e.cond != nil
				}
			}
			switch {
			case worthy > 1 || moved:
				w.events = append(w.events, event{slot: slot, pos: n.OpPos, worthy: true, cond: n})
			case worthy == 1: // not moved: it may not run
				w.note(at)
				w.events = append(w.events, event{slot: &n.Y, pos: at, worthy: true, multi: true})
			}
			if worthy <= 1 && !moved {
				w.guards = append(w.guards, in.guards...)
				if len(in.checks) > 0 {
					w.guards = append(w.guards, func() { n.Y = w.c.guarded(n.Y, in.checks) })
				}
			}
			return
		}
		w.expr(&n.Y)
		switch n.Op {
		case token.QUO, token.REM:
			w.note(n.OpPos)
		case token.SHL, token.SHR:
			w.checkShift(n.Y, n.OpPos)
		}
	case *ast.CompositeLit:
		w.list(n.Elts)
	case *ast.KeyValueExpr:
		w.expr(&n.Key)
		w.expr(&n.Value)
	case *ast.CallExpr:
		w.call(slot, n)
	}
}

func (w *eventWalk) call(slot *ast.Expr, n *ast.CallExpr) {
	fun := w.c.info.Types[n.Fun]
	if fun.IsType() {
		w.list(n.Args)
		return
	}
	if id, ok := unparen(n.Fun).(*ast.Ident); ok {
		if b, ok := w.c.info.Uses[id].(*types.Builtin); ok {
			for i := range n.Args {
				if !w.c.info.Types[n.Args[i]].IsType() {
					w.expr(&n.Args[i])
				}
			}
			if b.Name() == "panic" {
				w.events = append(w.events, event{slot: slot, pos: n.Pos(), worthy: true, multi: true})
			}
			return
		}
	}
	if _, isLit := unparen(n.Fun).(*ast.FuncLit); !isLit {
		w.expr(&n.Fun)
	}
	w.list(n.Args)
	if w.isRuntime(n) {
		if isWait(rtName(n)) {
			w.note(n.Pos())
			w.events = append(w.events, event{slot: slot, pos: n.Lparen, worthy: true, multi: true})
		}
		return
	}
	p := n.Pos()
	if s, ok := unparen(n.Fun).(*ast.SelectorExpr); ok {
		if id, ok := s.X.(*ast.Ident); !ok || !w.isPackage(id) {
			p = s.Sel.Pos()
		}
	}
	w.note(p)
	t := w.c.info.Types[*slot].Type
	_, tuple := t.(*types.Tuple)
	w.events = append(w.events, event{slot: slot, pos: p, worthy: w.worthy(n), multi: tuple || t == nil})
}

// isRuntime tells whether a call is one that the lowering made.
func (w *eventWalk) isRuntime(n *ast.CallExpr) bool {
	s, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := s.X.(*ast.Ident)
	return ok && id.Name == runtimePackage
}

func (w *eventWalk) isPackage(id *ast.Ident) bool {
	_, ok := w.c.info.Uses[id].(*types.PkgName)
	return ok || id.Name == tensorPackage || id.Name == runtimePackage
}

// worthy tells whether a call can run code of cells or ops of the tensor
// package: then its column must be exact.
func (w *eventWalk) worthy(n *ast.CallExpr) bool {
	switch f := unparen(n.Fun).(type) {
	case *ast.SelectorExpr:
		if id, ok := f.X.(*ast.Ident); ok && id.Name == runtimePackage {
			return false
		}
		if o := w.c.info.Uses[f.Sel]; o != nil && o.Pkg() != nil {
			if _, ok := o.(*types.Func); ok {
				return o.Pkg().Path() == mainPath || w.c.s.mayHold(o.Pkg()) || takesFunc(o.Type())
			}
		}
	case *ast.Ident:
		if o := w.c.info.Uses[f]; o != nil && o.Pkg() != nil {
			return true
		}
	}
	return true
}

// takesFunc tells whether a function of a package can call back.
func takesFunc(t types.Type) bool {
	sig, ok := t.(*types.Signature)
	if !ok {
		return false
	}
	for v := range sig.Params().Variables() {
		if _, ok := v.Type().Underlying().(*types.Signature); ok {
			return true
		}
	}
	return false
}
