package graph

import "slices"

// find gives the kernel that kernel k was merged into.
func (f *fuser) find(k int32) int32 {
	for f.into[k] != k {
		f.into[k] = f.into[f.into[k]]
		k = f.into[k]
	}
	return k
}

// maxSiblings bounds how many readers of one value are tried in pairs.
const maxSiblings = 32

// A draft is a kernel while kernels merge.
type draft struct {
	nodes    []int // without free ones, ascending
	roots    []int // values written
	products int
	elements int  // of its loop
	single   bool // never merges: alone, join
	reduce   bool // its last root is a reduction
	reads    []int
}

// merge joins kernels of one element count that feed each other or share an
// operand (F11), and reductions of the result of a product with it (F6), when
// no path through a third kernel forbids it.
func (f *fuser) merge() {
	d := f.drafts()
	byReader := map[int][]int32{} // value → kernels that read it
	for i := range f.kind {
		k := f.find(int32(i))
		a := d[k]
		if a == nil || f.roots[i] == "" {
			continue
		}
		// Element for element, from the kernel that writes i to those that read it.
		if !a.single && f.kind[i] != isReduce {
			for _, u := range f.users[i] {
				if !f.aligned(i, u) {
					continue
				}
				for _, k2 := range slices.Clone(f.in[u.node]) {
					f.tryMerge(d, int32(i), k2)
				}
			}
		}
	}
	for i := range f.kind {
		if a := d[f.find(int32(i))]; a != nil && f.roots[i] != "" && int32(i) == f.find(int32(i)) {
			for _, v := range a.reads {
				byReader[v] = append(byReader[v], int32(i))
			}
		}
	}
	values := make([]int, 0, len(byReader))
	for v := range byReader {
		values = append(values, v)
	}
	slices.Sort(values)
	for _, v := range values {
		if ks := byReader[v]; len(ks) <= maxSiblings {
			for j := range ks {
				for _, k := range ks[:j] {
					a, b := d[f.find(k)], d[f.find(ks[j])]
					if a != b && a.products+b.products == 0 && a.elements == f.valueElements(v) {
						f.tryMerge(d, k, ks[j])
					}
				}
			}
		}
	}
}

// valueElements is the size of a value as reads names it.
func (f *fuser) valueElements(v int) int {
	if v < 0 {
		return f.g.Inputs[-1-v].Outs[0].Size()
	}
	return f.elements(v)
}

// drafts collects the nodes of each kernel.
func (f *fuser) drafts() []*draft {
	d := make([]*draft, len(f.kind))
	for i := range f.kind {
		for _, k := range f.in[i] {
			a := d[k]
			if a == nil {
				a = &draft{}
				d[k] = a
			}
			a.nodes = append(a.nodes, i)
			switch f.kind[i] {
			case isProduct:
				a.products++
			case isAlone, isJoin, isFree:
				a.single = true
			case isLoop:
				a.single = a.single || f.scalar(i)
			}
		}
	}
	for k, a := range d {
		if a == nil {
			continue
		}
		a.roots = []int{int(k)}
		a.reduce = f.kind[k] == isReduce
		a.elements = f.elements(int(k))
		if a.reduce {
			a.elements = f.operandElements(int(k))
		}
		a.reads = f.reads(a.nodes, int32(k))
	}
	return d
}

// operandElements is the size of the largest operand: the loop of a reduction.
func (f *fuser) operandElements(i int) int {
	n := 0
	for _, r := range f.g.Nodes[i].In {
		if r.Node != nil {
			n = max(n, r.Spec().Size())
		}
	}
	return n
}

// reads lists what kernel k takes from outside: written nodes as their index,
// inputs of the graph as -1 minus theirs.
func (f *fuser) reads(nodes []int, k int32) []int {
	var all []int
	for _, i := range nodes {
		for _, r := range f.g.Nodes[i].In {
			for r.Node != nil && r.Node.Def != nil && f.kind[r.Node.Index] == isFree && !f.out[r.Node.Index] && len(r.Node.In) > 0 {
				r = r.Node.In[0]
			}
			switch {
			case r.Node == nil:
			case r.Node.Def == nil:
				if v := -1 - r.Node.Index; !slices.Contains(all, v) {
					all = append(all, v)
				}
			case !slices.Contains(f.in[r.Node.Index], k) && f.roots[r.Node.Index] != "":
				if !slices.Contains(all, r.Node.Index) {
					all = append(all, r.Node.Index)
				}
			}
		}
	}
	return all
}

