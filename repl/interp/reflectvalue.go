package interp

import (
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// replaceReflect gives the functions of package reflect that make types and
// values their own form, which knows the types of cells. Those that take any
// are given values as interfaces of cells hold them.
func (m *machine) replaceReflect(symbols map[string]reflect.Value) {
	set := func(name string, f any) { symbols[name] = reflect.ValueOf(f) }
	set("TypeOf", func(x any) reflect.Type {
		if b, ok := x.(box); ok {
			return m.reflectType(m.types.byID(b.ID))
		}
		return m.reflectOf(reflect.TypeOf(x))
	})
	set("ValueOf", m.reflectValue)
	set("New", func(t reflect.Type) reflect.Value { return reflect.New(goType(t)) })
	set("NewAt", func(t reflect.Type, p unsafe.Pointer) reflect.Value { return reflect.NewAt(goType(t), p) })
	set("Zero", func(t reflect.Type) reflect.Value { return reflect.Zero(goType(t)) })
	set("MakeSlice", func(t reflect.Type, n, c int) reflect.Value { return reflect.MakeSlice(goType(t), n, c) })
	set("MakeMap", func(t reflect.Type) reflect.Value { return reflect.MakeMap(goType(t)) })
	set("MakeMapWithSize", func(t reflect.Type, n int) reflect.Value { return reflect.MakeMapWithSize(goType(t), n) })
	set("MakeChan", func(t reflect.Type, n int) reflect.Value { return reflect.MakeChan(goType(t), n) })
	set("MakeFunc", func(t reflect.Type, f func([]reflect.Value) []reflect.Value) reflect.Value {
		return reflect.MakeFunc(goType(t), f)
	})
	made := func(t reflect.Type, like func(types.Type) types.Type, rt reflect.Type) reflect.Type {
		if c, ok := t.(cellType); ok {
			return c.of(like(c.t.t))
		}
		return rt
	}
	pointer := func(t reflect.Type) reflect.Type {
		return made(t, func(t types.Type) types.Type { return types.NewPointer(t) }, reflect.PointerTo(goType(t)))
	}
	set("PointerTo", pointer)
	set("PtrTo", pointer)
	set("SliceOf", func(t reflect.Type) reflect.Type {
		return made(t, func(t types.Type) types.Type { return types.NewSlice(t) }, reflect.SliceOf(goType(t)))
	})
	set("ArrayOf", func(n int, t reflect.Type) reflect.Type {
		return made(t, func(t types.Type) types.Type { return types.NewArray(t, int64(n)) }, reflect.ArrayOf(n, goType(t)))
	})
	set("ChanOf", func(d reflect.ChanDir, t reflect.Type) reflect.Type { return m.reflectOf(reflect.ChanOf(d, goType(t))) })
	set("MapOf", func(k, e reflect.Type) reflect.Type { return m.reflectOf(reflect.MapOf(goType(k), goType(e))) })
	set("VisibleFields", func(t reflect.Type) []reflect.StructField { return visibleFields(t, nil, nil) })
}

// visibleFields lists the fields of a struct, and those of its embedded ones
// behind them.
func visibleFields(t reflect.Type, index []int, out []reflect.StructField) []reflect.StructField {
	if c, ok := t.(cellType); !ok && index == nil || ok && c.Kind() != reflect.Struct {
		return reflect.VisibleFields(goType(t))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		f.Index = append(slices.Clone(index), i)
		if hidden := slices.IndexFunc(out, func(o reflect.StructField) bool { return o.Name == f.Name && len(o.Index) < len(f.Index) }); hidden >= 0 {
			continue
		}
		out = append(out, f)
		if e := f.Type; f.Anonymous {
			if e.Kind() == reflect.Pointer {
				e = e.Elem()
			}
			if e.Kind() == reflect.Struct {
				out = visibleFields(e, f.Index, out)
			}
		}
	}
	return out
}

// reflectValue gives a value of a cell to package reflect.
func (m *machine) reflectValue(x any) reflect.Value {
	b, ok := x.(box)
	if !ok {
		return reflect.ValueOf(x)
	}
	return reflect.ValueOf(m.view(m.types.byID(b.ID), m.plainGo(b)).Interface()) // nobody can set it
}

// A valueShim is a method of reflect.Value; a is what it is given, as it takes it.
type valueShim func(m *machine, v reflect.Value, a []unsafe.Pointer) any

// valueShims are the methods that must know the types of cells.
func valueShims() map[string]valueShim {
	return map[string]valueShim{
		"Type": func(m *machine, v reflect.Value, _ []unsafe.Pointer) any { return m.reflectOf(v.Type()) },
		"Field": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			return m.reflectField(v, []int{*(*int)(a[0])})
		},
		"FieldByIndex": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			return m.reflectField(v, *(*[]int)(a[0]))
		},
		"FieldByName": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			name := *(*string)(a[0])
			if t := m.typeOfGo(v.Type()); t != nil {
				if path := m.fieldPath(t, name); path != nil {
					return m.reflectField(v, path)
				}
				return reflect.Value{}
			}
			return v.FieldByName(name)
		},
		"NumField": func(m *machine, v reflect.Value, _ []unsafe.Pointer) any { return m.reflectOf(v.Type()).NumField() },
		"Elem": func(m *machine, v reflect.Value, _ []unsafe.Pointer) any {
			e := v.Elem()
			if e.IsValid() && e.Type() == boxType {
				return m.reflectValue(open(e).Interface())
			}
			return e
		},
		"NumMethod": func(m *machine, v reflect.Value, _ []unsafe.Pointer) any { return m.reflectOf(v.Type()).NumMethod() },
		"Method": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			return m.reflectMethod(v, m.reflectOf(v.Type()).Method(*(*int)(a[0])).Name)
		},
		"MethodByName": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			return m.reflectMethod(v, *(*string)(a[0]))
		},
		"Convert": func(m *machine, v reflect.Value, a []unsafe.Pointer) any { return v.Convert(goType(argType(a[0]))) },
		"CanConvert": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			return v.CanConvert(goType(argType(a[0])))
		},
		"String": func(m *machine, v reflect.Value, _ []unsafe.Pointer) any {
			if v.IsValid() && v.Kind() != reflect.String {
				return "<" + m.reflectOf(v.Type()).String() + " Value>"
			}
			return v.String()
		},
		"Set": func(m *machine, v reflect.Value, a []unsafe.Pointer) any {
			x := *(*reflect.Value)(a[0])
			if v.Kind() == reflect.Interface && v.NumMethod() == 0 && x.IsValid() && x.CanInterface() && m.typeOfGo(x.Type()) != nil {
				x = reflect.ValueOf(m.in.unwrapGo(x.Interface()))
			} else if x.Kind() == reflect.Pointer && v.Kind() == reflect.UnsafePointer {
				v = reflect.NewAt(x.Type(), v.Addr().UnsafePointer()).Elem()
			}
			v.Set(x)
			return nil
		},
	}
}

