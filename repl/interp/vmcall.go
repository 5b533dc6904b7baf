package interp

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"sync"
	"unsafe"
)

// A callPlan is a compiled call: run makes it and gives where its results are.
type callPlan struct {
	results []*typ
	run     func(*fr) []unsafe.Pointer
}

// one makes an expression of a plan with one result.
func (c *fc) one(p *callPlan) ex {
	if len(p.results) != 1 {
		return ex{tuple: p}
	}
	run := p.run
	e := c.noAddr(c.load(p.results[0], func(f *fr) unsafe.Pointer { return run(f)[0] }))
	e.tuple = p
	return e
}

// call compiles a call, conversion or builtin.
func (c *fc) call(n *ast.CallExpr) ex {
	tv := c.info.Types[n.Fun]
	if tv.IsType() {
		return c.conversion(n, c.m.types.of(c.sub.typ(tv.Type)))
	}
	if tv.IsBuiltin() {
		return c.builtin(n)
	}
	return c.one(c.plan(n))
}

func unparenExpr(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// callPos is where a call is reported: at the name of a method, at the start of
// a function.
func (c *fc) callPos(n *ast.CallExpr) token.Pos {
	if s, ok := unparenExpr(n.Fun).(*ast.SelectorExpr); ok {
		if id, ok := s.X.(*ast.Ident); ok {
			if _, ok := c.info.Uses[id].(*types.PkgName); ok {
				return n.Pos()
			}
		}
		return s.Sel.Pos()
	}
	return n.Pos()
}

// plan compiles a call of a function or method.
func (c *fc) plan(n *ast.CallExpr) *callPlan {
	mark := c.mark(c.callPos(n))
	fun := unparenExpr(n.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		if id := instantiated(x.X); id != nil && c.info.Instances[id].TypeArgs != nil {
			fun = unparenExpr(x.X)
		}
	case *ast.IndexListExpr:
		fun = unparenExpr(x.X)
	}
	switch x := fun.(type) {
	case *ast.Ident:
		if o, ok := c.info.Uses[x].(*types.Func); ok {
			return c.planFunc(n, o, c.instanceOf(x), x, mark)
		}
	case *ast.SelectorExpr:
		s := c.info.Selections[x]
		if s == nil {
			if o, ok := c.info.Uses[x.Sel].(*types.Func); ok {
				return c.planFunc(n, o, c.instanceOf(x.Sel), x, mark)
			}
		} else if s.Kind() == types.MethodVal {
			recv := c.sub.typ(s.Recv())
			o, path, _ := c.selection(recv, s)
			return c.planMethod(c.expr(x.X), o, path, n, mark, x.Sel.Pos())
		}
	}
	return c.planValue(n, c.expr(n.Fun), mark)
}

// args compiles arguments into memory of their own each.
func (c *fc) args(n *ast.CallExpr, sig *types.Signature) func(*fr) []unsafe.Pointer {
	np := sig.Params().Len()
	pt := make([]*typ, np)
	for i := range pt {
		pt[i] = c.typ(sig.Params().At(i).Type())
	}
	if len(n.Args) == 1 && np != 1 || len(n.Args) == 1 && sig.Variadic() {
		if call, ok := unparenExpr(n.Args[0]).(*ast.CallExpr); ok {
			if tup, ok := c.info.TypeOf(call).(*types.Tuple); ok && tup.Len() > 1 {
				return c.spread(c.expr(call).tuple, pt, sig.Variadic())
			}
		}
	}
	fixed := np
	variadic := sig.Variadic() && !n.Ellipsis.IsValid()
	if variadic {
		fixed--
	}
	var get []func(*fr) unsafe.Pointer
	for i := range fixed {
		get = append(get, c.mem(c.as(n.Args[i], pt[i])))
	}
	if !variadic {
		switch len(get) {
		case 0:
			return func(*fr) []unsafe.Pointer { return nil }
		case 1:
			a := get[0]
			return func(f *fr) []unsafe.Pointer { return []unsafe.Pointer{a(f)} }
		}
		return func(f *fr) []unsafe.Pointer {
			out := make([]unsafe.Pointer, len(get))
			for i, g := range get {
				out[i] = g(f)
			}
			return out
		}
	}
	st := pt[np-1]
	et := c.m.types.of(st.u.(*types.Slice).Elem())
	var rest []func(*fr, unsafe.Pointer)
	for _, a := range n.Args[fixed:] {
		rest = append(rest, c.into(c.as(a, et)))
	}
	size := et.rt.Size()
	arr := reflect.ArrayOf(len(rest), et.rt)
	return func(f *fr) []unsafe.Pointer {
		out := make([]unsafe.Pointer, np)
		for i, g := range get {
			out[i] = g(f)
		}
		s := new(slc)
		if len(rest) > 0 {
			p := reflect.New(arr).UnsafePointer()
			for i, r := range rest {
				r(f, unsafe.Add(p, uintptr(i)*size))
			}
			*s = slc{p, len(rest), len(rest)}
		}
		out[np-1] = unsafe.Pointer(s)
		return out
	}
}

// spread passes the results of a call as arguments.
func (c *fc) spread(p *callPlan, pt []*typ, variadic bool) func(*fr) []unsafe.Pointer {
	np := len(pt)
	conv := make([]func(unsafe.Pointer) unsafe.Pointer, len(p.results))
	var et *typ
	if variadic {
		et = c.m.types.of(pt[np-1].u.(*types.Slice).Elem())
	}
	for i, t := range p.results {
		want := et
		if !variadic || i < np-1 {
			want = pt[i]
		}
		conv[i] = c.convertMem(t, want)
	}
	return func(f *fr) []unsafe.Pointer {
		in := p.run(f)
		out := make([]unsafe.Pointer, np)
		fixed := np
		if variadic {
			fixed--
		}
		for i := range fixed {
			out[i] = conv[i](in[i])
		}
		if variadic {
			k := len(in) - fixed
			s := new(slc)
			if k > 0 {
				q := reflect.New(reflect.ArrayOf(k, et.rt)).UnsafePointer()
				for i := range k {
					et.copyTo(unsafe.Add(q, uintptr(i)*et.rt.Size()), conv[fixed+i](in[fixed+i]))
				}
				*s = slc{q, k, k}
			}
			out[np-1] = unsafe.Pointer(s)
		}
		return out
	}
}

// convertMem makes an assignable value in memory one of another type.
func (c *fc) convertMem(from, to *typ) func(unsafe.Pointer) unsafe.Pointer {
	if to.class == clsIface && from.class != clsIface {
		m := c.m
		return func(p unsafe.Pointer) unsafe.Pointer {
			x := m.iface(from, p)
			return unsafe.Pointer(&x)
		}
	}
	return func(p unsafe.Pointer) unsafe.Pointer { return to.clone(p) }
}

// planFunc calls a declared function.
func (c *fc) planFunc(n *ast.CallExpr, o *types.Func, targs []types.Type, at ast.Expr, mark func(*fr)) *callPlan {
	sig := c.funcType(at)
	results := c.resultTypes(sig)
	m := c.m
	if m.funcs[o.Origin()] == nil {
		if p := c.special(n, o, targs, mark); p != nil {
			return p
		}
		if lib := m.library(o, targs); lib != nil {
			args := c.args(n, sig)
			return &callPlan{results, func(f *fr) []unsafe.Pointer {
				a := args(f)
				mark(f)
				g := newFr(lib, nil, f.st)
				copy(g.p, a)
				return m.run(g)
			}}
		}
		v := m.in.symbol(o.Pkg().Path(), o.Name())
		if !v.IsValid() {
			c.fail(n, "%s.%s is not available in cells", o.Pkg().Name(), o.Name())
		}
		return c.planNative(n, sig, func(*fr) reflect.Value { return v }, passing(o), mark)
	}
	fn := m.funcs[o.Origin()]
	args := c.args(n, sig)
	if fn.generic {
		k := m.codeOf(o, targs)
		return &callPlan{results, func(f *fr) []unsafe.Pointer {
			a := args(f)
			mark(f)
			g := newFr(k, nil, f.st)
			copy(g.p, a)
			return m.run(g)
		}}
	}
	return &callPlan{results, func(f *fr) []unsafe.Pointer {
		a := args(f)
		mark(f)
		g := newFr(fn.code, nil, f.st)
		copy(g.p, a)
		return m.run(g)
	}}
}

func (c *fc) resultTypes(sig *types.Signature) (out []*typ) {
	for v := range sig.Results().Variables() {
		out = append(out, c.typ(v.Type()))
	}
	return out
}

// planValue calls a function value.
func (c *fc) planValue(n *ast.CallExpr, fun ex, mark func(*fr)) *callPlan {
	sig, ok := fun.t.u.(*types.Signature)
	if !ok {
		c.fail(n, "call of %v", fun.t.t)
	}
	args := c.args(n, sig)
	m, x := c.m, fun.P
	return &callPlan{c.resultTypes(sig), func(f *fr) []unsafe.Pointer {
		cl := (*closure)(x(f))
		a := args(f)
		mark(f)
		return m.callClosure(f, cl, a)
	}}
}

// planMethod calls a method that a path of embedded fields leads to.
func (c *fc) planMethod(e ex, o types.Object, path []int, n *ast.CallExpr, mark func(*fr), pos token.Pos) *callPlan {
	fn := o.(*types.Func)
	sig := c.sub.typ(fn.Signature()).(*types.Signature)
	args := c.args(n, sig)
	return c.methodPlan(c.towards(e, path[:len(path)-1], pos), fn, sig, args, mark, n.Ellipsis.IsValid(), pos)
}

// towards walks to the value that has a method, through the embedded fields of
// cells' types; of Go's own types it is the outermost that has the method too.
func (c *fc) towards(e ex, path []int, pos token.Pos) ex {
	for _, i := range path {
		t := e.t
		if p, ok := t.u.(*types.Pointer); ok {
			t = c.m.types.of(p.Elem())
		}
		if c.m.isNativeMemory(t) {
			break
		}
		e = c.field(e, i, pos)
	}
	return e
}

// methodPlan calls a method of the value e itself.
func (c *fc) methodPlan(e ex, fn *types.Func, sig *types.Signature, args func(*fr) []unsafe.Pointer, mark func(*fr), ellipsis bool, pos token.Pos) *callPlan {
	m := c.m
	results := c.resultTypes(sig)
	if e.t.class == clsIface {
		x, name := e.A, fn.Name()
		ms := c.m.types.of(sig)
		isLocker := fn.FullName() == "(sync.Locker).Lock"
		return &callPlan{results, func(f *fr) []unsafe.Pointer {
			v := x(f)
			a := args(f)
			mark(f)
			if v == nil {
				nilDeref()
			}
			if isLocker {
				if l, ok := v.(sync.Locker); ok {
					lockerLock(f.f, l)
					return nil
				}
			}
			return m.callMethod(f, v, name, ms, a)
		}}
	}
	recvType := e.t.t
	if p, ok := e.t.u.(*types.Pointer); ok {
		if _, named := types.Unalias(e.t.t).(*types.Named); !named {
			recvType = p.Elem()
		}
	}
	_, wantsPtr := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
	isPtr := e.t.class == clsPtr && isPointerTo(e.t)
	if !isPtr && c.m.isNativeMemory(e.t) && e.addr != nil && m.funcs[fn.Origin()] == nil {
		wantsPtr = true // the pointer has the value's methods, too
	}
	var recv ex
	switch {
	case wantsPtr && !isPtr:
		recv = ex{t: m.types.of(types.NewPointer(e.t.t)), P: e.addr}
		if e.addr == nil {
			recv.P = c.mem(e)
		}
	case !wantsPtr && isPtr && m.funcs[fn.Origin()] != nil:
		recv = c.deref(e, pos)
	default:
		recv = e
	}
	decl := m.funcs[fn.Origin()]
	if decl == nil {
		return c.nativeMethod(recv, fn, sig, results, args, mark, pos, recvType)
	}
	in := c.mem(recv)
	var ref *function
	var k *code
	if decl.generic {
		k = m.codeOf(fn, typeArgsOf(recvType))
	} else {
		ref = decl
	}
	return &callPlan{results, func(f *fr) []unsafe.Pointer {
		r := in(f)
		a := args(f)
		mark(f)
		target := k
		if ref != nil {
			target = ref.code
		}
		g := newFr(target, nil, f.st)
		g.p[0] = r
		copy(g.p[1:], a)
		return m.run(g)
	}}
}

func isPointerTo(t *typ) bool {
	_, ok := t.u.(*types.Pointer)
	return ok
}

func typeArgsOf(t types.Type) (out []types.Type) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		for a := range n.TypeArgs().Types() {
			out = append(out, a)
		}
	}
	return out
}

