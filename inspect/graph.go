package inspect

import (
	"fmt"
	"strconv"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/viz"
)

// A Graph is the program of a group, or what waits in the queue, as nodes and edges.
type Graph struct {
	Group   uint64      `json:"group"`
	Pending bool        `json:"pending,omitempty"`
	Name    string      `json:"name"`
	Nodes   []GraphNode `json:"nodes"`
	Left    int         `json:"left,omitempty"` // nodes that were left out at the front
	Text    string      `json:"text,omitempty"` // the program in SSA form
	// First and Last are the groups there are, to go to.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// GraphArgs ask for a graph.
type GraphArgs struct {
	Group uint64 `json:"group,omitempty"` // 0 for the latest
	Op    uint64 `json:"op,omitempty"`    // the group of this op, when Group is 0
	At    At     `json:"at,omitzero"`     // the latest group of this line, when Group and Op are 0
	Text  bool   `json:"text,omitempty"`
}

// A GraphNode is an input, an operation or an output mark.
type GraphNode struct {
	Name   string `json:"name"`
	Spec   string `json:"spec"`
	From   []int  `json:"from,omitempty"` // nodes it reads, by position
	Input  bool   `json:"input,omitempty"`
	Output bool   `json:"output,omitempty"`
	Op     uint64 `json:"op,omitempty"`
	At     At     `json:"at"`
	Place  string `json:"place,omitempty"`
	Kernel int    `json:"kernel"` // from 1, 0 for none
	Unit   string `json:"unit,omitempty"`
}

// maxNodes is how many nodes a graph shows: of a longer program, the last ones.
const maxNodes = 300

// GraphOf makes the graph of a group; of the queue, when it is the group that waits.
func GraphOf(l exec.Look, args GraphArgs) Graph {
	out := Graph{Nodes: []GraphNode{}}
	if n := len(l.Groups); n > 0 {
		out.First, out.Last = uint64(l.Groups[0].Number), uint64(l.Groups[n-1].Number)
	}
	next := uint64(l.Stats.Launches + 1)
	if len(l.Queue) > 0 {
		out.Last = next
		if out.First == 0 {
			out.First = next
		}
	}
	want := args.Group
	if want == 0 {
		want = out.Last
		if g := groupWith(l, args); g != 0 {
			want = g
		}
	}
	if want == next && len(l.Queue) > 0 {
		out.queue(l, next)
		return out
	}
	for i := range l.Groups {
		if g := &l.Groups[i]; uint64(g.Number) == want {
			out.program(g)
			if args.Text {
				out.Text = g.Graph.String()
			}
			break
		}
	}
	return out
}

// groupWith is the latest group that has an op or is of a line, 0 for none.
func groupWith(l exec.Look, args GraphArgs) uint64 {
	fits := func(o *exec.GroupOp) bool {
		if args.Op != 0 {
			return o.OpN == args.Op
		}
		f := o.Stack.Top()
		return args.At.Line != 0 && args.At == At{f.Cell, f.Line}
	}
	for i := range l.Queue {
		if fits(&l.Queue[i].GroupOp) {
			return uint64(l.Stats.Launches + 1)
		}
	}
	for i := len(l.Groups) - 1; i >= 0; i-- {
		for k := range l.Groups[i].Ops {
			if fits(&l.Groups[i].Ops[k]) {
				return uint64(l.Groups[i].Number)
			}
		}
	}
	return 0
}

func (out *Graph) queue(l exec.Look, number uint64) {
	out.Group, out.Pending, out.Name = number, true, "queue"
	out.Left = max(0, len(l.Queue)-maxNodes)
	place := map[int]int{}
	for i := out.Left; i < len(l.Queue); i++ {
		q := &l.Queue[i]
		var from []int
		for _, s := range q.Inputs {
			from = append(from, len(out.Nodes))
			out.Nodes = append(out.Nodes, GraphNode{Name: "input", Spec: s.String(), Input: true})
		}
		for _, k := range q.From {
			if at, ok := place[k]; ok {
				from = append(from, at)
			}
		}
		f := q.Stack.Top()
		place[i] = len(out.Nodes)
		out.Nodes = append(out.Nodes, GraphNode{Name: q.Name, Spec: q.Spec.String(), From: from, Op: q.OpN, At: At{f.Cell, f.Line}, Place: f.Place()})
	}
}

func (out *Graph) program(g *exec.Group) {
	out.Group, out.Name = uint64(g.Number), g.Name
	kernel := map[int]int{}
	unit := map[int]string{}
	for k := range g.Plan.Kernels {
		for _, n := range g.Plan.Kernels[k].Nodes {
			kernel[n], unit[n] = k+1, g.Plan.Kernels[k].Unit.String()
		}
	}
	written := map[*graph.Node]bool{}
	for _, r := range g.Graph.Outputs {
		written[r.Node] = true
	}
	out.Left = max(0, len(g.Graph.Nodes)-maxNodes)
	place := map[*graph.Node]int{}
	for i := out.Left; i < len(g.Graph.Nodes); i++ {
		n := g.Graph.Nodes[i]
		node := GraphNode{Name: string(n.Def.Name), Spec: n.Outs[0].String(), Output: written[n], Kernel: kernel[i], Unit: unit[i]}
		for _, r := range n.In {
			if r.Node == nil {
				continue
			}
			at, ok := place[r.Node]
			if !ok && r.Node.Def == nil { // an input: it stands above its first reader
				at = len(out.Nodes)
				place[r.Node] = at
				f := r.Node.Stack.Top()
				out.Nodes = append(out.Nodes, GraphNode{Name: "in" + strconv.Itoa(r.Node.Index), Spec: r.Spec().String(), Input: true, At: At{f.Cell, f.Line}, Place: f.Place()})
				ok = true
			}
			if ok {
				node.From = append(node.From, at)
			}
		}
		if i < len(g.Ops) { // the places of this launch, not those it was compiled at
			f := g.Ops[i].Stack.Top()
			node.Op, node.At, node.Place = g.Ops[i].OpN, At{f.Cell, f.Line}, f.Place()
		}
		place[n] = len(out.Nodes)
		out.Nodes = append(out.Nodes, node)
	}
}

// Drawing lays the graph out.
func (g *Graph) Drawing() viz.DAG {
	nodes := make([]viz.DAGNode, len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		m := viz.VPU
		switch {
		case n.Input:
			m = viz.Dim
		case g.Pending:
			m = viz.Wait
		case n.Unit == "MXU":
			m = viz.MXU
		case n.Unit == "DMA":
			m = viz.DMA
		case n.Kernel == 0:
			m = viz.Normal
		}
		nodes[i] = viz.DAGNode{Label: n.Label(), Meaning: m, From: n.From}
	}
	return viz.Layered(nodes)
}

// Label is what a node is called: its op and type, its kernel, whether it is written.
func (n *GraphNode) Label() string {
	s := n.Name + " " + n.Spec
	if n.Output {
		s += " out"
	}
	return s
}

// Card says what is known of a node.
func (n *GraphNode) Card() string {
	s := n.Label()
	if n.Op != 0 {
		s = fmt.Sprintf("op #%d %s", n.Op, s)
	}
	if n.Kernel > 0 {
		s += fmt.Sprintf("   kernel k%d on %s", n.Kernel, n.Unit)
	}
	if n.Place != "" {
		s += "   " + n.Place
	}
	return s
}
