package exec

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
)

// A streak is turns of a loop that follow each other without anything between
// them, each wired to the one before as that was. After two such turns the
// operations of the next ones are recognized one by one by what they read, and
// neither queued nor launched: they wait, until streakOps do or until the
// dispatcher is asked for anything but the operation that comes next. Then the
// turns that are complete are launched as if each had been at its end, and the
// rest is queued. Nobody can tell the difference.
type streak struct {
	ready  bool
	off    bool // for tests: there are no streaks
	taken  int  // turns that waited
	n      int  // operations of a turn
	ops    []streakOp
	after  []int // per input of a turn: which result of the turn before it is, -1: the same value again
	run    device.Repeater
	room   int64 // HBM of streakOps results and a turn
	opn    uint64
	fixed  []uint64 // per input of a turn: the value in the last one, by its number
	before []uint64 // results of the turn before, by their numbers
	now    []uint64 // results of the turn that runs

	queueing bool // what waits is being queued: not the time to learn

	// What waits.
	at   int      // operations of the turn that runs
	vals []*Value // results
	in   []*Value // inputs of the first turn

	repeat device.Repeat
}

// A streakOp is an operation of a turn.
type streakOp struct {
	site *site
	in   []wire
}

// streakOps is how many results may wait: as many as a slab of values has.
const streakOps = SlabValues

// learn compares a turn that was launched the short way with the one before, and
// begins a streak when both are alike.
func (s *streak) learn(d *Dispatcher, r *region) {
	t := &d.turn
	n := len(r.nodes)
	l := &d.loop
	if s.off || s.queueing || t.quick.run == nil || n > streakOps/2 || len(r.outs) != n || l.last != n || l.skip != n-1 || !l.holds || d.scopes > 0 || d.mode.Wait {
		s.opn = 0
		return
	}
	follows := s.opn > 0 && s.opn+1 == r.nodes[0].opn && len(s.now) == n && len(s.fixed) == len(r.inputs) && s.run == t.quick.run
	s.after = s.after[:0]
	for k, v := range r.inputs {
		from := -1
		if follows && v.id != s.fixed[k] {
			from = slices.Index(s.now, v.id)
			follows = from >= 0
		}
		s.after = append(s.after, from)
	}
	s.fixed, s.before, s.now = s.fixed[:0], s.before[:0], s.now[:0]
	for _, v := range r.inputs {
		s.fixed = append(s.fixed, v.id)
	}
	for _, v := range r.outs {
		s.now = append(s.now, v.id)
	}
	s.opn = r.nodes[n-1].opn
	if !follows {
		s.run, _ = t.quick.run.(device.Repeater)
		return
	}
	if s.run == nil || !s.run.Repeats() {
		return
	}
	s.n, s.ops, s.room, s.repeat.Attrs = n, s.ops[:0], 0, s.repeat.Attrs[:0]
	wires := t.wires
	for _, o := range r.nodes {
		if !o.spare {
			return
		}
		s.ops = append(s.ops, streakOp{o.site, wires[:len(o.in)]})
		wires = wires[len(o.in):]
		s.repeat.Attrs = append(s.repeat.Attrs, o.site.attrs)
		s.room += o.outs[0].typ.Spec.PaddedBytes()
	}
	plan := t.quick.entry.exe.Plan()
	s.room = s.room*int64(streakOps/n+1) + plan.TempBytes + plan.TableBytes
	s.before = append(s.before, s.now...)
	s.ready, s.at = true, 0
}

// next takes the operation when it is the one that comes next. When it gives nil
// nothing has happened.
func (s *streak) next(d *Dispatcher, slot *Slot, def *op.Def, attrs op.Attrs, in []*Value) *Value {
	o := &s.ops[s.at]
	if o.site.info.def != def || len(in) != len(o.in) || !sameAttrs(attrs, o.site.attrs) || d.dropped.some.Load() {
		return nil
	}
	first := len(s.vals) < s.n
	for j, v := range in {
		w := o.in[j]
		if v == nil || w == absent {
			if v != nil || w != absent {
				return nil
			}
			continue
		}
		k := w >> 1
		switch {
		case w&1 != 0:
			if v.id != s.now[k] {
				return nil
			}
		case s.after[k] >= 0 && v.id != s.before[s.after[k]], s.after[k] < 0 && v.id != s.fixed[k]:
			return nil
		case first:
			if v.state != Ready && v.state != Constant && s.after[k] < 0 {
				return nil
			}
			for len(s.in) <= int(k) {
				s.in = append(s.in, nil)
			}
			s.in[k] = v
		}
	}
	if len(s.vals) == 0 && !d.hbm.Fits(s.room) {
		clear(s.in)
		s.in = s.in[:0]
		return nil
	}
	d.nextOp++
	d.nextID++
	v := slot.Value()
	v.typ, v.id, v.opn, v.place, v.depth = o.site.out, d.nextID, d.nextOp, -1, settled
	v.state, v.husk, v.slot = Deferred, slot.Husk, uint8(slot.At)
	d.stats.Ops++
	s.now[s.at] = v.id
	s.vals = append(s.vals, v)
	if s.at++; s.at == s.n {
		s.at = 0
		s.now, s.before = s.before, s.now
		if len(s.vals)+s.n > streakOps {
			s.settle(d)
		}
	}
	return v
}

