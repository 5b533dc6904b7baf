package interp

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
)

// A typeInfo is what native code must know of a named type of a cell.
type typeInfo struct {
	name    string
	fields  []string // of a struct, as written
	methods map[string]method
	has     map[string]bool // all its methods; a value, not only a pointer, has it
}

// A method is one that native code may call.
type method struct {
	fn      reflect.Value // of a pointer to the receiver
	byValue bool          // a plain value has it, too
}

// A registry knows the named types of a session.
type registry struct {
	mu    sync.RWMutex
	byID  map[int]*typeInfo
	types map[reflect.Type]*typeInfo
	holds map[reflect.Type]bool // whether printing needs the registry
}

func newRegistry() *registry {
	return &registry{byID: map[int]*typeInfo{}, types: map[reflect.Type]*typeInfo{}, holds: map[reflect.Type]bool{}}
}

// declare notes a type; nilPointer is a nil pointer to it.
func (r *registry) declare(id int, name, fields string, nilPointer any) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	info := &typeInfo{name: name, methods: map[string]method{}, has: map[string]bool{}}
	if fields != "" {
		info.fields = strings.Split(fields, " ")
	}
	r.byID[id] = info
	if nilPointer != nil { // nil for a type inside a function, which its tag tells
		r.types[reflect.TypeOf(nilPointer).Elem()] = info
	}
	clear(r.holds)
	return 0
}

func (r *registry) addMethod(id int, name string, byValue bool, fn any) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if info := r.byID[id]; info != nil {
		info.methods[name] = method{reflect.ValueOf(fn), byValue}
	}
	return 0
}

// addMethods notes the methods of a type by name, * before those of a pointer.
func (r *registry) addMethods(id int, names string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if info := r.byID[id]; info != nil {
		for _, n := range strings.Fields(names) {
			n, pointer := strings.CutPrefix(n, "*")
			info.has[n] = !pointer
		}
	}
	return 0
}

// missing gives the first of the methods that a value does not have.
func (r *registry) missing(x any, methods string) string {
	t := reflect.TypeOf(unwrap(x))
	elem, pointer := t, false
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		elem, pointer = t.Elem(), true
	}
	info := r.info(elem)
	for _, m := range strings.Fields(methods) {
		if info == nil {
			if _, ok := t.MethodByName(m); !ok {
				return m
			}
		} else if byValue, ok := info.has[m]; !ok || !byValue && !pointer {
			return m
		}
	}
	return methods
}

// info gives what is known of a type, nil if it is none of a cell.
func (r *registry) info(t reflect.Type) *typeInfo {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := r.types[t]; i != nil {
		return i
	}
	// A type that refers to itself can have several forms: the tag tells.
	if t.Kind() == reflect.Struct && t.Name() == "" && t.NumField() > 0 {
		if tag, ok := t.Field(0).Tag.Lookup(cell.TypeTag); ok {
			if id, err := strconv.Atoi(tag); err == nil {
				return r.byID[id]
			}
		}
	}
	return nil
}

// call calls a method of a value of a cell's type, if it has it. A value that
// is no pointer is copied.
func (r *registry) call(v reflect.Value, name string, args ...reflect.Value) ([]reflect.Value, bool) {
	t := v.Type()
	pointer := false
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t, pointer = t.Elem(), true
	}
	info := r.info(t)
	if info == nil {
		return nil, false
	}
	r.mu.RLock()
	m, ok := info.methods[name]
	r.mu.RUnlock()
	if !ok || !pointer && !m.byValue {
		return nil, false
	}
	recv := v
	if !pointer {
		recv = reflect.New(t)
		recv.Elem().Set(v)
	}
	want := m.fn.Type().In(0)
	if recv.Type() != want {
		if !recv.CanConvert(want) {
			return nil, false
		}
		recv = recv.Convert(want)
	}
	return m.fn.Call(append([]reflect.Value{recv}, args...)), true
}

// unwrap gives the value inside the struct with which the interpreter makes a
// cell's value a native interface; any other value is given back.
func unwrap(x any) any {
	switch e := x.(type) {
	case *cellError:
		return e.v.Interface()
	case printedError:
		return unwrap(e.err)
	}
	t := reflect.TypeOf(x)
	if t != nil && t.String() == "interp.valueInterface" {
		return unwrap(interpreted(x))
	}
	if t == nil || t.Kind() != reflect.Struct || !strings.HasPrefix(t.Name(), "_") {
		return x
	}
	if f, ok := t.FieldByName("IValue"); ok && f.Index[0] == 0 {
		if v := reflect.ValueOf(x).Field(0).Interface(); ofCell(reflect.TypeOf(v)) {
			return unwrap(v)
		}
	}
	return x
}

