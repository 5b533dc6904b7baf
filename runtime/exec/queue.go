package exec

import (
	"slices"

	"github.com/tpush/tpush/runtime/op"
)

// maxSpare is how many nodes are kept to be used again.
const maxSpare = 2 * maxBody

// queued queues the operation of a site, with its result in a slab: the straight
// way of modes that defer.
func (d *Dispatcher) queued(slot *Slot, s *site, info *defInfo, attrs op.Attrs, in []*Value) (*Value, error) {
	for _, v := range in {
		if v != nil && (v.state == Failed || v.buf == nil && (v.node == nil || v.node.info.meta)) {
			return nil, nil // it failed, or what it sees may have
		}
	}
	v := d.begun(slot, s)
	d.stats.Ops++
	n := d.spareNode()
	if n.opn = d.nextOp; n.site != s { // writing pointers costs more than comparing them
		n.def, n.info, n.site = info.def, info, s
	}
	if !n.attrs.Is(attrs) {
		n.attrs = attrs
	}
	n.in, n.outs = append(n.in, in...), append(n.outs, v)
	awaited(n)
	v.state, v.node, v.husk, v.slot = Deferred, n, slot.Husk, uint8(slot.At)
	d.dirty = true
	return v, d.enqueue(n)
}

// spareNode gives a node to be used again when it is done.
func (d *Dispatcher) spareNode() *node {
	k := len(d.spare) - 1
	if k < 0 {
		x := &struct {
			node
			ins [3]*Value
			out [1]*Value
		}{}
		x.spare, x.in, x.outs = true, x.ins[:0], x.out[:0]
		return &x.node
	}
	n := d.spare[k]
	d.spare = d.spare[:k]
	return n
}

// abandon takes the recipes of values that were not computed and that nobody may use
// any more, readers first. In a slab a recipe leads to other slabs, and those to older
// ones; of others only those go that were given up.
func (d *Dispatcher) abandon(queue []*node) {
	for _, n := range slices.Backward(queue) {
		if len(n.outs) == 0 {
			continue
		}
		switch v := n.outs[0]; {
		case v.node != n || v.readers > 0:
		case n.spare:
			d.lose(v)
			d.keep(n)
		case v.spent:
			d.give(v)
		}
	}
}

// keep takes back a node that is done: no value and no list leads to it any more.
func (d *Dispatcher) keep(n *node) {
	if n.spare && len(d.spare) < maxSpare {
		clear(n.outs)
		n.outs = n.outs[:0]
		d.spare = append(d.spare, n)
	}
}
