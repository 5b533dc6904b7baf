package command

import (
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// replayedText is a tensor that is not computed yet, as a stop shows it: looking
// must cut no region, and inside a compiled function nothing can be read, so what
// it depends on is replayed beside the program, with the same bits.
func replayedText(s *repl.Session, v interp.Shown) (text string, ok bool) {
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil || *t == (tpu.Tensor{}) || t.State() != exec.Deferred && !s.Dispatcher().Capturing() {
		return "", false
	}
	a, source, err := inspect.PastOf(s.Dispatcher()).Value(exec.RefOf(t.Value()))
	if err != nil {
		return "", false
	}
	a.View = t.StorageView()
	head := t.Spec().String() + " "
	text = head + strings.ReplaceAll(tpu.FormatArray(a), "\n", "\n"+strings.Repeat(" ", len(head)))
	if m := marked(source); m != "" {
		text += "  " + m
	}
	return text, true
}
