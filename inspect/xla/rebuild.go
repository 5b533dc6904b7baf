package xla

import (
	"slices"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// FromRecords makes one program of recorded operations, whatever launches they
// ran in: what they read of others becomes inputs, in the order it is read. Its
// results are the values that keep says must be left behind, and those that
// nothing of the program reads. nil when there are no operations.
func FromRecords(name string, records []exec.Record, keep func(exec.Ref) bool) *graph.Graph {
	if len(records) == 0 {
		return nil
	}
	g := &graph.Graph{Name: name}
	made := map[uint64]graph.Ref{}
	read := map[uint64]bool{}
	for i := range records {
		r := &records[i]
		n := &graph.Node{Def: r.Def, Attrs: append(op.Attrs(nil), r.Attrs...), Index: i, Op: r.OpN, Stack: r.Stack}
		for _, x := range r.In {
			if x.ID == 0 {
				n.In = append(n.In, graph.Ref{})
				continue
			}
			from, ok := made[x.ID]
			if !ok {
				in := &graph.Node{Outs: []shape.Spec{x.Spec}, Index: len(g.Inputs)}
				if x.Value != nil {
					in.Stack = x.Value.Stack()
				}
				g.Inputs = append(g.Inputs, in)
				from = graph.Ref{Node: in}
				made[x.ID] = from
			}
			read[x.ID] = true
			n.In = append(n.In, from)
		}
		for k, x := range r.Out {
			n.Outs = append(n.Outs, x.Spec)
			made[x.ID] = graph.Ref{Node: n, Out: k}
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i := range records {
		for k, x := range records[i].Out {
			if !read[x.ID] || keep != nil && keep(x) {
				g.Outputs = append(g.Outputs, graph.Ref{Node: g.Nodes[i], Out: k})
			}
		}
	}
	g.Donated = make([]bool, len(g.Inputs))
	return g
}

// Held says whether somebody can still see a value.
func Held(r exec.Ref) bool { return r.Value != nil && r.Value.HBMBytes() > 0 }

// Leading keeps the records that lead to a value.
func Leading(records []exec.Record, id uint64) []exec.Record {
	want := map[uint64]bool{id: true}
	var all []exec.Record
	for i := len(records) - 1; i >= 0; i-- {
		r := records[i]
		if !slices.ContainsFunc(r.Out, func(x exec.Ref) bool { return want[x.ID] }) {
			continue
		}
		for _, x := range r.In {
			want[x.ID] = true
		}
		all = append(all, r)
	}
	slices.Reverse(all)
	return all
}

// Alone says whether a launch ran one operation that the mode, or a failure of
// the region it belonged to, kept from its neighbours.
func Alone(g *exec.Group) bool {
	return g.Reason == exec.ReasonEveryOp || g.Reason == exec.ReasonRecover
}

// Distinct makes subjects of launches: each program once, with the launches
// that ran it. Operations that were launched alone are left out.
func Distinct(groups []exec.Group) []Subject {
	var all []Subject
	at := map[*graph.Graph]int{}
	for i := range groups {
		g := &groups[i]
		if Alone(g) {
			continue
		}
		k, ok := at[g.Graph]
		if !ok {
			k = len(all)
			at[g.Graph] = k
			all = append(all, Subject{Name: g.Name, Graph: g.Graph})
		}
		all[k].Groups = append(all[k].Groups, uint64(g.Number))
	}
	return all
}
