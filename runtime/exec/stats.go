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
	DeviceNS    int64 // simulated TPU time of all launches
	HostNS      int64 // host time spent in kernels, measured while tracing is on
	SavedBytes  int64 // HBM traffic that fusion avoided
}

// Stats gives the counters.
func (d *Dispatcher) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stats
}

// A Group is one launch: the operations of a region, why it was cut, what it cost.
type Group struct {
	Number     int64
	Cell       int
	Mode       string
	Reason     Reason
	CutAt      *trace.Stack // where the program was when it was cut
	Name       string
	Ops        []GroupOp
	Plan       *device.Plan
	Graph      *graph.Graph // as it was compiled
	Hit        bool         // found in the cache
	StartNS    int64
	HostNS     int64
	InputSpecs []shape.Spec
	OutSpecs   []shape.Spec
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

// A groupRing keeps the last launches, reusing their slices.
type groupRing struct {
	ring []Group
	next int
}

func (g *groupRing) add(d *Dispatcher, r *region, e *entry, hit bool, why Reason, start, hostNS int64) {
	if g.ring == nil {
		g.ring = make([]Group, keptGroups)
	}
	x := &g.ring[g.next%keptGroups]
	g.next++
	last := r.nodes[len(r.nodes)-1]
	x.Number, x.Cell, x.Mode, x.Reason, x.CutAt, x.Name, x.Plan, x.Graph, x.Hit, x.StartNS, x.HostNS = d.stats.Launches, d.cell, d.mode.Name, why, d.where(last), e.graph.Name, e.exe.Plan(), e.graph, hit, start, hostNS
	x.Ops, x.InputSpecs, x.OutSpecs = x.Ops[:0], x.InputSpecs[:0], x.OutSpecs[:0]
	for _, n := range r.nodes {
		x.Ops = append(x.Ops, GroupOp{string(n.def.Name), n.opn, n.outs[0].spec, n.stack})
	}
	for _, v := range r.inputs {
		x.InputSpecs = append(x.InputSpecs, v.spec)
	}
	for _, v := range r.outs {
		x.OutSpecs = append(x.OutSpecs, v.spec)
	}
}

// Groups gives the last launches, oldest first.
func (d *Dispatcher) Groups() []Group {
	d.mu.Lock()
	defer d.mu.Unlock()
	g := &d.groups
	var list []Group
	for i := max(0, g.next-keptGroups); i < g.next; i++ {
		x := g.ring[i%keptGroups]
		x.Ops = append([]GroupOp(nil), x.Ops...)
		x.InputSpecs = append([]shape.Spec(nil), x.InputSpecs...)
		x.OutSpecs = append([]shape.Spec(nil), x.OutSpecs...)
		list = append(list, x)
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
