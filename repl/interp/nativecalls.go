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
	var pts, rts []*typ
	for v := range u.Params().Variables() {
		pts = append(pts, m.types.of(v.Type()))
	}
	for v := range u.Results().Variables() {
		rts = append(rts, m.types.of(v.Type()))
	}
	call := func(g *fr, in []reflect.Value) []reflect.Value {
		args := make([]unsafe.Pointer, len(in))
		for i, a := range in {
			args[i] = pts[i].alloc()
			m.fromGo(pts[i], a, args[i])
		}
		depth := g.st.depth
		res := m.callClosure(g, cl, args)
		g.st.depth = depth
		out := make([]reflect.Value, len(res))
		for i, p := range res {
			out[i] = m.toGo(g, rts[i], p, want.Out(i), goPass)
		}
		return out
	}
	if pol == goSpawn && f != nil {
		return reflect.MakeFunc(want, func(in []reflect.Value) (out []reflect.Value) {
			m.in.spawned(f.f, func() { out = call(m.outside(), in) })()
			return out
		})
	}
	return reflect.MakeFunc(want, func(in []reflect.Value) []reflect.Value { return call(m.outside(), in) })
}

// callReflect calls a function of Go.
func (m *machine) callReflect(f *fr, fn reflect.Value, sig *types.Signature, args []unsafe.Pointer, pol goPolicy) []unsafe.Pointer {
	ft := fn.Type()
	n := sig.Params().Len()
	in := make([]reflect.Value, 0, n)
	for i := range n {
		t := m.types.of(sig.Params().At(i).Type())
		if ft.IsVariadic() && i == n-1 {
			s := *(*slc)(args[i])
			et := m.types.of(t.u.(*types.Slice).Elem())
			if want := ft.In(i); et.rt == want.Elem() && (et.class != clsIface || pol == goPass) {
				in = append(in, t.at(args[i]))
				break
			} else {
				out := reflect.MakeSlice(want, s.len, s.len)
				for k := range s.len {
					out.Index(k).Set(m.toGo(f, et, unsafe.Add(s.p, uintptr(k)*et.rt.Size()), want.Elem(), pol))
				}
				if s.p == nil {
					out = reflect.Zero(want)
				}
				in = append(in, out)
			}
			break
		}
		if want := ft.In(i); t.rt == want && t.class != clsIface && (pol == goPass || !t.boxes) {
			in = append(in, t.at(args[i]))
		} else {
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
		t := m.types.of(sig.Results().At(i).Type())
		out[i] = t.alloc()
		m.fromGo(t, v, out[i])
	}
	return out
}

// planNative calls a function of a package.
func (c *fc) planNative(n *ast.CallExpr, sig *types.Signature, fn func(*fr) reflect.Value, pol goPolicy, mark func(*fr)) *callPlan {
	args := c.args(n, sig)
	m := c.m
	return &callPlan{c.resultTypes(sig), func(f *fr) []unsafe.Pointer {
		a := args(f)
		mark(f)
		return m.callReflect(f, fn(f), sig, a, pol)
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
			return shim(f, r, a)
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
		return m.callReflect(f, method(v), sig, a, pol)
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
