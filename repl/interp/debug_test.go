package interp

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl/cell"
)

// A scribe writes down where it is told that cells stand, and evaluates.
type scribe struct {
	in    *Interp
	lines []string
	eval  string // evaluated at each statement
	at    string // only at this place
}

func (w *scribe) Statement(g *Goroutine, s *cell.Site) {
	a, _ := g.Top()
	line := fmt.Sprintf("%d:%d:%d %s", s.Cell, s.Line, s.Column, s.Func)
	if s.Kind == cell.Turn {
		line += " turn"
	}
	for _, l := range a.Locals {
		line += fmt.Sprintf(" %s=%v", l.Name, l.Value())
	}
	if w.eval != "" && w.at == fmt.Sprintf("%d:%d", s.Cell, s.Line) {
		line += " | " + w.evaluate(s, a)
	}
	w.lines = append(w.lines, line)
}

func (w *scribe) evaluate(s *cell.Site, a Activation) string {
	e, err := w.in.CompileEval(w.eval, s.Locals)
	if err != nil {
		return err.Error()
	}
	out, err := e.Run(func(name string) reflect.Value {
		for _, l := range a.Locals {
			if l.Name == name {
				return l.Ptr
			}
		}
		return reflect.Value{}
	})
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, v := range out {
		list = append(list, fmt.Sprint(v.Type, " ", v.Value))
	}
	return strings.Join(list, ", ")
}

func (w *scribe) Left(*Goroutine) {}

func (w *scribe) Returned(*Goroutine, int, func() []Local) {}

func (w *scribe) Raised(g *Goroutine, v any) {
	w.lines = append(w.lines, fmt.Sprintf("raised %v", v))
	for _, a := range g.Frames() {
		line := fmt.Sprintf("  %d:%d:%d %s", a.Site.Cell, a.Site.Line, a.Site.Column, a.Site.Func)
		for _, l := range a.Locals {
			line += fmt.Sprintf(" %s=%v", l.Name, l.Value())
		}
		w.lines = append(w.lines, line)
	}
}

func watched(t *testing.T, eval, at string, cells ...string) string {
	t.Helper()
	s := newSession(t, Options{})
	w := &scribe{in: s.in, eval: eval, at: at}
	s.in.SetWatcher(w)
	for i, c := range cells {
		s.in.Watch(i == len(cells)-1) // the earlier cells ran before the debugger came
		if _, err := s.try(c); err != nil {
			w.lines = append(w.lines, "error "+err.Error())
		}
	}
	return strings.Join(w.lines, "\n")
}

