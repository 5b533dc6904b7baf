package interp

import (
	"errors"
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
		if errors.As(e, &ve) {
			text = ve.Error()
		}
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
