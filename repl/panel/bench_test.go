package panel_test

import (
	"context"
	"testing"

	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/viz"
)

// BenchmarkView draws each panel of a session with a full recording on a large
// screen: 0.5 ms is what a frame can spend on it.
func BenchmarkView(b *testing.B) {
	s := session(b, "debug", program...)
	run(b, s, "many := tpu.Ones(64, 64)\nlist := []*tpu.Tensor{}\nfor range 200 {\n\tlist = append(list, many.Add(1))\n}")
	for s.Recorder().Dropped() == 0 {
		s.Run(context.Background(), "for range 2000 {\n\tmany = many.Mul(0.5).Add(1)\n}", "", 1, discard{})
	}
	v := view.New(s, command.Views()...)
	for _, p := range panel.All() {
		load(b, v, p)
		load(b, v, p)
		b.Run(p.Name(), func(b *testing.B) {
			for b.Loop() {
				p.View(panel.Context{Theme: viz.Dark(), Focused: true}, 96, 44)
			}
		})
	}
}
