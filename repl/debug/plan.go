package debug

import (
	"sync/atomic"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
)

// A plan is what may stop at one site. Running cells read it without a lock.
type plan struct {
	at      []*armed
	changes []*armed
}

// An armed is a breakpoint at a site.
type armed struct {
	b    *Breakpoint
	cond atomic.Pointer[interp.Condition] // nil until the site is reached
}

// A planTable holds the plans of the sites by their numbers. It is replaced as a
// whole when the breakpoints change.
type planTable []atomic.Pointer[plan]

// planAt gives the plan of a site.
func (d *Debugger) planAt(s *cell.Site) *plan {
	if t := *d.plans.Load(); s.ID < len(t) {
		if p := t[s.ID].Load(); p != nil {
			return p
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.planOf(s)
	t := *d.plans.Load()
	if s.ID >= len(t) {
		longer := make(planTable, 2*s.ID+64)
		for i := range t {
			longer[i].Store(t[i].Load())
		}
		t = longer
		d.plans.Store(&t)
	}
	t[s.ID].Store(p)
	return p
}

// replan makes every site look for its breakpoints again.
func (d *Debugger) replan() { d.plans.Store(&planTable{}) }

// planOf finds the breakpoints of a site. d.mu is held.
func (d *Debugger) planOf(s *cell.Site) *plan {
	p := &plan{}
	for _, b := range d.bps {
		switch {
		case b.Disabled:
		case b.Kind == Line && s.Lead && d.covers(b, s):
			b.Resolved = s.Line
			p.at = append(p.at, &armed{b: b})
		case b.Kind == Func && b.begins(s):
			p.at = append(p.at, &armed{b: b})
		case b.Kind == Change:
			p.changes = append(p.changes, &armed{b: b})
		}
	}
	return p
}

// covers tells whether a line breakpoint stops at a site.
func (d *Debugger) covers(b *Breakpoint, s *cell.Site) bool {
	line, ok := d.lineIn(b, s.Cell, s.File, s.FirstLine)
	if !ok {
		return false
	}
	return line == s.Line || d.in.StopLine(s.Cell, line) == s.Line
}
