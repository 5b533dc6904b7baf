package programs

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Random writes a well-typed program: types with methods, functions, closures,
// generic calls, loops, switches, deferred calls and panics, chosen by the seed.
// It always ends, and what it prints does not depend on an order that Go leaves
// open.
func Random(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 99))}
	g.b.WriteString(prelude)
	for i := range 2 + g.r.IntN(2) {
		g.structType(i)
	}
	for i := range 3 + g.r.IntN(3) {
		g.function(i)
	}
	g.main()
	return g.b.String()
}

const prelude = `package main

import (
	"errors"
	"fmt"
)

var steps int

func tick() bool { steps++; return steps < 3000 }

func protect(name string, f func()) {
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); ok {
				fmt.Println(name, "error", err)
			} else {
				fmt.Println(name, "panic", r)
			}
		}
	}()
	f()
}

type Shape interface{ Area() int }
type Num int
type Names []string
type Fn func(int) int
type Fail struct{ Code int }

func (n Num) Area() int        { return int(n) * 2 }
func (n Num) String() string   { return fmt.Sprintf("#%d", int(n)) }
func (n Names) Area() int      { return len(n) }
func (f Fn) Area() int         { return f(3) }
func (f *Fail) Error() string  { return fmt.Sprint("fail ", f.Code) }

var errBase = errors.New("base")

type Pair[A, B any] struct {
	A A
	B B
}

func (p Pair[A, B]) Swap() Pair[B, A] { return Pair[B, A]{p.B, p.A} }

func Map[T, U any](xs []T, f func(T) U) []U {
	var out []U
	for _, x := range xs {
		out = append(out, f(x))
	}
	return out
}

func id[T any](x T) T { return x }

func cut(s string) string {
	if len(s) > 40 {
		return s[:20]
	}
	return s
}

func few(xs []int) []int {
	if len(xs) > 10 {
		return xs[:5]
	}
	return xs
}

func Fold[T, A any](xs []T, a A, f func(A, T) A) A {
	for _, x := range xs {
		a = f(a, x)
	}
	return a
}

func Upto(n int) func(func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for i := range n {
			if !yield(i, fmt.Sprint("u", i)) {
				return
			}
		}
	}
}

func kind(x any) string {
	switch v := x.(type) {
	case nil:
		return "nil"
	case int:
		return fmt.Sprint("int ", v)
	case Num, uint8:
		return fmt.Sprintf("%T %v", v, v)
	case string:
		return "string " + v
	case []int:
		return fmt.Sprint("ints ", len(v))
	case error:
		return "error " + v.Error()
	case Shape:
		return fmt.Sprint("shape ", v.Area())
	}
	return fmt.Sprintf("other %T", x)
}

`

// basic are the types that expressions are made of.
var basic = []string{"int", "int8", "uint8", "uint16", "int32", "uint", "float64", "string", "bool", "[]int", "[3]int", "map[string]int", "Num", "Shape", "any", "func(int) int", "error", "[]string", "Pair[int, string]", "*int"}

type generator struct {
	r       *rand.Rand
	b       strings.Builder
	vars    []variable // in scope
	funcs   []signature
	structs []string
	n       int
	depth   int
	loops   int
	inFunc  string // result type
	labels  []string
}

type variable struct {
	name, typ string
	fixed     bool // not to be assigned
}

type signature struct {
	name   string
	params []string
	result string
}

func (g *generator) out(format string, args ...any) {
	fmt.Fprintf(&g.b, format, args...)
}

func (g *generator) fresh(p string) string     { g.n++; return fmt.Sprint(p, g.n) }
func (g *generator) pick(list []string) string { return list[g.r.IntN(len(list))] }
func (g *generator) typ() string {
	if g.r.IntN(4) == 0 && len(g.structs) > 0 {
		s := g.pick(g.structs)
		if g.r.IntN(3) == 0 {
			return "*" + s
		}
		return s
	}
	return g.pick(basic)
}

