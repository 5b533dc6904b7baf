package interp

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"
)

// badIndex panics as Go does for an index outside of a sequence of n elements.
func badIndex(i int64, n int, unsigned bool) {
	if unsigned {
		panic(goError{fmt.Sprintf("runtime error: index out of range [%d] with length %d", uint64(i), n)})
	}
	if i < 0 {
		panic(goError{fmt.Sprintf("runtime error: index out of range [%d]", i)})
	}
	panic(goError{fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)})
}

func (c *fc) index(n *ast.IndexExpr) ex {
	e := c.expr(n.X)
	mark := c.mark(n.Lbrack)
	big := c.m.types.of(c.typeOf(n.Index)).unsigned
	switch u := coreOf(e.t.u).(type) {
	case *types.Map:
		return c.mapIndex(e, u, n)
	case *types.Slice:
		et := c.m.types.of(u.Elem())
		x, i, size := e.L, c.intIndex(n.Index), et.rt.Size()
		return c.load(et, func(f *fr) unsafe.Pointer {
			s := x(f)
			k := i(f)
			if uint64(k) >= uint64(s.len) {
				mark(f)
				badIndex(k, s.len, big)
			}
			return unsafe.Add(s.p, uintptr(k)*size)
		})
	case *types.Basic:
		x, i := e.S, c.intIndex(n.Index)
		return ex{t: c.m.types.of(types.Typ[types.Uint8]), I: func(f *fr) int64 {
			s := x(f)
			k := i(f)
			if uint64(k) >= uint64(len(s)) {
				mark(f)
				badIndex(k, len(s), big)
			}
			return int64(s[k])
		}}
	case *types.Pointer:
		return c.indexArray(c.deref(e, n.Lbrack), n)
	case *types.Array:
		return c.indexArray(e, n)
	}
	c.fail(n, "index of %v", e.t.t)
	return ex{}
}

func (c *fc) indexArray(e ex, n *ast.IndexExpr) ex {
	u := e.t.u.(*types.Array)
	et := c.m.types.of(u.Elem())
	size, length := et.rt.Size(), int(u.Len())
	x, i := e.M, c.intIndex(n.Index)
	mark := c.mark(n.Lbrack)
	big := c.m.types.of(c.typeOf(n.Index)).unsigned
	r := c.load(et, func(f *fr) unsafe.Pointer {
		p := x(f)
		k := i(f)
		if uint64(k) >= uint64(length) {
			mark(f)
			badIndex(k, length, big)
		}
		return unsafe.Add(p, uintptr(k)*size)
	})
	if e.addr == nil {
		r.addr = nil
	}
	return r
}

// intIndex compiles an index; a huge unsigned one becomes negative and fails.
func (c *fc) intIndex(n ast.Expr) func(*fr) int64 {
	e := c.expr(n)
	if e.I == nil && e.val != nil {
		e = c.constant(c.m.types.of(types.Typ[types.Int]), e.val)
	}
	return e.I
}

// coreOf is the type that decides what an operation does.
func coreOf(t types.Type) types.Type { return t.Underlying() }

func (c *fc) mapIndex(e ex, u *types.Map, n *ast.IndexExpr) ex {
	kt, et := c.m.types.of(u.Key()), c.m.types.of(u.Elem())
	mt := e.t
	x := e.P
	key := c.as(n.Index, kt)
	if kt.rt == stringType && et.rt == intType && mt.rt == reflect.TypeFor[map[string]int]() {
		k := key.S
		return ex{t: et, I: func(f *fr) int64 {
			p := x(f)
			return int64((*(*map[string]int)(unsafe.Pointer(&p)))[k(f)])
		}}
	}
	pk, m := c.peek(key), c.m
	return c.noAddr(c.load(et, func(f *fr) unsafe.Pointer {
		p := x(f)
		k := pk(f)
		if kt.class == clsIface {
			m.hashable(*(*any)(k))
		}
		if p == nil {
			return et.alloc()
		}
		v := mt.at(unsafe.Pointer(&p)).MapIndex(kt.at(k))
		r := et.alloc()
		if v.IsValid() {
			et.at(r).Set(v)
		}
		return r
	}))
}

