package inspect

import (
	"fmt"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A Source says where the numbers of a past value came from.
type Source uint8

// The sources.
const (
	Live       Source = iota // the value is on the device
	Held                     // the program freed it, the history still had it
	Recomputed               // from its recipe, over the reference kernels
)

// String says it as it is shown.
func (s Source) String() string {
	return [...]string{"live", "freed since, still recorded", "recomputed"}[s]
}

// A GoneError says that the numbers of a past value are lost.
type GoneError struct {
	Spec shape.Spec
	OpN  uint64 // that made it, 0 for an upload
	Why  string
}

// Error names the value and the reason.
func (e *GoneError) Error() string {
	made := "an upload"
	if e.OpN > 0 {
		made = fmt.Sprintf("the result of op #%d", e.OpN)
	}
	return fmt.Sprintf("%v, %s, is freed: %s", e.Spec, made, e.Why)
}

// A RecomputeError says that a recipe could not be followed.
type RecomputeError struct {
	Op  string
	OpN uint64
	Err error
}

// Error names the operation.
func (e *RecomputeError) Error() string {
	return fmt.Sprintf("op #%d %s cannot be computed again: %v", e.OpN, e.Op, e.Err)
}

// Unwrap gives the cause.
func (e *RecomputeError) Unwrap() error { return e.Err }

// A Past finds the numbers of values of the history. It launches nothing, takes
// no HBM and moves no clock: what must be computed is computed beside the
// device, by the same loops and so with the same bits.
type Past struct {
	d    *exec.Dispatcher
	memo map[uint64]pastValue
	busy map[uint64]bool
}

type pastValue struct {
	array  kernel.Array
	source Source
}

// PastOf looks into the history of a dispatcher.
func PastOf(d *exec.Dispatcher) *Past {
	return &Past{d: d, memo: map[uint64]pastValue{}, busy: map[uint64]bool{}}
}

// Value gives the numbers of a value as they were, and where they came from. The
// error is a *GoneError, a *RecomputeError, or that of the value's own failure.
func (p *Past) Value(r exec.Ref) (kernel.Array, Source, error) {
	if v, ok := p.memo[r.ID]; ok {
		return v.array, v.source, nil
	}
	if a, source, ok, err := p.known(r); ok || err != nil {
		if ok {
			p.memo[r.ID] = pastValue{a, source}
		}
		return a, source, err
	}
	if p.busy[r.ID] { // a recipe never leads to itself; numbers of operations would have to wrap
		return kernel.Array{}, 0, &GoneError{r.Spec, r.OpN, "its recipe leads back to itself"}
	}
	p.busy[r.ID] = true
	defer delete(p.busy, r.ID)
	if r.OpN == 0 {
		return kernel.Array{}, 0, &GoneError{r.Spec, 0, "its numbers came from the host and were given up"}
	}
	rec, ok := p.d.RecordOf(r.OpN)
	if !ok {
		return kernel.Array{}, 0, &GoneError{r.Spec, r.OpN, "that is before the start of recorded history"}
	}
	in := make([]kernel.Array, len(rec.In))
	for i, x := range rec.In {
		if x.ID == 0 {
			continue
		}
		a, _, err := p.Value(x)
		if err != nil {
			return kernel.Array{}, 0, err
		}
		in[i] = a
	}
	outs, err := Recompute(&rec, in)
	if err != nil {
		return kernel.Array{}, 0, err
	}
	for i, o := range rec.Out {
		p.memo[o.ID] = pastValue{outs[i], Recomputed}
	}
	v, ok := p.memo[r.ID]
	if !ok {
		return kernel.Array{}, 0, &GoneError{r.Spec, r.OpN, "the operation has no such result"}
	}
	return v.array, v.source, nil
}

// Known gives the numbers of a value if they exist, without computing them.
func (p *Past) Known(r exec.Ref) (kernel.Array, Source, bool) {
	a, source, ok, err := p.known(r)
	return a, source, ok && err == nil
}

// known finds a value whose numbers exist.
func (p *Past) known(r exec.Ref) (kernel.Array, Source, bool, error) {
	v := r.Value
	if v == nil {
		if v = p.d.ValueByID(r.ID); v == nil {
			return kernel.Array{}, 0, false, nil
		}
	}
	state := p.d.State(v)
	if state == exec.Failed {
		return kernel.Array{}, 0, false, &GoneError{r.Spec, r.OpN, "its operation failed"}
	}
	a, ok := p.d.Peek(v)
	if !ok {
		return a, 0, false, nil
	}
	if state == exec.Swept || state == exec.Donated {
		return a, Held, true, nil
	}
	return a, Live, true, nil
}

// Recompute follows a recipe over the reference kernels.
func Recompute(r *exec.Record, in []kernel.Array) (outs []kernel.Array, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &RecomputeError{string(r.Def.Name), r.OpN, fmt.Errorf("%v", x)}
		}
	}()
	outs = make([]kernel.Array, len(r.Out))
	for i, o := range r.Out {
		outs[i] = kernel.New(o.Spec)
		outs[i].Weak = false // as on the device: a result is never a bare number
	}
	args := make([]kernel.Array, len(in))
	for i, a := range in {
		a.Weak = false
		args[i] = a
	}
	if err := r.Def.Run(&kernel.Call{In: args, Out: outs, Attrs: r.Attrs}); err != nil {
		return nil, &RecomputeError{string(r.Def.Name), r.OpN, err}
	}
	return outs, nil
}
