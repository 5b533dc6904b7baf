package interp

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
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

// arrayConversion is a slice that is too short for an array; Go has one text for
// the array and the pointer to it.
var arrayConversion = regexp.MustCompile(`^reflect: cannot convert slice with length (\d+) to (?:pointer to )?array with length (\d+)$`)

// noAssert panics as a failed assertion does: from is the interface's name, to
// the type that was asked for, methods its methods when it is an interface.
func (in *Interp) noAssert(x any, from, to, methods string) {
	name := in.registry.nameOf(x)
	switch {
	case x == nil && methods != "":
		panic(goError{"interface conversion: interface is nil, not " + to})
	case x == nil:
		panic(goError{"interface conversion: " + from + " is nil, not " + to})
	case methods != "":
		panic(goError{"interface conversion: " + name + " is not " + to + ": missing method " + in.registry.missing(x, methods)})
	}
	panic(goError{"interface conversion: " + from + " is " + name + ", not " + to})
}

// badIndex panics as Go does for an index outside of a sequence of n elements.
// Like the other bad functions it has a result only to stand in a condition.
func badIndex(i any, n int) bool {
	if text, negative := indexText(i); negative {
		panic(goError{"runtime error: index out of range [" + text + "]"})
	} else {
		panic(goError{fmt.Sprintf("runtime error: index out of range [%s] with length %d", text, n)})
	}
}

// indexText writes an index of any integer type.
func indexText(i any) (text string, negative bool) {
	v := reflect.ValueOf(i)
	if v.CanUint() {
		return strconv.FormatUint(v.Uint(), 10), false
	}
	return strconv.FormatInt(v.Int(), 10), v.Int() < 0
}

// badSlice panics as Go does for bound number at (0, 1, 2) of a slice expression
// with two or three bounds: it is larger than limit, which is the capacity or
// the length of what is sliced, or the bound behind it (kind order).
func badSlice(bounds, at int, kind string, i any, limit int) bool {
	text, negative := indexText(i)
	parts := make([]string, bounds)
	parts[at] = text
	where := ""
	if !negative {
		if kind == "order" {
			if at+1 < bounds {
				parts[at+1] = strconv.Itoa(limit)
			}
		} else {
			where = fmt.Sprintf(" with %s %d", kind, limit)
		}
	}
	panic(goError{"runtime error: slice bounds out of range [" + strings.Join(parts, ":") + "]" + where})
}

// badShift panics as Go does for a negative shift count.
func badShift() bool { panic(goError{"runtime error: negative shift amount"}) }

// positionPrefix is what the interpreter puts before some texts.
var positionPrefix = regexp.MustCompile(`^cell\[\d+\]:\d+:\d+: `)

// plainPanic gives the Go value of what the interpreter panicked with.
func (r *registry) plainPanic(v any) any {
	if rv, ok := v.(reflect.Value); ok {
		if !rv.IsValid() {
			return &runtime.PanicNilError{}
		}
		v = rv.Interface()
	}
	text := ""
	var ve *reflect.ValueError
	var re runtime.Error
	switch e := v.(type) {
	case nil:
		return &runtime.PanicNilError{}
	case string:
		text = e
	case *runtime.PanicNilError, goError:
		return v
	case error:
		if errors.As(e, &ve) || errors.As(e, &re) || reflect.TypeOf(e).String() == "*interp.cfgError" {
			text = e.Error()
		}
	}
	if loc := positionPrefix.FindString(text); loc != "" {
		return goError{r.userTypes(text[len(loc):])}
	}
	if m := arrayConversion.FindStringSubmatch(text); m != nil {
		return goError{"runtime error: cannot convert slice with length " + m[1] + " to array or pointer to array with length " + m[2]}
	}
	for _, row := range panicTexts {
		if strings.HasPrefix(text, row.prefix) {
			return goError{row.text}
		}
	}
	if rest, ok := strings.CutPrefix(text, "hash of unhashable type: "); ok {
		return goError{"runtime error: hash of unhashable type " + r.userTypes(rest)}
	}
	if re != nil {
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
	u := reflect.ValueOf(unwrap(v))
	if !u.IsValid() {
		return "nil"
	}
	for _, method := range [...]string{"Error", "String"} {
		if out, ok := r.call(u, method); ok && len(out) == 1 && out[0].Kind() == reflect.String {
			return indented(out[0].String())
		}
	}
	switch v := v.(type) {
	case error:
		return indented(v.Error())
	case fmt.Stringer:
		return indented(v.String())
	}
	name := r.nameOf(v)
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
	return indented(fmt.Sprintf("%#v", printed{r, u}))
}

// indented puts a tab before every line but the first, as Go does.
func indented(s string) string { return strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n\t") }
