package interp

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"unsafe"
)

// makeFunc gives a function of Go that calls a closure.
func (m *machine) makeFunc(f *fr, cl *closure, t *typ, want reflect.Type, pol goPolicy) reflect.Value {
	if cl.native.IsValid() && cl.native.Type().ConvertibleTo(want) {
		return cl.native.Convert(want)
	}
	u := t.u.(*types.Signature)
	gs := m.goSignature(u)
	call := func(g *fr, in []reflect.Value) []reflect.Value {
		args := make([]unsafe.Pointer, len(in))
		for i, a := range in {
			args[i] = gs.params[i].alloc()
			m.fromGo(gs.params[i], a, args[i])
		}
		depth := g.st.depth
		res := m.callClosure(g, cl, args)
		g.st.depth = depth
		out := make([]reflect.Value, len(res))
		for i, p := range res {
			out[i] = m.toGo(g, gs.results[i], p, want.Out(i), goPass)
		}
		return out
	}
	if pol == goSpawn && f != nil {
		from := m.in.from(f.f)
		return reflect.MakeFunc(want, func(in []reflect.Value) (out []reflect.Value) {
			from(func() { out = call(m.outside(), in) })()
			return out
		})
	}
	return reflect.MakeFunc(want, func(in []reflect.Value) []reflect.Value { return call(m.outside(), in) })
}

// A goSignature holds the types of a function of Go as cells have them.
type goSignature struct {
	params, results []*typ
	elem            *typ // of the elements of a variadic parameter
}

func (m *machine) goSignature(sig *types.Signature) *goSignature {
	s := &goSignature{}
	for v := range sig.Params().Variables() {
		s.params = append(s.params, m.types.of(v.Type()))
	}
	for v := range sig.Results().Variables() {
		s.results = append(s.results, m.types.of(v.Type()))
	}
	if sig.Variadic() {
		if l, ok := s.params[len(s.params)-1].u.(*types.Slice); ok {
			s.elem = m.types.of(l.Elem())
		}
	}
	return s
}

// callReflect calls a function of Go.
func (m *machine) callReflect(f *fr, fn reflect.Value, sig *types.Signature, args []unsafe.Pointer, pol goPolicy) []unsafe.Pointer {
	return m.callGo(f, fn, m.goSignature(sig), args, pol)
}

// callGo calls a function of Go whose types are known.
func (m *machine) callGo(f *fr, fn reflect.Value, sig *goSignature, args []unsafe.Pointer, pol goPolicy) []unsafe.Pointer {
	left := f != nil && f.st.leave()
	ft := fn.Type()
	in := make([]reflect.Value, 0, len(sig.params))
	for i, t := range sig.params {
		want := ft.In(i)
		switch {
		case ft.IsVariadic() && i == len(sig.params)-1:
			in = append(in, m.variadic(f, sig.elem, args[i], want, t, pol))
		case t.rt == want && t.class != clsIface && (pol == goPass || !t.boxes):
			in = append(in, t.at(args[i]))
		default:
			in = append(in, m.toGo(f, t, args[i], want, pol))
		}
	}
	var res []reflect.Value
	if ft.IsVariadic() {
		res = fn.CallSlice(in)
	} else {
		res = fn.Call(in)
	}
	out := make([]unsafe.Pointer, len(res))
	for i, v := range res {
		t := sig.results[i]
		out[i] = t.alloc()
		m.fromGo(t, v, out[i])
	}
	if left {
		f.st.rise()
	}
	return out
}

// variadic gives the arguments of a variadic parameter, a slice of elements of
// type et in memory of type t, as Go wants them.
func (m *machine) variadic(f *fr, et *typ, p unsafe.Pointer, want reflect.Type, t *typ, pol goPolicy) reflect.Value {
	if et.rt == want.Elem() && (et.class != clsIface || pol == goPass) {
		return t.at(p)
	}
	s := *(*slc)(p)
	if s.p == nil {
		return reflect.Zero(want)
	}
	out := reflect.MakeSlice(want, s.len, s.len)
	for k := range s.len {
		out.Index(k).Set(m.toGo(f, et, unsafe.Add(s.p, uintptr(k)*et.rt.Size()), want.Elem(), pol))
	}
	return out
}

