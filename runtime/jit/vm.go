package jit

import "unsafe"

// The tile machine runs a plan in Go on any processor: an operation at a time
// over a tile of elements, so that the cost of choosing the operation is paid
// once a tile, and tiles stay in the nearest cache.

// tile is the number of elements of a tile; a block is a whole number of them.
const tile = 256

// vm is a plan with a tile for each value.
type vm struct {
	*plan
	place  []int // tiles of the row's values
	splat  []bool
	passes []vmPass
	tiles  int
}

type vmPass struct {
	steps []vmStep
	folds []int // tiles that are folded
	keep  []int // tiles that are kept
	outs  []int // tiles that are stored
}

// vmStep is one operation on tiles. A recalled value has op opNone, and imm is
// its scratch row.
type vmStep struct {
	op      Op
	typ     Type // of the result
	arg     Type // of the first operand
	d       int
	x, y, z int
	imm     uint64
}

// newVM gives values of the row a tile for good, values of elements one that is
// used again after their last use.
func newVM(pl *plan) machine {
	m := &vm{plan: pl, place: make([]int, len(pl.nodes)), splat: make([]bool, len(pl.nodes))}
	for v := 1; v < len(pl.nodes); v++ {
		if pl.row[v] {
			m.place[v] = m.tiles
			m.tiles++
		}
	}
	base := m.tiles
	for i := range pl.passes {
		p, used := m.compile(&pl.passes[i], base)
		m.passes = append(m.passes, p)
		m.tiles = max(m.tiles, base+used)
	}
	return m
}

func (m *vm) compile(q *pass, base int) (p vmPass, used int) {
	end := len(q.body)
	last := make([]int, len(m.nodes))
	for j, v := range q.body {
		if n := &m.nodes[v]; !q.recall[j] {
			for _, a := range n.args[:sigs[n.op].args] {
				last[a] = j
			}
		}
	}
	place := append([]int(nil), m.place...)
	root := func(v Value) {
		last[v] = end
		m.splat[v] = m.row[v]
	}
	for _, v := range q.keep {
		root(v)
	}
	for _, o := range q.outs {
		root(m.outs[o].value)
	}
	for _, f := range q.folds {
		root(m.nodes[f].args[0])
	}
	var free []int
	for j, v := range q.body {
		n := &m.nodes[v]
		s := vmStep{op: n.op, typ: n.typ, imm: n.imm}
		if q.recall[j] {
			s.op = opNone
			s.imm = uint64(m.scratchRow(v))
		}
		var args []Value
		if s.op != opNone {
			args = n.args[:sigs[n.op].args]
		}
		if len(args) > 0 {
			s.arg = m.nodes[args[0]].typ
		}
		at := [3]*int{&s.x, &s.y, &s.z}
		for k, a := range args {
			*at[k] = place[a]
			m.splat[a] = m.splat[a] || m.row[a]
		}
		// The result may not overwrite an operand: types of different widths share no layout.
		if len(free) == 0 {
			s.d = base + used
			used++
		} else {
			s.d = free[len(free)-1]
			free = free[:len(free)-1]
		}
		place[v] = s.d
		for k, a := range args {
			if last[a] == j && !m.row[a] && (k == 0 || a != args[0]) && (k < 2 || a != args[1]) {
				free = append(free, place[a])
			}
		}
		p.steps = append(p.steps, s)
	}
	for _, v := range q.keep {
		p.keep = append(p.keep, place[v])
	}
	for _, o := range q.outs {
		p.outs = append(p.outs, place[m.outs[o].value])
	}
	for _, f := range q.folds {
		p.folds = append(p.folds, place[m.nodes[f].args[0]])
	}
	return p, used
}

// vmFrame is the memory of one goroutine.
type vmFrame struct {
	vals  []uint64 // of the row's values
	tiles []uint64
}

func (m *vm) frame() any {
	f := &vmFrame{vals: make([]uint64, len(m.nodes)), tiles: make([]uint64, m.tiles*tile)}
	for v := 1; v < len(m.nodes); v++ {
		if n := &m.nodes[v]; n.op == OpConst {
			m.setRow(f, Value(v), n.imm)
		}
	}
	return f
}

// tileOf is tile i, as elements of type T.
func tileOf[T any](f *vmFrame, i, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&f.tiles[i*tile])), n)
}

// setRow sets a value of the row, and its tile when elements are computed from it.
func (m *vm) setRow(f *vmFrame, v Value, x uint64) {
	f.vals[v] = x
	if !m.splat[v] {
		return
	}
	if m.nodes[v].typ.wide() {
		fill(tileOf[uint64](f, m.place[v], tile), x)
	} else {
		fill(tileOf[uint32](f, m.place[v], tile), uint32(x))
	}
}

func fill[T any](d []T, x T) {
	for i := range d {
		d[i] = x
	}
}

func (m *vm) begin(w *work) {
	f := w.frame.(*vmFrame)
	for _, v := range m.start {
		m.rowValue(w, f, v)
	}
}

