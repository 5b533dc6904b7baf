// Package debug is the debugger of cells: breakpoints, stepping, frames,
// evaluation at a stop, watches and the post-mortem.
//
// It never draws and speaks no protocol: its types are plain data, and front
// ends ask it. It imports the interpreter for statements and locals, exec for
// operations, and inspect for numbers. Invariant: while a cell is stopped, no
// other goroutine of a cell begins a statement, and whatever looks at or changes
// its state runs on the stopped goroutine itself.
package debug

import (
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
)

// Options connect a debugger to its session.
type Options struct {
	Interp *interp.Interp
	// Stopped is told of a stop, on the stopped goroutine, before it waits for
	// requests. Continued is told when it goes on.
	Stopped   func(*Stop)
	Continued func()
	// Lend runs wait, in which a cell stands still, with its variables free to be
	// looked at.
	Lend func(wait func())
	// Command runs a line of a breakpoint's command list at the stop and passes
	// its answer on.
	Command func(line string) error
	// Log takes the text of a logpoint.
	Log func(text string)
	// ErrorKind gives the kind word of an error or of a panic's value.
	ErrorKind func(value any) string
	// Mark gives something comparable of what a variable holds, which differs when
	// that has changed.
	Mark func(v reflect.Value) any
	// Text writes the values of a watch.
	Text func(values []interp.Shown) string
	// Holds tells whether a variable holds a value of an operation.
	Holds func(v reflect.Value, x *exec.Value) bool
}

// A Debugger watches the cells of one session. Its methods may be called from
// any goroutine.
type Debugger struct {
	o    Options
	in   *interp.Interp
	disp *exec.Dispatcher

	mu      sync.Mutex
	bps     []*Breakpoint
	lastID  int
	plans   map[*cell.Site]*plan
	step    *step
	watches []*Watch
	nextW   int
	hooked  bool        // the dispatcher has our hook
	running bool        // a cell runs: between Begin and End
	past    *PostMortem // that is looked at
	ops     []*Breakpoint
	sources map[int]source

	pausing atomic.Bool
	halted  atomic.Pointer[Stop] // what is stopped now
	resumed *sync.Cond           // of mu: a stop has ended
}

// A source is where a cell's text came from.
type source struct {
	file  string
	first int
	lines int
}

// New makes a debugger that watches an interpreter.
func New(o Options) *Debugger {
	d := &Debugger{o: o, in: o.Interp, plans: map[*cell.Site]*plan{}, sources: map[int]source{}}
	d.resumed = sync.NewCond(&d.mu)
	o.Interp.SetWatcher(watcher{d})
	return d
}

// Attach connects the dispatcher that runs the operations now.
func (d *Debugger) Attach(x *exec.Dispatcher) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.disp != nil && d.hooked {
		d.disp.RemoveHook(opHook{d})
	}
	d.disp, d.hooked = x, false
	d.arm()
}

// Begin notes the text of a cell that will run, so that lines of files can be
// found in it.
func (d *Debugger) Begin(c int, file string, first, lines int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sources[c] = source{file, first, lines}
	for _, b := range d.bps {
		b.compiled = nil // a name of the session may mean another variable by now
	}
	d.pausing.Store(false)
	d.running, d.past = true, nil
}

// End notes that the cell has ended. It waits until none of the goroutines that
// the cell left is stopped; a step that did not end is forgotten.
func (d *Debugger) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.halted.Load() != nil {
		d.resumed.Wait()
	}
	d.running = false
	d.step = nil
	d.pausing.Store(false)
	d.arm()
}

// Forget drops what is known of compiled code: the session was reset. The
// breakpoints stay.
func (d *Debugger) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plans = map[*cell.Site]*plan{}
	for _, b := range d.bps {
		b.forget()
	}
	for _, w := range d.watches {
		w.compiled = nil
	}
}

