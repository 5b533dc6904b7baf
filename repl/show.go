package repl

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/tpu"
)

// Format prints a value as it stands after Out[n]: 42  int. Strings are quoted,
// maps are in key order, what is too long for a line takes one line an element,
// and what is too long altogether is cut with the way to see more.
func (s *Session) Format(v interp.Shown) string { return s.format(v, s.set) }

// FormatMore prints a value as Format does, with room for much more of it, or
// for all of it.
func (s *Session) FormatMore(v interp.Shown, all bool) string {
	set := s.set
	set.MaxLines, set.MaxBytes = 10*set.MaxLines, 16*set.MaxBytes
	if all {
		set.MaxLines, set.MaxBytes = math.MaxInt/2, math.MaxInt/2
	}
	return s.format(v, set)
}

func (s *Session) format(v interp.Shown, set Settings) string {
	if t, ok := v.Value.(*tpu.Tensor); ok && t != nil {
		text := t.String()
		s.raiseSwallowed()
		return text
	}
	v.Value = s.in.Plain(v.Value)
	p := &printer{set: set, in: s.in}
	text := p.value(reflect.ValueOf(v.Value), v.Type, 0)
	if err, ok := v.Value.(error); ok && err != nil {
		return "error: " + oneLine(err.Error()) + "  " + v.Type
	}
	if len(text) > set.Width && p.breakable {
		q := &printer{set: set, in: s.in, tall: true, name: v.Name}
		text = q.value(reflect.ValueOf(v.Value), v.Type, 0)
	} else {
		text = cutLines(text, v.Name, set)
	}
	return cutBytes(text, v.Name, set) + typeSuffix(v)
}

// briefBytes is how long Brief is at most.
const briefBytes = 120

// Brief is a value in one short line. It calls no method of a cell, so that
// looking runs none of the user's code.
func (s *Session) Brief(v interp.Shown) string {
	if t, ok := v.Value.(*tpu.Tensor); ok && t != nil {
		return t.Summary()
	}
	v.Value = s.in.Plain(v.Value)
	p := &printer{set: Settings{MaxBytes: briefBytes, MaxLines: 1}, in: s.in, mute: true}
	text := oneLine(p.value(reflect.ValueOf(v.Value), v.Type, 0))
	if len(text) > briefBytes {
		text = strings.ToValidUTF8(text[:briefBytes], "") + "…"
	}
	return text
}

func typeSuffix(v interp.Shown) string {
	if v.Type == "" || v.Type == "untyped nil" || v.Value == nil && v.Type == "error" {
		return ""
	}
	if reflect.ValueOf(v.Value).Kind() == reflect.Struct || reflect.ValueOf(v.Value).Kind() == reflect.Pointer {
		return "" // the type leads the text
	}
	return "  " + v.Type
}

// more is what stands for the rest of a value, with the way to see it.
func more(n int, what, name string) string {
	text := fmt.Sprintf("… %d more%s", n, what)
	if name != "" {
		text += ", :inspect " + name
	}
	return text
}

// cutLines shortens the text that a value gives of itself.
func cutLines(text, name string, set Settings) string {
	lines := strings.Split(text, "\n")
	if n := len(lines) - set.MaxLines; n > 0 {
		return strings.Join(lines[:set.MaxLines], "\n") + "\n" + more(n, " lines", name)
	}
	return text
}

// cutBytes shortens any text.
func cutBytes(text, name string, set Settings) string {
	if n := len(text) - set.MaxBytes; n > 0 {
		return strings.ToValidUTF8(text[:set.MaxBytes], "") + more(n, " bytes", name)
	}
	return text
}

// A printer formats one value.
type printer struct {
	set       Settings
	tall      bool   // one line an element at the top level
	name      string // of the variable that holds the value, "" if none
	breakable bool   // the value has elements
	mute      bool   // calls no method of a cell's types
	in        *interp.Interp
}

// maxDepth stops the printer in values that refer to themselves.
const maxDepth = 8

