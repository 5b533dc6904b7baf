package interp

import (
	"fmt"
	"io"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// A printed is an operand of the fmt functions that can hold values of cells'
// types: it writes itself as Go would.
type printed struct {
	r *registry
	v reflect.Value
}

// operands wraps what needs it.
func (r *registry) operands(args []any) []any {
	var out []any
	for i, a := range args {
		u := unwrap(a)
		if u == nil || !r.needed(reflect.TypeOf(u)) {
			continue
		}
		if out == nil {
			out = append(out, args...)
		}
		out[i] = r.operand(reflect.ValueOf(u), a)
	}
	if out == nil {
		return args
	}
	return out
}

func (r *registry) operand(v reflect.Value, orig any) any {
	p := printed{r, v}
	if err, ok := orig.(error); ok { // stays an error for %w
		return printedError{p, err}
	}
	if res, ok := r.call(v, "Error"); ok {
		return printedError{p, &cellError{r, v, res[0].String()}}
	}
	if v.Kind() == reflect.String { // Print puts no space beside a string
		s := v.String()
		if res, ok := r.call(v, "String"); ok {
			s = res[0].String()
		}
		return s
	}
	return p
}

// A printedError prints itself and is the error it holds.
type printedError struct {
	printed
	err error
}

func (e printedError) Error() string { return e.err.Error() }
func (e printedError) Unwrap() error { return e.err }

// A cellError makes a value of a cell's type with an Error method an error.
type cellError struct {
	r    *registry
	v    reflect.Value
	text string // "" until it is asked for
}

func (e *cellError) Error() string {
	if e.text == "" {
		if out, ok := e.r.call(e.v, "Error"); ok {
			return out[0].String()
		}
	}
	return e.text
}

// Format implements fmt.Formatter.
func (p printed) Format(f fmt.State, verb rune) {
	w := &printer{p.r, f, verb}
	w.value(p.v, 0, true)
}

// A printer writes one operand; it follows fmt's printValue.
type printer struct {
	r    *registry
	f    fmt.State
	verb rune
}

func (w *printer) str(s string) { io.WriteString(w.f, s) }

// leaf writes a value that holds nothing of a cell's.
func (w *printer) leaf(v any) { fmt.Fprintf(w.f, fmt.FormatString(w.f, w.verb), v) }

// value writes v. A value from an unexported field has no methods.
func (w *printer) value(v reflect.Value, depth int, methods bool) {
	if !v.IsValid() {
		if depth == 0 {
			w.leaf(nil)
		} else {
			w.str("<nil>")
		}
		return
	}
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			w.str("<nil>")
			return
		}
		if !v.CanInterface() {
			w.value(v.Elem(), depth, methods)
			return
		}
		w.value(reflect.ValueOf(unwrap(v.Elem().Interface())), depth, methods)
		return
	}
	if methods && v.CanInterface() && w.methods(v) {
		return
	}
	t := v.Type()
	info := w.r.info(t)
	if info == nil && t.Name() != "" && v.CanInterface() {
		w.leaf(v.Interface())
		return
	}
	sharp := w.verb == 'v' && w.f.Flag('#')
	switch v.Kind() {
	case reflect.Struct:
		w.structure(v, info, sharp, depth, methods)
	case reflect.Map:
		w.mapping(v, sharp, depth, methods)
	case reflect.Slice, reflect.Array:
		if !w.r.needed(t.Elem()) && v.CanInterface() {
			w.leaf(v.Interface())
			return
		}
		w.list(v, sharp, depth, methods)
	case reflect.Pointer:
		if depth == 0 && !v.IsNil() {
			switch e := v.Elem(); e.Kind() {
			case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
				w.str("&")
				w.value(e, depth+1, methods)
				return
			}
		}
		if sharp {
			if v.IsNil() {
				w.str("(" + w.r.typeName(t) + ")(nil)")
			} else {
				w.str("(" + w.r.typeName(t) + ")(0x" + strconv.FormatUint(uint64(v.Pointer()), 16) + ")")
			}
			return
		}
		if v.IsNil() {
			w.str("<nil>")
			return
		}
		w.str("0x" + strconv.FormatUint(uint64(v.Pointer()), 16))
	default:
		w.leaf(plainValue(v))
	}
}

// plainValue gives a value of a basic kind without its type.
func plainValue(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int:
		return int(v.Int())
	case reflect.Int8:
		return int8(v.Int())
	case reflect.Int16:
		return int16(v.Int())
	case reflect.Int32:
		return int32(v.Int())
	case reflect.Int64:
		return v.Int()
	case reflect.Uint:
		return uint(v.Uint())
	case reflect.Uint8:
		return uint8(v.Uint())
	case reflect.Uint16:
		return uint16(v.Uint())
	case reflect.Uint32:
		return uint32(v.Uint())
	case reflect.Uint64:
		return v.Uint()
	case reflect.Uintptr:
		return uintptr(v.Uint())
	case reflect.Float32:
		return float32(v.Float())
	case reflect.Float64:
		return v.Float()
	case reflect.Complex64:
		return complex64(v.Complex())
	case reflect.Complex128:
		return v.Complex()
	case reflect.String:
		return v.String()
	}
	if v.CanInterface() {
		return v.Interface()
	}
	return v.String()
}

