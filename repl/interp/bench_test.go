package interp

import (
	"context"
	"fmt"
	"testing"
)

func benchCells(b *testing.B, first string, src func(i int) string) {
	s := newSession(b, Options{Universe: standUniverse(b, nil)})
	if _, err := s.try(first); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := s.in.Run(context.Background(), Source{Cell: i + 2, Text: src(i)}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOneLineCell(b *testing.B) {
	benchCells(b, "x := 1", func(int) string { return "x + 1" })
}

func BenchmarkOneOpCell(b *testing.B) {
	benchCells(b, "x := tpu.Of(\"x\")", func(int) string { return "y := x[:, 0] * 2" })
}

func BenchmarkHundredLineCell(b *testing.B) {
	text := ""
	for i := range 100 {
		text += fmt.Sprintf("a%d := x * %d\n", i, i)
	}
	benchCells(b, "x := tpu.Of(\"x\")", func(int) string { return text })
}

// The cost of running code, per turn of a loop.
func BenchmarkRun(b *testing.B) {
	for _, bb := range []struct{ name, decl, loop string }{
		{"empty", "", "for i := 0; i < n; i++ {\n}"},
		{"sum", "s := 0", "for i := 0; i < n; i++ {\n\ts += i\n}"},
		{"call", "func f(a int) int { return a + 1 }", "for i := 0; i < n; i++ {\n\tf(i)\n}"},
		{"framed call", "func f(a int) int { return g(a) }\nfunc g(a int) int { return a + 1 }", "for i := 0; i < n; i++ {\n\tf(i)\n}"},
		{"op", "x := tpu.Of(\"x\"); y := x", "for i := 0; i < n; i++ {\n\ty = x.Pass()\n}"},
		{"where", "x := tpu.Of(\"x\"); y := x", "for i := 0; i < n; i++ {\n\ty = x.Told()\n}"},
		{"defer", "func f() { defer g() }\nfunc g() {}", "for i := 0; i < n; i++ {\n\tf()\n}"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var s *session
			s = newSession(b, Options{Universe: standUniverse(b, func(string) { s.in.Where() })})
			s.show(bb.decl)
			if _, err := s.try(fmt.Sprintf("func run(n int) {\n%s\n}", bb.loop)); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			if _, err := s.try(fmt.Sprintf("run(%d)", b.N)); err != nil {
				b.Fatal(err)
			}
		})
	}
}
