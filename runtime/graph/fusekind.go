package graph

import (
	"slices"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// standAlone are rows whose class alone would let them fuse (F12).
var standAlone = map[op.Name]bool{
	"cumsum": true, "cumprod": true, "cumprod_backward": true, "cumprod_forward": true, "cumprod_second": true,
	"cummax": true, "cummin": true, "logcumsumexp": true, "diff": true, "trapezoid": true, "window_sum": true,
	"sort": true, "argsort": true, "msort": true, "topk": true, "kthvalue": true, "mode": true,
	"median": true, "median.dim": true, "nanmedian": true, "nanmedian.dim": true,
	"quantile": true, "nanquantile": true, "quantile_ranks": true,
	"unique": true, "unique_consecutive": true, "searchsorted": true, "bucketize": true, "isin": true,
	"bincount": true, "histc": true, "ctc_loss": true, "ctc_loss_backward": true,
	"scaled_dot_product_attention_backward": true,
}

// joins are rows that glue arrays together: a padded maximum for the compiler.
var joins = map[op.Name]bool{"cat": true, "concat": true, "stack": true, "hstack": true, "vstack": true}

// loops are rows of other classes that are elementwise for the compiler: copies, and masks over an iota.
var loops = map[op.Name]bool{"clone": true, "contiguous": true, "copy": true, "tril": true, "triu": true}

// reductions are rows of other classes that reduce.
var reductions = map[op.Name]bool{"sum_to_size": true, "trace": true}

// kindOf classes a node for the rules.
func kindOf(n *Node) fuseKind {
	d := n.Def
	switch {
	case IsView(n):
		return isFree
	case d.Class == op.Factory && len(n.In) == 0:
		return isFree
	case d.Has(op.CutBefore|op.CutAfter|op.SideEffect|op.Draws|op.HostSize) || standAlone[d.Name]:
		return isAlone
	case loops[d.Name]:
		return isLoop
	case reductions[d.Name]:
		return isReduce
	}
	switch d.Class {
	case op.Elementwise:
		if len(n.Outs) == 1 {
			return isLoop
		}
	case op.Reduce, op.Normalize, op.Loss:
		return isReduce
	case op.Contract:
		if costOf(n).M > 0 {
			return isProduct
		}
	case op.Move:
		if joins[d.Name] {
			return isJoin
		}
	}
	return isAlone
}

// IsView says whether a node only looks at its first operand in another way.
func IsView(n *Node) bool {
	return n.Def != nil && (n.Def.Has(op.MetadataOnly) || n.Def.Class == op.View) && len(n.In) > 0 && n.In[0].Node != nil
}

// costOf is the work of a node, zero when its row does not say.
func costOf(n *Node) op.Cost {
	if n.Def.Cost == nil {
		return op.Cost{}
	}
	in := make([]shape.Spec, len(n.In))
	for i, r := range n.In {
		in[i] = r.Spec()
	}
	return n.Def.Cost(in, n.Outs, n.Attrs)
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

// Alone makes a group of each node, as op-by-op execution does; views go to their users.
func Alone(g *Graph) []Group {
	out := outputs(g)
	groups := make([]Group, 0, len(g.Nodes))
	for i, n := range g.Nodes {
		if IsView(n) && !out[i] {
			continue
		}
		nodes := []int{i}
		for at := 0; at < len(nodes); at++ {
			for _, r := range g.Nodes[nodes[at]].In {
				if v := r.Node; v != nil && IsView(v) && !out[v.Index] && !slices.Contains(nodes, v.Index) {
					nodes = append(nodes, v.Index)
				}
			}
		}
		slices.Sort(nodes)
		kind := "loop"
		switch kindOf(n) {
		case isProduct:
			kind = "output"
		case isAlone:
			kind = "custom"
		}
		groups = append(groups, Group{Nodes: nodes, Writes: []int{i}, Rule: "OUT", Kind: kind})
	}
	return groups
}
