package debug

import (
	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
)

// Action says how a stopped cell goes on.
type Action uint8

// The actions.
const (
	Continue Action = iota
	StepIn          // to the next statement, inside calls too
	StepNext        // to the next statement of the function or of its callers
	StepOut         // out of the function, to where it was called
	Until           // to a line of the function at or behind the given one, or out of it
	StepOp          // to the next operation
)

// A Resume says how a stopped cell goes on.
type Resume struct {
	Action Action
	Line   int // Until: line of the stopped cell; 0: behind the present one
}

// Resume makes the stopped cell go on. Steps stay on the stopped goroutine. The
// error is a *NotStoppedError.
func (d *Debugger) Resume(r Resume) error {
	return d.do(func(st *Stop) { st.action = &r })
}

// A step waits for the end of a step.
type step struct {
	Resume
	goroutine int
	home      int // depth of the function
	cell      int
	line      int
}

// begin makes the step of a resume that leaves stop st.
func (r *Resume) begin(g *interp.Goroutine, st *Stop) *step {
	if r.Action == Continue {
		return nil
	}
	s := &step{Resume: *r, goroutine: g.ID(), home: g.Home(), cell: st.Place.Cell, line: st.Place.Line}
	if s.Action == Until && s.Resume.Line == 0 {
		s.Resume.Line = s.line + 1
	}
	return s
}

// ends tells whether the step ends before the statement at a site.
func (s *step) ends(g *interp.Goroutine, at *cell.Site) bool {
	if g.ID() != s.goroutine {
		return false
	}
	switch s.Action {
	case StepIn:
		return true
	case StepNext:
		return g.Home() <= s.home
	case StepOut:
		return g.Home() < s.home
	case Until:
		home := g.Home()
		return home < s.home || home == s.home && at.Cell == s.cell && at.Line >= s.Resume.Line
	}
	return false
}
