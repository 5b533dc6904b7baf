package command

import (
	"math"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
)

// replayedText is a tensor that is not computed yet, as a stop shows it: looking
// must cut no region, and inside a compiled function nothing can be read.
func replayedText(s *repl.Session, v interp.Shown) (text string, ok bool) {
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil || *t == (tpu.Tensor{}) || t.State() != exec.Deferred && !s.Dispatcher().Capturing() {
		return "", false
	}
	return s.Replayed(v, math.MaxInt)
}
