package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// smallVector is what a chip of two cores keeps on chip between kernels: its
// cores do not share their VMEM, and in compiled programs nearly every larger
// intermediate stays in HBM.
const smallVector = 64 << 10

// A place is where a value lives between kernels.
type place uint8

const (
	inHBM  place = iota
	inVMEM       // kept on chip: no HBM, no traffic
)

// A value is one input or result that crosses kernels.
type value struct {
	bytes int64 // padded
	first int   // kernel that makes it, -1 for an input
	last  int   // last kernel that reads it
	place place
	out   bool
}

// A planner turns groups of nodes into kernels.
type planner struct {
	chip   *device.Chip
	g      *graph.Graph
	groups []graph.Group
	level  device.Level
	group  []int // per node
	values map[graph.Ref]*value
	order  []graph.Ref // keys of values in order of appearance
}

// plan decides the kernels of a graph and what they cost.
func plan(chip *device.Chip, g *graph.Graph, level device.Level) device.Plan {
	p := planner{chip: chip, g: g, level: level, values: map[graph.Ref]*value{}, group: make([]int, len(g.Nodes))}
	if level == device.FastRun {
		p.groups = graph.Fuse(g)
	} else {
		p.groups = graph.Alone(g)
	}
	for k, grp := range p.groups {
		for _, i := range grp.Nodes {
			p.group[i] = k
		}
	}
	p.trace()
	var out device.Plan
	p.placeValues(&out)
	p.price(&out)
	return out
}

// source follows a reference through the nodes that only change metadata to
// the value whose bytes they see.
func source(r graph.Ref) graph.Ref {
	for r.Node != nil && r.Node.Def != nil && r.Node.Def.Has(op.MetadataOnly) && len(r.Node.In) > 0 && r.Node.In[0].Node != nil {
		r = r.Node.In[0]
	}
	return r
}

// trace notes which values cross from one kernel to another.
func (p *planner) trace() {
	note := func(r graph.Ref) *value {
		v := p.values[r]
		if v == nil {
			v = &value{bytes: r.Spec().PaddedBytes(), first: -1, last: -1}
			if r.Node.Def != nil {
				v.first = p.group[r.Node.Index]
			}
			p.values[r] = v
			p.order = append(p.order, r)
		}
		return v
	}
	for i, n := range p.g.Nodes {
		k := p.group[i]
		for _, r := range n.In {
			if r.Node == nil {
				continue
			}
			s := source(r)
			if s.Node.Def == nil || p.group[s.Node.Index] != k {
				v := note(s)
				v.last = max(v.last, k)
			}
		}
	}
	for _, r := range p.g.Outputs {
		if r.Node != nil {
			note(r).out = true
		}
	}
}

// placeValues decides which intermediates stay on chip and how much HBM the others take.
func (p *planner) placeValues(out *device.Plan) {
	room := p.chip.VMEMBytes - p.chip.ScopedVMEMBytes
	starts := make([][]*value, len(p.groups))
	ends := make([][]*value, len(p.groups))
	for _, r := range p.order {
		if v := p.values[r]; v.first >= 0 && !v.out {
			starts[v.first] = append(starts[v.first], v)
			ends[max(v.last, v.first)] = append(ends[max(v.last, v.first)], v)
		}
	}
	var onChip, temp int64
	for k := range p.groups {
		for _, v := range starts[k] {
			if p.level == device.FastRun && onChip+v.bytes <= room && (!p.chip.Megacore || v.bytes < smallVector) {
				v.place = inVMEM
				onChip += v.bytes
			} else {
				temp = sum(temp, v.bytes)
			}
		}
		out.VMEMBytes = max(out.VMEMBytes, onChip)
		out.TempBytes = max(out.TempBytes, temp)
		for _, v := range ends[k] {
			if v.place == inVMEM {
				onChip -= v.bytes
			} else {
				temp -= min(temp, v.bytes)
			}
		}
	}
}

