package repl

import (
	"context"
	"fmt"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// BenchmarkOp is one operation in a loop of a cell, with the last operations
// kept and without; the difference is what looking back costs.
func BenchmarkOp(b *testing.B) {
	for _, ops := range []int{0, defaultHistoryOps} {
		b.Run(fmt.Sprintf("kept %d", ops), func(b *testing.B) {
			s, err := NewSession(Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			s.setHistory(ops, defaultHistoryBytes)
			s.Run(context.Background(), "x := tpu.Ones(4)", "", 1, discarded{})
			b.ResetTimer()
			s.Run(context.Background(), fmt.Sprintf("for range %d { h := x.Add(1); x = h }", b.N), "", 1, discarded{})
		})
	}
}

// BenchmarkRemember is what is done before each cell so that it can be undone.
func BenchmarkRemember(b *testing.B) {
	s, err := NewSession(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range 2000 {
		s.Run(context.Background(), fmt.Sprintf("v%d := %d", i, i), "", 1, discarded{})
	}
	b.ResetTimer()
	for b.Loop() {
		s.remember(1)
	}
}

// BenchmarkChain is a link of a chain that the gradient tape keeps, in chains of
// several lengths: it costs the same in each.
func BenchmarkChain(b *testing.B) {
	for _, mode := range []*exec.Mode{exec.Debug, exec.Strict, exec.DeferAndFuse} {
		for _, links := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", mode.Name, links), func(b *testing.B) {
				s, err := NewSession(Options{Mode: mode})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				s.Run(context.Background(), "w := tpu.Ones(8).RequireGrad()\nx := tpu.Ones(8)", "", 1, discarded{})
				for b.Loop() {
					c := s.Run(context.Background(), fmt.Sprintf("x = tpu.Ones(8)\nfor range %d { x = x.Mul(w) }", links), "", 1, discarded{})
					if c.Status != "ok" {
						b.Fatal(c.Reports)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*links), "ns/link")
			})
		}
	}
}
