package repl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/ahead"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// Options of a session.
type Options struct {
	Mode     *exec.Mode // Debug when nil
	Chip     string     // v5e when empty
	Device   string     // sim when empty, else a name of Openers
	Openers  map[string]Opener
	Compiler ahead.Starter // starts the TPU compiler, nil for none
	HBMBytes int64         // limit, 0: the chip's
	Name     string        // of the session, for exports
	Args     []string      // os.Args of the cells
	Checks   exec.Checks
}

// A Style is how answers of commands are drawn: in which letters and colours, and
// into how many columns at most; 0 when that does not matter.
type Style struct {
	Theme   viz.Theme
	Columns int
}

// An Output takes what a running cell prints and asks for.
type Output interface {
	Stream(name, text string)
	Input() (string, error)
}

// A Session runs cells one after another on one device.
type Session struct {
	opts   Options
	in     *interp.Interp
	disp   *exec.Dispatcher
	dev    device.Device
	runsOn string // sim, or a name of Openers
	rec    *trace.Recorder
	cells  []*Cell
	std    *streams
	undo   func() // gives the ambient dispatcher back
	set    Settings
	style  Style
	last   *Cell // the last cell that failed
	namer  *namer
	undos  []*undo
	// cursor is the op looked back at, 0 for the present
	cursor  atomic.Uint64
	history struct {
		ops   int
		bytes int64
	}
	runs atomic.Bool

	compiler *ahead.Compiler // nil before somebody asked
	report   *xla.Report     // its last answer

	dbg      *debug.Debugger
	listener DebugListener

	quiet sync.Mutex   // held while a cell runs: what its variables hold may change
	parts sync.RWMutex // guards disp, dev and cells for those who look while a cell runs

	panicMu sync.Mutex
	panics  []*interp.GoroutineError // of goroutines that cells started, not reported yet
	traffic traffic                  // between its cells and its variables
}

// A Cell is a piece of Go that was run.
type Cell struct {
	ID        int
	File      string
	FirstLine int // in File
	Source    string
	Command   string // that made the cell; what a user sees of it then
	Status    string // ok, error, skipped
	Values    []interp.Shown
	Warnings  []cell.Diagnostic
	Reports   []*Report
	Exit      *int
	Wall      time.Duration
	Stats     exec.Stats // what it added
	HBMDelta  int64
	First     uint64 // its events: First..Last
	Last      uint64
}

// recordedEvents is how many events a session keeps.
const recordedEvents = 1 << 16

// NewSession makes a session on a simulated chip.
func NewSession(o Options) (*Session, error) {
	s := &Session{opts: o, runsOn: o.Device, rec: trace.NewRecorder(recordedEvents), set: defaultSettings(), style: Style{Theme: viz.Plain()}, namer: &namer{at: map[string]int{}}}
	s.history.ops, s.history.bytes = defaultHistoryOps, defaultHistoryBytes
	if err := s.openDevice(o.Chip); err != nil {
		return nil, err
	}
	std, err := newStreams()
	if err != nil {
		return nil, err
	}
	s.std = std
	in, err := interp.New(interp.Options{
		Universe: interp.TPU(),
		Stdout:   std.out, Stderr: std.err, Stdin: std.in, Args: o.Args,
		OnStatementEnd:   func(depth int) { s.disp.StatementEnd(depth) },
		OnDrop:           func() { s.disp.Touch() },
		OnLeave:          func(depth int) { s.disp.FrameLeave(depth) },
		OnVariable:       s.namer.declared,
		OnWritten:        s.raiseSwallowed,
		OnGoroutinePanic: s.goroutinePanicked,
	})
	if err != nil {
		std.close()
		return nil, err
	}
	s.in, s.namer.in = in, in
	s.dbg = s.newDebugger()
	s.disp.SetChecks(o.Checks)
	s.connect()
	return s, nil
}

