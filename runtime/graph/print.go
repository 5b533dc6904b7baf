package graph

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/op"
)

// String prints the graph in SSA form, one line a value, as the traces of the
// real system do:
//
//	graph g3: 2 ops, 2 inputs
//	  %0: f32[4] = input
//	  %2: f32[4] = add(%0, %1)
//	  return %2
func (g *Graph) String() string {
	var b strings.Builder
	name := map[*Node]int{}
	next := 0
	fmt.Fprintf(&b, "graph %s: %d ops, %d inputs\n", g.Name, len(g.Nodes), len(g.Inputs))
	for _, n := range g.Inputs {
		name[n] = next
		fmt.Fprintf(&b, "  %%%d: %v = input\n", next, n.Outs[0])
		next++
	}
	ref := func(r Ref) string {
		if r.Node == nil {
			return "none"
		}
		return fmt.Sprintf("%%%d", name[r.Node]+r.Out)
	}
	for _, n := range g.Nodes {
		name[n] = next
		fmt.Fprintf(&b, "  %%%d: %s = %s(", next, specs(n), n.Def.Name)
		for i, r := range n.In {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(ref(r))
		}
		b.WriteString(attrText(n.Attrs, len(n.In) > 0))
		b.WriteByte(')')
		if f := n.Stack.Top(); f.Line > 0 {
			fmt.Fprintf(&b, "  // In[%d]:%d", f.Cell, f.Line)
		}
		b.WriteByte('\n')
		next += len(n.Outs)
	}
	b.WriteString("  return ")
	for i, r := range g.Outputs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(ref(r))
	}
	b.WriteByte('\n')
	return b.String()
}

func specs(n *Node) string {
	s := make([]string, len(n.Outs))
	for i, o := range n.Outs {
		s[i] = o.String()
	}
	return strings.Join(s, ", ")
}

func attrText(a op.Attrs, comma bool) string {
	var b strings.Builder
	for _, x := range a {
		if x.Value == nil {
			continue
		}
		if comma {
			b.WriteString(", ")
		}
		comma = true
		fmt.Fprintf(&b, "%s=%v", x.Name, x.Value)
	}
	return b.String()
}
