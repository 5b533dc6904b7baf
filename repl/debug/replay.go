package debug

import (
	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
)

// A Replayed says that the operation of a stop is inside of a region, which was
// computed again op by op, beside the device, up to it.
type Replayed struct {
	Replay *inspect.Replay // it stands behind the operation
	Step   *inspect.Step
}

// culprit finds the value with a NaN or an infinity that an operation of a
// launch made of operands without one. Of a launch of several operations that
// may be one that stayed on chip: the region is replayed up to it.
func culprit(x *exec.Dispatcher, l *exec.Launched, k Kind) (*exec.Value, *Replayed) {
	r, err := inspect.ReplayGroup(x, l.Number)
	if err != nil { // not recorded: what was left behind can be looked at
		return made(x, l.Out, k), nil
	}
	if len(r.Ops) == 1 && made(x, l.Out, k) == nil {
		return nil, nil
	}
	out := 0
	step, err := r.Find(func(s *inspect.Step) bool {
		for _, a := range s.In {
			if a.Valid() && has(a, k) {
				return false
			}
		}
		for i, a := range s.Out {
			if has(a, k) {
				out = i
				return true
			}
		}
		return false
	})
	switch {
	case err != nil:
		return made(x, l.Out, k), nil
	case step == nil:
		return nil, nil
	}
	v := step.Record.Out[out].Value
	if len(r.Ops) == 1 {
		return v, nil
	}
	return v, &Replayed{r, step}
}

// has tells whether an array has a NaN or an infinity.
func has(a kernel.Array, k Kind) bool {
	if !a.DType.IsFloat() && !a.DType.IsComplex() {
		return false
	}
	s := inspect.StatsOf(a)
	return k == NaN && s.NaN > 0 || k == Inf && s.Inf > 0
}
