package tui

import (
	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/kernel"
)

// An outputKind says what a piece below a cell is.
type outputKind uint8

const (
	outStdout outputKind = iota
	outStderr
	outResult  // the shown value
	outDisplay // the answer of a command
	outWarning
	outError
)

// An output is one piece of what a cell produced.
type output struct {
	kind    outputKind
	text    lines
	partial string            // of a stream: the line that has not ended
	data    map[string]string // by MIME type
	err     kernel.ErrorContent

	spool   string          // the file that has all of it, when the middle is not kept
	form    form            // how a tensor is shown
	rich    *inspect.Tensor // decoded from data
	decoded bool
}

// all gives the lines that are kept.
func (o *output) all() []string {
	list := o.text.all()
	if o.partial != "" {
		list = append(list, o.partial)
	}
	return list
}

// Bounds of what one piece of output keeps: the first lines and the last.
const (
	keepFirst = 1000
	keepLast  = 20000
	keepBytes = 4 << 20 // of the last
)

// lines is text of bounded size: its beginning and its end.
type lines struct {
	first   []string
	last    []string // what came after first; the oldest go first
	bytes   int      // of last
	dropped int      // between first and last
}

func (l *lines) add(list []string) {
	if n := min(keepFirst-len(l.first), len(list)); n > 0 {
		l.first = append(l.first, list[:n]...)
		list = list[n:]
	}
	if len(list) > keepLast {
		l.dropped += len(list) - keepLast + len(l.last)
		l.last, l.bytes = l.last[:0], 0
		list = list[len(list)-keepLast:]
	}
	for _, s := range list {
		l.bytes += len(s)
	}
	l.last = append(l.last, list...)
	cut := 0
	for len(l.last)-cut > keepLast || l.bytes > keepBytes && len(l.last)-cut > 1 {
		l.bytes -= len(l.last[cut])
		l.last[cut] = "" // the text may go, though the slice stays
		cut++
	}
	if cut > 0 {
		l.dropped += cut
		l.last = l.last[cut:]
	}
}

// len counts all lines, the dropped ones too.
func (l *lines) len() int { return len(l.first) + l.dropped + len(l.last) }

func (l *lines) all() []string {
	out := append([]string(nil), l.first...)
	if l.dropped > 0 {
		out = append(out, droppedLine(l.dropped))
	}
	return append(out, l.last...)
}

// head and tail give lines of the beginning and the end without building the whole.
func (l *lines) head(n int) []string { return l.first[:min(n, len(l.first))] }

func (l *lines) tail(n int) []string {
	if len(l.last) >= n {
		return l.last[len(l.last)-n:]
	}
	rest := n - len(l.last)
	return append(append([]string(nil), l.first[max(len(l.first)-rest, 0):]...), l.last...)
}
