package interp

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"unsafe"
)

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
