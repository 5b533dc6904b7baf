package interp

import (
	"go/types"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/trace"
)

// A Watcher is told where cells stand. It is called on the goroutine that runs
// the cell, which waits until the call returns.
type Watcher interface {
	// Statement is called before each statement while hooks are open.
	Statement(g *Goroutine, s *cell.Site)
	// Raised is called when a panic is seen first, and before a goroutine is ended
	// by the depth of its calls, a deadlock or os.Exit: every frame and its locals
	// are still there, and no deferred call has run.
	Raised(g *Goroutine, value any)
	// Left is called behind the last statement of a function, while hooks are
	// open: its frame is still there.
	Left(g *Goroutine)
	// Returned is called when the frame of a function is gone, which was at the
	// depth home: its results are on their way to the caller.
	Returned(g *Goroutine, home int, results func() []Local)
}

// debugging is the debugger's part of an Interp.
type debugging struct {
	gate    sync.Mutex  // armed is changed
	armed   atomic.Bool // hooks are open
	watch   atomic.Bool
	watcher Watcher
	unit    *cell.Unit
	graves  graves
}

// graves keep the frames of the last failure.
type graves struct {
	mu   sync.Mutex
	last *PostMortem
}

// A PostMortem is what is left of the goroutine that failed last.
type PostMortem struct {
	Err    error
	Frames []Activation // innermost first; the locals are copies
}

// SetWatcher sets who is told of statements and panics; nil for nobody. It must
// be called before any cell runs.
func (in *Interp) SetWatcher(w Watcher) { in.watcher = w }

// Watch opens or closes the hooks. It may be called at any time: running cells
// come to a hook at their next statement.
func (in *Interp) Watch(on bool) {
	in.watch.Store(on)
	if on {
		in.open()
		return
	}
	in.rearm()
}

// open opens the hooks. The flag is read by running cells without a lock: they
// see it a statement later at worst.
func (in *Interp) open() {
	in.gate.Lock()
	in.armed.Store(true)
	in.gate.Unlock()
}

// rearm closes the hooks when nobody needs them.
func (in *Interp) rearm() {
	in.gate.Lock()
	defer in.gate.Unlock()
	on := in.opt.Armed || in.watch.Load() || in.world.looking.Load()
	in.stacks.byLabel.Range(func(_, v any) bool {
		on = on || v.(*stack).armed.Load()
		return !on
	})
	in.armed.Store(on)
}

// hook is called before a statement while hooks are open.
func (in *Interp) hook(f *Frame, id int) {
	s := f.Stack
	if in.world.looking.Load() {
		s.hold()
	}
	s.reset(f)
	site := in.scope.At(id)
	f.PC = id | cell.BeginBit
	before := f.at
	f.at = id
	if s.armed.Load() && site.Kind == cell.Turn { // always at the same place of a loop
		s.poll()
	}
	if in.watcher == nil || s.quiet > 0 || site.Kind == cell.Turn && in.scope.At(before).Begins(site) {
		return
	}
	in.watcher.Statement((*Goroutine)(s), site)
}

// left is called at the end of a function while hooks are open.
func (in *Interp) left(s *stack) {
	if in.watcher != nil && s.quiet == 0 {
		in.watcher.Left((*Goroutine)(s))
	}
}

// returned is called when a function's frame is gone, while hooks are open.
func (in *Interp) returned(f *Frame, g *fr) {
	s := f.Stack
	if in.watcher == nil || s.quiet > 0 {
		return
	}
	in.watcher.Returned((*Goroutine)(s), f.home+1, func() []Local {
		c := g.code
		results := make([]Local, len(c.results))
		for i, t := range c.results {
			results[i] = Local{Type: t.t, Ptr: reflect.NewAt(t.rt, g.p[len(c.params)+i]), in: in}
		}
		return results
	})
}

// A Goroutine is one that runs cells. Its methods are for the goroutine itself
// and for those that know it to wait.
type Goroutine stack

func (g *Goroutine) stack() *stack { return (*stack)(g) }

// ID is a small number that no other goroutine of the session has.
func (g *Goroutine) ID() int { return int(g.serial >> 40) }

// Cell is the number of the cell that started it.
func (g *Goroutine) Cell() int { return g.run.cell }

// Main tells whether it is a cell's own goroutine.
func (g *Goroutine) Main() bool { return g.parent == nil }

// Wait says what it waits for, "" when it runs.
func (g *Goroutine) Wait() string {
	g.run.mu.Lock()
	defer g.run.mu.Unlock()
	return g.waits
}

// Done is closed when the cell of the goroutine is stopped, at a deadlock when
// that is done from outside.
func (g *Goroutine) Done() <-chan struct{} {
	if g.dead {
		return g.run.abort
	}
	return g.run.stop
}

