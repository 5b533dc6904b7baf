// Package plain is the front end without a screen: it runs a .tpu file, tests
// its expectations, and reads cells line by line.
//
// It draws nothing and runs no cell itself: everything goes through a kernel's
// client. It imports repl (for the form of notebooks) and repl/kernel.
// Invariant: standard output carries only what the program prints.
package plain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
)

// A Kernel runs cells; *kernel.Client is one.
type Kernel interface {
	Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error)
}

// Exit codes of the program.
const (
	ExitOK          = 0
	ExitFailed      = 1 // the program or an expectation failed
	ExitUsage       = 2
	ExitDevice      = 3 // device or plug-in not usable
	ExitOutOfMemory = 4
	ExitKernelDied  = 5
	ExitTimeout     = 124
	ExitInterrupted = 130
	ExitTerminated  = 143
)

// exitCodes maps the kind word of an error to the exit code.
var exitCodes = map[string]int{
	"oom": ExitOutOfMemory, "device": ExitDevice, "timeout": ExitTimeout, "interrupt": ExitInterrupted,
}

// ExitCode gives the exit code of an error of the given kind.
func ExitCode(kind string) int {
	if c, ok := exitCodes[kind]; ok {
		return c
	}
	return ExitFailed
}

// Options say how a file is run.
type Options struct {
	Stdout, Stderr io.Writer
	Stdin          io.Reader // nil: the program has no input
	Echo           bool      // values and cells on Stderr, in In/Out form
	Values         bool      // values on Stdout, in Out form: the line REPL
	JSON           bool      // every message of the kernel on Stdout, one a line
	KeepGoing      bool      // go on after a cell that failed
	Color          bool
}

// A runner plays the steps of one notebook.
type runner struct {
	Options
	k     Kernel
	nb    *repl.Notebook
	input *inputReader

	lastCode  int               // line of the last cell of a file, -1: more may come
	prompter  prompter          // what to do at a stop; nil: nothing
	answered  func(text string) // told of each answer at a stop
	finishing bool              // the cell runs to its end, whatever stops it
	at        int               // line of the step at a stop
	asked     int               // requests to the debugger
	debugging []string          // commands that a new kernel must hear, too
}

// An outcome is what one step produced.
type outcome struct {
	reply  kernel.ExecuteReply
	stdout strings.Builder
	shown  strings.Builder // values
	answer strings.Builder // of a command
	errs   []kernel.ErrorContent
}

func (o *outcome) failed() bool { return len(o.errs) > 0 || o.reply.Status == "error" }

// do runs one step and passes its output on; quiet steps keep it for comparison only.
func (r *runner) do(ctx context.Context, s repl.Step, quiet bool) (*outcome, error) {
	o := &outcome{}
	req := kernel.ExecuteRequest{Code: s.Text, File: r.nb.Path, FirstLine: s.Line, Last: s.Line == r.lastCode}
	ev := kernel.Events{
		Stream: func(c kernel.StreamContent) {
			r.emit(kernel.TypeStream, c)
			w := r.Stdout
			if c.Name == "stderr" {
				w = r.Stderr
			} else if quiet {
				o.stdout.WriteString(c.Text)
				return
			}
			if !quiet && !r.JSON {
				_, _ = io.WriteString(w, c.Text)
			}
		},
		Result: func(c kernel.ResultContent) {
			r.emit(kernel.TypeExecuteResult, c)
			addLine(&o.shown, c.Data["text/plain"])
			switch {
			case quiet || r.JSON:
			case r.Values:
				fmt.Fprintf(r.Stdout, "Out[%d] %s\n", c.ExecutionCount, c.Data["text/plain"])
			case r.Echo:
				fmt.Fprintf(r.Stderr, "Out[%d] %s\n", c.ExecutionCount, c.Data["text/plain"])
			}
		},
		Display: func(c kernel.ResultContent) {
			r.emit(kernel.TypeDisplayData, c)
			if !c.Warning {
				addLine(&o.answer, c.Data["text/plain"])
			}
			switch text := strings.TrimSuffix(c.Data["text/plain"], "\n"); {
			case quiet || r.JSON:
			case r.Values && !c.Warning:
				fmt.Fprintln(r.Stdout, text)
			case r.Echo || r.Values || !c.Warning:
				fmt.Fprintln(r.Stderr, text)
			}
		},
		Error: func(c kernel.ErrorContent) {
			r.emit(kernel.TypeError, c)
			o.errs = append(o.errs, c)
		},
	}
	ev.Debug = func(raw json.RawMessage) { r.debugEvent(ctx, raw, o, quiet) }
	r.finishing, r.at = false, s.Line
	if r.Stdin != nil {
		if r.input == nil {
			r.input = &inputReader{r: r.Stdin}
		}
		ev.Input = r.input.next
	}
	if r.Echo && !quiet && !r.JSON {
		echoCode(r.Stderr, s)
	}
	var err error
	o.reply, err = r.k.Execute(ctx, req, ev)
	if err == nil && o.reply.Status == "ok" && s.Kind == repl.Command {
		r.noteDebug(s.Text)
	}
	r.emit(kernel.TypeExecuteReply, o.reply)
	return o, err
}

// emit writes a message of the kernel as one line of JSON.
func (r *runner) emit(typ string, content any) {
	if !r.JSON {
		return
	}
	b, err := json.Marshal(struct {
		Type    string `json:"msg_type"`
		Content any    `json:"content"`
	}{typ, content})
	if err == nil {
		fmt.Fprintf(r.Stdout, "%s\n", b)
	}
}

func addLine(b *strings.Builder, s string) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(strings.TrimSuffix(s, "\n"))
}

func echoCode(w io.Writer, s repl.Step) {
	for i, line := range strings.Split(strings.TrimRight(s.Text, "\n"), "\n") {
		prompt := "In: "
		if i > 0 {
			prompt = "  : "
		}
		fmt.Fprintln(w, prompt+line)
	}
}

// PrintError writes an error as an editor wants it: file:line:column, kind and
// message on one line, then the picture.
func PrintError(w io.Writer, e kernel.ErrorContent, color bool) {
	place := e.File
	if place == "" {
		place = fmt.Sprintf("In[%d]", e.Cell)
	}
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			place += fmt.Sprintf(":%d", e.Column)
		}
	}
	kind := e.Name
	if color {
		kind = "\x1b[31m" + kind + "\x1b[0m"
	}
	fmt.Fprintf(w, "%s: %s: %s\n", place, kind, e.Value)
	for _, l := range e.Traceback {
		fmt.Fprintln(w, l)
	}
}

// An inputReader hands standard input to the program, a piece at a time.
type inputReader struct{ r io.Reader }

func (i *inputReader) next() (string, error) {
	buf := make([]byte, 8<<10)
	n, err := i.r.Read(buf)
	if n > 0 {
		return string(buf[:n]), nil
	}
	return "", err
}
