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
	home   []int // per node: the kernel that writes it, -1 for none
	values map[graph.Ref]*value
	order  []graph.Ref // keys of values in order of appearance
}

// plan decides the kernels of a graph and what they cost.
func plan(chip *device.Chip, g *graph.Graph, level device.Level) device.Plan {
	p := planner{chip: chip, g: g, level: level, values: map[graph.Ref]*value{}, home: make([]int, len(g.Nodes))}
	if level == device.FastRun {
		p.groups = graph.Fuse(g)
	} else {
		p.groups = graph.Alone(g)
	}
	for i := range p.home {
		p.home[i] = -1
	}
	for k, grp := range p.groups {
		for _, i := range grp.Writes {
			p.home[i] = k
		}
	}
	p.trace()
	var out device.Plan
	p.countMemory(&out)
	p.placeValues(&out)
	p.price(&out)
	out.NodeNS = p.shares(&out)
	return out
}

// source follows a reference through views to the value whose bytes they see.
func source(r graph.Ref) graph.Ref {
	for r.Node != nil && graph.IsView(r.Node) {
		r = r.Node.In[0]
	}
	return r
}

// holds says whether kernel k computes r itself.
func (p *planner) holds(k int, r graph.Ref) bool {
	if r.Node.Def == nil {
		return false
	}
	_, ok := slices.BinarySearch(p.groups[k].Nodes, r.Node.Index)
	return ok
}

// trace notes which values cross from one kernel to another.
func (p *planner) trace() {
	note := func(r graph.Ref) *value {
		v := p.values[r]
		if v == nil {
			v = &value{bytes: r.Spec().PaddedBytes(), first: -1, last: -1}
			if r.Node.Def != nil {
				v.first = p.home[r.Node.Index]
			}
			p.values[r] = v
			p.order = append(p.order, r)
		}
		return v
	}
	for k := range p.groups {
		for _, r := range p.operands(k) {
			v := note(source(r))
			v.last = max(v.last, k)
		}
	}
	for _, r := range p.g.Outputs {
		if r.Node != nil {
			note(r).out = true
		}
	}
}

// countMemory adds up the memory at the boundary of the program. The HBM it
// needs in all is arguments + outputs - aliases + temporaries.
func (p *planner) countMemory(out *device.Plan) {
	donated := map[string]int{}
	for i, n := range p.g.Inputs {
		s := n.Outs[0]
		if s.Weak {
			continue // an argument on the host
		}
		out.ArgumentBytes = sum(out.ArgumentBytes, s.PaddedBytes())
		if i < len(p.g.Donated) && p.g.Donated[i] {
			donated[s.String()]++
		}
	}
	for _, r := range p.g.Outputs {
		s := r.Spec()
		out.OutputBytes = sum(out.OutputBytes, s.PaddedBytes())
		if k := s.String(); donated[k] > 0 {
			donated[k]--
			out.AliasBytes = sum(out.AliasBytes, s.PaddedBytes())
		}
	}
	if n := int64(len(p.g.Outputs)); n > 1 {
		out.TableBytes = roundUp(4*n, p.chip.TupleTableBytes)
	}
}

// room is what VMEM has for values beside the running kernel.
func (p *planner) room() int64 { return p.chip.VMEMBytes - p.chip.ScopedVMEMBytes }

