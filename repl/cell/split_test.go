package cell

import (
	"go/token"
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	type c struct {
		Kind  token.Token
		Text  string
		Quiet bool
	}
	for _, tt := range []struct {
		in   string
		want []c
	}{
		{"", nil},
		{"x := 1; x + 1", []c{{token.ILLEGAL, "x := 1", true}, {token.ILLEGAL, "x + 1", false}}},
		{"x;", []c{{token.ILLEGAL, "x", true}}},
		{"x; // note\n", []c{{token.ILLEGAL, "x", true}}},
		{"import \"fmt\"\nfunc f() {\n}\nfunc (p *P) g() {}\nfunc() {}()", []c{
			{token.IMPORT, "import \"fmt\"", false}, {token.FUNC, "func f() {\n}", false}, {token.FUNC, "func (p *P) g() {}", false}, {token.ILLEGAL, "func() {}()", false}}},
		{"for i := 0; i < 3; i++ { f(); g() }; h()", []c{{token.ILLEGAL, "for i := 0; i < 3; i++ { f(); g() }", true}, {token.ILLEGAL, "h()", false}}},
		{"if x := []int{1}; len(x) > 0 { f() }; g()", []c{{token.ILLEGAL, "if x := []int{1}; len(x) > 0 { f() }", true}, {token.ILLEGAL, "g()", false}}},
		{"for _, f := range []func(){a, b} { f() }; g()", []c{{token.ILLEGAL, "for _, f := range []func(){a, b} { f() }", true}, {token.ILLEGAL, "g()", false}}},
		{"if f := func() bool { return true }; f() { g() }", []c{{token.ILLEGAL, "if f := func() bool { return true }; f() { g() }", false}}},
		{"if a[i] { b(); c() }; d()", []c{{token.ILLEGAL, "if a[i] { b(); c() }", true}, {token.ILLEGAL, "d()", false}}},
		{"switch x := y.(type) { case int: a(); b() }", []c{{token.ILLEGAL, "switch x := y.(type) { case int: a(); b() }", false}}},
		{"func(x int) (y int) { return x }(2)", []c{{token.ILLEGAL, "func(x int) (y int) { return x }(2)", false}}},
		{"var (\n a = 1\n b = 2\n)\ntype T struct{ a int }", []c{{token.VAR, "var (\n a = 1\n b = 2\n)", false}, {token.TYPE, "type T struct{ a int }", false}}},
	} {
		var got []c
		for _, k := range split(tt.in) {
			got = append(got, c{k.kind, k.text, k.quiet})
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q:\n got %v\nwant %v", tt.in, got, tt.want)
		}
	}
}

func TestComplete(t *testing.T) {
	for src, want := range map[string]bool{
		"x := 1": true, "": true, "()": true, "x := (1 +": false, "x.": false, "a +": false, "f(1,": false, "x :=": false,
		"if a {}\nelse": false, "`abc": false, "\"abc": true, "/* c": false, "for {": false, "for {}": true, "x++": true,
		"x[:, 0]": true, "x[:,": false, "a @": false, "a @ b": true, "}": true, "func f()": true, "import": false, "// c": true, "L:": false,
	} {
		if got := Complete(src); got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}
