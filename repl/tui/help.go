package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// help explains the thing under the cursor; without one, where help is found.
func (m *Model) help() tea.Cmd {
	req := kernel.InspectRequest{}
	if e := m.text(); e != nil {
		req.Code, req.CursorPos = e.Text(), e.Offset()
		if e.Word() == "" { // the call that is open
			if upTo, name := callAt(req.Code, req.CursorPos); name != "" {
				req.CursorPos = upTo
			}
		}
	}
	if m.popup != nil && m.popup.at >= 0 {
		it := m.popup.items[m.popup.found[m.popup.at].item]
		req.Code = req.Code[:m.text().Offset()-len(m.popup.word(m.text()))] + it.Text
		req.CursorPos = len(req.Code)
	}
	if strings.TrimSpace(req.Code) == "" {
		m.over = textPager("help", strings.TrimSpace(firstHelp))
		return nil
	}
	cmd := m.askKernel(func(ctx context.Context, k Kernel) func(m *Model) tea.Cmd {
		rep, err := k.Inspect(ctx, req)
		return func(m *Model) tea.Cmd {
			if err != nil || !rep.Found || rep.Data["text/plain"] == "" {
				m.say("no help for what is under the cursor; :help lists the commands, ? in cell mode the keys")
				return nil
			}
			m.over = textPager("help", rep.Data["text/plain"])
			return nil
		}
	})
	if cmd == nil {
		m.say("the kernel is not there yet")
	}
	return cmd
}

const firstHelp = `
A cell is Go. Enter runs it when it is whole, Alt-Enter begins a line.
The value of its last expression is shown; x @ y, x*2 and x[1:3, :] work on tensors.

  :           commands: Tab completes them, :help lists them
  ?x          what x is: a variable, an operation, a command
  Tab         completes; F1 or Alt-H explains what is under the cursor
  Esc         cell mode: j k move, Enter edits, r runs, dd deletes, u brings back
  Ctrl-P      finds every command and key by its name
  Ctrl-R      finds what was typed before
  F2 … F7     panels: HBM, fusion, trace, variables, debugger
  Ctrl-C      stops the cell that runs; Ctrl-D leaves

  :tour       shows it all on a small program that really runs
  :keys       every key
`

// addHelp adds the screen's own commands to what :help lists.
func (m *Model) addHelp(c *cell) {
	if text := strings.TrimSpace(c.source); text != ":help" && text != ":h" || c.status != okay {
		return
	}
	o := &output{kind: outDisplay}
	list := []string{"", "on this screen"}
	for _, x := range screenCommands() {
		list = append(list, "  "+glyph.Fit(":"+x.name+" "+x.args, 30, "")+x.doc)
	}
	o.text.add(list)
	c.outputs = append(c.outputs, o)
	c.touch()
}
