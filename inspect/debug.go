package inspect

import (
	"fmt"

	"github.com/tpush/tpush/viz"
)

// A Debug is the debugger: where the program stands, what stops it, what is watched.
type Debug struct {
	State  string `json:"state"`            // idle, running, stopped
	Reason string `json:"reason,omitempty"` // of the stop: breakpoint, step, nan, …
	Text   string `json:"text,omitempty"`   // more about it: the condition that held, the op
	Place  string `json:"place,omitempty"`  // where it stands
	At     At     `json:"at,omitzero"`
	Op     uint64 `json:"op,omitempty"`
	// Back is how many ops ago the values shown are from, 0 for now.
	Back int `json:"back,omitempty"`

	Breakpoints []Breakpoint `json:"breakpoints"`
	Frames      []DebugFrame `json:"frames"` // innermost first
	Frame       int          `json:"frame"`  // whose locals are shown
	Locals      []DebugValue `json:"locals"`
	Watches     []Watch      `json:"watches"`
}

// A Breakpoint is one row of :breaks.
type Breakpoint struct {
	Number   int    `json:"number"`
	What     string `json:"what"`               // In[12]:3, op gather, mem > 14 GiB
	If       string `json:"if,omitempty"`       // its condition
	Commands string `json:"commands,omitempty"` // what it does when hit
	Hits     int    `json:"hits"`               //
	Disabled bool   `json:"disabled,omitempty"` //
	Problem  string `json:"problem,omitempty"`  // why it cannot be hit
	At       At     `json:"at,omitzero"`        // of one at a line
	Here     bool   `json:"here,omitempty"`     // the program stands at it
}

// A DebugFrame is one level of the stack.
type DebugFrame struct {
	Func  string `json:"func"`
	Place string `json:"place"`
	At    At     `json:"at"`
	Line  string `json:"source,omitempty"` // the text of the line
}

// A DebugValue is a variable of a frame.
type DebugValue struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Changed bool   `json:"changed,omitempty"` // since the last stop
	Value   uint64 `json:"value,omitempty"`   // of a tensor
	Op      uint64 `json:"op,omitempty"`      // that made it
	Group   uint64 `json:"group,omitempty"`
}

// A Watch is an expression that is shown at each stop, with its past.
type Watch struct {
	Number  int    `json:"number"`
	Expr    string `json:"expr"`
	Text    string `json:"text"`
	Error   string `json:"error,omitempty"`
	Changed bool   `json:"changed,omitempty"`
	Past    Floats `json:"past,omitempty"` // as numbers, oldest first, where it is one
}

// Summary is a line: where the program stands and why.
func (d *Debug) Summary() string {
	switch {
	case d.State != "stopped":
		return d.State
	case d.Back > 0:
		return fmt.Sprintf("STOPPED %s, values of %s ago", d.Place, viz.Plural(d.Back, "op"))
	}
	s := "STOPPED " + d.Place
	if d.Reason != "" {
		s += "  " + d.Reason
	}
	if d.Text != "" {
		s += ": " + d.Text
	}
	return s
}

// Stack lists the frames.
func (d *Debug) Stack() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{Right: true}, {Meaning: viz.Place}, {}, {Meaning: viz.Dim, Drop: 1}}}
	for i, f := range d.Frames {
		tb.Rows = append(tb.Rows, []string{fmt.Sprint(i), f.Place, f.Func, f.Line})
	}
	return tb
}

// BreakTable lists the breakpoints.
func (d *Debug) BreakTable() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{Right: true}, {Meaning: viz.Place}, {}, {Right: true, Drop: 1}, {Drop: 2}}}
	for _, b := range d.Breakpoints {
		cond, m := "", viz.Normal
		if b.If != "" {
			cond = "if " + b.If
		}
		switch {
		case b.Here:
			cond, m = "<- stopped  "+cond, viz.Hot
		case b.Problem != "":
			cond, m = b.Problem, viz.Bad
		case b.Disabled:
			cond, m = "off  "+cond, viz.Dim
		}
		tb.Meanings = append(tb.Meanings, m)
		tb.Rows = append(tb.Rows, []string{fmt.Sprint(b.Number), b.What, cond, viz.Plural(b.Hits, "hit"), b.Commands})
	}
	return tb
}

// LocalTable lists the locals of the chosen frame; what changed is marked.
func (d *Debug) LocalTable() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{}, {}, {Meaning: viz.Dim, Drop: 1}, {}}}
	for _, v := range d.Locals {
		mark, m := " ", viz.Normal
		if v.Changed {
			mark, m = "*", viz.Hot
		}
		tb.Meanings = append(tb.Meanings, m)
		tb.Rows = append(tb.Rows, []string{mark, v.Name, v.Type, v.Text})
	}
	return tb
}
