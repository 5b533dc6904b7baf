package view_test

import (
	"context"
	"testing"

	"github.com/tpush/tpush/repl/view"
)

// BenchmarkViews takes each view of a session whose recording is full, with a
// few new events each time: 2 ms is what a screen can spend.
func BenchmarkViews(b *testing.B) {
	s := session(b, nil, "x := tpu.Ones(64, 64)\nlist := []*tpu.Tensor{}\nfor range 300 {\n\tlist = append(list, x.Add(1))\n}")
	for s.Recorder().Dropped() == 0 {
		s.Run(context.Background(), "for range 2000 {\n\tx = x.Mul(0.5).Add(1)\n}", "", 1, discard{})
	}
	for _, row := range view.All() {
		b.Run(row.Name, func(b *testing.B) {
			v := view.New(s)
			if _, err := v.Take(row.Name, nil); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				s.Run(context.Background(), "x = x.Add(1)", "", 1, discard{})
				b.StartTimer()
				if _, err := v.Take(row.Name, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
