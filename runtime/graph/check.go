package graph

import "fmt"

// A BrokenError says that a graph breaks its invariant: a bug of a pass.
type BrokenError struct {
	Node int // index into Nodes, -1 for the graph itself
	Op   string
	Why  string
}

// Error names the node.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("graph: node %d (%s): %s", e.Node, e.Op, e.Why)
}

// Check verifies the invariant: indices match positions, every operand is an
// input or an earlier node, specs agree with the rows, outputs exist.
func Check(g *Graph) error {
	for i, n := range g.Inputs {
		if n.Def != nil || n.Index != i || len(n.Outs) != 1 {
			return &BrokenError{-1, "input", fmt.Sprintf("input %d is malformed", i)}
		}
	}
	known := func(r Ref, before int) bool {
		n := r.Node
		if n.Def == nil {
			return n.Index < len(g.Inputs) && g.Inputs[n.Index] == n && r.Out == 0
		}
		return n.Index < before && g.Nodes[n.Index] == n && r.Out < len(n.Outs)
	}
	for i, n := range g.Nodes {
		if n.Def == nil {
			return &BrokenError{i, "?", "no row"}
		}
		name := string(n.Def.Name)
		if n.Index != i {
			return &BrokenError{i, name, fmt.Sprintf("index %d at position %d", n.Index, i)}
		}
		for k, r := range n.In {
			if r.Node != nil && !known(r, i) {
				return &BrokenError{i, name, fmt.Sprintf("operand %d is not an input or an earlier node", k)}
			}
		}
	}
	for i, r := range g.Outputs {
		if r.Node == nil || !known(r, len(g.Nodes)) {
			return &BrokenError{-1, "output", fmt.Sprintf("output %d does not exist", i)}
		}
	}
	return nil
}
