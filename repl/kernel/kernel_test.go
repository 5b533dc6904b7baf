package kernel

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// echo is a handler whose cells are tiny commands.
type echo struct{ started chan struct{} }

func (h echo) Execute(ctx context.Context, r ExecuteRequest, out Output) ExecuteReply {
	switch verb, rest, _ := strings.Cut(r.Code, " "); verb {
	case "print":
		out.Stream("stdout", rest)
	case "lines":
		for range 100_000 {
			out.Stream("stdout", "line\n")
		}
	case "stop": // at a breakpoint, with output of another goroutine
		out.Debug(json.RawMessage(`"stopped"`))
		for range 1000 {
			out.Stream("stdout", "line\n")
			out.Result(ResultContent{})
		}
	case "value":
		out.Result(ResultContent{ExecutionCount: 1, Data: map[string]string{"text/plain": rest}})
	case "fail":
		out.Error(ErrorContent{Name: "panic", Value: rest, Line: 3})
		return ExecuteReply{Status: "error"}
	case "wait":
		close(h.started)
		<-ctx.Done()
		return ExecuteReply{Status: "error", Mode: context.Cause(ctx).Error()}
	case "read":
		s, err := out.Input()
		if err != nil {
			s = "EOF"
		}
		out.Stream("stdout", s)
	}
	return ExecuteReply{Status: "ok", ExecutionCount: 7}
}
func (echo) Complete(r CompleteRequest) CompleteReply {
	return CompleteReply{Status: "ok", Matches: []string{r.Code + "x"}, CursorEnd: r.CursorPos}
}
func (echo) Inspect(InspectRequest) InspectReply { return InspectReply{Status: "ok"} }
func (echo) IsComplete(code string) IsCompleteReply {
	return IsCompleteReply{Status: "incomplete", Indent: "\t"}
}
func (echo) Info() KernelInfo { return KernelInfo{Status: "ok", Implementation: "echo"} }
func (echo) Attach(Broadcast) {}
func (echo) Debug(_ context.Context, r json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"answer":` + string(r) + `}`)
}
func (echo) View(r ViewRequest) ViewReply {
	if r.Name != "numbers" {
		return ViewReply{Status: "error", Error: "no such view"}
	}
	return ViewReply{Status: "ok", Data: json.RawMessage(`[1,2]`)}
}

func connect(t *testing.T, h Handler) *Client {
	t.Helper()
	toKernel, fromFront := io.Pipe()
	toFront, fromKernel := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Serve(toKernel, fromKernel, h)
		fromKernel.Close()
		ended <- err
	}()
	c := NewClient(toFront, fromFront, nil)
	t.Cleanup(func() {
		_ = c.Shutdown()
		fromFront.Close()
		if err := <-ended; err != nil {
			t.Errorf("server ended with %v", err)
		}
	})
	return c
}

func TestExecute(t *testing.T) {
	c := connect(t, echo{})
	run := func(code string) (out string, rep ExecuteReply) {
		t.Helper()
		var b strings.Builder
		rep, err := c.Execute(context.Background(), ExecuteRequest{Code: code}, Events{
			Stream: func(s StreamContent) { b.WriteString(s.Text) },
			Result: func(r ResultContent) { b.WriteString("=" + r.Data["text/plain"]) },
			Error:  func(e ErrorContent) { b.WriteString(e.Name + ":" + e.Value) },
			Input:  func() (string, error) { return "typed", nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String(), rep
	}
	for _, tt := range []struct{ code, want, status string }{
		{"print hello", "hello", "ok"}, {"value 42", "=42", "ok"}, {"fail boom", "panic:boom", "error"}, {"read", "typed", "ok"},
	} {
		if got, rep := run(tt.code); got != tt.want || rep.Status != tt.status {
			t.Errorf("%s: %q %s, want %q %s", tt.code, got, rep.Status, tt.want, tt.status)
		}
	}
	if got, _ := run("lines"); got != strings.Repeat("line\n", 100_000) {
		t.Errorf("output was lost or reordered: %d bytes", len(got))
	}
}

func TestInterruptGivesItsCause(t *testing.T) {
	for _, tt := range []struct {
		cause error
		want  string
	}{{context.Canceled, ErrInterrupted.Error()}, {context.DeadlineExceeded, ErrTimedOut.Error()}} {
		h := echo{started: make(chan struct{})}
		c := connect(t, h)
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() { <-h.started; cancel(tt.cause) }()
		rep, err := c.Execute(ctx, ExecuteRequest{Code: "wait"}, Events{})
		if err != nil || rep.Mode != tt.want {
			t.Errorf("%v: %+v %v, want cause %q", tt.cause, rep, err, tt.want)
		}
	}
}

func TestQuestions(t *testing.T) {
	c := connect(t, echo{})
	if r, err := c.Complete(context.Background(), CompleteRequest{Code: "f", CursorPos: 1}); err != nil || r.Matches[0] != "fx" {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := c.IsComplete(context.Background(), "if {"); err != nil || r.Status != "incomplete" {
		t.Errorf("%+v %v", r, err)
	}
	if r, err := c.Info(context.Background()); err != nil || r.Implementation != "echo" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestControlWhileACellRuns(t *testing.T) {
	h := echo{started: make(chan struct{})}
	c := connect(t, h)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Execute(ctx, ExecuteRequest{Code: "wait"}, Events{})
		ended <- err
	}()
	<-h.started
	var numbers []int
	if err := c.View(ctx, "numbers", nil, &numbers); err != nil || len(numbers) != 2 {
		t.Errorf("view: %v %v", numbers, err)
	}
	var ve *ViewError
	if err := c.View(ctx, "letters", map[string]int{"n": 1}, &numbers); !errors.As(err, &ve) {
		t.Errorf("an unknown view: %v, want a ViewError", err)
	}
	if got, err := c.Debug(ctx, json.RawMessage(`7`)); err != nil || string(got) != `{"answer":7}` {
		t.Errorf("debug: %s %v", got, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestDebugEventMayAskTheKernel(t *testing.T) {
	c := connect(t, echo{})
	stops, lines := 0, 0
	_, err := c.Execute(context.Background(), ExecuteRequest{Code: "stop"}, Events{
		Debug: func(e json.RawMessage) {
			for range 3 {
				if _, err := c.Debug(context.Background(), e); err != nil {
					t.Error(err)
				}
			}
			stops++
		},
		Stream: func(s StreamContent) {
			if stops == 0 {
				t.Error("output overtook the stop")
			}
			lines += strings.Count(s.Text, "\n")
		},
	})
	if err != nil || stops != 1 || lines != 1000 {
		t.Errorf("%d stops, %d lines, %v", stops, lines, err)
	}
}

func TestADeadKernelIsReported(t *testing.T) {
	toFront, fromKernel := io.Pipe()
	toKernel, fromFront := io.Pipe()
	c := NewClient(toFront, fromFront, func() *DiedError { return &DiedError{Status: "exit status 2", Stderr: "fatal error"} })
	go func() { // the kernel reads half a frame and dies
		_, _ = toKernel.Read(make([]byte, 2))
		toKernel.Close()
		fromKernel.Close()
	}()
	_, err := c.Execute(context.Background(), ExecuteRequest{Code: "x"}, Events{})
	var died *DiedError
	if !errors.As(err, &died) || died.Stderr != "fatal error" {
		t.Fatalf("got %v", err)
	}
	if _, err := c.Info(context.Background()); !errors.As(err, &died) {
		t.Errorf("a later request: got %v", err)
	}
}

func TestBadFrames(t *testing.T) {
	long := binary.BigEndian.AppendUint32(nil, maxFrameBytes+1)
	for name, in := range map[string]string{
		"too long": string(long), "no JSON": "\x00\x00\x00\x01x", "cut short": "\x00\x00\x00\x09{}",
	} {
		err := Serve(strings.NewReader(in), io.Discard, echo{})
		var fe *FrameError
		if !errors.As(err, &fe) {
			t.Errorf("%s: got %v, want a FrameError", name, err)
		}
	}
}
