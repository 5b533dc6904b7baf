package panel_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/viz"
)

// stopped is a debugger in the middle of things.
func stopped() inspect.Debug {
	return inspect.Debug{
		State: "stopped", Reason: "breakpoint", Place: "In[12]:3", At: inspect.At{Cell: 12, Line: 3},
		Breakpoints: []inspect.Breakpoint{
			{Number: 1, What: "In[12]:3", If: "i > 2", Hits: 4, At: inspect.At{Cell: 12, Line: 3}, Here: true},
			{Number: 2, What: "op gather", Hits: 0, Commands: ":locals; :continue"},
			{Number: 3, What: "mem > 14 GiB", Disabled: true},
			{Number: 4, What: "train.tpu:99", Problem: "the file has 40 lines"},
		},
		Frames: []inspect.DebugFrame{
			{Func: "(cell)", Place: "In[12]:3", At: inspect.At{Cell: 12, Line: 3}, Line: "loss += step(i)"},
			{Func: "train", Place: "In[6]:14", At: inspect.At{Cell: 6, Line: 14}, Line: "return x.MatMul(w)"},
		},
		Locals: []inspect.DebugValue{
			{Name: "i", Type: "int", Text: "3", Changed: true},
			{Name: "x", Type: "*tpu.Tensor", Text: "f32[8,128]  4.0 KiB  ready", Value: 7, Op: 41},
			{Name: "名", Type: "string", Text: "\"文字 \x1b[31m\""},
		},
		Watches: []inspect.Watch{
			{Number: 1, Expr: "loss", Text: "2.314", Changed: true, Past: inspect.Floats{5, 4, 3.1, 2.9, 2.7, 2.5, 2.4, 2.314}},
			{Number: 2, Expr: "grad.Max()", Error: "not here: undefined: grad"},
		},
	}
}

func debugPanel(t testing.TB) panel.Panel {
	t.Helper()
	data, err := json.Marshal(stopped())
	if err != nil {
		t.Fatal(err)
	}
	p := panel.NewDebug()
	if err := p.Load(data); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDebugPanelOfAStop(t *testing.T) {
	p := debugPanel(t)
	var b strings.Builder
	for _, size := range [][2]int{{78, 20}, {45, 30}, {96, 24}} {
		fmt.Fprintf(&b, "== %dx%d\n", size[0], size[1])
		for _, l := range p.View(panel.Context{Theme: viz.Plain(), Focused: true}, size[0], size[1]) {
			b.WriteString(strings.TrimRight(l, " ") + "\n")
		}
	}
	golden(t, "testdata/debug_stopped.txt", b.String())
	p.Select(panel.Selection{Op: 41})
	if e, _ := p.Do("choose"); e.Selection == nil || e.Selection.Value != 7 {
		t.Errorf("op 41 is found as %+v", e.Selection)
	}
	p.Select(panel.Selection{Cell: 6, Line: 14})
	if e, _ := p.Do("choose"); e.Command != ":frame 1" || e.Selection.Line != 14 {
		t.Errorf("the caller's line is found as %+v", e)
	}
	p.Do("part")
	p.Do("part")
	p.Do("part")
	if e, _ := p.Do("delete"); e.Command != ":clear 1" {
		t.Errorf("deleting gives %+v", e)
	}
}
