package interp

import (
	"go/ast"
	"go/types"
	"reflect"
	"unsafe"
)

// composite compiles a literal of type t, or of what the pointer t leads to.
func (c *fc) composite(n *ast.CompositeLit, t *typ) ex {
	switch u := t.u.(type) {
	case *types.Pointer:
		inner := c.composite(n, c.m.types.of(u.Elem()))
		return ex{t: t, P: c.mem(inner)}
	case *types.Struct:
		return c.structLit(n, t, u)
	case *types.Array:
		fill := c.elements(n, c.m.types.of(u.Elem()), nil)
		return ex{t: t, M: func(f *fr) unsafe.Pointer {
			p := t.alloc()
			fill(f, p)
			return p
		}}
	case *types.Slice:
		et := c.m.types.of(u.Elem())
		length := 0
		fill := c.elements(n, et, &length)
		arr := reflect.ArrayOf(length, et.rt)
		return ex{t: t, L: func(f *fr) slc {
			p := reflect.New(arr).UnsafePointer()
			fill(f, p)
			return slc{p, length, length}
		}}
	case *types.Map:
		return c.mapLit(n, t, u)
	}
	c.fail(n, "literal of %v", t.t)
	return ex{}
}

// elem compiles an element of a literal, whose type may be left out.
func (c *fc) elem(n ast.Expr, t *typ) ex {
	if lit, ok := n.(*ast.CompositeLit); ok && lit.Type == nil {
		return c.composite(lit, t)
	}
	return c.as(n, t)
}

func (c *fc) elements(n *ast.CompositeLit, et *typ, length *int) func(*fr, unsafe.Pointer) {
	type item struct {
		off uintptr
		set func(*fr, unsafe.Pointer)
	}
	var items []item
	at := 0
	for _, x := range n.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			at = int(intConst(c.info.Types[kv.Key].Value))
			x = kv.Value
		}
		items = append(items, item{uintptr(at) * et.rt.Size(), c.into(c.elem(x, et))})
		at++
		if length != nil && at > *length {
			*length = at
		}
	}
	if order := c.callsFirst(valuesOf(n.Elts)); order != nil {
		sorted := make([]item, len(items))
		for i, k := range order {
			sorted[i] = items[k]
		}
		items = sorted
	}
	return func(f *fr, p unsafe.Pointer) {
		for _, it := range items {
			it.set(f, unsafe.Add(p, it.off))
		}
	}
}

func (c *fc) structLit(n *ast.CompositeLit, t *typ, u *types.Struct) ex {
	var sets []func(*fr, unsafe.Pointer)
	for i, x := range n.Elts {
		k := i
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			name := kv.Key.(*ast.Ident).Name
			if fv, ok := c.info.Uses[kv.Key.(*ast.Ident)].(*types.Var); ok {
				name = fv.Name()
			}
			k = -1
			for j := range u.NumFields() {
				if u.Field(j).Name() == name {
					k = j
				}
			}
			x = kv.Value
		}
		if k < 0 {
			c.fail(n, "field of literal")
		}
		ft := c.m.types.of(u.Field(k).Type())
		e := c.elem(x, ft)
		if c.m.isNativeMemory(t) && !ft.plain {
			m, peek, k := c.m, c.peek(e), k
			sets = append(sets, func(f *fr, p unsafe.Pointer) {
				v := t.at(p).Field(k)
				v.Set(m.toGo(f, ft, peek(f), v.Type(), goInspect))
			})
			continue
		}
		off, in := t.rt.Field(k).Offset, c.into(e)
		sets = append(sets, func(f *fr, p unsafe.Pointer) { in(f, unsafe.Add(p, off)) })
	}
	if order := c.callsFirst(valuesOf(n.Elts)); order != nil {
		sorted := make([]func(*fr, unsafe.Pointer), len(sets))
		for i, k := range order {
			sorted[i] = sets[k]
		}
		sets = sorted
	}
	return ex{t: t, M: func(f *fr) unsafe.Pointer {
		p := t.alloc()
		for _, s := range sets {
			s(f, p)
		}
		return p
	}}
}

func (c *fc) mapLit(n *ast.CompositeLit, t *typ, u *types.Map) ex {
	kt, et := c.m.types.of(u.Key()), c.m.types.of(u.Elem())
	var keys, vals []func(*fr) unsafe.Pointer
	for _, x := range n.Elts {
		kv := x.(*ast.KeyValueExpr)
		keys = append(keys, c.peek(c.elem(kv.Key, kt)))
		vals = append(vals, c.peek(c.elem(kv.Value, et)))
	}
	return ex{t: t, P: func(f *fr) unsafe.Pointer {
		mv := reflect.MakeMapWithSize(mapType(t, kt, et), len(keys))
		for i := range keys {
			k := kt.clone(keys[i](f))
			mv.SetMapIndex(kt.at(k), et.at(vals[i](f)))
		}
		return mv.UnsafePointer()
	}}
}

func mapType(t, kt, et *typ) reflect.Type {
	if t.rt.Kind() == reflect.Map {
		return t.rt
	}
	return reflect.MapOf(kt.rt, et.rt)
}

// valuesOf lists the elements of a literal without their keys.
func valuesOf(elts []ast.Expr) []ast.Expr {
	out := make([]ast.Expr, len(elts))
	for i, e := range elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
		}
		out[i] = e
	}
	return out
}