// tryMerge makes one kernel of those that a and b belong to, if the rules allow it.
func (f *fuser) tryMerge(d []*draft, a, b int32) bool {
	a, b = f.find(a), f.find(b)
	x, y := d[a], d[b]
	if a == b || x == nil || y == nil || x.single || y.single || x.elements != y.elements || x.products+y.products > 1 {
		return false
	}
	if x.reduce && y.reduce && x.products+y.products > 0 {
		return false // F6 takes one reduction
	}
	if !f.elementForElement(x, b) || !f.elementForElement(y, a) || f.between(d, a, b) || f.between(d, b, a) {
		return false
	}
	x.nodes = append(x.nodes, y.nodes...)
	slices.Sort(x.nodes)
	x.nodes = slices.Compact(x.nodes)
	x.roots = append(x.roots, y.roots...)
	x.products += y.products
	x.reduce = x.reduce || y.reduce
	x.reads = append(x.reads, y.reads...)
	x.reads = slices.DeleteFunc(x.reads, func(v int) bool { return v >= 0 && f.find(f.in[v][0]) == a || v >= 0 && f.find(f.in[v][0]) == b })
	slices.Sort(x.reads)
	x.reads = slices.Compact(x.reads)
	d[b] = nil
	f.into[b] = a
	return true
}

// aligned says whether u reads the written value r element for element. A
// product writes its result in the order in which it is read.
func (f *fuser) aligned(r int, u use) bool {
	return u.same || u.moved && (f.kind[r] == isProduct || f.follows(r))
}

// elementForElement says whether kernel to reads what kernel a writes only
// element for element, if at all.
func (f *fuser) elementForElement(a *draft, to int32) bool {
	for _, r := range a.roots {
		for _, u := range f.users[r] {
			for _, k := range f.in[u.node] {
				if f.find(k) == to && (!f.aligned(r, u) || f.kind[r] == isReduce || f.kind[u.node] == isProduct) {
					return false
				}
			}
		}
	}
	return true
}

// maxSearch bounds the search for a path; beyond it kernels stay apart.
const maxSearch = 4096

// between says whether a third kernel reads from from, directly or not, and feeds to.
func (f *fuser) between(d []*draft, from, to int32) bool {
	f.stamp++
	f.seen[to] = f.stamp
	stack := append(f.stack[:0], to)
	steps := 0
	for len(stack) > 0 {
		k := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, v := range d[k].reads {
			if v < 0 {
				continue
			}
			p := f.find(f.in[v][0])
			if p == from && k != to || steps > maxSearch {
				f.stack = stack
				return true
			}
			if p != from && f.seen[p] != f.stamp {
				f.seen[p] = f.stamp
				stack = append(stack, p)
				steps++
			}
		}
	}
	f.stack = stack
	return false
}

// groups lists the kernels in an order in which they can run.
func (f *fuser) groups() []Group {
	d := f.drafts()
	for i := range f.kind {
		if k := int32(i); f.roots[i] != "" && f.find(k) != k {
			x, y := d[f.find(k)], d[k]
			x.nodes = append(x.nodes, y.nodes...)
			x.roots = append(x.roots, y.roots...)
			x.reads = append(x.reads, y.reads...)
			x.products += y.products
			x.single = x.single || y.single
			d[k] = nil
		}
	}
	var order []int32
	done := map[int32]bool{}
	var visit func(k int32)
	visit = func(k int32) {
		if done[k] {
			return
		}
		done[k] = true
		slices.Sort(d[k].reads)
		for _, v := range d[k].reads {
			if v >= 0 {
				if p := f.find(f.in[v][0]); p != k {
					visit(p)
				}
			}
		}
		order = append(order, k)
	}
	for i := range f.kind {
		if f.roots[i] != "" {
			visit(f.find(int32(i)))
		}
	}
	groups := make([]Group, 0, len(order))
	for _, k := range order {
		a := d[k]
		nodes := a.nodes
		for at := 0; at < len(nodes); at++ {
			for _, r := range f.g.Nodes[nodes[at]].In {
				if n := r.Node; n != nil && n.Def != nil && f.kind[n.Index] == isFree && !f.out[n.Index] && !slices.Contains(nodes, n.Index) {
					nodes = append(nodes, n.Index)
				}
			}
		}
		slices.Sort(nodes)
		grp := Group{Nodes: slices.Compact(nodes), Writes: a.roots, Rule: f.roots[slices.Max(a.roots)], Kind: "loop"}
		slices.Sort(grp.Writes)
		switch {
		case a.products > 0:
			grp.Kind = "output"
		case f.scalar(int(k)):
			grp.Kind = "scalar"
		case a.single && f.kind[k] != isFree:
			grp.Kind = "custom"
		}
		groups = append(groups, grp)
	}
	return groups
}
