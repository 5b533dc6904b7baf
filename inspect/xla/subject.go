package xla

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A Subject is a program to look at: a graph, or the text of a module.
type Subject struct {
	Name   string
	Groups []uint64     // launches of the graph
	Graph  *graph.Graph // nil for a text
	Text   string       // StableHLO; Lowered writes it for a graph
}

// Lowered is the text of the program with a location for every operation. Go
// numbers are passed in 32 bits: a TPU has no wider ones, and what the compiler
// does to imitate them would hide the program.
func (s *Subject) Lowered() string {
	if s.Graph == nil {
		return s.Text
	}
	g := s.Graph
	params := paramsOf(g)
	return stablehlo.Module(s.Name, params, func(w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
		return graph.Lower(g, w, args)
	}, stablehlo.ModuleOptions{Alias: aliases(g)})
}

// paramsOf gives the types of the parameters as they are passed.
func paramsOf(g *graph.Graph) []shape.Spec {
	params := g.Params()
	for i := range params {
		if p := &params[i]; p.Weak && len(p.Dims) == 0 {
			switch p.DType {
			case dtype.F64:
				p.DType = dtype.F32
			case dtype.I64:
				p.DType = dtype.I32
			}
		}
	}
	return params
}

// aliases gives each donated input a result of its type.
func aliases(g *graph.Graph) map[int]int {
	alias := map[int]int{}
	taken := map[int]bool{}
	for i, n := range g.Inputs {
		if i >= len(g.Donated) || !g.Donated[i] {
			continue
		}
		for k, r := range g.Outputs {
			s, t := n.Outs[0], r.Spec()
			if !taken[k] && s.DType == t.DType && slices.Equal(s.Dims, t.Dims) {
				alias[i], taken[k] = k, true
				break
			}
		}
	}
	return alias
}

// places finds the operations of a graph by the names of their locations.
type places struct {
	g    *graph.Graph
	byOp map[uint64]int // node by the number of its operation
}

func placesOf(g *graph.Graph) places {
	p := places{g: g, byOp: map[uint64]int{}}
	if g != nil {
		for i, n := range g.Nodes {
			p.byOp[n.Op] = i
		}
	}
	return p
}

// ours is the name of a location that graph.Lower writes.
var ours = regexp.MustCompile(`cell(\d+)/op(\d+)/`)

// nodes lists the nodes that a name of the compiler's speaks of: it may have
// joined several.
func (p places) nodes(opName string) []int {
	if p.g == nil || !strings.Contains(opName, "/op") {
		return nil
	}
	var all []int
	for _, m := range ours.FindAllStringSubmatch(opName, -1) {
		n, err := strconv.ParseUint(m[2], 10, 64)
		if i, ok := p.byOp[n]; err == nil && ok && !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all
}

// frame is where a node was written.
func (p places) frame(node int) trace.Frame { return p.g.Nodes[node].Stack.Top() }

// opText names a node: matmul#4.
func (p places) opText(node int) string {
	n := p.g.Nodes[node]
	return fmt.Sprintf("%s#%d", n.Def.Name, n.Op)
}

// whereOf writes lines as a user reads them: In[3]:4,7-9 or file:12.
func whereOf(frames []trace.Frame) string {
	type key struct {
		cell int
		file string
	}
	lines := map[key][]int{}
	var order []key
	for _, f := range frames {
		k, n := key{cell: f.Cell}, f.Line
		if f.File != "" {
			k, n = key{file: f.File}, f.FileLine
		}
		if n == 0 {
			continue
		}
		if lines[k] == nil {
			order = append(order, k)
		}
		lines[k] = append(lines[k], n)
	}
	parts := make([]string, len(order))
	for i, k := range order {
		name := k.file
		if name == "" {
			name = fmt.Sprintf("In[%d]", k.cell)
		}
		parts[i] = name + ":" + viz.Ranges(lines[k])
	}
	return strings.Join(parts, " ")
}
