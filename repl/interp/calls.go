package interp

import (
	"go/ast"
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
	order := c.callsFirst(n.Args)
	if !variadic && order != nil {
		return func(f *fr) []unsafe.Pointer { return evaluate(f, get, order) }
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
	if order != nil {
		return func(f *fr) []unsafe.Pointer {
			out := make([]unsafe.Pointer, np)
			p := reflect.New(arr).UnsafePointer()
			for _, i := range order {
				if i < fixed {
					out[i] = get[i](f)
				} else {
					rest[i-fixed](f, unsafe.Add(p, uintptr(i-fixed)*size))
				}
			}
			out[np-1] = unsafe.Pointer(&slc{p, len(rest), len(rest)})
			return out
		}
	}
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
		return c.planNative(n, sig, v, passing(o), mark)
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

// funcType gives the type of a function's name: of an instance, its own.
func (c *fc) funcType(e ast.Expr) *types.Signature {
	if id := instantiated(e); id != nil {
		if inst, ok := c.info.Instances[id]; ok {
			return c.sub.typ(inst.Type).(*types.Signature)
		}
	}
	return c.typeOf(e).Underlying().(*types.Signature)
}
