package exec

import (
	"cmp"
	"slices"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/trace"
)

// enqueue defers an operation; a repeating loop body cuts the queue.
func (d *Dispatcher) enqueue(n *node) error {
	n.queued = true
	d.queue = append(d.queue, n)
	if d.mode.DetectLoops {
		var h uint64
		if n.site != nil && n.site.hash != 0 {
			h = n.site.hash
		} else {
			h = d.opHash(n)
			if n.site != nil {
				n.site.hash = h
			}
		}
		if d.loop.seen(h) && !d.postpone() {
			return d.cut(ReasonLoop, false)
		}
	}
	return nil
}

// opHash is what the loop detector compares: the operation, its static
// attributes, the shapes going in and out; not the values of Go numbers.
func (d *Dispatcher) opHash(n *node) uint64 {
	h := n.info.hash
	for _, v := range n.in {
		if v != nil {
			h = hashInts(mix(h, uint64(v.typ.Spec.DType)), v.typ.Spec.Dims)
		}
	}
	for k, a := range n.attrs {
		if !n.info.isDynamic(k, a.Name) {
			h = hashAttr(h, a.Value)
		}
	}
	for _, v := range n.outs {
		h = hashInts(h, v.typ.Spec.Dims)
	}
	return h
}

// cut turns the whole queue into regions and launches them. The outputs are
// what was requested and what the program can still reach; what feeds only
// them stays on chip, and what feeds nothing is never compiled.
func (d *Dispatcher) cut(why Reason, full bool, requested ...*Value) error {
	if len(d.queue) == 0 && len(requested) == 0 {
		return nil
	}
	if len(requested) == 0 && !full && d.turn.matches(d) {
		return d.launchTurn(why)
	}
	if d.roots != nil {
		d.mark()
		for _, v := range requested {
			if v.buf == nil && v.node != nil {
				d.hold(v.node)
			}
		}
		d.sweep()
	}
	d.due = false
	queue := d.queue
	d.queue, d.emptied = d.emptied, nil
	d.serial++
	want := d.serial
	outs := outSet(want)
	nodes := d.needed[:0]
	var need func(n *node)
	need = func(n *node) {
		if n.needed == want {
			return
		}
		n.needed = want
		for _, v := range n.in {
			if v != nil && v.buf == nil && v.node != nil {
				if !v.node.queued && !v.node.info.meta && d.tracing() {
					d.emit(trace.Event{Kind: trace.Recompute, AtNS: d.clock.HostNS, Stack: v.stack, Value: v.id, Name: v.name()})
				}
				need(v.node)
			}
		}
		nodes = append(nodes, n)
	}
	for _, v := range requested {
		outs.add(v)
	}
	d.given = d.given[:0]
	for _, n := range queue {
		for _, v := range n.outs {
			if !d.onlyRequested && d.alive(v) {
				outs.add(v)
				if v.husk != nil && v.state == Swept && !slices.Contains(requested, v) {
					d.given = append(d.given, v)
				}
			}
		}
	}
	if len(queue) > shallow && !d.tracing() { // what is computed again is told in the order of the recipes
		reach(queue, want, outs, requested)
	}
	for _, n := range queue {
		if n.reached == want || n.def.Has(op.SideEffect) || outs.anyOf(n) {
			need(n)
		}
	}
	for _, v := range requested {
		if v.node != nil {
			need(v.node)
		}
	}
	d.turn.learn(d, queue, len(requested) == 0 && !full)
	for _, n := range queue {
		n.queued = false
	}
	if byNumber := func(a, b *node) int { return cmp.Compare(a.opn, b.opn) }; !slices.IsSortedFunc(nodes, byNumber) {
		slices.SortFunc(nodes, byNumber)
	}
	var first error
	segs := d.segments(nodes, outs, full)
	for i, seg := range segs {
		reads(seg, func(v *Value) { v.last = int32(i) })
	}
	done := 0 // nodes of the segments before
	for i, seg := range segs {
		r := why
		if i > 0 {
			r = ReasonSplit
		}
		d.cutting = nodes[done:]
		if err := d.launchNodes(seg, outs, r, int32(i)); err != nil && first == nil {
			first = err
		}
		if d.roots != nil {
			reads(seg, func(v *Value) {
				if v.last == int32(i) && v.place >= 0 && !d.marked(v) && v.depth == settled && !slices.Contains(requested, v) {
					d.free(v, Swept)
				}
			})
		}
		d.done(seg) // not at the end of the cut: what only this segment read may go before the next
		done += len(seg)
	}
	d.cutting = nil
	for _, v := range d.given {
		d.free(v, Swept)
	}
	clear(d.given)
	d.turn.found(d, queue, first == nil && len(d.given) == 0)
	d.abandon(queue)
	clear(queue)
	d.emptied = queue[:0]
	clear(nodes)
	d.needed = nodes[:0]
	clear(d.parts)
	d.dirty = true // what was requested and nothing reaches is found by the next sweep
	return first
}

// done ends the life of nodes in the queue. What fusion swallowed keeps its
// recipe: a value used again is recomputed. A node whose results are all there is
// no recipe any more.
//
// The first node is kept last, so that the next turn of a loop takes them in order.
func (d *Dispatcher) done(nodes []*node) {
	for _, n := range slices.Backward(nodes) {
		recipe := false
		for _, v := range n.outs {
			if v.buf == nil && v.state == Deferred && !n.info.meta {
				v.state = Swallowed
			}
			recipe = recipe || v.node == n
		}
		if !recipe {
			d.finished(n)
			d.keep(n)
		}
	}
}

