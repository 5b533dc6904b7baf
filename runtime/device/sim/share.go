package sim

import (
	"math/bits"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
)

// shares divides the time of a plan among the nodes: each kernel's time in
// proportion to what its nodes would take alone beyond the launch floor, and
// what the launch floor adds to the whole in proportion to the kernels. Views
// get nothing unless there is nothing else.
func (p *planner) shares(out *device.Plan) []int64 {
	alone := make([]int64, len(p.g.Nodes))
	for i, n := range p.g.Nodes {
		if graph.IsView(n) {
			continue
		}
		w := nodeWork(p.chip, n)
		for _, r := range n.In {
			if r.Node != nil {
				w.read = sum(w.read, readBytes(r))
			}
		}
		for _, s := range n.Outs {
			w.write = sum(w.write, s.PaddedBytes())
		}
		ns, _ := w.time(p.chip)
		alone[i] = max(1, ns-p.chip.KernelFloorNS)
	}
	ns := make([]int64, len(p.g.Nodes))
	for _, k := range out.Kernels {
		weights := make([]int64, len(k.Nodes))
		for j, i := range k.Nodes {
			weights[j] = alone[i]
		}
		for j, part := range divide(k.DurationNS, weights) {
			ns[k.Nodes[j]] += part
		}
	}
	var given int64
	for _, n := range ns {
		given += n
	}
	weights := ns
	if given == 0 {
		weights = alone
	}
	for i, part := range divide(out.DurationNS-given, weights) {
		ns[i] += part
	}
	return ns
}

// divide splits total into parts in proportion to weights, equal parts when all
// are 0. The parts add up to total exactly; no weights give no parts.
func divide(total int64, weights []int64) []int64 {
	var all uint64
	for _, w := range weights {
		all += uint64(w)
	}
	parts := make([]int64, len(weights))
	var running uint64
	var done int64
	for i, w := range weights {
		at, of := uint64(i+1), uint64(len(weights))
		if all > 0 {
			running += uint64(w)
			at, of = running, all
		}
		hi, lo := bits.Mul64(uint64(max(total, 0)), at)
		q, _ := bits.Div64(hi, lo, of)
		parts[i] = int64(q) - done
		done = int64(q)
	}
	return parts
}
