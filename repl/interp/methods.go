package interp

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

// tester tells whether an interface's value is of a type, or has the methods of
// an interface.
func (m *machine) tester(t *typ) func(any) bool {
	if t.class == clsIface {
		return func(v any) bool { return v != nil && m.implements(v, t) }
	}
	if t.plain {
		switch t.rt {
		case intType:
			return func(v any) bool { _, ok := v.(int); return ok }
		case stringType:
			return func(v any) bool { _, ok := v.(string); return ok }
		}
		return func(v any) bool { return v != nil && reflect.TypeOf(v) == t.rt }
	}
	g := m.types.golang(t)
	own := !namesCellType(t.t, map[types.Type]bool{}) || m.types.ownGo(g)
	return func(v any) bool {
		if b, ok := v.(box); ok {
			return b.ID == t.id
		}
		return own && v != nil && reflect.TypeOf(v) == g
	}
}

// put stores an interface's value as one of type t.
func (m *machine) put(t *typ, p unsafe.Pointer, v any) {
	if _, ok := v.(box); !ok && v != nil && !t.plain && t.class != clsIface {
		m.fromGo(t, reflect.ValueOf(v), p)
		return
	}
	t.put(p, v)
}

// implements tells whether a value has the methods of an interface.
func (m *machine) implements(v any, it *typ) bool {
	u := it.u.(*types.Interface)
	if u.NumMethods() == 0 {
		return true
	}
	if b, ok := v.(box); ok {
		t := m.types.byID(b.ID)
		if r, ok := t.impls.Load(it); ok {
			return r.(bool)
		}
		r := m.missing(t.t, u) == ""
		t.impls.Store(it, r)
		return r
	}
	rt := reflect.TypeOf(v)
	if g := m.types.golang(it); g.Kind() == reflect.Interface && g.NumMethod() > 0 {
		return rt.Implements(g)
	}
	for f := range u.Methods() {
		rm, ok := rt.MethodByName(f.Name())
		if !ok || !f.Exported() {
			return false
		}
		want := m.types.golang(m.types.of(f.Signature()))
		if !sameSignature(rm.Type, want, 1) {
			return false
		}
	}
	return true
}

// sameSignature compares function types, the first skip parameters of a apart.
func sameSignature(a, b reflect.Type, skip int) bool {
	if a.NumIn()-skip != b.NumIn() || a.NumOut() != b.NumOut() || a.IsVariadic() != b.IsVariadic() {
		return false
	}
	for i := range b.NumIn() {
		if a.In(i+skip) != b.In(i) {
			return false
		}
	}
	for i := range b.NumOut() {
		if a.Out(i) != b.Out(i) {
			return false
		}
	}
	return true
}

// missing names the first method of an interface that a type lacks, "" if none.
func (m *machine) missing(t types.Type, u *types.Interface) string {
	for f := range u.Methods() {
		o, _, _ := types.LookupFieldOrMethod(t, false, f.Pkg(), f.Name())
		fn, ok := o.(*types.Func)
		if !ok || !types.Identical(noRecv(fn.Signature()), noRecv(f.Signature())) {
			return f.Name()
		}
	}
	return ""
}

func noRecv(s *types.Signature) *types.Signature {
	return types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())
}

// assert compiles x.(T).
func (c *fc) assert(n *ast.TypeAssertExpr) ex {
	x := c.expr(n.X)
	t := c.m.types.of(c.typeOf(n.Type))
	test, get, m, from := c.m.tester(t), x.A, c.m, x.t
	mark := c.mark(n.Lparen)
	return c.noAddr(c.load(t, func(f *fr) unsafe.Pointer {
		v := get(f)
		if !test(v) {
			mark(f)
			m.assertFault(v, from, t)
		}
		p := t.alloc()
		m.put(t, p, v)
		return p
	}))
}

func (c *fc) assertOk(n *ast.TypeAssertExpr) *callPlan {
	x := c.expr(n.X)
	t := c.m.types.of(c.typeOf(n.Type))
	test, get, m := c.m.tester(t), x.A, c.m
	return &callPlan{[]*typ{t, c.m.types.of(types.Typ[types.Bool])}, func(f *fr) []unsafe.Pointer {
		v := get(f)
		p, ok := t.alloc(), new(bool)
		if test(v) {
			m.put(t, p, v)
			*ok = true
		}
		return []unsafe.Pointer{p, unsafe.Pointer(ok)}
	}}
}

