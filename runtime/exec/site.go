package exec

import (
	"math"
	"slices"
	"time"
	"unsafe"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A site remembers what an operation became for one set of operand types and
// attributes: the type of its result and its executable, so that the next call
// like it infers and looks up nothing.
type site struct {
	info  *defInfo
	in    []shape.Spec // per operand; the zero Spec for an absent one
	seen  []*Type      // per operand: the one that was found to be so last
	same  uint64       // which operands are one value, see sameness
	feeds []int        // positions of the operands that are inputs of the program
	attrs op.Attrs
	out   *Type
	large bool     // the result does not go to a slab
	hash  uint64   // what the loop detector compares, 0 when not known yet
	code  nodeCode // what the operation adds to a key

	level device.Level // the entry is of
	gen   uint32       // of the cache when the entry was found
	entry *entry
	run   device.SingleRunner // nil: the entry has no shorter way
	plan  *device.Plan
	kind  device.Kind // of its results as owners
	plain bool        // nothing about its operands is checked before it is launched
	costs
	// For the trace.
	names []string
	key   string
}

// sitesOf is how many sites a row keeps; the oldest goes first.
const sitesOf = 8

// siteOf finds the site of a call, nil when there is none.
func (i *defInfo) siteOf(in []*Value, attrs op.Attrs) *site {
	same := sameness(in)
	for k := range i.sites {
		s := i.sites[k]
		if s == nil {
			return nil
		}
		if s.same == same && s.serves(in, attrs) {
			return s
		}
	}
	return nil
}

func (s *site) serves(in []*Value, attrs op.Attrs) bool {
	if len(in) != len(s.in) {
		return false
	}
	for k, v := range in {
		want := &s.in[k]
		if v == nil {
			if want.Valid() {
				return false
			}
			continue
		}
		if v.typ == s.seen[k] {
			continue
		}
		if v.typ.Spec.DType != want.DType || v.typ.Spec.Weak != want.Weak || !sameDims(v.typ.Spec.Dims, want.Dims) {
			return false
		}
		s.seen[k] = v.typ
	}
	return sameAttrs(attrs, s.attrs)
}

// addSite remembers a call.
func (i *defInfo) addSite(in []*Value, specs []shape.Spec, attrs op.Attrs, out shape.Spec) *site {
	s := &site{info: i, in: slices.Clone(specs), same: sameness(in), attrs: kept(attrs), out: typeOf(out, i.name), large: out.HostBytes() > SlabBytes}
	s.seen = make([]*Type, len(in))
	s.kind = device.Kind{What: i.name, Spec: &s.out.Spec}
	s.plain = !s.large && !i.meta && i.def.Indices == nil && i.def.Trap == nil
	for k, v := range in {
		if v != nil && slices.Index(in, v) == k {
			s.feeds = append(s.feeds, k)
		}
	}
	i.sites[i.nextSite%sitesOf] = s
	i.nextSite++
	return s
}

// sameness says which operands are the same value as an earlier one: such a
// program has fewer inputs.
func sameness(in []*Value) uint64 {
	if len(in) == 2 {
		if in[0] == in[1] {
			return 1
		}
		return 0
	}
	var m uint64
	for k := 1; k < len(in); k++ {
		for j := range k {
			if in[j] == in[k] {
				m = mix(m, uint64(k)<<32|uint64(j))
				break
			}
		}
	}
	return m
}

// sameDims is shape.EqualDims, quick when both are one slice: results have the
// dimensions of their site.
func sameDims(a, b []int) bool {
	return len(a) == len(b) && (unsafe.SliceData(a) == unsafe.SliceData(b) || slices.Equal(a, b))
}

// sameAttrs says whether two lists are equal, values of dynamic attributes included.
func sameAttrs(a, b op.Attrs) bool {
	if a.Is(b) {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if a[k].Name != b[k].Name || !sameAttr(a[k].Value, b[k].Value) {
			return false
		}
	}
	return true
}

// sameAttr compares values of the kinds that calls repeat; of others it says no.
func sameAttr(a, b any) bool {
	switch a := a.(type) {
	case []int:
		b, ok := b.([]int)
		return ok && (a == nil) == (b == nil) && slices.Equal(a, b)
	case float64:
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case nil, int, int64, bool, string, dtype.DType:
		return a == b
	}
	return false
}

// kept gives attributes whose lists nobody else can change.
func kept(attrs op.Attrs) op.Attrs {
	for k := range attrs {
		if _, ok := attrs[k].Value.([]int); ok {
			attrs = slices.Clone(attrs)
			for ; k < len(attrs); k++ {
				if v, ok := attrs[k].Value.([]int); ok {
					attrs[k].Value = slices.Clone(v)
				}
			}
			return attrs
		}
	}
	return attrs
}

// straight applies an operation that nobody watches and whose site has been here
// before, with its result in the slot: the straight way of small operations. When
// it gives neither a result nor a failure nothing has happened.
func (d *Dispatcher) straight(slot *Slot, def *op.Def, attrs op.Attrs, in []*Value) (*Value, error) {
	info := d.info(def)
	s := info.siteOf(in, attrs)
	switch {
	case s == nil || !s.plain:
		return nil, nil
	case d.mode.EveryOp:
		return d.eager(slot, s, in), nil
	case d.past.ring != nil:
		return nil, nil
	}
	return d.queued(slot, s, info, attrs, in)
}

// begun makes the value in the slot the result of the next operation.
func (d *Dispatcher) begun(slot *Slot, s *site) *Value {
	d.collect()
	d.nextOp++
	d.nextID++
	v := slot.Value()
	v.typ, v.id, v.opn, v.place, v.depth = s.out, d.nextID, d.nextOp, -1, settled
	return v
}

// eager launches the operation. Its attributes are those of the site.
func (d *Dispatcher) eager(slot *Slot, s *site, in []*Value) *Value {
	if s.run == nil || !s.current(d) || d.syncer != nil && d.mode.Wait {
		return nil
	}
	v := d.begun(slot, s)
	d.aim(s.attrs, slot.Husk.shelf, slot.At, !d.mode.Wait)
	if _, ok := d.single(s, in, v); !ok {
		d.nextOp--
		d.nextID--
		return nil
	}
	d.stats.Ops++
	if d.past.ring != nil {
		r := d.record(s.info.def, s.attrs, v.opn, nil, in)
		r.out, r.group = d.past.hold(r.out, v), d.stats.Launches
		slot.recorded()
	}
	return v
}

// watched says whether somebody is to be told of operations, or asked, before
// or after they are launched.
func (d *Dispatcher) watched() bool {
	return d.place != nil || len(d.hooks) > 0 || d.precision != "" || d.capturing || d.recording != nil || d.tracing()
}

// current says whether what the site knows of its executable still holds.
func (s *site) current(d *Dispatcher) bool {
	return s.entry != nil && s.gen == d.cache.gen && s.level == d.mode.Level
}

// aim says what the next single is to be launched with, and where its result goes.
func (d *Dispatcher) aim(attrs op.Attrs, shelf *device.Shelf, place int, late bool) {
	l := &d.singleA
	if !l.Attrs.Is(attrs) { // writing pointers costs more than comparing them
		l.Attrs = attrs
	}
	if l.Shelf != shelf {
		l.Shelf = shelf
	}
	l.At, l.Late = place, late
}

// single runs the executable of a site and books its launch, whose result is o;
// aim has said how. When it gives false nothing has happened.
func (d *Dispatcher) single(s *site, in []*Value, o *Value) (startNS int64, ok bool) {
	l := &d.singleA
	l.In = l.In[:0]
	for _, k := range s.feeds {
		v := in[k]
		if v.buf == nil || v.state != Ready && v.state != Constant {
			return 0, false
		}
		l.In = append(l.In, v.buf)
	}
	number := d.stats.Launches + 1
	t := &l.Tenant
	t.Value, t.Op, t.Launch = o.id, o.opn, int(number)
	if t.Kind != &s.kind {
		t.Kind = &s.kind
	}
	if t.Stack != o.stack {
		t.Stack = o.stack
	}
	buf, ok := s.run.RunSingle(l)
	if !ok {
		return 0, false
	}
	startNS = d.book(s.entry, &s.costs)
	o.buf, o.state, o.readyNS = buf, Ready, d.clock.DeviceNS
	d.groups.addSingle(d, o.opn, o.stack, s.entry, startNS)
	return startNS, true
}

// launchSite launches an operation whose site has been here before by the short
// way. When it gives false nothing has happened.
func (d *Dispatcher) launchSite(n *node, donor int) bool {
	s := n.site
	if !s.current(d) && !d.learn(n) {
		return false
	}
	if s.run == nil || donor >= 0 && d.mode.Donate && !d.noDonate || d.syncer != nil && d.mode.Wait {
		return false
	}
	tracing := d.tracing()
	if tracing && n.def.Class != op.Elementwise {
		return false // the parts of such a launch are told, too
	}
	number := d.stats.Launches + 1
	var t0 time.Time
	if tracing {
		d.emit(trace.Event{Kind: trace.Cut, AtNS: d.clock.HostNS, Stack: n.stack, Launch: int(number), Ops: s.names, Op: n.opn, Reason: ReasonEveryOp.String()})
		d.emit(trace.Event{Kind: trace.CacheHit, AtNS: d.clock.HostNS, Launch: int(number), CacheKey: s.key})
		d.announced = number
		t0 = time.Now()
	}
	o := n.outs[0]
	d.aim(n.attrs, n.shelf, n.place, !d.mode.Wait && !tracing)
	start, ok := d.single(s, n.in, o)
	if !ok {
		return false
	}
	o.node = nil
	if n.shelf == nil {
		d.addLive(o)
	}
	e := s.entry
	if len(d.hooks) > 0 {
		d.launched(Launched{Number: number, Name: e.graph.Name, Why: ReasonEveryOp, Ops: 1, OpN: n.opn, Out: []*Value{o}, Stack: n.stack})
	}
	if d.past.ring != nil {
		d.past.launched(n.opn, number)
	}
	if tracing {
		hostNS := time.Since(t0).Nanoseconds()
		d.stats.HostNS += hostNS
		d.groups.took(hostNS)
		plan := s.plan
		d.emit(trace.Event{Kind: trace.Launch, AtNS: start, DurationNS: plan.DurationNS, HostNS: hostNS, Stack: n.stack, Launch: int(number), Op: n.opn,
			Name: e.graph.Name, Ops: s.names, FLOPs: plan.FLOPs, Bytes: plan.ReadBytes + plan.WriteBytes, SavedBytes: plan.SavedBytes,
			Reason: ReasonEveryOp.String(), InUseBytes: d.hbm.Used()})
	}
	return true
}

// learn looks the executable of a site up in the cache. It is there when an
// operation like it has been launched the long way.
func (d *Dispatcher) learn(n *node) bool {
	for _, v := range n.in {
		if v != nil && v.buf == nil {
			return false // reads a view: more than one operation
		}
	}
	r := &d.reg
	d.startRegion(r)
	r.add(n)
	r.outs = append(r.outs, n.outs...)
	s := n.site
	e := d.cache.lookup(d.key(r))
	if e == nil {
		return false
	}
	s.names, s.key = opNames(r.nodes), e.key.String()
	s.entry, s.gen, s.level = e, d.cache.gen, d.mode.Level
	s.run = nil
	if x, ok := e.exe.(device.SingleRunner); ok && x.Singly() {
		s.run = x
	}
	s.plan, s.costs = e.exe.Plan(), costsOf(e.exe, d.dev.Chip())
	return true
}
