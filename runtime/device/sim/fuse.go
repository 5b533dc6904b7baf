package sim

import (
	"slices"

	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// On the host, neighbouring elementwise operations and reductions of rows run as
// one program. The plan, which prices the kernels of the chip, knows nothing of
// it, and the bits are those of running the operations one by one.

// What one program holds at most. A longer chain is cut into programs of equal
// structure, which are compiled once.
const (
	groupNodes  = 40
	groupInputs = 16
	groupOuts   = 8
)

// A group is the steps that one fusion computes.
type group struct {
	fusion *kernel.Fusion
	nodes  []int // of the graph
	slots  []int // results that are stored
	in     []kernel.Array
	out    []kernel.Array
	attrs  func(node int) kernel.Attrs
}

// A forming group takes steps until somebody outside needs one of its results.
// It runs where its last step stood.
type forming struct {
	space  []int
	steps  []int
	inputs map[int]bool // slots
	folds  bool         // has an operation along rows
	closed bool
	into   *forming // merged into
}

func (f *forming) root() *forming {
	for f.into != nil {
		f = f.into
	}
	return f
}

// fuse replaces the steps that can run together. outs says which slots are results of the graph.
func (x *executable) fuse(g *graph.Graph, outs []bool) {
	if len(g.Nodes) < 2 {
		return
	}
	maker := make([]int, len(x.arrays)) // step that computes a slot
	for i := range maker {
		maker[i] = -1
	}
	of := make([]*forming, len(x.steps))
	for i := range x.steps {
		s := &x.steps[i]
		for k := s.first; k < s.first+len(s.outs); k++ {
			maker[k] = i
		}
		space, rows, ok := x.fusible(g, s)
		var join []*forming
		for _, k := range s.in {
			if k < 0 || maker[k] < 0 || of[maker[k]] == nil {
				continue
			}
			f := of[maker[k]].root()
			switch {
			case f.closed || slices.Contains(join, f):
			case ok && x.joins(f, s, of, maker, rows):
				join = append(join, f)
			default:
				f.closed = true
			}
		}
		if !ok {
			continue
		}
		of[i] = x.join(join, i, space, of, maker)
		of[i].folds = of[i].folds || rows
	}
	x.replace(g, of, maker, outs)
}

// fusible says whether a step can be part of a group, over which dimensions,
// and whether it works along rows.
func (x *executable) fusible(g *graph.Graph, s *step) (space []int, rows, ok bool) {
	if s.how != compute || s.late || len(s.outs) != 1 || s.outs[0].Size() == 0 {
		return nil, false, false
	}
	n := g.Nodes[s.node]
	if !kernel.Recipes(string(n.Def.Name)) || op.Lookup(n.Def.Name) != n.Def || len(n.In) == 0 || n.In[0].Node == nil {
		return nil, false, false
	}
	in := specs(n.In)
	space, ok = kernel.Fuses(string(n.Def.Name), n.Attrs, in, n.Outs[0])
	if !ok || shape.Size(space) == 0 {
		return nil, false, false
	}
	return space, kernel.AlongRows(string(n.Def.Name)), true
}

// joins says whether step s can be computed in f, whose results it reads.
func (x *executable) joins(f *forming, s *step, of []*forming, maker []int, rows bool) bool {
	out := s.outs[0].Dims
	row, ok := kernel.FusedRows(out, f.space)
	if !ok || rows && !shape.EqualDims(x.arrays[s.in[0]].Dims, f.space) {
		return false
	}
	for j, k := range s.in {
		if k < 0 {
			continue
		}
		inside := maker[k] >= 0 && of[maker[k]] != nil && of[maker[k]].root() == f
		dims := x.arrays[k].Dims
		if !inside {
			if !rows && row && shape.Size(dims) > 1 && len(dims) > len(out) {
				return false
			}
			continue
		}
		byRow, _ := kernel.FusedRows(dims, f.space)
		switch {
		case rows:
			if byRow || j > 0 && !shape.EqualDims(dims, f.space) {
				return false
			}
		case row:
			if !byRow || !shape.EqualDims(dims, out) {
				return false
			}
		case byRow && len(dims) != len(f.space):
			return false
		}
	}
	return true
}

// join adds step i to the groups, which become one, or to a new group.
func (x *executable) join(all []*forming, i int, space []int, of []*forming, maker []int) *forming {
	steps := 1
	inputs := map[int]bool{}
	for _, f := range all {
		steps += len(f.steps)
		for k := range f.inputs {
			inputs[k] = true
		}
	}
	for _, k := range x.steps[i].in {
		if k < 0 {
			continue
		}
		if m := maker[k]; m >= 0 && of[m] != nil && slices.Contains(all, of[m].root()) {
			continue
		}
		inputs[k] = true
	}
	same := true
	for _, f := range all[min(1, len(all)):] {
		same = same && shape.EqualDims(f.space, all[0].space)
	}
	if len(all) == 0 || !same || steps > groupNodes || len(inputs) > groupInputs {
		for _, f := range all {
			f.closed = true
		}
		in := map[int]bool{}
		for _, k := range x.steps[i].in {
			if k >= 0 {
				in[k] = true
			}
		}
		return &forming{space: space, steps: []int{i}, inputs: in}
	}
	into := all[0]
	for _, f := range all[1:] {
		into.steps = append(into.steps, f.steps...)
		into.folds = into.folds || f.folds
		f.into = into
	}
	into.steps, into.inputs = append(into.steps, i), inputs
	return into
}

// replace puts a step for each group of several where its last step stood.
func (x *executable) replace(g *graph.Graph, of []*forming, maker []int, outs []bool) {
	stored := slices.Clone(outs) // slots that somebody outside the group reads
	for i := range x.steps {
		for _, k := range x.steps[i].in {
			if k < 0 || maker[k] < 0 {
				continue
			}
			if from := of[maker[k]]; from == nil || of[i] == nil || from.root() != of[i].root() {
				stored[k] = true
			}
		}
	}
	steps := make([]step, 0, len(x.steps))
	for i := range x.steps {
		if of[i] == nil {
			steps = append(steps, x.steps[i])
			continue
		}
		f := of[i].root()
		switch {
		case len(f.steps) == 1:
			steps = append(steps, x.steps[i])
		case slices.Max(f.steps) == i:
			if s, ok := x.group(g, f, stored); ok {
				steps = append(steps, s)
				continue
			}
			slices.Sort(f.steps)
			for _, k := range f.steps {
				steps = append(steps, x.steps[k])
			}
		}
	}
	x.steps = steps
}

// group makes the step of f: no when too many of its results are read outside.
func (x *executable) group(g *graph.Graph, f *forming, stored []bool) (step, bool) {
	slices.Sort(f.steps)
	last := x.steps[f.steps[len(f.steps)-1]]
	s := step{def: last.def, attrs: last.attrs, node: x.steps[f.steps[0]].node, how: fused}
	gr := &group{}
	value := map[int]int{} // of a slot
	var in []shape.Spec
	for _, i := range f.steps {
		value[x.steps[i].first] = -1
	}
	for _, i := range f.steps {
		t := &x.steps[i]
		for j, k := range t.in {
			if _, ok := value[k]; k < 0 || ok {
				continue
			}
			value[k] = len(in)
			in = append(in, g.Nodes[t.node].In[j].Spec())
			s.in = append(s.in, k)
		}
	}
	var nodes []kernel.FusedNode
	var outs []int
	for _, i := range f.steps {
		t := &x.steps[i]
		n := kernel.FusedNode{Row: string(t.def.Name), Attrs: t.attrs, Out: g.Nodes[t.node].Outs[0]}
		for _, k := range t.in {
			v := -1
			if k >= 0 {
				v = value[k]
			}
			n.In = append(n.In, v)
		}
		value[t.first] = len(in) + len(nodes)
		if stored[t.first] {
			outs = append(outs, value[t.first])
			gr.slots = append(gr.slots, t.first)
			gr.out = append(gr.out, x.arrays[t.first])
		}
		nodes = append(nodes, n)
		gr.nodes = append(gr.nodes, t.node)
	}
	if len(outs) == 0 || len(outs) > groupOuts {
		return step{}, false
	}
	gr.in = make([]kernel.Array, len(s.in))
	gr.fusion = kernel.NewFusion(f.space, in, nodes, outs)
	gr.attrs = func(node int) kernel.Attrs {
		if k := gr.nodes[node]; k < len(x.launched) {
			return x.launched[k]
		}
		return nodes[node].Attrs
	}
	s.group = gr
	return s, true
}

// run computes the results of the group.
func (gr *group) run(x *executable, s *step) error {
	for j, k := range s.in {
		gr.in[j] = x.arrays[k]
	}
	for j, k := range gr.slots {
		gr.out[j].Buf = x.place(k, &gr.out[j])
	}
	return gr.fusion.Run(gr.in, gr.out, gr.attrs)
}

// forget lets go of the bytes of the last run.
func (gr *group) forget() {
	for j := range gr.in {
		gr.in[j].Buf = nil
	}
	for j := range gr.out {
		gr.out[j].Buf = nil
	}
}

// place gives slot k its bytes: in the arena, or those of an output.
func (x *executable) place(k int, o *kernel.Array) []byte {
	if from := x.arena[k]; from >= 0 {
		n := o.Size() * o.DType.HostBytes()
		x.arrays[k].Buf = x.dev.arena[from : from+n : from+(n+63)&^63]
	}
	return x.arrays[k].Buf
}

// results lists the slots that a step fills.
func (s *step) results() []int {
	if s.group != nil {
		return s.group.slots
	}
	r := make([]int, len(s.outs))
	for j := range r {
		r[j] = s.first + j
	}
	return r
}