func (g *generator) structType(i int) {
	name := fmt.Sprint("S", i)
	g.out("type %s struct {\nA int\nB string\nC %s\nD []Num\n", name, g.pick([]string{"float64", "[2]int", "Num", "bool", "map[string]int"}))
	if i > 0 && g.r.IntN(2) == 0 {
		g.out("S%d\n", i-1)
	}
	g.out("}\n\n")
	recv := g.pick([]string{"s", "*s"})
	star := strings.TrimSuffix(recv, "s")
	g.out("func (s %s%s) Area() int { return s.A + len(s.B) + %d }\n", star, name, g.r.IntN(5))
	g.out("func (s *%s) Grow(n int) *%s { s.A += n; s.D = append(s.D, Num(n)); return s }\n", name, name)
	if g.r.IntN(2) == 0 {
		g.out("func (s %s) String() string { return fmt.Sprintf(\"%s<%%d %%q>\", s.A, s.B) }\n", name, name)
	}
	g.structs = append(g.structs, name)
}

func (g *generator) function(i int) {
	s := signature{name: fmt.Sprint("f", i), result: g.typ()}
	g.vars = nil
	var ps []string
	for range g.r.IntN(3) {
		p, t := g.fresh("p"), g.typ()
		s.params = append(s.params, t)
		ps = append(ps, p+" "+t)
		g.vars = append(g.vars, variable{p, t, false})
	}
	named := g.r.IntN(2) == 0
	g.inFunc = s.result
	if named {
		g.out("func %s(%s) (res %s) {\n", s.name, strings.Join(ps, ", "), s.result)
		g.vars = append(g.vars, variable{"res", s.result, false})
	} else {
		g.out("func %s(%s) %s {\n", s.name, strings.Join(ps, ", "), s.result)
	}
	g.out("if !tick() {\nreturn %s\n}\n", g.zero(s.result))
	if g.r.IntN(3) == 0 {
		g.out("defer func() {\nif r := recover(); r != nil {\nfmt.Println(%q, r)\n", s.name+" recovered")
		if named {
			g.out("res = %s\n", g.expr(s.result, 1))
		}
		g.out("}\n}()\n")
	}
	g.block(3 + g.r.IntN(4))
	g.out("return %s\n}\n\n", g.expr(s.result, 2))
	g.funcs = append(g.funcs, s)
}

func (g *generator) main() {
	g.vars, g.inFunc = nil, ""
	g.out("func main() {\n")
	for i, f := range g.funcs {
		for k := range 2 {
			g.out("protect(%q, func() {\nfmt.Printf(\"%s %%v %%T\\n\", kind(%s), steps > 0)\n})\n", fmt.Sprint(f.name, ".", k), f.name, g.printable(g.call(i, 2), f.result))
		}
	}
	g.block(6)
	for _, v := range g.vars {
		g.out("fmt.Println(%q, %s)\n", v.name, g.printable(v.name, v.typ))
	}
	g.out("}\n")
}

// printable makes an expression one that prints the same every time.
func (g *generator) printable(e, t string) string {
	switch {
	case strings.HasPrefix(t, "*"):
		return "(" + e + ") != nil"
	case strings.HasPrefix(t, "func"):
		return "(" + e + ") != nil"
	case t == "Shape", t == "any":
		return "kind(" + e + ")"
	}
	return e
}

func (g *generator) block(n int) {
	if g.depth > 3 {
		return
	}
	g.depth++
	for range n {
		g.stmt()
	}
	g.depth--
}

// scoped writes a block whose variables are gone behind it.
func (g *generator) scoped(n int) {
	k := len(g.vars)
	g.block(n)
	g.use(k)
	g.vars = g.vars[:k]
}

// use uses the variables from the k-th on.
func (g *generator) use(k int) {
	for _, v := range g.vars[k:] {
		if !v.fixed {
			g.out("_ = %s\n", v.name)
		}
	}
}