// Where is the goroutine's stack, those of the goroutines that started it below.
func (g *Goroutine) Where() *trace.Stack { return g.stack().look() }

// Depth is the number of its frames.
func (g *Goroutine) Depth() int {
	g.stack().trim()
	return g.depth
}

// Home is the depth of the function at its top. A loop body over a function
// counts as part of the function that the loop stands in.
func (g *Goroutine) Home() int {
	if g.Depth() == 0 {
		return 0
	}
	return g.stack().frame(g.depth-1).home + 1
}

// Restart makes the statement at the top begin anew for who counts the ops of
// a statement: an evaluation before it was none of it.
func (g *Goroutine) Restart() {
	if g.Depth() > 0 {
		away := g.stack().enter()
		defer g.stack().exit(away)
		f := g.stack().frame(g.depth - 1)
		f.PC = f.PC&siteMask | cell.BeginBit
	}
}

// Stop ends the goroutine if its cell was stopped from outside.
func (g *Goroutine) Stop() {
	if g.armed.Load() {
		g.stack().poll()
	}
}

// Serial is the number of the activation at the top, never used twice.
func (g *Goroutine) Serial() uint64 {
	if g.Depth() == 0 {
		return 0
	}
	return g.stack().frame(g.depth - 1).serial
}

// Statement is the site of the statement that the top frame runs, as far as hooks
// were open when it began.
func (g *Goroutine) Statement() *cell.Site {
	if g.Depth() == 0 {
		return g.in.scope.At(0)
	}
	return g.in.scope.At(g.stack().frame(g.depth - 1).at)
}

// Here is the site that the top frame stands at, which may be in the middle of a
// statement.
func (g *Goroutine) Here() *cell.Site {
	if g.Depth() == 0 {
		return g.in.scope.At(0)
	}
	return g.in.scope.At(g.stack().frame(g.depth-1).PC & siteMask)
}

// Quiet tells whether an evaluation runs on it.
func (g *Goroutine) Quiet() bool { return g.quiet > 0 }

// Current is the calling goroutine, nil when it runs no cell.
func (in *Interp) Current() *Goroutine { return (*Goroutine)(in.stacks.current()) }

// Goroutines lists those that run cells, oldest first.
func (in *Interp) Goroutines() []*Goroutine {
	var list []*Goroutine
	in.stacks.byLabel.Range(func(_, v any) bool {
		list = append(list, (*Goroutine)(v.(*stack)))
		return true
	})
	slices.SortFunc(list, func(a, b *Goroutine) int { return a.ID() - b.ID() })
	return list
}

// An Activation is a frame and where it stands.
type Activation struct {
	Site   *cell.Site
	Serial uint64 // of the activation, never used twice
	Depth  int    // 1 is outermost
	Home   int    // depth of the function that it belongs to
	Locals []Local
}

// Frame is the activation's place.
func (a Activation) Frame() trace.Frame {
	f := trace.Frame{Cell: a.Site.Cell, File: a.Site.File, Func: a.Site.Func, Line: a.Site.Line, Column: a.Site.Column}
	if f.File != "" {
		f.FileLine = a.Site.FirstLine + a.Site.Line - 1
	}
	return f
}

// A Local is a variable of a frame.
type Local struct {
	Name  string
	Param bool
	Type  types.Type    // as its function was checked; nil when not known
	Ptr   reflect.Value // pointer to the variable; invalid when it isn't known yet
	in    *Interp
}

// Value gives what the variable holds.
func (l Local) Value() any {
	if !l.Ptr.IsValid() {
		return nil
	}
	t := l.in.machine.types.of(l.Type)
	return l.in.machine.plainValue(t, l.in.machine.iface(t, l.Ptr.UnsafePointer()))
}

// maxActivations bounds the frames that are looked at: of a deeper stack the
// outermost are left out, but for the cell's own.
const maxActivations = 1000

// Frames lists the goroutine's frames, innermost first, with pointers to their
// locals: writing through one changes the run. Of another goroutine than the
// caller's there are none unless it comes to rest.
func (g *Goroutine) Frames() (out []Activation) {
	s := g.stack()
	if s.in.stacks.current() == s {
		s.trim()
		return s.activations()
	}
	s.in.still(func(list []*stack) {
		if slices.Contains(list, s) {
			out = s.activations()
		}
	})
	return out
}

func (s *stack) activations() (out []Activation) {
	for d := s.depth - 1; d >= 0; d-- {
		if f := s.frame(d); f.Live && (len(out) < maxActivations || d == 0) {
			out = append(out, s.activation(f))
		}
	}
	return out
}

// Top is the innermost of Frames; ok is false when there is none.
func (g *Goroutine) Top() (a Activation, ok bool) {
	s := g.stack()
	s.trim()
	if s.depth == 0 {
		return a, false
	}
	return s.activation(s.frame(s.depth - 1)), true
}

