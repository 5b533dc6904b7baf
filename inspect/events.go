package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// Events are the last events of a session, those that a filter lets through.
type Events struct {
	Rows    []EventRow `json:"rows"` // oldest first
	Total   uint64     `json:"total"`
	Dropped uint64     `json:"dropped"`
	Off     bool       `json:"off,omitempty"` // recording is switched off
	Filter  string     `json:"filter,omitempty"`
}

// EventsArgs ask for events.
type EventsArgs struct {
	Filter string `json:"filter,omitempty"` // part of a kind or name, gN, #N, In[N]
	Last   int    `json:"last,omitempty"`
	Before uint64 `json:"before,omitempty"` // only events before this one, 0 for all
}

// An EventRow is one event.
type EventRow struct {
	Seq        uint64 `json:"seq"`
	Kind       string `json:"kind"`
	AtNS       int64  `json:"at_ns"`
	DurationNS int64  `json:"duration_ns,omitempty"`
	Name       string `json:"name,omitempty"`
	Text       string `json:"text,omitempty"` // the rest of its fields
	Place      string `json:"place,omitempty"`
	At         At     `json:"at,omitzero"`
	Op         uint64 `json:"op,omitempty"`
	Group      uint64 `json:"group,omitempty"`
	Value      uint64 `json:"value,omitempty"`
	Bad        bool   `json:"bad,omitempty"`
}

// EventOf makes the row of an event.
func EventOf(e *trace.Event) EventRow {
	f := e.Stack.Top()
	r := EventRow{Seq: e.Seq, Kind: e.Kind.String(), AtNS: e.AtNS, DurationNS: e.DurationNS, Name: e.Name, Place: f.Place(), At: At{f.Cell, f.Line},
		Op: e.Op, Group: uint64(e.Launch), Value: e.Value, Bad: e.Kind == trace.Failure}
	if r.At.Cell == 0 {
		r.At.Cell = e.Cell
	}
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Launch > 0 {
		add("g%d", e.Launch)
	}
	if e.Op > 0 {
		add("#%d", e.Op)
	}
	if e.Spec != "" {
		add("%s", e.Spec)
	}
	if e.Kind == trace.Alloc || e.Kind == trace.Free {
		add("%s, %s in use", viz.Bytes(e.PaddedBytes), viz.Bytes(e.InUseBytes))
	} else if e.Bytes > 0 {
		add("%s", viz.Bytes(e.Bytes))
	}
	if e.FLOPs > 0 {
		add("%s", viz.FLOPs(e.FLOPs))
	}
	if e.Reason != "" {
		add("%s", e.Reason)
	}
	if e.CacheKey != "" {
		add("key %s", e.CacheKey)
	}
	if e.Text != "" {
		add("%s", e.Text)
	}
	r.Text = strings.Join(parts, "  ")
	return r
}

// Table lists the events.
func (e *Events) Table() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{Title: "event", Right: true, Meaning: viz.Dim, Drop: 2}, {Title: "at", Right: true, Drop: 1}, {Title: "kind", Meaning: viz.Strong}, {Title: "name"}, {Title: "what", Least: 32}, {Title: "took", Right: true, Drop: 3}, {Title: "line", Meaning: viz.Place, Drop: 1}}}
	for i := range e.Rows {
		r := &e.Rows[i]
		took, m := "", viz.Normal
		if r.DurationNS > 0 {
			took = viz.DurationNS(r.DurationNS)
		}
		if r.Bad {
			m = viz.Bad
		}
		tb.Meanings = append(tb.Meanings, m)
		tb.Rows = append(tb.Rows, []string{strconv.FormatUint(r.Seq, 10), viz.DurationNS(r.AtNS), r.Kind, r.Name, r.Text, took, r.Place})
	}
	return tb
}

// Summary is a line: how many events, how many are missing.
func (e *Events) Summary() string {
	s := viz.Plural(e.Total, "event") + " recorded"
	if e.Dropped > 0 {
		s += ", " + viz.Count(int64(e.Dropped)) + " dropped at the front"
	}
	if e.Off {
		s += ", recording is off (:trace on)"
	}
	return s
}

