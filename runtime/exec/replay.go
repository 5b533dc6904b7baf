package exec

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/trace"
)

// A Program is what a compiled function was launched as: a region that can be
// launched again with other values in the place of its inputs. It holds no
// value of the run that recorded it.
type Program struct {
	r      region // its nodes have neither operands nor results
	dev    device.Device
	outs   []programOut
	from   uint64       // number of the operation before the first
	ops    uint64       // operations that one run of the function applied
	own    map[int]bool // nodes whose attributes Attr gave away
	quick  quick
	issued int // regions launched meanwhile: more than one cannot be replayed

	inputs  []*Value // of the run that recorded it, until Bound
	results []*Value
}

// A programOut is a result of a program.
type programOut struct {
	typ   *Type
	opn   uint64
	stack *trace.Stack
}

// A replayed is what a region launched again knows already.
type replayed struct {
	gen   uint32 // of the cache when the program was found
	attrs []op.Attrs
	ops   []launchedOp
	shift uint64 // added to the numbers of the operations recorded
}

// RecordProgram makes EndProgram keep the program that it launches.
func (d *Dispatcher) RecordProgram() {
	d.lock()
	defer d.mu.Unlock()
	if d.programs == 1 {
		d.recording = &Program{from: d.nextOp, dev: d.dev}
	}
}

// TakeProgram gives what the last EndProgram kept, once: nil unless the function
// was launched as exactly one region.
func (d *Dispatcher) TakeProgram() *Program {
	d.lock()
	defer d.mu.Unlock()
	p := d.recording
	d.recording = nil
	if p == nil || p.issued != 1 {
		return nil
	}
	p.ops = d.nextOp - p.from
	return p
}

// note keeps a region that was launched with an entry.
func (p *Program) note(d *Dispatcher, r *region, e *entry) {
	p.issued++
	if p.issued > 1 {
		return
	}
	p.inputs = append(p.inputs, r.inputs...)
	p.results = append(p.results, r.outs...)
	p.r.donate = append(p.r.donate, r.donate...)
	p.r.entry = e
	known := &replayed{gen: d.cache.gen}
	for _, n := range r.nodes {
		if n.opn <= p.from && !n.info.meta {
			p.issued++ // a value from before was computed again: later it is there
			return
		}
		c := *n
		c.in, c.outs, c.site, c.shelf = nil, nil, nil, nil
		p.r.nodes = append(p.r.nodes, &c)
		known.attrs = append(known.attrs, n.attrs)
		known.ops = append(known.ops, launchedOp{n.opn, n.stack})
	}
	for _, o := range r.outs {
		p.outs = append(p.outs, programOut{o.typ, o.opn, o.stack})
	}
	p.r.known = known
	p.quick.prepare(d, e, r.outs)
}

// Inputs are the values that the recorded run took from outside, in the order of
// the program; Results are what it left behind.
func (p *Program) Inputs() []*Value  { return p.inputs }
func (p *Program) Results() []*Value { return p.results }

// From is the number of the last operation before the program.
func (p *Program) From() uint64 { return p.from }

// Bound ends the recording: the program lets the values of that run go.
func (p *Program) Bound() { p.inputs, p.results = nil, nil }

// Attr finds an attribute of the operation with a number; nil when the program
// does not run it. What the pointer leads to is an argument of every launch from now on.
func (p *Program) Attr(opn uint64, name string) *any {
	for i, n := range p.r.nodes {
		if n.opn != opn {
			continue
		}
		own := p.r.known.attrs[i]
		if !p.own[i] {
			own = append(op.Attrs(nil), own...)
			p.r.known.attrs[i] = own
			if p.own == nil {
				p.own = map[int]bool{}
			}
			p.own[i] = true
		}
		for k := range own {
			if own[k].Name == name {
				return &own[k].Value
			}
		}
	}
	return nil
}

// Replay launches p with other inputs and gives its results, each in its place;
// where a slot has a slab, in the slot too.
// It gives false, and nothing has happened, when the function has to run
// instead: the cache or the device changed, somebody watches single operations,
// an input has no numbers, or the launch failed, which the function then tells as it does.
func (d *Dispatcher) Replay(p *Program, in, out []*Value, slots []Slot) bool {
	d.lock()
	defer d.unlock()
	d.collect()
	known := p.r.known
	if known.gen != d.cache.gen || p.dev != d.dev || d.programs > 0 || len(d.hooks) > 0 || d.past.ring != nil {
		return false
	}
	if len(d.queue) > 0 && d.cut(ReasonCompiledCall, false) != nil {
		return false
	}
	for _, v := range in {
		if v.buf == nil || v.state == Failed {
			return false
		}
	}
	d.arrive()
	known.shift = d.nextOp - p.from
	d.outside, d.mode = d.mode, program
	r := &p.r
	d.serial++
	r.serial = d.serial
	r.inputs, r.outs = in, out
	for i := range p.outs {
		o, v := &p.outs[i], slots[i].room()
		d.nextID++
		v.typ, v.id, v.state, v.place, v.depth, v.opn = o.typ, d.nextID, Deferred, -1, settled, o.opn+known.shift
		v.stack = o.stack
		d.born(v)
		out[i] = v
	}
	d.nextOp += p.ops
	ok := p.quick.launch(d, r, ReasonCompiledCall) || d.run(r, ReasonCompiledCall) == nil
	r.inputs, r.outs = nil, nil
	d.launchA.Attrs = nil
	d.mode = d.outside
	if !ok {
		clear(out)
		return false
	}
	d.stats.Ops += int64(p.ops)
	d.stats.Replays++
	if d.mode.Wait {
		d.clock.Wait(d.dev.Chip().SyncNS)
	}
	return true
}
