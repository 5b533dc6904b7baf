package main

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/kernel"
)

// A stopTeller sends what the debugger does to the front end, with the execution
// that runs. An execution whose front end answers no stops does not stop.
type stopTeller struct {
	h *handler

	mu  sync.Mutex
	out kernel.Output // of the running execution, nil when none or when it may not stop
}

// begin notes the execution that runs; the function it gives notes its end.
func (t *stopTeller) begin(r kernel.ExecuteRequest, out kernel.Output) (end func()) {
	if !r.AllowDebug {
		return func() {}
	}
	t.mu.Lock()
	t.out = out
	t.mu.Unlock()
	return func() {
		t.mu.Lock()
		t.out = nil
		t.mu.Unlock()
	}
}

func (t *stopTeller) send(ev any) (sent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == nil {
		return false
	}
	t.out.Debug(ev)
	return true
}

func event(name string) dap.Event {
	return dap.Event{ProtocolMessage: dap.ProtocolMessage{Type: "event"}, Event: name}
}

// Stopped tells of a stop.
func (t *stopTeller) Stopped(st *debug.Stop) {
	ev := &dap.StoppedEvent{Event: event("stopped"), Body: dap.StoppedEventBody{
		Reason: string(st.Reason), Description: st.Text, ThreadId: st.Goroutine, AllThreadsStopped: true, HitBreakpointIds: st.Hits,
	}}
	if !t.send(ev) {
		_ = t.h.s.Debugger().Resume(debug.Resume{})
	}
}

// Continued tells that a stop is over.
func (t *stopTeller) Continued() {
	t.send(&dap.ContinuedEvent{Event: event("continued"), Body: dap.ContinuedEventBody{AllThreadsContinued: true}})
}

// Log shows the text of a logpoint.
func (t *stopTeller) Log(text string) {
	t.send(&dap.OutputEvent{Event: event("output"), Body: dap.OutputEventBody{Category: "console", Output: text + "\n"}})
}

// Command runs a line of a breakpoint's command list.
func (t *stopTeller) Command(line string) error {
	a, err := command.Run(context.Background(), t.h.s, line, silence{})
	if err == nil && a.Text != "" {
		t.Log(a.Text)
	}
	return err
}

// silence takes the output of commands that run cells; none does at a stop.
type silence struct{}

func (silence) Stream(string, string)  {}
func (silence) Input() (string, error) { return "", nil }

// debugRequest answers the requests that the line front ends need: evaluate, of
// a command or of Go in the selected frame.
func debugRequest(ctx context.Context, s *repl.Session, request json.RawMessage) json.RawMessage {
	var r dap.EvaluateRequest
	_ = json.Unmarshal(request, &r)
	head := dap.Response{ProtocolMessage: dap.ProtocolMessage{Type: "response"}, RequestSeq: r.Seq, Command: r.Command}
	var answer any
	text, err := "", error(nil)
	switch {
	case r.Command != "evaluate":
		head.Message = "unknown request " + r.Command
		answer = dap.ErrorResponse{Response: head}
	case repl.IsCommand(r.Arguments.Expression):
		var a command.Answer
		a, err = command.Run(ctx, s, r.Arguments.Expression, silence{})
		text = a.Text
	default:
		var a command.Answer
		a, err = command.Run(ctx, s, ":print "+r.Arguments.Expression, silence{})
		text = a.Text
	}
	if answer == nil && err != nil {
		head.Message = err.Error()
		answer = dap.ErrorResponse{Response: head}
	} else if answer == nil {
		head.Success = true
		answer = dap.EvaluateResponse{Response: head, Body: dap.EvaluateResponseBody{Result: strings.TrimRight(text, "\n")}}
	}
	b, _ := json.Marshal(answer)
	return b
}
