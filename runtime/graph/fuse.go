package graph

import "github.com/tpush/tpush/runtime/op"

// A Group is the nodes of one device kernel.
type Group struct {
	Nodes []int  // indices into Graph.Nodes, ascending
	Rule  string // id of the rule that ended it
}

// Alone makes a group of each node, as op-by-op execution does; nodes that cost nothing join their first user.
func Alone(g *Graph) []Group {
	at := make([]int, len(g.Nodes)) // group of a node
	for i := range at {
		at[i] = i
	}
	isOut := outputs(g)
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		for _, r := range g.Nodes[i].In {
			if n := r.Node; n != nil && n.Def != nil && n.Def.Has(op.MetadataOnly) && !isOut[n.Index] {
				at[n.Index] = at[i]
			}
		}
	}
	groups := make([]Group, 0, len(g.Nodes))
	index := make([]int, len(g.Nodes))
	for i := range g.Nodes {
		index[i] = -1
	}
	for i := range g.Nodes {
		if at[i] == i {
			index[i] = len(groups)
			groups = append(groups, Group{Rule: "F12"})
		}
	}
	for i := range g.Nodes {
		k := index[at[i]]
		groups[k].Nodes = append(groups[k].Nodes, i)
	}
	return groups
}

// outputs says for each node whether one of its results is an output of the graph.
func outputs(g *Graph) []bool {
	out := make([]bool, len(g.Nodes))
	for _, r := range g.Outputs {
		if r.Node != nil && r.Node.Def != nil {
			out[r.Node.Index] = true
		}
	}
	return out
}

// Fuse says which nodes form which kernel.
func Fuse(g *Graph) []Group { return Alone(g) }
