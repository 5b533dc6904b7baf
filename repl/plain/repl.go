package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/viz"
)

// A LineKernel is what the line REPL needs of a kernel.
type LineKernel interface {
	Kernel
	IsComplete(ctx context.Context, code string) (kernel.IsCompleteReply, error)
}

// A REPL reads cells line by line. A cell ends when Go's grammar says that it
// is whole; an empty line ends a cell that is not.
type REPL struct {
	Options
	Prompt bool // prompts on Stdout; failures do not end the loop
	// Context gives the context of one cell, which an interrupt ends, and its release.
	Context func() (context.Context, func())
}

// maxLineBytes bounds one line of input.
const maxLineBytes = 64 << 20

// Loop reads cells from in until its end and gives the exit code: that of the
// last failure when the input is a pipe (the first failure ends it unless
// KeepGoing), ExitOK at a prompt.
func (p *REPL) Loop(k LineKernel, in io.Reader) int {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 64<<10), maxLineBytes)
	r := &runner{Options: p.Options, k: k, nb: &repl.Notebook{}, lastCode: -1}
	var cell strings.Builder
	line, first, code, n := 0, 0, ExitOK, 1
	died := false
	prompt := func() {
		if !p.Prompt {
			return
		}
		if cell.Len() == 0 {
			fmt.Fprintf(p.Stdout, "In[%d]: ", n)
		} else {
			fmt.Fprint(p.Stdout, "     : ")
		}
	}
	run := func() (end bool) {
		text := cell.String()
		cell.Reset()
		if strings.TrimSpace(text) == "" {
			return false
		}
		ctx, done := p.Context()
		defer done()
		out, err := r.do(ctx, repl.Step{Text: text, Line: max(first, 1)}, false)
		if err != nil {
			kernelDied(p.Stderr, err, fmt.Sprintf("In[%d]", n))
			code, died = ExitKernelDied, true
			if !p.Prompt && !p.KeepGoing || !r.restart() {
				return true
			}
			n = 1
			lost := r.k.(Keeper).Lost()
			switch {
			case lost == 0:
				fmt.Fprintln(p.Stderr, "tpush: the kernel was restarted")
			case p.Prompt:
				fmt.Fprintf(p.Stderr, "tpush: the kernel was restarted; its variables are gone, :replay runs the %s before again\n", viz.Plural(lost, "cell"))
			default:
				n, err = r.replay(ctx)
				return err != nil
			}
			return false
		}
		for _, e := range out.errs {
			PrintError(p.Stderr, e, p.Color)
		}
		if out.reply.ExecutionCount > 0 {
			n = out.reply.ExecutionCount + 1
		}
		if out.reply.Exit != nil {
			code = *out.reply.Exit
			return true
		}
		next, err := r.obey(ctx, out.reply)
		if err != nil {
			kernelDied(p.Stderr, err, "tpush: replay")
			code, died = ExitKernelDied, true
			return !r.restart()
		}
		if next > 0 {
			n = next
		}
		if out.failed() && !p.Prompt {
			code = ExitFailed
			if len(out.errs) > 0 {
				code = ExitCode(out.errs[0].Name)
			}
			return !p.KeepGoing
		}
		return out.reply.Quit
	}
	var held []string // read at a stop, for later
	next := func() (string, bool) {
		if len(held) > 0 {
			text := held[0]
			held = held[1:]
			return text, true
		}
		if !sc.Scan() {
			return "", false
		}
		line++
		return sc.Text(), true
	}
	again := ""
	r.prompter = func() (string, bool) {
		for {
			if p.Prompt {
				fmt.Fprint(p.Stdout, "(dbg) ")
			}
			text, ok := next()
			if !ok {
				return "", false
			}
			r.at = line
			switch text = strings.TrimSpace(text); {
			case text == "" && p.Prompt && again != "": // as in other debuggers: once more
				return again, true
			case text == "":
				continue
			case !p.Prompt && !repl.IsCommand(text): // a script's next cell
				held = append(held, text)
				return "", false
			}
			if again = text; !resumes(text) {
				again = ""
			}
			return text, true
		}
	}
	prompt()
	for {
		text, ok := next()
		if !ok {
			break
		}
		if cell.Len() == 0 {
			first = line
			if strings.TrimSpace(text) == "" {
				prompt()
				continue
			}
		}
		forced := cell.Len() > 0 && strings.TrimSpace(text) == "" && p.Prompt
		cell.WriteString(text)
		cell.WriteByte('\n')
		whole := forced || repl.IsCommand(cell.String())
		if !whole {
			if rep, err := k.IsComplete(context.Background(), cell.String()); err != nil || rep.Status != "incomplete" {
				whole = true
			}
		}
		if whole && run() {
			return code
		}
		prompt()
	}
	if err := sc.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("line %d is longer than %d bytes", line+1, maxLineBytes)
		}
		fmt.Fprintf(p.Stderr, "tpush: %v\n", err)
		return ExitUsage
	}
	run()
	if p.Prompt {
		fmt.Fprintln(p.Stdout)
		return ExitOK
	}
	if died {
		return ExitKernelDied
	}
	return code
}
