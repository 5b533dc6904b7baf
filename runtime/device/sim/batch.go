package sim

import (
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A batch is tasks of a lateSlab that are computed together, as one program: a
// loop fills one slab after the other with the same tasks, and what one of them
// makes only for the next then stays in registers.
type batch struct {
	links  []link
	seen   int            // how often it came
	fusion *kernel.Fusion // once it is worth it, and when it is possible
	stored []int          // tasks whose results are stored
	in     []kernel.Array
	out    []kernel.Array
}

// A link is one task of a batch.
type link struct {
	step   *step
	in     [lateOperands]int16 // per operand: a task of the batch, or ^i for its input i
	stored bool                // no other task of the batch reads the result
}

const (
	// batchesKept is how many batches are remembered: a loop whose body does not
	// fill a lateSlab evenly makes several, in turns.
	batchesKept = 8
	// batchAfter is how often a batch comes before it is made a program: that
	// takes as long as some thousand small operations.
	batchAfter = 4
	// batchLeast is the fewest tasks that are.
	batchLeast = 8
)

// batches are the batches that came last.
type batches struct {
	kept [batchesKept]batch
	next int    // the one that is forgotten for a new one
	last *batch // that ran last
	now  []link
	in   [][]byte
}

// run computes the tasks from the given one on as one program, and says whether
// it has: a batch that is new, or is none, is left alone. So is one whose tasks read
// little of one another, which leaves more results than a program has.
func (c *batches) run(s *lateSlab, from int) bool {
	if s.n-from < batchLeast || s.stored(from) > groupOuts {
		return false
	}
	c.describe(s, from)
	x := c.find()
	if x.seen++; x.seen == batchAfter {
		x.build()
	}
	if x.fusion != nil {
		x.compute(c.in, s, from)
		c.last = x
	}
	clear(c.in)
	return x.fusion != nil
}

// stored counts the results from the given one on that no other task reads.
func (s *lateSlab) stored(from int) int {
	n := 0
	for i := from; i < s.n; i++ {
		if s.tasks[i].uses == 0 {
			n++
		}
	}
	return n
}

// describe writes the batch down: its links, and the arrays that are its inputs,
// numbered as they come.
func (c *batches) describe(s *lateSlab, from int) {
	c.now, c.in = c.now[:0], c.in[:0]
	var input [lateTasks * lateOperands]int16 // 1 + the number of an array of s.outside
	for i := from; i < s.n; i++ {
		t := &s.tasks[i]
		l := link{step: t.step, stored: t.uses == 0}
		for j := range t.step.in {
			k := t.in[j]
			if k >= 0 {
				l.in[j] = k - int16(from)
				continue
			}
			if input[^k] == 0 {
				c.in = append(c.in, s.outside[^k])
				input[^k] = int16(len(c.in))
			}
			l.in[j] = ^(input[^k] - 1)
		}
		c.now = append(c.now, l)
	}
}

// find gives the batch that was written down, one that was not seen yet if it is new.
func (c *batches) find() *batch {
	for i := range c.kept {
		if x := &c.kept[i]; slices.Equal(x.links, c.now) {
			return x
		}
	}
	x := &c.kept[c.next]
	c.next = (c.next + 1) % batchesKept
	*x = batch{links: append(x.links[:0], c.now...)}
	return x
}

// build makes the program of x if its tasks can be one.
func (x *batch) build() {
	var space []int
	var in []shape.Spec
	var nodes []kernel.FusedNode
	for i := range x.links {
		l := &x.links[i]
		st := l.step
		out := st.outs[0].Spec()
		over, ok := kernel.Fuses(string(st.def.Name), st.attrs, st.types, out)
		if !ok || !kernel.Recipes(string(st.def.Name)) || op.Lookup(st.def.Name) != st.def || kernel.AlongRows(string(st.def.Name)) {
			return
		}
		if i == 0 {
			space = over
		}
		if !shape.EqualDims(over, space) || !shape.EqualDims(out.Dims, space) {
			return
		}
		for j := range st.in {
			k := int(^l.in[j])
			switch {
			case k < 0:
			case k == len(in):
				in = append(in, st.types[j])
			case !in[k].Equal(st.types[j]) || in[k].Weak != st.types[j].Weak:
				return // the same array seen in two ways
			}
		}
		nodes = append(nodes, kernel.FusedNode{Row: string(st.def.Name), Attrs: st.attrs, Out: out})
	}
	var outs []int
	for i := range x.links {
		l := &x.links[i]
		for j := range l.step.in {
			v := int(^l.in[j])
			if v < 0 {
				v = len(in) + int(l.in[j])
			}
			nodes[i].In = append(nodes[i].In, v)
		}
		if l.stored {
			outs = append(outs, len(in)+i)
			x.stored = append(x.stored, i)
			x.out = append(x.out, l.step.outs[0])
		}
	}
	if len(in) > groupInputs {
		return
	}
	for _, s := range in {
		x.in = append(x.in, kernel.Array{DType: s.DType, View: shape.Dense(s.Dims)})
	}
	x.fusion = kernel.NewFusion(space, in, nodes, outs)
}

// compute runs the program of x, on these arrays, for the tasks from the given one on.
func (x *batch) compute(in [][]byte, s *lateSlab, from int) {
	for i, b := range in {
		x.in[i].Buf = b
	}
	for j, i := range x.stored {
		x.out[j].Buf = s.buffers[from+i].buf
	}
	err := x.fusion.Run(x.in, x.out, func(i int) kernel.Attrs { return s.tasks[from+i].attrs })
	if err != nil {
		panic(err) // the same programs have run before: the kernels have the types
	}
	for i := range x.in {
		x.in[i].Buf = nil
	}
	for j := range x.out {
		x.out[j].Buf = nil
	}
}
