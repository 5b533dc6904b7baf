package tui

import (
	tea "charm.land/bubbletea/v2"
	"encoding/json"
	"strings"
	"testing"
)

func TestAStopIsShownInItsCell(t *testing.T) {
	s := newScreen(t, 110, 36)
	s.k.dap = map[string]string{
		"stackTrace": `{"stackFrames":[{"id":1,"name":"f","line":2,"source":{"sourceReference":1}},{"id":2,"name":"(cell)","line":4,"source":{"sourceReference":1}}]}`,
		"scopes":     `{"scopes":[{"name":"Locals","variablesReference":5}]}`,
		"variables":  `{"variables":[{"name":"x","value":"[1 2]","type":"f32[2]"},{"name":"n","value":"3","type":"int"}]}`,
		"evaluate":   `{"result":"42  int"}`,
	}
	c := s.nb.append("stop\ny := 1\nz := 2\nf()")
	j := &job{cell: c, cancel: func(error) {}, number: 1, over: make(chan struct{})}
	j.feed = newFeed(nil, nil)
	c.status, s.job = running, j
	event := `{"event":"stopped","body":{"reason":"breakpoint","threadId":1,"lines":["Brk[1] stopped at In[1]:2","   => 2 | y := 1","   operands  x f32[2]"]}}`
	debugEvent(s.k, j, s.send, json.RawMessage(event))
	s.do(func() tea.Msg { return nil })
	s.want("▶", "stopped at In[1]:2", "operands  x f32[2]", "f In[1]:2  <  (cell) In[1]:4", "[1 2]", "STOPPED In[1]:2", "F10 next").lacks("=> 2 |")

	s.k.dap["variables"] = `{"variables":[{"name":"x","value":"[1 2]","type":"f32[2]"},{"name":"n","value":"4","type":"int"}]}`
	debugEvent(s.k, j, s.send, json.RawMessage(event))
	s.do(func() tea.Msg { return nil })
	s.want("* n", "  x")

	s.keys(`"n * 10`, "enter").want("dbg     n * 10", "42  int")
	s.k.frame = 1
	s.k.dap["variables"] = `{"variables":[{"name":"outer","value":"9","type":"int"}]}`
	s.keys(`":up`, "enter").want("outer  int  9", "STOPPED In[1]:4").lacks("n  int  4")
	s.keys(`"m`, "enter")
	s.k.frame = 0

	s.keys("f10")
	debugEvent(s.k, j, s.send, json.RawMessage(`{"event":"continued"}`)) // the step is under way
	s.do(func() tea.Msg { return nil })
	s.keys(`"later`, "enter").lacks("later")
	debugEvent(s.k, j, s.send, json.RawMessage(event))
	s.do(func() tea.Msg { return nil })
	s.want("dbg     later")

	s.keys("f10", "f11", "shift+f11", "f5")
	all := strings.Join(s.k.asked, "\n")
	for _, want := range []string{`evaluate {"context":"repl","expression":"n * 10","frameId":1}`, `evaluate {"context":"repl","expression":"m","frameId":2}`, `evaluate {"context":"repl","expression":"later","frameId":1}`, `next {"threadId":1}`, `stepIn {"threadId":1}`, `stepOut {"threadId":1}`, `continue {"threadId":1}`} {
		if !strings.Contains(all, want) {
			t.Errorf("not asked: %s\n%s", want, all)
		}
	}
	debugEvent(s.k, j, s.send, json.RawMessage(`{"event":"continued"}`))
	s.do(func() tea.Msg { return nil })
	s.lacks("STOPPED", "▶")
	if text := s.notebookText(); strings.Contains(text, "n * 10") {
		t.Errorf("what was asked at the stop is in the notebook:\n%s", text)
	}
}

func TestBreakpointsAreSetUnderTheNumberOfTheRun(t *testing.T) {
	s := newScreen(t, 100, 30)
	s.keys(`"print a`, "alt+enter", `"print b`, "f9").want("●")
	s.keys("enter").want("●  ")
	s.keys("esc", "r")
	all := strings.Join(s.k.asked, "\n")
	for _, want := range []string{
		`setBreakpoints {"breakpoints":[{"line":2}],"source":{"sourceReference":1}}`,
		`setBreakpoints {"breakpoints":[],"source":{"sourceReference":1}}`,
		`setBreakpoints {"breakpoints":[{"line":2}],"source":{"sourceReference":2}}`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("not asked: %s\n%s", want, all)
		}
	}
}

func TestPanelsTakeTheirPlace(t *testing.T) {
	s := newScreen(t, 120, 36)
	s.keys("f2", "f6").want("HBM v5e", "VARIABLES", "weights", "│")
	if s.at.mainW >= 120 || len(s.at.columns) != 1 {
		t.Errorf("%+v", s.at)
	}
	wide := s.at.mainW
	s.keys("alt+left").text()
	if s.at.mainW >= wide {
		t.Error("alt+left gave the panels no room")
	}
	s.keys("alt+o", "esc")
	if s.focus != onInput {
		t.Error("esc did not give the focus back")
	}
	s.keys("f2", "f6").lacks("VARIABLES")

	narrow := newScreen(t, 80, 24)
	narrow.keys("f6").want("VARIABLES", "weights").lacks("│")
	if narrow.focus != onPanel {
		t.Error("an overlay has the keys")
	}
	narrow.keys("q").lacks("VARIABLES")

	broad := newScreen(t, 200, 60)
	broad.keys("f2", "f6").want("HBM v5e", "VARIABLES")
	if len(broad.at.columns) != 2 {
		t.Errorf("%+v", broad.at)
	}
}
