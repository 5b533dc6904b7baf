package plain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-dap"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/kernel"
)

// A Debugger is what a kernel that can stop cells has besides; *kernel.Client
// is one.
type Debugger interface {
	Debug(ctx context.Context, request json.RawMessage) (json.RawMessage, error)
}

// A prompter gives the next line that is to be done at a stop; ok is false when
// there is none: the cell then runs on to its end.
type prompter func() (line string, ok bool)

// goOn is the command that lets a cell run on.
const goOn = ":continue"

// debugEvent handles an event of the debugger. At a stop it does what the
// prompter gives until the cell goes on.
func (r *runner) debugEvent(ctx context.Context, raw json.RawMessage, o *outcome, quiet bool) {
	var ev struct {
		Event string              `json:"event"`
		Body  dap.OutputEventBody `json:"body"`
	}
	if json.Unmarshal(raw, &ev) != nil {
		return
	}
	r.emit(kernel.TypeDebugEvent, raw)
	switch ev.Event {
	case "output":
		r.tell(o, strings.TrimSuffix(ev.Body.Output, "\n"), quiet)
	case "stopped":
		r.stopped(ctx, o, quiet)
	}
}

// tell shows what the debugger answers.
func (r *runner) tell(o *outcome, text string, quiet bool) {
	if text == "" {
		return
	}
	addLine(&o.answer, text)
	if r.answered != nil {
		r.answered(text)
	}
	switch {
	case quiet || r.JSON:
	case r.Values:
		fmt.Fprintln(r.Stdout, text)
	default:
		fmt.Fprintln(r.Stderr, text)
	}
}

// stopped serves one stop.
func (r *runner) stopped(ctx context.Context, o *outcome, quiet bool) {
	text, err := r.evaluate(ctx, ":list")
	if err != nil {
		return // the cell was ended meanwhile
	}
	r.tell(o, text, quiet)
	for ctx.Err() == nil {
		line, ok := goOn, false
		if r.prompter != nil {
			if line, ok = r.prompter(); !ok {
				r.finishing = true
				line = goOn
			}
		}
		if r.finishing {
			line = goOn
		}
		text, err := r.evaluate(ctx, line)
		if err != nil {
			if _, still := r.evaluate(ctx, ":list"); still != nil {
				return
			}
			r.refused(o, line, err)
			if line == goOn {
				return
			}
			continue
		}
		r.tell(o, text, quiet)
		if resumes(line) {
			return
		}
	}
}

// refused reports a line that could not be done at a stop.
func (r *runner) refused(o *outcome, line string, err error) {
	e := kernel.ErrorContent{Name: "command", Value: err.Error(), File: r.nb.Path, Line: r.at}
	if r.Values {
		fmt.Fprintf(r.Stderr, "%s: %v\n", line, err)
		return
	}
	o.errs = append(o.errs, e)
}

// resumes tells whether a line lets the stopped cell go on.
func resumes(line string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ":"), " ")
	c, err := command.Lookup(strings.TrimSuffix(name, ";"))
	return strings.HasPrefix(line, ":") && err == nil && c.Resumes
}

// An answerError is what a request at a stop was answered with instead of a value.
type answerError struct{ text string }

func (e *answerError) Error() string { return e.text }

// evaluate asks the kernel for a command or an expression at the stop.
func (r *runner) evaluate(ctx context.Context, line string) (string, error) {
	k, ok := r.k.(Debugger)
	if !ok {
		return "", &answerError{"this kernel has no debugger"}
	}
	r.asked++
	req := dap.EvaluateRequest{
		Request:   dap.Request{ProtocolMessage: dap.ProtocolMessage{Seq: r.asked, Type: "request"}, Command: "evaluate"},
		Arguments: dap.EvaluateArguments{Expression: line, Context: "repl"},
	}
	b, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	raw, err := k.Debug(ctx, b)
	if err != nil {
		return "", err
	}
	var rep struct {
		Success bool   `json:"success"`
		Message string `json:"message"`
		Body    struct {
			Result string `json:"result"`
			Error  *struct {
				Format string `json:"format"`
			} `json:"error"`
		} `json:"body"`
	}
	if err := json.Unmarshal(raw, &rep); err != nil {
		return "", err
	}
	if !rep.Success {
		if rep.Body.Error != nil && rep.Body.Error.Format != "" {
			rep.Message = rep.Body.Error.Format
		}
		return "", &answerError{rep.Message}
	}
	return rep.Body.Result, nil
}

// noteDebug remembers a command of the debugger that a new kernel must hear, too.
func (r *runner) noteDebug(line string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ":"), " ")
	if c, err := command.Lookup(name); err == nil && c.Group == command.Debug && c.Replay && strings.HasPrefix(line, ":") {
		r.debugging = append(r.debugging, line)
	}
}

// debugAgain gives a new kernel the breakpoints and watches of the one before.
func (r *runner) debugAgain(ctx context.Context) {
	for _, line := range r.debugging {
		if _, err := r.k.Execute(ctx, kernel.ExecuteRequest{Code: line, Silent: true}, kernel.Events{}); err != nil {
			return
		}
	}
}

// script makes the prompter of a notebook: at a stop the commands that follow
// step *i are done, until a Go cell or the end. expect is asked about an
// expectation that stands between them, and tells whether it is passed by; else
// the cell runs on first.
func (r *runner) script(i *int, expect func(i int) bool) prompter {
	return func() (string, bool) {
		for k := *i + 1; k < len(r.nb.Steps); k++ {
			switch s := r.nb.Steps[k]; s.Kind {
			case repl.Command:
				*i, r.at = k, s.Line
				return s.Text, true
			case repl.Expect:
				if !expect(k) {
					return "", false
				}
				*i = k
			default:
				return "", false
			}
		}
		return "", false
	}
}
