package debug

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
)

// A Watch is an expression whose value is shown at each stop and after each cell.
type Watch struct {
	ID      int
	Expr    string
	Values  []interp.Shown
	Err     error  // why there is no value here
	Text    string // the values as a line, at the last look that had some
	Was     string // its text at the look before, as far as it had a value
	Changed bool   // since then
	Ran     bool   // it has been evaluated

	ran bool // it has had a value

	compiled map[*cell.Local]*interp.Evaluation
}

// A NoWatchError says that there is no watch of this number.
type NoWatchError struct{ ID int }

func (e *NoWatchError) Error() string { return fmt.Sprintf("there is no watch %d", e.ID) }

// Watch adds an expression. It is evaluated at once where a cell is stopped. The
// error is a *cell.CompileError: the text is no expression.
func (d *Debugger) Watch(expr string) (*Watch, error) {
	if err := d.checkSyntax(expr); err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.nextW++
	w := &Watch{ID: d.nextW, Expr: expr}
	d.watches = append(d.watches, w)
	d.mu.Unlock()
	if d.do(func(st *Stop) { d.refresh(st) }) != nil {
		d.RefreshIdle()
	}
	return w, nil
}

// Unwatch takes a watch out.
func (d *Debugger) Unwatch(id int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.watches)
	d.watches = slices.DeleteFunc(d.watches, func(w *Watch) bool { return w.ID == id })
	if len(d.watches) == n {
		return &NoWatchError{id}
	}
	return nil
}

// Watches lists copies of the watches with the values of the last stop, or of
// the end of the last cell.
func (d *Debugger) Watches() []Watch {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Watch, len(d.watches))
	for i, w := range d.watches {
		out[i] = *w
	}
	return out
}

// refresh evaluates the watches in the selected frame of a stop.
func (d *Debugger) refresh(st *Stop) {
	d.mu.Lock()
	list := slices.Clone(d.watches)
	d.mu.Unlock()
	if len(list) == 0 {
		return
	}
	frames := st.look.Frames()
	if st.frame >= len(frames) {
		return
	}
	a := frames[st.frame]
	for _, w := range list {
		d.look(w, a.Site.Locals, a.Locals)
	}
	d.settle(st)
}

// Refresh evaluates the watches again at the stop: a frame was selected, or
// something was changed.
func (d *Debugger) Refresh() error { return d.do(d.refresh) }

// RefreshIdle evaluates the watches on the calling goroutine, with no cell running.
func (d *Debugger) RefreshIdle() {
	d.mu.Lock()
	list := slices.Clone(d.watches)
	d.mu.Unlock()
	if d.halted.Load() != nil {
		return
	}
	for _, w := range list {
		d.look(w, nil, nil)
	}
}

// look evaluates one watch.
func (d *Debugger) look(w *Watch, scope *cell.Local, locals []interp.Local) {
	d.mu.Lock()
	e := w.compiled[scope]
	d.mu.Unlock()
	var err error
	if e == nil || scope == nil { // a name of the session may mean something else by now
		if e, err = d.in.CompileEval(w.Expr, scope); err == nil {
			d.mu.Lock()
			if w.compiled == nil {
				w.compiled = map[*cell.Local]*interp.Evaluation{}
			}
			w.compiled[scope] = e
			d.mu.Unlock()
		}
	}
	var values []interp.Shown
	if err == nil {
		values, err = e.Run(finder(locals))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	w.Values, w.Err, w.Changed, w.Ran = values, err, false, true
	if err != nil {
		return
	}
	text := ""
	if d.o.Text != nil {
		text = d.o.Text(values)
	}
	w.Changed, w.Was = w.ran && text != w.Text, w.Text
	w.Text, w.ran = text, true
}
