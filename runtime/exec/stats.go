package exec

import (
	"fmt"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// Stats count what a dispatcher did.
type Stats struct {
	Ops         int64
	Launches    int64
	GraphBreaks int64
	Replays     int64 // launches of a compiled function that did not run for it
	DeviceNS    int64 // simulated TPU time of all launches
	HostNS      int64 // host time spent in kernels, measured while tracing is on
	SavedBytes  int64 // HBM traffic that fusion avoided
}

// Stats gives the counters.
func (d *Dispatcher) Stats() Stats {
	d.lock()
	defer d.mu.Unlock()
	return d.stats
}

// A Group is one launch: the operations of a region, why it was cut, what it cost.
type Group struct {
	Number  int64
	Cell    int
	Mode    string
	Reason  Reason
	CutAt   *trace.Stack // where the program was when it was cut
	Name    string
	Ops     []GroupOp
	Plan    *device.Plan
	Graph   *graph.Graph // as it was compiled
	Hit     bool         // found in the cache
	StartNS int64
	HostNS  int64
	RealNS  int64 // measured by a real device, 0 when nothing was
	// Collectives are what the devices of a mesh told each other.
	Collectives []device.Collective
	InputSpecs  []shape.Spec
	OutSpecs    []shape.Spec
}

// A GroupOp is one operation of a group.
type GroupOp struct {
	Name  string
	OpN   uint64
	Spec  shape.Spec
	Stack *trace.Stack
}

// keptGroups is how many launches are remembered for display.
const keptGroups = 1024

// A groupRing keeps the last launches, reusing their slices. What a program of
// the cache says itself (names, types) is not copied: a launch is frequent, a
// look at it is not.
type groupRing struct {
	ring []launched
	next int
}

type launched struct {
	number  int64
	entry   *entry
	mode    *Mode
	cutAt   *trace.Stack
	startNS int64
	hostNS  int64
	opn     uint64 // of an operation launched alone
	cell    int32
	reason  Reason
	hit     bool
	alone   bool
	region  *launchedRegion // nothing of it counts for an operation launched alone
}

// A launchedRegion is the rest of a launch of more than one operation.
type launchedRegion struct {
	realNS int64
	talk   []device.Collective
	ops    []launchedOp
	// Of a program launched again: what was recorded, and what to add to its numbers.
	recorded []launchedOp
	shift    uint64
}

type launchedOp struct {
	opn   uint64
	stack *trace.Stack
}

func (g *groupRing) add(d *Dispatcher, r *region, e *entry, hit bool, why Reason, start, hostNS int64, l *device.Launch) {
	x := g.begin(d, e, d.where(r.nodes[len(r.nodes)-1]))
	x.reason, x.hit, x.alone, x.startNS, x.hostNS = why, hit, false, start, hostNS
	if x.region == nil {
		x.region = &launchedRegion{}
	}
	y := x.region
	y.realNS, y.talk = 0, nil
	if l != nil {
		y.realNS, y.talk = l.RealNS, l.Collectives
	}
	y.ops, y.recorded, y.shift = y.ops[:0], nil, 0
	if r.known != nil {
		y.recorded, y.shift = r.known.ops, r.known.shift
		return
	}
	for _, n := range r.nodes {
		y.ops = append(y.ops, launchedOp{n.opn, n.stack})
	}
}

// addSingle is add for an operation launched alone that was found in the cache.
func (g *groupRing) addSingle(d *Dispatcher, opn uint64, at *trace.Stack, e *entry, start int64) {
	x := g.begin(d, e, at)
	x.reason, x.hit, x.alone, x.startNS, x.hostNS, x.opn = ReasonEveryOp, true, true, start, 0, opn
}

// addTurn is add for a turn of a streak, with its results.
func (g *groupRing) addTurn(d *Dispatcher, e *entry, start int64, outs []*Value) {
	x := g.begin(d, e, nil)
	x.reason, x.hit, x.alone, x.startNS, x.hostNS = ReasonLoop, true, false, start, 0
	if x.region == nil {
		x.region = &launchedRegion{}
	}
	y := x.region
	y.realNS, y.talk, y.ops, y.recorded, y.shift = 0, nil, y.ops[:0], nil, 0
	for _, v := range outs {
		y.ops = append(y.ops, launchedOp{v.opn, nil})
	}
}

// took notes how long the last launch took on the host.
func (g *groupRing) took(hostNS int64) { g.ring[(g.next-1)%keptGroups].hostNS = hostNS }

// begin makes room for a launch.
func (g *groupRing) begin(d *Dispatcher, e *entry, at *trace.Stack) *launched {
	if g.ring == nil {
		g.ring = make([]launched, keptGroups)
	}
	x := &g.ring[g.next%keptGroups]
	g.next++
	x.number, x.cell = d.stats.Launches, int32(d.cell)
	if x.mode != d.mode { // writing pointers costs more than comparing them
		x.mode = d.mode
	}
	if x.entry != e {
		x.entry = e
	}
	if x.cutAt != at {
		x.cutAt = at
	}
	return x
}

// group completes a launch for display.
func (x *launched) group() Group {
	g := x.entry.graph
	out := Group{Number: x.number, Cell: int(x.cell), Mode: x.mode.Name, Reason: x.reason, CutAt: x.cutAt, Name: g.Name,
		Plan: x.entry.exe.Plan(), Graph: g, Hit: x.hit, StartNS: x.startNS, HostNS: x.hostNS, InputSpecs: g.Params()}
	ops, shift := []launchedOp{{x.opn, x.cutAt}}, uint64(0)
	if !x.alone {
		y := x.region
		out.RealNS, out.Collectives = y.realNS, y.talk
		if ops = y.ops; y.recorded != nil {
			ops, shift = y.recorded, y.shift
		}
	}
	for i, o := range ops {
		n := g.Nodes[i]
		out.Ops = append(out.Ops, GroupOp{string(n.Def.Name), o.opn + shift, n.Outs[0], o.stack})
	}
	for _, r := range g.Outputs {
		out.OutSpecs = append(out.OutSpecs, r.Spec())
	}
	return out
}

// Groups gives the last launches, oldest first.
func (d *Dispatcher) Groups() []Group {
	d.lock()
	defer d.mu.Unlock()
	g := &d.groups
	var list []Group
	for i := max(0, g.next-keptGroups); i < g.next; i++ {
		list = append(list, g.ring[i%keptGroups].group())
	}
	return list
}

// A CacheOnlyError says that a program was not in the cache and may not be compiled.
type CacheOnlyError struct{ Key Key }

// Error names the key.
func (e *CacheOnlyError) Error() string {
	return fmt.Sprintf("compile: %v is not in the cache and compiling is switched off", e.Key)
}

// SetCacheOnly makes a cache miss an error.
func (d *Dispatcher) SetCacheOnly(on bool) { d.cache.onlyHits = on }

// missReason says why a program had to be compiled: what differs from the
// latest program of the same operations.
func missReason(old, e *entry) string {
	if old == nil {
		return "new program"
	}
	for i := range e.dims {
		if i < len(old.dims) && !shape.EqualDims(old.dims[i], e.dims[i]) {
			return fmt.Sprintf("input %d changed from %s to %s", i, shape.FormatDims(old.dims[i]), shape.FormatDims(e.dims[i]))
		}
	}
	if old.key.Options != e.key.Options {
		return "compile options changed"
	}
	return "sizes inside the program changed"
}