func (g *generator) stmt() {
	switch g.r.IntN(20) {
	case 0, 1, 2, 3:
		t, v := g.typ(), g.fresh("v")
		if g.r.IntN(3) == 0 {
			g.out("var %s %s = %s\n", v, t, g.expr(t, 2))
		} else {
			g.out("%s := %s\n", v, g.typed(t, 2))
		}
		g.out("_ = %s\n", v)
		g.vars = append(g.vars, variable{v, t, false})
	case 4, 5, 6:
		if v, ok := g.variable(""); ok {
			g.assign(v)
		}
	case 7:
		g.out("if (%s) {\n", g.expr("bool", 2))
		g.scoped(2)
		if g.r.IntN(2) == 0 {
			g.out("} else if x := (%s); x > 2 {\n_ = x\n", g.expr("int", 1))
			g.scoped(1)
			g.out("} else {\n")
			g.scoped(2)
		}
		g.out("}\n")
	case 8:
		g.loop()
	case 9:
		g.ranges()
	case 10:
		g.switches()
	case 11:
		v := g.fresh("c")
		g.out("%s := func(a int) int {\n", v)
		inFunc, labels := g.inFunc, g.labels
		g.inFunc, g.labels = "int", nil
		k := len(g.vars)
		g.vars = append(g.vars, variable{"a", "int", false})
		g.scoped(2)
		g.out("return %s\n}\n", g.expr("int", 2))
		g.vars = g.vars[:k]
		g.inFunc, g.labels = inFunc, labels
		g.out("_ = %s\n", v)
		g.vars = append(g.vars, variable{v, "func(int) int", true})
		if g.r.IntN(2) == 0 {
			r := g.fresh("r")
			g.out("%s := %s(%s)\nfmt.Println(%q, %s)\n", r, v, g.expr("int", 1), r, r)
			g.vars = append(g.vars, variable{r, "int", false})
		}
	case 12:
		if v, ok := g.variable(""); ok {
			g.out("fmt.Println(%q, %s)\n", v.name, g.printable(v.name, v.typ))
		}
	case 13:
		if g.loops == 0 && g.inFunc != "" && g.r.IntN(2) == 0 {
			g.out("defer fmt.Println(\"deferred\", %s)\n", g.expr(g.pick([]string{"int", "string", "[3]int", "Num"}), 1))
		} else {
			g.out("protect(\"p%d\", func() {\n", g.n)
			inFunc, labels := g.inFunc, g.labels
			g.inFunc, g.labels = "", nil
			g.scoped(2)
			g.inFunc, g.labels = inFunc, labels
			g.out("})\n")
		}
	case 14:
		if len(g.labels) > 0 && g.r.IntN(2) == 0 {
			g.out("if (%s) {\n%s %s\n}\n", g.expr("bool", 1), g.pick([]string{"break", "continue"}), g.pick(g.labels))
		} else if g.inFunc != "" {
			g.out("if (%s) {\nreturn %s\n}\n", g.expr("bool", 1), g.expr(g.inFunc, 1))
		}
	case 15:
		if g.r.IntN(3) == 0 {
			g.out("if (%s) {\npanic(%s)\n}\n", g.expr("bool", 1), g.pick([]string{`"stop"`, "&Fail{3}", `fmt.Errorf("w: %w", errBase)`, "Num(4)"}))
		}
	case 16:
		a, ok := g.variable("int")
		b, ok2 := g.variable("int")
		if ok && ok2 && a.name != b.name {
			g.out("%s, %s = %s, %s\n", a.name, b.name, b.name, a.name)
		}
	case 17:
		if v, ok := g.structVar(); ok {
			g.out("%s.Grow(%s)\n%s.B = cut(%s.B + %s)\n", v.name, g.expr("int", 1), v.name, v.name, g.expr("string", 1))
		}
	case 18:
		c, k := g.fresh("ch"), 1+g.r.IntN(3)
		g.out("%s := make(chan int, %d)\nfor i := range %d {\nselect {\ncase %s <- i * %d:\ndefault:\nfmt.Println(\"full\")\n}\n}\nclose(%s)\nfor x := range %s {\nfmt.Print(x, \" \")\n}\nfmt.Println()\n", c, k, k+g.r.IntN(2), c, g.r.IntN(9), c, c)
	case 19:
		v, ok := g.variable("")
		if ok {
			g.out("fmt.Println(kind(%s))\n", v.name)
		}
	}
}

func (g *generator) loop() {
	i, label := g.fresh("i"), g.fresh("L")
	g.out("%s:\nfor %s := %d; %s < %d; %s++ {\n", label, i, g.r.IntN(2), i, 2+g.r.IntN(3), i)
	g.out("if %s == 77 {\ncontinue %s\n}\n", i, label)
	k := len(g.vars)
	g.vars = append(g.vars, variable{i, "int", true})
	g.labels = append(g.labels, label)
	g.loops++
	g.scoped(2)
	g.loops--
	g.labels = g.labels[:len(g.labels)-1]
	g.vars = g.vars[:k]
	g.out("}\n")
}

