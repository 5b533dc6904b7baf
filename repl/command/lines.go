package command

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/trace"
)

// expensiveLines are the n source lines that took most simulated TPU time.
func expensiveLines(s *repl.Session, n int) inspect.Lines {
	tpu, _ := inspect.QuantityNamed("tpu")
	return inspect.LinesBy(s.Recorder().Totals(), tpu, n, func(f trace.Frame) string { return firstLine(sourceLine(s, f), 48) })
}

// placeOf prints a frame with its column, ? when nothing is known.
func placeOf(f trace.Frame) string {
	p := f.Place()
	if p == "" {
		return "?"
	}
	if f.Column > 0 {
		p += fmt.Sprintf(":%d", f.Column)
	}
	return p
}

// sourceLine is the text of a frame's line.
func sourceLine(s *repl.Session, f trace.Frame) string {
	c := s.Cell(f.Cell)
	if c == nil {
		return ""
	}
	lines := strings.Split(c.Source, "\n")
	if f.Line < 1 || f.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[f.Line-1])
}
