package interp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unsafe"
)

// A jsonReader stores JSON in values of cells' types.
type jsonReader struct {
	m       *machine
	options jsonOptions
}

// jsonOptions are those of a json.Decoder.
type jsonOptions struct {
	strict bool // DisallowUnknownFields
	number bool // UseNumber
}

// optionsOf reads the options of a decoder where package json keeps them.
func optionsOf(d *json.Decoder) jsonOptions {
	state := reflect.ValueOf(d).Elem().FieldByName("d")
	is := func(name string) bool {
		if state.Kind() != reflect.Struct {
			return false
		}
		f := state.FieldByName(name)
		return f.Kind() == reflect.Bool && f.Bool()
	}
	return jsonOptions{strict: is("disallowUnknownFields"), number: is("useNumber")}
}

// decodeShim is Decode of a json.Decoder: values of cells' types are read with
// its options.
func (m *machine) decodeShim() shim {
	errType := m.types.of(types.Universe.Lookup("error").Type())
	return func(f *fr, r unsafe.Pointer, a []unsafe.Pointer) []unsafe.Pointer {
		d := (*json.Decoder)(*(*unsafe.Pointer)(r))
		if d == nil {
			nilDeref()
		}
		v := m.jsonArg(*(*any)(a[0]))
		if x, ok := v.(*jsonValue); ok {
			x.options = optionsOf(d)
		}
		p := errType.alloc()
		if err := d.Decode(v); err != nil {
			m.fromGo(errType, reflect.ValueOf(err), p)
		}
		return []unsafe.Pointer{p}
	}
}

// native stores a value in one of Go's types.
func (r *jsonReader) native(text []byte, into any) error {
	if r.options == (jsonOptions{}) {
		return json.Unmarshal(text, into)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if r.options.strict {
		d.DisallowUnknownFields()
	}
	if r.options.number {
		d.UseNumber()
	}
	return d.Decode(into)
}

// A jsonPlace is where a value lies, as errors say it: the struct around it, the
// names that lead there, those of embedded structs too, and how many bytes of
// the document are before it.
type jsonPlace struct {
	strct, path string
	before      int64
}

func (a jsonPlace) field(strct, names string) jsonPlace {
	return jsonPlace{strct, strings.TrimPrefix(a.path+"."+names, "."), a.before}
}

// from is the place of a value that was the last one a decoder of the text read.
func (a jsonPlace) from(dec *json.Decoder, raw json.RawMessage) jsonPlace {
	a.before += dec.InputOffset() - int64(len(raw))
	return a
}

// An unknownField is the error of a strict reader.
type unknownField struct{ name string }

func (u unknownField) Error() string { return fmt.Sprintf("json: unknown field %q", u.name) }

// value stores a text of a whole JSON value.
func (r *jsonReader) value(text []byte, t *typ, p unsafe.Pointer, at jsonPlace) error {
	m := r.m
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	at.before += int64(len(text) - len(trimmed))
	text = bytes.TrimSpace(trimmed)
	null := string(text) == "null"
	mismatch := func() error {
		e := &json.UnmarshalTypeError{Value: jsonKind(text), Type: t.rt}
		if t.rt.Name() == "" || strings.HasPrefix(t.rt.Name(), "standIn") {
			e.Type = namedLike{t.rt, m.types.name(t.t)}
		}
		e.Struct, e.Field, e.Offset = at.strct, at.path, at.before+int64(len(text))
		if text[0] == '{' || text[0] == '[' {
			e.Offset = at.before + 1
		}
		return e
	}
	pt := m.types.of(types.NewPointer(t.t))
	if !t.plain && !(null && t.class == clsPtr) {
		for _, name := range [...]string{"UnmarshalJSON", "UnmarshalText"} {
			if !m.hasMethod(pt, name) || isPointerTo(t) {
				continue
			}
			arg := text
			if name == "UnmarshalText" {
				if null {
					return nil
				}
				var s string
				if json.Unmarshal(text, &s) != nil {
					return mismatch()
				}
				arg = []byte(s)
			}
			out, _ := m.in.callAny(m.iface(pt, ptrTo(p)), name, arg)
			if e := first(out); e != nil {
				return m.in.asError(e)
			}
			return nil
		}
	}
	if t.class == clsIface {
		var v any
		if err := r.native(text, &v); err != nil {
			return err
		}
		*(*any)(p) = v
		return nil
	}
	if t.plain {
		err := r.native(text, t.at(p).Addr().Interface())
		if e, ok := err.(*json.UnmarshalTypeError); ok {
			if e.Struct == "" {
				e.Struct = at.strct
			}
			e.Field = strings.Trim(at.path+"."+e.Field, ".")
			e.Offset += at.before
		}
		return err
	}
	switch u := t.u.(type) {
	case *types.Pointer:
		if null {
			t.zero(p)
			return nil
		}
		e := m.types.of(u.Elem())
		if *(*unsafe.Pointer)(p) == nil {
			*(*unsafe.Pointer)(p) = e.alloc()
		}
		return r.value(text, e, *(*unsafe.Pointer)(p), at)
	case *types.Struct:
		if null {
			return nil
		}
		return r.structure(text, t, p, at, mismatch)
	case *types.Slice, *types.Array:
		return r.list(text, t, p, at, null, mismatch)
	case *types.Map:
		return r.mapping(text, t, u, p, at, null, mismatch)
	case *types.Basic:
		if null {
			return nil
		}
		v := reflect.New(basicTypes[u.Kind()])
		if json.Unmarshal(text, v.Interface()) != nil {
			return mismatch()
		}
		t.at(p).Set(v.Elem().Convert(t.rt))
		return nil
	}
	return mismatch()
}

// A namedLike is a type that errors name as the user does.
type namedLike struct {
	reflect.Type
	name string
}

func (n namedLike) String() string { return n.name }

func jsonKind(text []byte) string {
	switch text[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	}
	return "number"
}

func (r *jsonReader) structure(text []byte, t *typ, p unsafe.Pointer, at jsonPlace, mismatch func() error) error {
	m := r.m
	if text[0] != '{' {
		return mismatch()
	}
	fields := m.jsonFields(t)
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	name := ""
	if n, ok := types.Unalias(t.t).(*types.Named); ok {
		name = plainName(n.Obj().Name())
	}
	var firstErr error
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		i := slices.IndexFunc(fields, func(f jsonField) bool { return f.name == key })
		if i < 0 {
			i = slices.IndexFunc(fields, func(f jsonField) bool { return foldJSON(f.name) == foldJSON(key) })
		}
		if i < 0 {
			if r.options.strict && firstErr == nil {
				firstErr = unknownField{key}
			}
			continue
		}
		f := fields[i]
		if f.quoted {
			var s string
			if json.Unmarshal(raw, &s) == nil {
				raw = json.RawMessage(s)
			}
		}
		if err := r.value(raw, f.t, m.fieldMem(t, p, f.path, true), at.field(name, m.jsonNames(t, f)).from(dec, raw)); err != nil {
			switch err.(type) {
			case *json.UnmarshalTypeError, unknownField: // the rest is stored all the same
			default:
				return err
			}
			if firstErr == nil {
				firstErr = err
			}
		}
	}
	return firstErr
}

