package jit

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
)

// Sums along columns are made while rows are walked: to sixteen lanes of a
// column's sum, which the program sees as one more input and output, row r adds
// its value to lane r mod 16. Lanes and blocks are folded by programs of their own.

// columns is what a kernel with outputs of one element a column runs.
type columns struct {
	inner  *Kernel // adds to lanes: inputs and outputs of lanes come last
	sums   []columnSum
	others []int // outputs that are no sums
}

type columnSum struct {
	out                 int // output of the program
	size                int // bytes of what is added
	fold, join, convert *Kernel
}

// ColOut declares the next output, which has one element for each column: the
// sum of v over all rows, converted to d as Out does. Rows are added in the order
// in which Sum adds elements of a row. The strides of the output but the last are
// ignored.
func (b *Builder) ColOut(d dtype.DType, v Value) {
	if !b.Type(v).float() && b.Type(v) != I32 && b.Type(v) != I64 {
		b.mistake(OpSum, v)
	}
	b.outs = append(b.outs, slot{dtype: d, size: storageOf(d).bytes(), col: true, value: v})
}

// plain is the element type that holds values of type t.
func plain(t Type) dtype.DType {
	return [...]dtype.DType{F32: dtype.F32, F64: dtype.F64, I32: dtype.I32, I64: dtype.I64}[t]
}

// newColumns makes the programs behind p; nil when it sums no columns.
func newColumns(p *Program, e *Engine) *columns {
	q := *p
	q.keepRow = true
	q.nodes = append([]node(nil), p.nodes...)
	q.row = append([]bool(nil), p.row...)
	q.ins = append([]slot(nil), p.ins...)
	q.outs = nil
	cs := &columns{}
	var lanesOut []slot
	for i, o := range p.outs {
		if !o.col {
			cs.others = append(cs.others, i)
			q.outs = append(q.outs, o)
			continue
		}
		t := p.nodes[o.value].typ
		d := plain(t)
		size := storageOf(d).bytes()
		lane := Value(len(q.nodes))
		q.nodes = append(q.nodes, node{op: OpIn, typ: t, imm: uint64(len(q.ins))}, node{op: OpAdd, typ: t, args: [3]Value{lane, o.value}})
		q.row = append(q.row, false, false)
		q.ins = append(q.ins, slot{dtype: d, size: size, value: lane})
		lanesOut = append(lanesOut, slot{dtype: d, size: size, value: lane + 1})
		cs.sums = append(cs.sums, columnSum{i, size, e.Kernel(foldLanes(d)), e.Kernel(joinBlocks(d)), e.Kernel(converts(d, o.dtype))})
	}
	if len(cs.sums) == 0 {
		return nil
	}
	q.outs = append(q.outs, lanesOut...)
	cs.inner = newKernel(&q, e)
	return cs
}

// foldLanes folds sixteen inputs in halves.
func foldLanes(d dtype.DType) *Program {
	b := NewBuilder()
	var x [lanes]Value
	for l := range x {
		x[l] = b.In(d)
	}
	for w := lanes / 2; w > 0; w /= 2 {
		for l := range w {
			x[l] = b.Add(x[l], x[l+w])
		}
	}
	b.Out(d, x[0])
	return b.Program()
}

func joinBlocks(d dtype.DType) *Program {
	b := NewBuilder()
	b.Out(d, b.Add(b.In(d), b.In(d)))
	return b.Program()
}

func converts(from, to dtype.DType) *Program {
	b := NewBuilder()
	b.Out(to, b.In(from))
	return b.Program()
}

// columnTile is how many columns are added at a time when rows may be cut: the
// lanes stay in the nearest cache.
const columnTile = 256

