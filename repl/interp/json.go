package interp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unsafe"
)

// A jsonValue is a value of a cell as encoding/json gets it: it knows the
// methods, the embedded fields and the pointers to itself that package reflect
// does not see in the value's memory.
type jsonValue struct {
	m       *machine
	t       *typ
	p       unsafe.Pointer
	options jsonOptions
}

// MarshalJSON implements json.Marshaler.
func (v jsonValue) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := v.m.marshalJSON(&b, v.t, v.p)
	return b.Bytes(), err
}

// UnmarshalJSON implements json.Unmarshaler: p is what the text goes to.
func (v *jsonValue) UnmarshalJSON(text []byte) error {
	r := jsonReader{m: v.m, options: v.options}
	return r.value(text, v.t, v.p, jsonPlace{})
}

// jsonArg gives encoding/json its form of an argument.
func (m *machine) jsonArg(x any) any {
	b, ok := x.(box)
	if !ok {
		if v := reflect.ValueOf(x); x != nil && holdsInterface(v.Type()) && v.Kind() != reflect.Pointer {
			return m.reifyAs(v, goJSON).Interface()
		}
		return x
	}
	t := m.types.byID(b.ID)
	p := t.alloc()
	t.put(p, x)
	if u, ok := t.u.(*types.Pointer); ok {
		if q := *(*unsafe.Pointer)(p); q != nil {
			if _, named := types.Unalias(t.t).(*types.Named); !named && !m.hasMethod(t, "MarshalJSON") && !m.hasMethod(t, "MarshalText") || m.hasMethod(t, "UnmarshalJSON") || m.hasMethod(t, "UnmarshalText") {
				return &jsonValue{m: m, t: m.types.of(u.Elem()), p: q}
			}
		}
	}
	return jsonValue{m: m, t: t, p: p}
}

// A jsonField is a field that JSON sees.
type jsonField struct {
	name              string
	path              []int
	t                 *typ
	omitEmpty, quoted bool
	omitZero          bool
}

// jsonFields lists the fields of a struct as encoding/json does: those of
// embedded structs are its own unless something hides them.
func (m *machine) jsonFields(t *typ) []jsonField {
	var out []jsonField
	depth := map[string]int{}
	var walk func(u *types.Struct, path []int, level int)
	walk = func(u *types.Struct, path []int, level int) {
		for i := range u.NumFields() {
			f := u.Field(i)
			tag := reflect.StructTag(u.Tag(i)).Get("json")
			if tag == "-" {
				continue
			}
			name, opts, _ := strings.Cut(tag, ",")
			at := append(slices.Clone(path), i)
			if f.Embedded() && name == "" {
				ft := f.Type()
				if p, ok := ft.Underlying().(*types.Pointer); ok {
					ft = p.Elem()
				}
				if st, ok := ft.Underlying().(*types.Struct); ok {
					walk(st, at, level+1)
					continue
				}
			}
			if !f.Exported() {
				continue
			}
			if name == "" {
				name = f.Name()
			}
			if d, ok := depth[name]; ok && d <= level {
				continue
			} else if ok {
				out = slices.DeleteFunc(out, func(x jsonField) bool { return x.name == name })
			}
			depth[name] = level
			has := func(o string) bool { return slices.Contains(strings.Split(opts, ","), o) }
			out = append(out, jsonField{name, at, m.types.of(f.Type()), has("omitempty"), has("string"), has("omitzero")})
		}
	}
	walk(t.u.(*types.Struct), nil, 0)
	sort.SliceStable(out, func(i, j int) bool { return slices.Compare(out[i].path, out[j].path) < 0 })
	return out
}

// jsonNames are the names that lead to a field of a struct: those of the
// embedded structs around it and its own.
func (m *machine) jsonNames(t *typ, f jsonField) string {
	names := ""
	for _, i := range f.path[:len(f.path)-1] {
		if p, ok := t.u.(*types.Pointer); ok {
			t = m.types.of(p.Elem())
		}
		e := t.u.(*types.Struct).Field(i)
		names += e.Name() + "."
		t = m.types.of(e.Type())
	}
	return names + f.name
}

// fieldMem walks to a field; make says whether nil pointers on the way are
// filled. It is nil when there is no way.
func (m *machine) fieldMem(t *typ, p unsafe.Pointer, path []int, fill bool) unsafe.Pointer {
	for k, i := range path {
		if k > 0 {
			if u, ok := t.u.(*types.Pointer); ok {
				e := m.types.of(u.Elem())
				q := *(*unsafe.Pointer)(p)
				if q == nil {
					if !fill {
						return nil
					}
					q = e.alloc()
					*(*unsafe.Pointer)(p) = q
				}
				t, p = e, q
			}
		}
		p = unsafe.Add(p, t.rt.Field(i).Offset)
		t = m.types.of(t.u.(*types.Struct).Field(i).Type())
	}
	return p
}