func (g *generator) ranges() {
	k := len(g.vars)
	a, b := g.fresh("k"), g.fresh("e")
	switch g.r.IntN(5) {
	case 0:
		g.out("for %s, %s := range (%s) {\n_, _ = %s, %s\n", a, b, g.expr("[]int", 1), a, b)
		g.vars = append(g.vars, variable{a, "int", false}, variable{b, "int", false})
	case 1:
		g.out("for %s := range %d {\n_ = %s\n", a, 1+g.r.IntN(4), a)
		g.vars = append(g.vars, variable{a, "int", false})
	case 2:
		g.out("for %s, %s := range (%s) {\n_, _ = %s, %s\n", a, b, g.expr("string", 1), a, b)
		g.vars = append(g.vars, variable{a, "int", false}, variable{b, "int32", false})
	case 3:
		g.out("for %s, %s := range Upto(%d) {\n_, _ = %s, %s\n", a, b, 1+g.r.IntN(4), a, b)
		g.vars = append(g.vars, variable{a, "int", false}, variable{b, "string", false})
	case 4:
		g.out("for %s, %s := range (%s) {\n_, _ = %s, %s\n", a, b, g.expr("[3]int", 1), a, b)
		g.vars = append(g.vars, variable{a, "int", false}, variable{b, "int", false})
	}
	g.loops++
	g.scoped(2)
	if g.r.IntN(3) == 0 {
		g.out("if (%s) {\n%s\n}\n", g.expr("bool", 1), g.pick([]string{"break", "continue"}))
	}
	g.loops--
	g.vars = g.vars[:k]
	g.out("}\n")
}

func (g *generator) switches() {
	if g.r.IntN(2) == 0 {
		g.out("switch (%s) {\ncase 0, 2:\n", g.expr("int", 1))
		g.scoped(1)
		if g.r.IntN(2) == 0 {
			g.out("fallthrough\n")
		}
		g.out("case 1:\n")
		g.scoped(1)
		g.out("default:\n")
		g.scoped(1)
		g.out("}\n")
		return
	}
	x := g.fresh("t")
	g.out("switch %s := (%s).(type) {\ncase int, Num:\nfmt.Println(\"num\", %s)\ncase string:\nfmt.Println(len(%s))\ncase Shape:\nfmt.Println(\"shape\", %s.Area())\ncase nil:\nfmt.Println(\"nil\")\ndefault:\nfmt.Printf(\"%%T\\n\", %s)\n}\n", x, g.expr("any", 1), x, x, x, x)
}

