package dap

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl"
)

// An Adapter answers requests inside the kernel, from the debugger and the
// session. Its methods may be called from several goroutines.
type Adapter struct {
	s *repl.Session
	e Engine

	mu      sync.Mutex
	view    *viewer
	frames  []place                 // what frame ids stand for
	program string                  // file that was launched, "" when cells are typed
	busy    int                     // number of the evaluation that runs
	stop    context.CancelFunc      // of it
	early   int                     // number of one that is cancelled before it came
	send    func(event any) bool    // false: nobody takes it
	thread  atomic.Int64            // that stopped last
	lines   map[string]map[int]bool // breakpoints by file and line, for reverseContinue
}

// New makes the adapter of a session, which is told what its debugger does. send
// takes events and says whether somebody is there to take them: nothing stops
// when nobody is.
func New(s *repl.Session, send func(event any) bool) *Adapter {
	a := newAdapter(s, engineOf(s), send)
	s.ListenDebug(a)
	return a
}

func newAdapter(s *repl.Session, e Engine, send func(event any) bool) *Adapter {
	a := &Adapter{s: s, e: e, send: send, view: &viewer{s: s}, lines: map[string]map[int]bool{}}
	a.view.forget()
	return a
}

// answers is the table of what the adapter answers.
var answers = map[string]func(*Adapter, context.Context, *request) (any, error){
	"initialize":              func(*Adapter, context.Context, *request) (any, error) { return capabilities, nil },
	"launch":                  (*Adapter).launch,
	enterCommand:              (*Adapter).enter,
	"cancel":                  (*Adapter).cancel,
	"setBreakpoints":          (*Adapter).setBreakpoints,
	"setFunctionBreakpoints":  (*Adapter).setFunctionBreakpoints,
	"setExceptionBreakpoints": (*Adapter).setExceptionBreakpoints,
	"setDataBreakpoints":      (*Adapter).setDataBreakpoints,
	"dataBreakpointInfo":      (*Adapter).dataBreakpointInfo,
	"threads":                 (*Adapter).threads,
	"stackTrace":              (*Adapter).stackTrace,
	"scopes":                  (*Adapter).scopes,
	"variables":               (*Adapter).variables,
	"setVariable":             (*Adapter).setVariable,
	"setExpression":           (*Adapter).setExpression,
	"evaluate":                (*Adapter).evaluate,
	"completions":             (*Adapter).completions,
	"continue":                (*Adapter).resume,
	"next":                    (*Adapter).resume,
	"stepIn":                  (*Adapter).resume,
	"stepOut":                 (*Adapter).resume,
	"pause":                   (*Adapter).pause,
	"stepBack":                (*Adapter).stepBack,
	"reverseContinue":         (*Adapter).stepBack,
	"exceptionInfo":           (*Adapter).exceptionInfo,
	"source":                  (*Adapter).source,
}

// Handle answers a request; whatever it holds, the answer is a response.
func (a *Adapter) Handle(ctx context.Context, raw json.RawMessage) json.RawMessage {
	r, ok, err := parse(raw)
	var body any
	switch f := answers[r.Command]; {
	case err != nil:
	case !ok:
		err = bad("a request is wanted")
	case f == nil:
		err = bad("unknown command %q", r.Command)
	default:
		if r.Command != enterCommand {
			err = r.check(rows[r.Command].required)
		}
		if err == nil {
			ctx, done := a.begin(ctx, &r)
			body, err = f(a, ctx, &r)
			done()
		}
	}
	b, merr := json.Marshal(r.answer(body, err))
	if merr != nil {
		b, _ = json.Marshal(r.answer(nil, merr))
	}
	return b
}

// begin notes that a request is answered until done is called: it may be cancelled.
func (a *Adapter) begin(ctx context.Context, r *request) (_ context.Context, done func()) {
	if r.Command != "evaluate" && r.Command != "setVariable" && r.Command != "setExpression" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.early == r.Seq {
		cancel()
	}
	a.busy, a.stop = r.Seq, cancel
	return ctx, func() {
		a.mu.Lock()
		a.busy, a.stop = 0, nil
		a.mu.Unlock()
		cancel()
	}
}

// cancel ends the evaluation of a request, or of one that will come.
func (a *Adapter) cancel(_ context.Context, r *request) (any, error) {
	id := arguments[dap.CancelArguments](r).RequestId
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy == id && a.stop != nil {
		a.stop()
	} else {
		a.early = id
	}
	return nil, nil
}

// arguments reads what a request says; its form was checked.
func arguments[T any](r *request) T {
	var a T
	_ = json.Unmarshal(r.Args, &a)
	return a
}

// forget makes references of frames and variables invalid.
func (a *Adapter) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames = nil
	a.view.forget()
}

func stoppedBody(s Stop) dap.StoppedEventBody {
	b := dap.StoppedEventBody{Reason: s.Reason, Description: s.Description, Text: s.Text, ThreadId: s.Thread, AllThreadsStopped: true}
	if s.Breakpoint > 0 {
		b.HitBreakpointIds = []int{s.Breakpoint}
	}
	return b
}

func (a *Adapter) launch(_ context.Context, r *request) (any, error) {
	l := arguments[LaunchArguments](r)
	path, err := filepath.Abs(l.Program)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.program = path
	a.mu.Unlock()
	return nil, a.e.Start(path, l.StopOnEntry, l.NoDebug)
}

// enterCommand is a request of our own server: a step goes on into a cell.
const enterCommand = "tpush.enter"

// enterArguments say where the cell begins.
type enterArguments struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (a *Adapter) enter(_ context.Context, r *request) (any, error) {
	x := arguments[enterArguments](r)
	return nil, a.e.Enter(x.File, x.Line)
}

// sourceOf gives the file or the cell that a client means.
func (a *Adapter) sourceOf(s dap.Source) (file string, cell int, err error) {
	if s.SourceReference > 0 {
		return "", s.SourceReference, nil
	}
	if s.Path == "" {
		return "", 0, bad("the source has neither a path nor a reference")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.program != "" && sameFile(s.Path, a.program) {
		return a.program, 0, nil
	}
	return s.Path, 0, nil
}

func sameFile(a, b string) bool {
	if filepath.Clean(a) == b {
		return true
	}
	x, err := filepath.EvalSymlinks(a)
	if err != nil {
		return false
	}
	y, err := filepath.EvalSymlinks(b)
	return err == nil && x == y
}

// sourceFor is how a place is named to the client.
func sourceFor(file string, cell int) *dap.Source {
	switch {
	case file != "":
		return &dap.Source{Name: filepath.Base(file), Path: file}
	case cell > 0:
		return &dap.Source{Name: cellName(cell), SourceReference: cell}
	}
	return nil
}

func (a *Adapter) source(_ context.Context, r *request) (any, error) {
	x := arguments[dap.SourceArguments](r)
	c := a.s.Cell(x.SourceReference)
	if c == nil {
		return nil, bad("source: there is no cell %d", x.SourceReference)
	}
	return dap.SourceResponseBody{Content: c.Source, MimeType: "text/x-go"}, nil
}
