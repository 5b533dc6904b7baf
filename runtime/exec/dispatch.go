package exec

import (
	"slices"
	"sync"
	"time"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A Tracer is a sink that can say cheaply whether anybody listens.
type Tracer interface {
	trace.Sink
	On() bool
}

// A Place tells the dispatcher where the user's program is. Its methods are
// called on the goroutine that runs it.
type Place interface {
	Where() *trace.Stack // nil when not known
	Depth() int          // number of live frames
}

// A Spot is where the program is at one operation.
type Spot struct {
	Stack  *trace.Stack
	Depth  int    // of the frame
	Serial uint64 // of the frame's activation: later ones are larger
	// Fresh is the depth of the outermost frame that has begun a statement since
	// the last operation, 0 when none has: what its earlier statements left is settled.
	Fresh       int
	FreshSerial uint64
}

// A Spotter is a Place that knows when statements end. At is called once for
// each operation; without it StatementEnd and FrameLeave must be called.
type Spotter interface{ At() Spot }

// Options of a dispatcher; the zero value of a field means "none".
type Options struct {
	Mode   *Mode // Debug when nil
	Tracer Tracer
	Place  Place
}

// A Dispatcher turns operations into launches on one device. Its methods may
// be called from several goroutines; one runs at a time.
type Dispatcher struct {
	mu      sync.Mutex
	dev     device.Device
	hbm     *device.HBM
	clock   *device.Clock
	mode    *Mode
	checks  Checks
	tracer  Tracer
	event   trace.Event // scratch of emit
	place   Place
	spotter Spotter // place, when it is one
	spot    Spot    // of the present operation
	hooks   []Hook
	news    []*Launched // for the hooks, when the lock is released
	roots   func(*Marker)
	began   time.Time
	cell    int
	called  string // what a Go number is called
	infos   map[*op.Def]*defInfo
	recent  [512]*defInfo // found last at each place, to look before the map
	scalars map[scalarKey]*Value

	precision string // of products; "" is the highest
	cache     *cache

	queue   []*node
	lost    *OpError // first failure that nobody was told of
	mute    error    // first failure that was only written, see Swallow
	cutting []*node  // of the running cut, not launched yet
	// Emptied lists of the last cut, for the next: its queue, its nodes, its segments.
	emptied, needed []*node
	parts           [][]*node
	spare           []*node  // to be used again
	given           []*Value // outputs of the running cut that were released, yet may be used after all
	loop            loopDetector
	turn            turn
	streak          streak
	scopes          int      // nesting of BeginScope
	due             bool     // a cut that waits for the end of a scope
	live            []*Value // materialized values with HBM: the pinned ones first, else unordered
	pinned          int      // how many of these are pinned
	holding         []*node  // room for hold
	fresh           []*Value // made by statements that still run, outermost frame first
	epoch           uint32
	dirty           bool // something changed since the last sweep
	nextID          uint64
	nextOp          uint64
	serial          uint32 // regions built

	capturing bool              // inside tpu.Compile: reads are refused
	programs  int               // nesting of compiled calls
	outside   *Mode             // the mode around a program
	gone      *FailedValueError // of values that were given up
	recording *Program          // what RecordProgram asked for
	replaced  []*Value          // by writes of the program
	// onlyRequested makes a cut leave nothing behind but what was asked for.
	onlyRequested bool
	noDonate      bool
	measure       bool // every launch is waited for and timed

	stats  Stats
	groups groupRing
	past   history
	steps  steps

	// Scratch of the eager path, so that one operation allocates only its result.
	specs   []shape.Spec
	one     node
	reg     region
	segment region
	launchA device.Launch
	// announced is the launch whose cut and program the short way told before it gave up.
	announced int64
	singleA   device.Single
	syncer    device.Syncer // dev, when it is one

	dropped  dropList
	attached any
}

// New makes a dispatcher on a device.
func New(dev device.Device, o Options) *Dispatcher {
	if o.Mode == nil {
		o.Mode = Debug
	}
	d := &Dispatcher{
		dev: dev, hbm: dev.HBM(), clock: dev.Clock(), mode: o.Mode, tracer: o.Tracer,
		called: "number", began: time.Now(), infos: map[*op.Def]*defInfo{}, scalars: map[scalarKey]*Value{}, cache: newCache(),
	}
	d.syncer, _ = dev.(device.Syncer)
	d.SetPlace(o.Place)
	return d
}

// Device is the device it launches on.
func (d *Dispatcher) Device() device.Device {
	d.lock()
	defer d.mu.Unlock()
	return d.dev
}

// Mode is the present mode.
func (d *Dispatcher) Mode() *Mode { return d.mode }

// SetMode changes the mode. Queued operations are launched first.
func (d *Dispatcher) SetMode(m *Mode) error {
	d.lock()
	defer d.unlock()
	if m == d.mode {
		return nil
	}
	err := d.cut(ReasonModeChange, false)
	d.mode = m
	d.loop = loopDetector{}
	return err
}

// Checks says whether index values are checked before an operation.
type Checks uint8

// The settings of Checks.
const (
	ChecksByMode Checks = iota
	ChecksOn
	ChecksOff
)

// SetChecks overrides the mode's own choice.
func (d *Dispatcher) SetChecks(c Checks) { d.checks = c }

// Checking says whether index values are checked now.
func (d *Dispatcher) Checking() bool {
	return d.checks == ChecksOn || d.checks == ChecksByMode && d.mode.Checks
}

// SetDonation switches the reuse of HBM by in-place writes off or on.
func (d *Dispatcher) SetDonation(on bool) { d.noDonate = !on }

// SetPlace and SetRoots connect the interpreter: where the program is, and what it can still reach.
func (d *Dispatcher) SetPlace(p Place) {
	d.place = p
	d.spotter, _ = p.(Spotter)
}

// SetCell tells which cell runs, for the events.
func (d *Dispatcher) SetCell(n int) { d.cell = n }

func (d *Dispatcher) tracing() bool { return d.tracer != nil && d.tracer.On() }

func (d *Dispatcher) emit(ev trace.Event) {
	e := &d.event // a Sink keeps no reference
	*e = ev
	e.Cell = d.cell
	if e.Mode == "" {
		e.Mode = d.mode.Name
	}
	d.tracer.Emit(e)
}

// Apply asks for an operation. It refuses bad shapes, dtypes and (in Debug)
// indices at once, in every mode; memory and data errors surface when the
// operation is launched. in has one entry per tensor parameter, nil for an absent one.
func (d *Dispatcher) Apply(def *op.Def, attrs op.Attrs, in ...*Value) ([]*Value, error) {
	d.lock()
	defer d.unlock()
	return d.apply(def, attrs, -1, in)
}

// Apply1 is Apply for a row with a single result.
func (d *Dispatcher) Apply1(def *op.Def, attrs op.Attrs, in ...*Value) (*Value, error) {
	return d.Apply1At(nil, def, attrs, in...)
}

// Apply1At is Apply1 that makes the result in the slot, unless that is nil, when
// it is small and launched at once.
func (d *Dispatcher) Apply1At(slot *Slot, def *op.Def, attrs op.Attrs, in ...*Value) (*Value, error) {
	d.mu.Lock()
	if s := &d.streak; s.ready {
		if slot != nil && !d.watched() {
			if v := s.next(d, slot, def, attrs, in); v != nil {
				d.mu.Unlock()
				return v, nil
			}
		}
		s.end(d)
	}
	if slot != nil && !d.watched() {
		v, err := d.straight(slot, def, attrs, in)
		if v != nil || err != nil {
			d.unlock()
			return v, err
		}
	}
	return d.applyLocked(slot, def, attrs, -1, in)
}

// applyLocked is Apply1At and ApplyInto with the lock held, which it releases.
func (d *Dispatcher) applyLocked(slot *Slot, def *op.Def, attrs op.Attrs, donor int, in []*Value) (*Value, error) {
	defer d.unlock()
	if def.Infer == nil {
		return d.apply1(slot, def, attrs, donor, in)
	}
	outs, err := d.apply(def, attrs, donor, in)
	if err != nil {
		return nil, err
	}
	return outs[0], nil
}

// ApplyInto is Apply1 for an in-place operation: its result replaces input
// donor, which nobody else will read, so that modes that donate reuse its HBM.
func (d *Dispatcher) ApplyInto(def *op.Def, attrs op.Attrs, donor int, in ...*Value) (*Value, error) {
	d.lock()
	return d.applyLocked(nil, def, attrs, donor, in)
}

// apply1 is the path of an operation with one result.
func (d *Dispatcher) apply1(slot *Slot, def *op.Def, attrs op.Attrs, donor int, in []*Value) (*Value, error) {
	info := d.info(def)
	if d.precision != "" {
		attrs = d.precisely(def, attrs)
	}
	s := info.siteOf(in, attrs)
	if s == nil {
		specs := d.inputSpecs(in)
		spec, err := def.Spec(specs, attrs)
		if err != nil {
			return nil, d.refuse(def, err)
		}
		s = info.addSite(in, specs, attrs, spec)
	}
	var room *deferred
	if !d.mode.EveryOp || info.meta {
		room = new(deferred)
	}
	n, err := d.begin(info, attrs, in, room)
	if err != nil {
		return nil, err
	}
	n.site = s
	if slot == nil || s.large || n != &d.one {
		var v *Value
		if n == &d.one {
			v = new(Value)
		} else {
			v = &room.result
		}
		d.make(v, s.out, n, 0)
		n.outs = append(n.outs, v)
		return v, d.finish(n, donor)
	}
	v := slot.Value()
	d.make(v, s.out, n, 0)
	n.outs = append(n.outs, v)
	n.shelf, n.place = slot.Husk.shelf, slot.At
	if d.past.ring != nil {
		slot.recorded()
	}
	err = d.finish(n, donor)
	if v.place >= 0 { // the long way
		slot.Husk.others = append(slot.Husk.others, v)
	}
	return v, err
}

func (d *Dispatcher) apply(def *op.Def, attrs op.Attrs, donor int, in []*Value) ([]*Value, error) {
	specs, err := def.Specs(d.inputSpecs(in), attrs)
	if err != nil {
		return nil, d.refuse(def, err)
	}
	if d.precision != "" {
		attrs = d.precisely(def, attrs)
	}
	n, err := d.begin(d.info(def), attrs, in, nil)
	if err != nil {
		return nil, err
	}
	outs := make([]*Value, len(specs))
	for i, s := range specs {
		outs[i] = d.newValue(typeOf(s, n.info.name), n, i)
	}
	n.outs = append(n.outs, outs...)
	if err := d.finish(n, donor); err != nil {
		return nil, err
	}
	return outs, nil
}

// begin checks what must hold before an operation is accepted and makes its
// node, in room if there is any.
func (d *Dispatcher) begin(info *defInfo, attrs op.Attrs, in []*Value, room *deferred) (*node, error) {
	def := info.def
	d.collect()
	d.nextOp++
	st := d.arrive()
	if def.Indices != nil && d.Checking() && !d.capturing {
		if err := d.checkBounds(def, attrs, in, st); err != nil {
			return nil, err
		}
	}
	if def.Trap != nil && !d.capturing {
		if err := d.checkTrap(def, attrs, in); err != nil {
			return nil, err
		}
	}
	if len(d.hooks) > 0 {
		if err := d.before(&Call{Def: def, Attrs: attrs, In: slices.Clone(in), OpN: d.nextOp, Stack: st}); err != nil {
			return nil, err
		}
	}
	// A node that is launched at once is used again by the next operation, with
	// its slices: then nobody keeps in.
	d.stats.Ops++
	n := &d.one
	switch {
	case room != nil:
		n = &room.node
		n.in, n.outs = room.ins[:0], room.out[:0]
	case !d.mode.EveryOp || info.meta:
		n = &node{in: make([]*Value, 0, len(in))}
	default:
		n.queued, n.needed, n.reached, n.held, n.region, n.site, n.shelf = false, 0, 0, 0, 0, nil, nil
	}
	n.def, n.info, n.attrs, n.opn, n.stack = def, info, attrs, d.nextOp, st
	n.in, n.outs = append(n.in[:0], in...), n.outs[:0]
	if n != &d.one {
		awaited(n)
	}
	return n, nil
}

// finish queues or launches the node.
func (d *Dispatcher) finish(n *node, donor int) error {
	for _, v := range n.in {
		if v != nil {
			v.used = true
		}
	}
	if d.past.ring != nil {
		r := d.record(n.def, n.attrs, n.opn, n.stack, n.in)
		for _, v := range n.outs {
			r.out = d.past.hold(r.out, v)
		}
	}
	if d.tracing() {
		for _, v := range n.outs {
			d.emit(trace.Event{Kind: trace.Apply, AtNS: d.clock.HostNS, Stack: n.stack, Op: n.opn, Name: string(n.def.Name),
				Spec: v.typ.string(), Value: v.id, Bytes: v.typ.Spec.Bytes(), PaddedBytes: v.typ.Spec.PaddedBytes()})
		}
	}
	var err error
	switch {
	case n.info.meta:
	case d.poisoned(n):
		if d.mode.Wait {
			err = n.outs[0].err
		}
	case d.mode.EveryOp:
		if n.site == nil || !d.launchSite(n, donor) {
			err = d.launchOne(n, donor)
		}
	default:
		err = d.enqueue(n)
	}
	if n == &d.one {
		for _, v := range n.outs {
			v.node = nil
		}
	}
	if len(d.hooks) > 0 && err == nil {
		d.after(&Call{Def: n.def, Attrs: n.attrs, In: slices.Clone(n.in), Out: slices.Clone(n.outs), OpN: n.opn, Stack: n.stack})
	}
	if n == &d.one {
		clear(n.in)
		clear(n.outs)
	}
	return err
}

// poisoned marks the results failed when an operand is: they hold the first failure.
func (d *Dispatcher) poisoned(n *node) bool {
	if origin := n.failedOperand(); origin != nil {
		d.fail(n, origin)
		return true
	}
	return false
}

// failedOperand gives the failure of what n reads, directly or through views; nil when there is none.
func (n *node) failedOperand() *OpError {
	for _, v := range n.in {
		switch {
		case v == nil:
		case v.state == Failed:
			return v.err.Origin
		case v.buf == nil && v.node != nil && v.node.info.meta:
			if e := v.node.failedOperand(); e != nil {
				return e
			}
		}
	}
	return nil
}

func (d *Dispatcher) fail(n *node, origin *OpError) {
	for _, o := range n.outs {
		o.state = Failed
		o.err = &FailedValueError{Spec: o.typ.Spec, Op: string(n.def.Name), Stack: n.stack, Origin: origin}
		o.node = nil
	}
	if d.lost == nil && !d.mode.Wait && !origin.told {
		d.lost = origin
	}
}

// told notes that the program has seen the failure of v.
func (d *Dispatcher) told(v *Value) error {
	v.err.Origin.told = true
	if v.err.Origin == d.lost {
		d.lost = nil
	}
	return v.err
}

// Untold gives the first failure that the program was not told of. It launches nothing.
func (d *Dispatcher) Untold() error {
	d.lock()
	defer d.mu.Unlock()
	return d.untold()
}

func (d *Dispatcher) untold() error {
	if d.lost == nil {
		return nil
	}
	err := d.lost
	err.told, d.lost = true, nil
	return err
}

// Swallow notes a failure that could only be written where a value was to be:
// package fmt would swallow a panic.
func (d *Dispatcher) Swallow(err error) {
	d.lock()
	defer d.mu.Unlock()
	if d.mute == nil {
		d.mute = err
	}
}

// Swallowed gives the first failure that was swallowed since it was asked last,
// so that whoever runs the program can stop it there.
func (d *Dispatcher) Swallowed() error {
	d.lock()
	defer d.mu.Unlock()
	err := d.mute
	d.mute = nil
	return err
}

// arrive notes where the program is at a new operation. When that begins a
// statement, the statements before it have ended: what they left is settled.
func (d *Dispatcher) arrive() *trace.Stack {
	switch {
	case d.spotter != nil:
		d.spot = d.spotter.At()
		if d.spot.Fresh > 0 && d.roots != nil {
			d.statementEnd(d.spot.Fresh, d.spot.FreshSerial)
		}
	case d.place != nil:
		d.spot = Spot{Stack: d.place.Where(), Depth: d.place.Depth()}
	}
	return d.spot.Stack
}

func (d *Dispatcher) inputSpecs(in []*Value) []shape.Spec {
	s := d.specs[:0]
	for _, v := range in {
		if v == nil {
			s = append(s, shape.Spec{})
		} else {
			s = append(s, v.typ.Spec)
		}
	}
	d.specs = s
	return s
}

// refuse wraps a refusal with the operation and its place.
func (d *Dispatcher) refuse(def *op.Def, err error) error {
	var st *trace.Stack
	if d.place != nil {
		st = d.place.Where()
	}
	e := &OpError{Op: string(def.Name), Stack: st, Err: err}
	if d.tracing() {
		d.emit(trace.Event{Kind: trace.Failure, AtNS: d.clock.HostNS, Stack: st, Name: e.Op, Reason: "refused", Text: e.Error()})
	}
	return e
}

func (d *Dispatcher) newValue(s *Type, n *node, out int) *Value {
	v := new(Value)
	d.make(v, s, n, out)
	return v
}

// make fills in v, which is zero: a result of n.
func (d *Dispatcher) make(v *Value, s *Type, n *node, out int) {
	d.nextID++
	v.typ, v.id, v.state, v.out, v.place, v.depth, v.opn = s, d.nextID, Deferred, uint8(out), -1, settled, n.opn
	v.node = n
	if n.stack != nil {
		v.stack = n.stack
	}
	d.born(v)
}

// born notes a new value as belonging to the statement that runs now.
func (d *Dispatcher) born(v *Value) {
	d.dirty = true
	if d.roots != nil {
		v.depth, v.frame = int32(d.spot.Depth), d.spot.Serial
		d.fresh = append(d.fresh, v)
	}
}

func (d *Dispatcher) before(c *Call) error {
	hooks := d.hooks
	d.mu.Unlock()
	defer d.mu.Lock()
	for _, h := range hooks {
		if err := h.Before(c); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dispatcher) after(c *Call) {
	hooks := d.hooks
	d.mu.Unlock()
	defer d.mu.Lock()
	for _, h := range hooks {
		h.After(c)
	}
}

// Upload copies a dense host array to the device.
func (d *Dispatcher) Upload(s shape.Spec, host []byte, what string) (*Value, error) {
	d.lock()
	defer d.unlock()
	d.collect()
	st := d.arrive()
	d.nextID++
	v := &Value{typ: typeOf(s, what), id: d.nextID, state: Ready, place: -1, depth: settled, stack: st}
	owner := device.Owner{Value: v.id, What: what, Spec: &v.typ.Spec, Stack: st}
	b, err := d.dev.Upload(s, host, owner)
	if isOOM(err) && d.reclaim() {
		b, err = d.dev.Upload(s, host, owner)
	}
	if err != nil {
		return nil, &OpError{Op: what, Stack: st, Err: err}
	}
	v.buf = b
	d.clock.HostNS += transferNS(d.dev.Chip(), s.Bytes())
	if d.tracing() {
		d.emit(trace.Event{Kind: trace.Transfer, AtNS: d.clock.HostNS - transferNS(d.dev.Chip(), s.Bytes()), Stack: st, Name: "host to device", Spec: s.String(), Bytes: s.Bytes(),
			DurationNS: transferNS(d.dev.Chip(), s.Bytes()), Reason: what, Value: v.id})
	}
	d.addLive(v)
	d.born(v)
	d.launched(Launched{Name: what, Out: []*Value{v}, Stack: st})
	return v, nil
}

// transferNS is the time of a copy over the host link.
func transferNS(c *device.Chip, bytes int64) int64 {
	if c.HostLinkBytesSec == 0 {
		return 0
	}
	return int64(float64(bytes) / c.HostLinkBytesSec * 1e9)
}

type scalarKey struct {
	bits  uint64
	dtype dtype.DType
	im    uint64 // of a complex number
}
