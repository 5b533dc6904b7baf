package plain

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/viz"
)

// A Keeper is a kernel that can be replaced; *kernel.Supervisor is one.
type Keeper interface {
	Kernel
	Restart() error
	Lost() int // cells and commands that a replay would run
	Replay(ctx context.Context) (kernel.Replayed, error)
}

// lastWords is how many lines of a dead kernel are shown.
const lastWords = 12

// kernelDied reports what ended the kernel, and the cell that ran.
func kernelDied(w io.Writer, err error, at string) {
	var died *kernel.DiedError
	if !errors.As(err, &died) {
		fmt.Fprintf(w, "tpush: %v\n", err)
		return
	}
	fmt.Fprintf(w, "%s: %v\n", at, died)
	for _, l := range died.Words(lastWords) {
		if l != died.Reason() {
			fmt.Fprintln(w, "   "+l)
		}
	}
}

// placeOf says where a step stands.
func (r *runner) placeOf(s repl.Step) string {
	if r.nb.Path == "" {
		return "tpush"
	}
	return fmt.Sprintf("%s:%d", r.nb.Path, s.Line)
}

// restart replaces the kernel; false when it can't be.
func (r *runner) restart() bool {
	k, ok := r.k.(Keeper)
	if !ok {
		return false
	}
	if err := k.Restart(); err != nil {
		fmt.Fprintf(r.Stderr, "tpush: %v\n", err)
		return false
	}
	r.debugAgain(context.Background())
	return true
}

// replay brings the new kernel to where the one before was, and says how it
// went. It gives the number of the next cell, 0 if that did not change.
func (r *runner) replay(ctx context.Context) (next int, err error) {
	k, ok := r.k.(Keeper)
	if !ok || k.Lost() == 0 {
		fmt.Fprintln(r.Stderr, "tpush: there is nothing to replay: no kernel was replaced, or it was replayed already")
		return 0, nil
	}
	done, err := k.Replay(ctx)
	if err != nil {
		return done.Next, err
	}
	fmt.Fprintf(r.Stderr, "tpush: ran %s again\n", viz.Plural(done.Requests, "cell"))
	for _, s := range done.Skipped {
		fmt.Fprintf(r.Stderr, "tpush: left out, it was stopped then: %s\n", firstLine(s.Code))
	}
	for _, s := range done.Different {
		fmt.Fprintf(r.Stderr, "tpush: ended otherwise than then: %s\n", firstLine(s.Code))
	}
	return done.Next, nil
}

// survive reports a dead kernel; when the rest is to run all the same, a new
// one is brought to where the dead one was.
func (r *runner) survive(ctx context.Context, w io.Writer, err error, s repl.Step) bool {
	kernelDied(w, err, r.placeOf(s))
	if !r.KeepGoing || !r.restart() {
		return false
	}
	if r.k.(Keeper).Lost() == 0 {
		return true
	}
	if _, err := r.replay(ctx); err != nil {
		kernelDied(w, err, "tpush: replay")
		return false
	}
	return true
}

// obey does what a command asked of the front end.
func (r *runner) obey(ctx context.Context, rep kernel.ExecuteReply) (next int, err error) {
	if rep.Restart && r.restart() {
		return 1, nil
	}
	if rep.Replay {
		return r.replay(ctx)
	}
	return 0, nil
}

// firstLine gives what a cell begins with.
func firstLine(code string) string {
	const shown = 60
	for i, c := range code {
		if c == '\n' || i >= shown {
			return code[:i] + " …"
		}
	}
	return code
}
