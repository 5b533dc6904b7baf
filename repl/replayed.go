package repl

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/viz"
)

// replayReason says what a stop inside of a region is about: the operation that
// the replay of the region came to, or the queue that is replayed for its
// operands; "" when no region is replayed.
func (s *Session) replayReason(o *debug.OpStop) string {
	switch {
	case o.Replay != nil:
		r := o.Replay.Step.Record
		return fmt.Sprintf("after g%d: %s, #%d %s at %s, made %v", o.Launch.Number, o.Replay.Replay.Where(), r.OpN, r.Def.Name, place(r.Stack.Top()), o.Value.Spec())
	case o.Call != nil && deferred(s.disp, o.Call):
		return fmt.Sprintf("before op #%d %s, in a region that is not launched yet: its %s replayed", o.Call.OpN, o.Call.Def.Name, viz.Plural(len(s.disp.QueuedOps()), "op"))
	}
	return ""
}

// deferred says whether an operand of an operation is not computed yet.
func deferred(d *exec.Dispatcher, c *exec.Call) bool {
	for _, v := range c.In {
		if v != nil && d.State(v) == exec.Deferred {
			return true
		}
	}
	return false
}

// replayedOperands lists the operands of an operation whose region is not
// launched yet, with their numbers: the queue is computed beside the device.
func (s *Session) replayedOperands(c *exec.Call) []string {
	var lines []string
	past := inspect.PastOf(s.disp)
	for i, p := range c.Def.Inputs() {
		if i >= len(c.In) || c.In[i] == nil || c.In[i].Spec().Weak {
			continue
		}
		line := fmt.Sprintf("   operand  %s %v  ", p.Name, c.In[i].Spec())
		if a, source, err := past.Value(exec.RefOf(c.In[i])); err != nil {
			line += oneLine(err.Error())
		} else {
			line += fmt.Sprintf("%v  %v", inspect.StatsOf(a), source)
		}
		lines = append(lines, line)
	}
	return lines
}

// Replayed is a tensor of at most so many elements with its numbers; those of one
// that is not computed yet are replayed beside the program, with the same bits,
// and marked so. Nothing is launched and nothing is waited for.
func (s *Session) Replayed(v interp.Shown, elements int) (text string, ok bool) {
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil || *t == (tpu.Tensor{}) || t.Spec().Size() > elements {
		return "", false
	}
	a, source, err := inspect.PastOf(s.disp).Value(exec.RefOf(t.Value()))
	if err != nil {
		return "", false
	}
	a.View = t.StorageView()
	head := t.Spec().String() + " "
	text = head + strings.ReplaceAll(tpu.FormatArray(a), "\n", "\n"+strings.Repeat(" ", len(head)))
	if source == inspect.Recomputed {
		text += "  " + source.String()
	}
	return text, true
}
