package plain

import (
	"context"
	"fmt"
	"slices"

	"github.com/tpush/tpush/repl"
)

// Run plays a notebook and gives the exit code. The first cell that fails ends
// it (unless KeepGoing), except a cell that is expected to fail, whose error is
// shown and which does not count. A kernel that died ends it as well; with
// KeepGoing a new one runs the cells before again and goes on, and the exit code
// still says that one died.
func Run(ctx context.Context, k Kernel, nb *repl.Notebook, o Options) (exit int) {
	r := &runner{Options: o, k: k, nb: nb, lastCode: lastCode(nb)}
	code, died := ExitOK, false
	defer func() {
		if died {
			exit = ExitKernelDied
		}
	}()
	i := 0
	r.prompter = r.script(&i, func(int) bool { return true })
	for ; i < len(nb.Steps); i++ {
		s := nb.Steps[i]
		if s.Kind == repl.Expect {
			continue
		}
		out, err := r.do(ctx, s, false)
		if err != nil {
			if !r.survive(ctx, o.Stderr, err, s) {
				return ExitKernelDied
			}
			died = true
			continue
		}
		for _, e := range out.errs {
			PrintError(o.Stderr, e, o.Color)
		}
		if x := out.reply.Exit; x != nil {
			if *x >= ExitUsage && *x <= ExitKernelDied {
				fmt.Fprintf(o.Stderr, "tpush: exit %d is the program's own\n", *x)
			}
			return *x
		}
		if out.reply.Quit {
			return code
		}
		if _, err := r.obey(ctx, out.reply); err != nil {
			kernelDied(o.Stderr, err, r.placeOf(s))
			return ExitKernelDied
		}
		if !out.failed() || expectedError(nb, i) != nil && len(out.errs) > 0 && matchesError(expectedError(nb, i).Text, out.errs) {
			continue
		}
		c := ExitFailed
		if len(out.errs) > 0 {
			c = ExitCode(out.errs[0].Name)
		}
		if !o.KeepGoing || c == ExitTimeout || c == ExitInterrupted {
			return c
		}
		code = ExitFailed
	}
	return code
}

// lastCode gives the line of the last cell, -1 when there is none.
func lastCode(nb *repl.Notebook) int {
	for _, s := range slices.Backward(nb.Steps) {
		if s.Kind == repl.Code {
			return s.Line
		}
	}
	return -1
}

// expectedError finds the Error block of the cell that step i stands in.
func expectedError(nb *repl.Notebook, i int) *repl.Step {
	for j := i + 1; j < len(nb.Steps) && nb.Steps[j].Part == nb.Steps[i].Part; j++ {
		if s := &nb.Steps[j]; s.Kind == repl.Expect && s.Want == repl.WantError {
			return s
		}
	}
	return nil
}
