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
// The others are called one at a time too, on another goroutine: while a cell runs.
type Handler interface {
	Execute(ctx context.Context, r ExecuteRequest, out Output) ExecuteReply
	// Debug answers a request of the Debug Adapter Protocol with a response of it.
	Debug(ctx context.Context, request json.RawMessage) json.RawMessage
	View(r ViewRequest) ViewReply
	Complete(r CompleteRequest) CompleteReply
	Inspect(r InspectRequest) InspectReply
	IsComplete(code string) IsCompleteReply
	Info() KernelInfo
	// Attach tells how to send what belongs to no execution.
	Attach(b Broadcast)
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
	// Debug sends an event of the Debug Adapter Protocol.
	Debug(event any)
	// Input asks the front end for a piece of its standard input; io.EOF at the end.
	Input() (string, error)
}

// Serve answers requests from r on w until a shutdown request or the end of r.
func Serve(r io.Reader, w io.Writer, h Handler) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &server{conn: conn{r: r, w: w}, h: h, ctx: ctx, inputs: make(chan InputContent)}
	h.Attach(Broadcast{s})
	return s.run(cancel)
}

type server struct {
	conn
	h      Handler
	ctx    context.Context // of the server: ends with it
	inputs chan InputContent

	mu      sync.Mutex
	running string                  // msg_id of the running execution, "" when none
	cancel  context.CancelCauseFunc // of the running execution
	early   map[string]error        // interrupts of executions that have not begun
	ended   bool
}

func (s *server) run(cancel func()) error {
	work, asked := make(chan Message, 1024), make(chan Message, 1024)
	var done sync.WaitGroup
	done.Go(func() {
		for m := range work {
			s.execute(m)
		}
	})
	done.Go(func() {
		for m := range asked {
			s.control(m)
		}
	})
	defer func() {
		cancel()
		s.end()
		close(work)
		close(asked)
		done.Wait()
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
		case TypeExecuteRequest:
			work <- m
		case TypeDebugRequest:
			if cancels(m.Content) { // one before it may never end
				s.control(m)
			} else {
				asked <- m
			}
		default:
			asked <- m
		}
	}
}

// cancels tells whether a request of the debugger is to end another one.
func cancels(request json.RawMessage) bool {
	var r struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(request, &r) == nil && r.Command == "cancel"
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

// execute runs a cell or a command.
func (s *server) execute(m Message) {
	reply := func(rep ExecuteReply) { _ = s.send(TypeExecuteReply, m.Header.ID+".r", m.Header, rep) }
	var r ExecuteRequest
	if err := json.Unmarshal(m.Content, &r); err != nil {
		reply(ExecuteReply{Status: "error"})
		return
	}
	ctx, done := s.begin(m.Header.ID)
	out := &output{s: s, parent: m.Header, allowStdin: r.AllowStdin}
	rep := s.h.Execute(ctx, r, out)
	out.flush()
	done()
	reply(rep)
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
