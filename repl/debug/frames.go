package debug

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/trace"
)

// A Frame is one level of a stack, innermost first.
type Frame struct {
	Index  int
	Place  trace.Frame
	Locals []interp.Local
	site   *cell.Site
}

// A Thread is a goroutine that runs cells.
type Thread struct {
	ID       int
	Cell     int
	Main     bool // a cell's own
	Stopped  bool // the stop is in it
	Selected bool
	Wait     string // what it waits for
	Frames   []Frame
}

// A NoFrameError says that the stack has no frame of this number.
type NoFrameError struct{ Frame, Frames int }

func (e *NoFrameError) Error() string {
	return fmt.Sprintf("there is no frame %d: the stack has %d", e.Frame, e.Frames)
}

// A NoThreadError says that there is no goroutine of this number.
type NoThreadError struct{ ID int }

func (e *NoThreadError) Error() string { return fmt.Sprintf("there is no goroutine %d", e.ID) }

func framesOf(list []interp.Activation) []Frame {
	out := make([]Frame, len(list))
	for i, a := range list {
		out[i] = Frame{Index: i, Place: a.Frame(), Locals: a.Locals, site: a.Site}
	}
	return out
}

// A BusyError says that a cell runs and is not stopped.
type BusyError struct{}

func (*BusyError) Error() string { return "a cell runs: it must be stopped first" }

// Frames lists the frames of the selected goroutine, or those of the post-mortem
// when nothing is stopped and it is open. The locals are pointers: reading them
// shows what they hold now.
func (d *Debugger) Frames() (list []Frame, err error) {
	err = d.do(func(st *Stop) { list = framesOf(st.look.Frames()) })
	if p := d.open(); err != nil && p != nil {
		return p.Frames, nil
	}
	return list, err
}

// open gives the post-mortem that is looked at, nil for none.
func (d *Debugger) open() *PostMortem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.past
}

// Threads lists the goroutines that run cells, with their frames.
func (d *Debugger) Threads() (list []Thread, err error) {
	err = d.do(func(st *Stop) {
		for _, g := range d.in.Goroutines() {
			list = append(list, Thread{ID: g.ID(), Cell: g.Cell(), Main: g.Main(), Stopped: g == st.g, Selected: g == st.look, Wait: g.Wait(), Frames: framesOf(g.Frames())})
		}
	})
	return list, err
}

// SelectThread makes another goroutine the one that is looked at. Steps stay on
// the stopped one.
func (d *Debugger) SelectThread(id int) error {
	found := false
	err := d.do(func(st *Stop) {
		for _, g := range d.in.Goroutines() {
			if g.ID() == id {
				if found = true; st.look != g { // its own frame stays the one that is looked at
					st.look, st.frame = g, 0
				}
			}
		}
	})
	if err == nil && !found {
		err = &NoThreadError{id}
	}
	return err
}

// Selected is the number of the frame that is looked at.
func (d *Debugger) Selected() (frame int) {
	if d.do(func(st *Stop) { frame = st.frame }) != nil {
		if p := d.open(); p != nil {
			return p.frame
		}
	}
	return frame
}

// SelectFrame makes a frame the one that is looked at.
func (d *Debugger) SelectFrame(i int) error {
	var bad error
	pick := func(at *int, n int) {
		if i < 0 || i >= n {
			bad = &NoFrameError{i, n}
			return
		}
		*at = i
	}
	err := d.do(func(st *Stop) {
		if pick(&st.frame, len(st.look.Frames())); bad == nil {
			d.refresh(st)
		}
	})
	if p := d.open(); err != nil && p != nil {
		err = nil
		pick(&p.frame, len(p.Frames))
	}
	if err == nil {
		err = bad
	}
	return err
}