func TestHooks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cells []string
		want  string
	}{
		{"earlier cell, loop", []string{"func sum(n int) int {\n\ts := 0\n\tfor i := 0; i < n; i++ {\n\t\ts += i\n\t}\n\treturn s\n}", "x := sum(2)"},
			"2:1:1 (cell)\n1:2:2 sum n=2\n1:3:2 sum n=2 s=0\n1:4:3 sum n=2 s=0 i=0\n1:3:2 sum turn n=2 s=0 i=1\n1:4:3 sum n=2 s=0 i=1\n1:6:2 sum n=2 s=1"},
		{"closure", []string{"func mk(k int) func(int) int {\n\treturn func(x int) int {\n\t\ty := x * k\n\t\treturn y + 1\n\t}\n}\nf := mk(3)", "f(2)"},
			"2:1:1 (cell)\n1:3:3 mk.func1 k=3 x=2\n1:4:3 mk.func1 k=3 x=2 y=6"},
		{"range over func", []string{"func seq(yield func(int) bool) {\n\tfor i := range 2 {\n\t\tif !yield(i) {\n\t\t\treturn\n\t\t}\n\t}\n}", "func use() (t int) {\n\tfor x := range seq {\n\t\tt += x\n\t}\n\treturn t\n}\nuse()"},
			"2:7:1 (cell)\n2:2:2 use t=0\n1:2:2 seq yield=F\n1:3:3 seq yield=F i=0\n2:3:3 use t=0 x=0\n1:2:2 seq turn yield=F i=1\n1:3:3 seq yield=F i=1\n2:3:3 use t=0 x=1\n2:5:2 use t=1"},
		{"else if, switch, label", []string{"func k(a int) string {\n\tif b := a + 1; b > 9 {\n\t\treturn \"big\"\n\t} else if b == 3 {\n\t\treturn \"three\"\n\t}\n\tswitch {\n\tcase a > 3:\n\t\treturn \"s\"\n\t}\n\treturn \"\"\n}", "k(2); k(4)"},
			"2:1:1 (cell)\n1:2:2 k a=2\n1:4:9 k a=2 b=3\n1:5:3 k a=2 b=3\n2:1:7 (cell)\n1:2:2 k a=4\n1:4:9 k a=4 b=5\n1:7:2 k a=4\n1:9:3 k a=4"},
		{"panic", []string{"func f(a, b int) int {\n\tc := a + 1\n\treturn c / b\n}", "f(1, 0)"},
			"2:1:1 (cell)\n1:2:2 f a=1 b=0\n1:3:2 f a=1 b=0 c=2\nraised runtime error: integer divide by zero\n  1:3:11 f a=1 b=0 c=2\n  2:1:1 (cell)\nerror panic: runtime error: integer divide by zero"},
		{"defer, goroutine", []string{"func f(n int) {\n\tdefer func() {\n\t\tn++\n\t}()\n\tn = 5\n}", "f(1)"},
			"2:1:1 (cell)\n1:2:2 f n=1\n1:5:2 f n=1\n1:3:3 f.func1 n=5"},
		{"method on an earlier type", []string{"type P struct{ n int }\nfunc (p *P) Inc() {\n\tp.n++\n}", "p := &P{1}\np.Inc()"},
			"2:1:1 (cell)\n2:2:1 (cell)\n1:3:2 (*P).Inc p=&{1}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := watched(t, "", "", tt.cells...)
			got = strings.NewReplacer("yield=0x", "yield=F0x").Replace(got)
			for i := strings.Index(got, "F0x"); i >= 0; i = strings.Index(got, "F0x") {
				j := i + 3
				for j < len(got) && strings.IndexByte("0123456789abcdef", got[j]) >= 0 {
					j++
				}
				got = got[:i+1] + got[j:]
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestEvaluate(t *testing.T) {
	const f = "type P struct{ a, b int }\nfunc (p *P) Add(n int) int {\n\tp.a += n\n\treturn p.a\n}\nfunc f(n int, p P, e error, xs []int, m map[string]int) int {\n\tk := float32(n) / 2\n\tg := func() int { n++; return n }\n\treturn n + g() + len(xs) + int(k)\n}"
	const call = "q := 7\nr := f(3, P{1, 2}, errors.New(\"no\"), []int{4, 5}, map[string]int{\"a\": 1})\nr"
	for _, tt := range []struct{ expr, want string }{
		{"n + 1", "int 4"}, {"n == 3 && len(xs) > 1", "bool true"}, {"k * 2", "float32 3"}, {"p.a + p.b", "int 3"}, {"p", "P {1 2}"},
		{"e.Error()", "string no"}, {"e != nil", "bool true"}, {"xs[1]", "int 5"}, {"m[\"a\"]", "int 1"}, {"q", "int 7"}, {"q + n", "int 10"},
		{"p.Add(4)", "int 5"}, {"g()", "int 4"}, {"n = 10", ""}, {"fmt.Sprint(n, xs)", "string 3 [4 5]"},
		{"xs[9]", "panic: runtime error: index out of range"}, {"nope + 1", "1:1: undefined: nope"}, {"n + \"a\"", "1:1: invalid operation"},
		{"n, k", "1:1: expected 1 expression"}, {"r", "1:1: undefined: r"}, {"func() int { return n * 2 }()", "int 6"}, {"z := n * 2; z", "int 6"},
	} {
		got := watched(t, tt.expr, "1:9", f, call)
		_, got, _ = strings.Cut(got, " | ")
		got, _, _ = strings.Cut(got, "\n")
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.expr, got, tt.want)
		}
	}
}
