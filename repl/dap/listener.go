package dap

import (
	"context"
	"strings"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/debug"
)

// A stoppedEvent is the body of the event of a stop. Lines is how the stop reads
// in a terminal; editors pass it by.
type stoppedEvent struct {
	dap.StoppedEventBody
	Lines []string `json:"lines,omitempty"`
}

// Stopped tells the client of a stop. What was shown before is no longer valid.
func (a *Adapter) Stopped(st *debug.Stop) {
	a.forget()
	a.thread.Store(int64(st.Goroutine))
	if !a.send(event{"event", "stopped", stoppedEvent{stoppedBody(a.stopOf(st)), a.s.StopText(st)}}) {
		_ = a.e.Resume(st.Goroutine, "continue")
	}
}

// stopOf makes the protocol's stop of the debugger's.
func (a *Adapter) stopOf(st *debug.Stop) Stop {
	s := Stop{Thread: st.Goroutine, Reason: string(st.Reason), Text: st.Text}
	if len(st.Hits) > 0 {
		s.Breakpoint = st.Hits[0]
	}
	if r := a.e.Reason(s.Breakpoint); r != "" {
		s.Reason = r
	}
	switch {
	case s.Reason == "entry" || s.Reason == "step":
		s.Breakpoint = 0
	case s.Reason == "exception":
		f, _ := a.e.Failure()
		s.Description, s.Text = "Paused on "+f.Kind, f.Message
	case st.Op != nil:
		s.Text = strings.TrimSpace(s.Text + "\n" + a.s.Why(st))
	}
	if len(st.Failed) > 0 {
		s.Text = strings.TrimSpace(s.Text + "\n" + strings.Join(st.Failed, "\n"))
	}
	return s
}

// Continued tells the client that the program goes on.
func (a *Adapter) Continued() {
	a.s.Present()
	a.forget()
	a.send(event{"event", "continued", dap.ContinuedEventBody{ThreadId: int(a.thread.Load()), AllThreadsContinued: true}})
}

// Log passes the text of a logpoint on.
func (a *Adapter) Log(text string) {
	a.send(event{"event", "output", dap.OutputEventBody{Category: "console", Output: strings.TrimSuffix(text, "\n") + "\n"}})
}

// Command runs a line of a breakpoint's command list and passes its answer on.
func (a *Adapter) Command(line string) error {
	var out collected
	ans, err := command.Run(context.Background(), a.s, line, &out)
	if err != nil {
		return err
	}
	if text := strings.TrimRight(out.String()+ans.Text, "\n"); text != "" {
		a.Log(text)
	}
	return nil
}
