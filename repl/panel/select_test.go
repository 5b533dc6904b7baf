package panel_test

import (
	"testing"

	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/repl/view"
)

// choose selects in a panel, refreshes it and gives what it then has under its cursor.
func choose(t *testing.T, v *view.Views, p panel.Panel, s panel.Selection) (panel.Selection, bool) {
	t.Helper()
	p.Select(s)
	load(t, v, p)
	load(t, v, p) // what it wants may have changed
	e, ok := p.Do("choose")
	if !ok || e.Selection == nil {
		return panel.Selection{}, false
	}
	return *e.Selection, true
}

// agree says whether two selections are of one thing: the same op or group, and
// the same line where both know it.
func agree(a, b panel.Selection) bool {
	switch {
	case a.Value != 0 && b.Value != 0:
		return a.Value == b.Value
	case a.Group != 0 && b.Group != 0:
		return a.Group == b.Group
	case a.Op != 0 && b.Op != 0:
		return a.Op == b.Op
	}
	return a.Line != 0 && a.Cell == b.Cell && a.Line == b.Line
}

// What is selected in one panel is found by every other, whatever the first
// knows of it: op, group, line, trace slice and HBM block are one thing.
func TestSelectionsAreFoundEverywhere(t *testing.T) {
	linked := []string{"hbm", "vars", "fusion", "trace", "graph", "roofline", "events"}
	for mode, name := range map[string]string{"debug": "h", "fuse": "loss", "strict": "x"} {
		s := session(t, mode, program...)
		v := view.New(s, command.Views()...)
		vars := panel.Named("vars")
		load(t, v, vars)
		vars.Do("filter " + name)
		e, _ := vars.Do("choose")
		if e.Selection == nil || e.Selection.Op == 0 || e.Selection.Group == 0 || e.Selection.Address == 0 {
			t.Fatalf("%s: %s is selected as %+v", mode, name, e.Selection)
		}
		thing := *e.Selection
		for _, from := range linked {
			a := panel.Named(from)
			load(t, v, a)
			sel, ok := choose(t, v, a, thing)
			if !ok || !agree(sel, thing) {
				t.Errorf("%s: %s selects %+v for %+v", mode, from, sel, thing)
				continue
			}
			for _, to := range linked {
				b := panel.Named(to)
				load(t, v, b)
				found, ok := choose(t, v, b, sel)
				if !ok || !agree(found, sel) { // a kernel without loss's own op stands for its group
					t.Errorf("%s: %s selected in %s as %+v is %+v in %s", mode, name, from, sel, found, to)
				}
			}
			// A cell line alone is enough, too: it finds something of that line.
			line := panel.Selection{Cell: thing.Cell, Line: thing.Line}
			b := panel.Named(from)
			load(t, v, b)
			if found, ok := choose(t, v, b, line); from != "fusion" && (!ok || found.Cell != line.Cell || found.Line != line.Line) && mode != "fuse" {
				t.Errorf("%s: %s finds %+v on line %+v", mode, from, found, line)
			}
		}
	}
}

// The cursor stays on its thing when new things come before it.
func TestCursorStaysOnItsThing(t *testing.T) {
	s := session(t, "debug", "b := tpu.Ones(64, 128)", "c := tpu.Ones(300, 128)")
	v := view.New(s)
	for _, name := range []string{"hbm", "vars", "fusion"} {
		p := panel.Named(name)
		load(t, v, p)
		p.Do("bottom")
		load(t, v, p)
		before, _ := p.Do("choose")
		run(t, s, "a"+name+" := tpu.Ones(500, 500)")
		load(t, v, p)
		after, _ := p.Do("choose")
		if before.Selection == nil || after.Selection == nil || !agree(*before.Selection, *after.Selection) {
			t.Errorf("%s: the cursor went from %+v to %+v", name, before.Selection, after.Selection)
		}
	}
}
