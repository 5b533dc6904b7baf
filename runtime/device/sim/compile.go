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
// graph has a slot: inputs first, then the results of the nodes. What does not
// change between runs is made once; a run fills in the bytes.
type executable struct {
	dev   *Device
	name  string
	plan  device.Plan
	in    []shape.Spec
	steps []step
	outs  []output
	temp  int64 // HBM beside the outputs, during a run

	arrays     []kernel.Array // per slot; Buf is nil between runs
	splat      []bool         // per slot: one element seen everywhere
	arena      []int          // per slot: offset of an intermediate, -1 for others
	arenaBytes int64

	donate   []bool          // per input: what pair was made for
	pair     []int           // per output: the donated input that may give its HBM, or -1
	replaces []bool          // per output: it may be computed in the bytes of that input
	spent    []bool          // per input: what spare was made for
	spare    []int           // per output: the spent input in whose bytes it may be computed, or -1
	padded   []int64         // per input
	donor    []int           // per output, scratch of a run: input whose HBM it gets, or -1
	blocks   []*device.Block // per output, scratch of a run
	call     kernel.Call
	launched []op.Attrs      // attributes of the nodes, during a run
	ran      bool            // once, without an error
	single   []step          // the steps before they are fused, when all are small
	forms    []form          // per step, of those
	waits    bool            // the results of single may wait
	linked   bool            // one of them reads another
	results  []device.Result // scratch of wait
	feeds    []device.Buffer // scratch of RunRepeat
	sizes    []device.Size   // of the results, for RunRepeat
	pattern  *pattern        // of its turns, once they were computed as one program
	kinds    []device.Kind
	singly   singly // of a program that runs singly
	uneven   bool   // during a run: inputs are held as one element, so that views differ
	graph    *graph.Graph
	places   bool    // puts something on a mesh
	mesh     *meshed // how it was cut last
}

// How a step makes its results.
const (
	compute  = iota // the kernel
	alias           // a view that is the same in every run: the bytes of the operand
	lateView        // a view that depends on attributes of the launch
	constant        // the kernel for one element, which the result sees everywhere
	fused           // one program for several nodes
)

// A step is one node.
type step struct {
	def   *op.Def
	attrs op.Attrs // of the graph compiled; a launch may bring others
	node  int
	how   int
	in    []int      // slots, -1 for an absent operand
	first int        // first slot of the results
	late  bool       // views of operands differ between runs
	view  shape.View // of an alias
	splat bool       // an alias of a constant of the graph
	ins   []kernel.Array
	outs  []kernel.Array
	memo  kernel.Memo  // of runs in which no view differs
	quick quick        // of an elementwise step
	types []shape.Spec // of the operands, of a step whose result may wait
	group *group       // of a fused step
}

// An output is one result of the graph.
type output struct {
	form
	slot int
	owns bool // makes the bytes: neither an input nor an earlier output, nor a large constant
}

// asStrided addresses the elements of its operand directly, not through the
// operand's strides. Such a row is no view of a strided intermediate.
const asStrided op.Name = "as_strided"

// Compile plans a graph. It returns *graph.BrokenError for a malformed one and
// *device.OutOfMemoryError for one that the HBM could never hold.
func (d *Device) Compile(g *graph.Graph, level device.Level) (device.Executable, error) {
	if err := graph.Check(g); err != nil {
		return nil, err
	}
	x := &executable{dev: d, name: g.Name, graph: g, places: places(g)}
	first := make([]int, len(g.Nodes)) // first slot of a node
	slot := func(r graph.Ref) int {
		switch {
		case r.Node == nil:
			return -1
		case r.Node.Def == nil:
			return r.Node.Index
		}
		return first[r.Node.Index] + r.Out
	}
	for _, n := range g.Inputs {
		x.in = append(x.in, n.Outs[0])
		x.padded = append(x.padded, n.Outs[0].PaddedBytes())
		x.addSlot(n.Outs[0])
	}
	for i, n := range g.Nodes {
		if n.Def.Kernel == nil {
			return nil, &graph.BrokenError{Node: i, Op: string(n.Def.Name), Why: "no kernel"}
		}
		first[i] = len(x.arrays)
		for _, o := range n.Outs {
			// A view may claim more elements than any memory holds; a kernel that
			// gathers them would end the process.
			if b := hostBytes(o); n.Def.Has(op.MetadataOnly) && b > d.host.limit {
				return nil, &device.HostMemoryError{What: string(n.Def.Name), RequestedBytes: b, UsedBytes: d.host.heap(), LimitBytes: d.host.limit}
			}
			x.addSlot(o)
		}
		if n.Def.Name == op.Full && len(n.Outs) == 1 && hostBytes(n.Outs[0]) >= constantBytes {
			x.spread(first[i])
		}
	}
	isOut := make([]bool, len(x.arrays))
	for _, r := range g.Outputs {
		k := slot(r)
		x.outs = append(x.outs, output{form: newForm(d, r.Spec()), slot: k, owns: k >= len(x.in) && !isOut[k] && !x.splat[k]})
		isOut[k] = true
	}
	late := make([]bool, len(x.arrays))
	for i, n := range g.Nodes {
		s := step{def: n.Def, attrs: n.Attrs, node: i, first: first[i]}
		for _, r := range n.In {
			k := slot(r)
			s.in = append(s.in, k)
			s.late = s.late || k >= 0 && late[k]
		}
		x.chooseView(&s, n, isOut[first[i]:])
		if s.how == lateView {
			late[s.first] = true
		}
		s.late = s.late || n.Def.Name == asStrided
		for _, k := range s.in {
			var a kernel.Array
			if k >= 0 {
				a = x.arrays[k]
			}
			s.ins = append(s.ins, a)
		}
		s.outs = append(s.outs, x.arrays[s.first:s.first+len(n.Outs)]...)
		if s.how == constant {
			s.outs[0] = kernel.Array{DType: n.Outs[0].DType, View: shape.Dense(nil)}
		}
		x.steps = append(x.steps, s)
	}
	x.donor = make([]int, len(x.outs))
	x.pair = make([]int, len(x.outs))
	x.replaces = make([]bool, len(x.outs))
	for i := range x.outs {
		x.donor[i], x.pair[i] = -1, -1
	}
	x.blocks = make([]*device.Block, len(x.outs))
	x.prepareSeveral()
	x.fuse(g, isOut)
	x.placeIntermediates(isOut)
	x.plan = plan(&d.chip, g, level)
	x.temp = sum(x.plan.TempBytes, x.plan.TableBytes)
	return x, x.checkFits(g)
}

