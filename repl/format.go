package repl

import (
	"errors"
	"strings"

	"github.com/tpush/tpush/repl/cell"
)

// A FormatError says that a cell of a file is no Go.
type FormatError struct {
	File         string
	Line, Column int
	Msg          string
}

// Error is the message alone; the place is for the front end.
func (e *FormatError) Error() string { return e.Msg }

// Format gives the text of a notebook with its cells as gofmt would write them.
// Separators, commands, expectations and what stands between cells stay as they
// are. The error is a *FormatError.
func Format(nb *Notebook) ([]byte, error) {
	var b strings.Builder
	next := 1
	copyTo := func(line int) {
		for ; next < line; next++ {
			b.WriteString(nb.Line(next) + "\n")
		}
	}
	for _, s := range nb.Steps {
		if s.Kind != Code {
			continue
		}
		copyTo(s.Line)
		text, err := cell.Format(strings.Join(nb.Lines[s.Line-1:s.Last], "\n"))
		var ce *cell.CompileError
		if errors.As(err, &ce) {
			d := ce.Diagnostics[0]
			return nil, &FormatError{nb.Path, s.Line + d.Line - 1, d.Column, d.Msg}
		}
		if err != nil {
			return nil, err
		}
		b.WriteString(text + "\n")
		next = s.Last + 1
	}
	copyTo(len(nb.Lines) + 1)
	out := strings.TrimSuffix(b.String(), "\n")
	if n := len(nb.Lines); n > 0 && nb.Lines[n-1] != "" {
		out += "\n" // the last line of a file ends
	}
	return nb.Restore(out), nil
}
