package exec

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/trace"
)

// A Marker collects the values that the program can still reach.
type Marker struct {
	d     *Dispatcher
	epoch uint32
}

// Value marks v and says whether that was new.
func (m *Marker) Value(v *Value) bool {
	if v == nil || v.epoch == m.epoch {
		return false
	}
	v.epoch = m.epoch
	return true
}

// All marks whatever takes HBM or will be computed: the walk could not come to
// everything that the program reaches, so nothing may be given back.
func (m *Marker) All() {
	for _, v := range m.d.live {
		m.Value(v)
	}
	for _, n := range m.d.queue {
		for _, v := range n.outs {
			m.Value(v)
		}
	}
}

// Pin keeps v alive from now on, whether or not a walk comes to it, until Unpin.
func (m *Marker) Pin(v *Value) {
	if v.pins++; v.pins == 1 && v.place >= 0 {
		m.d.unlist(v)
		m.d.addLive(v)
	}
}

// Unpin takes n pins back.
func (m *Marker) Unpin(v *Value, n int32) {
	listed := v.place >= 0
	if listed {
		m.d.unlist(v)
	}
	v.pins -= n
	if listed {
		m.d.addLive(v)
	}
}

// marked says whether the last walk came to v, or a pin holds it.
func (d *Dispatcher) marked(v *Value) bool { return v.epoch == d.epoch || v.pins > 0 }

// Epoch is different for every walk, so that walkers can mark their own nodes.
func (m *Marker) Epoch() uint32 { return m.epoch }

// SetRoots gives the walk over everything the program can reach. With it, HBM
// follows reachability exactly; without (nil: a Go program), values live until
// they are released.
func (d *Dispatcher) SetRoots(walk func(*Marker)) {
	d.lock()
	defer d.mu.Unlock()
	d.roots = walk
}

// Rooted says whether a root walk decides what lives.
func (d *Dispatcher) Rooted() bool { return d.roots != nil }

// mark finds what the program reaches, and what the queue needs beyond that.
func (d *Dispatcher) mark() {
	d.epoch++
	d.roots(&Marker{d, d.epoch})
	for _, n := range d.queue {
		if n.def.Has(op.SideEffect) || slices.ContainsFunc(n.outs, d.alive) {
			d.hold(n)
		}
	}
	for _, n := range d.cutting {
		d.hold(n)
	}
}

// hold notes that n will run: what it reads keeps its HBM until then, whether
// or not the program still reaches it.
func (d *Dispatcher) hold(n *node) {
	if n.held == d.epoch {
		return
	}
	n.held = d.epoch
	todo := append(d.holding[:0], n)
	for len(todo) > 0 {
		last := len(todo) - 1
		n := todo[last]
		todo[last] = nil
		todo = todo[:last]
		for _, v := range n.in {
			switch {
			case v == nil:
			case v.buf != nil:
				v.held = d.epoch
			case v.node != nil && v.node.held != d.epoch:
				v.node.held = d.epoch
				todo = append(todo, v.node)
			}
		}
	}
	d.holding = todo
}

// maxHeld is the length of a queue up to which the dead are looked for at
// every statement; with a longer one they wait for the next cut.
const maxHeld = 4096

// StatementEnd says that a statement of the frame at the given depth ended:
// what it made and neither the program nor the queue needs is dead, and its
// HBM is given back.
func (d *Dispatcher) StatementEnd(depth int) {
	d.lock()
	defer d.mu.Unlock()
	if d.roots != nil {
		d.statementEnd(depth, 0)
	}
}

// Settle brings HBM up to date in the middle of a cell: statements that have
// ended without an operation after them are taken into account.
func (d *Dispatcher) Settle() {
	d.lock()
	defer d.mu.Unlock()
	d.arrive()
}

func (d *Dispatcher) statementEnd(depth int, serial uint64) {
	d.settle(depth, serial)
	if d.dirty && len(d.queue) <= maxHeld {
		d.mark()
		d.sweep()
	}
}

// settle ends the protection of what the frame with this serial made, and the
// frames it called: they have larger serials. What frames of smaller serials
// made at this depth or deeper was returned to the statement that runs one
// level up, and belongs to it now.
func (d *Dispatcher) settle(depth int, serial uint64) {
	k := len(d.fresh)
	for k > 0 && d.fresh[k-1].depth >= int32(depth) {
		k--
	}
	kept := d.fresh[:k]
	for _, v := range d.fresh[k:] {
		if v.frame >= serial {
			v.depth = settled
			continue
		}
		v.depth = int32(depth) - 1
		kept = append(kept, v)
	}
	clear(d.fresh[len(kept):])
	d.fresh = kept
}