func (p *printer) value(v reflect.Value, typ string, depth int) string {
	if !v.IsValid() {
		return "nil"
	}
	if depth > maxDepth {
		return "…"
	}
	if v.CanInterface() {
		if v.Kind() == reflect.Struct || v.Kind() == reflect.Interface && !v.IsNil() {
			v = reflect.ValueOf(p.in.Plain(v.Interface()))
		}
		if !p.mute {
			switch text, method := p.text(v); method {
			case "String":
				return text
			case "Error":
				return "error: " + text
			}
		}
		switch x := v.Interface().(type) {
		case *tpu.Tensor:
			if x == nil {
				return "nil"
			}
			return x.Summary()
		case fmt.Stringer:
			if v.Kind() != reflect.Pointer || !v.IsNil() {
				return p.guarded("String", x.String)
			}
		case error:
			return "error: " + p.guarded("Error", x.Error)
		}
	}
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return "[]"
		}
		return p.list("[", "]", " ", v.Len(), depth, func(i int) string { return p.value(v.Index(i), "", depth+1) })
	case reflect.Map:
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return less(keys[i], keys[j]) })
		return p.list("map[", "]", " ", len(keys), depth, func(i int) string {
			return p.value(keys[i], "", depth+1) + ":" + p.value(v.MapIndex(keys[i]), "", depth+1)
		})
	case reflect.Struct:
		name := typ
		if name == "" {
			name = p.in.TypeName(v.Type())
		}
		fields := p.in.FieldNames(v.Type())
		return p.list(strings.TrimPrefix(name, "main.")+"{", "}", ", ", len(fields), depth, func(i int) string {
			return fields[i] + ": " + p.value(v.Field(i), "", depth+1)
		})
	case reflect.Pointer:
		if v.IsNil() {
			return "nil"
		}
		if v.Elem().Kind() == reflect.Struct {
			return "&" + p.value(v.Elem(), strings.TrimPrefix(typ, "*"), depth+1)
		}
		return fmt.Sprintf("%#x", v.Pointer())
	case reflect.Interface:
		return p.value(v.Elem(), "", depth)
	case reflect.Func:
		if v.IsNil() {
			return "nil"
		}
		return "func"
	}
	if v.CanInterface() {
		return fmt.Sprint(v.Interface())
	}
	return fmt.Sprint(v)
}

// text asks the value of a cell's type for its own text.
func (p *printer) text(v reflect.Value) (text, method string) {
	text = p.guarded("String", func() (t string) {
		t, method = p.in.Text(v)
		return t
	})
	if method == "" && text != "" { // it panicked
		method = "String"
	}
	return text, method
}

// guarded calls a method that writes a value; when it panics, that is said in its
// place, as package fmt does.
func (p *printer) guarded(method string, f func() string) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("%%!v(PANIC=%s method: %s)", method, p.in.PanicText(r))
		}
	}()
	return f()
}

// list prints elements between brackets: in one line as far as anybody could see
// it, or one line each, the first MaxLines of them.
func (p *printer) list(open, end, sep string, n, depth int, elem func(int) string) string {
	if depth == 0 && n > 0 {
		p.breakable = true
	}
	var b strings.Builder
	b.WriteString(open)
	if p.tall && depth == 0 {
		for i := range n {
			if i == p.set.MaxLines {
				b.WriteString("\n  " + more(n-i, "", p.name))
				break
			}
			b.WriteString("\n  " + elem(i))
		}
		return b.String() + "\n" + end
	}
	for i := range n {
		if i > 0 {
			b.WriteString(sep)
		}
		if b.Len() > p.set.MaxBytes || p.tall && i >= p.set.MaxLines && b.Len() > p.set.Width {
			b.WriteString(more(n-i, "", ""))
			break
		}
		b.WriteString(elem(i))
	}
	return b.String() + end
}

// less orders map keys as fmt does for the kinds that have an order.
func less(a, b reflect.Value) bool {
	if a.Kind() == reflect.Interface {
		a = a.Elem()
	}
	if b.Kind() == reflect.Interface {
		b = b.Elem()
	}
	if a.Kind() != b.Kind() {
		return a.Kind() < b.Kind()
	}
	switch {
	case a.CanInt():
		return a.Int() < b.Int()
	case a.CanUint():
		return a.Uint() < b.Uint()
	case a.CanFloat():
		return a.Float() < b.Float()
	case a.Kind() == reflect.String:
		return a.String() < b.String()
	}
	return fmt.Sprint(a) < fmt.Sprint(b)
}