func (m *machine) marshalJSON(b *bytes.Buffer, t *typ, p unsafe.Pointer) error {
	native := func(v any) error {
		text, err := json.Marshal(v)
		b.Write(text)
		return err
	}
	if t.class == clsIface {
		x := *(*any)(p)
		if x == nil {
			b.WriteString("null")
			return nil
		}
		bx, ok := x.(box)
		if !ok {
			return native(m.jsonArg(x))
		}
		t = m.types.byID(bx.ID)
		p = t.alloc()
		t.put(p, x)
	}
	isNil := t.class == clsPtr && *(*unsafe.Pointer)(p) == nil
	if !t.plain && !isNil {
		for _, name := range [...]string{"MarshalJSON", "MarshalText"} {
			if !m.hasMethod(t, name) {
				continue
			}
			out, _ := m.in.callAny(m.iface(t, p), name)
			if len(out) == 2 && out[1] != nil {
				return &json.MarshalerError{Type: t.rt, Err: m.in.asError(out[1])}
			}
			text, _ := out[0].([]byte)
			if name == "MarshalText" {
				return native(string(text))
			}
			return json.Compact(b, text)
		}
	}
	if t.plain && !holdsInterface(t.rt) {
		return native(t.at(p).Interface())
	}
	switch u := t.u.(type) {
	case *types.Pointer:
		if isNil {
			b.WriteString("null")
			return nil
		}
		return m.marshalJSON(b, m.types.of(u.Elem()), *(*unsafe.Pointer)(p))
	case *types.Struct:
		return m.marshalStruct(b, t, p)
	case *types.Slice, *types.Array:
		v := m.view(t, t.at(p))
		var et *typ
		if s, ok := u.(*types.Slice); ok {
			et = m.types.of(s.Elem())
			if v.IsNil() {
				b.WriteString("null")
				return nil
			}
			if et.kind == types.Uint8 && !m.hasMethod(et, "MarshalJSON") && !m.hasMethod(et, "MarshalText") {
				return native(v.Bytes())
			}
		} else {
			et = m.types.of(u.(*types.Array).Elem())
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := m.marshalJSON(b, et, v.Index(i).Addr().UnsafePointer()); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	case *types.Map:
		return m.marshalMap(b, t, u, p)
	case *types.Basic:
		return native(plainValue(t.at(p)))
	}
	return &json.UnsupportedTypeError{Type: m.types.golang(t)}
}

func (m *machine) marshalStruct(b *bytes.Buffer, t *typ, p unsafe.Pointer) error {
	b.WriteByte('{')
	n := 0
	for _, f := range m.jsonFields(t) {
		q := m.fieldMem(t, p, f.path, false)
		if q == nil || f.omitEmpty && emptyJSON(f.t.at(q)) || f.omitZero && f.t.at(q).IsZero() {
			continue
		}
		if n > 0 {
			b.WriteByte(',')
		}
		n++
		name, err := json.Marshal(f.name)
		if err != nil {
			return err
		}
		b.Write(name)
		b.WriteByte(':')
		if f.quoted {
			var inner bytes.Buffer
			if err := m.marshalJSON(&inner, f.t, q); err != nil {
				return err
			}
			b.WriteString(strconv.Quote(inner.String()))
			continue
		}
		if err := m.marshalJSON(b, f.t, q); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func emptyJSON(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func (m *machine) marshalMap(b *bytes.Buffer, t *typ, u *types.Map, p unsafe.Pointer) error {
	v := m.view(t, t.at(p))
	if v.IsNil() {
		b.WriteString("null")
		return nil
	}
	kt, et := m.types.of(u.Key()), m.types.of(u.Elem())
	type entry struct {
		key string
		val reflect.Value
	}
	var list []entry
	for it := v.MapRange(); it.Next(); {
		k := addressable(it.Key())
		var key string
		switch {
		case m.hasMethod(kt, "MarshalText") && !kt.plain:
			out, _ := m.in.callAny(m.iface(kt, k.Addr().UnsafePointer()), "MarshalText")
			text, _ := first(out).([]byte)
			key = string(text)
		case k.Kind() == reflect.String:
			key = k.String()
		case k.CanInt() || k.CanUint():
			key = fmt.Sprint(plainValue(k))
		default:
			return &json.UnsupportedTypeError{Type: t.rt}
		}
		list = append(list, entry{key, addressable(it.Value())})
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	b.WriteByte('{')
	for i, e := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(e.key)
		if err != nil {
			return err
		}
		b.Write(key)
		b.WriteByte(':')
		if err := m.marshalJSON(b, et, e.val.Addr().UnsafePointer()); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}
