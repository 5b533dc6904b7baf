package debug

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
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
	stop := &Stop{Op: &OpStop{Call: c}, midway: true}
	d.mu.Lock()
	list, st := d.ops, d.step
	d.mu.Unlock()
	if st != nil && st.Action == StepOp && st.goroutine == g.ID() {
		stop.Reason = Stepped
	}
	for _, b := range list {
		if b.Kind != Op || b.Name != "" && b.Name != string(c.Def.Name) && b.Name != c.Def.Method && b.Name != c.Def.Torch {
			continue
		}
		ok, err := b.pred.holds(d, g, c)
		if err != nil {
			stop.Failed = append(stop.Failed, fmt.Sprintf("breakpoint %d: %v", b.ID, err))
		} else if !ok {
			continue
		}
		if a, found := g.Top(); found {
			d.hit(g, a.Site, b, stop)
		}
	}
	if stop.Reason != None {
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
	a, ok := g.Top()
	if !ok {
		return
	}
	d.mu.Lock()
	list, x := d.ops, d.disp
	d.mu.Unlock()
	stop := &Stop{Op: &OpStop{Launch: l}, midway: true}
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
				stop.Op.Bytes = used
				d.hit(g, a.Site, b, stop)
			}
			b.above = above
		case Cut:
			if l.Number > 0 && (b.Name == "" && l.Why != exec.ReasonEveryOp || b.Name == l.Why.String()) {
				d.hit(g, a.Site, b, stop)
			}
		case NaN, Inf:
			if l.Number == 0 {
				continue
			}
			if v, r := culprit(x, l, b.Kind); v != nil && d.isIn(g, b, v) {
				stop.Op.Value, stop.Op.Replay = v, r
				d.hit(g, a.Site, b, stop)
			}
		}
	}
	if stop.Reason != None {
		d.halt(g, stop)
	}
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
