package pjrt

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// A stage is one program of XLA, or one node that runs on the host: what
// StableHLO has no operation for is a custom call, and XLA has no code for ours.
type stage struct {
	code *code       // nil: host
	host *graph.Node // of the executable's graph
	in   []int       // slots; -1 for an absent operand
	out  []int
	node []int // of the executable's graph, by index in code.g
}

// ourCall is how a lowering begins the name of a custom call that only tpush knows.
const ourCall = `call_target_name = "tpush.`

// stagesOf compiles a graph: as one program when XLA can run all of it, else
// as the longest runs of nodes between those that run on the host, and then
// with the slots of the outputs.
func (d *Device) stagesOf(w *worker.Worker, g *graph.Graph) (stages []stage, results []int, err error) {
	c := d.newCode(g)
	l := c.lower(nil, stablehlo.ModuleOptions{})
	if !strings.Contains(l.text, ourCall) {
		if d.meshed || places(g) { // what it is compiled for shows when it runs
			return []stage{{code: c}}, nil, nil
		}
		if _, err := c.compile(w, l); err != nil {
			return nil, nil, err
		}
		return []stage{{code: c}}, nil, nil
	}
	s := newSplit(g)
	var run []*graph.Node
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		st := s.program(run)
		run = nil
		if len(st.out) == 0 { // what nothing reads
			return nil
		}
		st.code = d.newCode(st.code.g)
		s.stages = append(s.stages, st)
		_, err := st.code.program(w, nil)
		return err
	}
	for _, n := range g.Nodes {
		if !onHost(n) {
			run = append(run, n)
			continue
		}
		if err := flush(); err != nil {
			return nil, nil, err
		}
		s.stages = append(s.stages, stage{host: n, in: s.slotsOf(n.In), out: s.results(n)})
	}
	if err := flush(); err != nil {
		return nil, nil, err
	}
	return s.stages, s.slotsOf(g.Outputs), nil
}

// onHost says whether a node lowers to a custom call of ours.
func onHost(n *graph.Node) bool {
	alone := &graph.Graph{Name: string(n.Def.Name)}
	copied := *n
	copied.In = slices.Clone(n.In)
	for i, r := range n.In {
		if r.Node != nil {
			in := &graph.Node{Outs: []shape.Spec{r.Spec()}, Index: len(alone.Inputs)}
			alone.Inputs = append(alone.Inputs, in)
			copied.In[i] = graph.Ref{Node: in}
		}
	}
	copied.Index = 0
	alone.Nodes = []*graph.Node{&copied}
	alone.Outputs = []graph.Ref{{Node: &copied}}
	return strings.Contains((&code{g: alone}).lower(nil, stablehlo.ModuleOptions{}).text, ourCall)
}

// A split makes stages. A slot is a value that goes from one to another: the
// inputs of the graph come first.
type split struct {
	g      *graph.Graph
	slot   map[graph.Ref]int
	stages []stage
}

func newSplit(g *graph.Graph) *split {
	s := &split{g: g, slot: map[graph.Ref]int{}}
	for _, n := range g.Inputs {
		s.slot[graph.Ref{Node: n}] = len(s.slot)
	}
	return s
}

func (s *split) slotsOf(refs []graph.Ref) []int {
	at := make([]int, len(refs))
	for i, r := range refs {
		if at[i] = -1; r.Node != nil {
			at[i] = s.slot[r]
		}
	}
	return at
}

// results gives slots to the results of a node.
func (s *split) results(n *graph.Node) []int {
	at := make([]int, len(n.Outs))
	for i := range at {
		at[i] = s.give(graph.Ref{Node: n, Out: i})
	}
	return at
}

func (s *split) give(r graph.Ref) int {
	at := len(s.slot)
	s.slot[r] = at
	return at
}

// program makes a graph of a run of nodes: its inputs are what they read of
// others, its outputs what others read of them.
func (s *split) program(run []*graph.Node) stage {
	own := map[*graph.Node]*graph.Node{}
	ins := map[graph.Ref]*graph.Node{}
	st := stage{}
	g := &graph.Graph{Name: s.g.Name}
	for _, n := range run {
		c := *n
		c.Index, c.In = len(g.Nodes), slices.Clone(n.In)
		for i, r := range n.In {
			switch {
			case r.Node == nil:
			case own[r.Node] != nil:
				c.In[i].Node = own[r.Node]
			default:
				in := ins[r]
				if in == nil {
					in = &graph.Node{Outs: []shape.Spec{r.Spec()}, Index: len(g.Inputs)}
					ins[r] = in
					g.Inputs = append(g.Inputs, in)
					st.in = append(st.in, s.slot[r])
				}
				c.In[i] = graph.Ref{Node: in}
			}
		}
		own[n] = &c
		g.Nodes = append(g.Nodes, &c)
		st.node = append(st.node, n.Index)
	}
	for r := range s.readElsewhere(own) {
		g.Outputs = append(g.Outputs, graph.Ref{Node: own[r.Node], Out: r.Out})
		st.out = append(st.out, s.give(r))
	}
	st.code = &code{g: g}
	return st
}

