package main

import (
	"sync"

	"github.com/tpush/tpush/repl/kernel"
)

// A stopTeller sends what the debugger does to the front end, with the execution
// that runs. An execution whose front end answers no stops does not stop.
type stopTeller struct {
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

// send sends an event and says whether somebody takes it.
func (t *stopTeller) send(ev any) (sent bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == nil {
		return false
	}
	t.out.Debug(ev)
	return true
}