// shallow is the length of a queue that can be followed along its operands.
const shallow = 64

// reach marks what of the queue the outputs need, from its end: looking for that
// along the operands would go as deep as the longest chain.
func reach(queue []*node, mark uint32, outs outSet, requested []*Value) {
	var from func(*node)
	from = func(n *node) {
		if n.reached == mark {
			return
		}
		n.reached = mark
		if n.queued {
			return // its turn comes
		}
		for _, v := range n.in {
			if v != nil && v.buf == nil && v.node != nil {
				from(v.node)
			}
		}
	}
	for _, v := range requested {
		if v.node != nil {
			from(v.node)
		}
	}
	for _, n := range slices.Backward(queue) {
		if n.reached != mark && !n.def.Has(op.SideEffect) && !outs.anyOf(n) {
			continue
		}
		n.reached = mark
		for _, v := range n.in {
			if v != nil && v.buf == nil && v.node != nil {
				from(v.node)
			}
		}
	}
}

// An outSet is the outputs of a cut, by its number.
type outSet uint32

func (o outSet) add(v *Value)      { v.wanted = uint32(o) }
func (o outSet) has(v *Value) bool { return v.wanted == uint32(o) }

// anyOf says whether a result of n is one.
func (o outSet) anyOf(n *node) bool { return slices.ContainsFunc(n.outs, o.has) }

// reads calls f with the values that the nodes of a segment read, through views.
func reads(nodes []*node, f func(*Value)) {
	var each func(n *node)
	each = func(n *node) {
		for _, v := range n.in {
			if v == nil {
				continue
			}
			f(v)
			if v.node != nil && v.node.info.meta {
				each(v.node)
			}
		}
	}
	for _, n := range nodes {
		each(n)
	}
}

// segments splits the nodes of a cut into regions: around operations that ask
// for it, and, in a mode that splits, at every output as soon as one edge
// crosses an output.
func (d *Dispatcher) segments(nodes []*node, outs outSet, full bool) [][]*node {
	regions := d.parts[:0]
	start := 0
	for i, n := range nodes {
		if n.def.Has(op.CutBefore) && i > start {
			regions = append(regions, nodes[start:i])
			start = i
		}
		if n.def.Has(op.CutAfter) {
			regions = append(regions, nodes[start:i+1])
			start = i + 1
		}
	}
	if start < len(nodes) {
		regions = append(regions, nodes[start:])
	}
	// A value that a later region reads must be materialized by its own.
	if len(regions) > 1 {
		d.exportCrossing(regions, outs)
	}
	d.parts = regions
	if full || !d.mode.Split {
		return regions
	}
	if len(regions) == 1 && !crosses(nodes, outs) {
		return regions
	}
	var split [][]*node
	for _, r := range regions {
		split = append(split, splitAtCrossings(r, outs)...)
	}
	if len(split) > len(regions) { // a result beside an output may be read later too
		d.exportCrossing(split, outs)
	}
	return split
}

// sources calls f with the results of other nodes that n reads, directly or through views.
func sources(n *node, f func(*Value)) {
	for _, v := range n.in {
		if v != nil && v.buf == nil && v.node != nil {
			f(v)
			if v.node.info.meta {
				sources(v.node, f)
			}
		}
	}
}

// exportCrossing makes every value that a later region reads an output.
func (d *Dispatcher) exportCrossing(regions [][]*node, outs outSet) {
	for i, r := range regions {
		for _, n := range r {
			n.part = int32(i)
		}
	}
	for i, r := range regions {
		for _, n := range r {
			if n.info.meta { // its reader counts
				continue
			}
			sources(n, func(v *Value) {
				if !v.node.info.meta && v.node.part != int32(i) {
					outs.add(v)
				}
			})
		}
	}
}

// splitAtCrossings scans from the last node to the first, keeping the position
// of the next output. A node that is no output and whose last consumer comes
// after that position would cross it: it must be materialized and becomes the
// next position. If there is none, the region stays whole; else it is cut
// after every output and every such node.
func splitAtCrossings(nodes []*node, outs outSet) [][]*node {
	crossing := crossings(nodes, outs)
	if len(crossing) == 0 {
		return [][]*node{nodes}
	}
	for _, n := range crossing {
		for _, v := range n.outs {
			outs.add(v)
		}
	}
	var regions [][]*node
	start := 0
	for i, n := range nodes {
		if !n.info.meta && outs.anyOf(n) {
			regions = append(regions, nodes[start:i+1])
			start = i + 1
		}
	}
	if start < len(nodes) {
		regions = append(regions, nodes[start:])
	}
	return regions
}

// crosses says whether splitAtCrossings would cut.
func crosses(nodes []*node, outs outSet) bool { return len(crossings(nodes, outs)) > 0 }

// crossings lists the nodes of a region that must be materialized for it to be cut, last first.
func crossings(nodes []*node, outs outSet) []*node {
	for _, n := range nodes {
		n.read = 0
	}
	for i, n := range nodes {
		sources(n, func(v *Value) { v.node.read = int32(i) })
	}
	isOut := outs.anyOf
	next := len(nodes)
	var crossing []*node
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		switch {
		case n.info.meta: // a view costs nothing: it is repeated where it is read
		case isOut(n):
			next = i
		case int(n.read) > next:
			crossing = append(crossing, n)
			next = i
		}
	}
	return crossing
}
