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
	// ErrorKind gives the kind word of an error or of a panic's value, one of ErrorKinds.
	ErrorKind  func(value any) string
	ErrorKinds []string
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
	plans   atomic.Pointer[planTable]
	step    atomic.Pointer[step]
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
	d := &Debugger{o: o, in: o.Interp, sources: map[int]source{}}
	d.replan()
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
		b.pred.forget()
	}
	d.replan()
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
	d.step.Store(nil)
	d.pausing.Store(false)
	d.arm()
}

// Forget drops what is known of compiled code: the session was reset. The
// breakpoints stay.
func (d *Debugger) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.replan()
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
	statements := d.pausing.Load() || d.halted.Load() != nil
	ops := false
	if s := d.step.Load(); s != nil {
		statements, ops = true, s.Action == StepOp
	}
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
	p, st := d.planAt(s), d.step.Load()
	if st == nil && len(p.at) == 0 && len(p.changes) == 0 {
		return
	}
	var stop *Stop
	if st != nil && st.ends(g, s) {
		stop = &Stop{Reason: Stepped}
	}
	for _, a := range p.at {
		stop = d.hit(g, s, a, stop)
	}
	for _, a := range p.changes {
		stop = d.checkChange(g, s, a, stop)
	}
	if stop != nil {
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
	if s.ID == 0 {
		return
	}
	var stop *Stop
	for _, a := range d.planAt(s).changes {
		stop = d.checkChange(g, s, a, stop)
	}
	if stop != nil {
		d.halt(g, stop)
	}
}

// Returned decides whether a step out of a function has ended.
func (w watcher) Returned(g *interp.Goroutine, home int, results func() []interp.Local) {
	d := w.d
	st := d.step.Load()
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
	var stop *Stop
	kind := ""
	for _, b := range list {
		if b.Kind != Error || b.Disabled {
			continue
		}
		if kind == "" && d.o.ErrorKind != nil {
			kind = d.o.ErrorKind(value)
		}
		if b.Name == "" || b.Name == kind {
			a, _ := g.Top()
			stop = d.hit(g, a.Site, &armed{b: b}, stop)
		}
	}
	if stop != nil {
		stop.Err, stop.ErrorKind = value, kind
		d.halt(g, stop)
	}
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
