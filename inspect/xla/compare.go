package xla

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/shape"
)

// compare sets what we predict for an array of a graph.
func (a *Array) compare(s shape.Spec) {
	l := shape.LayoutOf(s)
	a.predicted(l.String(), s.PaddedBytes())
}

// compareShape sets what we predict for an array of a module that is not ours.
func (a *Array) compareShape(s hlo.Shape) {
	dims := make([]int, len(s.Dims))
	n := int64(1)
	for i, d := range s.Dims {
		if d < 0 || d > 0 && n > 1<<50/d {
			return
		}
		n *= d
		dims[i] = int(d)
	}
	plain := s
	plain.Dims, plain.Bits = []int64{8}, 0
	bits := int(plain.Bytes())
	if bits == 0 || s.IsTuple() {
		return
	}
	l := shape.LayoutFor(s.Type, bits, dims)
	a.predicted(l.String(), l.Bytes)
}

func (a *Array) predicted(text string, padded int64) {
	_, layout, _ := strings.Cut(text, "{")
	if a.OurLayout, a.OurPadded = "", padded; layout != "" {
		a.OurLayout = "{" + layout
	}
	a.Same = a.OurLayout == a.Layout && a.OurPadded == a.Padded
}

// Compare finds for each kernel of the compiler those of the prediction with
// the same operations, and says where the two differ.
func Compare(g *graph.Graph, c *Compiled, p *Predicted) *Match {
	m := &Match{}
	for _, list := range [][]Array{c.Params, c.Results} {
		for i := range list {
			if list[i].OurPadded > 0 || list[i].OurLayout != "" {
				m.Layouts++
			}
			if list[i].Same {
				m.LayoutsSame++
			}
		}
	}
	if p == nil || p.Error != "" || g == nil {
		return m
	}
	counted := map[uint64]bool{} // operations that some kernel of ours computes
	for i := range p.Kernels {
		p.Kernels[i].Real = []int{}
		if p.Kernels[i].Unit == scalarKernel {
			continue
		}
		m.Ours++
		for _, n := range p.Kernels[i].OpNs {
			counted[n] = true
		}
	}
	homes := homesOf(c)
	for r := range c.Kernels {
		k := &c.Kernels[r]
		for _, n := range k.own(homes) {
			for _, i := range p.kernelsOf(n) {
				if p.Kernels[i].Unit != scalarKernel && !slices.Contains(k.Ours, i) {
					k.Ours = append(k.Ours, i)
				}
			}
		}
		slices.Sort(k.Ours)
		for _, i := range k.Ours {
			p.Kernels[i].Real = append(p.Kernels[i].Real, r)
		}
	}
	for r := range c.Kernels {
		k := &c.Kernels[r]
		if k.Same, k.Difference = difference(c, p, k, counted, homes); len(k.Ours) > 0 && !k.Moves && k.Unit != scalarKernel {
			m.Kernels++
			if k.Same {
				m.Same++
			}
		}
	}
	m.edges(g, c, p, counted)
	m.HBMRatio, m.TimeRatio, m.RooflineRate = ratio(p.HBM, c.Memory.HBM), ratio(p.TimeNS, c.TimeNS), ratio(p.TimeNS, c.RooflineNS)
	return m
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// homesOf counts the kernels of the compiler that hold an operation.
func homesOf(c *Compiled) map[uint64]int {
	homes := map[uint64]int{}
	for i := range c.Kernels {
		if k := &c.Kernels[i]; !k.Moves && k.Unit != scalarKernel {
			for _, n := range k.OpNs {
				homes[n]++
			}
		}
	}
	return homes
}

// own lists the operations of a kernel that the fewest kernels compute: what is
// cheap is often computed anew in every kernel that reads it.
func own(ops []uint64, homes func(uint64) int) []uint64 {
	var list []uint64
	least := 0
	for _, n := range ops {
		switch h := homes(n); {
		case len(list) == 0 || h < least:
			list, least = []uint64{n}, h
		case h == least:
			list = append(list, n)
		}
	}
	return list
}

func (k *Kernel) own(homes map[uint64]int) []uint64 {
	return own(k.OpNs, func(n uint64) int { return homes[n] })
}

func (k *PredictedKernel) own(p *Predicted) []uint64 {
	return own(k.OpNs, func(n uint64) int { return len(p.kernelsOf(n)) })
}

// difference says how a kernel of the compiler differs from ours.
func difference(c *Compiled, p *Predicted, k *Kernel, counted map[uint64]bool, homes map[uint64]int) (same bool, text string) {
	switch {
	case k.Moves || k.Unit == scalarKernel:
		return false, ""
	case len(k.Ours) == 0:
		return false, "not predicted"
	case len(k.Ours) > 1:
		return false, "joins " + kernelNames(k.Ours)
	}
	mine := &p.Kernels[k.Ours[0]]
	var others []string
	for _, r := range mine.Real {
		if o := &c.Kernels[r]; o != k && !o.Moves && o.Unit != scalarKernel {
			others = append(others, o.Name)
		}
	}
	if len(others) > 0 {
		text := "ours joins " + others[0]
		if n := len(others) - 1; n > 0 {
			text += fmt.Sprintf(" +%d", n)
		}
		return false, text
	}
	if sameOps(mine.own(p), k.own(homes), counted) || sameOps(mine.OpNs, k.OpNs, counted) {
		return true, ""
	}
	return false, moreAndLess(k, mine)
}

// moreAndLess says which operations only one of two kernels has.
func moreAndLess(k *Kernel, mine *PredictedKernel) string {
	only := func(ops []string, other []string) string {
		ops = slices.DeleteFunc(slices.Clone(ops), func(o string) bool { return slices.Contains(other, o) })
		if len(ops) > shownNames {
			ops = append(ops[:shownNames], "…")
		}
		return strings.Join(ops, " ")
	}
	var parts []string
	if s := only(mine.Ops, k.Ops); s != "" {
		parts = append(parts, "ours adds "+s)
	}
	if s := only(k.Ops, mine.Ops); s != "" {
		parts = append(parts, "ours lacks "+s)
	}
	return strings.Join(parts, "; ")
}

// shownNames is how many kernels a difference names.
const shownNames = 3

func kernelNames(list []int) string {
	var names []string
	for i, k := range list {
		if i == shownNames {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("k%d", k+1))
	}
	return strings.Join(names, ", ")
}

// sameOps compares two sets of operations, those left out that no kernel of
// ours computes.
func sameOps(a, b []uint64, counted map[uint64]bool) bool {
	set := func(list []uint64) []uint64 {
		list = slices.DeleteFunc(slices.Clone(list), func(n uint64) bool { return !counted[n] })
		slices.Sort(list)
		return slices.Compact(list)
	}
	return slices.Equal(set(a), set(b))
}

// edges counts the pairs of an operation and one that reads it which both
// fuse, or both keep apart.
func (m *Match) edges(g *graph.Graph, c *Compiled, p *Predicted, counted map[uint64]bool) {
	real := map[uint64][]int{}
	for r := range c.Kernels {
		if c.Kernels[r].Moves {
			continue
		}
		for _, n := range c.Kernels[r].OpNs {
			real[n] = append(real[n], r)
		}
	}
	for _, n := range g.Nodes {
		for _, from := range sources(n, counted) {
			if !counted[n.Op] || len(real[n.Op]) == 0 || len(real[from]) == 0 {
				continue
			}
			m.Edges++
			if meet(real[n.Op], real[from]) == meet(p.kernelsOf(n.Op), p.kernelsOf(from)) {
				m.EdgesSame++
			}
		}
	}
}

// sources lists the operations that a node reads, through those that no kernel computes.
func sources(n *graph.Node, counted map[uint64]bool) []uint64 {
	var all []uint64
	seen := map[*graph.Node]bool{}
	var walk func(n *graph.Node)
	walk = func(n *graph.Node) {
		for _, r := range n.In {
			x := r.Node
			if x == nil || x.Def == nil || seen[x] {
				continue
			}
			seen[x] = true
			if counted[x.Op] {
				all = append(all, x.Op)
				continue
			}
			walk(x)
		}
	}
	walk(n)
	return all
}

func meet(a, b []int) bool {
	return slices.ContainsFunc(a, func(i int) bool { return slices.Contains(b, i) })
}

// linesAt adds up what source lines hold of HBM at a step, the most first.
func linesAt(buffers []Buffer, step int) []Line {
	lines := []Line{}
	at := map[string]int{}
	for i := range buffers {
		u := &buffers[i]
		if u.Space != "HBM" || u.Kind == inPlace || u.First < 0 || step < u.First || step > u.Last {
			continue
		}
		where := u.Where
		if where == "" {
			where = u.What
		}
		k, ok := at[where]
		if !ok {
			k = len(lines)
			at[where] = k
			lines = append(lines, Line{Where: where})
		}
		lines[k].Bytes += u.Bytes
		if !strings.Contains(lines[k].What, u.What) {
			lines[k].What = strings.TrimPrefix(lines[k].What+" "+u.What, " ")
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return lines
}