// methods lets the value write itself.
func (w *printer) methods(v reflect.Value) bool {
	if w.r.info(v.Type()) == nil && (v.Kind() != reflect.Pointer || w.r.info(v.Type().Elem()) == nil) {
		return false
	}
	if _, ok := w.r.call(v, "Format", reflect.ValueOf(w.f), reflect.ValueOf(w.verb)); ok {
		return true
	}
	if w.f.Flag('#') && w.verb == 'v' {
		if out, ok := w.r.call(v, "GoString"); ok {
			w.str(out[0].String())
			return true
		}
		return false
	}
	if !strings.ContainsRune("vsxXq", w.verb) {
		return false
	}
	for _, name := range [...]string{"Error", "String"} {
		if nilPointer(v) && w.hasMethod(v, name) {
			if text, ok := w.nilCall(v, name); ok {
				w.leaf(text)
			} else {
				w.str("<nil>")
			}
			return true
		}
		if out, ok := w.r.call(v, name); ok {
			w.leaf(out[0].String())
			return true
		}
	}
	return false
}

func nilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

func (w *printer) hasMethod(v reflect.Value, name string) bool {
	info := w.r.info(v.Type().Elem())
	if info == nil {
		return false
	}
	_, ok := info.methods[name]
	return ok
}

// nilCall calls a method of a nil pointer; a panic there is written as <nil>.
func (w *printer) nilCall(v reflect.Value, name string) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	out, ok := w.r.call(v, name)
	if !ok {
		return "", false
	}
	return out[0].String(), true
}

func (w *printer) structure(v reflect.Value, info *typeInfo, sharp bool, depth int, methods bool) {
	t := v.Type()
	if sharp {
		w.str(w.r.typeName(t))
	}
	w.str("{")
	n := 0
	for i := range t.NumField() {
		if info != nil && len(info.fields) == 0 {
			break // the field of a struct without fields
		}
		name := w.r.fieldName(info, t, i)
		if n > 0 {
			if sharp {
				w.str(", ")
			} else {
				w.str(" ")
			}
		}
		n++
		if sharp || w.f.Flag('+') {
			w.str(name + ":")
		}
		exported := name != "" && (name[0] >= 'A' && name[0] <= 'Z' || name[0] >= 0x80)
		w.value(v.Field(i), depth+1, methods && exported)
	}
	w.str("}")
}

func (w *printer) mapping(v reflect.Value, sharp bool, depth int, methods bool) {
	if sharp {
		w.str(w.r.typeName(v.Type()))
		if v.IsNil() {
			w.str("(nil)")
			return
		}
		w.str("{")
	} else {
		w.str("map[")
	}
	keys := v.MapKeys()
	sort.SliceStable(keys, func(i, j int) bool { return lessKey(keys[i], keys[j]) })
	for i, k := range keys {
		if i > 0 {
			if sharp {
				w.str(", ")
			} else {
				w.str(" ")
			}
		}
		w.value(k, depth+1, methods)
		w.str(":")
		w.value(v.MapIndex(k), depth+1, methods)
	}
	if sharp {
		w.str("}")
	} else {
		w.str("]")
	}
}

// lessKey orders map keys as fmt does.
func lessKey(a, b reflect.Value) bool { return compareKeys(a, b) < 0 }

func compareKeys(a, b reflect.Value) int {
	for a.Kind() == reflect.Interface && !a.IsNil() {
		a = a.Elem()
	}
	for b.Kind() == reflect.Interface && !b.IsNil() {
		b = b.Elem()
	}
	if a.Kind() != b.Kind() {
		return int(a.Kind()) - int(b.Kind())
	}
	less := func(x, y bool) int {
		if x {
			return -1
		} else if y {
			return 1
		}
		return 0
	}
	switch {
	case a.CanInt():
		return less(a.Int() < b.Int(), a.Int() > b.Int())
	case a.CanUint():
		return less(a.Uint() < b.Uint(), a.Uint() > b.Uint())
	case a.CanFloat():
		return less(a.Float() < b.Float(), a.Float() > b.Float())
	case a.Kind() == reflect.String:
		return strings.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool:
		return less(!a.Bool() && b.Bool(), a.Bool() && !b.Bool())
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if c := compareKeys(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
	case a.Kind() == reflect.Array:
		for i := range a.Len() {
			if c := compareKeys(a.Index(i), b.Index(i)); c != 0 {
				return c
			}
		}
	}
	return 0
}

func (w *printer) list(v reflect.Value, sharp bool, depth int, methods bool) {
	if sharp {
		w.str(w.r.typeName(v.Type()))
		if v.Kind() == reflect.Slice && v.IsNil() {
			w.str("(nil)")
			return
		}
		w.str("{")
	} else {
		w.str("[")
	}
	for i := range v.Len() {
		if i > 0 {
			if sharp {
				w.str(", ")
			} else {
				w.str(" ")
			}
		}
		w.value(v.Index(i), depth+1, methods)
	}
	if sharp {
		w.str("}")
	} else {
		w.str("]")
	}
}
