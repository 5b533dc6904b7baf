package interp

import (
	"strings"
	"testing"
)

// A rule is a session: cells, and what each shows.
type rule struct {
	name  string
	cells []string // source, then what it shows
	warns string   // part of the cells' warnings, "" for no kept definition
}

// TestRules are the rules of cells about order, names and redefinition.
func TestRules(t *testing.T) {
	runRules(t, []rule{
		// 5: order inside a cell
		{"functions and types are hoisted", []string{"y := f(2)\nfunc f(n N) N { return n * k }\ntype N int\nconst k = 3\ny", "6 (N)"}, ""},
		{"statements run where they stand", []string{"a := 1\na = a + 1\nb := a\na = 10\nb", "2 (int)"}, ""},
		{"the old value on the right, another type", []string{"x := 3", "", "x := fmt.Sprint(x, x)\nx", "3 3 (string)"}, ""},
		{"declared twice in one cell", []string{"v := 1; w := v; v := \"s\"; fmt.Sprint(w, v)", "1s (string)"}, ""},
		{"var again gives zero", []string{"n := 5", "", "var n int\nn", "0 (int)"}, ""},
		{"a variable used before its declaration", []string{"q + 1\nq := 2", "error: 1:1: undefined: q"}, ""},
		// 6: variables
		{"same type keeps the storage", []string{"x := 1", "", "p := &x; func get() int { return x }", "", "x := 7", "", "fmt.Sprint(*p, get())", "7 7 (string)"}, ""},
		{"another type: users keep the old one", []string{"x := 1", "", "func get() int { return x }", "", "x := \"s\"", ""}, "func get keeps the x of before"},
		{"and they do", []string{"x := 1", "", "func get() int { return x }", "", "x := \"s\"", "", "fmt.Sprint(get(), x)", "1s (string)"}, "func get keeps the x of before"},
		// 7: redefinition reaches earlier users that still type-check
		{"function through two others", []string{"func a() int { return 1 }", "", "func b() int { return a() * 10 }\nfunc c() int { return b() + 1 }", "", "func a() int { return 5 }", "", "c()", "51 (int)"}, ""},
		{"another signature: users keep the old one", []string{"func a() int { return 1 }", "", "func b() int { return a() * 10 }", "", "func a(n int) int { return n }", ""}, "b keeps the old definition"},
		{"function values keep what they were", []string{"func a() int { return 1 }", "", "f := a", "", "func a() int { return 2 }", "", "fmt.Sprint(f(), a())", "1 2 (string)"}, ""},
		{"a constant reaches functions", []string{"const k = 2", "", "func f() [k]int { return [k]int{} }", "", "const k = 4", "", "len(f())", "4 (int)"}, ""},
		{"mutual recursion by redefinition", []string{"func even(n int) bool { return n == 0 }", "", "func odd(n int) bool { return n != 0 && even(n-1) }", "", "func even(n int) bool { return n == 0 || odd(n-1) }", "", "fmt.Sprint(even(10), odd(7), even(3))", "true true false (string)"}, ""},
		{"a method applies to values made earlier", []string{"type P struct{ n int }\nfunc (p P) Get() int { return p.n }\np := P{4}\nvar i interface{ Get() int } = p", "", "func (p P) Get() int { return p.n * 100 }", "", "fmt.Sprint(p.Get(), i.Get())", "400 400 (string)"}, ""},
		{"a generic function is redefined", []string{"func twice[T any](x T) []T { return []T{x, x} }", "", "func use() int { return len(twice(1)) }", "", "func twice[T any](x T) []T { return []T{x, x, x} }", "", "use()", "3 (int)"}, ""},
		{"a method on a generic type of an earlier cell", []string{"type Box[T any] struct{ v T }\nfunc (b Box[T]) Get() T { return b.v }", "", "Box[int]{3}.Get()", "3 (int)"}, ""},
		// 8: types
		{"identical text is the same type", []string{"type P struct{ X int }\np := P{1}", "", "type P struct {\n\tX int // same\n}\np = P{2}\np.X", "2 (int)"}, ""},
		{"other text is a new type, old values stay usable", []string{"type P struct{ X int }\nfunc (p P) Get() int { return p.X }\np := P{1}", "", "type P struct{ X, Y int }", "", "fmt.Sprint(p.X, p.Get(), P{2, 3})", "1 1 {2 3} (string)"}, ""},
		{"a type declared again is embedded under its name", []string{"type M struct{ a int }", "", "type M struct{ b int }\nfunc (m M) Two() int { return m.b * 2 }", "", "type T struct{ M; x int }\nt := T{M: M{b: 4}, x: 1}\nfmt.Sprintf(\"%v %d %d %+v\", t.M, t.b, t.Two(), t)", "{4} 4 8 {M:{b:4} x:1} (string)", "type M struct{ c string }\ntype U struct{ *M; T }\nu := U{M: &M{\"q\"}, T: t}\nfmt.Sprint(u.M.c, u.T.M.b)", "q4 (string)"}, ""},
		// 9: failed cells
		{"a cell that does not type-check changes nothing", []string{"x := 1", "", "x := 2\ny := x\nnope()", "error: 3:1: undefined: nope", "x", "1 (int)", "y", "error: 1:1: undefined: y"}, ""},
		{"nor do its functions and types", []string{"func f() int { return 1 }\ntype T int", "", "func f() int { return 2 }\ntype T string\nvar t T = 5", "error: 3:11: cannot use 5 (untyped int constant) as T value in variable declaration", "fmt.Sprintf(\"%d %v\", f(), T(3))", "1 3 (string)"}, ""},
		{"after a run-time error what ran stays", []string{"a := 1", "", "a := 2\nb := 3\nvar m map[string]int\nm[\"x\"] = 1\nc := 4", "error: panic: assignment to entry in nil map", "fmt.Sprint(a, b)", "2 3 (string)", "c", "error: 1:1: undefined: c"}, ""},
		{"a name that was not reached stays as it was", []string{"s := \"old\"", "", "panic(\"p\")\ns := 5", "error: panic: p", "s", "old (string)"}, ""},
		// 10: return, defer, programs
		{"return ends the cell", []string{"z := 1\nif z == 1 {\n\treturn\n}\nz = 2", "", "z", "1 (int)"}, ""},
		{"defer runs at the cell's end", []string{"d := 0\ndefer func() { d = 9 }()\nd = 1", "", "d", "9 (int)"}, ""},
		{"a pasted program runs its main", []string{"package main\nimport \"strings\"\nvar up = strings.ToUpper(low)\nvar low = \"abc\"\nfunc init() { up += \"!\" }\nfunc init() { up += \"?\" }\nfunc main() { up += \"main\" }", "", "up", "ABC!?main (string)"}, ""},
		// 11, 12: values
		{"several results", []string{"func two() (int, error) { return 1, nil }\ntwo()", "1 (int), <nil> (error)"}, ""},
		{"an unknown name and the nearest", []string{"type P struct{ Name string }\nfunc (p P) Total() int { return 1 }\ntotal := 1", "", "P{}.Totl()", "error: 1:5: P{}.Totl undefined (type main.P has no field or method Totl); the nearest is Total", "P{Nme: \"\"}", "error: 1:3: unknown field Nme in struct literal of type main.P; the nearest is Name",
			"totl", "error: 1:1: undefined: totl; the nearest is total", "strings.ToUper(\"\")", "error: 1:9: undefined: strings.ToUper; the nearest is ToUpper", "func f() { length := 1; lenght++ }", "error: 1:25: undefined: lenght; the nearest is length", "zzzzz", "error: 1:1: undefined: zzzzz"}, ""},
		{"a semicolon shows nothing", []string{"41 + 1;", "", "ans", "42 (int)"}, ""},
		{"typed results by number", []string{"uint8(7)", "7 (uint8)", "_1 + 1", "8 (uint8)", "ans + _1", "15 (uint8)"}, ""},
		{"printing shows nothing", []string{"fmt.Println(\"x\")", "", "fmt.Sprint(1)", "1 (string)"}, ""},
	})
}

