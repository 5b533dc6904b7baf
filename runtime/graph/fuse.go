package graph

import (
	"slices"

	"github.com/tpush/tpush/runtime/shape"
)

// A Group is the nodes of one device kernel.
type Group struct {
	Nodes  []int  // indices into Graph.Nodes, ascending; cheap nodes may be in several groups
	Writes []int  // the nodes whose results leave it; each node is written by one group at most
	Rule   string // id of the rule that ended it
	Kind   string // loop, output (holds a product) and custom as in XLA; scalar for work of the scalar core
}

// maxCopies is into how many kernels an elementwise operation is copied rather
// than written and read: 16 % of operations sit in two kernels or more.
const maxCopies = 4

// fuseKind is how the rules see a node.
type fuseKind uint8

const (
	isFree    fuseKind = iota // costs nothing, copied into every user
	isLoop                    // elementwise
	isReduce                  // ends its kernel, takes its producers in
	isProduct                 // matrix product or convolution
	isJoin                    // concatenation: takes nothing in, joins its user
	isAlone
)

// A fuser holds what the rules look at. Nodes are named by their index.
type fuser struct {
	g       *Graph
	kind    []fuseKind
	out     []bool  // an output of the graph
	users   [][]use // through free nodes
	uses    []int   // number of operand positions that read the node
	batched []bool  // a product of several matrices
	next    []int   // the epilogue node that follows in the kernel of a product, or -1

	roots []string  // rule by which a node is written, "" when it is not
	in    [][]int32 // kernels the node is in, named by their first root
	into  []int32   // union-find over roots: kernels merged into others

	seen  []int32 // scratch of the search for paths
	stack []int32
	stamp int32
}

// A use is one reading of a value.
type use struct {
	node  int
	same  bool // element for element: neither broadcast nor sliced nor permuted
	wider bool // broadcast to more elements
	moved bool // the same elements in another order
}

// Fuse says which nodes form which kernel, in an order in which they can run.
func Fuse(g *Graph) []Group {
	f := newFuser(g)
	f.claimEpilogues()
	f.chooseRoots()
	f.merge()
	return f.groups()
}

func newFuser(g *Graph) *fuser {
	n := len(g.Nodes)
	f := &fuser{
		g: g, kind: make([]fuseKind, n), out: outputs(g), users: make([][]use, n), uses: make([]int, n),
		next: make([]int, n), batched: make([]bool, n), roots: make([]string, n), in: make([][]int32, n), into: make([]int32, n), seen: make([]int32, n),
	}
	for i, node := range g.Nodes {
		f.kind[i] = kindOf(node)
		f.batched[i] = f.kind[i] == isProduct && costOf(node).B > 1
		f.next[i] = -1
		f.into[i] = int32(i)
	}
	for i, node := range g.Nodes {
		if f.kind[i] == isFree && !f.out[i] {
			continue // its users read
		}
		for _, r := range node.In {
			f.read(i, r, use{node: i, same: true})
		}
	}
	return f
}

// read notes that node i reads r, perhaps through free nodes.
func (f *fuser) read(i int, r Ref, u use) {
	for r.Node != nil && r.Node.Def != nil {
		k := r.Node.Index
		if f.kind[k] != isFree || f.out[k] {
			n, m := f.elements(k), f.elements(i)
			if f.kind[i] == isLoop && n != m {
				u.same, u.wider = false, n < m
			}
			f.users[k] = append(f.users[k], u)
			f.uses[k]++
			return
		}
		if len(r.Node.In) == 0 {
			return // a constant
		}
		from := r.Node.In[0]
		switch before, after := from.Spec().Size(), r.Spec().Size(); {
		case before < after:
			u.same, u.wider = false, true
		case before > after:
			u.same = false
		case !keepsOrder(r.Node):
			u.same, u.moved = false, true
		}
		r = from
	}
}

func (f *fuser) elements(i int) int { return f.g.Nodes[i].Outs[0].Size() }

// keepsOrder says whether a view sees all elements of its operand in their order.
func keepsOrder(n *Node) bool {
	if n.Def.View == nil {
		return true
	}
	v, err := n.Def.View(shape.Dense(n.In[0].Spec().Dims), n.Attrs)
	return err != nil || v.Contiguous() && v.Offset == 0
}

// claimEpilogues gives each product the elementwise operations that follow it.
// A chain stops where a value is used twice (F8) or leaves; but when all uses of
// the product itself come together again, all of them follow it. Later
// products choose first, so that the sum of two products follows the second.
func (f *fuser) claimEpilogues() {
	claimed := make([]bool, len(f.kind))
	for m := len(f.kind) - 1; m >= 0; m-- {
		if f.kind[m] != isProduct || f.out[m] {
			continue
		}
		t := m
		if len(f.users[m]) > 1 {
			members, end := f.rejoin(m, claimed)
			for _, i := range members {
				f.next[i], claimed[i] = end, true
			}
			t = end
			claimed[t] = true
		}
		for !f.out[t] && len(f.users[t]) == 1 {
			u := f.users[t][0]
			if !f.joins(u, claimed) || f.widens(u.node) && (f.out[u.node] || len(f.users[u.node]) > 1) {
				break
			}
			f.next[t] = u.node
			claimed[u.node] = true
			t = u.node
		}
		if f.batched[m] {
			f.claimRows(t, claimed)
		}
	}
}

