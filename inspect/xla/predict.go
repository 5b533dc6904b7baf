package xla

import (
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/trace"
)

// scalarKernel is the kind of kernels that cost nothing.
const scalarKernel = "scalar"

// Predict plans a graph for a chip with the simulator's compiler. limit is the
// HBM that the program may take, 0 for the chip's.
func Predict(g *graph.Graph, chip *device.Chip, limit int64) *Predicted {
	if limit == 0 {
		limit = chip.HBMBytes
	}
	out := &Predicted{Kernels: []PredictedKernel{}, Limit: limit}
	dev := sim.New(chip, sim.Options{})
	defer dev.Close()
	x, err := dev.Compile(g, device.FastRun)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	p := x.Plan()
	out.TimeNS, out.FLOPs, out.Bytes, out.VMEM = p.DurationNS, p.FLOPs, p.ReadBytes+p.WriteBytes, p.VMEMBytes
	out.Arguments, out.Outputs, out.Alias, out.Temp = p.ArgumentBytes, p.OutputBytes+p.TableBytes, p.AliasBytes, p.TempBytes
	out.HBM = out.Arguments + out.Outputs - out.Alias + out.Temp
	out.Fits = out.HBM <= out.Limit
	at := placesOf(g)
	for i := range p.Kernels {
		k := &p.Kernels[i]
		row := PredictedKernel{Name: k.Name, NS: k.DurationNS, FLOPs: k.FLOPs, Bytes: k.ReadBytes + k.WriteBytes, Unit: k.Unit.String(), Bound: k.Bound, Why: k.Why}
		if k.Kind == scalarKernel {
			row.Unit = scalarKernel
		}
		var frames []trace.Frame
		for _, n := range k.Nodes {
			row.OpNs = append(row.OpNs, g.Nodes[n].Op)
			row.Ops = append(row.Ops, at.opText(n))
			frames = append(frames, at.frame(n))
		}
		row.Where = whereOf(frames)
		out.Kernels = append(out.Kernels, row)
	}
	return out
}

// kernelsOf gives the kernels of a prediction that hold an operation.
func (p *Predicted) kernelsOf(op uint64) []int {
	var all []int
	for i := range p.Kernels {
		if slices.Contains(p.Kernels[i].OpNs, op) {
			all = append(all, i)
		}
	}
	return all
}
