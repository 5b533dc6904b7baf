package exec

import (
	"slices"
	"time"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// launchOne runs one operation alone: the eager path.
func (d *Dispatcher) launchOne(n *node, donor int) error {
	r := &d.reg
	d.startRegion(r)
	r.add(n)
	r.outs = append(r.outs, n.outs...)
	if donor >= 0 && d.mode.Donate && !d.noDonate {
		d.offerDonor(r, n, donor)
	}
	err := d.run(r, ReasonEveryOp)
	if err == nil {
		return nil
	}
	d.fail(n, err)
	if d.mode.Wait {
		return err
	}
	return nil // it surfaces when somebody reads the value
}

// offerDonor lets the region reuse the HBM of operand k of n when its type
// equals the result's and the operand is a whole buffer of its own.
func (d *Dispatcher) offerDonor(r *region, n *node, k int) {
	v := n.in[k]
	if v == nil {
		return
	}
	// Through a view of the whole buffer the buffer itself is the donor.
	if v.buf == nil && v.node != nil && v.node.info.meta && len(v.node.in) == 1 && v.node.in[0] != nil {
		v = v.node.in[0]
	}
	if v.region != r.serial || v.state != Ready || v.place < 0 || v.typ.Spec.Size() == 0 {
		return
	}
	if !slices.ContainsFunc(r.outs, func(o *Value) bool {
		return o.typ.Spec.DType == v.typ.Spec.DType && o.typ.Spec.PaddedBytes() == v.typ.Spec.PaddedBytes() && o.typ.Spec.Size() == v.typ.Spec.Size()
	}) {
		return
	}
	r.donate[v.at] = true
}

// launchNodes runs the nodes of a segment as one region; when that fails it
// runs them one by one, so that only the culprit and its heirs fail.
func (d *Dispatcher) launchNodes(nodes []*node, outs outSet, why Reason, segment int32) error {
	r := &d.segment
	d.startRegion(r)
	for _, n := range nodes {
		if n.info.meta && !outs.anyOf(n) {
			continue // pulled in by its readers
		}
		if d.poisoned(n) {
			continue
		}
		r.add(n)
	}
	for _, n := range r.nodes {
		for _, v := range n.outs {
			if outs.has(v) && v.buf == nil {
				r.outs = append(r.outs, v)
			}
		}
	}
	if len(r.nodes) == 0 {
		return nil
	}
	if d.mode.PerCell && d.roots != nil && !d.noDonate {
		d.donateDead(r, segment)
	}
	if len(d.replaced) > 0 && !d.noDonate {
		d.donateReplaced(r, segment)
	}
	r.used()
	if err := d.run(r, why); err != nil {
		return d.recover(r, nodes, outs, err)
	}
	return nil
}

// recover does what it can when the region of some nodes has failed.
func (d *Dispatcher) recover(r *region, nodes []*node, outs outSet, err *OpError) error {
	if len(r.nodes) == 1 {
		d.fail(r.nodes[0], err)
		return err
	}
	return d.retry(nodes, outs)
}

// donateDead lets the compiler reuse the inputs that nothing reaches any more
// and no later region of the cut reads.
func (d *Dispatcher) donateDead(r *region, segment int32) {
	free := map[int64]int{}
	for _, o := range r.outs {
		free[o.typ.Spec.PaddedBytes()]++
	}
	for i, v := range r.inputs {
		if v.state == Ready && v.place >= 0 && !d.alive(v) && v.last == segment && free[v.typ.Spec.PaddedBytes()] > 0 {
			free[v.typ.Spec.PaddedBytes()]--
			r.donate[i] = true
		}
	}
}

// donateReplaced lets the compiler reuse the inputs that writes of the program
// replaced. They may have been given back already, and return for the launch.
func (d *Dispatcher) donateReplaced(r *region, segment int32) {
	for i, v := range r.inputs {
		if v.replaced && v.state != Failed && v.last == segment {
			r.donate[i] = true
		}
	}
}

// retry launches the nodes of a failed region alone, in order.
func (d *Dispatcher) retry(nodes []*node, outs outSet) error {
	var first error
	var temps []*Value
	for _, n := range nodes {
		if n.info.meta || d.poisoned(n) {
			continue
		}
		r := &region{}
		d.startRegion(r)
		r.add(n)
		r.outs = append(r.outs, n.outs...)
		if err := d.run(r, ReasonRecover); err != nil {
			d.fail(n, err)
			if first == nil {
				first = err
			}
			continue
		}
		for _, v := range n.outs {
			if !outs.has(v) {
				temps = append(temps, v)
			}
		}
	}
	for _, v := range temps {
		d.free(v, Swept)
	}
	return first
}

// run compiles (or finds) the region and launches it. On error no value changed.
func (d *Dispatcher) run(r *region, why Reason) *OpError {
	last, opn := r.last()
	var again []*Value // dropped by the program, yet a queued operation reads them
	for _, v := range r.inputs {
		if d.roots == nil && v.buf != nil && v.buf.Freed() {
			again = append(again, v)
		}
		if err := d.revive(v); err != nil {
			return &OpError{Op: string(last.def.Name), OpN: opn, Stack: last.stack, Err: err}
		}
	}
	d.stats.Launches++
	number := d.stats.Launches
	tracing := d.tracing()
	if tracing && d.announced != number {
		d.emit(trace.Event{Kind: trace.Cut, AtNS: d.clock.HostNS, Stack: d.where(last), Launch: int(number), Ops: opNames(r.nodes), Op: opn, Reason: why.String()})
	}
	e, hit, err := d.compiled(r, number, why)
	if err != nil {
		return d.failure(last, opn, number, err)
	}
	l := &d.launchA
	l.Number = int(number)
	l.In, l.Attrs, l.Owners = l.In[:0], l.Attrs[:0], l.Owners[:0]
	for _, v := range r.inputs {
		l.In = append(l.In, v.buf)
	}
	if r.known != nil {
		l.Attrs = r.known.attrs // its own: 100,000 nodes are not copied
	} else {
		for _, n := range r.nodes {
			l.Attrs = append(l.Attrs, n.attrs)
		}
	}
	for _, o := range r.outs {
		l.Owners = append(l.Owners, device.Owner{Value: o.id, Op: o.opn, Launch: int(number), What: o.name(), Spec: &o.typ.Spec, Stack: o.stack})
	}
	l.Donate, l.Spent, l.Late = r.donate, r.spent, !d.mode.Wait && !tracing
	// A walk over roots may not see everything that is alive, and the recorder shows former values.
	l.InPlace = d.roots == nil && d.past.ring == nil && len(d.hooks) == 0
	for i, v := range r.inputs {
		l.InPlace = l.InPlace && !(r.donate[i] && v.holders > 1)
	}
	if cap(l.Out) < len(r.outs) {
		l.Out = make([]device.Buffer, len(r.outs))
	}
	l.Out = l.Out[:len(r.outs)]
	l.Measure, l.RealNS = tracing && (d.mode.Wait || d.measure), 0
	var t0 time.Time
	if tracing {
		t0 = time.Now()
	}
	err = e.exe.Run(l)
	if isOOM(err) && d.reclaim() {
		for _, v := range r.inputs { // an operand may have been among the dead
			if err := d.revive(v); err != nil {
				return d.failure(last, opn, number, err)
			}
		}
		err = e.exe.Run(l)
	}
	if err == nil && d.mode.Wait {
		err = d.catchUp()
	}
	if err != nil {
		return d.failure(last, opn, number, err)
	}
	var hostNS int64
	if tracing {
		hostNS = time.Since(t0).Nanoseconds()
	}
	plan := e.exe.Plan()
	chip := d.dev.Chip()
	start := d.clock.Launch(chip.HostIssueNS, plan.DurationNS)
	if d.mode.Wait {
		d.clock.Wait(chip.SyncNS)
	}
	for i, v := range r.inputs {
		if r.donate[i] && v.buf.Freed() {
			d.free(v, Donated)
		}
	}
	for i, o := range r.outs {
		o.buf, o.state, o.node, o.readyNS = l.Out[i], Ready, nil, d.clock.DeviceNS
		d.homed(o)
		l.Out[i] = nil
	}
	for _, v := range again {
		d.free(v, Swept)
	}
	clear(l.In)
	if r.known != nil {
		l.Attrs = nil
	}
	clear(l.Attrs)
	d.stats.DeviceNS += plan.DurationNS
	d.stats.HostNS += hostNS
	d.stats.SavedBytes += plan.SavedBytes
	d.groups.add(d, r, e, hit, why, start, hostNS, l)
	if len(d.hooks) > 0 {
		d.launched(Launched{Number: number, Name: e.graph.Name, Why: why, Ops: len(r.nodes), OpN: opn, Out: slices.Clone(r.outs), Stack: d.where(last)})
	}
	if d.past.ring != nil {
		for _, n := range r.nodes {
			d.past.launched(n.opn, number)
		}
	}
	if d.recording != nil {
		d.recording.note(d, r, e)
	}
	if tracing {
		d.emit(trace.Event{Kind: trace.Launch, AtNS: start, DurationNS: plan.DurationNS, HostNS: hostNS, RealNS: l.RealNS, Stack: last.stack, Launch: int(number), Op: opn,
			Name: e.graph.Name, Ops: opNames(r.nodes), FLOPs: plan.FLOPs, Bytes: plan.ReadBytes + plan.WriteBytes, SavedBytes: plan.SavedBytes,
			Reason: why.String(), InUseBytes: d.hbm.Used(), Parts: parts(r, plan)})
		d.exchanged(number, start, last, opn, l.Collectives)
	}
	return nil
}

func (d *Dispatcher) failure(n *node, opn uint64, number int64, err error) *OpError {
	e := &OpError{Op: string(n.def.Name), OpN: opn, Stack: n.stack, Err: err}
	if d.tracing() {
		d.emit(trace.Event{Kind: trace.Failure, AtNS: d.clock.HostNS, Stack: n.stack, Launch: int(number), Op: opn, Name: e.Op, Reason: "launch", Text: e.Error()})
	}
	return e
}

// where is the place of a cut: where the program is now, else the last node's.
func (d *Dispatcher) where(n *node) *trace.Stack {
	if d.place != nil && !d.mode.EveryOp {
		return d.place.Where()
	}
	return n.stack
}

// compiled finds the executable of a region or compiles it.
func (d *Dispatcher) compiled(r *region, number int64, why Reason) (*entry, bool, error) {
	c := d.cache
	c.requests++
	var k Key
	e := r.entry
	if e == nil {
		k = d.key(r)
		e = c.lookup(k)
	}
	if e != nil {
		r.entry = e
		c.hits++
		e.reads++
		e.usedAt = number
		if d.tracing() && d.announced != number {
			d.emit(trace.Event{Kind: trace.CacheHit, AtNS: d.clock.HostNS, Launch: int(number), CacheKey: e.key.String()})
		}
		return e, true, nil
	}
	if c.onlyHits {
		return nil, false, &CacheOnlyError{Key: k}
	}
	t0 := time.Now()
	g := r.graph(groupName(r.nodes))
	exe, err := d.dev.Compile(g, d.mode.Level)
	if err != nil {
		return nil, false, err
	}
	e = &entry{key: k, exe: exe, graph: g, usedAt: number, compile: time.Since(t0)}
	for _, v := range r.inputs {
		e.dims = append(e.dims, v.typ.Spec.Dims)
	}
	if len(c.entries) >= maxEntries {
		c.evict()
	}
	old := c.variants[k.Shapeless]
	e.why, e.madeAt = missReason(old, e), number
	c.entries[k], c.variants[k.Shapeless] = e, e
	r.entry = e
	c.compiles++
	if d.tracing() {
		d.emit(trace.Event{Kind: trace.Compile, AtNS: d.clock.HostNS, HostNS: e.compile.Nanoseconds(), Stack: r.nodes[len(r.nodes)-1].stack, Launch: int(number),
			CacheKey: k.String(), Name: g.Name, Ops: opNames(r.nodes), Reason: e.why})
	}
	return e, false, nil
}

func opNames(nodes []*node) []string {
	s := make([]string, len(nodes))
	for i, n := range nodes {
		s[i] = string(n.def.Name)
	}
	return s
}

// groupName is what a region is called: its operations, views left out, the
// middle left out when there are many.
func groupName(nodes []*node) string {
	var names []string
	for _, n := range nodes {
		if !n.info.meta {
			names = append(names, string(n.def.Name))
		}
	}
	if len(names) == 0 {
		names = []string{string(nodes[0].def.Name)}
	}
	if len(names) > 4 {
		names = append(append([]string{}, names[:2]...), "…", names[len(names)-1])
	}
	s := names[0]
	for _, n := range names[1:] {
		s += "+" + n
	}
	return s
}

// Read gives the numbers of v as a dense host array, for the reason given. It
// cuts the queue if v is not computed, and waits for the device. The caller
// must not write to the array.
func (d *Dispatcher) Read(v *Value, why Reason) (kernel.Array, error) {
	return d.ReadPart(v, why, v.typ.Spec)
}

// ReadPart is Read for a program that wants only a part of the numbers, a
// view: only that travels over the host link. The array is that of all of v.
func (d *Dispatcher) ReadPart(v *Value, why Reason, part shape.Spec) (kernel.Array, error) {
	if part.Bytes() > v.typ.Spec.Bytes() { // numbers that a view repeats travel once
		part = v.typ.Spec
	}
	d.lock()
	defer d.unlock()
	if v.state == Constant {
		return d.host(v)
	}
	if d.capturing {
		return kernel.Array{}, &ReadWhileTracingError{Spec: v.typ.Spec, Reason: why}
	}
	computed := v.buf == nil
	if err := d.force(v, why); err != nil {
		return kernel.Array{}, err
	}
	if d.mode.PerCell && computed {
		d.stats.GraphBreaks++
	}
	chip := d.dev.Chip()
	d.clock.Wait(chip.SyncNS)
	at := d.clock.HostNS
	d.clock.HostNS += transferNS(chip, part.Bytes())
	if d.tracing() {
		var st *trace.Stack
		if d.place != nil {
			st = d.place.Where()
		}
		d.emit(trace.Event{Kind: trace.Read, AtNS: at, Stack: st, Value: v.id, Name: why.String(), Spec: v.typ.Spec.String()})
		d.emit(trace.Event{Kind: trace.Transfer, AtNS: at, DurationNS: d.clock.HostNS - at, Stack: st, Name: "device to host", Spec: part.String(), Bytes: part.Bytes(), Value: v.id, Reason: why.String()})
	}
	return d.host(v)
}

// force makes v computed.
func (d *Dispatcher) force(v *Value, why Reason) error {
	if v.state == Failed {
		return d.told(v)
	}
	if v.buf == nil {
		if d.mode.PerCell && why != ReasonProgramEnd && why != ReasonCompiledCall {
			why = ReasonGraphBreak
		}
		_ = d.cut(why, false, v) // v's own failure counts, not a neighbour's
		if v.state == Failed {
			return d.told(v)
		}
	}
	return nil
}

// Peek gives the numbers of v if they are known already, without changing anything.
func (d *Dispatcher) Peek(v *Value) (kernel.Array, bool) {
	d.lock()
	defer d.unlock()
	if v.buf == nil || v.state == Failed {
		return kernel.Array{}, false
	}
	a, err := d.host(v)
	return a, err == nil
}

// Sync launches everything queued and waits for the device. It reports the
// first failure among vs; when vs is empty, the first one that the program was
// not told of yet.
func (d *Dispatcher) Sync(vs ...*Value) error {
	d.lock()
	defer d.unlock()
	if d.capturing {
		return &ReadWhileTracingError{Reason: ReasonSync}
	}
	err := d.cut(ReasonSync, false)
	d.finishAll()
	if e := d.catchUp(); err == nil {
		err = e
	}
	d.clock.Wait(d.dev.Chip().SyncNS)
	if len(vs) == 0 {
		if e := d.untold(); err == nil {
			err = e
		}
		return err
	}
	for _, v := range vs {
		if err := d.force(v, ReasonSync); err != nil {
			return err
		}
	}
	return nil
}

// Flush launches everything queued without waiting.
func (d *Dispatcher) Flush(why Reason) error {
	d.lock()
	defer d.unlock()
	return d.cut(why, false)
}

// State says where v is in its life.
func (d *Dispatcher) State(v *Value) State {
	d.lock()
	defer d.unlock()
	if v.state == Ready && v.readyNS > d.clock.HostNS {
		return Pending
	}
	return v.state
}

// Queued is the number of operations in the queue.
func (d *Dispatcher) Queued() int {
	d.lock()
	defer d.unlock()
	return len(d.queue)
}