// openDevice makes the device and its dispatcher.
func (s *Session) openDevice(name string) error {
	if name == "" {
		name = "v5e"
	}
	chip, err := device.LookupChip(name)
	if err != nil {
		return err
	}
	dev, err := s.open(s.runsOn, chip)
	if err != nil {
		return err
	}
	mode := s.opts.Mode
	if s.disp != nil {
		mode = s.disp.Mode()
	}
	s.parts.Lock()
	defer s.parts.Unlock()
	s.dev, s.disp = dev, exec.New(dev, exec.Options{Mode: mode, Tracer: s.rec})
	return nil
}

// connect lets the dispatcher see where the program is and what it can reach.
func (s *Session) connect() {
	if s.undo != nil {
		s.undo()
	}
	s.undo = tpu.Use(s.disp)
	s.dbg.Attach(s.disp)
	s.disp.SetPlace(spots{s.in})
	s.disp.SetHistory(s.history.ops, s.history.bytes)
	s.disp.SetNames(s.namer.names)
	s.disp.SetRoots(s.roots())
}

// roots is the walk over what the program can reach.
func (s *Session) roots() func(*exec.Marker) {
	whole := true
	walk := tpu.Roots(func(visit func(reflect.Value)) { whole = s.in.Roots(visit) })
	return func(m *exec.Marker) {
		if walk(m); !whole { // a goroutine is where it cannot be looked at
			m.All()
		}
	}
}

// spots tell the dispatcher where the interpreted program is.
type spots struct{ *interp.Interp }

// At is where the operation is that begins now.
func (p spots) At() exec.Spot {
	a := p.Interp.At()
	return exec.Spot{Stack: a.Stack, Depth: a.Depth, Serial: a.Serial, Fresh: a.Fresh, FreshSerial: a.FreshSerial}
}

// Close gives back what the session holds.
func (s *Session) Close() error {
	s.closeCompiler()
	s.undo()
	s.std.close()
	return s.dev.Close()
}

// Dispatcher, Device, Recorder, Interp and Settings are the parts commands look at.
func (s *Session) Dispatcher() *exec.Dispatcher {
	s.parts.RLock()
	defer s.parts.RUnlock()
	return s.disp
}

// Device is what cells run on.
func (s *Session) Device() device.Device {
	s.parts.RLock()
	defer s.parts.RUnlock()
	return s.dev
}

// Recorder keeps the events.
func (s *Session) Recorder() *trace.Recorder { return s.rec }

// Interp is the interpreter of the cells.
func (s *Session) Interp() *interp.Interp { return s.in }

// Settings are the values of :set.
func (s *Session) Settings() *Settings { return &s.set }

// Style is how the one who asks now wants answers drawn; SetStyle says it.
func (s *Session) Style() Style { return s.style }

// SetStyle is for all answers from now on.
func (s *Session) SetStyle(st Style) { s.style = st }

// Name is the name of the session, for exports.
func (s *Session) Name() string { return s.opts.Name }

// Cells lists the cells that ran, oldest first. Of the one that runs only what
// it was made of may be read.
func (s *Session) Cells() []*Cell {
	s.parts.RLock()
	defer s.parts.RUnlock()
	return s.cells[:len(s.cells):len(s.cells)]
}

// Cell finds a cell by its number; nil when there is none.
func (s *Session) Cell(id int) *Cell {
	s.parts.RLock()
	defer s.parts.RUnlock()
	if id < 1 || id > len(s.cells) {
		return nil
	}
	return s.cells[id-1]
}

// Quiet runs f while no cell runs, so that f may look at what variables hold.
// It does not wait: while a cell runs it gives false.
func (s *Session) Quiet(f func()) bool {
	if !s.quiet.TryLock() {
		return false
	}
	defer s.quiet.Unlock()
	f()
	return true
}

// Stopped runs wait while the cell that runs stands still, at a breakpoint:
// what its variables hold may be looked at meanwhile.
func (s *Session) Stopped(wait func()) {
	s.quiet.Unlock()
	defer s.quiet.Lock()
	wait()
}

