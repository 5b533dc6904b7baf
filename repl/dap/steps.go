package dap

import (
	"context"
	"fmt"

	"github.com/google/go-dap"
)

// resume goes on. While the client looks back, a step goes forward again by one
// operation and continue returns to the present.
func (a *Adapter) resume(_ context.Context, r *request) (any, error) {
	thread := arguments[dap.ContinueArguments](r).ThreadId
	if _, past := a.s.Cursor(); past {
		if r.Command == "continue" {
			a.s.Present()
		} else {
			a.s.Look(-1)
		}
		a.lookedBack()
	} else {
		a.forget()
		if err := a.e.Resume(thread, r.Command); err != nil {
			return nil, err
		}
	}
	if r.Command == "continue" {
		return dap.ContinueResponseBody{AllThreadsContinued: true}, nil
	}
	return nil, nil
}

func (a *Adapter) pause(context.Context, *request) (any, error) { return nil, a.e.Pause() }

// stepBack looks back by one operation; reverseContinue to the last one that a
// line with a breakpoint applied, or to the start of recorded history.
func (a *Adapter) stepBack(_ context.Context, r *request) (any, error) {
	thread := arguments[dap.StepBackArguments](r).ThreadId
	if _, past := a.s.Cursor(); !past {
		if _, err := a.e.Frames(thread); err != nil {
			return nil, err
		}
	}
	_, left, ok := a.s.Look(1)
	if !ok {
		return nil, bad("%s: nothing is recorded to look back at", r.Command)
	}
	if left > 0 && r.Command == "stepBack" {
		return nil, bad("stepBack: this is the start of recorded history")
	}
	for r.Command == "reverseContinue" && left == 0 && !a.atBreakpoint() {
		_, left, _ = a.s.Look(1)
	}
	a.lookedBack()
	return nil, nil
}

// atBreakpoint says whether the line that is looked back at has a breakpoint.
func (a *Adapter) atBreakpoint() bool {
	rec, _ := a.s.Cursor()
	f := frameOf(rec.Stack.Top())
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lines[placeName(f.File, f.Cell)][f.Line]
}

// lookedBack tells the client that it now sees another moment.
func (a *Adapter) lookedBack() {
	a.forget()
	s := Stop{Thread: mainThread, Reason: "step", Description: "Back in the present"}
	if t := a.e.Threads(); len(t) > 0 {
		s.Thread = t[0].ID
	}
	if rec, ok := a.s.Cursor(); ok {
		s.Description = fmt.Sprintf("Looking back at op #%d %s", rec.OpN, rec.Def.Name)
		if first, _, _ := a.s.Dispatcher().Recorded(); first == rec.OpN {
			s.Text = "start of recorded history"
		}
	}
	a.send(event{"event", "stopped", stoppedBody(s)})
}

func (a *Adapter) exceptionInfo(context.Context, *request) (any, error) {
	f, ok := a.e.Failure()
	if !ok {
		return nil, bad("exceptionInfo: nothing has failed")
	}
	return dap.ExceptionInfoResponseBody{
		ExceptionId: f.Kind, Description: f.Message, BreakMode: "always",
		Details: &dap.ExceptionDetails{Message: f.Message, TypeName: f.Kind, StackTrace: f.Details},
	}, nil
}