// builtin compiles a call of a builtin function.
func (c *fc) builtin(n *ast.CallExpr) ex {
	name := ""
	switch f := unparenExpr(n.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	m := c.m
	intT := m.types.of(types.Typ[types.Int])
	stmt := func(run func(*fr)) ex {
		return ex{tuple: &callPlan{nil, func(f *fr) []unsafe.Pointer { run(f); return nil }}}
	}
	mark := c.mark(n.Pos())
	switch name {
	case "len", "cap":
		return ex{t: intT, I: c.length(c.expr(n.Args[0]), name)}
	case "new":
		t := m.types.of(c.typeOf(n))
		et := m.types.of(t.u.(*types.Pointer).Elem())
		if tv := c.info.Types[n.Args[0]]; !tv.IsType() {
			return ex{t: t, P: c.mem(c.as(n.Args[0], et))}
		}
		return ex{t: t, P: func(*fr) unsafe.Pointer { return et.alloc() }}
	case "make":
		return c.makeBuiltin(n, mark)
	case "append":
		return c.appendBuiltin(n)
	case "copy":
		return c.copyBuiltin(n, intT)
	case "delete":
		e := c.expr(n.Args[0])
		u := coreOf(e.t.u).(*types.Map)
		kt := m.types.of(u.Key())
		x, key, mt := e.P, c.mem(c.as(n.Args[1], kt)), e.t
		return stmt(func(f *fr) {
			p := x(f)
			k := key(f)
			if p != nil {
				mt.at(unsafe.Pointer(&p)).SetMapIndex(kt.at(k), reflect.Value{})
			} else if kt.class == clsIface {
				m.hashable(*(*any)(k))
			}
		})
	case "clear":
		e := c.expr(n.Args[0])
		if e.t.class == clsSlice {
			x, t := e.L, e.t
			return stmt(func(f *fr) { s := x(f); t.at(unsafe.Pointer(&s)).Clear() })
		}
		x, t := e.P, e.t
		return stmt(func(f *fr) {
			if p := x(f); p != nil {
				t.at(unsafe.Pointer(&p)).Clear()
			}
		})
	case "close":
		e := c.expr(n.Args[0])
		x, t := e.P, e.t
		return stmt(func(f *fr) {
			p := x(f)
			mark(f)
			if p == nil {
				panic(goError{"close of nil channel"})
			}
			t.at(unsafe.Pointer(&p)).Close()
		})
	case "panic":
		x := c.as(n.Args[0], m.types.of(types.NewInterfaceType(nil, nil))).A
		return stmt(func(f *fr) {
			v := x(f)
			mark(f)
			m.panic(f, v)
		})
	case "recover":
		return ex{t: m.types.of(types.NewInterfaceType(nil, nil)), A: func(f *fr) any { return f.st.recovered(f.f) }}
	case "print", "println":
		return c.printBuiltin(n, name == "println")
	case "min", "max":
		return c.minmax(n, name == "max")
	case "complex":
		t := m.types.of(c.typeOf(n))
		ft := m.types.of(types.Typ[types.Float64])
		if t.kind == types.Complex64 {
			ft = m.types.of(types.Typ[types.Float32])
		}
		a, b := c.floatArg(n.Args[0], ft), c.floatArg(n.Args[1], ft)
		return ex{t: t, C: func(f *fr) complex128 { return complex(a(f), b(f)) }}
	case "real", "imag":
		t := m.types.of(c.typeOf(n))
		e := c.expr(n.Args[0])
		x := e.C
		if name == "real" {
			return ex{t: t, F: func(f *fr) float64 { return real(x(f)) }}
		}
		return ex{t: t, F: func(f *fr) float64 { return imag(x(f)) }}
	}
	c.fail(n, "builtin %s", name)
	return ex{}
}

func (c *fc) floatArg(n ast.Expr, t *typ) func(*fr) float64 {
	e := c.expr(n)
	if e.val != nil {
		e = c.constant(t, constant.ToFloat(e.val))
	}
	return e.F
}

func (c *fc) length(e ex, name string) func(*fr) int64 {
	isCap := name == "cap"
	switch u := coreOf(e.t.u).(type) {
	case *types.Basic:
		x := e.S
		return func(f *fr) int64 { return int64(len(x(f))) }
	case *types.Slice:
		x := e.L
		if isCap {
			return func(f *fr) int64 { return int64(x(f).cap) }
		}
		return func(f *fr) int64 { return int64(x(f).len) }
	case *types.Array:
		k := u.Len()
		x := c.peek(e)
		return func(f *fr) int64 { x(f); return k }
	case *types.Pointer:
		k := u.Elem().Underlying().(*types.Array).Len()
		x := e.P
		return func(f *fr) int64 { x(f); return k }
	case *types.Map, *types.Chan:
		x, t := e.P, e.t
		return func(f *fr) int64 {
			p := x(f)
			if p == nil {
				return 0
			}
			if isCap {
				return int64(t.at(unsafe.Pointer(&p)).Cap())
			}
			return int64(t.at(unsafe.Pointer(&p)).Len())
		}
	}
	panic(&fault{token.NoPos, name + " of " + e.t.t.String()})
}

func (c *fc) makeBuiltin(n *ast.CallExpr, mark func(*fr)) ex {
	t := c.m.types.of(c.typeOf(n))
	arg := func(i int) func(*fr) int64 {
		if i >= len(n.Args) {
			return nil
		}
		return c.intIndex(n.Args[i])
	}
	a, b := arg(1), arg(2)
	switch u := coreOf(t.u).(type) {
	case *types.Slice:
		et := c.m.types.of(u.Elem())
		st := reflect.SliceOf(et.rt)
		return ex{t: t, L: func(f *fr) slc {
			l := a(f)
			k := l
			if b != nil {
				k = b(f)
			}
			limit := int64(1) << 47
			if s := int64(et.rt.Size()); s > 1 {
				limit /= s
			}
			if l < 0 || l > limit {
				mark(f)
				panic(goError{"runtime error: makeslice: len out of range"})
			}
			if k < l || k > limit {
				mark(f)
				panic(goError{"runtime error: makeslice: cap out of range"})
			}
			v := reflect.MakeSlice(st, int(l), int(k))
			return slc{v.UnsafePointer(), int(l), int(k)}
		}}
	case *types.Map:
		mt := mapType(t, c.m.types.of(u.Key()), c.m.types.of(u.Elem()))
		return ex{t: t, P: func(f *fr) unsafe.Pointer {
			if a != nil {
				a(f)
			}
			return reflect.MakeMap(mt).UnsafePointer()
		}}
	case *types.Chan:
		et := c.m.types.of(u.Elem())
		ct := reflect.ChanOf(reflect.BothDir, et.rt)
		return ex{t: t, P: func(f *fr) unsafe.Pointer {
			k := int64(0)
			if a != nil {
				k = a(f)
			}
			if k < 0 || k > 1<<40 {
				mark(f)
				panic(goError{"makechan: size out of range"})
			}
			return reflect.MakeChan(ct, int(k)).UnsafePointer()
		}}
	}
	c.fail(n, "make of %v", t.t)
	return ex{}
}

// grow makes room for n more elements.
func grow(st reflect.Type, s slc, n int) slc {
	if s.len+n <= s.cap {
		return s
	}
	reflect.NewAt(st, unsafe.Pointer(&s)).Elem().Grow(n)
	return s
}

func (c *fc) appendBuiltin(n *ast.CallExpr) ex {
	t := c.m.types.of(c.typeOf(n))
	u := coreOf(t.u).(*types.Slice)
	et := c.m.types.of(u.Elem())
	x := c.as(n.Args[0], t).L
	st := reflect.SliceOf(et.rt)
	size := et.rt.Size()
	if n.Ellipsis.IsValid() {
		y := c.expr(n.Args[1])
		if y.isNil {
			return ex{t: t, L: x}
		}
		var from func(*fr) slc
		if y.t.class == clsString {
			s := y.S
			from = func(f *fr) slc {
				v := s(f)
				return slc{unsafe.Pointer(unsafe.StringData(v)), len(v), len(v)}
			}
		} else {
			from = y.L
		}
		return ex{t: t, L: func(f *fr) slc {
			s := x(f)
			v := from(f)
			if v.len == 0 {
				return s
			}
			r := grow(st, s, v.len)
			end := slc{unsafe.Add(r.p, uintptr(r.len)*size), v.len, v.len}
			reflect.Copy(reflect.NewAt(st, unsafe.Pointer(&end)).Elem(), reflect.NewAt(st, unsafe.Pointer(&v)).Elem())
			r.len += v.len
			return r
		}}
	}
	if len(n.Args) == 2 {
		e := c.as(n.Args[1], et)
		in := c.into(e)
		if e.val != nil || e.slot != 0 {
			return ex{t: t, L: func(f *fr) slc {
				r := grow(st, x(f), 1)
				in(f, unsafe.Add(r.p, uintptr(r.len)*size))
				r.len++
				return r
			}}
		}
		tmp := c.mem(e)
		return ex{t: t, L: func(f *fr) slc {
			s := x(f)
			v := tmp(f)
			r := grow(st, s, 1)
			et.copyTo(unsafe.Add(r.p, uintptr(r.len)*size), v)
			r.len++
			return r
		}}
	}
	var items []func(*fr) unsafe.Pointer
	for _, a := range n.Args[1:] {
		items = append(items, c.mem(c.as(a, et)))
	}
	return ex{t: t, L: func(f *fr) slc {
		s := x(f)
		vals := make([]unsafe.Pointer, len(items))
		for i, it := range items {
			vals[i] = it(f)
		}
		if len(vals) == 0 {
			return s
		}
		r := grow(st, s, len(vals))
		for i, v := range vals {
			et.copyTo(unsafe.Add(r.p, uintptr(r.len+i)*size), v)
		}
		r.len += len(vals)
		return r
	}}
}

func (c *fc) copyBuiltin(n *ast.CallExpr, intT *typ) ex {
	d, s := c.expr(n.Args[0]), c.expr(n.Args[1])
	et := c.m.types.of(coreOf(d.t.u).(*types.Slice).Elem())
	st := reflect.SliceOf(et.rt)
	x := d.L
	from := s.L
	if s.t.class == clsString {
		y := s.S
		from = func(f *fr) slc {
			v := y(f)
			return slc{unsafe.Pointer(unsafe.StringData(v)), len(v), len(v)}
		}
	}
	run := func(f *fr) int64 {
		a := x(f)
		b := from(f)
		return int64(reflect.Copy(reflect.NewAt(st, unsafe.Pointer(&a)).Elem(), reflect.NewAt(st, unsafe.Pointer(&b)).Elem()))
	}
	e := ex{t: intT, I: run}
	e.tuple = &callPlan{[]*typ{intT}, func(f *fr) []unsafe.Pointer { k := run(f); return []unsafe.Pointer{unsafe.Pointer(&k)} }}
	return e
}

func (c *fc) minmax(n *ast.CallExpr, isMax bool) ex {
	t := c.m.types.of(c.typeOf(n))
	e := c.as(n.Args[0], t)
	for _, a := range n.Args[1:] {
		b := c.as(a, t)
		switch t.class {
		case clsInt:
			x, y, unsigned := e.I, b.I, t.unsigned
			e = ex{t: t, I: func(f *fr) int64 {
				p, q := x(f), y(f)
				less := p < q
				if unsigned {
					less = uint64(p) < uint64(q)
				}
				if less == isMax {
					return q
				}
				return p
			}}
		case clsFloat:
			x, y := e.F, b.F
			if isMax {
				e = ex{t: t, F: func(f *fr) float64 { return max(x(f), y(f)) }}
			} else {
				e = ex{t: t, F: func(f *fr) float64 { return min(x(f), y(f)) }}
			}
		case clsString:
			x, y := e.S, b.S
			if isMax {
				e = ex{t: t, S: func(f *fr) string { return max(x(f), y(f)) }}
			} else {
				e = ex{t: t, S: func(f *fr) string { return min(x(f), y(f)) }}
			}
		}
	}
	return e
}

// funcType gives the type of a function's name: of an instance, its own.
func (c *fc) funcType(e ast.Expr) *types.Signature {
	if id := instantiated(e); id != nil {
		if inst, ok := c.info.Instances[id]; ok {
			return c.sub.typ(inst.Type).(*types.Signature)
		}
	}
	return c.typeOf(e).Underlying().(*types.Signature)
}