// end ends the streak: what waits is launched, or queued.
func (s *streak) end(d *Dispatcher) {
	s.ready, s.opn = false, 0
	s.settle(d)
}

// settle launches the turns that are complete and queues what is left.
func (s *streak) settle(d *Dispatcher) {
	if len(s.vals) == 0 {
		return
	}
	whole := len(s.vals) - s.at
	if whole > 0 && !s.launch(d, s.vals[:whole]) {
		whole, s.ready = 0, false
	}
	s.queueing = true
	for i := whole; i < len(s.vals); i++ {
		s.queue(d, i)
	}
	s.queueing = false
	d.dirty = true
	clear(s.vals)
	clear(s.in)
	s.vals, s.in = s.vals[:0], s.in[:0]
}

// operand gives operand j of waiting operation i.
func (s *streak) operand(i, j int) *Value {
	turn, w := i/s.n, s.ops[i%s.n].in[j]
	switch k := int(w >> 1); {
	case w == absent:
		return nil
	case w&1 != 0:
		return s.vals[turn*s.n+k]
	case turn > 0 && s.after[k] >= 0:
		return s.vals[(turn-1)*s.n+s.after[k]]
	default:
		return s.in[k]
	}
}

// queue queues a waiting operation as if it came now. A failure of what that
// launches is told by the values.
func (s *streak) queue(d *Dispatcher, i int) {
	o, v, n := &s.ops[i%s.n], s.vals[i], d.spareNode()
	n.def, n.info, n.site, n.attrs, n.opn = o.site.info.def, o.site.info, o.site, o.site.attrs, v.opn
	for j := range o.in {
		n.in = append(n.in, s.operand(i, j))
	}
	n.outs = append(n.outs, v)
	awaited(n)
	v.node = n
	_ = d.enqueue(n)
}

// launch launches turns with these results. When it gives false nothing has happened.
func (s *streak) launch(d *Dispatcher, vals []*Value) bool {
	q, l := &d.turn.quick, &s.repeat
	l.In, l.Out, l.Next = l.In[:0], slices.Grow(l.Out[:0], streakOps)[:len(vals)], s.after
	for _, v := range s.in {
		if v.buf == nil || v.state != Ready && v.state != Constant {
			return false
		}
		l.In = append(l.In, v.buf)
	}
	number, k := int(d.stats.Launches), 0
	for i, v := range vals {
		if k == 0 {
			number++
		}
		t := &l.Out[i]
		t.Value, t.Op, t.Launch, t.At = v.id, v.opn, number, int(v.slot)
		if t.Kind != &q.kinds[k] { // writing pointers costs more than comparing them
			t.Kind = &q.kinds[k]
		}
		if t.Shelf != v.husk.shelf {
			t.Shelf = v.husk.shelf
		}
		if k++; k == s.n {
			k = 0
		}
	}
	ok := s.run.RunRepeat(l)
	clear(l.In)
	if !ok {
		return false
	}
	for i := 0; i < len(vals); i += s.n {
		start := d.book(q.entry, &q.costs)
		d.groups.addTurn(d, q.entry, start, vals[i:i+s.n])
		for j, v := range vals[i : i+s.n] {
			b := &l.Out[i+j].Buffer
			v.buf, v.state, v.readyNS = *b, Ready, d.clock.DeviceNS
			*b = nil
			d.loop.seen(s.ops[j].site.hash)
		}
	}
	d.turn.taken += len(vals) / s.n
	s.taken += len(vals) / s.n
	return true
}