// planNative calls a function of a package.
func (c *fc) planNative(n *ast.CallExpr, sig *types.Signature, fn reflect.Value, pol goPolicy, mark func(*fr)) *callPlan {
	args := c.args(n, sig)
	m, gs := c.m, c.m.goSignature(sig)
	if direct := directCall(fn.Interface()); direct != nil {
		return &callPlan{gs.results, func(f *fr) []unsafe.Pointer {
			a := args(f)
			mark(f)
			return direct(a)
		}}
	}
	return &callPlan{gs.results, func(f *fr) []unsafe.Pointer {
		a := args(f)
		mark(f)
		return m.callGo(f, fn, gs, a, pol)
	}}
}

// nativeMethod calls a method of a type of Go.
func (c *fc) nativeMethod(recv ex, fn *types.Func, sig *types.Signature, results []*typ, args func(*fr) []unsafe.Pointer, mark func(*fr), pos interface{}, recvType types.Type) *callPlan {
	m := c.m
	shim := m.shim(fn, recvType)
	if shim == nil {
		shim = m.reflectShim(fn, isPointerTo(recv.t))
	}
	if shim != nil {
		in := c.mem(recv)
		return &callPlan{results, func(f *fr) []unsafe.Pointer {
			r := in(f)
			a := args(f)
			mark(f)
			left := f.st.leave()
			out := shim(f, r, a)
			f.st.back(left)
			return out
		}}
	}
	in, name, t, pol := c.mem(recv), fn.Name(), recv.t, passing(fn)
	var method func(v reflect.Value) reflect.Value
	if g := m.types.golang(t); g.Kind() != reflect.Interface {
		rm, ok := g.MethodByName(name)
		if !ok {
			panic(&fault{0, "no method " + name + " of " + t.t.String()})
		}
		k := rm.Index
		method = func(v reflect.Value) reflect.Value { return v.Method(k) }
	}
	gs := m.goSignature(sig)
	return &callPlan{results, func(f *fr) []unsafe.Pointer {
		r := in(f)
		a := args(f)
		mark(f)
		v := m.toGo(f, t, r, m.types.golang(t), goPass)
		if v.Kind() == reflect.Pointer && v.IsNil() {
			if elem := v.Type().Elem(); !hasPointerMethod(v.Type(), elem, name) {
				nilDeref()
			}
		}
		return m.callGo(f, method(v), gs, a, pol)
	}}
}

// hasPointerMethod tells whether a method is one of the pointer alone, which
// may be nil.
func hasPointerMethod(p, elem reflect.Type, name string) bool {
	_, ok := elem.MethodByName(name)
	return !ok
}

// nativeVar is a variable of a package.
func (c *fc) nativeVar(o *types.Var, n ast.Node) ex {
	v := c.m.in.symbol(o.Pkg().Path(), o.Name())
	if !v.IsValid() || !v.CanAddr() {
		c.fail(n, "%s.%s is not available in cells", o.Pkg().Name(), o.Name())
	}
	t, m := c.typ(o.Type()), c.m
	if t.rt == v.Type() && t.class != clsIface {
		p := v.Addr().UnsafePointer()
		return c.load(t, func(*fr) unsafe.Pointer { return p })
	}
	return c.load(t, func(*fr) unsafe.Pointer {
		p := t.alloc()
		m.fromGo(t, v, p)
		return p
	})
}

func (c *fc) nativeVarLval(o *types.Var, n ast.Node) *lval {
	v := c.m.in.symbol(o.Pkg().Path(), o.Name())
	t, m := c.typ(o.Type()), c.m
	if !v.IsValid() || !v.CanAddr() || t.rt == v.Type() && t.class != clsIface {
		return nil
	}
	return &lval{t: t, prep: func(*fr) {}, get: c.nativeVar(o, n),
		set: func(f *fr, p unsafe.Pointer) { v.Set(m.toGo(f, t, p, v.Type(), goPass)) }}
}

func (c *fc) printBuiltin(n *ast.CallExpr, line bool) ex {
	var args []func(*fr) any
	anyT := c.m.types.of(types.NewInterfaceType(nil, nil))
	for _, a := range n.Args {
		args = append(args, c.as(a, anyT).A)
	}
	in := c.m.in
	return ex{tuple: &callPlan{nil, func(f *fr) []unsafe.Pointer {
		var b strings.Builder
		for i, a := range args {
			if line && i > 0 {
				b.WriteByte(' ')
			}
			switch v := unwrap(a(f)).(type) {
			case float64:
				fmt.Fprintf(&b, "%+e", v)
			default:
				fmt.Fprint(&b, v)
			}
		}
		if line {
			b.WriteByte('\n')
		}
		fmt.Fprint(in.opt.Stderr, b.String())
		return nil
	}}}
}
