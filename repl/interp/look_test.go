package interp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestLook(t *testing.T) {
	s := newSession(t, Options{})
	s.show("type P struct{ X, y int }\ntype Day int\nfunc (d Day) String() string { return \"day\" }\ntype E struct{ c int }\nfunc (e *E) Error() string { return \"bad\" }")
	for _, tt := range []struct{ src, typ, fields, text string }{
		{"P{1, 2}", "main.P", "X y", ""},
		{"[]*P{}", "[]*main.P", "", ""},
		{"Day(2)", "main.Day", "", "day String"},
		{"&E{1}", "*main.E", "", "bad Error"},
		{"error(&E{1})", "*main.E", "", "bad Error"},
		{"struct{ A int; b string }{}", "struct { A int; b string }", "A b", ""},
		{"map[Day]P{}", "map[main.Day]main.P", "", ""},
	} {
		res, err := s.try(tt.src)
		if err != nil || len(res.Values) != 1 {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		v := reflect.ValueOf(s.in.Plain(res.Values[0].Value))
		if got := s.in.TypeName(v.Type()); got != tt.typ {
			t.Errorf("%s: type %s, want %s", tt.src, got, tt.typ)
		}
		if v.Kind() == reflect.Struct {
			if got := strings.Join(s.in.FieldNames(v.Type()), " "); got != tt.fields {
				t.Errorf("%s: fields %s, want %s", tt.src, got, tt.fields)
			}
		}
		text, method := s.in.Text(v)
		if got := strings.TrimSpace(fmt.Sprint(text, " ", method)); got != tt.text {
			t.Errorf("%s: text %q, want %q", tt.src, got, tt.text)
		}
	}
}
