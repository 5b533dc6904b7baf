package debug

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
)

// opHook lets operations and launches stop a cell.
type opHook struct{ d *Debugger }

// Before decides whether to stop before an operation.
func (h opHook) Before(c *exec.Call) error {
	d := h.d
	g := d.caller()
	if g == nil {
		return nil
	}
	d.mu.Lock()
	list := d.ops
	d.mu.Unlock()
	var stop *Stop
	if st := d.step.Load(); st != nil && st.Action == StepOp && st.goroutine == g.ID() {
		stop = &Stop{Reason: Stepped}
	}
	for _, b := range list {
		if b.Kind != Op || !b.called(c.Def) {
			continue
		}
		ok, err := b.pred.holds(d, g, c)
		if err == nil && !ok || g.Depth() == 0 {
			continue
		}
		before := stop
		if stop = d.hit(g, g.Here(), &armed{b: b}, stop); err != nil && stop != before {
			stop.Failed = append(stop.Failed, fmt.Sprintf("breakpoint %d: %v", b.ID, err))
		}
	}
	if stop != nil {
		stop.Op, stop.midway = &OpStop{Call: c}, true
		d.halt(g, stop)
	}
	return nil
}

// After is there for the interface: results are looked at when they are launched.
func (h opHook) After(*exec.Call) {}

// caller gives the calling goroutine if it runs a cell that may be stopped.
func (d *Debugger) caller() *interp.Goroutine {
	g := d.in.Current()
	if g == nil || g.Quiet() {
		return nil
	}
	if d.halted.Load() != nil {
		d.waitForOther(g)
	}
	return g
}

// Launched decides whether what was just launched stops the cell.
func (h opHook) Launched(l *exec.Launched) {
	d := h.d
	g := d.caller()
	if g == nil {
		return
	}
	if g.Depth() == 0 {
		return
	}
	d.mu.Lock()
	list, x := d.ops, d.disp
	d.mu.Unlock()
	var stop *Stop
	op := &OpStop{Launch: l}
	used := x.Device().HBM().Used()
	before := used
	for _, v := range l.Out {
		before -= v.HBMBytes()
	}
	for _, b := range list {
		switch b.Kind {
		case Memory:
			above := used > b.LimitBytes
			if above && (!b.above || before <= b.LimitBytes) {
				op.Bytes = used
				stop = d.hit(g, g.Here(), &armed{b: b}, stop)
			}
			b.above = above
		case Cut:
			if l.Number > 0 && (b.Name == "" && l.Why != exec.ReasonEveryOp || b.Name == l.Why.String()) {
				stop = d.hit(g, g.Here(), &armed{b: b}, stop)
			}
		case NaN, Inf:
			if l.Number == 0 {
				continue
			}
			v, r := culprit(x, l, b.Kind)
			if v == nil && b.Name != "" { // a variable may also be given one that was there
				v = made(x, l.Out, b.Kind)
			}
			if v != nil && d.isIn(g, b, v) {
				op.Value, op.Replay = v, r
				stop = d.hit(g, g.Here(), &armed{b: b}, stop)
			}
		}
	}
	if stop != nil {
		stop.Op, stop.midway = op, true
		d.halt(g, stop)
	}
}

// called says whether a breakpoint of operations means this one.
func (b *Breakpoint) called(d *op.Def) bool {
	return b.Name == "" || b.Name == string(d.Name) || b.Name == d.Method || b.Name == d.Torch
}

// callsAny says whether there is an operation that a breakpoint means.
func (b *Breakpoint) callsAny() bool {
	for _, group := range op.All() {
		for i := range group {
			if b.called(&group[i]) {
				return true
			}
		}
	}
	return false
}

// made finds a value with a NaN or an infinity.
func made(x *exec.Dispatcher, out []*exec.Value, k Kind) *exec.Value {
	i := slices.IndexFunc(out, func(v *exec.Value) bool {
		a, ok := x.Peek(v)
		return ok && has(a, k)
	})
	if i < 0 {
		return nil
	}
	return out[i]
}