// Eval evaluates an expression or runs statements in a frame of the selected
// goroutine; -1 is the selected frame. Hooks are passed by. With nothing stopped
// it is evaluated in the post-mortem that is open, else in the session. The
// error is a *BusyError, *EndedError, *NoFrameError, *cell.CompileError, *cell.LocalError,
// *interp.EvalError or *interp.UnknownLocalError.
func (d *Debugger) Eval(frame int, text string) (values []interp.Shown, err error) {
	e := d.do(func(st *Stop) {
		list := st.look.Frames()
		at := frame
		if at < 0 {
			at = st.frame
		}
		switch {
		case at < len(list):
			values, err = d.evaluate(text, list[at].Site.Locals, list[at].Locals)
		case at == 0:
			values, err = d.evaluate(text, nil, nil)
		default:
			err = &NoFrameError{at, len(list)}
		}
		d.settle(st)
	})
	if e == nil {
		return values, err
	}
	var ended *EndedError
	if errors.As(e, &ended) { // it ran: once is enough
		return nil, e
	}
	if p := d.open(); p != nil {
		if frame < 0 {
			frame = p.frame
		}
		return d.evalPast(p, frame, text)
	}
	d.mu.Lock()
	busy := d.running
	d.mu.Unlock()
	if busy {
		return nil, &BusyError{}
	}
	return d.evaluate(text, nil, nil)
}

// evaluate compiles and runs a text on the calling goroutine.
func (d *Debugger) evaluate(text string, scope *cell.Local, locals []interp.Local) ([]interp.Shown, error) {
	e, err := d.in.CompileEval(text, scope)
	if err != nil {
		return nil, err
	}
	return e.Run(finder(locals))
}

func finder(locals []interp.Local) func(string) reflect.Value {
	return func(name string) reflect.Value {
		for _, l := range locals {
			if l.Name == name {
				return l.Ptr
			}
		}
		return reflect.Value{}
	}
}

// A PostMortem is what is left of the last failure. Its frames are copies: they
// can be read, not changed.
type PostMortem struct {
	Err    error
	Frames []Frame
	frame  int // selected
}

// A NoFailureError says that no cell failed while it ran.
type NoFailureError struct{}

func (*NoFailureError) Error() string { return "no cell has failed while it ran" }

// OpenPostMortem makes the last failure what is looked at until the next cell
// runs. The error is a *NoFailureError or a *BusyError.
func (d *Debugger) OpenPostMortem() (*PostMortem, error) {
	p := d.in.PostMortem()
	if p == nil {
		return nil, &NoFailureError{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running {
		return nil, &BusyError{}
	}
	d.past = &PostMortem{Err: p.Err, Frames: framesOf(p.Frames)}
	return d.past, nil
}

// Looking gives the post-mortem that is open, nil when there is none.
func (d *Debugger) Looking() *PostMortem { return d.open() }

// evalPast evaluates in a frame of a post-mortem. What the text assigns is lost.
func (d *Debugger) evalPast(p *PostMortem, frame int, text string) ([]interp.Shown, error) {
	if len(p.Frames) == 0 {
		return d.evaluate(text, nil, nil)
	}
	if frame < 0 || frame >= len(p.Frames) {
		return nil, &NoFrameError{frame, len(p.Frames)}
	}
	locals := make([]interp.Local, len(p.Frames[frame].Locals))
	for i, l := range p.Frames[frame].Locals {
		if l.Ptr.IsValid() {
			c := reflect.New(l.Ptr.Type().Elem())
			c.Elem().Set(l.Ptr.Elem())
			l.Ptr = c
		}
		locals[i] = l
	}
	return d.evaluate(text, p.Frames[frame].site.Locals, locals)
}

// Args are the parameters among the locals, the receiver first, and named results.
func (f Frame) Args() (list []interp.Local) {
	for _, l := range f.Locals {
		if l.Param {
			list = append(list, l)
		}
	}
	return list
}

// TypeOf gives the types of an expression's values in a frame, without running it.
func (d *Debugger) TypeOf(frame int, text string) ([]string, error) {
	var scope *cell.Local
	if frames, err := d.Frames(); err == nil {
		if frame < 0 {
			frame = d.Selected()
		}
		if frame < len(frames) {
			scope = frames[frame].site.Locals
		}
	}
	e, err := d.in.CompileEval(text, scope)
	if err != nil {
		return nil, err
	}
	return e.Types(), nil
}

// SessionVars lists the session's variables as the stopped cell sees them.
func (d *Debugger) SessionVars() (list []interp.Variable) {
	if d.do(func(*Stop) { list = d.in.VariablesHere() }) != nil {
		list = d.in.Variables()
	}
	return list
}
