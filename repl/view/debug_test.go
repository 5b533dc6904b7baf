package view_test

import (
	"context"
	"testing"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/view"
)

// stops tells of the stops of a session.
type stops chan *debug.Stop

func (s stops) Stopped(st *debug.Stop) { s <- st }
func (s stops) Continued()             {}
func (s stops) Command(string) error   { return nil }
func (s stops) Log(string)             {}

// At every stop the snapshot has the stack, the locals with what changed, and
// the past of the watches.
func TestDebugAtStops(t *testing.T) {
	s := session(t, nil, "func f(n int) float64 {\n\ttotal := 0.0\n\tfor i := range n {\n\t\ttotal += float64(i * i)\n\t}\n\treturn total\n}")
	at := make(stops)
	s.ListenDebug(at)
	dbg := s.Debugger()
	v := view.New(s)
	if d := v.Debug(); d.State != "idle" || len(d.Breakpoints) != 0 {
		t.Errorf("%+v", d)
	}
	if _, err := dbg.Set(debug.Breakpoint{Kind: debug.Line, Cell: 1, Line: 4, Cond: "i > 0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := dbg.Watch("total"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(context.Background(), "f(4)", "", 1, discard{})
	}()
	var last inspect.Debug
	n := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-at:
			n++
			last = v.Debug()
			if again := v.Debug(); len(again.Watches) != 1 || len(again.Watches[0].Past) != len(last.Watches[0].Past) {
				t.Errorf("a second look at the same stop changes the past of a watch")
			}
			if err := dbg.Resume(debug.Resume{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 3 || last.State != "stopped" || last.At != (inspect.At{Cell: 1, Line: 4}) || len(last.Frames) != 2 || last.Frames[0].Func != "f" || last.Frames[1].At.Cell != 2 {
		t.Fatalf("%d stops, the last %+v", n, last)
	}
	if b := last.Breakpoints[0]; b.Hits != 3 || !b.Here || b.If != "i > 0" || b.What != "In[1]:4" {
		t.Errorf("breakpoint %+v", b)
	}
	values := map[string]inspect.DebugValue{}
	for _, l := range last.Locals {
		values[l.Name] = l
	}
	if i := values["i"]; i.Text != "3" || !i.Changed {
		t.Errorf("i is %+v", i)
	}
	if n := values["n"]; n.Text != "4" || n.Changed {
		t.Errorf("n is %+v", n)
	}
	if w := last.Watches[0]; w.Expr != "total" || w.Text != "5" || !w.Changed || len(w.Past) < 3 {
		t.Errorf("watch %+v", w)
	}
}
