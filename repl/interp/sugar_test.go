package interp

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/gcexportdata"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp/internal/stand"
)

const standPath = "github.com/tpush/tpush/repl/interp/internal/stand"

// standUniverse makes the stand-in tensor package what cells call tpu.
func standUniverse(t testing.TB, told func(name string)) *Universe {
	im, err := newStandardImporter()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "stand.go", stand.Source, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Name.Name = "tpu"
	conf := types.Config{Importer: embedImporter{im}}
	p, err := conf.Check(standPath, fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var one, z bytes.Buffer
	if err := gcexportdata.Write(&one, fset, p); err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(&z)
	fmt.Fprintf(w, "%s %d\n", standPath, one.Len())
	w.Write(one.Bytes())
	w.Close()
	return &Universe{
		Packages:   []Package{{Path: standPath, Symbols: func() map[string]reflect.Value { return stand.Symbols(told) }}},
		ExportData: z.Bytes(),
		InScope:    map[string]string{"tpu": standPath},
		Tensor:     cell.TensorType{Path: standPath, Name: "Tensor"},
	}
}

// embedImporter knows an empty embed, too: the stand-in only names it.
type embedImporter struct{ types.Importer }

func (e embedImporter) Import(path string) (*types.Package, error) {
	if path == "embed" {
		p := types.NewPackage("embed", "embed")
		p.MarkComplete()
		return p, nil
	}
	return e.Importer.Import(path)
}

func TestSugar(t *testing.T) {
	u := standUniverse(t, nil)
	for _, tt := range []struct{ src, want string }{
		{"x + y", "add(x, y)"},
		{"x - 1", "sub(x, 1)"},
		{"2 - x", "rsub(x, 2)"},
		{"2 * x", "mul(x, 2)"},
		{"2.5 / x", "rdiv(x, 2.5)"},
		{"-x + y*2", "add(neg(x), mul(y, 2))"},
		{"x @ y", "matmul(x, y)"},
		{"x @ y + x", "add(matmul(x, y), x)"},
		{"x.T @ y", "matmul(t(x), y)"},
		{"x.T() @ y", "matmul(t(x), y)"},
		{"(x + y).Sum()", "sum(add(x, y))"},
		{"x < 0", "lt(x, 0)"},
		{"0 < x", "gt(x, 0)"},
		{"x == y", "eq(x, y)"},
		{"(x < 1) & (y < 2)", "and(lt(x, 1), lt(y, 2))"},
		{"x == nil", "false"},
		{"x[1]", "index(x, 1)"},
		{"x[-1]", "index(x, -1)"},
		{"x[1, 2]", "index(x, 1, 2)"},
		{"x[1:3]", "index(x, 1:3)"},
		{"x[:, 0]", "index(x, :, 0)"},
		{"x[..., 0]", "index(x, ..., 0)"},
		{"x[::2]", "index(x, ::2)"},
		{"x[1:9:2]", "index(x, 1:9:2)"},
		{"x[nil]", "index(x, new)"},
		{"x[:, nil]", "index(x, :, new)"},
		{"x[x < 0]", "index(x, lt(x, 0))"},
		{"x[0][1] + x[1:].Sum()", "add(index(index(x, 0), 1), sum(index(x, 1:)))"},
		{"x += y; x", "add(x, y)"},
		{"tpu.Func((*tpu.Tensor).Neg).Forward(x)", "neg(x)"},
		{"f := tpu.Func((*tpu.Tensor).Neg); f.Forward(f(x))", "neg(neg(x))"},
		{"f := tpu.Func(func(t *tpu.Tensor) *tpu.Tensor { return t * y }); g := f.Forward; g(f.Forward(x))", "mul(mul(x, y), y)"},
		{"f := tpu.Func(func(t *tpu.Tensor) *tpu.Tensor { return t * y }); tpu.Apply(f, tpu.Apply(tpu.Func((*tpu.Tensor).Neg), x))", "mul(neg(x), y)"},
		{"x++; x", "add(x, 1)"},
		{"x[1:3] = 5; x", "set(x, 5, 1:3)"},
		{"x[0] = y; x", "set(x, y, 0)"},
		{"x[0] += y; x", "set(x, add(index(x, 0), y), 0)"},
		{"i := 0; f := func() int { i++; return i }; x[f()] *= y; x.Text + fmt.Sprint(i)", "set(x, mul(index(x, 1), y), 1)1"},
		{"a := x + 1; b := a * y; c := b[0] - a; c", "sub(index(mul(add(x, 1), y), 0), add(x, 1))"},
		{"func f(a, b *tpu.Tensor) *tpu.Tensor { return a*b + 1 }\nf(x, y)", "add(mul(x, y), 1)"},
		{"g := tpu.Compile(func(a *tpu.Tensor) *tpu.Tensor { return a + 1 }); g(x)", "add(x, 1)"},
		{"func h(a *tpu.Tensor) *tpu.Tensor { return -a }\ng := tpu.Compile(h); g(x)", "neg(x)"},
		{"v, i := x.MaxAxis(1); v + i", "add(max(x, 1), argmax(x, 1))"},
		{"xs := []*tpu.Tensor{x, y}; xs[0] + xs[1]", "add(x, y)"},
		{"m := map[string]*tpu.Tensor{\"a\": x}; m[\"a\"] + 1", "add(x, 1)"},
		{"type L struct{ W *tpu.Tensor }\nl := L{x}; l.W += y; l.W", "add(x, y)"},
		{"n := 0; f := func() int { n++; return 0 }; xs := []*tpu.Tensor{x}; xs[f()] += y; xs[0].Text + fmt.Sprint(n)", "add(x, y)1"},
		{"type B struct{ W *tpu.Tensor }; bs := []B{{x}}; bs[0].W -= 1; bs[0].W", "sub(x, 1)"},
		{"func bits[T any](a T) T { return a }; bits[*tpu.Tensor](x) + 1", "add(x, 1)"},
		{"s := []int{1, 2, 3, 4}; s[1:3]", "[2 3]"},
	} {
		s := newSession(t, Options{Universe: u})
		s.show("x := tpu.Of(\"x\"); y := tpu.Of(\"y\")")
		res, err := s.try(tt.src)
		if err != nil || len(res.Values) != 1 {
			t.Errorf("%s: %v %v", tt.src, res.Values, err)
			continue
		}
		if got := fmt.Sprint(res.Values[0].Value); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.src, got, tt.want)
		}
	}
}

