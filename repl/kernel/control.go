package kernel

import (
	"context"
	"encoding/json"
	"fmt"
)

// Control messages are answered while a cell runs: what a screen asks about
// the session, and the debugger, which speaks the Debug Adapter Protocol
// inside debug_request, debug_reply and debug_event as Jupyter's kernels do.
const (
	TypeDebugRequest = "debug_request"
	TypeDebugReply   = "debug_reply"
	TypeDebugEvent   = "debug_event"
	TypeViewRequest  = "view_request"
	TypeViewReply    = "view_reply"
)

// ViewRequest asks for a snapshot of the session by the name of its view.
type ViewRequest struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// ViewReply carries the snapshot, or why there is none.
type ViewReply struct {
	Status string          `json:"status"` // ok, error
	Data   json.RawMessage `json:"data,omitempty"`
	Error  string          `json:"evalue,omitempty"`
}

// A ViewError says why the kernel gave no snapshot.
type ViewError struct{ Name, Why string }

// Error names the view and the reason.
func (e *ViewError) Error() string { return fmt.Sprintf("view %s: %s", e.Name, e.Why) }

// Debug sends a request of the Debug Adapter Protocol to the kernel's debugger
// and gives its response.
func (c *Client) Debug(ctx context.Context, request json.RawMessage) (json.RawMessage, error) {
	return ask[json.RawMessage](ctx, c, TypeDebugRequest, request)
}

// View asks for a snapshot and decodes it into the value that into points to.
// The error is a *ViewError when the kernel has none to give.
func (c *Client) View(ctx context.Context, name string, args, into any) error {
	r := ViewRequest{Name: name}
	if args != nil {
		b, err := json.Marshal(args)
		if err != nil {
			return err
		}
		r.Args = b
	}
	rep, err := ask[ViewReply](ctx, c, TypeViewRequest, r)
	if err != nil {
		return err
	}
	if rep.Status != "ok" {
		return &ViewError{Name: name, Why: rep.Error}
	}
	return json.Unmarshal(rep.Data, into)
}

// OnDebug sets who is told of the debugger's events outside an execution: a
// goroutine that an earlier cell left running may hit a breakpoint. f runs on
// the goroutine that reads from the kernel and must not wait for it.
func (c *Client) OnDebug(f func(event json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onDebug = f
}

// control answers the messages that do not wait for the running cell.
func (s *server) control(m Message) {
	reply := func(typ string, content any) { _ = s.send(typ, m.Header.ID+".r", m.Header, content) }
	switch m.Header.Type {
	case TypeDebugRequest:
		reply(TypeDebugReply, s.h.Debug(s.ctx, m.Content))
	case TypeViewRequest:
		var r ViewRequest
		if err := json.Unmarshal(m.Content, &r); err != nil {
			reply(TypeViewReply, ViewReply{Status: "error", Error: err.Error()})
			return
		}
		reply(TypeViewReply, s.h.View(r))
	case TypeCompleteRequest:
		var r CompleteRequest
		_ = json.Unmarshal(m.Content, &r)
		reply(TypeCompleteReply, s.h.Complete(r))
	case TypeInspectRequest:
		var r InspectRequest
		_ = json.Unmarshal(m.Content, &r)
		reply(TypeInspectReply, s.h.Inspect(r))
	case TypeIsCompleteRequest:
		var r CodeRequest
		_ = json.Unmarshal(m.Content, &r)
		rep := s.h.IsComplete(r.Code)
		if c, ok := s.h.(Checker); ok && r.Check && rep.Status == "complete" {
			if rep.Errors = c.Check(r.Code); len(rep.Errors) > 0 {
				rep.Status = "invalid"
			}
		}
		reply(TypeIsCompleteReply, rep)
	case TypeKernelInfoRequest:
		reply(TypeKernelInfoReply, s.h.Info())
	default: // a newer front end: it must not wait for ever
		reply(m.Header.Type+"_unknown", ShutdownReply{"error"})
	}
}

// A Checker is a Handler that finds the mistakes of a cell without running it.
type Checker interface {
	Check(code string) []ErrorContent
}

// Debug sends an event of the debugger with the execution it belongs to.
func (o *output) Debug(event any) {
	o.flush()
	_ = o.s.send(TypeDebugEvent, "", o.parent, event)
}

// A Broadcast sends what belongs to no execution to the front end.
type Broadcast struct{ s *server }

// Debug sends an event of the debugger.
func (b Broadcast) Debug(event any) { _ = b.s.send(TypeDebugEvent, "", Header{}, event) }