// run computes c, which was checked.
func (cs *columns) run(c *Call) error {
	outer, cols := split(c.Dims)
	rows := 1
	for _, d := range outer {
		rows *= d
	}
	k := cs.inner
	lay := make([]int, len(c.Dims))
	if len(lay) > 0 {
		lay[len(lay)-1] = 1
	}
	d := Call{Dims: c.Dims, Params: c.Params, Parallel: c.Parallel, In: append([]Operand(nil), c.In...)}
	for _, o := range cs.others {
		d.Out = append(d.Out, c.Out[o])
	}
	// Where lanes lie is set for each tile; until then any memory will do.
	dummy := Operand{Buf: wordBytes(make([]uint64, cols+padWords)), Strides: lay}
	other := Operand{Buf: wordBytes(make([]uint64, cols+padWords)), Strides: lay}
	for range cs.sums {
		d.In, d.Out = append(d.In, dummy), append(d.Out, other)
	}
	n := &nest{}
	n.build(k.program, &d)
	if cols == 0 { // there may be outputs of one element a row
		k.run(&d, n)
		return nil
	}
	v := k.variant(n.layout)
	n.waits(v, len(v.plan.ins), len(v.plan.ins)+len(cs.others))
	width := cols
	if !k.program.whole() && cols > columnTile {
		width = columnTile
	}
	tiles, blocks := (cols+width-1)/width, blocksOf(rows)
	parts := make([][]byte, len(cs.sums))
	for i, s := range cs.sums {
		parts[i] = wordBytes(make([]uint64, (blocks*cols*s.size+7)/8+padWords))
	}
	walk := func(lo, hi int) {
		for u := lo; u < hi; u++ {
			cs.tile(&d, n, v, parts, u/tiles, u%tiles*width, width, rows)
		}
	}
	if c.Parallel == nil {
		walk(0, tiles*blocks)
	} else {
		c.Parallel(tiles*blocks, max(1, grainWork/k.weight/(width*min(rows+1, block))), walk)
	}
	for i, s := range cs.sums {
		if err := s.finish(c, parts[i], blocks, cols); err != nil {
			return err
		}
	}
	return nil
}

// tile adds the rows of a block, for width columns from col on.
func (cs *columns) tile(c *Call, n *nest, v *variant, parts [][]byte, b, col, width, rows int) {
	k := cs.inner
	cols := min(width, n.cols-col)
	w := v.work(c, n, cols)
	acc := make([][]byte, len(cs.sums))
	for i, s := range cs.sums {
		acc[i] = wordBytes(make([]uint64, (lanes*cols*s.size+7)/8+padWords))
	}
	ins, outs := len(v.plan.ins)-len(cs.sums), len(v.plan.ins)+len(cs.others)
	for r := b * block; r < min((b+1)*block, rows); {
		m := min(lanes-r%lanes, min((b+1)*block, rows)-r, n.inner()-r%n.inner(), max(1, callWork/k.weight/cols))
		if len(n.packs) > 0 {
			m = 1
		}
		n.seek(w, r, col)
		for i, s := range cs.sums {
			p := unsafe.Pointer(&acc[i][r%lanes*cols*s.size])
			w.ptr[ins+i], w.ptr[outs+i] = p, p
			w.step[ins+i], w.step[outs+i] = cols*s.size, cols*s.size
		}
		if len(n.packs) > 0 {
			k.packedRows(n, v, w, m, cols)
		} else {
			v.rows(w, m, cols)
		}
		r += m
	}
	v.free(w)
	for i, s := range cs.sums {
		f := Call{Out: []Operand{{Buf: parts[i], Offset: b*n.cols + col}}}
		for l := range lanes {
			f.In = append(f.In, Operand{Buf: acc[i], Offset: l * cols})
		}
		if s.fold.RunFlat(cols, &f) != nil {
			panic("jit: lanes of a column's sum do not hold a tile")
		}
	}
}

// finish folds the sums of blocks in pairs and converts the result.
func (s *columnSum) finish(c *Call, part []byte, blocks, cols int) error {
	at := func(i int) Operand { return Operand{Buf: part, Offset: i * cols} }
	for n := blocks; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			if err := s.join.RunFlat(cols, &Call{In: []Operand{at(2 * i), at(2*i + 1)}, Out: []Operand{at(i)}}); err != nil {
				return err
			}
		}
		if n%2 == 1 {
			copy(part[n/2*cols*s.size:][:cols*s.size], part[(n-1)*cols*s.size:][:cols*s.size])
		}
	}
	out := c.Out[s.out]
	step := 1
	if len(out.Strides) > 0 {
		step = out.Strides[len(out.Strides)-1]
	}
	out.Strides = []int{step}
	in := at(0)
	in.Strides = []int{1}
	return s.convert.Run(&Call{Dims: []int{cols}, In: []Operand{in}, Out: []Operand{out}, Parallel: c.Parallel})
}

// wordBytes is the memory of words.
func wordBytes(w []uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 8*len(w)) }