func TestSugarErrors(t *testing.T) {
	u := standUniverse(t, nil)
	for _, tt := range []struct{ src, want string }{
		{"if x < 0 {\n}", "1:4: a tensor is no condition"},
		{"for x {\n}", "1:5: a tensor is no condition"},
		{"b := x == y && true", "1:6: a tensor is no condition for &&"},
		{"!x", "1:2: a tensor is no condition for !"},
		{"x + \"a\"", "1:1: invalid operation: x + \"a\""},
		{"a := 3\nb := a @ 4", "2:8: operator @ needs a tensor on both sides: it has int and int"},
		{"z := x @ nope", "1:10: undefined: nope"},
		{"x.Nope()", "1:3: x.Nope undefined"},
		{"2 % x", "1:3: x.RRemainder undefined"},
		{"a := []int{1}; a[:, 0]", "1:17: only a tensor is indexed like this: []int"},
		{"a := []int{1}; a[1, 2]", "1:17: only a tensor is indexed like this: []int"},
		{"a := []int{1}; a[::2]", "1:17: only a tensor is indexed like this: []int"},
		{"y.Foo(x[:, 0], nope)", "1:3: y.Foo undefined"},
	} {
		s := newSession(t, Options{Universe: u})
		s.show("x := tpu.Of(\"x\"); y := tpu.Of(\"y\")")
		_, err := s.try(tt.src)
		var c *cell.CompileError
		if !errors.As(err, &c) || !strings.HasPrefix(c.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.src, err, tt.want)
		}
	}
}

func TestOpPositions(t *testing.T) {
	var s *session
	var got []string
	u := standUniverse(t, func(name string) {
		got = append(got, name+" "+places(s.in.Where()))
	})
	for _, tt := range []struct {
		src  string
		want []string
	}{
		{"z := x + y", []string{"add (cell)@2:1:8"}},
		{"z := x.MatMul(y).Add(x)", []string{"matmul (cell)@2:1:8", "add (cell)@2:1:18"}},
		{"z := x @ y + x[:, 0] * 2", []string{"matmul (cell)@2:1:8", "index (cell)@2:1:15", "mul (cell)@2:1:22", "add (cell)@2:1:12"}},
		{"func f(a *tpu.Tensor) *tpu.Tensor {\n\tb := a + 1\n\treturn b * b\n}\nf(f(x))", []string{
			"add f@2:2:9 (cell)@2:5:3", "mul f@2:3:11 (cell)@2:5:3", "add f@2:2:9 (cell)@2:5:1", "mul f@2:3:11 (cell)@2:5:1"}},
		{"for i := 0; i < 2; i++ {\n\tx = x + i\n}", []string{"add (cell)@2:2:8", "add (cell)@2:2:8"}},
		{"if (x + 1).Item() > 0 && (y + 2).Item() > 0 {\n\tz := -x\n\t_ = z\n}", []string{"add (cell)@2:1:7", "item (cell)@2:1:12", "add (cell)@2:1:29", "item (cell)@2:1:34", "neg (cell)@2:2:7"}},
		{"f := func() *tpu.Tensor { return x - 1 }\nf()", []string{"sub (cell).func1@2:1:36 (cell)@2:2:1"}},
	} {
		s = newSession(t, Options{Universe: u})
		s.show("x := tpu.Of(\"x\"); y := tpu.Of(\"y\")")
		got = nil
		if _, err := s.try(tt.src); err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n got %s\nwant %s", tt.src, strings.Join(got, "\n     "), strings.Join(tt.want, "\n     "))
		}
	}
}