// assertFault panics as a failed assertion does.
func (m *machine) assertFault(v any, from, to *typ) {
	toName := m.types.name(to.t)
	fromName := "interface {}"
	if i, ok := from.u.(*types.Interface); ok && i.NumMethods() > 0 {
		fromName = m.types.name(from.t)
	}
	missing := ""
	u, isIface := to.u.(*types.Interface)
	switch {
	case v == nil && isIface:
		panic(goError{"interface conversion: interface is nil, not " + toName})
	case v == nil:
		panic(goError{"interface conversion: " + fromName + " is nil, not " + toName})
	case isIface:
		if b, ok := v.(box); ok {
			missing = m.missing(m.types.byID(b.ID).t, u)
		} else {
			for f := range u.Methods() {
				if _, ok := reflect.TypeOf(v).MethodByName(f.Name()); !ok {
					missing = f.Name()
					break
				}
			}
		}
		panic(goError{"interface conversion: " + m.nameOf(v) + " is not " + toName + ": missing method " + missing})
	}
	panic(goError{"interface conversion: " + fromName + " is " + m.nameOf(v) + ", not " + toName})
}

// nameOf names the type of an interface's value.
func (m *machine) nameOf(v any) string {
	if b, ok := v.(box); ok {
		return m.types.name(m.types.byID(b.ID).t)
	}
	if v == nil {
		return "<nil>"
	}
	return reflect.TypeOf(v).String()
}

// A bound is how a method of a type is called with a receiver from an interface.
type bound struct {
	code *code // its first variable is the receiver
	sig  *typ
}

// bind finds the method of a type, nil if there is none: of those that the name
// has meant, the last with the signature.
func (m *machine) bind(t *typ, name string, sig *typ) *bound {
	b, _ := t.methods.Load(name)
	if b, ok := b.(*bound); ok && b.sig == sig {
		return b
	}
	key := name + "#" + strconv.Itoa(sig.id)
	if b, ok := t.methods.Load(key); ok {
		return b.(*bound)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b2, newest := m.bindLocked(t, name, sig)
	if newest {
		key = name
	}
	t.methods.Store(key, b2)
	return b2
}

func (m *machine) bindLocked(t *typ, name string, sig *typ) (b *bound, newest bool) {
	o, path, _ := types.LookupFieldOrMethod(t.t, false, m.mainPackage(), name)
	if newest = o != nil; !newest { // a method of the pointer may have taken the place of the value's
		o, path, _ = types.LookupFieldOrMethod(types.NewPointer(t.t), false, m.mainPackage(), name)
	}
	for fn, ok := o.(*types.Func); ok; newest = false {
		if s := m.types.of(noRecv(fn.Signature())); s == sig && (newest || m.mayCall(t, fn, path)) {
			return &bound{m.wrapper(t, fn, path), s}, newest
		}
		f := m.former[fn.Origin()]
		if f == nil || m.funcs[f.Func] == nil || m.funcs[f.Func].generic {
			break
		}
		fn, path = f.Func, append(slices.Clone(path[:len(path)-1]), f.Path...)
	}
	return nil, false
}

// mayCall tells whether a value that an interface holds can be the receiver of a
// method.
func (m *machine) mayCall(t *typ, fn *types.Func, path []int) bool {
	_, ptr := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
	return !ptr || isPointerTo(t) || len(path) > 1
}

// mainPackage is a package in which unexported names of cells are looked up:
// names are compared by the package's path.
func (m *machine) mainPackage() *types.Package { return m.pkg }

// wrapper makes code that calls a method of its first parameter.
func (m *machine) wrapper(t *typ, fn *types.Func, path []int) *code {
	sig := fn.Signature()
	c := &fc{m: m, info: &types.Info{}, unit: m.noSites, name: fn.Name(), slots: map[types.Object]int{}, labels: map[types.Object]int{}, sig: sig}
	c.code = c.newCode(sig, false)
	c.code.name = fn.Name()
	c.code.params = append([]*typ{t}, c.code.params...)
	n := len(c.code.params)
	c.code.nslots = n + len(c.code.results)
	recv := c.load(t, func(f *fr) unsafe.Pointer { return f.p[0] })
	var isNil string // what Go says of a nil pointer whose method takes the value
	if p, ok := t.u.(*types.Pointer); ok && len(path) <= 1 && m.funcs[fn.Origin()] != nil {
		if _, ptr := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer); !ptr {
			name := m.types.name(p.Elem())
			isNil = "value method " + name + "." + fn.Name() + " called using nil *" + strings.TrimPrefix(name, "main.") + " pointer"
		}
	}
	if len(path) > 1 {
		recv = c.towards(recv, path[:len(path)-1], 0)
	}
	args := func(f *fr) []unsafe.Pointer { return f.p[1:n] }
	plan := c.methodPlan(recv, fn, sig, args, func(*fr) {}, sig.Variadic(), 0)
	c.code.direct = plan.run
	if isNil != "" {
		c.code.direct = func(g *fr) []unsafe.Pointer {
			if *(*unsafe.Pointer)(g.p[0]) == nil {
				panic(goError{isNil})
			}
			return plan.run(g)
		}
	}
	return c.code
}

