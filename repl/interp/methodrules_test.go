package interp

import "testing"

// TestMethodRules are the rules about methods on types of earlier cells: each
// row is cells, what each shows, and the warnings of all of them.
func TestMethodRules(t *testing.T) {
	const p = "type P struct{ n int }\nfunc (p P) Get() int { return p.n }\np := P{4}"
	const iface = "type G interface{ Get() int }\nfunc ug(g G) int { return g.Get() }\nvar g G = p"
	runRules(t, []rule{
		{"another signature reaches the next cells", []string{p, "", "func (p P) Get(k int) string { return fmt.Sprint(p.n, k) }", "", "p.Get(3)", "4 3 (string)"}, ""},
		{"users that do not type-check keep the old one", []string{p, "", "func use() int { return p.Get() + 1 }", "", "func (p P) Get(k int) int { return k }", "", "use()", "5 (int)"}, "use keeps the old definition: In[2]:1:31: not enough arguments in call to p.Get"},
		{"users that do get the new one", []string{p, "", "func show() string { return fmt.Sprint(p.Get()) }", "", "func (p P) Get() string { return \"new\" }", "", "show()", "new (string)"}, ""},
		{"users of users", []string{p, "", "func a() string { return fmt.Sprint(p.Get()) }\nfunc b() string { return a() + \"!\" }", "", "func (p P) Get() string { return \"new\" }", "", "b()", "new! (string)"}, ""},
		{"another method that calls it", []string{p, "", "func (p P) Twice() string { return fmt.Sprint(p.Get(), p.Get()) }", "", "func (p P) Get() bool { return true }", "", "p.Twice()", "true true (string)"}, ""},
		{"users without the type's name", []string{p + "\nfunc mk() P { return p }", "", "func use() int { return mk().Get() }", "", "func (p P) Get() string { return \"\" }", "", "use()", "4 (int)"}, "use keeps the old definition: In[2]:1:25: cannot use mk().Get()"},
		{"an interface that is satisfied no more", []string{p, "", iface, "", "func conv() G { return p }", "", "func (p P) Get() string { return \"\" }", "", "conv().Get()", "4 (int)"}, "conv keeps the old definition: In[3]:1:24: cannot use p"},
		{"an interface's value keeps the method", []string{p, "", iface, "", "func (p P) Get() string { return \"s\" }", "", "fmt.Sprint(ug(g), g.Get(), p.Get())", "4 4s (string)"}, ""},
		{"a type switch sees the new method", []string{p, "", iface, "", "func (p P) Get() string { return \"s\" }", "", "var x any = p\n_, isG := x.(G)\n_, isS := x.(interface{ Get() string })\nfmt.Sprint(isG, isS)", "false true (string)"}, ""},
		{"back to the first signature", []string{p, "", iface, "", "func (p P) Get() string { return \"s\" }", "", "func (p P) Get() int { return 7 }", "", "fmt.Sprint(ug(g), ug(p), p.Get())", "7 7 7 (string)"}, ""},
		{"kept users take a third definition that fits", []string{p, "", "func use() int { return p.Get() + 1 }", "", "func (p P) Get() string { return \"s\" }", "", "func (p P) Get() int { return 70 }", "", "use()", "71 (int)"}, "use keeps the old definition"},
		{"from a value to a pointer", []string{p, "", iface, "", "func (p *P) Get() int { p.n++; return p.n }", "", "fmt.Sprint(p.Get(), p.Get(), g.Get(), ug(&p))", "5 6 4 7 (string)"}, ""},
		{"from a pointer to a value", []string{"type P struct{ n int }\nfunc (p *P) Inc() { p.n++ }\np := P{1}\np.Inc()", "", "func inc() { p.Inc() }", "", "func (p P) Inc() { p.n += 100 }", "", "inc(); p.Inc()\np.n", "2 (int)"}, ""},
		{"a new method makes an interface's", []string{"type P struct{}\nvar x any = P{}\n_, is := x.(fmt.Stringer)\nis", "false (bool)", "func (P) String() string { return \"P!\" }", "", "_, is = x.(fmt.Stringer)\nfmt.Sprint(is, x)", "true P! (string)"}, ""},
		{"a promoted method follows", []string{p, "", "type Q struct{ P }\nq := Q{P{9}}\nfunc uq() string { return fmt.Sprint(q.Get()) }", "", "func (p P) Get() string { return \"s\" }", "", "q.Get() + uq()", "ss (string)"}, ""},
		{"a method hides a promoted one", []string{p, "", "type Q struct{ P }\nq := Q{P{9}}\nfunc uq() int { return q.Get() }\nvar i interface{ Get() int } = q", "", "func (q Q) Get() string { return \"mine\" }", "", "fmt.Sprint(q.Get(), q.P.Get(), uq(), i.Get())", "mine9 9 9 (string)"}, "uq keeps the old definition"},
		{"an embedded method becomes ambiguous", []string{"type A struct{}\ntype B struct{}\nfunc (B) M() int { return 1 }\ntype C struct { A; B }\nfunc f() int { return C{}.M() }", "", "func (A) M() int { return 2 }", "", "f()", "1 (int)", "C{}.M()", "error: 1:5: ambiguous selector C{}.M"}, "f keeps the old definition"},
		{"function values keep what they were", []string{p, "", "f, h := p.Get, P.Get", "", "func (p P) Get() string { return \"s\" }", "", "fmt.Sprint(f(), h(p))", "4 4 (string)"}, ""},
		{"a failed cell adds no method", []string{p, "", "func (p P) Bad() int { return p.n }\np.Bad(1)", "error: 2:7: too many arguments in call to p.Bad; \thave (number); \twant ()", "p.Bad()", "error: 1:3: p.Bad undefined (type main.P has no field or method Bad)"}, ""},
		{"nor changes one", []string{p, "", "func (p P) Get() string { return \"s\" }\nnope()", "error: 2:1: undefined: nope", "p.Get()", "4 (int)"}, ""},
		{"a field of the name", []string{p, "", "func (p P) n() {}", "error: 1:12: field and method with the same name n", "p.Get()", "4 (int)"}, ""},
		{"twice in a cell", []string{p, "", "func (p P) X() {}\nfunc (p P) X() {}", "error: 2:12: method P.X already declared in this cell"}, ""},
		{"twice beside its type", []string{"type P struct{}\nfunc (P) X() {}\nfunc (P) X() {}", "error: 3:10: method P.X already declared at 2:10"}, ""},
		{"of a generic type", []string{"type Box[T any] struct{ v T }\nb := Box[int]{3}", "", "func (b Box[T]) Get() T { return b.v }\nfunc (b *Box[U]) Set(v U) { b.v = v }", "", "b.Set(5)\nfmt.Sprint(b.Get(), Box[string]{\"s\"}.Get())", "5s (string)"}, ""},
		{"of a generic type, declared again", []string{"type Box[T any] struct{ v T }\nfunc (b Box[T]) Get() T { return b.v }\nb := Box[int]{3}\nb.Get()", "3 (int)", "func use() int { return b.Get() }\nvar i interface{ Get() int } = b", "", "func (b Box[T]) Get() T { var z T; return z }", "", "fmt.Sprint(use(), i.Get(), b.Get())", "0 0 0 (string)"}, ""},
		{"of a generic type, another signature", []string{"type Box[T any] struct{ v T }\nfunc (b Box[T]) Get() T { return b.v }\nb := Box[int]{3}\nb.Get()", "3 (int)", "func use() int { return b.Get() }\nfunc all[T any](x Box[T]) string { return fmt.Sprint(x.Get()) }", "", "func (b Box[T]) Get() []T { return []T{b.v, b.v} }", "", "fmt.Sprint(use(), all(b), b.Get())", "3[3 3][3 3] (string)"}, "use keeps the old definition"},
		{"constraints of the receiver", []string{"type Num interface{ ~int | ~float64 }\ntype S[T Num] []T", "", "func (s S[T]) Sum() (t T) {\n\tfor _, x := range s {\n\t\tt += x\n\t}\n\treturn t\n}", "", "S[float64]{1, 2.5}.Sum()", "3.5 (float64)"}, ""},
		{"parameters without names", []string{"type Pair[K comparable, V any] struct { k K; v V }", "", "func (Pair[_, V]) Zero() (v V) { return }", "", "Pair[string, int]{\"a\", 1}.Zero()", "0 (int)"}, ""},
	})
}

// TestUndoMethods takes back what cells did to methods.
func TestUndoMethods(t *testing.T) {
	s := newSession(t, Options{})
	expect := func(src, want string) {
		t.Helper()
		if got := s.show(src); got != want {
			t.Fatalf("%s: %q, want %q", src, got, want)
		}
	}
	undo := func() {
		t.Helper()
		take := s.in.TakeUndo()
		if take == nil {
			t.Fatal("nothing to undo")
		}
		take()
	}
	expect("type P struct{ n int }\nfunc (p P) Get() int { return p.n }\np := P{4}\nvar x any = p\nfunc use() int { return p.Get() }", "")
	expect("func (p P) Get() int { return p.n * 10 }", "")
	expect("p.Get() + use()", "80 (int)")
	undo() // of the expression
	expect("func (p P) Get() int { return p.n * 100 }", "")
	undo()
	expect("p.Get() + use()", "80 (int)")
	expect("func (p P) Get() string { return \"s\" }", "")
	undo()
	expect("p.Get() + use()", "80 (int)")
	expect("func (p P) String() string { return \"P!\" }", "")
	undo()
	expect("fmt.Sprint(x)", "{4} (string)")
}