// placeValues decides which intermediates stay on chip and how much HBM the others take.
func (p *planner) placeValues(out *device.Plan) {
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
			if p.level == device.FastRun && sum(onChip, v.bytes) <= p.room() && (!p.chip.Megacore || v.bytes < smallVector) {
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
	fetched := map[graph.Ref]bool{} // inputs that are still on chip from an earlier kernel
	for k, grp := range p.groups {
		kern := device.Kernel{Nodes: grp.Nodes, Name: name(p.g, grp.Nodes), Kind: grp.Kind, Why: why(grp.Rule)}
		w := work{unit: op.DMA}
		for _, i := range grp.Nodes {
			w.add(nodeWork(p.chip, p.g.Nodes[i]))
		}
		for _, r := range p.operands(k) {
			s := source(r)
			v := p.values[s]
			if v.place == inVMEM || fetched[s] {
				continue
			}
			n := readBytes(r)
			if reader := p.reader(k, r); reader != nil {
				n = lookedUp(reader, r)
			}
			w.read = sum(w.read, n)
			if p.level == device.FastRun && v.first < 0 && v.last > k && n <= p.room() && !p.chip.Megacore {
				fetched[s] = true
			}
		}
		for _, i := range grp.Writes {
			n := p.g.Nodes[i]
			for o := range n.Outs {
				if v := p.values[graph.Ref{Node: n, Out: o}]; v == nil || v.place == inHBM {
					w.write = sum(w.write, n.Outs[o].PaddedBytes())
				}
			}
		}
		kern.FLOPs, kern.ReadBytes, kern.WriteBytes, kern.Unit = w.flops, w.read, w.write, w.unit
		kern.DurationNS, kern.Bound = w.time(p.chip)
		kern.MXUNS, kern.VectorNS = saturated(w.matmulNS), saturated(w.vectorNS(p.chip))
		kern.HBMNS, kern.SerialNS = saturated(w.memoryNS(p.chip)), saturated(w.serialNS)
		if grp.Kind == "scalar" {
			kern.DurationNS, kern.Bound = 0, "scalar"
		}
		out.Kernels = append(out.Kernels, kern)
		out.DurationNS = min(longestNS, out.DurationNS+kern.DurationNS)
		out.ReadBytes = sum(out.ReadBytes, w.read)
		out.WriteBytes = sum(out.WriteBytes, w.write)
		out.VMEMBytes = max(out.VMEMBytes, min(p.chip.ScopedVMEMBytes, sum(w.read, w.write)))
	}
	out.DurationNS = max(out.DurationNS, p.chip.KernelFloorNS)
	out.SavedBytes = max(0, p.alone(out)-sum(out.ReadBytes, out.WriteBytes))
}

// reader is the only node of kernel k that looks at r, nil when there are several.
func (p *planner) reader(k int, r graph.Ref) *graph.Node {
	var found *graph.Node
	for _, i := range p.groups[k].Nodes {
		n := p.g.Nodes[i]
		if slices.Contains(n.In, r) {
			if found != nil {
				return nil
			}
			found = n
		}
	}
	return found
}

// alone is the traffic of the nodes launched one by one; it counts the useful operations on the way.
func (p *planner) alone(out *device.Plan) int64 {
	var bytes int64
	for i, n := range p.g.Nodes {
		if graph.IsView(n) {
			if p.home[i] >= 0 { // copied, because it is an output
				bytes = sum(bytes, sum(readBytes(n.In[0]), n.Outs[0].PaddedBytes()))
			}
			continue
		}
		seen := map[graph.Ref]bool{}
		for _, r := range n.In {
			if r.Node != nil && !seen[source(r)] {
				seen[source(r)] = true
				bytes = sum(bytes, lookedUp(n, r))
			}
		}
		for _, s := range n.Outs {
			bytes = sum(bytes, s.PaddedBytes())
		}
		out.FLOPs += nodeWork(p.chip, n).flops
	}
	return bytes
}

// why spells a fusion rule out.
func why(id string) string {
	if r, ok := graph.LookupFusionRule(id); ok {
		return r.ID + ": " + r.Sentence
	}
	return id
}

// operands lists the distinct values that kernel k takes from outside, each as
// it is seen; of several sights of one value the largest.
func (p *planner) operands(k int) []graph.Ref {
	var all []graph.Ref
	seen := map[graph.Ref]int{}
	for _, i := range p.groups[k].Nodes {
		n := p.g.Nodes[i]
		if graph.IsView(n) && p.home[i] < 0 {
			continue // its user reads
		}
		for _, r := range n.In {
			if r.Node == nil {
				continue
			}
			s := source(r)
			if p.holds(k, s) {
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
// A number given by the program is an argument and reads nothing.
func readBytes(r graph.Ref) int64 {
	if r.Spec().Weak {
		return 0
	}
	return min(r.Spec().PaddedBytes(), source(r).Spec().PaddedBytes())
}

// name joins the names of the nodes: matmul+add+relu.
func name(g *graph.Graph, nodes []int) string {
	var parts []string
	for _, i := range nodes {
		if !graph.IsView(g.Nodes[i]) {
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
