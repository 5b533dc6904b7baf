package command

import (
	"fmt"
	"sort"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/trace"
)

// A lineCost is what one source line cost in all.
type lineCost struct {
	place      string
	source     string
	ops        int64
	deviceNS   int64
	hostNS     int64
	allocBytes int64
}

// expensiveLines sums the totals of the recorder by the innermost source line,
// most TPU time first.
func expensiveLines(s *repl.Session) []lineCost {
	type key struct{ cell, line int }
	sums := map[key]*lineCost{}
	for _, t := range s.Recorder().Totals() {
		f := t.Stack.Top()
		if f.Line == 0 {
			continue
		}
		k := key{f.Cell, f.Line}
		l := sums[k]
		if l == nil {
			f.Column = 0
			l = &lineCost{place: placeOf(f), source: sourceLine(s, f)}
			sums[k] = l
		}
		l.ops += t.Ops
		l.deviceNS += t.DeviceNS
		l.hostNS += t.HostNS
		l.allocBytes += t.AllocBytes
	}
	var list []lineCost
	for _, l := range sums {
		list = append(list, *l)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].deviceNS != list[j].deviceNS {
			return list[i].deviceNS > list[j].deviceNS
		}
		return list[i].place < list[j].place
	})
	return list
}

// placeOf prints a frame as file:line or In[n]:line, with the column when known.
func placeOf(f trace.Frame) string {
	if f.Line == 0 {
		return "?"
	}
	p := fmt.Sprintf("In[%d]:%d", f.Cell, f.Line)
	if f.File != "" && f.FileLine > 0 {
		p = fmt.Sprintf("%s:%d", f.File, f.FileLine)
	}
	if f.Column > 0 {
		p += fmt.Sprintf(":%d", f.Column)
	}
	return p
}

func sourceLine(s *repl.Session, f trace.Frame) string {
	c := s.Cell(f.Cell)
	if c == nil {
		return ""
	}
	lines := strings.Split(c.Source, "\n")
	if f.Line < 1 || f.Line > len(lines) {
		return ""
	}
	return lines[f.Line-1]
}
