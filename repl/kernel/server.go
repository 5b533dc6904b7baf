package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// A Handler does what the requests ask. Execute is called for one request at a
// time; ctx is cancelled by an interrupt, with ErrInterrupted or ErrTimedOut as its cause.
type Handler interface {
	Execute(ctx context.Context, r ExecuteRequest, out Output) ExecuteReply
	Complete(r CompleteRequest) CompleteReply
	Inspect(r InspectRequest) InspectReply
	IsComplete(code string) IsCompleteReply
	Info() KernelInfo
}

// The causes of a cancelled execution.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrTimedOut    = fmt.Errorf("timed out: %w", context.DeadlineExceeded)
)

// An Output carries what an execution produces to the front end.
type Output interface {
	Stream(name, text string)
	Result(r ResultContent)
	Display(r ResultContent)
	Error(e ErrorContent)
	// Input asks the front end for a piece of its standard input; io.EOF at the end.
	Input() (string, error)
}

// Serve answers requests from r on w until a shutdown request or the end of r.
func Serve(r io.Reader, w io.Writer, h Handler) error {
	s := &server{conn: conn{r: r, w: w}, h: h, inputs: make(chan InputContent)}
	return s.run()
}

type server struct {
	conn
	h      Handler
	inputs chan InputContent

	mu      sync.Mutex
	running string                  // msg_id of the running execution, "" when none
	cancel  context.CancelCauseFunc // of the running execution
	early   map[string]error        // interrupts of executions that have not begun
	ended   bool
}

func (s *server) run() error {
	work := make(chan Message, 1024)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m := range work {
			s.answer(m)
		}
	}()
	defer func() {
		s.end()
		close(work)
		<-done
	}()
	for {
		m, err := s.receive()
		if err == io.EOF {
			close(s.inputs)
			return nil
		}
		if err != nil {
			close(s.inputs)
			return err
		}
		switch m.Header.Type {
		case TypeInterruptRequest:
			var r InterruptRequest
			_ = json.Unmarshal(m.Content, &r)
			cause := ErrInterrupted
			if r.Reason == "timeout" {
				cause = ErrTimedOut
			}
			s.interrupt(r.Target, cause)
			_ = s.send(TypeInterruptReply, m.Header.ID+".r", m.Header, ShutdownReply{"ok"})
		case TypeInputReply:
			var in InputContent
			_ = json.Unmarshal(m.Content, &in)
			s.inputs <- in
		case TypeShutdownRequest:
			_ = s.send(TypeShutdownReply, m.Header.ID+".r", m.Header, ShutdownReply{"ok"})
			close(s.inputs)
			return nil
		default:
			work <- m
		}
	}
}

// interrupt stops the execution id, now or as soon as it begins.
func (s *server) interrupt(id string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == id {
		s.cancel(cause)
		return
	}
	if s.early == nil {
		s.early = map[string]error{}
	}
	s.early[id] = cause
}

// end stops whatever runs or will still begin.
func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.running != "" {
		s.cancel(ErrInterrupted)
	}
}

// begin notes that execution id runs; done must be called at its end.
func (s *server) begin(id string) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running, s.cancel = id, cancel
	if cause := s.early[id]; cause != nil {
		cancel(cause)
	} else if s.ended {
		cancel(ErrInterrupted)
	}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.early, id)
		s.running = ""
		cancel(nil)
	}
}

func (s *server) answer(m Message) {
	reply := func(typ string, content any) { _ = s.send(typ, m.Header.ID+".r", m.Header, content) }
	switch m.Header.Type {
	case TypeExecuteRequest:
		var r ExecuteRequest
		if err := json.Unmarshal(m.Content, &r); err != nil {
			reply(TypeExecuteReply, ExecuteReply{Status: "error"})
			return
		}
		ctx, done := s.begin(m.Header.ID)
		out := &output{s: s, parent: m.Header, allowStdin: r.AllowStdin}
		rep := s.h.Execute(ctx, r, out)
		out.flush()
		done()
		reply(TypeExecuteReply, rep)
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
		reply(TypeIsCompleteReply, s.h.IsComplete(r.Code))
	case TypeKernelInfoRequest:
		reply(TypeKernelInfoReply, s.h.Info())
	default: // a newer front end: it must not wait for ever
		reply(m.Header.Type+"_unknown", ShutdownReply{"error"})
	}
}

// flushAfter is how long output may wait for more before it is sent, and
// flushBytes how much of it: a program that prints a million lines must not
// cost a message a line.
const (
	flushAfter = 10 * time.Millisecond
	flushBytes = 32 << 10
)

// An output sends what one execution produces.
type output struct {
	s          *server
	parent     Header
	allowStdin bool

	mu    sync.Mutex
	name  string
	buf   []byte
	timer *time.Timer
}

// Stream collects text and sends it soon.
func (o *output) Stream(name, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.name != name {
		o.flushLocked()
		o.name = name
	}
	o.buf = append(o.buf, text...)
	if len(o.buf) >= flushBytes {
		o.sendLocked(wholeRunes(o.buf))
	} else if o.timer == nil {
		o.timer = time.AfterFunc(flushAfter, o.flush)
	}
}

func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
}

func (o *output) flushLocked() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	o.sendLocked(len(o.buf))
}

// sendLocked sends the first n bytes and keeps the rest.
func (o *output) sendLocked(n int) {
	if n > 0 {
		_ = o.s.send(TypeStream, "", o.parent, streamContent(o.name, o.buf[:n]))
		o.buf = append(o.buf[:0], o.buf[n:]...)
	}
}

// Result sends a shown value.
func (o *output) Result(r ResultContent) {
	o.flush()
	_ = o.s.send(TypeExecuteResult, "", o.parent, r)
}

// Display sends the answer of a command or a warning.
func (o *output) Display(r ResultContent) {
	o.flush()
	_ = o.s.send(TypeDisplayData, "", o.parent, r)
}

// Error sends a failure.
func (o *output) Error(e ErrorContent) {
	o.flush()
	_ = o.s.send(TypeError, "", o.parent, e)
}

// Input asks the front end for input.
func (o *output) Input() (string, error) {
	if !o.allowStdin {
		return "", io.EOF
	}
	o.flush()
	if err := o.s.send(TypeInputRequest, "", o.parent, InputContent{}); err != nil {
		return "", io.EOF
	}
	in, ok := <-o.s.inputs
	if !ok || in.EOF {
		return "", io.EOF
	}
	return in.Value, nil
}
