package interp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tpush/tpush/repl/cell"
)

// A session runs cells in order.
type session struct {
	t    testing.TB
	in   *Interp
	out  bytes.Buffer
	n    int
	last Result
}

func newSession(t testing.TB, o Options) *session {
	s := &session{t: t}
	if o.Stdout == nil {
		o.Stdout = &s.out
	}
	in, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.in = in
	return s
}

func (s *session) try(src string) (Result, error) {
	s.n++
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return s.in.Run(ctx, Source{Cell: s.n, Text: src})
}

// show runs a cell and writes its values or its error as text.
func (s *session) show(src string) string {
	res, err := s.try(src)
	s.last = res
	if err != nil {
		var c *cell.CompileError
		if errors.As(err, &c) {
			return "error: " + strings.ReplaceAll(c.Error(), "\n", "; ")
		}
		return "error: " + err.Error()
	}
	var out []string
	for _, v := range res.Values {
		out = append(out, fmt.Sprintf("%v (%s)", v.Value, v.Type))
	}
	return strings.Join(out, ", ")
}

func TestSession(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cells []string // source, then what it shows, and so on
	}{
		{"value", []string{"x := 1; x + 1", "2 (int)"}},
		{"quiet", []string{"x := 1; x + 1;", ""}},
		{"functions", []string{"func f(a int) int { return a * 2 }\nf(21)", "42 (int)", "f(f(1))", "4 (int)"}},
		{"redefine variable", []string{"x := 1", "", "func f() int { return x }", "", "x := 2", "", "f()", "2 (int)", "x := \"a\"", "", "f()", "2 (int)", "x", "a (string)"}},
		{"old value on the right", []string{"x := 1", "", "x := x + 1; x", "2 (int)", "x := fmt.Sprint(x, \"!\"); x", "2! (string)"}},
		{"twice in a cell", []string{"x := 1; x := \"a\"; x", "a (string)"}},
		{"function sees the cell's last word", []string{"n := 3\nfunc f() int { return n }\nf()", "3 (int)"}},
		{"redefine function", []string{"func f() int { return 1 }", "", "func g() int { return f() + 10 }", "", "func f() int { return 2 }", "", "g()", "12 (int)"}},
		{"redefine with another signature", []string{"func f() int { return 1 }", "", "func g() int { return f() + 10 }", "", "func f(a int) int { return a }", "", "g()", "11 (int)"}},
		{"redefine constant", []string{"const k = 1", "", "func g() int { return k }", "", "const k = 2", "", "g()", "2 (int)"}},
		{"method later", []string{"type P struct{ X int }", "", "func (p *P) Inc() { p.X++ }\np := P{1}\np.Inc()\np.X", "2 (int)", "p.Inc(); p.X", "3 (int)"}},
		{"redefine method", []string{"type P struct{ X int }\nfunc (p P) Get() int { return p.X }", "", "p := P{1}\nfunc get() int { return p.Get() }", "", "func (p P) Get() int { return p.X + 100 }", "", "p.Get(), get()", "error: 1:1: expected 1 expression", "get()", "101 (int)"}},
		{"several results", []string{"func f() (int, string) { return 1, \"a\" }\nf()", "1 (int), a (string)"}},
		{"void", []string{"func f() {}\nf()", ""}},
		{"print", []string{"fmt.Sprint(1)", "1 (string)", "fmt.Println(1)", ""}},
		{"results", []string{"1 + 1", "2 (int)", "_1 + 1", "3 (int)", "ans * 2", "6 (int)"}},
		{"undefined", []string{"y := nope", "error: 1:6: undefined: nope", "y", "error: 1:1: undefined: y"}},
		{"all errors", []string{"a := 1\nb := nope\nvar c string = a", "error: 2:6: undefined: nope; 3:16: cannot use a (variable of type int) as string value in variable declaration"}},
		{"used before", []string{"y := x; x := 1", "error: 1:6: undefined: x"}},
		{"syntax", []string{"x := 1\ny := )", "error: 2:6: expected operand, found ')'"}},
		{"syntax at the end", []string{"1 +", "error: 1:4: expected operand, found the end of the cell", "x := 1\ny := // later\n\n", "error: 2:14: expected operand, found the end of the cell", "func f() {}\nx := 1 *", "error: 2:9: expected operand, found the end of the cell", "x := }", "error: 1:6: unexpected }"}},
		{"import", []string{"import \"strings\"\nstrings.ToUpper(\"a\")", "A (string)", "strings.Repeat(\"a\", 3)", "aaa (string)"}},
		{"import unknown", []string{"import \"net/http\"", "error: 1:8: package \"net/http\" is not available in cells; the nearest is \"net/url\""}},
		{"type again", []string{"type P struct{ X int }\np := P{1}", "", "type P struct{ X int }\np.X", "1 (int)", "type P struct{ Y int }\nq := P{2}\nq.Y + p.X", "3 (int)"}},
		{"failed cell", []string{"x := 1", "", "x := \"a\"; panic(\"boom\"); y := 1", "error: panic: boom", "x", "a (string)", "y", "error: 1:1: undefined: y"}},
		{"return", []string{"x := 1\nif x > 0 { return }\nx = 2", "", "x", "1 (int)"}},
		{"program", []string{"package main\nimport \"fmt\"\nfunc main() { fmt.Print(\"hi\") }", ""}},
		{"unnamed parameters", []string{"func f(int, string) string { x := \"a\"; return x }\nf(1, \"b\")", "a (string)"}},
		{"nil", []string{"nil", "<nil> (untyped nil)"}},
		{"comma ok", []string{"m := map[string]int{\"a\": 1}\nv, ok := m[\"a\"]\nok", "true (bool)"}},
		{"map key variable", []string{"k := 3\nk := \"s\"\nm := map[string]int{k: 1}\nm[\"s\"]", "1 (int)"}},
		{"field name", []string{"type P struct{ X int }", "", "X := 1; X := \"s\"; p := P{X: 5}; p.X", "5 (int)"}},
		{"members named as variables", []string{"x := 1", "", "g := struct{ x int }{3}\ng.x", "3 (int)", "f := func(x int) (y int) { return x + 1 }\nf(x)", "2 (int)", "var i interface{ x() int }\ni == nil", "true (bool)"}},
		{"goto", []string{"i := 0\nL:\ni++\nif i < 3 { goto L }\ni", "3 (int)"}},
		{"defer at the top", []string{"defer fmt.Print(\"end\")\n1", "1 (int)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t, Options{})
			for i := 0; i < len(tt.cells); i += 2 {
				if got := s.show(tt.cells[i]); got != tt.cells[i+1] {
					t.Errorf("%s\n got %s\nwant %s", tt.cells[i], got, tt.cells[i+1])
				}
			}
		})
	}
}
