package interp

import (
	"go/ast"
	"go/token"
	"go/types"
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
			l.store(f, conv(p))
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
		lap := c.lap(n, label)
		x, size := e.L, et.rt.Size()
		return func(f *fr) ctl {
			begin(f)
			s := x(f)
			for i := 0; i < s.len; i++ {
				if f.st.armed.Load() {
					poll(f)
				}
				if k != nil {
					j := i
					k(f, unsafe.Pointer(&j))
				}
				if v != nil {
					v(f, unsafe.Add(s.p, uintptr(i)*size))
				}
				if stop, r := lap(f); stop {
					return r
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

// lap compiles what each turn of a loop does once its variables are set. It says
// whether the loop ends, and how.
func (c *fc) lap(n *ast.RangeStmt, label int) func(*fr) (bool, ctl) {
	turn := c.turn(n.Pos())
	body := c.block(n.Body.List)
	return func(f *fr) (bool, ctl) {
		turn(f)
		if r := body(f); r != next {
			return loopEnd(f, r, label)
		}
		return false, next
	}
}

func rangeCore(t types.Type) types.Type { return t.Underlying() }

func (c *fc) rangeArray(n *ast.RangeStmt, base func(*fr) unsafe.Pointer, u *types.Array, label int, begin, poll func(*fr), intT *typ, e ex) stmt {
	et := c.m.types.of(u.Elem())
	if e.t != nil && (n.Value == nil || isBlankExpr(n.Value)) {
		peek := c.peek(e)
		base = peek
	}
	k, v := c.rangeVars(n, intT, et)
	lap := c.lap(n, label)
	size, length := et.rt.Size(), int(u.Len())
	return func(f *fr) ctl {
		begin(f)
		p := base(f)
		for i := 0; i < length; i++ {
			if f.st.armed.Load() {
				poll(f)
			}
			if k != nil {
				j := i
				k(f, unsafe.Pointer(&j))
			}
			if v != nil {
				v(f, unsafe.Add(p, uintptr(i)*size))
			}
			if stop, r := lap(f); stop {
				return r
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
	lap := c.lap(n, label)
	x, unsigned := e.I, t.unsigned
	return func(f *fr) ctl {
		begin(f)
		limit := x(f)
		for i := int64(0); i < limit || unsigned && uint64(i) < uint64(limit); i++ {
			if f.st.armed.Load() {
				poll(f)
			}
			if k != nil {
				j := i
				k(f, unsafe.Pointer(&j))
			}
			if stop, r := lap(f); stop {
				return r
			}
		}
		return next
	}
}

func (c *fc) rangeString(n *ast.RangeStmt, e ex, label int, begin, poll func(*fr), intT *typ) stmt {
	k, v := c.rangeVars(n, intT, c.m.types.of(types.Typ[types.Int32]))
	lap := c.lap(n, label)
	x := e.S
	return func(f *fr) ctl {
		begin(f)
		s := x(f)
		for i := 0; i < len(s); {
			if f.st.armed.Load() {
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
			if stop, r := lap(f); stop {
				return r
			}
		}
		return next
	}
}

func (c *fc) rangeMap(n *ast.RangeStmt, e ex, u *types.Map, label int, begin, poll func(*fr)) stmt {
	kt, et, mt := c.m.types.of(u.Key()), c.m.types.of(u.Elem()), e.t
	k, v := c.rangeVars(n, kt, et)
	lap := c.lap(n, label)
	x := e.P
	return func(f *fr) ctl {
		begin(f)
		p := x(f)
		if p == nil {
			return next
		}
		it := mt.at(unsafe.Pointer(&p)).MapRange()
		for it.Next() {
			if f.st.armed.Load() {
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
			if stop, r := lap(f); stop {
				return r
			}
		}
		return next
	}
}

func (c *fc) rangeChan(n *ast.RangeStmt, e ex, u *types.Chan, label int, begin, poll func(*fr)) stmt {
	et, ct := c.m.types.of(u.Elem()), e.t
	k, _ := c.rangeVars(n, et, nil)
	lap := c.lap(n, label)
	x := e.P
	mark := c.mark(n.Pos())
	return func(f *fr) ctl {
		begin(f)
		p := x(f)
		for {
			if f.st.armed.Load() {
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
			if stop, r := lap(f); stop {
				return r
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
			away := f.st.enter()
			f.f = f.st.push(site)
			f.f.act, f.f.home = f, home.home
			if f.st.armed.Load() {
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
			f.st.exit(away)
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
