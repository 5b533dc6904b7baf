package interp

import (
	"strings"
	"testing"
)

func TestUses(t *testing.T) {
	s := newSession(t, Options{Universe: TPU()})
	if _, err := s.try("x, y, lr := 1, 2, 0.5\nxs := []int{1}\nw := tpu.Ones(2)\ntype P struct{ x int }\nfunc read() int { return y }\nfunc step() { x += read() }"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ src, reads, writes string }{
		{"x + 1", "x", ""},
		{"x = 3", "", "x"},
		{"x += y", "x y", "x"},
		{"x++", "x", "x"},
		{"z := x", "x", "z"},
		{"x := x * 2", "x", "x"},
		{"x := 1; x + 1", "", "x"},
		{"var a, b = y, 1", "y", "a b"},
		{"xs[0] = y", "xs y", "xs"},
		{"for i := range xs { y := i; _ = y }", "xs", ""},
		{"func(x int) int { return x }(y)", "y", ""},
		{"P{x: y}", "P y", ""},
		{"step()", "read step x y", "x"},
		{"func again() { y = 2 }", "", "again y"},
		{"w.AddInPlace(x)", "w x", "w"},
		{"w[0] = lr", "lr w", "w"},
		{"w @ w", "w", ""},
		{"tpu.Ones(3)", "", ""},
		{"x := (", "", ""},
		{"xs[x:]", "x xs", ""},
	} {
		reads, writes := s.in.Uses(tt.src)
		if r, w := strings.Join(reads, " "), strings.Join(writes, " "); r != tt.reads || w != tt.writes {
			t.Errorf("%s reads %q and sets %q, want %q and %q", tt.src, r, w, tt.reads, tt.writes)
		}
	}
}