func (s *stack) activation(f *Frame) Activation {
	site := s.in.scope.At(f.PC & siteMask)
	a := Activation{Site: site, Serial: f.serial, Depth: f.depth + 1, Home: f.home + 1}
	seen := map[string]bool{}
	for l := site.Locals; l != nil; l = l.Up {
		if seen[l.Name] {
			continue // another one hides it
		}
		seen[l.Name] = true
		v := Local{Name: l.Name, Param: l.Param, Type: l.Type, in: s.in}
		if p := f.variable(l); p != nil {
			v.Ptr = reflect.NewAt(s.in.machine.types.of(l.Type).rt, p)
		}
		a.Locals = append(a.Locals, v)
	}
	slices.Reverse(a.Locals) // in the order of their declarations
	return a
}

// variable gives where a local of a frame is, nil if it is not declared yet.
func (f *Frame) variable(l *cell.Local) unsafe.Pointer {
	if f.act == nil || l.Slot >= len(f.act.p) {
		return nil
	}
	return f.act.p[l.Slot]
}

// Addr is where a local of the top frame is, nil if it is not declared yet.
func (g *Goroutine) Addr(l *cell.Local) unsafe.Pointer {
	s := g.stack()
	return s.frame(s.depth - 1).variable(l)
}

// Slot finds the pointer of a local in the top frame without looking at the others.
func (g *Goroutine) Slot(l *cell.Local) any {
	s := g.stack()
	p := s.frame(s.depth - 1).variable(l)
	if p == nil {
		return nil
	}
	return reflect.NewAt(s.in.machine.types.of(l.Type).rt, p).Interface()
}

// maxKeptBytes is the size up to which a local is copied for a post-mortem; of
// a larger one what it holds later is shown.
const maxKeptBytes = 1 << 16

// maxKept is the number of frames that are kept.
const maxKept = 64

// capture copies the frames as they are now.
func (s *stack) capture() []Activation {
	s.trim()
	var out []Activation
	for d := s.depth - 1; d >= 0; d-- {
		f := s.frame(d)
		if !f.Live || len(out) >= maxKept && d > 0 {
			continue
		}
		a := s.activation(f)
		for i, l := range a.Locals {
			if l.Ptr.IsValid() && l.Ptr.Type().Elem().Size() <= maxKeptBytes {
				c := reflect.New(l.Ptr.Type().Elem())
				c.Elem().Set(l.Ptr.Elem())
				a.Locals[i].Ptr = c
			}
		}
		out = append(out, a)
	}
	return out
}

// raised tells the watcher of the value of a panic, or of what ends the goroutine.
func (s *stack) raised(value any) {
	if w := s.in.watcher; w != nil && s.quiet == 0 {
		w.Raised((*Goroutine)(s), value)
	}
}

// bury keeps the frames of a goroutine that ended with an error.
func (in *Interp) bury(s *stack, err error) {
	if err == nil {
		return
	}
	frames := s.grave
	if s.snap != nil {
		frames = s.snap.frames
	}
	in.graves.mu.Lock()
	in.graves.last = &PostMortem{Err: err, Frames: frames}
	in.graves.mu.Unlock()
}

// PostMortem gives what is left of the last failure of a cell, nil when none
// failed while it ran.
func (in *Interp) PostMortem() *PostMortem {
	in.graves.mu.Lock()
	defer in.graves.mu.Unlock()
	return in.graves.last
}

// NamedVar gives the pointer of a session variable by the user's name, as the
// running cell sees it; not valid when there is none.
func (in *Interp) NamedVar(name string) reflect.Value {
	in.types.Lock()
	internal := ""
	if in.unit != nil && in.run != nil {
		for _, v := range in.unit.Vars {
			if v.Name == name && in.run.reached[v.Internal] {
				internal = v.Internal
			}
		}
	}
	if internal == "" {
		internal = in.scope.VarName(name)
	}
	in.types.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.vars[internal]
}

// Sites lists the sites of statements that keep wants, in no order.
func (in *Interp) Sites(keep func(*cell.Site) bool) (list []*cell.Site) {
	in.scope.Statements(func(s *cell.Site) {
		if keep(s) {
			list = append(list, s)
		}
	})
	return list
}

// StopLine gives the line of the statement that a breakpoint on a line of a cell
// stops at, 0 when there is none.
func (in *Interp) StopLine(c, line int) int { return in.scope.StopLine(c, line) }

// TypeText writes a type as the user does.
func (in *Interp) TypeText(t types.Type) string {
	if t == nil {
		return ""
	}
	in.types.Lock()
	defer in.types.Unlock()
	return in.scope.TypeString(t)
}
