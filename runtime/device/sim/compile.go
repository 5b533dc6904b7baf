package sim

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// An executable is a plan and the list of kernel calls. Every value of the
// graph has a slot: inputs first, then the results of the nodes.
type executable struct {
	dev   *Device
	name  string
	plan  device.Plan
	in    []shape.Spec
	steps []step
	outs  []output
	temp  int64 // HBM beside the outputs, during a run

	arrays     []kernel.Array // per slot; dims and strides are set once, Buf by each run
	arena      []int          // per slot: offset of an intermediate, -1 for others
	arenaBytes int64
	donor      []int // per output, scratch of a run
	blocks     []*device.Block
	call       kernel.Call
}

// A step is one node.
type step struct {
	def   *op.Def
	attrs op.Attrs // of the graph compiled; a launch may bring others
	node  int
	in    []int // slots, -1 for an absent operand
	out   int   // first slot of the results
	nout  int
	// view: metadata only and no output, so the result sees the bytes of the operand.
	view  bool
	dense shape.View // of the result of a view, for when it must be copied after all
}

// An output is one result of the graph.
type output struct {
	slot   int
	spec   shape.Spec
	view   shape.View
	bytes  int64 // what the numbers need
	padded int64
	host   int64
	shares int // earlier output of the same slot, or -1
}

// Compile plans a graph. It returns *device.OutOfMemoryError for one that the
// HBM could never hold.
func (d *Device) Compile(g *graph.Graph, level device.Level) (device.Executable, error) {
	x := &executable{dev: d, name: g.Name}
	first := make([]int, len(g.Nodes)) // first slot of a node
	slots := len(g.Inputs)
	for i, n := range g.Inputs {
		if n.Index != i || n.Def != nil || len(n.Outs) != 1 {
			return nil, fmt.Errorf("compile %s: input %d is not well formed", g.Name, i)
		}
		x.in = append(x.in, n.Outs[0])
		x.arrays = append(x.arrays, arrayOf(n.Outs[0]))
	}
	slot := func(r graph.Ref, before int) (int, error) {
		switch {
		case r.Node == nil:
			return -1, nil
		case r.Out < 0 || r.Out >= len(r.Node.Outs):
			return 0, fmt.Errorf("compile %s: a result that node %d does not have", g.Name, r.Node.Index)
		case r.Node.Def == nil:
			if r.Node.Index >= len(g.Inputs) || g.Inputs[r.Node.Index] != r.Node {
				return 0, fmt.Errorf("compile %s: an input of another graph", g.Name)
			}
			return r.Node.Index, nil
		case r.Node.Index >= before || g.Nodes[r.Node.Index] != r.Node:
			return 0, fmt.Errorf("compile %s: node %d is used before it is computed", g.Name, r.Node.Index)
		}
		return first[r.Node.Index] + r.Out, nil
	}
	isOut := map[graph.Ref]bool{}
	for _, r := range g.Outputs {
		isOut[r] = true
	}
	for i, n := range g.Nodes {
		if n.Def == nil || n.Def.Kernel == nil || n.Index != i {
			return nil, fmt.Errorf("compile %s: node %d is not well formed", g.Name, i)
		}
		s := step{def: n.Def, attrs: n.Attrs, node: i, out: slots, nout: len(n.Outs)}
		for _, r := range n.In {
			k, err := slot(r, i)
			if err != nil {
				return nil, err
			}
			s.in = append(s.in, k)
		}
		s.view = n.Def.Has(op.MetadataOnly) && n.Def.View != nil && len(n.Outs) == 1 && len(s.in) > 0 && s.in[0] >= 0 && !isOut[graph.Ref{Node: n}]
		first[i] = slots
		slots += len(n.Outs)
		if s.view {
			s.dense = shape.Dense(n.Outs[0].Dims)
		}
		for _, o := range n.Outs {
			x.arrays = append(x.arrays, arrayOf(o))
		}
		x.steps = append(x.steps, s)
	}
	var args, outs int64
	for _, s := range x.in {
		args = sum(args, paddedBytes(s))
	}
	for i, r := range g.Outputs {
		k, err := slot(r, len(g.Nodes))
		if err != nil || k < 0 {
			return nil, fmt.Errorf("compile %s: output %d is not computed", g.Name, i)
		}
		s := r.Spec()
		o := output{slot: k, spec: s, view: x.arrays[k].View, bytes: logicalBytes(s), padded: paddedBytes(s), host: hostBytes(s), shares: -1}
		for j := range x.outs {
			if x.outs[j].slot == k {
				o.shares = j
				break
			}
		}
		outs = sum(outs, o.padded)
		x.outs = append(x.outs, o)
	}
	x.donor = make([]int, len(x.outs))
	x.blocks = make([]*device.Block, len(x.outs))
	x.placeIntermediates(slots)
	x.plan = plan(&d.chip, g, level)
	x.temp = x.plan.TempBytes
	if len(x.outs) > 1 {
		x.temp += d.chip.TupleTableBytes
	}
	if need := sum(outs, x.temp); need-min(args, outs) > d.hbm.Limit() {
		o := device.Owner{What: g.Name}
		if len(g.Nodes) == 1 {
			o.What, o.Stack = string(g.Nodes[0].Def.Name), g.Nodes[0].Stack
			o.Spec = g.Nodes[0].Outs[0]
		}
		return nil, d.hbm.Exhausted(outs, need, o)
	}
	return x, nil
}

// Plan says what was decided.
func (x *executable) Plan() *device.Plan { return &x.plan }

func arrayOf(s shape.Spec) kernel.Array {
	return kernel.Array{DType: s.DType, View: shape.Dense(s.Dims)}
}

// placeIntermediates gives every result that is no output an offset in the
// arena. Two of them share bytes when no step needs both.
func (x *executable) placeIntermediates(slots int) {
	x.arena = make([]int, slots)
	last := make([]int, slots) // last step that reads the slot
	base := make([]int, slots) // whose bytes a view may see
	for i := range x.arena {
		x.arena[i], last[i], base[i] = -1, -1, i
	}
	for i, s := range x.steps {
		for _, k := range s.in {
			for ; k >= 0; k = base[k] {
				last[k] = i
				if base[k] == k {
					break
				}
			}
		}
		for k := s.out; k < s.out+s.nout; k++ {
			last[k] = i
			if s.view {
				base[k] = s.in[0]
			}
		}
	}
	output := make([]bool, slots)
	for _, o := range x.outs {
		output[o.slot] = true
	}
	// The allocator of the HBM also places in the arena: in granules of one cache line.
	planner := device.NewHBM(math.MaxInt64/64*64, 64, nil, nil)
	ends := make([][]*device.Block, len(x.steps))
	for i, s := range x.steps {
		for k := s.out; k < s.out+s.nout; k++ {
			a := &x.arrays[k]
			n := hostBytes(a.Spec())
			if output[k] || n == 0 || s.view {
				continue
			}
			b, err := planner.Alloc(n, n, device.Owner{})
			if err != nil || b.Addr+b.Size > math.MaxInt/2 {
				x.arenaBytes = math.MaxInt64
				return
			}
			x.arena[k] = int(b.Addr)
			x.arenaBytes = max(x.arenaBytes, b.Addr+b.Size)
			ends[last[k]] = append(ends[last[k]], b)
		}
		for _, b := range ends[i] {
			planner.Free(b)
		}
	}
}