// FrameLeave says that the frame at the given depth returned: what its last
// statement made is now in the hands of its caller's statement.
func (d *Dispatcher) FrameLeave(depth int) {
	d.lock()
	defer d.mu.Unlock()
	d.dirty = true
	for k := len(d.fresh) - 1; k >= 0 && d.fresh[k].depth >= int32(depth); k-- {
		d.fresh[k].depth = int32(depth) - 1
	}
}

// Touch says that something the roots reach has changed without an operation.
func (d *Dispatcher) Touch() { d.dirty = true }

// EndCell ends the running cell's statements and frees what nothing reaches.
// In a mode whose programs are cells it cuts the queue.
func (d *Dispatcher) EndCell() error {
	d.lock()
	defer d.unlock()
	d.settle(0, 0)
	var err error
	if d.mode.PerCell {
		err = d.cut(ReasonProgramEnd, false)
	}
	if d.roots != nil {
		d.mark()
		d.sweep()
	}
	return err
}

// alive says whether somebody may still use v. It is valid after mark.
func (d *Dispatcher) alive(v *Value) bool {
	if d.roots == nil {
		if v.husk != nil {
			return v.needed()
		}
		return v.state != Swept
	}
	if d.marked(v) {
		return true
	}
	return v.depth != settled && !v.used
}

// sweep gives back the HBM of everything settled that mark did not reach.
func (d *Dispatcher) sweep() {
	d.dirty = false
	for i := d.pinned; i < len(d.live); {
		v := d.live[i]
		if v.epoch == d.epoch || v.held == d.epoch || v.depth != settled {
			i++
			continue
		}
		d.free(v, Swept)
	}
}

// free gives back the HBM of v and takes it off the list of the living. Its
// numbers stay while somebody holds it: should it be used again, it is revived.
func (d *Dispatcher) free(v *Value, s State) {
	d.unlist(v)
	if v.buf != nil {
		v.buf.Free()
		if v.kept > 0 {
			d.past.charge(v)
		}
	}
	v.state = s
}

// unlist takes v off the list of the living.
func (d *Dispatcher) unlist(v *Value) {
	if v.place < 0 {
		return
	}
	hole := v.place
	move := func(from int) {
		if int(hole) != from {
			d.live[hole] = d.live[from]
			d.live[hole].place = hole
			hole = int32(from)
		}
	}
	if int(hole) < d.pinned {
		d.pinned--
		move(d.pinned)
	}
	last := len(d.live) - 1
	move(last)
	d.live[last] = nil
	d.live = d.live[:last]
	v.place = -1
}

func (d *Dispatcher) addLive(v *Value) {
	if v.place < 0 {
		v.place = int32(len(d.live))
		d.live = append(d.live, v)
		if v.pins > 0 { // those come first
			w := d.live[d.pinned]
			d.live[v.place], w.place = w, v.place
			d.live[d.pinned], v.place = v, int32(d.pinned)
			d.pinned++
		}
	}
}

// revive charges the HBM of a freed value again because it is used after all.
func (d *Dispatcher) revive(v *Value) error {
	if v.buf == nil || !v.buf.Freed() {
		return nil
	}
	err := v.buf.Revive(device.Owner{Value: v.id, Op: v.opn, What: v.name(), Spec: &v.typ.Spec, Stack: v.stack})
	if err != nil {
		return err
	}
	v.state = Ready
	d.past.discharge(v)
	d.addLive(v)
	d.dirty = true
	if d.tracing() {
		d.emit(trace.Event{Kind: trace.Revive, AtNS: d.clock.HostNS, Stack: v.stack, Value: v.id, Name: v.name(), Spec: v.typ.Spec.String()})
	}
	return nil
}

// Release gives back the HBM of v now: the program promised not to use it.
func (d *Dispatcher) Release(v *Value) {
	d.lock()
	defer d.mu.Unlock()
	d.release(v)
}

func (d *Dispatcher) release(v *Value) {
	if v.state == Constant || v.state == Failed {
		return
	}
	d.free(v, Swept)
}

// spentError is the failure of a value that was given up and is used after all.
type spentError struct{}

func (spentError) Error() string { return "the value was freed" }

