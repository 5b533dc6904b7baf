package repl

import (
	"errors"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
)

// modeVariables are the names of the modes in package tpu.
var modeVariables = map[*exec.Mode]string{exec.Debug: "Debug", exec.Strict: "Strict", exec.DeferAndFuse: "DeferAndFuse", exec.Compiled: "Compiled"}

// WriteGo writes a notebook as a plain Go program that prints what tpush run
// prints. Values that cells show are not printed. Commands become comments,
// those that set the mode or the chip the calls that do so. The error is a
// *FormatError at the first mistake.
func WriteGo(nb *Notebook) ([]byte, error) {
	in, err := interp.New(interp.Options{Universe: interp.TPU()})
	if err != nil {
		return nil, err
	}
	var cells []interp.GoCell
	lines := map[int]int{} // of cells, to their first line
	n := 0
	for i, s := range nb.Steps {
		switch s.Kind {
		case Code:
			n++
			lines[n] = s.Line
			cells = append(cells, interp.GoCell{Source: interp.Source{Cell: n, File: nb.Path, FirstLine: s.Line, Text: s.Text}, Title: s.Title, MayPanic: nb.expectsError(i)})
		case Command:
			c := interp.GoCell{Comment: s.Text}
			c.Source = interp.Source{File: nb.Path, FirstLine: s.Line, Text: commandCode(s.Text)}
			if isTime(s.Text) {
				n++
				c.Cell = n
				lines[n] = s.Line
			}
			cells = append(cells, c)
		}
	}
	out, err := in.WriteGo("This program was written by tpush export --go from "+nb.Path+".\n", cells)
	var ce *cell.CompileError
	if errors.As(err, &ce) {
		d := ce.Diagnostics[0]
		return nil, &FormatError{nb.Path, lines[d.Cell] + d.Line - 1, d.Column, d.Kind + ": " + d.Msg}
	}
	return out, err
}

func isTime(command string) bool { return strings.HasPrefix(command, ":time ") }

// commandCode gives the Go for a command, "" when nothing that it does shows in
// the output of the program.
func commandCode(command string) string {
	name, arg, _ := strings.Cut(strings.TrimPrefix(command, ":"), " ")
	arg = strings.TrimSpace(arg)
	switch name {
	case "mode", "m":
		if m, err := exec.LookupMode(arg); err == nil {
			return "tpu.SetMode(tpu." + modeVariables[m] + ")"
		}
	case "chip", "device":
		if arg != "" {
			return "tpu.SetChip(\"" + arg + "\")"
		}
	case "time":
		return arg
	}
	return ""
}