// readElsewhere gives the results of a run that later nodes or the caller read, once each.
func (s *split) readElsewhere(own map[*graph.Node]*graph.Node) func(func(graph.Ref) bool) {
	seen := map[graph.Ref]bool{}
	return func(yield func(graph.Ref) bool) {
		tell := func(r graph.Ref) bool {
			if r.Node == nil || own[r.Node] == nil || seen[r] {
				return true
			}
			seen[r] = true
			return yield(r)
		}
		for _, n := range s.g.Nodes {
			if own[n] == nil {
				for _, r := range n.In {
					if !tell(r) {
						return
					}
				}
			}
		}
		for _, r := range s.g.Outputs {
			if !tell(r) {
				return
			}
		}
	}
}

// start runs the stages. What the caller must free, also on error, comes
// beside the results.
func (x *executable) start(w *worker.Worker, attrs []op.Attrs, in []*worker.Buffer) (outs, temps []*worker.Buffer, err error) {
	if x.results == nil {
		return x.stages[0].code.start(w, attrs, in)
	}
	slots := slices.Clone(in)
	made := map[*worker.Buffer]bool{}
	for i := range x.stages {
		st := &x.stages[i]
		var got, used []*worker.Buffer
		if st.code != nil {
			got, used, err = st.code.start(w, st.attrs(attrs), pick(slots, st.in))
		} else {
			got, err = x.onHost(w, st, attrs, slots)
		}
		temps = append(temps, used...)
		for k, b := range got {
			slots = append(slots, make([]*worker.Buffer, max(st.out[k]+1-len(slots), 0))...)
			slots[st.out[k]], made[b] = b, true
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		outs = pick(slots, x.results)
		for _, b := range outs {
			delete(made, b)
		}
	}
	for b := range made {
		temps = append(temps, b)
	}
	return outs, temps, err
}

func pick(slots []*worker.Buffer, at []int) []*worker.Buffer {
	all := make([]*worker.Buffer, len(at))
	for i, k := range at {
		if k >= 0 {
			all[i] = slots[k]
		}
	}
	return all
}

// attrs are the attributes of a launch for the nodes of a stage.
func (s *stage) attrs(all []op.Attrs) []op.Attrs {
	if all == nil {
		return nil
	}
	own := make([]op.Attrs, len(s.node))
	for i, n := range s.node {
		own[i] = all[n]
	}
	return own
}

// onHost runs a node with the kernel of its row. A panic of a kernel is a
// defect; it must not take the session along.
func (x *executable) onHost(w *worker.Worker, s *stage, attrs []op.Attrs, slots []*worker.Buffer) (made []*worker.Buffer, err error) {
	n := s.host
	fail := func(err error) error { return &device.KernelError{Op: string(n.Def.Name), Node: n.Index, Err: err} }
	defer func() {
		if p := recover(); p != nil {
			err = &device.KernelError{Op: string(n.Def.Name), Node: n.Index, Panic: p, Trace: string(debug.Stack())}
		}
	}()
	c := &kernel.Call{Attrs: n.Attrs}
	if n.Index < len(attrs) {
		c.Attrs = attrs[n.Index]
	}
	ctx, done := x.dev.begin()
	defer done()
	for i, k := range s.in {
		var a kernel.Array
		if k >= 0 {
			a = kernel.New(n.In[i].Spec())
			if err := slots[k].Get(ctx, a.Buf[:a.Size()*a.DType.HostBytes()]); err != nil {
				return nil, err
			}
		}
		c.In = append(c.In, a)
	}
	for _, o := range n.Outs {
		c.Out = append(c.Out, kernel.New(o))
	}
	if err := n.Def.Run(c); err != nil {
		return nil, fail(err)
	}
	for i, o := range n.Outs {
		t, err := typeOf(o)
		if err != nil {
			return made, fail(err)
		}
		b, err := w.Put(0, t, dimsOf(o), c.Out[i].Buf[:o.Size()*o.DType.HostBytes()])
		if err != nil {
			return made, fmt.Errorf("%s: %w", n.Def.Name, err)
		}
		made = append(made, b)
	}
	return made, nil
}
