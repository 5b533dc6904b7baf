package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// rangeVars compiles the variables of a range clause: the result stores key and
// value for a turn, each nil where it is not wanted.
func (c *fc) rangeVars(n *ast.RangeStmt, kt, vt *typ) (setKey, setVal func(*fr, unsafe.Pointer)) {
	one := func(e ast.Expr, from *typ) func(*fr, unsafe.Pointer) {
		if e == nil || isBlankExpr(e) {
			return nil
		}
		if n.Tok == token.DEFINE {
			o := c.info.Defs[e.(*ast.Ident)]
			t := c.typ(o.Type())
			conv := c.convertMem(from, t)
			same := t == from
			_, mk := c.declare(o)
			return func(f *fr, p unsafe.Pointer) {
				if !same {
					p = conv(p)
				}
				t.copyTo(mk(f), p)
			}
		}
		l := c.lval(e)
		conv := c.convertMem(from, l.t)
		return func(f *fr, p unsafe.Pointer) {
			if l.prep != nil {
				l.prep(f)
			}
			p = conv(p)
			if l.set != nil {
				l.set(f, p)
			} else {
				l.t.copyTo(l.addr(f), p)
			}
		}
	}
	if kt != nil {
		setKey = one(n.Key, kt)
	}
	if vt != nil {
		setVal = one(n.Value, vt)
	}
	return setKey, setVal
}

func isBlankExpr(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

func (c *fc) rangeStmt(n *ast.RangeStmt, label int) stmt {
	defer c.inner()()
	e := c.expr(n.X)
	begin := c.begin(n.X.Pos())
	if begin == nil {
		begin = func(*fr) {}
	}
	poll := c.poll(n.Pos())
	intT := c.m.types.of(types.Typ[types.Int])
	switch u := rangeCore(e.t.t).(type) {
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return c.rangeString(n, e, label, begin, poll, intT)
		}
		return c.rangeInt(n, e, label, begin, poll)
	case *types.Slice:
		et := c.m.types.of(u.Elem())
		k, v := c.rangeVars(n, intT, et)
		turn := c.turn(n.Pos())
		body := c.block(n.Body.List)
		x, size := e.L, et.rt.Size()
		return func(f *fr) ctl {
			begin(f)
			s := x(f)
			for i := 0; i < s.len; i++ {
				if f.st.Armed {
					poll(f)
				}
				if k != nil {
					j := i
					k(f, unsafe.Pointer(&j))
				}
				if v != nil {
					v(f, unsafe.Add(s.p, uintptr(i)*size))
				}
				turn(f)
				if r := body(f); r != next {
					if stop, r := loopEnd(f, r, label); stop {
						return r
					}
				}
			}
			return next
		}
	case *types.Array:
		return c.rangeArray(n, c.mem(e), u, label, begin, poll, intT, e)
	case *types.Pointer:
		arr := c.m.types.of(u.Elem()).u.(*types.Array)
		if n.Value == nil || isBlankExpr(n.Value) {
			return c.rangeArray(n, func(f *fr) unsafe.Pointer { e.P(f); return nil }, arr, label, begin, poll, intT, ex{})
		}
		d := c.deref(e, n.X.Pos())
		return c.rangeArray(n, d.M, arr, label, begin, poll, intT, ex{})
	case *types.Map:
		return c.rangeMap(n, e, u, label, begin, poll)
	case *types.Chan:
		return c.rangeChan(n, e, u, label, begin, poll)
	case *types.Signature:
		return c.rangeFunc(n, e, u, label, begin, poll)
	}
	c.fail(n, "range over %v", e.t.t)
	return nil
}

func rangeCore(t types.Type) types.Type { return t.Underlying() }

func (c *fc) rangeArray(n *ast.RangeStmt, base func(*fr) unsafe.Pointer, u *types.Array, label int, begin, poll func(*fr), intT *typ, e ex) stmt {
	et := c.m.types.of(u.Elem())
	if e.t != nil && (n.Value == nil || isBlankExpr(n.Value)) {
		peek := c.peek(e)
		base = peek
	}
	k, v := c.rangeVars(n, intT, et)
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	size, length := et.rt.Size(), int(u.Len())
	return func(f *fr) ctl {
		begin(f)
		p := base(f)
		for i := 0; i < length; i++ {
			if f.st.Armed {
				poll(f)
			}
			if k != nil {
				j := i
				k(f, unsafe.Pointer(&j))
			}
			if v != nil {
				v(f, unsafe.Add(p, uintptr(i)*size))
			}
			turn(f)
			if r := body(f); r != next {
				if stop, r := loopEnd(f, r, label); stop {
					return r
				}
			}
		}
		return next
	}
}

func (c *fc) rangeInt(n *ast.RangeStmt, e ex, label int, begin, poll func(*fr)) stmt {
	t := e.t
	if n.Key != nil && !isBlankExpr(n.Key) && e.val != nil {
		if n.Tok == token.DEFINE {
			t = c.typ(c.info.Defs[n.Key.(*ast.Ident)].Type())
		} else {
			t = c.m.types.of(c.typeOf(n.Key))
		}
		e = c.constant(t, e.val)
	}
	k, _ := c.rangeVars(n, t, nil)
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	x, unsigned := e.I, t.unsigned
	return func(f *fr) ctl {
		begin(f)
		limit := x(f)
		for i := int64(0); i < limit || unsigned && uint64(i) < uint64(limit); i++ {
			if f.st.Armed {
				poll(f)
			}
			if k != nil {
				j := i
				k(f, unsafe.Pointer(&j))
			}
			turn(f)
			if r := body(f); r != next {
				if stop, r := loopEnd(f, r, label); stop {
					return r
				}
			}
		}
		return next
	}
}

