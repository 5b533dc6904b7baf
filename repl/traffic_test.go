package repl

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// What a cell reads and changes is told whether its text names it or not.
func TestUses(t *testing.T) {
	const model = `type net struct { w, b *tpu.Tensor; steps int }
func (n *net) forward(x *tpu.Tensor) *tpu.Tensor { return (x @ n.w) + n.b }
m := &net{w: tpu.Param("w", tpu.Randn(4, 4)), b: tpu.Param("b", tpu.Zeros(4))}
params := []*tpu.Tensor{m.w, m.b}
opt := optim.NewSGD(params, optim.SGDOptions{LR: 0.1})
x := tpu.Ones(2, 4)
other := tpu.Ones(3)`
	for _, tt := range []struct {
		name, setup, cell string
		reads, writes     string
	}{
		{"names", "a := 1\nb := 2", "a = b", "b", "a"},
		{"declared", "a := 1", "c := a", "a", "c"},
		{"set to what it was", "a := 1\nb := a", "a = 1", "", ""},
		{"declared again as it was", "a := 1", "a := 1", "", ""},
		{"a function", "func f() int { return 1 }", "func f() int { return 2 }", "", "f"},
		{"a function's reads and writes", "n := 1\nk := 2\nfunc f() { n += k }", "f()", "f k n", "n"},
		{"through a pointer", "n := 1\np := &n", "*p = 2", "p", "n p"},
		{"a slice in place", "s := []int{1, 2}\nt := s", "t[0] = 9", "t", "s t"},
		{"a map in place", `m := map[string]int{"a": 1}`, `m["b"] = 2`, "m", "m"},
		{"a map that is read", `m := map[string]int{"a": 1, "b": 2, "c": 3}`, `m["b"]`, "m", ""},
		{"a method with a pointer", "type c struct{ n int }\nfunc (x *c) inc() { x.n++ }\nv := c{}", "v.inc()", "v", "v"},
		{"a tensor in place", "x := tpu.Ones(3)\ny := x", "y.AddInPlace(1)", "y", "x y"},
		{"a view in place", "x := tpu.Ones(3, 3)\nrow := x[0, :]\nz := tpu.Ones(2)", "row.MulInPlace(2)", "row", "row x"},
		{"an optimizer", model, "loss := m.forward(x).Sum()\nloss.Backward()\nopt.Step()", "m opt x", "loss m opt params"},
		{"reading alone", model, "m.forward(x)", "m x", ""},
		{"a closure's tensor", "w := tpu.Ones(3)\nf := func() *tpu.Tensor { return w * 2 }\nu := tpu.Ones(3)", "f()", "f w", ""},
		{"a name with another", "w := tpu.Ones(3)\nv := w", "w * 2", "w", ""},
		{"another view of the same", "w := tpu.Ones(2, 3)", "w = w.T()", "w", "w"},
		{"a text that is no Go", "a := 1", "a := :=", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := NewSession(Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if c := s.Run(context.Background(), tt.setup, "", 1, silent{}); len(c.Reports) > 0 {
				t.Fatal(c.Reports[0].Message)
			}
			reads, writes := s.Uses(tt.cell, func() { s.Run(context.Background(), tt.cell, "", 1, silent{}) })
			if got := strings.Join(reads, " "); got != tt.reads {
				t.Errorf("reads %q, want %q", got, tt.reads)
			}
			if got := strings.Join(writes, " "); got != tt.writes {
				t.Errorf("writes %q, want %q", got, tt.writes)
			}
		})
	}
}

func manyVariables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "v%d := %d\n", i, i)
	}
	return b.String()
}

// BenchmarkUses is what looking at the variables costs a cell, for as many of them.
func BenchmarkUses(b *testing.B) {
	for name, setup := range map[string]string{
		"none":                  "1",
		"1000 numbers":          manyVariables(1000),
		"a list of 1e6 numbers": "l := make([]float64, 1_000_000)",
		"a model":               "ws := []*tpu.Tensor{}\nfor range 500 { ws = append(ws, tpu.Ones(2)) }",
	} {
		b.Run(name, func(b *testing.B) {
			s, err := NewSession(Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			s.Run(context.Background(), setup, "", 1, silent{})
			for b.Loop() {
				s.Uses("1", func() {})
			}
		})
	}
}
