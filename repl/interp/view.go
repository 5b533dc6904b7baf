package interp

import (
	"go/types"
	"reflect"
)

// view gives a value of type t the Go type that its parts have: in a type that
// leads back to itself slices, maps and pointers are made of placeholders.
func (m *machine) view(t *typ, v reflect.Value) reflect.Value {
	if want := m.viewType(t, v.Type()); want != v.Type() {
		if !v.CanAddr() {
			v = addressable(v)
		}
		return reflect.NewAt(want, v.Addr().UnsafePointer()).Elem()
	}
	return v
}

func (m *machine) viewType(t *typ, rt reflect.Type) reflect.Type {
	switch u := t.u.(type) {
	case *types.Slice:
		if et := m.types.of(u.Elem()); rt.Kind() == reflect.Slice && rt.Elem() != et.rt {
			return reflect.SliceOf(et.rt)
		}
	case *types.Map:
		if rt.Kind() == reflect.UnsafePointer {
			return reflect.MapOf(m.types.of(u.Key()).rt, m.types.of(u.Elem()).rt)
		}
	case *types.Pointer:
		if rt.Kind() == reflect.UnsafePointer {
			return reflect.PointerTo(m.types.of(u.Elem()).rt)
		}
	}
	return rt
}

// typeOfGo gives the cell's type of a Go type that is made of types of cells,
// nil when it is not.
func (m *machine) typeOfGo(rt reflect.Type) *typ {
	if rt == nil {
		return nil
	}
	if t := m.in.registry.typOf(rt); t != nil {
		return t
	}
	if t, cells := m.partsOfGo(rt); t != nil && cells {
		return m.types.of(t)
	}
	return nil
}

// partsOfGo gives the type of a Go type, nil when it is not known, and whether a
// type of a cell is part of it.
func (m *machine) partsOfGo(rt reflect.Type) (t types.Type, cells bool) {
	if x := m.in.registry.typOf(rt); x != nil {
		return x.t, true
	}
	if t := m.types.nativeOf(rt); t != nil {
		return t, false
	}
	if rt == errorType {
		return types.Universe.Lookup("error").Type(), false
	}
	if rt.Name() != "" {
		for kind, b := range basicTypes {
			if b == rt {
				return types.Typ[kind], false
			}
		}
		return nil, false
	}
	part := func(p reflect.Type) types.Type {
		e, c := m.partsOfGo(p)
		cells = cells || c
		return e
	}
	switch rt.Kind() {
	case reflect.Pointer:
		if e := part(rt.Elem()); e != nil {
			return types.NewPointer(e), cells
		}
	case reflect.Slice:
		if e := part(rt.Elem()); e != nil {
			return types.NewSlice(e), cells
		}
	case reflect.Array:
		if e := part(rt.Elem()); e != nil {
			return types.NewArray(e, int64(rt.Len())), cells
		}
	case reflect.Chan:
		if e := part(rt.Elem()); e != nil {
			return types.NewChan([...]types.ChanDir{0, types.RecvOnly, types.SendOnly, types.SendRecv}[rt.ChanDir()], e), cells
		}
	case reflect.Map:
		if k, e := part(rt.Key()), part(rt.Elem()); k != nil && e != nil {
			return types.NewMap(k, e), cells
		}
	case reflect.Interface:
		if rt.NumMethod() == 0 {
			return types.NewInterfaceType(nil, nil), false
		}
	case reflect.Func:
		tuple := func(n int, at func(int) reflect.Type) *types.Tuple {
			var vars []*types.Var
			for i := range n {
				e := part(at(i))
				if e == nil {
					return nil
				}
				vars = append(vars, types.NewParam(0, nil, "", e))
			}
			return types.NewTuple(vars...)
		}
		in, out := tuple(rt.NumIn(), rt.In), tuple(rt.NumOut(), rt.Out)
		if in.Len() == rt.NumIn() && out.Len() == rt.NumOut() {
			return types.NewSignatureType(nil, nil, nil, in, out, rt.IsVariadic()), cells
		}
	case reflect.Struct:
		var fields []*types.Var
		var tags []string
		for f := range rt.Fields() {
			e := part(f.Type)
			if e == nil {
				return nil, false
			}
			fields = append(fields, types.NewField(0, m.pkg, f.Name, e, f.Anonymous))
			tags = append(tags, string(f.Tag))
		}
		return types.NewStruct(fields, tags), cells
	}
	return nil, false
}
