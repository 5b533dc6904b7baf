package tpu

import (
	"slices"

	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Parts of one tensor, as Unbind, Split and Chunk make them, give their gradients
// one by one. Each put into zeros of its own, to be added up, would write the
// whole once for each part; they are kept until somebody wants the whole, and
// then joined.

// pieces are the gradients of parts of one tensor along one axis.
type pieces struct {
	dim  int
	list []piece
}

// A piece is the gradient of positions from to to of the axis.
type piece struct {
	n        *node
	from, to int
	g        *Tensor
}

// along says which positions of which axis a view of the first input of n sees;
// no for other nodes and for views with steps.
func (n *node) along() (dim, from, to int, ok bool) {
	if n.custom != nil || len(n.ins) == 0 {
		return 0, 0, 0, false
	}
	dims, a := n.inSpecs[0].Dims, n.attrs
	name := "start"
	switch {
	case n.def.Name == "select":
		name = "index"
	case n.def.Name == "narrow", n.def.Name == "slice" && a.Int("step") == 1:
	default:
		return 0, 0, 0, false
	}
	if dim = a.Int("dim"); dim < 0 {
		dim += len(dims)
	}
	if from = a.Int(name); from < 0 {
		from = max(from+dims[dim], 0)
	}
	from = min(from, dims[dim])
	to = from + 1
	if n.def.Name != "select" {
		to = from + n.outSpecs[0].Dims[dim]
	}
	return dim, from, to, true
}

// keep keeps the gradient g of the result of n until its input's is wanted; no
// when n sees no part.
func (p *pass) keep(n *node, g *Tensor) bool {
	dim, from, to, ok := n.along()
	if !ok {
		return false
	}
	p.refs[g.s]++
	h := n.ins[0]
	ps := p.parts[h]
	if ps != nil && (ps.dim != dim || slices.ContainsFunc(ps.list, func(x piece) bool { return x.from < to && from < x.to })) {
		p.join(h)
		ps = nil
	}
	if ps == nil {
		ps = &pieces{dim: dim}
		p.parts[h] = ps
	}
	ps.list = append(ps.list, piece{n, from, to, g})
	return true
}

// join adds what was kept for h to its gradient.
func (p *pass) join(h *history) {
	ps := p.parts[h]
	if ps == nil {
		return
	}
	delete(p.parts, h)
	before := len(p.made)
	p.within(func() { p.add(h, p.joined(ps)) })
	for _, x := range ps.list {
		p.refs[x.g.s]--
		p.discard(x.g.s)
	}
	for _, s := range p.made[before:] {
		p.discard(s)
	}
	p.made = p.made[:before]
}

// joined gives the gradient of the whole: the pieces one after the other, with
// zeros where there is none.
func (p *pass) joined(ps *pieces) *Tensor {
	first := ps.list[0]
	if len(ps.list) == 1 {
		return p.fit(p.rule(first.n, []op.Value{first.g})[0], first.n.inSpecs[0])
	}
	slices.SortFunc(ps.list, func(x, y piece) int { return x.from - y.from })
	b := &builder{p}
	whole := first.n.inSpecs[0]
	attrs := op.Attrs{{Name: "dim", Value: ps.dim}}
	if whole.Dims[ps.dim] == len(ps.list) && !slices.ContainsFunc(ps.list, func(x piece) bool { return x.n.def.Name != "select" }) {
		all := make([]op.Value, len(ps.list))
		for i, x := range ps.list {
			all[i] = x.g
		}
		return b.tensor(b.Do("stack", attrs, all...))
	}
	var all []op.Value
	at := 0
	upTo := func(to int) {
		if at < to {
			s := shape.Spec{DType: whole.DType, Dims: slices.Clone(whole.Dims)}
			s.Dims[ps.dim] = to - at
			all = append(all, b.Full(s, 0))
		}
	}
	for _, x := range ps.list {
		upTo(x.from)
		var g op.Value = x.g
		if x.n.def.Name == "select" {
			g = b.Do("unsqueeze", attrs, g)
		}
		all = append(all, g)
		at = max(at, x.to) // an empty piece may lie behind one that begins with it
	}
	upTo(whole.Dims[ps.dim])
	return b.tensor(b.Do("cat", attrs, all...))
}
