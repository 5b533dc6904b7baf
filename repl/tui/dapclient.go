package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// The part of the Debug Adapter Protocol that the screen speaks: its messages
// as the kernel's debugger answers them.
type (
	dapEvent struct {
		Event string          `json:"event"`
		Body  json.RawMessage `json:"body"`
	}
	dapResponse struct {
		Success bool            `json:"success"`
		Message string          `json:"message"`
		Body    json.RawMessage `json:"body"`
	}
	dapStopped struct {
		Reason      string   `json:"reason"`
		Description string   `json:"description"`
		Text        string   `json:"text"`
		ThreadID    int      `json:"threadId"`
		Lines       []string `json:"lines"` // how the stop reads in a terminal
	}
	dapSource struct {
		Path            string `json:"path,omitempty"`
		SourceReference int    `json:"sourceReference,omitempty"` // the number of a cell
	}
	dapFrame struct {
		ID     int       `json:"id"`
		Name   string    `json:"name"`
		Line   int       `json:"line"`
		Source dapSource `json:"source"`
	}
	dapScope struct {
		Name string `json:"name"`
		Ref  int    `json:"variablesReference"`
	}
	dapVariable struct {
		Name  string `json:"name"`
		Value string `json:"value"`
		Type  string `json:"type"`
	}
	dapBreakpoint struct {
		Verified bool   `json:"verified"`
		Message  string `json:"message"`
		Line     int    `json:"line"`
	}
)

// A dapError is the debugger's refusal.
type dapError struct{ Command, Message string }

// Error names the request.
func (e *dapError) Error() string {
	if e.Message == "" {
		return e.Command + " was refused"
	}
	return e.Message
}

// dapDeadline bounds a request to the debugger; an expression may compute for a while.
const dapDeadline = 30 * time.Second

// dapAsk sends a request and decodes the body of its response into the value
// that into points to, nil for none. It waits, so it is not for Update.
func dapAsk(k Kernel, command string, args, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), dapDeadline)
	defer cancel()
	req, err := json.Marshal(map[string]any{"seq": 1, "type": "request", "command": command, "arguments": args})
	if err != nil {
		return err
	}
	raw, err := k.Debug(ctx, req)
	if err != nil {
		return err
	}
	var r dapResponse
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if !r.Success {
		return &dapError{command, r.Message}
	}
	if into == nil || len(r.Body) == 0 {
		return nil
	}
	return json.Unmarshal(r.Body, into)
}

// dapSetLines replaces the breakpoints of a cell by its number.
func dapSetLines(k Kernel, cell int, lines []int) ([]dapBreakpoint, error) {
	type spec struct {
		Line int `json:"line"`
	}
	specs := []spec{}
	for _, l := range lines {
		specs = append(specs, spec{l})
	}
	var body struct {
		Breakpoints []dapBreakpoint `json:"breakpoints"`
	}
	err := dapAsk(k, "setBreakpoints", map[string]any{"source": dapSource{SourceReference: cell}, "breakpoints": specs}, &body)
	return body.Breakpoints, err
}
