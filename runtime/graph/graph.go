// Package graph is the deferred form of a program: nodes, regions, the passes
// over them, their cache keys and their text.
//
// It never runs anything. It imports trace, shape, op and stablehlo.
// Invariant: Nodes are in execution order and use only inputs and earlier
// nodes; Check says so after every pass.
package graph

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A Node is one operation of a graph, or one of its inputs (Def nil).
type Node struct {
	Def   *op.Def
	In    []Ref // absent optional operands have a nil Node
	Attrs op.Attrs
	Outs  []shape.Spec
	Index int          // position in Graph.Inputs or Graph.Nodes
	Op    uint64       // op number, 0 for inputs
	Stack *trace.Stack // where the user wrote it
}

// A Ref names one result of a node.
type Ref struct {
	Node *Node
	Out  int
}

// Spec is the type of the result.
func (r Ref) Spec() shape.Spec {
	if r.Node == nil {
		return shape.Spec{}
	}
	return r.Node.Outs[r.Out]
}

// A Graph is one region: what a launch runs.
type Graph struct {
	Name    string
	Inputs  []*Node
	Nodes   []*Node
	Outputs []Ref
	Donated []bool // per input: its buffer may become an output
}