// Discard is Release of a value that nobody will use again: the memory of its
// numbers on the host is given back too, when its last reader has run. views are
// the values of views of it that nobody else has.
func (d *Dispatcher) Discard(v *Value, views ...*Value) {
	d.lock()
	defer d.mu.Unlock()
	for _, w := range views {
		if w.buf == nil && w.node != nil && w.node.info.meta {
			w.state, w.spent = Swept, true
			d.give(w)
		}
	}
	d.release(v)
	if v.state == Swept && v.holders <= 0 {
		v.spent = true
		d.give(v)
	}
}

// give gives back what a spent value has unless something reads it: its HBM, when a
// region left it behind for a later one after it was given up, and its host memory.
// One that was never computed has neither, yet its recipe reads others.
func (d *Dispatcher) give(v *Value) {
	if v.readers > 0 {
		return
	}
	if v.state == Ready {
		d.release(v)
	}
	if v.kept > 0 || v.pins > 0 || v.state != Swept {
		return
	}
	if n := v.node; v.buf == nil {
		if n != nil && !n.queued && len(n.outs) == 1 {
			d.lose(v)
		}
		return
	}
	if g, ok := v.buf.(device.Giver); ok && len(d.hooks) == 0 && g.Give() {
		v.buf = nil
		d.lose(v)
	}
}

// lose makes v unusable: it failed, as far as anybody can see.
func (d *Dispatcher) lose(v *Value) {
	if n := v.node; n != nil {
		d.finished(n)
		v.node = nil
	}
	if d.gone == nil {
		d.gone = &FailedValueError{Origin: &OpError{Op: "free", Err: spentError{}, told: true}}
	}
	v.state, v.err = Failed, d.gone
}

// awaited notes that n will read its operands later than now.
func awaited(n *node) {
	for _, v := range n.in {
		if v != nil {
			v.readers++
		}
	}
}

// finished ends the recipe of n: it reads nothing any more.
func (d *Dispatcher) finished(n *node) {
	for _, v := range n.in {
		if v == nil {
			continue
		}
		if v.readers--; v.readers == 0 && v.spent {
			d.give(v)
		}
	}
	clear(n.in)
	n.in = n.in[:0]
}

// A dropList holds values whose last holder was collected; Go's collector
// appends from its own goroutine.
type dropList struct {
	mu    sync.Mutex
	vs    []*Value
	husks []huskDrop
	old   []*Value // emptied, for the next
	some  atomic.Bool
}

// Drop notes that the collector found v unreachable; its HBM is given back at
// the next operation. It may be called from any goroutine.
func (d *Dispatcher) Drop(v *Value) {
	d.dropped.mu.Lock()
	d.dropped.vs = append(d.dropped.vs, v)
	d.dropped.some.Store(true)
	d.dropped.mu.Unlock()
}

// maxDropped bounds the list that is kept for use again.
const maxDropped = 1024

// collect frees what was dropped.
func (d *Dispatcher) collect() {
	if d.dropped.some.Load() { // a stale read only delays
		d.bury()
	}
}

// bury is collect when something was dropped.
func (d *Dispatcher) bury() {
	d.dropped.mu.Lock()
	vs, husks := d.dropped.vs, d.dropped.husks
	d.dropped.vs, d.dropped.old, d.dropped.husks = d.dropped.old, nil, nil
	d.dropped.some.Store(false)
	d.dropped.mu.Unlock()
	d.releaseHusks(husks)
	for _, v := range vs {
		d.release(v)
	}
	clear(vs)
	if cap(vs) <= maxDropped {
		d.dropped.mu.Lock()
		d.dropped.old = vs[:0]
		d.dropped.mu.Unlock()
	}
}

func isOOM(err error) bool {
	if err == nil {
		return false
	}
	var oom *device.OutOfMemoryError
	return errors.As(err, &oom)
}

// reclaim frees what can be freed when HBM is full and says whether there was anything.
func (d *Dispatcher) reclaim() bool {
	before := d.hbm.Used()
	if d.roots != nil {
		d.mark()
		d.sweep()
	} else {
		runtime.GC()
		runtime.GC() // cleanups run after the first
		d.collect()
	}
	return d.hbm.Used() < before
}

// LiveValues lists the materialized values that take HBM, in no order. Those in
// slabs, which a program without roots may make, are not on the list.
func (d *Dispatcher) LiveValues() []*Value {
	d.lock()
	defer d.mu.Unlock()
	return append([]*Value(nil), d.live...)
}