// rowValue computes one value of the row.
func (m *vm) rowValue(w *work, f *vmFrame, v Value) {
	n := &m.nodes[v]
	switch n.op {
	case OpConst:
	case OpParam:
		x := w.params[n.imm]
		if !n.typ.wide() {
			x = uint64(uint32(x))
		}
		m.setRow(f, v, x)
	case OpRowIn:
		var x [1]uint64
		loadTile(x[:], storageOf(m.ins[n.imm].dtype), w.ptr[n.imm], 1)
		if !n.typ.wide() {
			x[0] = uint64(view[uint32](x[:], 1)[0])
		}
		m.setRow(f, v, x[0])
	default:
		m.setRow(f, v, eval(n, m.nodes[n.args[0]].typ, f.vals[n.args[0]], f.vals[n.args[1]], f.vals[n.args[2]]))
	}
}

func (m *vm) pass(w *work, i, lo, hi int) {
	f := w.frame.(*vmFrame)
	q, p := &m.plan.passes[i], &m.passes[i]
	for b := lo; b < hi; b += block {
		e := min(b+block, hi)
		var lane [8][lanes]uint64
		acc := lane[:min(len(q.folds), len(lane))]
		if len(q.folds) > len(lane) {
			acc = make([][lanes]uint64, len(q.folds))
		}
		for k, v := range q.folds {
			startLanes(&acc[k], &m.nodes[v])
		}
		for t := b; t < e; t += tile {
			n := min(tile, e-t)
			for s := range p.steps {
				m.step(w, f, &p.steps[s], t, n)
			}
			for k, v := range q.folds {
				foldTile(&acc[k], &m.nodes[v], f, p.folds[k], n)
			}
			for k, v := range q.keep {
				size := 4
				if m.nodes[v].typ.wide() {
					size = 8
				}
				copyBytes(unsafe.Add(w.kept[m.scratchRow(v)], t*size), unsafe.Pointer(&f.tiles[p.keep[k]*tile]), n*size)
			}
			for k, o := range q.outs {
				s := storageOf(m.outs[o].dtype)
				storeTile(unsafe.Add(w.ptr[len(m.ins)+o], t*s.bytes()), s, unsafe.Pointer(&f.tiles[p.outs[k]*tile]), m.nodes[m.outs[o].value].typ.wide(), n)
			}
		}
		for k, v := range q.folds {
			w.parts[m.part[v]][b/block] = endLanes(&acc[k], &m.nodes[v])
		}
	}
}

func (m *vm) finish(w *work, i, cols int) {
	f := w.frame.(*vmFrame)
	q := &m.plan.passes[i]
	for _, v := range q.folds {
		n := &m.nodes[v]
		add := node{op: foldOp(n.op), typ: n.typ}
		m.setRow(f, v, foldPairs(w.parts[m.part[v]][:blocksOf(cols)], func(x, y uint64) uint64 { return eval(&add, n.typ, x, y, 0) }))
	}
	for _, v := range q.after {
		m.rowValue(w, f, v)
	}
	if i < len(m.passes)-1 {
		return
	}
	for _, o := range m.rowOut {
		x := [1]uint64{f.vals[m.outs[o].value]}
		wide := m.nodes[m.outs[o].value].typ.wide()
		if !wide {
			view[uint32](x[:], 1)[0] = uint32(x[0])
		}
		storeTile(w.ptr[len(m.ins)+o], storageOf(m.outs[o].dtype), unsafe.Pointer(&x[0]), wide, 1)
	}
}

func (m *vm) share(to, from *work) {
	f, g := to.frame.(*vmFrame), from.frame.(*vmFrame)
	for v := 1; v < len(m.nodes); v++ {
		if m.row[v] && m.nodes[v].op != OpConst {
			m.setRow(f, Value(v), g.vals[v])
		}
	}
}

func (m *vm) rows(w *work, rows, cols int) {
	for r := range rows {
		m.begin(w)
		for i := range m.passes {
			m.pass(w, i, 0, cols)
			if cols == 0 {
				m.emptyRow(w, i)
			}
			m.finish(w, i, cols)
		}
		if r < rows-1 {
			for k := range w.ptr {
				w.ptr[k] = unsafe.Add(w.ptr[k], w.step[k])
			}
		}
	}
}

// emptyRow leaves the identity of each reduction as its one partial result.
func (m *vm) emptyRow(w *work, i int) {
	for _, v := range m.plan.passes[i].folds {
		var acc [lanes]uint64
		startLanes(&acc, &m.nodes[v])
		w.parts[m.part[v]][0] = endLanes(&acc, &m.nodes[v])
	}
}

// step computes one tile of n elements, the first of which is column t.
func (m *vm) step(w *work, f *vmFrame, s *vmStep, t, n int) {
	d := unsafe.Pointer(&f.tiles[s.d*tile])
	switch s.op {
	case opNone:
		size := 4
		if s.typ.wide() {
			size = 8
		}
		copyBytes(d, unsafe.Add(w.kept[s.imm], t*size), n*size)
	case OpIn:
		st := storageOf(m.ins[s.imm].dtype)
		loadTile(f.tiles[s.d*tile:], st, unsafe.Add(w.ptr[s.imm], t*st.bytes()), n)
	case OpColumn:
		if s.typ == I64 {
			count(tileOf[uint64](f, s.d, n), uint64(w.col+t))
		} else {
			count(tileOf[uint32](f, s.d, n), uint32(w.col+t))
		}
	default:
		tileOp(f, s, n)
	}
}

func count[T uint32 | uint64](d []T, from T) {
	for i := range d {
		d[i] = from + T(i)
	}
}
