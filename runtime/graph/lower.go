package graph

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Lower writes the graph as the body of a StableHLO function over args, one
// per input, and gives the outputs. Each operation carries its place in the
// user's program as a location.
func Lower(g *Graph, w *stablehlo.Writer, args []stablehlo.Value) []stablehlo.Value {
	return lower(g, w, args, func(n *Node, _ *op.LowerCall) { w.Loc = location(n) })
}

// LowerLaunch is Lower for one launch, without locations: two programs that
// differ in their places only are the same text. call may change the
// attributes of a node, and offer some of them as arguments.
func LowerLaunch(g *Graph, w *stablehlo.Writer, args []stablehlo.Value, call func(node int, c *op.LowerCall)) []stablehlo.Value {
	return lower(g, w, args, func(n *Node, c *op.LowerCall) { call(n.Index, c) })
}

func lower(g *Graph, w *stablehlo.Writer, args []stablehlo.Value, call func(n *Node, c *op.LowerCall)) []stablehlo.Value {
	vals := map[Ref]stablehlo.Value{}
	for i, n := range g.Inputs {
		vals[Ref{n, 0}] = args[i]
	}
	for _, n := range g.Nodes {
		c := &op.LowerCall{In: make([]stablehlo.Value, len(n.In)), Out: n.Outs, Attrs: n.Attrs}
		for i, r := range n.In {
			if r.Node != nil {
				c.In[i] = vals[r]
			}
		}
		call(n, c)
		w.Precision = strings.ToUpper(c.Attrs.Str(op.PrecisionAttr))
		for i, v := range n.Def.Lower(w, c) {
			vals[Ref{n, i}] = v
		}
	}
	w.Loc, w.Precision = "", ""
	out := make([]stablehlo.Value, len(g.Outputs))
	for i, r := range g.Outputs {
		out[i] = vals[r]
	}
	return out
}

// Params gives the specs of the inputs, Go numbers as tensors of their default type.
func (g *Graph) Params() []shape.Spec {
	p := make([]shape.Spec, len(g.Inputs))
	for i, n := range g.Inputs {
		p[i] = n.Outs[0]
	}
	return p
}

func location(n *Node) string {
	f := n.Stack.Top()
	name := fmt.Sprintf("cell%d/op%d/%s", f.Cell, n.Op, n.Def.Name)
	if f.Line == 0 {
		return fmt.Sprintf("loc(%q)", name)
	}
	file, line := f.File, f.FileLine
	if file == "" {
		file, line = fmt.Sprintf("cell_%d.go", f.Cell), f.Line
	}
	return fmt.Sprintf("loc(%q(%q:%d:%d))", name, file, line, max(f.Column, 1))
}
