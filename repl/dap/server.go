package dap

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/plain"
)

// A Kernel runs the cells and answers for the debugger; *kernel.Client is one.
type Kernel interface {
	plain.Kernel
	Debug(ctx context.Context, request json.RawMessage) (json.RawMessage, error)
	OnDebug(f func(event json.RawMessage))
}

// LaunchArguments are what a launch request may say.
type LaunchArguments struct {
	Program     string   `json:"program"`
	Args        []string `json:"args"`
	Mode        string   `json:"mode"`
	Chip        string   `json:"chip"`
	HBMLimit    string   `json:"hbmLimit"`
	StopOnEntry bool     `json:"stopOnEntry"`
	NoDebug     bool     `json:"noDebug"`
	KeepGoing   bool     `json:"keepGoing"`
}

// Options connect a server to the rest of the program.
type Options struct {
	// Read reads and cuts a file.
	Read func(path string) (*repl.Notebook, error)
	// Start starts a kernel; stop ends it.
	Start func(LaunchArguments) (k Kernel, stop func(), err error)
}

// Serve holds one conversation. It returns nil when the client disconnects or
// closes the connection, and a *FrameError when it breaks the framing.
func Serve(ctx context.Context, r io.Reader, w io.Writer, o Options) error {
	s := &server{Options: o, conn: newConn(r, w), pending: map[int]context.CancelFunc{}, queue: make(chan func(), maxQueued)}
	s.ctx, s.stop = context.WithCancel(ctx)
	defer s.end()
	s.workers.Go(func() {
		for f := range s.queue {
			f()
		}
	})
	type message struct {
		content []byte
		err     error
	}
	messages := make(chan message)
	go func() { // may stay behind, waiting for a client that says nothing more
		for {
			content, err := s.conn.read()
			select {
			case messages <- message{content, err}:
			case <-s.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for !s.done {
		select {
		case <-s.ctx.Done():
			return nil
		case m := <-messages:
			var fe *FrameError
			switch {
			case m.err == io.EOF:
				return nil
			case errors.As(m.err, &fe):
				s.event("output", dap.OutputEventBody{Category: "important", Output: "the connection is closed: " + fe.Error() + "\n"})
				s.event("terminated", nil)
				return m.err
			case m.err != nil:
				return m.err
			}
			s.handle(m.content)
		}
	}
	return nil
}

// maxQueued bounds the requests that wait for the kernel; a client that sends
// more waits.
const maxQueued = 1024

// A server is one conversation. Its fields belong to the goroutine that reads,
// but for those below mu.
type server struct {
	Options
	conn    *conn
	ctx     context.Context // of the conversation
	stop    context.CancelFunc
	queue   chan func() // requests that go to the kernel, in order
	workers sync.WaitGroup
	done    bool
	last    int // number of the last request
	ready   bool

	program *program
	marks   marks

	mu      sync.Mutex
	pending map[int]context.CancelFunc // requests that may be cancelled
	asked   int                        // the one of the queue that the kernel is asked now
}

// A program is what was launched.
type program struct {
	args   LaunchArguments
	nb     *repl.Notebook
	kernel Kernel
	stop   func()
	ctx    context.Context // of the run
	cancel context.CancelCauseFunc
	begun  bool
	over   atomic.Bool   // a restart took its place: nothing of it is told any more
	again  bool          // it runs at once: the one before it ran
	ended  chan struct{} // closed when the run is over
	// stepping: a step was begun and nothing has stopped since. Should its cell
	// end, the step ends at the first statement of the next one.
	stepping atomic.Bool
}

// isStep tells the requests that end at a statement soon.
var isStep = map[string]bool{"next": true, "stepIn": true, "stepOut": true}

func (s *server) event(name string, body any) { _ = s.conn.write(event{"event", name, body}) }

func (s *server) reply(r *request, body any, err error) { _ = s.conn.write(r.answer(body, err)) }

// A row says how a command is answered: by the server itself or by the kernel.
type row struct {
	required []string
	local    func(*server, *request) (body any, err error)
	// now: asked at once, beside the requests that wait for their turn.
	now bool
}

// rows is the table of commands.
var rows = map[string]row{
	"initialize":        {local: (*server).initialize},
	"launch":            {local: (*server).launch, required: []string{"program"}},
	"attach":            {local: func(*server, *request) (any, error) { return nil, bad("attach is not offered: launch a .tpu file") }},
	"configurationDone": {local: (*server).configured},
	"disconnect":        {local: (*server).disconnect},
	"terminate":         {local: (*server).terminate},
	"restart":           {local: (*server).restart},
	"cancel":            {local: (*server).cancel},
	"loadedSources":     {local: (*server).loadedSources},

	"setBreakpoints":          {required: []string{"source"}},
	"setFunctionBreakpoints":  {required: []string{"breakpoints"}},
	"setExceptionBreakpoints": {required: []string{"filters"}},
	"setDataBreakpoints":      {required: []string{"breakpoints"}},
	"dataBreakpointInfo":      {required: []string{"name"}},
	"threads":                 {},
	"stackTrace":              {required: []string{"threadId"}},
	"scopes":                  {required: []string{"frameId"}},
	"variables":               {required: []string{"variablesReference"}},
	"setVariable":             {required: []string{"variablesReference", "name", "value"}},
	"setExpression":           {required: []string{"expression", "value"}},
	"evaluate":                {required: []string{"expression"}},
	"completions":             {required: []string{"text", "column"}},
	"continue":                {required: []string{"threadId"}},
	"next":                    {required: []string{"threadId"}},
	"stepIn":                  {required: []string{"threadId"}},
	"stepOut":                 {required: []string{"threadId"}},
	"stepBack":                {required: []string{"threadId"}},
	"reverseContinue":         {required: []string{"threadId"}},
	"pause":                   {required: []string{"threadId"}, now: true},
	"exceptionInfo":           {required: []string{"threadId"}},
	"source":                  {required: []string{"sourceReference"}},
}

// handle answers one message.
func (s *server) handle(content []byte) {
	r, ok, err := parse(content)
	if !ok {
		return
	}
	if err == nil && r.Seq <= s.last {
		err = bad("seq %d was used already: the last was %d", r.Seq, s.last)
	}
	if err != nil {
		s.reply(&r, nil, err)
		return
	}
	s.last = r.Seq
	row, known := rows[r.Command]
	switch {
	case !known:
		err = bad("unknown command %q", r.Command)
	case !s.ready && r.Command != "initialize" && r.Command != "disconnect":
		err = bad("%s: initialize comes first", r.Command)
	default:
		err = r.check(row.required)
	}
	switch {
	case err != nil:
		s.reply(&r, nil, err)
	case row.local != nil:
		body, err := row.local(s, &r)
		s.reply(&r, body, err)
		if err == nil {
			s.after(&r)
		}
	case s.program == nil:
		s.reply(&r, nil, bad("%s: nothing is launched", r.Command))
	default:
		s.relay(&r, row.now)
	}
}

// after does what must follow the response of a request.
func (s *server) after(r *request) {
	switch r.Command {
	case "launch":
		s.event("process", dap.ProcessEventBody{Name: s.program.nb.Path, IsLocalProcess: true, StartMethod: "launch"})
		s.event("initialized", nil)
	case "configurationDone":
		s.begin()
	case "restart":
		if s.program.again {
			s.event("continued", dap.ContinuedEventBody{ThreadId: mainThread, AllThreadsContinued: true})
			s.begin()
		}
	case "disconnect":
		s.done = true
	}
}

// relay asks the kernel, in the order of the requests.
func (s *server) relay(r *request, now bool) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	s.pending[r.Seq] = cancel
	s.mu.Unlock()
	p := s.program
	ask := func() {
		defer func() {
			s.mu.Lock()
			delete(s.pending, r.Seq)
			s.mu.Unlock()
			cancel()
		}()
		if ctx.Err() != nil {
			s.reply(r, nil, bad("cancelled"))
			return
		}
		if r.Command == "continue" || isStep[r.Command] {
			p.stepping.Store(isStep[r.Command]) // before: the stop may come first
		}
		if !now {
			s.mu.Lock()
			s.asked = r.Seq
			s.mu.Unlock()
		}
		raw, err := p.kernel.Debug(ctx, r.Raw)
		var rep outcome
		if err == nil {
			err = json.Unmarshal(raw, &rep)
		}
		switch {
		case ctx.Err() != nil:
			s.reply(r, nil, bad("cancelled"))
		case err != nil:
			s.reply(r, nil, err)
		case !rep.Success:
			if isStep[r.Command] {
				p.stepping.Store(false)
			}
			s.reply(r, nil, bad("%s", rep.Message))
		case len(rep.Body) == 0:
			s.reply(r, nil, nil)
		default:
			s.reply(r, s.marks.answered(r, rep.Body), nil)
		}
	}
	if now {
		s.workers.Go(ask)
		return
	}
	s.queue <- ask
}

func (s *server) initialize(r *request) (any, error) {
	if s.ready {
		return nil, bad("initialize: done already")
	}
	a := dap.InitializeRequestArguments{LinesStartAt1: true, ColumnsStartAt1: true}
	_ = json.Unmarshal(r.Args, &a)
	switch {
	case !a.LinesStartAt1 || !a.ColumnsStartAt1:
		return nil, bad("initialize: lines and columns count from 1 here")
	case a.PathFormat != "" && a.PathFormat != "path":
		return nil, bad("initialize: files are named by path, not by %s", a.PathFormat)
	}
	s.ready = true
	return capabilities, nil
}

func (s *server) launch(r *request) (any, error) {
	if s.program != nil {
		return nil, bad("launch: %s is launched already", s.program.nb.Path)
	}
	var a LaunchArguments
	if err := json.Unmarshal(r.Args, &a); err != nil {
		return nil, bad("launch: %v", err)
	}
	if strings.TrimSpace(a.Program) == "" {
		return nil, bad("launch: program is empty")
	}
	p, err := s.start(a)
	if err != nil {
		return nil, bad("launch: %v", err)
	}
	s.program = p
	return nil, nil
}

// start starts a kernel for a program, which does not run yet.
func (s *server) start(a LaunchArguments) (*program, error) {
	path, err := filepath.Abs(a.Program)
	if err != nil {
		return nil, err
	}
	a.Program = path
	nb, err := s.Read(path)
	if err != nil {
		return nil, err
	}
	k, stop, err := s.Start(a)
	if err != nil {
		return nil, err
	}
	p := &program{args: a, nb: nb, kernel: k, stop: stop, ended: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancelCause(s.ctx)
	k.OnDebug(func(raw json.RawMessage) { s.debugEvent(p, raw) })
	// The kernel's side learns what is debugged before anything else is asked.
	if _, err := p.tell(s.ctx, "launch", a); err != nil {
		p.cancel(nil)
		stop()
		return nil, err
	}
	return p, nil
}

// An outcome is what a response of the kernel says.
type outcome struct {
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Body    json.RawMessage `json:"body"`
}

// tell sends a request of the server's own to the kernel and gives the body of
// its response.
func (p *program) tell(ctx context.Context, command string, arguments any) (json.RawMessage, error) {
	b, err := json.Marshal(map[string]any{"seq": 1, "type": "request", "command": command, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	raw, err := p.kernel.Debug(ctx, b)
	if err != nil {
		return nil, err
	}
	var rep outcome
	if err := json.Unmarshal(raw, &rep); err != nil {
		return nil, err
	}
	if !rep.Success {
		return nil, bad("%s", rep.Message)
	}
	return rep.Body, nil
}

func (s *server) configured(*request) (any, error) {
	switch {
	case s.program == nil:
		return nil, bad("configurationDone: nothing is launched")
	case s.program.begun:
		return nil, bad("configurationDone: the program runs already")
	}
	return nil, nil
}

func (s *server) terminate(*request) (any, error) {
	if s.program == nil {
		return nil, bad("terminate: nothing is launched")
	}
	s.program.cancel(kernel.ErrInterrupted)
	if !s.program.begun {
		s.program.begun = true
		close(s.program.ended)
		s.event("terminated", nil)
	}
	return nil, nil
}

func (s *server) disconnect(*request) (any, error) { return nil, nil }

func (s *server) cancel(r *request) (any, error) {
	var a dap.CancelArguments
	_ = json.Unmarshal(r.Args, &a)
	s.mu.Lock()
	c, asked := s.pending[a.RequestId], s.asked == a.RequestId
	s.mu.Unlock()
	if c == nil {
		return nil, nil
	}
	c()
	if asked { // the kernel is at it
		_, err := s.program.tell(s.ctx, "cancel", map[string]int{"requestId": a.RequestId})
		return nil, err
	}
	return nil, nil
}

func (s *server) loadedSources(*request) (any, error) {
	body := dap.LoadedSourcesResponseBody{Sources: []dap.Source{}}
	if s.program != nil {
		body.Sources = append(body.Sources, dap.Source{Name: filepath.Base(s.program.nb.Path), Path: s.program.nb.Path})
	}
	return body, nil
}

// debugEvent passes an event of a program's debugger on.
func (s *server) debugEvent(p *program, raw json.RawMessage) {
	var e struct {
		Event string          `json:"event"`
		Body  json.RawMessage `json:"body"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Event == "" || p.over.Load() {
		return
	}
	if e.Event == "stopped" {
		p.stepping.Store(false)
		e.Body = s.marks.stopped(e.Body)
	}
	if len(e.Body) == 0 {
		s.event(e.Event, nil)
		return
	}
	s.event(e.Event, e.Body)
}

// begin runs the program.
func (s *server) begin() {
	p := s.program
	p.begun = true
	s.workers.Go(func() {
		defer close(p.ended)
		code := plain.Run(p.ctx, &relayed{p.kernel, s, p}, p.nb, plain.Options{
			Stdout: &output{s, p, "stdout"}, Stderr: &output{s, p, "stderr"}, KeepGoing: p.args.KeepGoing,
		})
		if p.over.Load() {
			return
		}
		s.event("exited", dap.ExitedEventBody{ExitCode: code})
		s.event("terminated", nil)
	})
}

// end ends the conversation: the program, the kernel, and whatever waits.
func (s *server) end() {
	s.conn.mute()
	s.stop()
	close(s.queue)
	if p := s.program; p != nil {
		p.cancel(kernel.ErrInterrupted)
		p.stop()
	}
	s.workers.Wait()
}

// relayed is a kernel whose debugger's events and shown values go to the client.
type relayed struct {
	Kernel
	s *server
	p *program
}

// Execute runs a step of the program.
func (k *relayed) Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error) {
	ev.Debug = func(raw json.RawMessage) { k.s.debugEvent(k.p, raw) }
	if !repl.IsCommand(r.Code) && k.p.stepping.Swap(false) {
		_, _ = k.p.tell(ctx, enterCommand, enterArguments{r.File, r.FirstLine}) // else it runs on
	}
	display := ev.Display
	ev.Display = func(c kernel.ResultContent) { // what a command answers is none of the program's output
		if c.Warning {
			display(c)
		} else if !k.p.over.Load() {
			k.s.event("output", dap.OutputEventBody{Category: "console", Output: strings.TrimSuffix(c.Data["text/plain"], "\n") + "\n"})
		}
	}
	show := ev.Result
	ev.Result = func(c kernel.ResultContent) {
		if !k.p.over.Load() {
			k.s.event("output", dap.OutputEventBody{Category: "console", Output: outText(c)})
		}
		show(c)
	}
	return k.Kernel.Execute(ctx, r, ev)
}

// An output is a stream of the program; what is written to it becomes events.
type output struct {
	s        *server
	p        *program
	category string
}

// Write sends b.
func (o *output) Write(b []byte) (int, error) {
	if o.p.over.Load() {
		return len(b), nil
	}
	o.s.event("output", dap.OutputEventBody{Category: o.category, Output: string(b)})
	return len(b), nil
}
