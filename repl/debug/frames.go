package debug

import (
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

// Frames lists the frames of the selected goroutine. The locals are pointers:
// reading them shows what they hold now.
func (d *Debugger) Frames() (list []Frame, err error) {
	err = d.do(func(st *Stop) { list = framesOf(st.look.Frames()) })
	return list, err
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
				st.look, st.frame, found = g, 0, true
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
	_ = d.do(func(st *Stop) { frame = st.frame })
	return frame
}

// SelectFrame makes a frame the one that is looked at.
func (d *Debugger) SelectFrame(i int) error {
	var bad error
	err := d.do(func(st *Stop) {
		n := len(st.look.Frames())
		if i < 0 || i >= n {
			bad = &NoFrameError{i, n}
			return
		}
		st.frame = i
	})
	if err == nil {
		err = bad
	}
	return err
}

// Eval evaluates an expression or runs statements in a frame of the selected
// goroutine; -1 is the selected frame. Hooks are passed by. The error is a
// *NotStoppedError, *NoFrameError, *cell.CompileError, *cell.LocalError,
// *interp.EvalError or *interp.UnknownLocalError.
func (d *Debugger) Eval(frame int, text string) (values []interp.Shown, err error) {
	e := d.do(func(st *Stop) {
		list := st.look.Frames()
		if frame < 0 {
			frame = st.frame
		}
		if frame >= len(list) {
			if frame > 0 || len(list) > 0 {
				err = &NoFrameError{frame, len(list)}
				return
			}
			values, err = d.evaluate(text, nil, nil)
			return
		}
		values, err = d.evaluate(text, list[frame].Site.Locals, list[frame].Locals)
		d.settle(st)
	})
	if e != nil {
		return nil, e
	}
	return values, err
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
}

// PostMortem gives it, nil when no cell failed while it ran.
func (d *Debugger) PostMortem() *PostMortem {
	p := d.in.PostMortem()
	if p == nil {
		return nil
	}
	return &PostMortem{Err: p.Err, Frames: framesOf(p.Frames)}
}

// EvalPast evaluates an expression in a frame of the post-mortem, on the calling
// goroutine. Nothing may run.
func (d *Debugger) EvalPast(p *PostMortem, frame int, text string) ([]interp.Shown, error) {
	if frame < 0 || frame >= len(p.Frames) {
		return nil, &NoFrameError{frame, len(p.Frames)}
	}
	locals := make([]interp.Local, len(p.Frames[frame].Locals))
	for i, l := range p.Frames[frame].Locals { // what the text assigns is lost with the copy
		if l.Ptr.IsValid() {
			c := reflect.New(l.Ptr.Type().Elem())
			c.Elem().Set(l.Ptr.Elem())
			l.Ptr = c
		}
		locals[i] = l
	}
	return d.evaluate(text, p.Frames[frame].site.Locals, locals)
}
