package interp

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
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
		{"range", "s := 0", "for i := range n {\n\ts += i\n}"},
		{"switch", "s := 0", "for i := 0; i < n; i++ {\n\tswitch i & 3 {\n\tcase 0:\n\t\ts++\n\tcase 1, 2:\n\t\ts--\n\t}\n}"},
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

// A session of 10,000 cells: what it holds, and what the next cell costs.
func BenchmarkTenThousandCells(b *testing.B) {
	for b.Loop() {
		s := newSession(b, Options{Universe: standUniverse(b, nil)})
		for i := range 10_000 {
			text := fmt.Sprintf("a%d := %d", i%5000, i)
			if i%10 == 0 {
				text = fmt.Sprintf("func f%d(x int) int { return x*%d + a0 }", i, i)
			}
			if i == 0 {
				text = "a0 := 1"
			}
			if _, err := s.try(text); err != nil {
				b.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB")
		began := time.Now()
		const more = 100
		for i := range more {
			if _, err := s.try(fmt.Sprintf("a%d + f10(%d)", 10*i+1, i)); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/more, "µs/cell")
		began = time.Now()
		for range more {
			if list, _ := s.in.Complete("a1", 2); len(list) == 0 {
				b.Fatal("nothing completes")
			}
		}
		b.ReportMetric(float64(time.Since(began).Microseconds())/more, "µs/completion")
	}
}