// ofCell tells whether a type can be one of a cell: of a plain struct the
// interpreter wraps a field instead of the whole, which then stays wrapped.
func ofCell(t reflect.Type) bool {
	if t == nil {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer:
		return true
	case reflect.Struct:
		if t.NumField() == 0 {
			return false
		}
		_, ok := t.Field(0).Tag.Lookup(cell.TypeTag)
		return ok || t.String() == "interp.valueInterface"
	}
	return strings.HasPrefix(t.Name(), "standIn")
}

// asError makes a native error of a value of a cell's struct type.
func (r *registry) asError(x any) error {
	if x == nil {
		return nil
	}
	return &cellError{r, reflect.ValueOf(unwrap(x)), ""}
}

// interpreted gives the value in the interpreter's own form of an interface: a
// node, and the value as a reflect.Value.
func interpreted(x any) any {
	v := reflect.ValueOf(x)
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	f := p.FieldByName("value")
	if f.Type() != reflect.TypeFor[reflect.Value]() {
		return nil
	}
	inner := *(*reflect.Value)(unsafe.Pointer(f.UnsafeAddr()))
	if !inner.IsValid() {
		return nil
	}
	return inner.Interface()
}

// equal is == on interface values.
func equal(x, y any) bool { return unwrap(x) == unwrap(y) }

// native tells whether a value is of no cell's type.
func (in *Interp) native(x any) bool {
	if x == nil {
		return false
	}
	t := reflect.TypeOf(unwrap(x))
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return in.registry.info(t) == nil
}

// typeName writes a type as Go's %T does.
func (r *registry) typeName(t reflect.Type) string {
	if t == nil {
		return "<nil>"
	}
	if i := r.info(t); i != nil {
		return "main." + i.name
	}
	if t.Name() != "" {
		return t.String()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + r.typeName(t.Elem())
	case reflect.Slice:
		return "[]" + r.typeName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + r.typeName(t.Elem())
	case reflect.Map:
		return "map[" + r.typeName(t.Key()) + "]" + r.typeName(t.Elem())
	case reflect.Chan:
		return strings.TrimSuffix(t.String(), t.Elem().String()) + r.typeName(t.Elem())
	case reflect.Func:
		var b strings.Builder
		b.WriteString("func(")
		for i := range t.NumIn() {
			if i > 0 {
				b.WriteString(", ")
			}
			if t.IsVariadic() && i == t.NumIn()-1 {
				b.WriteString("..." + r.typeName(t.In(i).Elem()))
				continue
			}
			b.WriteString(r.typeName(t.In(i)))
		}
		b.WriteString(")")
		if n := t.NumOut(); n > 1 {
			b.WriteString(" (")
			for i := range n {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(r.typeName(t.Out(i)))
			}
			b.WriteString(")")
		} else if n == 1 {
			b.WriteString(" " + r.typeName(t.Out(0)))
		}
		return b.String()
	case reflect.Struct:
		if t.NumField() == 0 {
			return "struct {}"
		}
		var b strings.Builder
		b.WriteString("struct {")
		for i := range t.NumField() {
			f := t.Field(i)
			if i > 0 {
				b.WriteString(";")
			}
			b.WriteString(" " + r.fieldName(nil, t, i) + " " + r.typeName(f.Type))
		}
		return b.String() + " }"
	}
	return t.String()
}

// nameOf is typeName of a value's type.
func (r *registry) nameOf(x any) string { return r.typeName(reflect.TypeOf(unwrap(x))) }

// fieldName gives a field's name as written: the interpreter puts an X before
// unexported ones.
func (r *registry) fieldName(info *typeInfo, t reflect.Type, i int) string {
	if info != nil && i < len(info.fields) {
		return info.fields[i]
	}
	n := t.Field(i).Name
	if len(n) > 1 && n[0] == 'X' && (n[1] >= 'a' && n[1] <= 'z' || n[1] == '_') && t.Name() == "" {
		return n[1:]
	}
	return n
}

// needed tells whether values of a type print otherwise than the fmt package
// alone would do: it can hold a value of a cell's type.
func (r *registry) needed(t reflect.Type) bool {
	if t == nil {
		return false
	}
	r.mu.RLock()
	h, ok := r.holds[t]
	r.mu.RUnlock()
	if ok {
		return h
	}
	h = r.look(t, map[reflect.Type]bool{})
	r.mu.Lock()
	r.holds[t] = h
	r.mu.Unlock()
	return h
}

func (r *registry) look(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if r.info(t) != nil {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.Name() == "" && r.look(t.Elem(), seen)
	case reflect.Map:
		return t.Name() == "" && (r.look(t.Key(), seen) || r.look(t.Elem(), seen))
	case reflect.Struct:
		return t.Name() == ""
	}
	return false
}