// Pause stops the running cell at its next statement. It tells whether there
// may be one: goroutines run cells.
func (d *Debugger) Pause() bool {
	if d.halted.Load() != nil || len(d.in.Goroutines()) == 0 {
		return false
	}
	d.pausing.Store(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.arm()
	return true
}

// arm opens the hooks that somebody needs. d.mu is held.
func (d *Debugger) arm() {
	statements := d.pausing.Load() || d.step != nil || d.halted.Load() != nil
	ops := d.step != nil && d.step.Action == StepOp
	d.ops = d.ops[:0:0]
	for _, b := range d.bps {
		if b.Disabled {
			continue
		}
		switch b.Kind {
		case Line, Func, Change:
			statements = true
		case Op, NaN, Inf, Memory, Cut:
			ops = true
			statements = statements || b.Kind <= Inf && b.Name != "" && b.Kind != Op
			d.ops = append(d.ops, b)
		}
	}
	d.in.Watch(statements)
	if d.disp == nil || ops == d.hooked {
		return
	}
	d.hooked = ops
	if x := d.disp; ops {
		x.AddHook(opHook{d})
	} else {
		x.RemoveHook(opHook{d})
	}
}

// watcher hands what the interpreter tells to the debugger.
type watcher struct{ d *Debugger }

// Statement decides whether to stop before a statement.
func (w watcher) Statement(g *interp.Goroutine, s *cell.Site) {
	d := w.d
	if d.halted.Load() != nil {
		d.waitForOther(g)
	}
	if d.pausing.Load() && d.pausing.CompareAndSwap(true, false) {
		d.halt(g, &Stop{Reason: Paused})
		return
	}
	d.mu.Lock()
	p := d.plans[s]
	if p == nil {
		p = d.planOf(s)
		d.plans[s] = p
	}
	st := d.step
	d.mu.Unlock()
	stop := &Stop{}
	if st != nil && st.ends(g, s) {
		stop.Reason = Stepped
	}
	for _, b := range p.at {
		d.hit(g, s, b, stop)
	}
	for _, b := range p.changes {
		d.checkChange(g, s, b, stop)
	}
	if stop.Reason != None {
		d.halt(g, stop)
	}
}

// Left decides whether to stop behind the last statement of a function, which
// may have changed a variable.
func (w watcher) Left(g *interp.Goroutine) {
	d := w.d
	if d.halted.Load() != nil {
		d.waitForOther(g)
	}
	s := g.Statement()
	d.mu.Lock()
	var list []*Breakpoint
	for _, b := range d.bps {
		if b.Kind == Change && !b.Disabled && s.ID > 0 {
			list = append(list, b)
		}
	}
	d.mu.Unlock()
	stop := &Stop{}
	for _, b := range list {
		d.checkChange(g, s, b, stop)
	}
	if stop.Reason != None {
		d.halt(g, stop)
	}
}

// Returned decides whether a step out of a function has ended.
func (w watcher) Returned(g *interp.Goroutine, home int, results func() []interp.Local) {
	d := w.d
	d.mu.Lock()
	st := d.step
	d.mu.Unlock()
	if st == nil || st.Action != StepOut || g.ID() != st.goroutine || home > st.home || g.Depth() == 0 {
		return
	}
	d.halt(g, &Stop{Reason: Stepped, Returned: results(), midway: true})
}

// Raised decides whether to stop at a panic.
func (w watcher) Raised(g *interp.Goroutine, value any) {
	d := w.d
	d.mu.Lock()
	list := slices.Clone(d.bps)
	d.mu.Unlock()
	stop := &Stop{Err: value}
	kind := ""
	for _, b := range list {
		if b.Kind != Error || b.Disabled {
			continue
		}
		if kind == "" && d.o.ErrorKind != nil {
			kind = d.o.ErrorKind(value)
		}
		if b.Name == "" || b.Name == kind {
			stop.ErrorKind = kind
			a, _ := g.Top()
			d.hit(g, a.Site, b, stop)
		}
	}
	if stop.Reason != None {
		d.halt(g, stop)
	}
}

// A plan is what may stop at one site.
type plan struct {
	at      []*Breakpoint
	changes []*Breakpoint
}

// planOf finds the breakpoints of a site. d.mu is held.
func (d *Debugger) planOf(s *cell.Site) *plan {
	p := &plan{}
	for _, b := range d.bps {
		switch {
		case b.Disabled:
		case b.Kind == Line && s.Lead && d.covers(b, s):
			b.Resolved = s.Line
			p.at = append(p.at, b)
		case b.Kind == Func && s.Entry && funcNamed(s.Func, b.Name):
			p.at = append(p.at, b)
		case b.Kind == Change:
			p.changes = append(p.changes, b)
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

// lineIn gives the line of a breakpoint inside a cell.
func (d *Debugger) lineIn(b *Breakpoint, c int, file string, first int) (int, bool) {
	if b.File == "" {
		return b.Line, b.Cell == c
	}
	if file == "" || !sameFile(b.File, file) {
		return 0, false
	}
	line := b.Line - first + 1
	src := d.sources[c]
	return line, line >= 1 && (src.lines == 0 || line <= src.lines)
}
