package interp

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
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

// panicTexts leads from the texts of package reflect to Go's. The first row
// whose prefix fits counts.
var panicTexts = [...]struct{ prefix, text string }{
	{"reflect: slice index out of range", "index out of range"},
	{"reflect: array index out of range", "index out of range"},
	{"reflect: string index out of range", "index out of range"},
	{"reflect.Value.Slice: slice index out of bounds", "slice bounds out of range"},
	{"reflect.Value.Slice3: slice index out of bounds", "slice bounds out of range"},
	{"reflect.Value.Slice: string slice index out of bounds", "slice bounds out of range"},
	{"reflect: call of reflect.Value.", "invalid memory address or nil pointer dereference"},
	{"reflect.Value.Call: call of nil function", "invalid memory address or nil pointer dereference"},
	{"reflect: slice index", "index out of range"},
	{"reflect.MakeSlice: negative len", "makeslice: len out of range"},
	{"reflect.MakeSlice: len > cap", "makeslice: cap out of range"},
}

// noAssert panics as a failed assertion does: from is the interface's name, to
// the type that was asked for, missing a method of it when it is an interface.
func (in *Interp) noAssert(x any, from, to, missing string) {
	name := in.registry.nameOf(x)
	switch {
	case x == nil && missing != "":
		panic(goError{"interface conversion: interface is nil, not " + to})
	case x == nil:
		panic(goError{"interface conversion: " + from + " is nil, not " + to})
	case missing != "":
		panic(goError{"interface conversion: " + name + " is not " + to + ": missing method " + missing})
	}
	panic(goError{"interface conversion: " + from + " is " + name + ", not " + to})
}

// badIndex panics as Go does for an index that is too large.
func badIndex(i, n int) {
	panic(goError{fmt.Sprintf("runtime error: index out of range [%d] with length %d", i, n)})
}

// badSlice panics as Go does for the bounds of a slice: kind says of what.
func badSlice(kind string, i, n int) {
	switch kind {
	case "capacity", "length":
		panic(goError{fmt.Sprintf("runtime error: slice bounds out of range [:%d] with %s %d", i, kind, n)})
	}
	panic(goError{fmt.Sprintf("runtime error: slice bounds out of range [%d:%d]", i, n)})
}

// positionPrefix is what the interpreter puts before some texts.
var positionPrefix = regexp.MustCompile(`^cell\[\d+\]:\d+:\d+: `)

// plainPanic gives the Go value of what the interpreter panicked with.
func plainPanic(v any) any {
	if rv, ok := v.(reflect.Value); ok {
		if !rv.IsValid() {
			return &runtime.PanicNilError{}
		}
		v = rv.Interface()
	}
	text := ""
	var ve *reflect.ValueError
	switch e := v.(type) {
	case string:
		text = e
	case error:
		if errors.As(e, &ve) || reflect.TypeOf(e).String() == "*interp.cfgError" {
			text = e.Error()
		}
	}
	if loc := positionPrefix.FindString(text); loc != "" {
		return goError{text[len(loc):]}
	}
	if !strings.HasPrefix(text, "reflect") {
		return v
	}
	for _, row := range panicTexts {
		if strings.HasPrefix(text, row.prefix) {
			return goError{"runtime error: " + row.text}
		}
	}
	return v
}

// panicText writes a panic's value as Go does when a program dies.
func panicText(v any) string {
	switch v := v.(type) {
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	case string:
		return v
	}
	return fmt.Sprint(v)
}