func TestRoots(t *testing.T) {
	var s *session
	var seen []string
	u := standUniverse(t, func(name string) {
		if name != "neg" {
			return
		}
		s.in.Roots(func(v reflect.Value) {
			if p, ok := v.Interface().(**stand.Tensor); ok && *p != nil {
				seen = append(seen, (*p).Text)
			}
		})
	})
	s = newSession(t, Options{Universe: u})
	s.show("x := tpu.Of(\"x\")")
	s.show("func f(a *tpu.Tensor) *tpu.Tensor {\n\tb := a + 1\n\tfor i := range 3 {\n\t\tc := b + i\n\t\t_ = c\n\t}\n\t_ = -b\n\treturn b\n}")
	s.show("f(x + 5)")
	got := fmt.Sprint(seen)
	for _, want := range []string{"x", "add(x, 5)", "add(add(x, 5), 1)"} {
		if !strings.Contains(got, want) {
			t.Errorf("roots %s miss %s", got, want)
		}
	}
}

func TestStatementEnds(t *testing.T) {
	var got []string
	u := standUniverse(t, func(name string) { got = append(got, name) })
	s := newSession(t, Options{Universe: u,
		OnStatementEnd: func(d int) { got = append(got, fmt.Sprint("end", d)) }, OnLeave: func(d int) { got = append(got, fmt.Sprint("leave", d)) }})
	s.show("x := tpu.Of(\"x\")")
	s.show("func f(a *tpu.Tensor) *tpu.Tensor {\n\tb := a + 1\n\ti := 2\n\t_ = i\n\treturn b * b\n}")
	got = nil
	s.show("y := f(-x)\nfmt.Println(y.Item())")
	if want := "neg add end2 mul leave2 end1 item end1"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestDrops(t *testing.T) {
	n := 0
	s := newSession(t, Options{Universe: standUniverse(t, nil), OnDrop: func() { n++ }})
	s.show("x := tpu.Of(\"x\"); m := map[string]*tpu.Tensor{\"a\": x}; i := 0")
	for src, want := range map[string]int{"x = nil": 1, "m[\"a\"] = nil": 1, "delete(m, \"a\")": 1, "clear(m)": 1, "i = 3": 0, "func f(y *tpu.Tensor) { y.Sum() }\nf(tpu.Of(\"z\"))": 0} {
		n = 0
		if got := s.show(src); got != "" || n != want {
			t.Errorf("%s: %d drops, want %d (%s)", src, n, want, got)
		}
	}
}

func TestNewVariableIsRootAtStatementEnd(t *testing.T) {
	var s *session
	found := false
	s = newSession(t, Options{Universe: standUniverse(t, nil), OnStatementEnd: func(int) {
		s.in.Roots(func(v reflect.Value) {
			if p, ok := v.Interface().(**stand.Tensor); ok && *p != nil && (*p).Text == "x" {
				found = true
			}
		})
	}})
	s.show("x := tpu.Of(\"x\")")
	if !found {
		t.Error("x is no root when its declaration ends")
	}
}

func TestErrorsAsTensorError(t *testing.T) {
	s := newSession(t, Options{Universe: standUniverse(t, nil)})
	_, err := s.try("x := tpu.Of(\"x\")\ntpu.Fail(x)")
	var e *stand.Error
	if !errors.As(err, &e) || e.Text != "bad x" {
		t.Fatalf("%v", err)
	}
	var p *PanicError
	if !errors.As(err, &p) || places(p.Stack) != "(cell)@1:2:1" {
		t.Errorf("at %s", places(p.Stack))
	}
}

func TestComplete(t *testing.T) {
	s := newSession(t, Options{Universe: standUniverse(t, nil)})
	s.show("xs := tpu.Of(\"x\")\ntype P struct{ Alpha int }\nfunc (p P) Get(n int) string { return \"\" }\np := P{}")
	for _, tt := range []struct{ src, want string }{
		{"xs.MatM", "MatMul"}, {"(xs + 1).MatM", "MatMul"}, {"xs[0].MatM", "MatMul"}, {"xs.Sum().MatM", "MatMul"},
		{"p.Al", "Alpha"}, {"p.G", "Get"}, {"strings.ToUp", "ToUpper"}, {"y := x", "xs"}, {"str", "strings"}, {"tpu.O", "Of"}, {"fo", "for"},
	} {
		found := false
		list, start := s.in.Complete(tt.src, len(tt.src))
		for _, c := range list {
			found = found || c.Text == tt.want
		}
		if !found {
			t.Errorf("%s: %s at %d is not among %v", tt.src, tt.want, start, list)
		}
	}
	for expr, want := range map[string]string{"xs + 1": "*tpu.Tensor", "p.Get(1)": "string", "p": "P", "1.5": "untyped float", "&p": "*P"} {
		if got, err := s.in.TypeOf(expr); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", expr, got, err, want)
		}
	}
}

func TestVariables(t *testing.T) {
	s := newSession(t, Options{})
	s.show("a := 1; b := \"x\"")
	s.show("a := 2.5")
	got := ""
	for _, v := range s.in.Variables() {
		got += fmt.Sprintf("%s %s %v %d;", v.Name, v.Type, v.Value, v.Cell)
	}
	if got != "a float64 2.5 2;b string x 1;" {
		t.Error(got)
	}
}