func runRules(t *testing.T, rules []rule) {
	for _, tt := range rules {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t, Options{})
			var kept, all []string
			for i := 0; i < len(tt.cells); i += 2 {
				if got := s.show(tt.cells[i]); got != tt.cells[i+1] {
					t.Fatalf("cell %d: %q, want %q", i/2+1, got, tt.cells[i+1])
				}
				for _, w := range s.last.Warnings {
					all = append(all, w.Msg)
					if w.Kind == "kept" {
						kept = append(kept, w.Msg)
					}
				}
			}
			if tt.warns == "" && kept != nil || !strings.Contains(strings.Join(all, "\n"), tt.warns) {
				t.Errorf("warnings %q, want %q", all, tt.warns)
			}
		})
	}
}

// TestProgramInit is a pasted program whose package variables depend on one
// another: they are initialized in Go's order. It stands apart from the recorded
// programs, which share one process when Go runs them.
func TestProgramInit(t *testing.T) {
	const program = `package main

import "fmt"

var (
	a = c + b
	b = f()
	c = g("c")
	x, y = pair()
	m = map[string]int{"a": a, "b": b}
)

var d = func() int { return a * 2 }()

func f() int { fmt.Println("f"); c++; return c }
func g(s string) int { fmt.Println("g", s); return len(s) }
func pair() (int, string) { fmt.Println("pair", d); return d, "p" }

func init() { fmt.Println("init1", a, b, c, d, x, y) }

type T struct{ n int }

var t = &T{z}
var z = 5

func init() { t.n++; fmt.Println("init2", t.n) }

func main() { fmt.Println(a, b, c, d, x, y, len(m), *t) }
`
	const want = `g c
f
pair 8
init1 4 2 2 8 8 p
init2 6
4 2 2 8 8 p 2 {6}
`
	for _, form := range forms {
		o := Options{}
		form.set(&o)
		if got := runCells(o, []string{program}); got != want {
			t.Errorf("%s: got\n%swant\n%s", form.name, got, want)
		}
	}
}
