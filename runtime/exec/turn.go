package exec

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
)

// A turn is the last queue that became one region, and its program. The turns of
// a loop are alike: a queue with the same operations, wired in the same way, of
// whose results the same ones live, is that region again, and needs neither
// segments nor a key. Who lives is what a program without a root walk says; in a
// session the walk decides, each time.
type turn struct {
	off   bool // for tests: every queue is looked at anew
	taken int  // queues that were the turn again
	ready bool
	mode  *Mode
	dev   device.Device
	gen   uint32 // of the cache when the program was found
	nodes []turnNode
	wires []wire // of all operands, one node after the other
	r     region // its lists are filled anew by each match
	quick quick
}

// A turnNode is one operation of a turn. Its site stands for the row, the types
// and layouts of operands and the attributes.
type turnNode struct {
	site  *site
	alive bool // its result
}

// A wire says where an operand comes from.
type wire int32

// absent is the wire of an operand that there is none of; the others are
// inputs of the region and results of its nodes.
const absent wire = -1

func ofInput(k int32) wire { return wire(k << 1) }
func ofNode(i int32) wire  { return wire(i<<1 | 1) }

// wire gives the wire of v, in a region whose nodes before are numbered, and adds
// it to the inputs if it is a new one: false when v is neither an input nor
// a result of the queue.
func (t *turn) wire(v *Value) (wire, bool) {
	switch r := &t.r; {
	case v == nil:
		return absent, true
	case v.buf != nil && v.state != Failed:
		if v.region != r.serial {
			v.region, v.at = r.serial, int32(len(r.inputs))
			r.inputs = append(r.inputs, v)
		}
		return ofInput(v.at), true
	case v.buf == nil && v.node != nil && v.node.queued:
		return ofNode(v.node.at), true
	}
	return absent, false
}

// learn takes down a queue that is about to be cut, for what the program reaches
// alone if plain is true.
func (t *turn) learn(d *Dispatcher, queue []*node, plain bool) {
	t.ready = false
	if t.off || !plain || d.roots != nil || len(d.replaced) > 0 || len(queue) > maxBody {
		return
	}
	d.startRegion(&t.r)
	t.nodes, t.wires = t.nodes[:0], t.wires[:0]
	for i, n := range queue {
		if n.site == nil {
			return
		}
		n.at = int32(i)
		for _, v := range n.in {
			w, ok := t.wire(v)
			if !ok {
				return
			}
			t.wires = append(t.wires, w)
		}
		t.nodes = append(t.nodes, turnNode{n.site, d.alive(n.outs[0])})
	}
	t.ready = true
}

// found keeps the program that the queue taken down was launched as, if the last
// region of the cut is all of it.
func (t *turn) found(d *Dispatcher, queue []*node, ok bool) {
	s := &d.segment
	t.ready = t.ready && ok && slices.Equal(s.nodes, queue) && slices.Equal(s.inputs, t.r.inputs)
	if t.ready {
		t.mode, t.dev, t.gen, t.r.entry = d.mode, d.dev, d.cache.gen, s.entry
		t.r.donate = append(t.r.donate[:0], s.donate...)
		t.quick.prepare(d, s.entry, s.outs)
	}
	t.r.forget()
	s.forget()
}

// matches says whether the queue is the turn again, and fills in its region.
func (t *turn) matches(d *Dispatcher) bool {
	queue := d.queue
	if !t.ready || len(queue) != len(t.nodes) || t.mode != d.mode || t.dev != d.dev || t.gen != d.cache.gen || d.roots != nil || len(d.replaced) > 0 {
		return false
	}
	r := &t.r
	d.serial++
	r.serial = d.serial
	if !t.fill(d, queue) {
		r.forget()
		return false
	}
	return true
}

// fill adds the inputs and results of the queue to the region while it is like the turn.
func (t *turn) fill(d *Dispatcher, queue []*node) bool {
	wires := t.wires
	for i, n := range queue {
		want := &t.nodes[i]
		if n.site != want.site {
			return false
		}
		n.at = int32(i)
		for _, v := range n.in {
			if w, ok := t.wire(v); !ok || w != wires[0] {
				return false
			}
			wires = wires[1:]
		}
		o := n.outs[0]
		if d.alive(o) != want.alive {
			return false
		}
		if want.alive {
			if o.state == Swept {
				return false
			}
			t.r.outs = append(t.r.outs, o)
		}
	}
	return true
}

// runTurn launches the region of a turn the long way.
func (d *Dispatcher) runTurn(r *region, why Reason) error {
	r.used()
	failed := d.run(r, why)
	if failed == nil {
		return nil
	}
	d.serial++
	outs := outSet(d.serial)
	for _, v := range r.outs {
		outs.add(v)
	}
	return d.recover(r, r.nodes, outs, failed)
}

// launchTurn launches the queue, which is the turn again.
func (d *Dispatcher) launchTurn(why Reason) error {
	d.turn.taken++
	d.due = false
	r := &d.turn.r
	queue := d.queue
	d.queue, d.emptied = d.emptied, nil
	for _, n := range queue {
		n.queued = false
	}
	r.nodes = queue
	var err error
	if d.turn.quick.launch(d, r, why) {
		d.streak.learn(d, r)
	} else {
		err = d.runTurn(r, why)
	}
	d.done(queue)
	d.abandon(queue)
	r.forget()
	r.nodes, d.emptied = nil, queue[:0]
	d.dirty = true
	return err
}