func foldJSON(s string) string { return strings.Map(unicode.ToLower, s) }

func (r *jsonReader) list(text []byte, t *typ, p unsafe.Pointer, at jsonPlace, null bool, mismatch func() error) error {
	m := r.m
	s, isSlice := t.u.(*types.Slice)
	if null {
		if isSlice {
			t.zero(p)
		}
		return nil
	}
	var et *typ
	if isSlice {
		et = m.types.of(s.Elem())
		if et.kind == types.Uint8 && text[0] == '"' {
			var b []byte
			if json.Unmarshal(text, &b) != nil {
				return mismatch()
			}
			t.at(p).SetBytes(b)
			return nil
		}
	} else {
		et = m.types.of(t.u.(*types.Array).Elem())
	}
	if text[0] != '[' {
		return mismatch()
	}
	var raws []json.RawMessage
	var places []jsonPlace
	if err := elements(text, func(dec *json.Decoder) error {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		raws, places = append(raws, raw), append(places, at.from(dec, raw))
		return err
	}); err != nil {
		return err
	}
	v := m.view(t, t.at(p))
	if isSlice {
		v.Set(reflect.MakeSlice(v.Type(), len(raws), len(raws)))
	}
	var firstErr error
	for i := range min(len(raws), v.Len()) {
		if err := r.value(raws[i], et, v.Index(i).Addr().UnsafePointer(), places[i]); err != nil && firstErr == nil {
			firstErr = err
		}
	}
	return firstErr
}

func (r *jsonReader) mapping(text []byte, t *typ, u *types.Map, p unsafe.Pointer, at jsonPlace, null bool, mismatch func() error) error {
	m := r.m
	if null {
		t.zero(p)
		return nil
	}
	if text[0] != '{' {
		return mismatch()
	}
	kt, et := m.types.of(u.Key()), m.types.of(u.Elem())
	if *(*unsafe.Pointer)(p) == nil {
		*(*unsafe.Pointer)(p) = reflect.MakeMap(mapType(t, kt, et)).UnsafePointer()
	}
	var firstErr error
	if err := elements(text, func(dec *json.Decoder) error {
		tok, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := tok.(string)
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		k, e := kt.alloc(), et.alloc()
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		if kt.class == clsInt && !m.hasMethod(m.types.of(types.NewPointer(kt.t)), "UnmarshalText") {
			quoted = []byte(name)
		}
		if err := r.value(quoted, kt, k, at); err != nil {
			return err
		}
		if err := r.value(raw, et, e, at.from(dec, raw)); err != nil {
			if _, mistyped := err.(*json.UnmarshalTypeError); !mistyped {
				return err
			}
			if firstErr == nil { // the rest is stored all the same
				firstErr = err
			}
		}
		m.view(t, t.at(p)).SetMapIndex(kt.at(k), et.at(e))
		return nil
	}); err != nil {
		return err
	}
	return firstErr
}

// elements calls read for each element of an array or object: it takes it from
// the decoder.
func elements(text []byte, read func(*json.Decoder) error) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		if err := read(dec); err != nil {
			return err
		}
	}
	return nil
}