// joins says whether a use can be part of an epilogue. A transposition is no
// obstacle: the product writes its result in that order.
func (f *fuser) joins(u use, claimed []bool) bool {
	return (u.same || u.moved) && !claimed[u.node] && f.kind[u.node] == isLoop && !f.scalar(u.node)
}

// rejoin follows the uses of product m until one value depends on all of them.
// It gives the nodes before that value, m included, and the value; none and m when they never meet.
func (f *fuser) rejoin(m int, claimed []bool) (members []int, end int) {
	inside := map[int]bool{m: true}
	members = []int{m}
	for len(members) <= maxDiamond {
		// The next node is the first that reads a member; a member is open while it has other readers.
		next := -1
		for _, i := range members {
			if f.out[i] || len(f.users[i]) == 0 {
				return nil, m
			}
			for _, u := range f.users[i] {
				if inside[u.node] {
					continue
				}
				if !f.joins(u, claimed) {
					return nil, m
				}
				if next < 0 || u.node < next {
					next = u.node
				}
			}
		}
		if next < 0 {
			return nil, m
		}
		inside[next] = true
		open := false
		for _, i := range members {
			for _, u := range f.users[i] {
				open = open || !inside[u.node]
			}
		}
		if !open {
			return members, next
		}
		members = append(members, next)
	}
	return nil, m
}

// maxDiamond bounds how far the uses of a product are followed.
const maxDiamond = 64

// chooseRoots goes backwards and decides which values are written, and in
// which kernels the others are computed.
func (f *fuser) chooseRoots() {
	for i := len(f.kind) - 1; i >= 0; i-- {
		if f.kind[i] == isFree && !f.out[i] {
			continue
		}
		if rule := f.rootRule(i); rule != "" {
			f.roots[i] = rule
			f.in[i] = []int32{int32(i)}
			if rule == "F2" && f.kind[i] == isLoop && !f.follows(i) {
				f.copyInto(i)
			}
		}
	}
}

// copyInto computes a written row statistic again in the kernels of its own
// size that use it, which saves them a read.
func (f *fuser) copyInto(i int) {
	for _, u := range f.users[i] {
		if !u.same || f.kind[u.node] != isLoop {
			continue
		}
		for _, k := range f.in[u.node] {
			if f.elements(int(k)) == f.elements(i) && len(f.in[i]) <= maxCopies && !slices.Contains(f.in[i], k) {
				f.in[i] = append(f.in[i], k)
			}
		}
	}
}

// rootRule gives the rule by which node i must be written; "" when it is
// computed inside the kernels of its users, which are then noted.
func (f *fuser) rootRule(i int) string {
	switch {
	case f.out[i] || len(f.users[i]) == 0:
		return "OUT"
	case f.next[i] >= 0:
		f.in[i] = f.in[f.next[i]]
		return ""
	case f.kind[i] == isReduce:
		return "F4"
	case f.kind[i] == isAlone || f.kind[i] == isFree:
		return "F12"
	case f.scalar(i):
		return "F18"
	}
	var kernels []int32
	for _, u := range f.users[i] {
		if rule := f.refuse(i, u); rule != "" {
			return rule
		}
		for _, k := range f.in[u.node] {
			if !slices.Contains(kernels, k) {
				kernels = append(kernels, k)
			}
		}
	}
	limit := maxCopies
	switch {
	case f.kind[i] != isLoop || f.follows(i):
		limit = 1
	case f.widens(i):
		limit = len(kernels)
	}
	if len(kernels) > limit {
		return "F16"
	}
	f.in[i] = kernels
	return ""
}

// scalar says whether i computes one number from numbers: work of the scalar core.
func (f *fuser) scalar(i int) bool {
	return f.kind[i] == isLoop && len(f.g.Nodes[i].Outs[0].Dims) == 0
}

// widens says whether i converts to a wider type: its operand is always the
// cheaper one to read.
func (f *fuser) widens(i int) bool {
	n := f.g.Nodes[i]
	return f.kind[i] == isLoop && len(n.In) == 1 && n.In[0].Node != nil && n.In[0].Spec().DType.Bits() < n.Outs[0].DType.Bits()
}

// follows says whether i is the end of the epilogue of a product.
func (f *fuser) follows(i int) bool {
	for _, r := range f.g.Nodes[i].In {
		if r.Node != nil && r.Node.Def != nil && f.next[r.Node.Index] == i {
			return true
		}
	}
	return false
}

// refuse gives the rule that keeps i out of the kernel of a user, "" for none.
func (f *fuser) refuse(i int, u use) string {
	product := f.kind[i] == isProduct || f.follows(i)
	switch f.kind[u.node] {
	case isLoop:
		switch {
		case u.wider:
			return "F2"
		case u.moved:
			return "F17"
		case !u.same:
			return "F14"
		case product && f.next[i] != u.node:
			return "F8"
		}
	case isReduce:
		if u.wider {
			return "F2"
		}
	case isProduct:
		switch {
		case product:
			return "F9"
		case u.wider:
			return "F2"
		}
	case isFree:
		return "F17"
	case isAlone, isJoin:
		return "F12"
	}
	return ""
}
