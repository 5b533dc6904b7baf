package command

import (
	"context"
	"strings"
	"testing"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/viz"
)

// TestAnswersAreDrawnAsAsked: in the letters and the width of the one who asks,
// in ASCII for a pipe.
func TestAnswersAreDrawnAsAsked(t *testing.T) {
	s, err := repl.NewSession(repl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if c := s.Run(context.Background(), "x := tpu.Randn(16, 40)", "", 1, nil); len(c.Reports) > 0 {
		t.Fatal(c.Reports[0].Message)
	}
	ask := func(line string) string {
		a, err := Run(context.Background(), s, line, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a.Text
	}
	if text := ask(":inspect x --heat"); strings.ContainsFunc(text, func(r rune) bool { return r >= 0x7f || r == 0x1b }) {
		t.Errorf("not ASCII:\n%s", text)
	}
	s.SetStyle(repl.Style{Theme: viz.Color(), Columns: 50})
	text := ask(":inspect x --heat")
	if !strings.Contains(text, "▀") {
		t.Errorf("no half blocks:\n%s", text)
	}
	for _, l := range strings.Split(text, "\n") {
		if strings.Contains(l, "▀") && viz.Width(l) > 50 {
			t.Errorf("%d columns: %q", viz.Width(l), l)
		}
	}
}
