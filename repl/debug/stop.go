package debug

import (
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/trace"
)

// Reason says why a cell stopped.
type Reason string

// The reasons. They are those of the Debug Adapter Protocol where it has one.
const (
	None         Reason = ""
	AtBreakpoint        = Reason("breakpoint")
	Stepped             = Reason("step")
	Paused              = Reason("pause")
	AtError             = Reason("exception")
	Changed             = Reason("data breakpoint")
)

// A Stop is where and why a cell is stopped.
type Stop struct {
	Reason    Reason
	Hits      []int // breakpoints
	Goroutine int
	Cell      int // that runs, not the one that the place is in
	Place     trace.Frame
	Op        *OpStop // the operation, when one stopped it
	Text      string  // what happened: x: 3 → 4
	Err       any     // about to be raised
	ErrorKind string
	Failed    []string       // conditions that could not be evaluated, and why
	Returned  []interp.Local // results of the function that was stepped out of

	g      *interp.Goroutine
	lists  [][]string        // of the breakpoints that were hit
	look   *interp.Goroutine // selected
	frame  int               // selected, 0 is innermost
	calls  chan *request
	action *Resume
	over   chan struct{}
	midway bool // in the middle of a statement
	told   bool // somebody was told of it
}

// An OpStop is the operation that stopped a cell.
type OpStop struct {
	Call   *exec.Call     // before the operation: Out is nil
	Launch *exec.Launched // a launch, for nan, inf, mem and cut
	Value  *exec.Value    // with the NaN or Inf
	Bytes  int64          // HBM in use, for mem
	Replay *Replayed      // the operation is inside of the launch
}

// A request is a piece of work for the stopped goroutine.
type request struct {
	do    func()
	done  chan struct{}
	whole bool // it was not cut short by the end of the cell
}

// A NotStoppedError says that nothing is stopped.
type NotStoppedError struct{}

func (*NotStoppedError) Error() string { return "no cell is stopped" }

// An EndedError says that the stopped cell was ended while something was done at its stop.
type EndedError struct{}

func (*EndedError) Error() string { return "the stopped cell was ended meanwhile" }

// Stopped is the present stop, nil when none. It is not changed while it lasts.
func (d *Debugger) Stopped() *Stop { return d.halted.Load() }

// do runs f on the stopped goroutine and waits for it. The error is a
// *NotStoppedError, or an *EndedError when f was broken off.
func (d *Debugger) do(f func(st *Stop)) error {
	st := d.halted.Load()
	if st == nil {
		return &NotStoppedError{}
	}
	if g := d.in.Current(); g != nil && g == st.g {
		f(st)
		return nil
	}
	r := &request{do: func() { f(st) }, done: make(chan struct{})}
	select {
	case st.calls <- r:
	case <-st.over:
		return &NotStoppedError{}
	}
	<-r.done
	if !r.whole {
		return &EndedError{}
	}
	return nil
}

// waitForOther holds a goroutine while another one is stopped.
func (d *Debugger) waitForOther(g *interp.Goroutine) {
	st := d.halted.Load()
	if st == nil || st.g == g {
		return
	}
	ended := false
	g.Rest(func() {
		select {
		case <-st.over:
		case <-g.Done():
			ended = true
		}
	})
	if ended {
		g.Stop()
	}
}

// halt stops the calling goroutine until it is resumed or its cell is ended.
func (d *Debugger) halt(g *interp.Goroutine, st *Stop) {
	st.calls, st.over = make(chan *request), make(chan struct{})
	st.g, st.look, st.Goroutine, st.Cell = g, g, g.ID(), g.Cell()
	if a, ok := g.Top(); ok {
		st.Place = a.Frame()
	}
	d.mu.Lock()
	for d.halted.Load() != nil { // one at a time
		d.mu.Unlock()
		d.waitForOther(g)
		d.mu.Lock()
	}
	d.halted.Store(st)
	running := d.running
	d.step.Store(nil)
	d.pausing.Store(false)
	d.arm()
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.halted.Store(nil)
		if r := st.action; r != nil {
			d.step.Store(r.begin(g, st))
		}
		d.arm()
		d.resumed.Broadcast()
		d.mu.Unlock()
		close(st.over)
		if st.told && d.o.Continued != nil {
			d.o.Continued()
		}
	}()
	d.settle(st)
	d.drop(st)
	d.refresh(st)
	d.runLists(st)
	if st.action != nil {
		return
	}
	wait := func() {
		if st.told = true; d.o.Stopped != nil {
			d.o.Stopped(st)
		}
		st.serve()
	}
	if running && d.o.Lend != nil {
		d.o.Lend(wait)
		return
	}
	wait()
}

// serve runs requests until one of them resumes the goroutine.
func (st *Stop) serve() {
	for st.action == nil {
		var r *request
		st.g.Rest(func() {
			select {
			case r = <-st.calls:
			case <-st.g.Done():
			}
		})
		if r == nil {
			st.g.Stop()
			return
		}
		func() {
			defer close(r.done)
			r.do()
			r.whole = true
		}()
	}
}

// settle brings HBM up to date: the statements before the stop have ended.
func (d *Debugger) settle(st *Stop) {
	if d.disp == nil || st.midway {
		return
	}
	st.g.Restart()
	d.disp.Settle()
	st.g.Restart()
}

// drop takes out the breakpoints that stop only once.
func (d *Debugger) drop(st *Stop) {
	for _, id := range st.Hits {
		if b := d.Breakpoint(id); b != nil && b.Once {
			_ = d.Clear(id)
		}
	}
}

// runLists runs the commands of the breakpoints that were hit, until one of
// them resumes the cell.
func (d *Debugger) runLists(st *Stop) {
	if d.o.Command == nil {
		return
	}
	for _, b := range st.lists {
		for _, line := range b {
			if st.action != nil {
				return
			}
			if err := d.o.Command(line); err != nil {
				st.Failed = append(st.Failed, line+": "+err.Error())
			}
		}
	}
}
