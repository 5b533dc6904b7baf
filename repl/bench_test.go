package repl

import (
	"context"
	"fmt"
	"testing"
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
