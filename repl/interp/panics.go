package interp

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// A goError is a run-time error of a cell with the text that Go gives it. The
// interpreter's own come from package reflect.
type goError struct{ text string }

func (e goError) Error() string { return e.text }

// RuntimeError makes a goError a runtime.Error.
func (goError) RuntimeError() {}

var _ runtime.Error = goError{}

// panicTexts leads from the beginnings of what package reflect and the run time
// say when the interpreter breaks a rule of theirs to what Go says. The first
// row whose prefix fits counts.
var panicTexts = [...]struct{ prefix, text string }{
	{"reflect: slice index out of range", "runtime error: index out of range"},
	{"reflect: array index out of range", "runtime error: index out of range"},
	{"reflect: string index out of range", "runtime error: index out of range"},
	{"reflect.Value.Slice: slice index out of bounds", "runtime error: slice bounds out of range"},
	{"reflect.Value.Slice3: slice index out of bounds", "runtime error: slice bounds out of range"},
	{"reflect.Value.Slice: string slice index out of bounds", "runtime error: slice bounds out of range"},
	{"reflect: call of ", nilDereference}, // of a method on the zero Value
	{"reflect: Call using zero Value argument", nilDereference},
	{"reflect: Method on nil interface value", nilDereference},
	{"reflect.Value.Call: call of nil function", nilDereference},
	{"reflect: slice index", "runtime error: index out of range"},
	{"reflect.MakeSlice: negative len", "runtime error: makeslice: len out of range"},
	{"reflect.MakeSlice: negative cap", "runtime error: makeslice: cap out of range"},
	{"reflect.MakeSlice: len > cap", "runtime error: makeslice: cap out of range"},
	{"runtime: allocation size out of range", "runtime error: makeslice: len out of range"},
	{"reflect.MakeChan: negative buffer size", "makechan: size out of range"},
	{"makechan: size out of range", "makechan: size out of range"},
}

const nilDereference = "runtime error: invalid memory address or nil pointer dereference"

// plainPanic gives what a cell panicked with: a value of an interface, or an
// error of Go.
func (r *registry) plainPanic(v any) any {
	switch e := v.(type) {
	case cellPanic:
		return r.in.unwrapGo(e.v)
	case nil:
		return &runtime.PanicNilError{}
	case string:
		for _, row := range panicTexts {
			if strings.HasPrefix(e, row.prefix) {
				return goError{row.text}
			}
		}
	case runtime.Error:
		text := e.Error()
		for _, row := range panicTexts {
			if strings.HasPrefix(text, row.prefix) {
				return goError{row.text}
			}
		}
		if rest, ok := strings.CutPrefix(text, "runtime error: hash of unhashable type "); ok {
			return goError{"runtime error: hash of unhashable type " + r.userTypes(rest)}
		}
		if t := r.userTypes(text); t != text {
			return goError{t}
		}
	}
	return v
}

// panicText writes a panic's value as Go does when a program dies. A value that
// Go would only give the address of is written as Go syntax.
func (r *registry) panicText(v any) (text string) {
	defer func() { // a method of the value panics
		if recover() != nil {
			text = fmt.Sprintf("(%s)", r.nameOf(v))
		}
	}()
	v = r.in.unwrapGo(v)
	if v == nil {
		return "nil"
	}
	if b, ok := v.(box); ok {
		t := r.in.machine.types.byID(b.ID)
		for _, name := range [...]string{"Error", "String"} {
			if r.in.machine.hasMethod(t, name) {
				if s, ok := r.in.callText(v, name); ok {
					return indented(s)
				}
			}
		}
	}
	switch v := v.(type) {
	case error:
		return indented(v.Error())
	case fmt.Stringer:
		return indented(v.String())
	}
	name := r.nameOf(v)
	u := reflect.ValueOf(unwrap(v))
	switch k := u.Kind(); {
	case k == reflect.String && name == "string":
		return indented(u.String())
	case k == reflect.String:
		return fmt.Sprintf("%s(\"%s\")", name, indented(u.String()))
	case k <= reflect.Complex128:
		if plain := plainValue(u); name != fmt.Sprintf("%T", plain) {
			return fmt.Sprintf("%s(%v)", name, plain)
		} else {
			return fmt.Sprint(plain)
		}
	}
	return indented(fmt.Sprintf("%#v", r.operands([]any{v})[0]))
}

// indented puts a tab before every line but the first, as Go does.
func indented(s string) string { return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n\t") }
