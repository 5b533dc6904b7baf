package dap

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/interp"
)

// A debugger makes an Engine of the session's debugger.
type debugger struct {
	s *repl.Session
	d *debug.Debugger

	mu    sync.Mutex
	ids   map[string][]int // breakpoints by who set them: a file, a cell, a kind
	off   bool             // breakpoints are ignored
	nb    *repl.Notebook   // that was launched
	entry int              // breakpoint at its first statement, 0 for none
	step  int              // breakpoint at which a step ends
}

// engineOf makes the engine of a session's debugger.
func engineOf(s *repl.Session) Engine {
	return &debugger{s: s, d: s.Debugger(), ids: map[string][]int{}}
}

func (e *debugger) Start(program string, stopOnEntry, noDebug bool) error {
	src, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nb, e.off = repl.ParseNotebook(program, src), noDebug
	if !stopOnEntry || noDebug {
		return nil
	}
	for _, s := range e.nb.Steps {
		if s.Kind != repl.Code {
			continue
		}
		b, err := e.d.Set(debug.Breakpoint{Kind: debug.Line, File: program, Line: s.Line, Once: true})
		if err != nil {
			return err
		}
		e.entry = b.ID
		return nil
	}
	return nil
}

// replace takes the breakpoints of an owner out and sets others.
func (e *debugger) replace(owner string, list []debug.Breakpoint, why []string) []Breakpoint {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, id := range e.ids[owner] {
		_ = e.d.Clear(id) // one that stopped once is gone already
	}
	e.ids[owner] = nil
	out := make([]Breakpoint, len(list))
	for i, b := range list {
		out[i].Line = b.Line
		switch {
		case why[i] != "":
			out[i].Message = why[i]
			continue
		case e.off:
			out[i].Message = "the program runs without debugging"
			continue
		}
		set, err := e.d.Set(b)
		if err != nil {
			out[i].Message = err.Error()
			continue
		}
		e.ids[owner] = append(e.ids[owner], set.ID)
		out[i].ID = set.ID
		if set.Resolved > 0 && b.Cell > 0 {
			out[i].Line = set.Resolved
		}
	}
	return out
}

// breakpoint fills in what every kind has.
func (s Spec) breakpoint(b debug.Breakpoint) (debug.Breakpoint, string) {
	rule, err := hitRule(s.Hits)
	b.Cond, b.Hit, b.Log = s.Condition, rule, s.LogMessage
	if err != nil {
		return b, err.Error()
	}
	return b, ""
}

// hitRule reads a hit condition: 3 is the third hit, also >= 3, % 2 and the like.
func hitRule(text string) (debug.HitRule, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return debug.HitRule{}, nil
	}
	rule := debug.HitRule{Op: "=="}
	for _, op := range [...]string{">=", "<=", "==", "!=", ">", "<", "%"} {
		if rest, ok := strings.CutPrefix(text, op); ok {
			rule.Op, text = op, strings.TrimSpace(rest)
			break
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 && rule.Op == "%" {
		return rule, fmt.Errorf("%q is no hit condition: want a number, or one after > >= == < <= != %%", text)
	}
	rule.N = n
	return rule, nil
}

func (e *debugger) SetLines(file string, cell int, specs []Spec) []Breakpoint {
	var list []debug.Breakpoint
	var why []string
	for _, s := range specs {
		b, w := s.breakpoint(debug.Breakpoint{Kind: debug.Line, File: file, Cell: cell, Line: s.Line})
		if w == "" && !e.hasStatement(file, s.Line) {
			w = fmt.Sprintf("no cell of the file has a statement at line %d or behind it", s.Line)
		}
		list, why = append(list, b), append(why, w)
	}
	return e.replace(placeName(file, cell), list, why)
}

// hasStatement says whether a line of the launched file stands in a cell.
func (e *debugger) hasStatement(file string, line int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.nb == nil || file != e.nb.Path {
		return true
	}
	for _, s := range e.nb.Steps {
		if s.Kind == repl.Code && s.Line <= line && line <= s.Last {
			return true
		}
	}
	return false
}

func (e *debugger) named(owner string, kind debug.Kind, specs []Spec) []Breakpoint {
	var list []debug.Breakpoint
	var why []string
	for _, s := range specs {
		b, w := s.breakpoint(debug.Breakpoint{Kind: kind, Name: s.Expr})
		list, why = append(list, b), append(why, w)
	}
	return e.replace(owner, list, why)
}

func (e *debugger) SetFunctions(specs []Spec) []Breakpoint {
	return e.named("functions", debug.Func, specs)
}

func (e *debugger) SetData(specs []Spec) []Breakpoint { return e.named("data", debug.Change, specs) }

// errorOwner owns the breakpoints of filters.
const errorOwner = "errors"

func (e *debugger) SetErrors(kinds []string) []Breakpoint {
	var list []debug.Breakpoint
	for _, k := range kinds {
		switch k {
		case "all":
			list = append(list, debug.Breakpoint{Kind: debug.Error})
		case "nan":
			list = append(list, debug.Breakpoint{Kind: debug.NaN}, debug.Breakpoint{Kind: debug.Inf})
		default:
			list = append(list, debug.Breakpoint{Kind: debug.Error, Name: k})
		}
	}
	return e.replace(errorOwner, list, make([]string, len(list)))
}

func (e *debugger) Threads() []Thread {
	var out []Thread
	for _, g := range e.s.Interp().Goroutines() {
		name := fmt.Sprintf("In[%d]", g.Cell())
		if !g.Main() {
			name = fmt.Sprintf("goroutine %d of In[%d]", g.ID(), g.Cell())
		}
		out = append(out, Thread{g.ID(), name})
	}
	return out
}

// thread gives the frames of a goroutine at the stop.
func (e *debugger) thread(id int) ([]debug.Frame, error) {
	list, err := e.d.Threads()
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if t.ID == id {
			return t.Frames, nil
		}
	}
	return nil, &debug.NoThreadError{ID: id}
}