// ofAnyType are the valueShims for values of every type: an interface can hold,
// and an argument be, something of a cell.
var ofAnyType = map[string]bool{"Elem": true, "Set": true, "Convert": true, "CanConvert": true}

// argType reads a reflect.Type that a cell passes.
func argType(p unsafe.Pointer) reflect.Type {
	t, _ := (*(*any)(p)).(reflect.Type)
	return t
}

// reflectShim runs a method of reflect.Value, or of a pointer to one, nil when
// Go's own does.
func (m *machine) reflectShim(fn *types.Func, pointer bool) shim {
	name, ok := strings.CutPrefix(fn.FullName(), "(reflect.Value).")
	do := m.values[name]
	if !ok || do == nil {
		return nil
	}
	var result *typ
	if r := fn.Signature().Results(); r.Len() == 1 {
		result = m.types.of(r.At(0).Type())
	}
	return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
		if pointer {
			r = *(*unsafe.Pointer)(r)
		}
		v := *(*reflect.Value)(r)
		if !v.IsValid() || m.typeOfGo(v.Type()) == nil && !ofAnyType[name] {
			return m.callReflect(f, reflect.ValueOf(v).MethodByName(name), fn.Signature(), a, goPass)
		}
		out := do(m, v, a)
		if result == nil {
			return nil
		}
		p := result.alloc()
		m.fromGo(result, reflect.ValueOf(out), p)
		return []unsafe.Pointer{p}
	}
}

// reflectField leads to a field. What Go's type of the memory does not say of it
// is put right: what a pointer points to.
func (m *machine) reflectField(v reflect.Value, path []int) reflect.Value {
	for k, i := range path {
		for k > 0 && v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		t := m.typeOfGo(v.Type())
		v = v.Field(i)
		if t == nil {
			continue
		}
		if u, ok := t.u.(*types.Struct); ok && i < u.NumFields() {
			ft := m.types.of(u.Field(i).Type())
			if ft.rt == funcType {
				if !v.CanAddr() {
					if !v.CanInterface() {
						continue
					}
					v = addressable(v)
				}
				v = m.toGo(nil, ft, v.Addr().UnsafePointer(), m.types.golang(ft), goPass)
				continue
			}
			if v.Type() != ft.rt && v.Type().Size() == ft.rt.Size() && v.CanAddr() {
				v = reflect.NewAt(ft.rt, v.Addr().UnsafePointer()).Elem()
			}
			if want := m.viewType(ft, v.Type()); want != v.Type() && (v.CanAddr() || v.CanInterface()) {
				v = m.view(ft, v)
			}
		}
	}
	return v
}

// reflectMethod gives a method value of a value, the zero Value when there is none.
func (m *machine) reflectMethod(v reflect.Value, name string) reflect.Value {
	t := m.typeOfGo(v.Type())
	if t == nil {
		return v.MethodByName(name)
	}
	if !slices.ContainsFunc(m.exportedMethods(t), func(f *types.Func) bool { return f.Name() == name }) {
		return reflect.Value{}
	}
	sig := m.methodSig(t, name)
	x := m.in.registry.boxed(v)
	cl := &closure{sig: sig, method: func(g *fr, args []unsafe.Pointer) []unsafe.Pointer {
		return m.callMethod(g, x, name, sig, args)
	}}
	return m.makeFunc(nil, cl, sig, m.types.golang(sig), goPass)
}
