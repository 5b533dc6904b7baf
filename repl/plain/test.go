package plain

import (
	"context"
	"fmt"
	"strings"

	"github.com/tpush/tpush/repl"
)

// A TestResult is the outcome of testing one notebook.
type TestResult struct {
	Failed  bool
	Exit    int    // ExitOK, ExitFailed, or the code of what ended it early
	Text    string // diffs and errors
	Updated []byte // the file with its expectations rewritten, nil when nothing differs
	Checked int    // expectations compared
}

// Test plays a notebook and compares its expectation blocks with what happens.
func Test(ctx context.Context, k Kernel, nb *repl.Notebook, o Options) TestResult {
	t := &tester{runner: runner{Options: o, k: k, nb: nb, lastCode: lastCode(nb)}}
	t.run(ctx)
	if len(t.edits) > 0 {
		t.res.Updated = t.rewrite()
	}
	t.res.Text = t.text.String()
	return t.res
}

type tester struct {
	runner
	res    TestResult
	text   strings.Builder
	stdout strings.Builder // since the last Output block
	edits  map[int]edit    // by step
	exited bool
}

// An edit replaces the text of a block.
type edit struct {
	step repl.Step
	got  string
}

func (t *tester) fail(format string, args ...any) {
	t.res.Failed = true
	t.res.Exit = max(t.res.Exit, ExitFailed)
	fmt.Fprintf(&t.text, format+"\n", args...)
}

func (t *tester) run(ctx context.Context) {
	var shown, answered strings.Builder // of the present cell
	var errs *outcome
	part, i := 0, 0
	t.answered = func(text string) { addLine(&answered, text) }
	t.prompter = t.script(&i, func(k int) bool { // what was answered is compared at the stop, the rest at the end of the cell
		s := t.nb.Steps[k]
		if s.Want == repl.WantShows {
			t.check(k, s, answered.String(), nil)
			answered.Reset()
		}
		return s.Want == repl.WantShows
	})
	for ; i < len(t.nb.Steps); i++ {
		s := t.nb.Steps[i]
		if s.Part != part {
			part = s.Part
			shown.Reset()
			answered.Reset()
			errs = nil
		}
		if s.Kind == repl.Expect {
			got := ""
			switch s.Want {
			case repl.WantOutput, repl.WantUnordered:
				got = t.stdout.String()
				t.stdout.Reset()
			case repl.WantOut:
				got = shown.String()
			case repl.WantShows:
				got = answered.String()
			case repl.WantError:
				if errs != nil {
					got = errorLine(errs.errs[0])
				}
			}
			t.check(i, s, got, errs)
			continue
		}
		if t.exited {
			continue
		}
		out, err := t.do(ctx, s, true)
		if err != nil {
			alive := t.survive(ctx, &t.text, err, s)
			t.fail("%s:%d: the kernel died while running this cell", t.nb.Path, s.Line)
			t.res.Exit = ExitKernelDied
			if !alive {
				return
			}
			continue
		}
		if _, err := t.obey(ctx, out.reply); err != nil {
			kernelDied(&t.text, err, t.placeOf(s))
			t.fail("%s:%d: the kernel died in the replay", t.nb.Path, s.Line)
			t.res.Exit = ExitKernelDied
			return
		}
		part = t.nb.Steps[i].Part // commands at a stop may have been in later ones
		t.stdout.WriteString(out.stdout.String())
		if s.Kind == repl.Code {
			shown.Reset()
			shown.WriteString(out.shown.String())
		} else if out.answer.Len() > 0 {
			addLine(&answered, out.answer.String())
		}
		if out.reply.Exit != nil || out.reply.Quit {
			t.exited = true
			if t.expectationsRemain(i) {
				t.fail("%s:%d: the program ended here, expectations remain", t.nb.Path, s.Line)
			}
			if out.reply.Exit != nil && *out.reply.Exit != 0 {
				t.fail("%s:%d: exit %d", t.nb.Path, s.Line, *out.reply.Exit)
			}
			return
		}
		if out.failed() {
			if errs == nil && len(out.errs) > 0 {
				errs = out
			}
			if expectedError(t.nb, i) == nil {
				for _, e := range out.errs {
					PrintError(&t.text, e, false)
				}
				t.fail("%s:%d: the cell failed", t.nb.Path, s.Line)
				if len(out.errs) > 0 {
					t.res.Exit = ExitCode(out.errs[0].Name)
				}
				if !t.KeepGoing || t.res.Exit == ExitTimeout || t.res.Exit == ExitInterrupted {
					return
				}
			}
		}
	}
}

func (t *tester) expectationsRemain(i int) bool {
	for _, s := range t.nb.Steps[i+1:] {
		if s.Kind == repl.Expect {
			return true
		}
	}
	return false
}

// check compares one block.
func (t *tester) check(i int, s repl.Step, got string, errs *outcome) {
	t.res.Checked++
	ok := false
	switch s.Want {
	case repl.WantUnordered:
		ok = matchesUnordered(s.Text, got)
	case repl.WantOut:
		ok = matchesShown(s.Text, got)
	case repl.WantError:
		if errs == nil {
			t.fail("%s:%d: the cell was expected to fail with %q and did not", t.nb.Path, s.Line, strings.TrimSpace(s.Text))
			return
		}
		ok = matchesError(s.Text, errs.errs)
	default:
		ok = matches(s.Text, got)
	}
	if ok {
		return
	}
	t.fail("%s", diff(t.nb.Path, s.Line, s.Want.Head(), s.Text, got))
	if t.edits == nil {
		t.edits = map[int]edit{}
	}
	t.edits[i] = edit{s, got}
}

// rewrite gives the file with the blocks that differ replaced by what happened.
func (t *tester) rewrite() []byte {
	var b strings.Builder
	next := 1
	copyTo := func(line int) {
		for ; next < line; next++ {
			b.WriteString(t.nb.Line(next))
			b.WriteByte('\n')
		}
	}
	for i := range t.nb.Steps {
		e, ok := t.edits[i]
		if !ok {
			continue
		}
		copyTo(e.step.Line)
		head := t.nb.Line(e.step.Line)
		indent := head[:len(head)-len(strings.TrimLeft(head, " \t"))]
		got := normalize(e.got)
		if len(got) == 1 && e.step.Want != repl.WantOutput && e.step.Want != repl.WantUnordered {
			fmt.Fprintf(&b, "%s// %s %s\n", indent, e.step.Want.Head(), got[0])
		} else {
			fmt.Fprintf(&b, "%s// %s\n", indent, e.step.Want.Head())
			for _, l := range got {
				b.WriteString(strings.TrimRight(indent+"// "+l, " ") + "\n")
			}
		}
		next = e.step.Last + 1
	}
	copyTo(len(t.nb.Lines) + 1)
	return t.nb.Restore(strings.TrimSuffix(b.String(), "\n"))
}