func (e *debugger) Frames(thread int) ([]Frame, error) {
	list, err := e.thread(thread)
	if err != nil {
		return nil, err
	}
	out := make([]Frame, len(list))
	for i, f := range list {
		out[i] = frameOf(f.Place)
	}
	return out, nil
}

func (e *debugger) Locals(thread, frame int) ([]Variable, error) {
	if frame < 0 {
		return nil, nil
	}
	list, err := e.thread(thread)
	if err != nil {
		return nil, err
	}
	if frame >= len(list) {
		return nil, &debug.NoFrameError{Frame: frame, Frames: len(list)}
	}
	var out []Variable
	for _, l := range list[frame].Locals {
		v := Variable{Name: l.Name, Exact: l.Type}
		if l.Type != nil {
			v.Type = e.s.Interp().TypeText(l.Type)
		}
		if l.Ptr.IsValid() {
			v.Value = l.Ptr.Elem()
		}
		out = append(out, v)
	}
	return out, nil
}

func (e *debugger) Session() []Variable {
	var out []Variable
	for _, v := range e.d.SessionVars() {
		out = append(out, e.variable(v.Shown()))
	}
	return out
}

// actions are the kinds of Resume.
var actions = map[string]debug.Action{"continue": debug.Continue, "next": debug.StepNext, "stepIn": debug.StepIn, "stepOut": debug.StepOut}

func (e *debugger) Resume(_ int, kind string) error {
	return e.d.Resume(debug.Resume{Action: actions[kind]})
}

func (e *debugger) Enter(file string, line int) error {
	b, err := e.d.Set(debug.Breakpoint{Kind: debug.Line, File: file, Line: line, Once: true})
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.step = b.ID
	e.mu.Unlock()
	return nil
}

func (e *debugger) Pause() error {
	if !e.d.Pause() {
		return bad("nothing runs that could be paused")
	}
	return nil
}

func (e *debugger) Evaluate(ctx context.Context, thread, frame int, expr string) ([]Variable, error) {
	values, err := e.eval(ctx, thread, frame, expr)
	if err != nil {
		return nil, err
	}
	out := make([]Variable, len(values))
	for i, v := range values {
		out[i] = e.variable(v)
	}
	return out, ctx.Err()
}

func (e *debugger) variable(s interp.Shown) Variable {
	t, v := e.s.Interp().ExactShown(s)
	return Variable{s.Name, s.Type, t, v}
}

// cutEvery is how often a cancelled evaluation is ended until it has.
const cutEvery = 5 * time.Millisecond

// eval evaluates in a frame of the stop, or in the session when nothing runs.
func (e *debugger) eval(ctx context.Context, thread, frame int, expr string) ([]interp.Shown, error) {
	done := make(chan struct{})
	defer close(done)
	defer context.AfterFunc(ctx, func() {
		for { // it may not have begun
			e.s.Interp().CutEvaluations()
			select {
			case <-done:
				return
			case <-time.After(cutEvery):
			}
		}
	})()
	if frame >= 0 {
		if err := e.d.SelectThread(thread); err != nil {
			return nil, err
		}
	}
	return e.d.Eval(frame, expr)
}

func (e *debugger) Assign(ctx context.Context, thread, frame int, expr, value string) (Variable, error) {
	if _, err := e.eval(ctx, thread, frame, expr+" = "+value); err != nil {
		return Variable{}, err
	}
	vars, err := e.Evaluate(ctx, thread, frame, expr)
	if err != nil {
		return Variable{}, err
	}
	if len(vars) != 1 {
		return Variable{}, bad("%s has %d values", expr, len(vars))
	}
	return vars[0], nil
}

func (e *debugger) Failure() (Failure, bool) {
	st := e.d.Stopped()
	if st != nil && st.Op != nil && st.Op.Value != nil {
		return Failure{"nan", e.s.Why(st), st.Op.Value.Stack().Top().Place()}, true
	}
	if st != nil && st.Err != nil {
		f := Failure{Kind: st.ErrorKind, Message: fmt.Sprint(st.Err), Details: st.Place.Place()}
		if err, ok := st.Err.(error); ok {
			f.Message = err.Error()
		}
		return f, true
	}
	c := e.s.LastError()
	if c == nil || len(c.Reports) == 0 {
		return Failure{}, false
	}
	r := c.Reports[0]
	return Failure{r.Kind, r.Message, strings.Join(r.Block, "\n")}, true
}

// Complete declares the locals of the frame before the text: they are then
// completed like what a cell declares.
func (e *debugger) Complete(thread, frame int, text string) ([]interp.Candidate, int) {
	var head strings.Builder
	locals, err := e.Locals(thread, frame)
	if err == nil {
		for _, l := range locals {
			fmt.Fprintf(&head, "var %s %s\n", l.Name, l.Type)
		}
	}
	n := head.Len()
	head.WriteString(text)
	complete := e.s.Interp().Complete
	if e.d.Stopped() != nil {
		complete = e.s.Interp().CompleteHere
	}
	list, start := complete(head.String(), head.Len())
	return list, max(start-n, 0)
}

// Reason tells breakpoints that a client did not set as such.
func (e *debugger) Reason(id int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case id > 0 && id == e.entry:
		return "entry"
	case id > 0 && id == e.step:
		return "step"
	case slices.Contains(e.ids[errorOwner], id):
		return "exception"
	}
	return ""
}