// price adds up what each kernel costs, and what the nodes would cost one by one.
func (p *planner) price(out *device.Plan) {
	fetched := map[graph.Ref]bool{} // inputs that were prefetched and are still on chip
	var alone int64
	for k, grp := range p.groups {
		kern := device.Kernel{Nodes: grp.Nodes, Name: name(p.g, grp.Nodes), Why: grp.Rule}
		var w work
		elements := 1
		for _, i := range grp.Nodes {
			n := p.g.Nodes[i]
			nw := nodeWork(p.chip, n)
			w.add(nw)
			for _, s := range n.Outs {
				elements = max(elements, s.Size())
			}
			alone = sum(alone, sum(nw.read, nw.write))
		}
		w.read, w.write = 0, 0
		for _, r := range p.reads(k) {
			v := p.values[source(r)]
			if v.place == inVMEM || fetched[source(r)] {
				continue
			}
			n := readBytes(r)
			w.read = sum(w.read, n)
			if p.level == device.FastRun && v.first < 0 && v.last > k && n <= p.chip.VMEMBytes-p.chip.ScopedVMEMBytes && !p.chip.Megacore {
				fetched[source(r)] = true
			}
		}
		for _, i := range grp.Nodes {
			n := p.g.Nodes[i]
			for o := range n.Outs {
				if v := p.values[graph.Ref{Node: n, Out: o}]; v != nil && v.place == inHBM {
					w.write = sum(w.write, v.bytes)
				}
			}
		}
		kern.FLOPs, kern.ReadBytes, kern.WriteBytes, kern.Unit = w.flops, w.read, w.write, w.unit
		kern.DurationNS, kern.Bound = w.time(p.chip)
		if elements == 1 && len(p.groups) > 1 && p.level == device.FastRun {
			kern.DurationNS, kern.Bound = 0, "scalar"
		}
		out.Kernels = append(out.Kernels, kern)
		out.DurationNS += kern.DurationNS
		out.FLOPs += w.flops
		out.ReadBytes = sum(out.ReadBytes, w.read)
		out.WriteBytes = sum(out.WriteBytes, w.write)
		out.VMEMBytes = max(out.VMEMBytes, min(p.chip.ScopedVMEMBytes, sum(w.read, w.write)))
	}
	out.DurationNS = max(out.DurationNS, p.chip.KernelFloorNS)
	out.SavedBytes = max(0, alone-sum(out.ReadBytes, out.WriteBytes))
}

// reads lists the distinct values that kernel k takes from outside, each as it is seen.
func (p *planner) reads(k int) []graph.Ref {
	var all []graph.Ref
	seen := map[graph.Ref]int{}
	for _, i := range p.groups[k].Nodes {
		n := p.g.Nodes[i]
		if n.Def.Has(op.MetadataOnly) && p.values[graph.Ref{Node: n}] == nil {
			continue // its user reads
		}
		for _, r := range n.In {
			if r.Node == nil {
				continue
			}
			s := source(r)
			if s.Node.Def != nil && p.group[s.Node.Index] == k {
				continue
			}
			if at, ok := seen[s]; !ok {
				seen[s] = len(all)
				all = append(all, r)
			} else if readBytes(r) > readBytes(all[at]) {
				all[at] = r
			}
		}
	}
	return all
}

// readBytes is what reading r moves: a view that selects less than its
// storage reads only that, a broadcast reads only the storage.
func readBytes(r graph.Ref) int64 {
	return min(r.Spec().PaddedBytes(), source(r).Spec().PaddedBytes())
}

// name joins the names of the nodes: matmul+add+relu.
func name(g *graph.Graph, nodes []int) string {
	var parts []string
	for _, i := range nodes {
		if !g.Nodes[i].Def.Has(op.MetadataOnly) {
			parts = append(parts, string(g.Nodes[i].Def.Name))
		}
	}
	if len(parts) == 0 {
		for _, i := range nodes {
			parts = append(parts, string(g.Nodes[i].Def.Name))
		}
	}
	if n := len(parts); n > 6 {
		parts = append(slices.Clone(parts[:5]), fmt.Sprintf("%d more", n-5))
	}
	return strings.Join(parts, "+")
}

// specs gives the types of references, the zero Spec for absent ones.
func specs(in []graph.Ref) []shape.Spec {
	s := make([]shape.Spec, len(in))
	for i, r := range in {
		s[i] = r.Spec()
	}
	return s
}