// LastError is the last cell that failed, nil when none did.
func (s *Session) LastError() *Cell { return s.last }

// Running says whether a cell runs now: the values of variables may change
// meanwhile and must not be looked at, unless it stands at a stop.
func (s *Session) Running() bool { return s.runs.Load() }

// Next is the number the next cell will get.
func (s *Session) Next() int { return len(s.cells) + 1 }

// SetChip moves the session to another chip. It is refused while tensors live,
// because their values would be lost.
func (s *Session) SetChip(name string) error {
	chip, err := device.LookupChip(name)
	if err != nil {
		return err
	}
	if chip.Name == s.dev.Chip().Name {
		return nil
	}
	return s.move(s.runsOn, chip.Name)
}

// A LiveTensorsError says that the device cannot change while tensors live on it.
type LiveTensorsError struct{ Values int }

// Error says how many there are.
func (e *LiveTensorsError) Error() string {
	return fmt.Sprintf("device: %s on the present one would be lost; :reset first", viz.Plural(e.Values, "live tensor"))
}

// Reset forgets every variable, type and function, and frees what they held.
func (s *Session) Reset() error {
	s.quiet.Lock()
	defer s.quiet.Unlock()
	if err := s.in.Reset(); err != nil {
		return err
	}
	s.undos = nil
	s.dbg.Forget()
	s.namer.reset()
	s.Present()
	return s.disp.EndCell()
}

// raiseSwallowed fails a statement that wrote a value which could not be computed.
func (s *Session) raiseSwallowed() {
	if err := s.disp.Swallowed(); err != nil {
		panic(&tpu.Error{Op: "show", Err: err})
	}
}

// Run runs a cell. Text of blanks and comments alone takes no number and gives nil.
func (s *Session) Run(ctx context.Context, text, file string, firstLine int, out Output) *Cell {
	if blank(text) {
		return nil
	}
	c := &Cell{ID: s.Next(), File: file, FirstLine: max(firstLine, 1), Source: text, Status: "ok"}
	s.parts.Lock()
	s.cells = append(s.cells, c)
	s.parts.Unlock()
	s.quiet.Lock()
	defer s.quiet.Unlock()
	if err := s.Ready(ctx); err != nil {
		s.Fail(c, err)
		return c
	}
	s.Present()
	before, used := s.disp.Stats(), s.dev.HBM().Used()
	s.remember(c.ID)
	s.disp.SetCell(c.ID)
	_ = s.disp.Swallowed() // what others showed is not this cell's
	c.First = s.rec.Last() + 1
	s.note(trace.Event{Kind: trace.CellBegin, Name: fmt.Sprintf("In[%d]", c.ID)})
	t0 := time.Now()
	s.std.listen(out, text)
	s.runs.Store(true)
	defer s.runs.Store(false)
	s.dbg.Begin(c.ID, file, c.FirstLine, strings.Count(text, "\n")+1)
	defer context.AfterFunc(ctx, s.breakOff)()
	res, err := s.in.Run(ctx, interp.Source{Cell: c.ID, File: file, FirstLine: c.FirstLine, Text: text})
	s.dbg.End()
	s.std.flush()
	s.committed()
	var exit *interp.ExitError
	if errors.As(err, &exit) {
		c.Exit = &exit.Code
		err = nil
	}
	c.Values, c.Warnings = res.Values, res.Warnings
	if abandoned(err) && s.disp.Busy() {
		// The operation it waits for goes on: the next cell waits for its end.
		s.Fail(c, err)
		c.Wall = time.Since(t0)
		s.note(trace.Event{Kind: trace.CellEnd, HostNS: c.Wall.Nanoseconds(), Reason: c.Status})
		c.Last = s.rec.Last()
		return c
	}
	if end := s.disp.EndCell(); err == nil && end != nil {
		err = end
	}
	if shown := s.disp.Swallowed(); err == nil && shown != nil {
		err = shown
	}
	if g := s.takePanic(); err == nil && g != nil {
		err = g.Panic
	}
	if err != nil {
		s.Fail(c, err)
	}
	c.Wall = time.Since(t0)
	s.note(trace.Event{Kind: trace.CellEnd, HostNS: c.Wall.Nanoseconds(), Reason: c.Status})
	c.Last = s.rec.Last()
	s.boundUndos()
	s.lookAtWatches()
	after := s.disp.Stats()
	c.Stats = exec.Stats{Ops: after.Ops - before.Ops, Launches: after.Launches - before.Launches, GraphBreaks: after.GraphBreaks - before.GraphBreaks,
		DeviceNS: after.DeviceNS - before.DeviceNS, HostNS: after.HostNS - before.HostNS, SavedBytes: after.SavedBytes - before.SavedBytes}
	c.HBMDelta = s.dev.HBM().Used() - used
	return c
}

