package interp

import (
	"fmt"
	"go/types"
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
	t *typ // nil for a value of Go
	v reflect.Value
}

// operands wraps what needs it.
func (r *registry) operands(args []any) []any {
	var out []any
	for i, a := range args {
		if a != nil {
			a = r.in.unwrapGo(a)
		}
		if v, ok := a.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
			if t := r.in.machine.typeOfGo(v.Type()); t != nil || holdsInterface(v.Type()) {
				if out == nil {
					out = append(out, args...)
				}
				out[i] = printed{r, t, v}
			}
			continue
		}
		b, boxed := a.(box)
		if !boxed && !holdsInterface(reflect.TypeOf(a)) {
			continue
		}
		if out == nil {
			out = append(out, args...)
		}
		if boxed {
			out[i] = r.operand(r.in.machine.types.byID(b.ID), reflect.ValueOf(b.V), a, args[i])
		} else {
			out[i] = r.operand(nil, reflect.ValueOf(a), a, args[i])
		}
	}
	if out == nil {
		return args
	}
	return out
}

// holdsInterface tells whether a value of Go can hold boxes.
func holdsInterface(t reflect.Type) bool {
	for t != nil {
		switch t.Kind() {
		case reflect.Interface:
			return true
		case reflect.Pointer, reflect.Slice, reflect.Array:
			if t.Name() != "" {
				return false
			}
			t = t.Elem()
		case reflect.Map:
			return t.Name() == "" && (holdsInterface(t.Key()) || holdsInterface(t.Elem()))
		case reflect.Struct:
			if t.Name() != "" {
				return false
			}
			for i := range t.NumField() {
				if holdsInterface(t.Field(i).Type) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

func (r *registry) operand(t *typ, v reflect.Value, x, orig any) any {
	p := printed{r, t, v}
	if err, ok := orig.(error); ok { // stays an error for %w
		return printedError{p, err}
	}
	if t == nil {
		return p
	}
	if r.in.machine.hasMethod(t, "Error") {
		return printedError{p, &cellError{r.in, x}}
	}
	if t.class == clsString { // Print puts no space beside a string
		if r.in.machine.hasMethod(t, "String") || r.in.machine.hasMethod(t, "Format") || r.in.machine.hasMethod(t, "GoString") {
			return printedString{p}
		}
		return p.asString()
	}
	return p
}

// asString keeps the kind of a string that has no methods, so that Print puts
// no space beside it.
func (p printed) asString() any { return cellString(p.v.String()) }

// A cellString is a string of a named type of a cell.
type cellString string

// A printedString is a string that writes itself.
type printedString struct{ printed }

// A printedError prints itself and is the error it holds.
type printedError struct {
	printed
	err error
}

func (e printedError) Error() string { return e.err.Error() }
func (e printedError) Unwrap() error { return e.err }
func (e printedError) cellValue() any {
	return e.r.in.unwrapGo(e.err)
}

// Format implements fmt.Formatter.
func (p printed) Format(f fmt.State, verb rune) {
	w := &printer{p.r, f, verb}
	v := p.v
	if v.IsValid() && !v.CanAddr() { // so that unexported fields can be read
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	w.value(p.t, v, 0, true)
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

// open gives a value that may be read although it is from an unexported field.
func open(v reflect.Value) reflect.Value {
	if v.CanInterface() || !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

func (w *printer) of(t types.Type) *typ { return w.r.in.machine.types.of(t) }

// value writes v of type t. A value from an unexported field has no methods.
func (w *printer) value(t *typ, v reflect.Value, depth int, methods bool) {
	if !v.IsValid() {
		if depth == 0 {
			w.leaf(nil)
		} else {
			w.str("<nil>")
		}
		return
	}
	v = open(v)
	if t == nil {
		t = w.r.typOf(v.Type())
	}
	if v.Kind() == reflect.Interface {
		if v.IsNil() {
			if w.f.Flag('#') && w.verb == 'v' {
				w.str(w.name(t, v) + "(nil)")
				return
			}
			w.str("<nil>")
			return
		}
		x := v.Interface()
		if b, ok := x.(box); ok {
			c := reflect.New(reflect.TypeOf(b.V)).Elem()
			c.Set(reflect.ValueOf(b.V))
			w.value(w.r.in.machine.types.byID(b.ID), c, depth, methods)
			return
		}
		w.value(nil, reflect.ValueOf(x), depth, methods)
		return
	}
	if t != nil && v.Type() != t.rt && v.CanAddr() && v.Type().Size() == t.rt.Size() {
		v = reflect.NewAt(t.rt, v.Addr().UnsafePointer()).Elem()
	}
	if t != nil {
		v = w.r.in.machine.view(t, v)
	}
	if methods && t != nil && w.methods(t, v) {
		return
	}
	if t == nil || t.plain {
		if methods && v.CanInterface() && !holdsInterface(v.Type()) {
			w.leafAt(v, depth)
			return
		}
		if t == nil && v.Type().Name() != "" {
			w.leafAt(v, depth)
			return
		}
	}
	sharp := w.verb == 'v' && w.f.Flag('#')
	switch v.Kind() {
	case reflect.Struct:
		w.structure(t, v, sharp, depth, methods)
	case reflect.Map:
		w.mapping(t, v, sharp, depth, methods)
	case reflect.Slice, reflect.Array:
		w.list(t, v, sharp, depth, methods)
	case reflect.Pointer, reflect.UnsafePointer:
		w.pointer(t, v, sharp, depth, methods)
	case reflect.Chan:
		if sharp {
			w.str("(" + w.name(t, v) + ")(" + address(v.Pointer()) + ")")
		} else {
			w.leaf(v.Interface())
		}
	default:
		w.basic(t, v)
	}
}

// basic writes a value of a basic kind; where its verb is wrong, with the type
// it has.
func (w *printer) basic(t *typ, v reflect.Value) {
	x := plainValue(v)
	text := fmt.Sprintf(fmt.FormatString(w.f, w.verb), x)
	if rest, bad := strings.CutPrefix(text, "%!"+string(w.verb)+"("+reflect.TypeOf(x).String()+"="); bad {
		text = "%!" + string(w.verb) + "(" + w.name(t, v) + "=" + rest
	}
	w.str(text)
}

// leafAt writes a value of Go inside another: a pointer there is an address.
func (w *printer) leafAt(v reflect.Value, depth int) {
	if depth > 0 && v.Kind() == reflect.Pointer && v.Type().Name() == "" {
		switch x := v.Interface().(type) {
		case fmt.Formatter, fmt.Stringer, error:
			w.leaf(x)
			return
		}
		if v.IsNil() {
			w.pointer(nil, v, w.verb == 'v' && w.f.Flag('#'), depth, true)
			return
		}
		if w.verb == 'v' && w.f.Flag('#') {
			w.str("(" + v.Type().String() + ")(" + address(v.Pointer()) + ")")
			return
		}
		w.str(address(v.Pointer()))
		return
	}
	if depth > 0 && v.Kind() == reflect.Slice && v.IsNil() && w.verb == 'v' && !w.f.Flag('#') {
		w.str("[]")
		return
	}
	if depth > 0 && v.Type() == bytesType && w.verb == 'v' && w.f.Flag('#') { // byte is a name of Go's source alone
		w.str("[]uint8" + strings.TrimPrefix(fmt.Sprintf("%#v", v.Interface()), "[]byte"))
		return
	}
	w.leaf(v.Interface())
}

var bytesType = reflect.TypeFor[[]byte]()

func address(p uintptr) string { return "0x" + strconv.FormatUint(uint64(p), 16) }

// name writes the type of a value.
func (w *printer) name(t *typ, v reflect.Value) string {
	if t != nil {
		return w.r.in.machine.types.name(t.t)
	}
	return w.r.typeName(v.Type())
}

func (w *printer) pointer(t *typ, v reflect.Value, sharp bool, depth int, methods bool) {
	if t != nil && t.rt == funcType {
		switch {
		case v.IsNil() && sharp:
			w.str("(" + w.name(t, v) + ")(nil)")
		case v.IsNil():
			w.str("<nil>")
		case sharp:
			w.str("(" + w.name(t, v) + ")(" + address(v.Pointer()) + ")")
		default:
			w.str(address(v.Pointer()))
		}
		return
	}
	if v.Kind() == reflect.Pointer && depth == 0 && !v.IsNil() && (w.verb == 'v' || w.verb == 's' || w.verb == 'd' || w.verb == 'q' || w.verb == 'x') {
		switch e := v.Elem(); e.Kind() {
		case reflect.Array, reflect.Slice, reflect.Struct, reflect.Map:
			w.str("&")
			var et *typ
			if t != nil {
				if p, ok := t.u.(*types.Pointer); ok {
					et = w.of(p.Elem())
				}
			}
			w.value(et, e, depth+1, methods)
			return
		}
	}
	if sharp {
		if v.Pointer() == 0 {
			w.str("(" + w.name(t, v) + ")(nil)")
		} else {
			w.str("(" + w.name(t, v) + ")(" + address(v.Pointer()) + ")")
		}
		return
	}
	if v.Pointer() == 0 {
		if w.verb == 'v' {
			w.str("<nil>")
		} else {
			w.str("%!" + string(w.verb) + "(" + w.name(t, v) + "=<nil>)")
		}
		return
	}
	switch w.verb {
	case 'v', 'p', 's':
		w.str(address(v.Pointer()))
	default:
		w.leaf(v.Pointer())
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
func (w *printer) methods(t *typ, v reflect.Value) bool {
	m := w.r.in.machine
	if t.plain {
		return false
	}
	x := any(box{t.id, nil})
	has := func(name string) bool { return m.hasMethod(t, name) }
	value := func() any { x = m.iface(t, v.Addr().UnsafePointer()); return x }
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	if has("Format") {
		if _, ok := w.r.in.callAny(value(), "Format", w.f, w.verb); ok {
			return true
		}
	}
	if w.f.Flag('#') && w.verb == 'v' {
		if has("GoString") {
			text, ok := w.r.in.callText(value(), "GoString")
			w.str(text)
			return ok
		}
		return false
	}
	if !strings.ContainsRune("vsxXq", w.verb) {
		return false
	}
	for _, name := range [...]string{"Error", "String"} {
		if !has(name) {
			continue
		}
		value()
		if nilPointer(v) {
			if text, ok := w.nilCall(x, name); ok {
				w.leaf(text)
			} else {
				w.str("<nil>")
			}
			return true
		}
		text, ok := w.guarded(x, name)
		if ok {
			w.leaf(text)
		}
		return true
	}
	return false
}

// guarded calls a method; a panic there is written as fmt does.
func (w *printer) guarded(x any, name string) (text string, ok bool) {
	st := w.r.in.stacks.current()
	depth := 0
	if st != nil {
		depth = st.depth
	}
	defer func() {
		if r := recover(); r != nil {
			if st != nil {
				st.depth = depth
				st.snap = nil
			}
			w.str("%!" + string(w.verb) + "(PANIC=" + name + " method: " + fmt.Sprint(w.r.operands([]any{w.r.plainPanic(r)})...) + ")")
			ok = false
		}
	}()
	return w.r.in.callText(x, name)
}

func nilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

// nilCall calls a method of a nil pointer; a panic there is written as <nil>.
func (w *printer) nilCall(x any, name string) (text string, ok bool) {
	st := w.r.in.stacks.current()
	depth := 0
	if st != nil {
		depth = st.depth
	}
	defer func() {
		if recover() != nil {
			if st != nil {
				st.depth = depth
				st.snap = nil
			}
			ok = false
		}
	}()
	return w.r.in.callText(x, name)
}

func (w *printer) structure(t *typ, v reflect.Value, sharp bool, depth int, methods bool) {
	if sharp {
		w.str(w.name(t, v))
	}
	w.str("{")
	var u *types.Struct
	n := v.NumField()
	if t != nil {
		u, _ = t.u.(*types.Struct)
		if u != nil {
			n = u.NumFields()
		}
	}
	for i := range n {
		if i > 0 {
			if sharp {
				w.str(", ")
			} else {
				w.str(" ")
			}
		}
		f := v.Type().Field(i)
		name, exported := f.Name, f.IsExported()
		var ft *typ
		if u != nil {
			name, exported = u.Field(i).Name(), u.Field(i).Exported()
			ft = w.of(u.Field(i).Type())
		}
		if sharp || w.f.Flag('+') {
			w.str(name + ":")
		}
		w.value(ft, v.Field(i), depth+1, methods && exported)
	}
	w.str("}")
}

func (w *printer) mapping(t *typ, v reflect.Value, sharp bool, depth int, methods bool) {
	if sharp {
		w.str(w.name(t, v))
		if v.IsNil() {
			w.str("(nil)")
			return
		}
		w.str("{")
	} else {
		w.str("map[")
	}
	var kt, et *typ
	if t != nil {
		if u, ok := t.u.(*types.Map); ok {
			kt, et = w.of(u.Key()), w.of(u.Elem())
		}
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
		w.value(kt, addressable(k), depth+1, methods)
		w.str(":")
		w.value(et, addressable(v.MapIndex(k)), depth+1, methods)
	}
	if sharp {
		w.str("}")
	} else {
		w.str("]")
	}
}

// addressable gives a copy whose unexported fields can be read.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// lessKey orders map keys as fmt does.
func lessKey(a, b reflect.Value) bool { return compareKeys(a, b) < 0 }

func compareKeys(a, b reflect.Value) int {
	a, b = inside(a), inside(b)
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

// inside gives the value in an interface or box.
func inside(v reflect.Value) reflect.Value {
	for v.IsValid() {
		switch {
		case v.Kind() == reflect.Interface && !v.IsNil():
			v = v.Elem()
		case v.Type() == boxType:
			v = v.Field(1)
		default:
			return v
		}
	}
	return v
}

var boxType = reflect.TypeFor[box]()

func (w *printer) list(t *typ, v reflect.Value, sharp bool, depth int, methods bool) {
	var et *typ
	if t != nil {
		switch u := t.u.(type) {
		case *types.Slice:
			et = w.of(u.Elem())
		case *types.Array:
			et = w.of(u.Elem())
		}
	}
	if v.Type().Elem().Kind() == reflect.Uint8 { // bytes, also those of a type with methods
		switch w.verb {
		case 's', 'q', 'x', 'X':
			if v.Kind() == reflect.Array {
				v = addressable(v).Slice(0, v.Len())
			}
			w.leaf(v.Bytes())
			return
		}
	}
	if sharp {
		w.str(w.name(t, v))
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
		w.value(et, v.Index(i), depth+1, methods)
	}
	if sharp {
		w.str("}")
	} else {
		w.str("]")
	}
}
