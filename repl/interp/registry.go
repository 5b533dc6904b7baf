package interp

import (
	"go/types"
	"reflect"
	"strconv"
	"strings"

	"github.com/tpush/tpush/repl/cell"
)

// A registry answers what native code must know of the types of cells.
type registry struct{ in *Interp }

// typOf gives the cell's type of a Go type: of a struct by the tag of its first
// field, of a stand-in by itself, of a pointer to these. It is nil for others.
func (r *registry) typOf(t reflect.Type) *typ {
	if t == nil {
		return nil
	}
	tt := r.in.machine.types
	switch {
	case t.Kind() == reflect.Struct && t.Name() == "" && t.NumField() > 0:
		if tag, ok := t.Field(0).Tag.Lookup(cell.TypeTag); ok {
			if id, err := strconv.Atoi(tag); err == nil {
				return tt.byID(id)
			}
		}
	case t.Kind() == reflect.Pointer && t.Name() == "":
		if e := r.typOf(t.Elem()); e != nil {
			return tt.of(types.NewPointer(e.t))
		}
	case strings.HasPrefix(t.Name(), "standIn"):
		return tt.standInOf(t)
	}
	return nil
}

// boxed gives a value of a cell's type as interfaces hold it.
func (r *registry) boxed(v reflect.Value) any {
	t := r.typOf(v.Type())
	if t == nil {
		return v.Interface()
	}
	return box{t.id, v.Interface()}
}

// typeName writes a type as Go's %T does.
func (r *registry) typeName(t reflect.Type) string {
	if t == nil {
		return "<nil>"
	}
	if x := r.typOf(t); x != nil {
		return r.in.machine.types.name(x.t)
	}
	if t.Name() != "" {
		return t.String()
	}
	switch t.Kind() {
	case reflect.Pointer:
		if t == funcType {
			return "func"
		}
		return "*" + r.typeName(t.Elem())
	case reflect.Slice:
		return "[]" + r.typeName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + r.typeName(t.Elem())
	case reflect.Map:
		return "map[" + r.typeName(t.Key()) + "]" + r.typeName(t.Elem())
	case reflect.Chan:
		return strings.TrimSuffix(t.String(), t.Elem().String()) + r.typeName(t.Elem())
	case reflect.Struct:
		if t.NumField() == 0 {
			return "struct {}"
		}
		var b strings.Builder
		b.WriteString("struct {")
		for i := range t.NumField() {
			if i > 0 {
				b.WriteString(";")
			}
			b.WriteString(" " + t.Field(i).Name + " " + r.typeName(t.Field(i).Type))
		}
		return b.String() + " }"
	}
	return t.String()
}

// nameOf is the name of a value's type.
func (r *registry) nameOf(x any) string { return r.in.machine.nameOf(r.in.unwrapGo(x)) }

// A goWrapper is a native form of a cell's value.
type goWrapper interface{ cellValue() any }

// unwrapGo gives the cell's value of which native code got another form; any
// other value is given back.
func (in *Interp) unwrapGo(x any) any {
	switch e := x.(type) {
	case goWrapper:
		return e.cellValue()
	case nil, box, int, string, bool, float64:
		return x
	}
	t := reflect.TypeOf(x)
	if t.Kind() == reflect.Struct && strings.HasPrefix(t.Name(), "_") && t.NumField() > 0 && t.Field(0).Name == "IValue" {
		if b, ok := reflect.ValueOf(x).Field(0).Interface().(box); ok {
			return b
		}
	}
	if in.registry.typOf(t) != nil {
		return in.registry.boxed(reflect.ValueOf(x))
	}
	return x
}

// unwrap gives the memory's value of a box.
func unwrap(x any) any {
	if w, ok := x.(goWrapper); ok {
		x = w.cellValue()
	}
	if b, ok := x.(box); ok {
		return b.V
	}
	return x
}

// A cellError makes a value of a cell's type with an Error method an error.
type cellError struct {
	in *Interp
	x  any
}

func (e *cellError) cellValue() any { return e.x }

func (e *cellError) Error() string {
	s, _ := e.in.callText(e.x, "Error")
	return s
}

// Unwrap, Is and As lead package errors to the cell's methods.
func (e *cellError) Unwrap() error { return e.in.registry.next(e.x) }

// Is asks the value's own Is method.
func (e *cellError) Is(target error) bool {
	return e.in.registry.is(e.x, e.in.unwrapGo(target))
}

func (s *cellStringer) cellValue() any { return s.x }

// asError makes a native error of an interface's value.
func (in *Interp) asError(x any) error {
	switch e := x.(type) {
	case nil:
		return nil
	case error:
		return e
	}
	return &cellError{in, x}
}