// Skip gives a cell its number without running it.
func (s *Session) Skip(text, file string, firstLine int) *Cell {
	if blank(text) {
		return nil
	}
	c := &Cell{ID: s.Next(), File: file, FirstLine: max(firstLine, 1), Source: text, Status: "skipped"}
	s.cells = append(s.cells, c)
	return c
}

// Ready waits until the device is free: an operation of an interrupted cell may
// still run. It gives an interp.InterruptError or TimeoutError when ctx ends first.
func (s *Session) Ready(ctx context.Context) error {
	began := time.Now()
	err := s.disp.Wait(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &interp.TimeoutError{After: time.Since(began).Round(time.Millisecond)}
	}
	return &interp.InterruptError{}
}

// abandoned says whether the goroutine of a cell was left behind.
func abandoned(err error) bool {
	var i *interp.InterruptError
	var t *interp.TimeoutError
	return errors.As(err, &i) && i.Abandoned || errors.As(err, &t) && t.Abandoned
}

// goroutinePanicked keeps a panic of a goroutine: the cell that runs, or the
// next one, is marked failed. The session lives.
func (s *Session) goroutinePanicked(e *interp.GoroutineError) {
	s.panicMu.Lock()
	defer s.panicMu.Unlock()
	s.panics = append(s.panics, e)
}

func (s *Session) takePanic() *interp.GoroutineError {
	s.panicMu.Lock()
	defer s.panicMu.Unlock()
	if len(s.panics) == 0 {
		return nil
	}
	first := s.panics[0]
	s.panics = nil
	return first
}

// note emits an event of the session itself.
func (s *Session) note(ev trace.Event) {
	ev.Cell = len(s.cells)
	ev.AtNS = s.dev.Clock().HostNS
	ev.Mode = s.disp.Mode().Name
	s.rec.Emit(&ev)
}

// Fail notes that a cell failed.
func (s *Session) Fail(c *Cell, err error) {
	c.Status = "error"
	c.Values = nil
	c.Reports = s.reports(c, err)
	s.last = c
}

// Show formats the values of a cell as they stand after Out[n]. Showing reads
// tensors, so it may find a failure that was pending.
func (s *Session) Show(ctx context.Context, c *Cell) (shown string, err error) {
	if len(c.Values) == 0 {
		return "", nil
	}
	parts := make([]string, len(c.Values))
	done := s.in.Do(ctx, c.ID, func() {
		err = tpu.Try(func() {
			for i, v := range c.Values {
				parts[i] = s.Format(v)
			}
		})
	})
	if done != nil {
		return "", done
	}
	return strings.Join(parts, ", "), err
}

// Warning formats a warning of the compiler.
func (s *Session) Warning(c *Cell, d cell.Diagnostic) string {
	f := trace.Frame{Cell: c.ID, File: c.File, Line: d.Line, Column: d.Column}
	if c.File != "" {
		f.FileLine = c.FirstLine + d.Line - 1
	}
	return fmt.Sprintf("%s: warning: %s", place(f), d.Msg)
}

// IsWhole says whether a cell typed line by line is complete.
func IsWhole(text string) bool { return cell.Complete(text) }
