package exec

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/trace"
)

// parts says for the trace which lines of the program a launch ran and how
// much of its time is whose. A launch of one op needs none.
func parts(r *region, plan *device.Plan) []trace.Part {
	if len(r.nodes) < 2 {
		return nil
	}
	var shift uint64
	if r.known != nil {
		shift = r.known.shift
	}
	list := make([]trace.Part, 0, len(r.nodes))
	for i, n := range r.nodes {
		if n.info.meta {
			continue // views take no time of their own
		}
		p := trace.Part{Stack: n.stack, Op: n.opn + shift, Name: string(n.def.Name)}
		if i < len(plan.NodeNS) {
			p.Weight = plan.NodeNS[i]
		}
		list = append(list, p)
	}
	return list
}