// callMethod calls a method of an interface's value.
func (m *machine) callMethod(f *fr, v any, name string, sig *typ, args []unsafe.Pointer) []unsafe.Pointer {
	if b, ok := v.(box); ok {
		t := m.types.byID(b.ID)
		bd := m.bind(t, name, sig)
		if bd == nil {
			panic(&fault{0, "no method " + name + " of " + t.t.String()})
		}
		p := t.alloc()
		t.put(p, v)
		g := newFr(bd.code, nil, f.st)
		g.f = f.f
		g.p[0] = p
		copy(g.p[1:], args)
		return bd.code.direct(g)
	}
	return m.callReflect(f, reflect.ValueOf(v).MethodByName(name), sig.u.(*types.Signature), args, goPass)
}

// methodValue is x.M without a call: the receiver is copied now.
func (c *fc) methodValue(n *ast.SelectorExpr, recv types.Type, s *types.Selection) ex {
	o, path, _ := c.selection(recv, s)
	fn := o.(*types.Func)
	t := c.m.types.of(c.typeOf(n))
	e := c.towards(c.expr(n.X), path[:len(path)-1], n.Sel.Pos())
	m := c.m
	if e.t.class == clsIface {
		x, name := e.A, fn.Name()
		sig := m.types.of(noRecv(c.sub.typ(fn.Signature()).(*types.Signature)))
		mark := c.mark(n.Sel.Pos())
		return ex{t: t, P: func(f *fr) unsafe.Pointer {
			v := x(f)
			if v == nil {
				mark(f)
				nilDeref()
			}
			return unsafe.Pointer(&closure{sig: t, recv: held{e.t, unsafe.Pointer(&v)}, method: func(g *fr, args []unsafe.Pointer) []unsafe.Pointer {
				return m.callMethod(g, v, name, sig, args)
			}})
		}}
	}
	_, wantsPtr := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
	switch {
	case m.funcs[fn.Origin()] == nil && isPointerTo(e.t): // Go finds it
	case wantsPtr && !isPointerTo(e.t):
		a := e.addr
		if a == nil {
			a = c.mem(e)
		}
		e = ex{t: m.types.of(types.NewPointer(e.t.t)), P: a}
	case !wantsPtr && isPointerTo(e.t):
		e = c.deref(e, n.Sel.Pos())
	}
	keep := c.mem(e)
	w := m.wrapper(e.t, fn, nil)
	return ex{t: t, P: func(f *fr) unsafe.Pointer {
		r := keep(f)
		return unsafe.Pointer(&closure{sig: t, recv: held{e.t, r}, method: func(g *fr, args []unsafe.Pointer) []unsafe.Pointer {
			h := newFr(w, nil, g.st)
			h.f = g.f
			h.p[0] = e.t.clone(r)
			copy(h.p[1:], args)
			return w.direct(h)
		}})
	}}
}

// methodExpr is T.M: a function whose first parameter is the receiver.
func (c *fc) methodExpr(n *ast.SelectorExpr, recv types.Type, s *types.Selection) ex {
	o, path, _ := c.selection(recv, s)
	fn := o.(*types.Func)
	t := c.m.types.of(c.typeOf(n))
	m := c.m
	w := m.wrapper(m.types.of(recv), fn, path)
	cl := &closure{sig: t, method: func(g *fr, args []unsafe.Pointer) []unsafe.Pointer {
		h := newFr(w, nil, g.st)
		h.f = g.f
		copy(h.p, args)
		return w.direct(h)
	}}
	return ex{t: t, P: func(*fr) unsafe.Pointer { return unsafe.Pointer(cl) }}
}

// hasMethod tells whether a value of the type, as an interface holds it, has a
// method.
func (m *machine) hasMethod(t *typ, name string) bool {
	if v, ok := t.methods.Load("?" + name); ok {
		return v.(bool)
	}
	o, _, _ := types.LookupFieldOrMethod(t.t, false, m.pkg, name)
	_, ok := o.(*types.Func)
	t.methods.Store("?"+name, ok)
	return ok
}
