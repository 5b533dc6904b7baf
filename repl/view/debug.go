package view

import (
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/tpu"
)

// A past is what the debugger's values were, to tell what has changed.
type past struct {
	stop    *debug.Stop       // that was looked at last
	texts   map[string]string // of the locals at this stop, by frame and name
	before  map[string]string // at the stop before
	watches map[int]*watched
}

// watched is the past of a watch.
type watched struct {
	text    string
	changed bool
	numbers inspect.Floats
}

// maxPast is how many values of a watch are kept.
const maxPast = 200

// Debug is where the program stands, what stops it, and what is watched.
func (v *Views) Debug() inspect.Debug {
	dbg := v.s.Debugger()
	d := inspect.Debug{State: "idle", Breakpoints: []inspect.Breakpoint{}, Frames: []inspect.DebugFrame{}, Locals: []inspect.DebugValue{}, Watches: []inspect.Watch{}}
	st := dbg.Stopped()
	switch {
	case st != nil:
		d.State, d.Reason, d.Text = "stopped", string(st.Reason), v.s.Why(st)
		d.Place, d.At = st.Place.Place(), inspect.At{Cell: st.Place.Cell, Line: st.Place.Line}
		if st.Op != nil && st.Op.Call != nil {
			d.Op = st.Op.Call.OpN
		}
	case v.s.Running():
		d.State = "running"
	}
	v.breakpoints(dbg, st, &d)
	if st != nil {
		v.stack(dbg, st, &d)
	}
	v.watches(dbg, st, &d)
	v.past.stop = st
	return d
}

func (v *Views) breakpoints(dbg *debug.Debugger, st *debug.Stop, d *inspect.Debug) {
	for _, b := range dbg.Breakpoints() {
		x := inspect.Breakpoint{Number: b.ID, What: b.String(), Hits: b.Hits, Disabled: b.Disabled, Commands: strings.Join(b.Commands, "; ")}
		if b.Cond != "" {
			x.What, x.If = strings.TrimSpace(strings.Replace(x.What, " if "+b.Cond, "", 1)), b.Cond
		}
		if b.Kind == debug.Line {
			x.At = inspect.At{Cell: b.Cell, Line: b.Line}
			if b.Resolved > 0 {
				x.At.Line = b.Resolved
			}
		}
		if st != nil {
			for _, id := range st.Hits {
				x.Here = x.Here || id == b.ID
			}
		}
		d.Breakpoints = append(d.Breakpoints, x)
	}
}

// stack lists the frames of a stop and the locals of the selected one.
func (v *Views) stack(dbg *debug.Debugger, st *debug.Stop, d *inspect.Debug) {
	frames, err := dbg.Frames()
	if err != nil {
		return
	}
	d.Frame = dbg.Selected()
	for _, f := range frames {
		d.Frames = append(d.Frames, inspect.DebugFrame{Func: f.Place.Func, Place: f.Place.Place(), At: inspect.At{Cell: f.Place.Cell, Line: f.Place.Line},
			Line: strings.TrimSpace(v.s.SourceLine(f.Place))})
	}
	if st != v.past.stop {
		v.past.before, v.past.texts = v.past.texts, map[string]string{}
	}
	if d.Frame >= len(frames) {
		return
	}
	var session []interp.Variable // the variables of a cell's own frame
	if frames[d.Frame].Place.Func == "(cell)" {
		session = dbg.SessionVars()
	}
	v.s.Quiet(func() {
		add := func(name, typ string, value any) {
			x := inspect.DebugValue{Name: name, Type: typ}
			if t, ok := value.(*tpu.Tensor); ok && t != nil {
				x.Value, x.Op = t.Value().ID(), t.Value().OpNumber()
			}
			x.Text = v.s.Brief(interp.Shown{Value: value, Type: x.Type, Name: name})
			key := frames[d.Frame].Place.Func + " " + name
			was, known := v.past.before[key]
			x.Changed = known && was != x.Text
			v.past.texts[key] = x.Text
			d.Locals = append(d.Locals, x)
		}
		for _, l := range frames[d.Frame].Locals {
			typ := ""
			if l.Type != nil {
				typ = strings.ReplaceAll(l.Type.String(), "main.", "")
			}
			add(l.Name, typ, l.Value())
		}
		for _, x := range session {
			add(x.Name, x.Type, x.Value)
		}
	})
}

// watches lists the watches; each new stop adds to their past.
func (v *Views) watches(dbg *debug.Debugger, st *debug.Stop, d *inspect.Debug) {
	now := map[int]*watched{}
	for _, w := range dbg.Watches() {
		x := inspect.Watch{Number: w.ID, Expr: w.Expr}
		p := v.past.watches[w.ID]
		if p == nil {
			p = &watched{}
		}
		now[w.ID] = p
		switch {
		case w.Err != nil:
			x.Error = "not here: " + w.Err.Error()
		case w.Ran:
			var parts []string
			for _, val := range w.Values {
				parts = append(parts, v.s.Brief(val))
			}
			x.Text = strings.Join(parts, ", ")
			if st != v.past.stop || x.Text != p.text {
				p.changed = p.text != "" && p.text != x.Text
				p.text = x.Text
				if n, ok := number(w.Values); ok {
					p.numbers = append(p.numbers, n)
					p.numbers = p.numbers[max(0, len(p.numbers)-maxPast):]
				}
			}
			x.Changed, x.Past = p.changed, p.numbers
		}
		d.Watches = append(d.Watches, x)
	}
	v.past.watches = now
}

// number is the value of a watch as one, where it is.
func number(values []interp.Shown) (float64, bool) {
	if len(values) != 1 {
		return 0, false
	}
	if t, ok := values[0].Value.(*tpu.Tensor); ok {
		if t == nil || t.Size() != 1 {
			return 0, false
		}
		a, known := t.Peek()
		if !known {
			return 0, false
		}
		return inspect.Magnitudes(a)[0], true
	}
	return asFloat(values[0].Value)
}

func asFloat(x any) (float64, bool) {
	switch x := x.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	case int:
		return float64(x), true
	case int64:
		return float64(x), true
	case int32:
		return float64(x), true
	case uint64:
		return float64(x), true
	case bool:
		return map[bool]float64{true: 1}[x], true
	}
	return 0, false
}