func (c *fc) rangeString(n *ast.RangeStmt, e ex, label int, begin, poll func(*fr), intT *typ) stmt {
	k, v := c.rangeVars(n, intT, c.m.types.of(types.Typ[types.Int32]))
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	x := e.S
	return func(f *fr) ctl {
		begin(f)
		s := x(f)
		for i := 0; i < len(s); {
			if f.st.Armed {
				poll(f)
			}
			r, w := utf8.DecodeRuneInString(s[i:])
			if k != nil {
				j := i
				k(f, unsafe.Pointer(&j))
			}
			if v != nil {
				v(f, unsafe.Pointer(&r))
			}
			i += w
			turn(f)
			if r := body(f); r != next {
				if stop, r := loopEnd(f, r, label); stop {
					return r
				}
			}
		}
		return next
	}
}

func (c *fc) rangeMap(n *ast.RangeStmt, e ex, u *types.Map, label int, begin, poll func(*fr)) stmt {
	kt, et, mt := c.m.types.of(u.Key()), c.m.types.of(u.Elem()), e.t
	k, v := c.rangeVars(n, kt, et)
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	x := e.P
	return func(f *fr) ctl {
		begin(f)
		p := x(f)
		if p == nil {
			return next
		}
		it := mt.at(unsafe.Pointer(&p)).MapRange()
		for it.Next() {
			if f.st.Armed {
				poll(f)
			}
			if k != nil {
				q := kt.alloc()
				kt.at(q).Set(it.Key())
				k(f, q)
			}
			if v != nil {
				q := et.alloc()
				et.at(q).Set(it.Value())
				v(f, q)
			}
			turn(f)
			if r := body(f); r != next {
				if stop, r := loopEnd(f, r, label); stop {
					return r
				}
			}
		}
		return next
	}
}

func (c *fc) rangeChan(n *ast.RangeStmt, e ex, u *types.Chan, label int, begin, poll func(*fr)) stmt {
	et, ct := c.m.types.of(u.Elem()), e.t
	k, _ := c.rangeVars(n, et, nil)
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	x := e.P
	mark := c.mark(n.Pos())
	return func(f *fr) ctl {
		begin(f)
		p := x(f)
		for {
			if f.st.Armed {
				poll(f)
			}
			mark(f)
			q := et.alloc()
			if !f.recv(ct, p, et, q) {
				return next
			}
			if k != nil {
				k(f, q)
			}
			turn(f)
			if r := body(f); r != next {
				if stop, r := loopEnd(f, r, label); stop {
					return r
				}
			}
		}
	}
}

// The states of a loop over a function.
const (
	rangeReady = iota
	rangeRunning
	rangeDone     // the body has ended the loop
	rangeFinished // the whole loop has ended
)

// rangeFunc calls a sequence with the loop's body, which runs in this
// activation. How the body ended is told to the code behind the loop.
func (c *fc) rangeFunc(n *ast.RangeStmt, e ex, u *types.Signature, label int, begin, poll func(*fr)) stmt {
	m := c.m
	yield := u.Params().At(0).Type().Underlying().(*types.Signature)
	yt := m.types.of(u.Params().At(0).Type())
	var ts [2]*typ
	for i := range yield.Params().Len() {
		ts[i] = c.typ(yield.Params().At(i).Type())
	}
	k, v := c.rangeVars(n, ts[0], ts[1])
	body := c.block(n.Body.List)
	x := e.P
	site := 0
	if !c.unit.bare {
		site = c.site(n.Body.Lbrace, cell.NoHook)
	}
	mark := c.mark(n.X.Pos())
	return func(f *fr) ctl {
		begin(f)
		seq := (*closure)(x(f))
		state, out, broken := rangeReady, next, false
		turn := func(caller *fr, args []unsafe.Pointer) bool {
			switch state {
			case rangeDone:
				broken = true
				panic(goError{"runtime error: range function continued iteration after function for loop body returned false"})
			case rangeRunning:
				panic(goError{"runtime error: range function continued iteration after loop body panic"})
			case rangeFinished:
				panic(goError{"runtime error: range function continued iteration after whole loop exit"})
			}
			state = rangeRunning
			home, st := f.f, f.st
			f.st = caller.st
			f.f = f.st.push(site)
			f.f.act, f.f.home = f, home.home
			if f.st.Armed {
				poll(f)
			}
			if k != nil {
				k(f, args[0])
			}
			if v != nil {
				v(f, args[1])
			}
			r := body(f)
			f.st.depth = f.f.depth
			f.f.Live, f.f.act = false, nil
			f.f, f.st = home, st
			if r != next {
				if stop, r := loopEnd(f, r, label); stop {
					state, out = rangeDone, r
					return false
				}
			}
			state = rangeReady
			return true
		}
		cl := &closure{sig: yt, turn: turn}
		home, st := f.f, f.st
		func() {
			defer func() { f.f, f.st = home, st }()
			mark(f)
			m.callClosure(f, seq, []unsafe.Pointer{ptrTo(unsafe.Pointer(cl))})
		}()
		if state == rangeRunning || broken {
			panic(goError{"runtime error: range function recovered a loop body panic and did not resume panicking"})
		}
		state = rangeFinished
		return out
	}
}

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
		r := cl.body(f)
		if r == brk && (f.label == 0 || f.label == label) {
			f.label = 0
			return next
		}
		return r
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
