package inspect

import (
	"fmt"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
)

// A Replay computes the operations of a region one after another, beside the
// device: what fusion or a compiled program keeps on chip becomes visible, with
// the bits that the region has. Nothing is launched.
type Replay struct {
	Group int64 // the launch, 0 for operations that are queued still
	Ops   []exec.Record
	next  int
	past  *Past
}

// A Step is one operation of a replay.
type Step struct {
	Index  int // from 0
	Record exec.Record
	In     []kernel.Array // Valid is false for an absent operand
	Out    []kernel.Array
}

// A ReplayError says that a region cannot be replayed.
type ReplayError struct {
	Group int64
	OpN   uint64
	Why   string
}

// Error names the group or the operation.
func (e *ReplayError) Error() string {
	if e.Group > 0 {
		return fmt.Sprintf("replay of g%d: %s", e.Group, e.Why)
	}
	return fmt.Sprintf("replay of op #%d: %s", e.OpN, e.Why)
}

// ReplayGroup prepares the replay of a launch.
func ReplayGroup(d *exec.Dispatcher, group int64) (*Replay, error) {
	for _, g := range d.Groups() {
		if g.Number != group {
			continue
		}
		opns := make([]uint64, len(g.Ops))
		for i, o := range g.Ops {
			opns[i] = o.OpN
		}
		return replay(d, group, opns)
	}
	return nil, &ReplayError{Group: group, Why: "the launch is not remembered"}
}

// ReplayOf prepares the replay of the region that an operation belongs to: its
// launch, or what is queued up to now when it was not launched yet.
func ReplayOf(d *exec.Dispatcher, opn uint64) (*Replay, error) {
	r, ok := d.RecordOf(opn)
	if !ok {
		return nil, &ReplayError{OpN: opn, Why: "the operation is not recorded"}
	}
	if r.Group > 0 {
		return ReplayGroup(d, r.Group)
	}
	for _, n := range d.QueuedOps() {
		if n == opn {
			return replay(d, 0, d.QueuedOps())
		}
	}
	return replay(d, 0, []uint64{opn})
}

func replay(d *exec.Dispatcher, group int64, opns []uint64) (*Replay, error) {
	r := &Replay{Group: group, past: PastOf(d)}
	for _, n := range opns {
		rec, ok := d.RecordOf(n)
		if !ok {
			return nil, &ReplayError{Group: group, OpN: n, Why: fmt.Sprintf("op #%d is before the start of recorded history", n)}
		}
		r.Ops = append(r.Ops, rec)
	}
	return r, nil
}

// Left is how many operations were not computed yet.
func (r *Replay) Left() int { return len(r.Ops) - r.next }

// Step computes the next operation. The error is one of Past.Value or a
// *RecomputeError; after the last operation it is a *ReplayError.
func (r *Replay) Step() (*Step, error) {
	if r.Left() == 0 {
		return nil, &ReplayError{Group: r.Group, Why: "every operation is computed"}
	}
	s := &Step{Index: r.next, Record: r.Ops[r.next]}
	for _, x := range s.Record.In {
		var a kernel.Array
		if x.ID != 0 {
			var err error
			if a, _, err = r.past.Value(x); err != nil {
				return nil, err
			}
		}
		s.In = append(s.In, a)
	}
	out, err := Recompute(&s.Record, s.In)
	if err != nil {
		return nil, err
	}
	s.Out = out
	for i, o := range s.Record.Out {
		r.past.memo[o.ID] = pastValue{out[i], Recomputed}
	}
	r.next++
	return s, nil
}

// To computes up to and with an operation and gives its step.
func (r *Replay) To(opn uint64) (*Step, error) {
	for r.Left() > 0 {
		s, err := r.Step()
		if err != nil || s.Record.OpN == opn {
			return s, err
		}
	}
	return nil, &ReplayError{Group: r.Group, OpN: opn, Why: "the operation is not in the region, or was replayed already"}
}

// Find steps until want says yes and gives that step; nil when none does.
func (r *Replay) Find(want func(*Step) bool) (*Step, error) {
	for r.Left() > 0 {
		s, err := r.Step()
		if err != nil || want(s) {
			return s, err
		}
	}
	return nil, nil
}

// Value gives the numbers of a value as the replay has it.
func (r *Replay) Value(x exec.Ref) (kernel.Array, Source, error) { return r.past.Value(x) }

// Where says how far the replay is: replaying region g3 op 2 of 6.
func (r *Replay) Where() string {
	if r.Group == 0 {
		return fmt.Sprintf("replaying the queue, op %d of %d", r.next, len(r.Ops))
	}
	return fmt.Sprintf("replaying region g%d op %d of %d", r.Group, r.next, len(r.Ops))
}