// Match gives the numbers of at most n of the last events before an event (0:
// of all) that a filter lets through, oldest first.
func (r *Recording) Match(filter string, before uint64, n int) []uint64 {
	want := strings.ToLower(strings.TrimSpace(filter))
	hit := make([]bool, len(r.texts))
	kinds := map[trace.Kind]bool{}
	for i, t := range r.texts {
		hit[i] = strings.Contains(strings.ToLower(t), want)
	}
	for _, row := range trace.Kinds() {
		kinds[row.Kind] = strings.Contains(row.Name, want)
	}
	number := func(prefix, suffix string) uint64 {
		s, ok := strings.CutPrefix(want, prefix)
		s, ok2 := strings.CutSuffix(s, suffix)
		v, err := strconv.ParseUint(s, 10, 64)
		if !ok || !ok2 || err != nil {
			return 0
		}
		return v
	}
	group, op, cell := number("g", ""), number("#", ""), number("in[", "]")
	var out []uint64
	last := r.last
	if before > 0 {
		last = min(last, before-1)
	}
	for seq := last; seq >= r.first && seq > 0 && len(out) < n; seq-- {
		i := int64(seq) - int64(r.base)
		if i < 0 || i >= int64(len(r.index)) {
			break
		}
		x := &r.index[i]
		switch {
		case want == "", kinds[x.kind], hit[x.name], group != 0 && uint64(x.group) == group, op != 0 && x.op == op, cell != 0 && uint64(x.cell) == cell:
			out = append(out, seq)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// An OpCard is what is known of one event: the op, the group it ran in, and
// what the time of its kernel is made of.
type OpCard struct {
	Event  EventRow     `json:"event"`
	Group  *FusionGroup `json:"group,omitempty"`
	Op     *FusionOp    `json:"op,omitempty"`
	Kernel *FusedKernel `json:"kernel,omitempty"`
}

// Rows are the card as lines of name and text.
func (c *OpCard) Rows() [][]viz.Piece {
	var rows [][]viz.Piece
	add := func(name, text string, m viz.Meaning) {
		if text != "" {
			rows = append(rows, []viz.Piece{{Text: fmt.Sprintf("%-9s", name), Meaning: viz.Dim}, {Text: text, Meaning: m}})
		}
	}
	e := &c.Event
	add(e.Kind, strings.TrimSpace(e.Name+"  "+e.Text), viz.Strong)
	when := "at " + viz.DurationNS(e.AtNS)
	if e.DurationNS > 0 {
		when += " for " + viz.DurationNS(e.DurationNS)
	}
	add("time", when, viz.Normal)
	add("line", e.Place, viz.Place)
	if o := c.Op; o != nil {
		add("op", fmt.Sprintf("#%d %s %s", o.Op, o.Name, o.Spec), viz.Normal)
		add("layout", fmt.Sprintf("%s   %s of numbers, %s in HBM", o.Layout, viz.Bytes(o.Bytes), viz.Bytes(o.Padded)), viz.Normal)
	}
	if g := c.Group; g != nil {
		add("group", fmt.Sprintf("g%d %s, %s, cut because %s", g.Number, g.Name, viz.Plural(g.OpCount, "op"), g.Reason), viz.Normal)
	}
	if k := c.Kernel; k != nil {
		add("kernel", fmt.Sprintf("%s %s, bound by %s, ends because %s", k.Name, viz.DurationNS(k.DurationNS), k.Bound, k.Why), viz.Normal)
		add("of it", fmt.Sprintf("MXU %s   vector %s   HBM %s   %s, %s moved", viz.DurationNS(k.MXUNS), viz.DurationNS(k.VectorNS), viz.DurationNS(k.HBMNS), viz.FLOPs(k.FLOPs), viz.Bytes(k.ReadBytes+k.WriteBytes)), viz.Normal)
	}
	return rows
}

// Look completes a card with the group that the event belongs to.
func (c *OpCard) Look(d *GroupDetail) {
	c.Group = &d.Group
	for i := range d.Ops {
		if o := &d.Ops[i]; o.Op == c.Event.Op || c.Event.Op == 0 && i == len(d.Ops)-1 {
			c.Op = o
			if o.Kernel >= 0 && o.Kernel < len(d.Kernels) {
				c.Kernel = &d.Kernels[o.Kernel]
			}
		}
	}
}