// hashable panics as Go does for a key that can't be one.
func (m *machine) hashable(x any) {
	if b, ok := x.(box); ok {
		if t := m.types.byID(b.ID); !t.comparable {
			panic(goError{"runtime error: hash of unhashable type " + m.types.name(t.t)})
		}
	}
	keys := map[any]bool{}
	keys[x] = true
}

func (c *fc) slice(n *ast.SliceExpr) ex {
	e := c.expr(n.X)
	t := c.m.types.of(c.typeOf(n))
	opt := func(x ast.Expr) func(*fr) int64 {
		if x == nil {
			return nil
		}
		return c.intIndex(x)
	}
	lo, hi, mx := opt(n.Low), opt(n.High), opt(n.Max)
	mark := c.mark(n.Lbrack)
	if e.t.class == clsString {
		x := e.S
		return ex{t: e.t, S: func(f *fr) string {
			s := x(f)
			a, b := int64(0), int64(len(s))
			if lo != nil {
				a = lo(f)
			}
			if hi != nil {
				b = hi(f)
			}
			if uint64(b) > uint64(len(s)) || uint64(a) > uint64(b) {
				mark(f)
				sliceFault(a, b, -1, int64(len(s)), "length", false)
			}
			return s[a:b]
		}}
	}
	var base func(*fr) slc
	var et *typ
	isArray := false
	if pt, ok := e.t.u.(*types.Pointer); ok {
		e = c.deref(e, n.Lbrack)
		_ = pt
	}
	switch u := e.t.u.(type) {
	case *types.Array:
		et = c.m.types.of(u.Elem())
		length := int(u.Len())
		a := e.addr
		if a == nil {
			a = c.mem(e)
		}
		base = func(f *fr) slc { return slc{a(f), length, length} }
		isArray = true
	case *types.Slice:
		et = c.m.types.of(u.Elem())
		base = e.L
	default:
		c.fail(n, "slice of %v", e.t.t)
	}
	size := et.rt.Size()
	return ex{t: t, L: func(f *fr) slc {
		s := base(f)
		a, b, k := int64(0), int64(s.len), int64(s.cap)
		if lo != nil {
			a = lo(f)
		}
		if hi != nil {
			b = hi(f)
		}
		if mx != nil {
			k = mx(f)
		}
		if uint64(k) > uint64(s.cap) || uint64(b) > uint64(k) || uint64(a) > uint64(b) {
			mark(f)
			kind := "capacity"
			if isArray {
				kind = "length"
			}
			m := int64(-1)
			if mx != nil {
				m = k
			}
			sliceFault(a, b, m, int64(s.cap), kind, mx != nil)
		}
		r := slc{len: int(b - a), cap: int(k - a)}
		if k-a > 0 {
			r.p = unsafe.Add(s.p, uintptr(a)*size)
		} else {
			r.p = s.p
		}
		return r
	}}
}

// sliceFault panics with Go's text for slice bounds.
func sliceFault(a, b, mx, limit int64, kind string, three bool) {
	var text string
	switch {
	case three && uint64(mx) > uint64(limit):
		text = fmt.Sprintf("[::%d] with %s %d", mx, kind, limit)
		if mx < 0 {
			text = fmt.Sprintf("[::%d]", mx)
		}
	case three && uint64(b) > uint64(mx):
		text = fmt.Sprintf("[:%d:%d]", b, mx)
		if b < 0 {
			text = fmt.Sprintf("[:%d:]", b)
		}
	case three:
		text = fmt.Sprintf("[%d:%d:]", a, b)
		if a < 0 {
			text = fmt.Sprintf("[%d::]", a)
		}
	case b < 0:
		text = fmt.Sprintf("[:%d]", b)
	case b > limit:
		text = fmt.Sprintf("[:%d] with %s %d", b, kind, limit)
	case a < 0:
		text = fmt.Sprintf("[%d:]", a)
	default:
		text = fmt.Sprintf("[%d:%d]", a, b)
	}
	panic(goError{"runtime error: slice bounds out of range " + text})
}
