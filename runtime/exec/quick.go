package exec

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
)

// A quick is the short way to launch a program again whose results are small, or
// one: as launchSite, for a region.
type quick struct {
	entry *entry
	one   device.SingleRunner  // of a program of one operation
	run   device.SeveralRunner // of others; nil: the program has no shorter way
	kinds []device.Kind        // of the results as owners
	costs
	single  device.Single
	several device.Several
}

// costs are what a launch of a program books on the clock and in the figures.
type costs struct{ durationNS, savedBytes, issueNS, syncNS int64 }

// costsOf gives the costs of an executable on a chip.
func costsOf(exe device.Executable, chip *device.Chip) costs {
	p := exe.Plan()
	return costs{p.DurationNS, p.SavedBytes, chip.HostIssueNS, chip.SyncNS}
}

// prepare makes q the short way of a program that has left outs behind.
func (q *quick) prepare(d *Dispatcher, e *entry, outs []*Value) {
	*q = quick{entry: e, costs: costsOf(e.exe, d.dev.Chip())}
	if x, ok := e.exe.(device.SingleRunner); ok && x.Singly() {
		q.one = x
	} else if x, ok := e.exe.(device.SeveralRunner); ok && x.Severally() {
		q.run = x
	}
	q.kinds, q.several.Out = make([]device.Kind, len(outs)), make([]device.Result, len(outs))
	for i, o := range outs {
		q.kinds[i] = device.Kind{What: o.name(), Spec: &o.typ.Spec}
		q.several.Out[i].Kind = &q.kinds[i]
	}
}

// launch launches a region of the program whose results lie in slabs, when nobody
// watches. When it gives false nothing has happened.
func (q *quick) launch(d *Dispatcher, r *region, why Reason) bool {
	if q.one == nil && q.run == nil || d.mode.Wait || d.watched() || d.past.ring != nil || slices.Contains(r.donate, true) {
		return false
	}
	for _, o := range r.outs {
		if o.husk == nil {
			return false
		}
	}
	in := q.several.In[:0]
	for _, v := range r.inputs {
		if v.state != Ready && v.state != Constant {
			return false
		}
		in = append(in, v.buf)
	}
	q.several.In = in
	ok := false
	if q.one != nil {
		ok = q.runOne(r, d.stats.Launches+1)
	} else {
		ok = q.runSeveral(r, d.stats.Launches+1)
	}
	clear(in)
	if !ok {
		return false
	}
	start := d.book(q.entry, &q.costs)
	for i, o := range r.outs {
		b := &q.several.Out[i].Buffer
		o.buf, o.state, o.node, o.readyNS = *b, Ready, nil, d.clock.DeviceNS
		*b = nil
	}
	d.groups.add(d, r, q.entry, true, why, start, 0, nil)
	return true
}

// runOne runs a program of one operation.
func (q *quick) runOne(r *region, number int64) (ok bool) {
	o, l := r.outs[0], &q.single
	l.In, l.Attrs, l.Late = q.several.In, r.attrs(0), true
	l.Tenant.Kind, l.Tenant.Value, l.Tenant.Op, l.Tenant.Launch = &q.kinds[0], o.id, o.opn, int(number)
	l.Shelf, l.At = o.husk.shelf, int(o.slot)
	q.several.Out[0].Buffer, ok = q.one.RunSingle(l)
	return ok
}

// runSeveral runs a program of several small results.
func (q *quick) runSeveral(r *region, number int64) bool {
	l := &q.several
	l.Attrs = l.Attrs[:0]
	for i := range r.nodes {
		l.Attrs = append(l.Attrs, r.attrs(i))
	}
	for i, o := range r.outs {
		t := &l.Out[i]
		t.Value, t.Op, t.Launch, t.At = o.id, o.opn, int(number), int(o.slot)
		if t.Shelf != o.husk.shelf { // writing pointers costs more than comparing them
			t.Shelf = o.husk.shelf
		}
	}
	return q.run.RunSeveral(l)
}

// book counts one more launch of a program that was found in the cache, and gives
// when it starts.
func (d *Dispatcher) book(e *entry, c *costs) (startNS int64) {
	d.cache.requests++
	d.cache.hits++
	d.stats.Launches++
	e.reads++
	e.usedAt = d.stats.Launches
	d.stats.DeviceNS += c.durationNS
	d.stats.SavedBytes += c.savedBytes
	startNS = d.clock.Launch(c.issueNS, c.durationNS)
	if d.mode.Wait {
		d.clock.Wait(c.syncNS)
	}
	return startNS
}
