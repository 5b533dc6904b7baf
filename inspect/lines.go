package inspect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A Quantity is something that lines of a program cost.
type Quantity struct {
	Name   string
	Title  string // of a column
	Doc    string
	Repeat bool // the same in every run: not measured on the host
	of     func(*trace.Total) int64
	format func(int64) string
}

var quantities = [...]Quantity{
	{"tpu", "TPU time", "time on the device", true, func(t *trace.Total) int64 { return t.DeviceNS }, viz.DurationNS},
	{"host", "host time", "wall time of the host in dispatch, compile, launch, transfer and read", false, func(t *trace.Total) int64 { return t.HostNS }, viz.DurationNS},
	{"real", "real time", "time that real XLA measured, beside the simulated TPU time", false, func(t *trace.Total) int64 { return t.RealNS }, viz.DurationNS},
	{"hbm", "HBM", "HBM held now, padding included", true, func(t *trace.Total) int64 { return t.InUseBytes }, viz.Bytes},
	{"alloc", "allocated", "HBM ever taken, padding included", true, func(t *trace.Total) int64 { return t.AllocBytes }, viz.Bytes},
	{"padding", "padding", "of the HBM ever taken, what holds no numbers", true, func(t *trace.Total) int64 { return t.PaddingBytes }, viz.Bytes},
	{"ops", "ops", "operations applied", true, func(t *trace.Total) int64 { return t.Ops }, viz.Count},
	{"flops", "FLOPs", "floating-point operations", true, func(t *trace.Total) int64 { return t.FLOPs }, viz.FLOPs},
	{"transfer", "transferred", "bytes between host and device", true, func(t *trace.Total) int64 { return t.TransferBytes }, viz.Bytes},
}

// Quantities lists what lines can be ordered by.
func Quantities() []Quantity { return quantities[:] }

// QuantityNamed finds a quantity; false when there is none of that name.
func QuantityNamed(name string) (Quantity, bool) {
	for _, q := range quantities {
		if q.Name == name {
			return q, true
		}
	}
	return Quantity{}, false
}

// Of gives the quantity of t.
func (q Quantity) Of(t *trace.Total) int64 { return q.of(t) }

// Format writes a value of the quantity with its unit.
func (q Quantity) Format(n int64) string { return q.format(n) }

// A Line is what one source line cost.
type Line struct {
	trace.Total // Op and Stack are those of the most expensive op
	Place       string
	Frame       trace.Frame
	OpNames     []string // the most expensive first
	Source      string   // the text of the line, "" when it was not asked for
}

// Lines are source lines, the most expensive first.
type Lines struct {
	By      string // name of the Quantity
	Rows    []Line // those that cost something, at most as many as were asked for
	Omitted int    // lines that cost something and are not in Rows
	All     int64  // the quantity over all lines
}

// LinesBy adds totals up by the line that applied the op and gives the n most
// expensive; all when n is not positive. source gives the text of a line; it
// may be nil.
func LinesBy(totals []trace.Total, by Quantity, n int, source func(trace.Frame) string) Lines {
	type key struct {
		cell, line int
		file       string
	}
	index := map[key]int{}
	var all []Line
	cost := map[key]map[string]int64{} // by op
	for i := range totals {
		t := &totals[i]
		f := t.Stack.Top()
		k := key{cell: f.Cell, line: f.Line, file: f.File}
		if f.File != "" && f.FileLine > 0 {
			k = key{line: f.FileLine, file: f.File} // a cell of a file that ran twice is one place
		}
		at, ok := index[k]
		if !ok {
			at = len(all)
			index[k] = at
			f.Column = 0
			all = append(all, Line{Frame: f, Place: f.Place()})
			all[at].Stack = t.Stack
			cost[k] = map[string]int64{}
		}
		l := &all[at]
		l.Ops += t.Ops
		l.Launches += t.Launches
		l.DeviceNS += t.DeviceNS
		l.HostNS += t.HostNS
		l.RealNS += t.RealNS
		l.FLOPs += t.FLOPs
		l.TransferBytes += t.TransferBytes
		l.AllocBytes += t.AllocBytes
		l.PaddingBytes += t.PaddingBytes
		l.InUseBytes += t.InUseBytes
		if v := by.of(t); v != 0 && t.Op != "" {
			cost[k][t.Op] += v
		}
	}
	out := Lines{By: by.Name}
	for k, at := range index {
		l := &all[at]
		for name := range cost[k] {
			l.OpNames = append(l.OpNames, name)
		}
		slices.SortFunc(l.OpNames, func(a, b string) int {
			return cmp.Or(cmp.Compare(cost[k][b], cost[k][a]), cmp.Compare(a, b))
		})
		if len(l.OpNames) > 0 {
			l.Op = l.OpNames[0]
		}
	}
	slices.SortStableFunc(all, func(a, b Line) int { return cmp.Compare(by.of(&b.Total), by.of(&a.Total)) })
	for i := range all {
		v := by.of(&all[i].Total)
		out.All += v
		switch {
		case v == 0:
		case n > 0 && len(out.Rows) == n:
			out.Omitted++
		default:
			if source != nil {
				all[i].Source = strings.TrimSpace(source(all[i].Frame))
			}
			out.Rows = append(out.Rows, all[i])
		}
	}
	return out
}

const namesShown = 3 // ops of a line in a table

// Drawing is the table of l. It shows what repeats exactly from run to run, and
// what l is ordered by.
func (l Lines) Drawing() viz.Table {
	by, ok := QuantityNamed(l.By)
	if !ok {
		return viz.Table{}
	}
	shown := []Quantity{by}
	for _, name := range []string{"tpu", "ops", "alloc"} {
		if q, _ := QuantityNamed(name); name != l.By {
			shown = append(shown, q)
		}
	}
	tb := viz.Table{Columns: []viz.Column{{Title: "line", Meaning: viz.Place}}}
	for i, q := range shown {
		tb.Columns = append(tb.Columns, viz.Column{Title: q.Title, Right: true})
		if i == 0 {
			tb.Columns = append(tb.Columns, viz.Column{Title: "share", Right: true})
		}
	}
	tb.Columns = append(tb.Columns, viz.Column{Title: "what"})
	withSource := false
	for _, r := range l.Rows {
		withSource = withSource || r.Source != ""
	}
	if withSource {
		tb.Columns = append(tb.Columns, viz.Column{Title: "source", Meaning: viz.Dim})
	}
	for _, r := range l.Rows {
		place := r.Place
		if place == "" {
			place = "(unknown)"
		}
		row := []string{place}
		for i, q := range shown {
			row = append(row, q.Format(q.Of(&r.Total)))
			if i == 0 {
				row = append(row, viz.Percent(q.Of(&r.Total), l.All))
			}
		}
		names := r.OpNames
		what := strings.Join(names[:min(len(names), namesShown)], " ")
		if len(names) > namesShown {
			what += " and " + viz.Count(int64(len(names)-namesShown)) + " more"
		}
		row = append(row, what)
		if withSource {
			row = append(row, r.Source)
		}
		tb.Rows = append(tb.Rows, row)
	}
	return tb
}
