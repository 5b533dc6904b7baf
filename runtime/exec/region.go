package exec

import (
	"slices"

	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A region is what one launch will run: nodes in order, the values they need
// from outside, the values they leave behind.
type region struct {
	serial uint32
	nodes  []*node
	inputs []*Value
	outs   []*Value
	donate []bool    // per input
	spent  []bool    // per input: see used; empty when none is
	known  *replayed // of a program that was recorded; nil for others
	entry  *entry    // its program, nil until it was found
}

// last is the operation the region is named by in errors and events, with the
// number it has in this launch.
func (r *region) last() (n *node, opn uint64) {
	n = r.nodes[len(r.nodes)-1]
	if r.known != nil {
		return n, n.opn + r.known.shift
	}
	return n, n.opn
}

// attrs are the attributes of node i in this launch.
func (r *region) attrs(i int) op.Attrs {
	if r.known != nil {
		return r.known.attrs[i]
	}
	return r.nodes[i].attrs
}

// start empties the region for reuse.
func (d *Dispatcher) startRegion(r *region) {
	d.serial++
	r.serial = d.serial
	r.nodes, r.inputs, r.outs, r.donate = r.nodes[:0], r.inputs[:0], r.outs[:0], r.donate[:0]
	r.spent = r.spent[:0]
	r.entry = nil
}

// forget lets go of nodes and values.
func (r *region) forget() {
	clear(r.nodes)
	clear(r.inputs)
	clear(r.outs)
	r.nodes, r.inputs, r.outs = r.nodes[:0], r.inputs[:0], r.outs[:0]
}

// used finds the inputs whose numbers nobody reads after the launch: they were
// given up, and the operations that await them all end with it. An operation
// ends when the region leaves behind what it makes, or when that was given up
// too and all that read it end.
func (r *region) used() {
	r.spent = r.spent[:0]
	given := func(v *Value) bool { return v.spent && v.kept == 0 && v.pins == 0 && v.readers > 0 }
	if !slices.ContainsFunc(r.inputs, given) {
		return
	}
	reads := make(map[*Value]int32, len(r.inputs))
	for _, n := range slices.Backward(r.nodes) {
		if slices.ContainsFunc(n.outs, func(o *Value) bool { return !slices.Contains(r.outs, o) && !(given(o) && reads[o] == o.readers) }) {
			continue
		}
		for _, v := range n.in {
			if v != nil {
				reads[v]++
			}
		}
	}
	for _, v := range r.inputs {
		r.spent = append(r.spent, given(v) && reads[v] == v.readers)
	}
}

// add appends a node after everything it needs that has a recipe but no buffer.
func (r *region) add(n *node) {
	if n.region == r.serial {
		return
	}
	n.region = r.serial
	for _, v := range n.in {
		if v == nil {
			continue
		}
		if v.buf == nil && v.node != nil {
			r.add(v.node)
		} else if v.region != r.serial {
			v.region, v.at = r.serial, int32(len(r.inputs))
			r.inputs = append(r.inputs, v)
			r.donate = append(r.donate, false)
		}
	}
	n.at = int32(len(r.nodes))
	r.nodes = append(r.nodes, n)
}

// key fingerprints the region: operations, edges, static attributes, element
// types, outputs and donations; dimensions; options. Values of dynamic
// attributes, source places and names are not in it.
func (d *Dispatcher) key(r *region) Key {
	s, dims := seed, seed
	for _, v := range r.inputs {
		s = mix(s, uint64(v.typ.Spec.DType))
		if v.typ.Spec.Weak {
			s = mix(s, 77)
		}
		dims = hashInts(dims, v.typ.Spec.Dims)
	}
	for _, n := range r.nodes {
		c := n.code()
		s, dims = mix(s, c.shapeless), mix(dims, c.dims)
		for _, v := range n.in {
			switch {
			case v == nil:
				s = mix(s, 0)
			case v.buf == nil && v.node != nil:
				s = mix(s, uint64(v.node.at)<<16|uint64(v.out)<<2|1)
			default:
				s = mix(s, uint64(v.at)<<2|2)
			}
		}
	}
	for _, o := range r.outs {
		s = mix(s, uint64(o.node.at)<<8|uint64(o.out))
	}
	for i, x := range r.donate {
		if x {
			s = mix(s, uint64(i)+1000)
		}
	}
	o := mix(seed, uint64(d.mode.Level))
	o = hashString(o, d.dev.Chip().Name)
	return Key{s, dims, o}
}

// A nodeCode is what an operation adds to the key of its region beside its
// edges: its row, static attributes and element types; its dimensions.
type nodeCode struct{ shapeless, dims uint64 }

// code gives the code of n, which its site remembers.
func (n *node) code() nodeCode {
	if n.site != nil && n.site.code != (nodeCode{}) {
		return n.site.code
	}
	s, dims := mix(seed, n.info.hash), seed
	for k, a := range n.attrs {
		switch {
		case n.info.isDynamic(k, a.Name):
			if a.Value == nil {
				s = mix(s, 3)
			}
		case n.info.isDims(a.Name):
			dims = hashAttr(dims, a.Value)
		default:
			s = hashAttr(s, a.Value)
		}
	}
	for _, o := range n.outs {
		dims = hashInts(dims, o.typ.Spec.Dims)
		s = mix(s, uint64(o.typ.Spec.DType))
	}
	c := nodeCode{s, dims}
	if n.site != nil {
		n.site.code = c
	}
	return c
}

// graph makes the region into a graph for the compiler.
func (r *region) graph(name string) *graph.Graph {
	g := &graph.Graph{Name: name, Donated: append([]bool(nil), r.donate...)}
	for i, v := range r.inputs {
		g.Inputs = append(g.Inputs, &graph.Node{Outs: []shape.Spec{v.typ.Spec}, Index: i, Stack: v.stack})
	}
	for i, n := range r.nodes {
		gn := &graph.Node{Def: n.def, Attrs: append(op.Attrs(nil), n.attrs...), Index: i, Op: n.opn, Stack: n.stack}
		for _, v := range n.in {
			switch {
			case v == nil:
				gn.In = append(gn.In, graph.Ref{})
			case v.buf == nil && v.node != nil:
				gn.In = append(gn.In, graph.Ref{Node: g.Nodes[v.node.at], Out: int(v.out)})
			default:
				gn.In = append(gn.In, graph.Ref{Node: g.Inputs[v.at]})
			}
		}
		for _, o := range n.outs {
			gn.Outs = append(gn.Outs, o.typ.Spec)
		}
		g.Nodes = append(g.Nodes, gn)
	}
	for _, o := range r.outs {
		g.Outputs = append(g.Outputs, graph.Ref{Node: g.Nodes[o.node.at], Out: int(o.out)})
	}
	return g
}