// variable picks one in scope of a type, any if it is "".
func (g *generator) variable(t string) (variable, bool) {
	var list []variable
	for _, v := range g.vars {
		if t == "" || v.typ == t {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return variable{}, false
	}
	v := list[g.r.IntN(len(list))]
	if v.fixed && t == "" {
		return variable{}, false
	}
	return v, true
}

func (g *generator) structVar() (variable, bool) {
	for _, s := range g.structs {
		if v, ok := g.variable(s); ok {
			return v, true
		}
	}
	return variable{}, false
}

func (g *generator) assign(v variable) {
	if v.fixed {
		return
	}
	switch v.typ {
	case "int", "int8", "uint8", "uint16", "int32", "uint", "Num":
		switch g.r.IntN(4) {
		case 0:
			g.out("%s %s= %s\n", v.name, g.pick([]string{"+", "-", "*", "^", "|", "&", "&^"}), g.expr(v.typ, 1))
		case 1:
			g.out("%s %s= %d\n", v.name, g.pick([]string{"<<", ">>"}), g.r.IntN(9))
		case 2:
			g.out("%s++\n", v.name)
		default:
			g.out("%s = %s\n", v.name, g.expr(v.typ, 2))
		}
	case "[]int":
		switch g.r.IntN(3) {
		case 0:
			g.out("%s = append(few(%s), %s)\n", v.name, v.name, g.expr("int", 1))
		case 1:
			g.out("if len(%s) > 1 {\n%s[1] = %s\n%s = %s[1:]\n}\n", v.name, v.name, g.expr("int", 1), v.name, v.name)
		default:
			g.out("%s = %s\n", v.name, g.expr("[]int", 2))
		}
	case "[3]int":
		g.out("%s[%d] += %s\n", v.name, g.r.IntN(3), g.expr("int", 1))
	case "map[string]int":
		g.out("if %s != nil {\n%s[%s] += %s\n}\n", v.name, v.name, g.expr("string", 1), g.expr("int", 1))
	default:
		g.out("%s = %s\n", v.name, g.expr(v.typ, 2))
	}
}

// typed is expr for :=, which must not take another type.
func (g *generator) typed(t string, d int) string {
	switch {
	case t == "int" || t == "string" || t == "bool":
		return g.expr(t, d)
	case strings.HasPrefix(t, "*"), strings.HasPrefix(t, "func"):
		return "(" + t + ")(" + g.expr(t, d) + ")"
	}
	return t + "(" + g.expr(t, d) + ")"
}

func (g *generator) zero(t string) string {
	switch t {
	case "string":
		return `""`
	case "bool":
		return "false"
	case "int", "int8", "uint8", "uint16", "int32", "uint", "float64", "Num":
		return "0"
	case "Shape", "any", "error", "func(int) int", "[]int", "[]string", "map[string]int":
		return "nil"
	}
	if strings.HasPrefix(t, "*") {
		return "nil"
	}
	return t + "{}"
}

func (g *generator) call(i, d int) string {
	f := g.funcs[i]
	var args []string
	for _, t := range f.params {
		args = append(args, g.expr(t, d-1))
	}
	return f.name + "(" + strings.Join(args, ", ") + ")"
}

// expr writes an expression of a type.
func (g *generator) expr(t string, d int) string {
	if d > 0 && g.r.IntN(6) == 0 {
		for i, f := range g.funcs {
			if f.result == t && g.r.IntN(2) == 0 {
				return g.call(i, d)
			}
		}
	}
	if v, ok := g.variable(t); ok && g.r.IntN(5) < 3 {
		return v.name
	}
	if d <= 0 {
		return g.leaf(t)
	}
	e := func(t string) string { return g.expr(t, d-1) }
	switch t {
	case "int":
		switch g.r.IntN(12) {
		case 0, 1, 2:
			return "(" + e("int") + " " + g.pick([]string{"+", "-", "*", "^", "&"}) + " " + e("int") + ")"
		case 3:
			return "len(" + e(g.pick([]string{"string", "[]int", "[]string", "map[string]int"})) + ")"
		case 4:
			return "int(" + e(g.pick([]string{"int8", "uint8", "uint16", "int32", "Num"})) + ")"
		case 5:
			return "(" + e("int") + " / (" + e("int") + " | 1))"
		case 6:
			return e("[3]int") + fmt.Sprintf("[%d]", g.r.IntN(3))
		case 7:
			return fmt.Sprintf("%s[%d]", e("[]int"), g.r.IntN(3))
		case 8:
			return "max(" + e("int") + ", " + e("int") + ", 3)"
		case 9:
			return "Fold(" + e("[]int") + ", 1, func(a, x int) int { return a*3 + x })"
		case 10:
			return "Pair[int, string]{" + e("int") + ", " + e("string") + "}.Swap().B"
		}
		if v, ok := g.structVar(); ok {
			return v.name + g.pick([]string{".A", ".Area()"})
		}
	case "int8", "uint8", "uint16", "int32", "uint", "Num":
		switch g.r.IntN(4) {
		case 0, 1:
			return "(" + t + "(" + e(t) + ") " + g.pick([]string{"+", "-", "*", "|"}) + " " + e(t) + ")"
		case 2:
			return t + "(id(" + e("int") + "))"
		}
	case "float64":
		switch g.r.IntN(3) {
		case 0:
			return "(" + e(t) + g.pick([]string{" + ", " - ", " * "}) + e(t) + ")"
		case 1:
			return "float64(" + e("int32") + ")"
		}
	case "string":
		switch g.r.IntN(6) {
		case 0, 1:
			return "cut(" + e(t) + " + " + e(t) + ")"
		case 2:
			return "fmt.Sprint(" + e(g.pick([]string{"int", "float64", "[3]int", "Num", "[]int", "bool", "Pair[int, string]"})) + ")"
		case 3:
			return fmt.Sprintf("fmt.Sprintf(\"%%%s|\", %s)", g.pick([]string{"v", "d", "T", "5v"}), e(g.pick([]string{"int", "uint8", "Num", "[3]int"})))
		case 4:
			return "string(append([]byte(" + e(t) + "), 'z'))"
		}
	case "bool":
		switch g.r.IntN(7) {
		case 0, 1:
			x := g.pick([]string{"int", "uint8", "string", "float64", "Num"})
			return "(" + e(x) + " " + g.pick([]string{"<", "==", ">=", "!="}) + " " + e(x) + ")"
		case 2:
			return "(" + e(t) + g.pick([]string{" && ", " || "}) + e(t) + ")"
		case 3:
			return "!" + e(t)
		case 4:
			return "([3]int(" + e("[3]int") + ") == " + e("[3]int") + ")"
		case 5:
			return "(any(" + e("any") + ") == any(" + e(g.pick([]string{"int", "Num", "string", "[3]int"})) + "))"
		case 6:
			return "errors.Is(" + e("error") + ", errBase)"
		}
	case "[]int":
		switch g.r.IntN(4) {
		case 0:
			return "few(append([]int{" + e("int") + "}, " + e(t) + "...))"
		case 1:
			return "Map(" + e("[]string") + ", func(s string) int { return len(s) + " + g.leaf("int") + " })"
		case 2:
			return "[]int{" + e("int") + ", " + e("int") + "}"
		}
	case "[]string":
		return "Map(" + e("[]int") + ", func(x int) string { return fmt.Sprint(x, " + g.leaf("string") + ") })"
	case "[3]int":
		return "[3]int{" + e("int") + ", 2: " + e("int") + "}"
	case "map[string]int":
		return "map[string]int{" + g.leaf("string") + "+\"q\": " + e("int") + ", \"k\": 1}"
	case "Shape":
		switch g.r.IntN(4) {
		case 0:
			return "Shape(" + g.typed("Num", d-1) + ")"
		case 1:
			return "Names{" + e("string") + "}"
		case 2:
			return "Fn(" + e("func(int) int") + ")"
		}
		return "&" + g.pick(g.structs) + "{A: " + e("int") + "}"
	case "any":
		x := g.pick([]string{"int", "string", "Num", "[]int", "[3]int", "uint8", "Shape", "error", "float64", "Pair[int, string]"})
		return "any(" + g.typed(x, d-1) + ")"
	case "func(int) int":
		return "func(x int) int { return x " + g.pick([]string{"+", "*", "-"}) + " " + e("int") + " }"
	case "error":
		return g.pick([]string{"errBase", "&Fail{" + e("int") + "}", `fmt.Errorf("x: %w", ` + g.pick([]string{"errBase", "&Fail{1}"}) + ")", "errors.Join(errBase, &Fail{2})"})
	case "Pair[int, string]":
		return "Pair[int, string]{" + e("int") + ", " + e("string") + "}"
	case "*int":
		return "new(int)"
	}
	for _, s := range g.structs {
		switch t {
		case s:
			return s + "{A: " + e("int") + ", B: " + e("string") + "}"
		case "*" + s:
			return "(&" + s + "{A: " + e("int") + "}).Grow(" + e("int") + ")"
		}
	}
	return g.leaf(t)
}

func (g *generator) leaf(t string) string {
	switch t {
	case "int":
		return fmt.Sprint(g.r.IntN(7))
	case "int8", "uint8", "uint16", "int32", "uint", "Num":
		return fmt.Sprintf("id(%s(%d))", t, g.r.IntN(120))
	case "float64":
		return g.pick([]string{"0.5", "2.25", "1e3"})
	case "string":
		return g.pick([]string{`"a"`, `"héé"`, `""`, "`r`"})
	case "bool":
		return g.pick([]string{"true", "false"})
	case "[]int":
		return g.pick([]string{"[]int{1, 2, 3}", "[]int(nil)", "make([]int, 2, 5)"})
	case "[]string":
		return `[]string{"x", "yy"}`
	case "[3]int":
		return "[3]int{1, 2, 3}"
	case "map[string]int":
		return `map[string]int{"m": 2}`
	case "Shape":
		return g.pick([]string{"Shape(Num(3))", `Shape(Names{"n"})`})
	case "any":
		return g.pick([]string{"any(1)", `any("s")`, "any(nil)", "any(Num(2))"})
	case "func(int) int":
		return "func(x int) int { return x + 1 }"
	case "error":
		return "errBase"
	case "Pair[int, string]":
		return `Pair[int, string]{1, "p"}`
	case "*int":
		return "new(int)"
	}
	if s, ok := strings.CutPrefix(t, "*"); ok {
		return "&" + s + "{A: 1}"
	}
	return t + `{B: "l"}`
}