// Plan says what was decided.
func (x *executable) Plan() *device.Plan { return &x.plan }

func (x *executable) addSlot(s shape.Spec) {
	x.arrays = append(x.arrays, kernel.Array{DType: s.DType, View: shape.Dense(s.Dims)})
	x.splat = append(x.splat, false)
}

// spread makes the value of a slot one element that is seen everywhere.
func (x *executable) spread(slot int) {
	a := &x.arrays[slot]
	a.View = shape.View{Dims: a.Dims, Strides: make([]int, len(a.Dims))}
	x.splat[slot] = true
}

// constantBytes is the size from which a constant is held as one element.
const constantBytes = 64 << 10

// chooseView finds out whether a node can be done by looking at its operand's
// bytes in another way. Outputs are always dense, hence computed.
func (x *executable) chooseView(s *step, n *graph.Node, isOut []bool) {
	if x.splat[s.first] {
		s.how = constant
		return
	}
	if !graph.IsView(n) || n.Def.View == nil || len(n.Outs) != 1 || isOut[0] || len(s.in) == 0 || s.in[0] < 0 {
		return
	}
	for _, p := range n.Def.Attributes() {
		if p.Dynamic {
			s.how = lateView
			return
		}
	}
	if s.late {
		s.how = lateView
		return
	}
	if x.splat[s.in[0]] {
		s.how, s.splat = alias, true
		x.spread(s.first)
		s.view = x.arrays[s.first].View
		return
	}
	from := x.arrays[s.in[0]]
	if v, ok := viewOf(n.Def, from, n.Attrs); ok && from.DType == n.Outs[0].DType {
		s.how, s.view = alias, v
		x.arrays[s.first].View = v
	}
}

// viewOf applies the view of a row; no when the row cannot express it for these strides.
func viewOf(d *op.Def, from kernel.Array, a op.Attrs) (shape.View, bool) {
	if d.Name == asStrided && (from.Offset != 0 || !from.Contiguous()) {
		return shape.View{}, false // its strides count in the dense value, which nobody holds
	}
	v, err := d.View(from.View, a)
	return v, err == nil
}

// checkFits refuses a program whose results and intermediates exceed the HBM
// even when all inputs are donated, or an input of which does.
func (x *executable) checkFits(g *graph.Graph) error {
	args := x.plan.ArgumentBytes
	var outs, largest int64
	for i, s := range x.in {
		if !s.Weak {
			largest = max(largest, x.padded[i])
		}
	}
	for _, o := range x.outs {
		outs = sum(outs, o.padded)
	}
	need := sum(outs, x.temp)
	if max(largest, need-min(args, outs)) <= x.dev.hbm.Limit() {
		return nil
	}
	o := device.Owner{What: g.Name}
	if len(g.Nodes) > 0 {
		n := g.Nodes[len(g.Nodes)-1]
		o.What, o.Stack, o.Spec = string(n.Def.Name), n.Stack, &n.Outs[0]
	}
	return x.dev.hbm.Exhausted(outs, need, o)
}

// placeIntermediates gives every result that is no output an offset in the
// arena. Two of them share bytes when no step needs both.
func (x *executable) placeIntermediates(isOut []bool) {
	slots := len(x.arrays)
	x.arena = make([]int, slots)
	last := make([]int, slots) // last step that reads the slot
	base := make([]int, slots) // slot whose bytes a view may see
	for i := range x.arena {
		x.arena[i], last[i], base[i] = -1, -1, i
	}
	for i := range x.steps {
		s := &x.steps[i]
		for _, k := range s.in {
			for k >= 0 {
				last[k] = i
				if base[k] == k {
					break
				}
				k = base[k]
			}
		}
		for _, k := range s.results() {
			last[k] = i
			if s.how == alias || s.how == lateView {
				base[k] = s.in[0]
			}
		}
	}
	// The allocator of the HBM also places in the arena, in granules of one cache line.
	planner := device.NewHBM(math.MaxInt64/64*64, 64, nil, nil)
	ends := make([][]*device.Block, len(x.steps))
	for i := range x.steps {
		s := &x.steps[i]
		for j, k := range s.results() {
			if s.how == alias || s.how == lateView {
				break
			}
			n := hostBytes(x.arrays[k].Spec())
			if s.how == constant {
				n = hostBytes(s.outs[j].Spec())
			}
			if isOut[k] || n == 0 {
				continue
			}
			b, err := planner.Alloc(n, n, device.Owner{})
			if err != nil {
				x.arenaBytes = math.MaxInt64 // the host limit will refuse it
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

// String names the executable in the debugger and in errors.
func (x *executable) String() string {
	return fmt.Sprintf("%s (%d kernels)", x.name, len(x.plan.Kernels))
}
