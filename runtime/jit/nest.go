package jit

import (
	"slices"
	"unsafe"
)

// A nest is one call with its dimensions merged as far as all operands allow.
// Operands are the inputs followed by the outputs.
type nest struct {
	dims  []int // the last is the row
	str   []int // bytes: of operand k along dimension i, str[k*len(dims)+i]
	base  []unsafe.Pointer
	rows  int
	cols  int
	packs []int // operands that are copied to or from a dense row
	band  int   // rows that are copied at a time
	layout
}

// operand gives operand k.
func (p *Program) operand(c *Call, k int) (*Operand, *slot) {
	if k < len(p.ins) {
		return &c.In[k], &p.ins[k]
	}
	return &c.Out[k-len(p.ins)], &p.outs[k-len(p.ins)]
}

// whole says whether a row is computed as one: it is folded, or gives one element.
func (p *Program) whole() bool {
	for _, o := range p.outs {
		if o.row {
			return true
		}
	}
	return p.reduces
}

// rowwise says whether the last dimension means something to the program.
func (p *Program) rowwise() bool {
	for _, in := range p.ins {
		if in.row {
			return true
		}
	}
	return p.columns || p.keepRow || p.whole()
}

// waits makes outputs first … last-1 wait in a dense row when a later pass would
// read what an earlier one wrote.
func (n *nest) waits(v *variant, first, last int) {
	if !n.alias || !v.plan.readsLate() {
		return
	}
	for o := first; o < last; o++ {
		if !v.plan.outs[o-len(v.plan.ins)].row && !contains(n.packs, o) {
			n.packs = append(n.packs, o)
		}
	}
}

// build describes c, which was checked.
func (n *nest) build(p *Program, c *Call) {
	ops := len(p.ins) + len(p.outs)
	rank := max(1, len(c.Dims))
	n.dims, n.str, n.base, n.packs = n.dims[:0], n.str[:0], n.base[:0], n.packs[:0]
	n.layout, n.band = layout{}, 1
	for i := range rank {
		d := 1
		if len(c.Dims) > 0 {
			d = c.Dims[i]
		}
		n.dims = append(n.dims, d)
	}
	for k := range ops {
		o, s := p.operand(c, k)
		size := s.size
		first := o.Offset * size
		if slices.Contains(c.Dims, 0) && first >= len(o.Buf) {
			first = 0 // there is no element
		}
		n.base = append(n.base, unsafe.Add(unsafe.Pointer(unsafe.SliceData(o.Buf)), first))
		for i := range rank {
			x := 0
			if i < len(o.Strides) && n.dims[i] != 1 && !(s.row && i == rank-1) {
				x = o.Strides[i] * size
			}
			n.str = append(n.str, x)
		}
	}
	rank = n.merge(rank, ops, p.rowwise())
	n.rows = 1
	for _, d := range n.dims[:rank-1] {
		n.rows *= d
	}
	n.cols = n.dims[rank-1]
	n.classify(p, ops)
}

// streams says whether every output is large, dense along the row, aligned, and no input.
func (n *nest) streams(p *Program, bytes int) bool {
	for i := range p.outs {
		if !n.streamsOut(len(p.ins)+i, p.outs[i].size, bytes) {
			return false
		}
	}
	return !n.alias
}

func (n *nest) streamsOut(k, size, bytes int) bool {
	rank := len(n.dims)
	at := uintptr(n.base[k])
	for _, s := range n.str[k*rank : (k+1)*rank-1] {
		at |= uintptr(s)
	}
	return n.rows*n.cols*size >= bytes && n.str[(k+1)*rank-1] == size && at%64 == 0
}

// merge joins neighbouring dimensions that every operand walks as one; a row
// that means something is left as it is.
func (n *nest) merge(rank, ops int, rowwise bool) int {
	kept := 0 // dimensions kept so far, in front
	for i := range rank {
		last := i == rank-1
		if n.dims[i] == 1 && !(last && (rowwise || kept == 0)) {
			continue
		}
		if kept > 0 && !(last && rowwise) {
			joins := true
			for k := range ops {
				if n.str[k*rank+kept-1] != n.str[k*rank+i]*n.dims[i] {
					joins = false
					break
				}
			}
			if joins {
				n.dims[kept-1] *= n.dims[i]
				for k := range ops {
					n.str[k*rank+kept-1] = n.str[k*rank+i]
				}
				continue
			}
		}
		n.dims[kept] = n.dims[i]
		for k := range ops {
			n.str[k*rank+kept] = n.str[k*rank+i]
		}
		kept++
	}
	for k := range ops {
		copy(n.str[k*kept:(k+1)*kept], n.str[k*rank:k*rank+kept])
	}
	n.dims, n.str = n.dims[:kept], n.str[:ops*kept]
	return kept
}

// classify finds what moves how along the row.
func (n *nest) classify(p *Program, ops int) {
	rank := len(n.dims)
	for k := range ops {
		in := k < len(p.ins)
		var s *slot
		if in {
			s = &p.ins[k]
		} else {
			s = &p.outs[k-len(p.ins)]
			for _, b := range n.base[:len(p.ins)] {
				n.alias = n.alias || b == n.base[k]
			}
		}
		if s.row || n.cols <= 1 {
			continue
		}
		switch n.str[k*rank+rank-1] {
		case s.size:
		case 0:
			if in && k < 64 {
				n.splat |= 1 << k
				continue
			}
			n.packs = append(n.packs, k)
		default:
			n.packs = append(n.packs, k)
		}
	}
}

// seek sets the pointers of w to row r, column col.
func (n *nest) seek(w *work, r, col int) {
	rank := len(n.dims)
	copy(w.ptr, n.base)
	for k := range w.ptr {
		w.ptr[k] = unsafe.Add(w.ptr[k], col*n.str[k*rank+rank-1])
	}
	for i := rank - 2; i >= 0 && r > 0; i-- {
		at := r % n.dims[i]
		r /= n.dims[i]
		for k := range w.ptr {
			w.ptr[k] = unsafe.Add(w.ptr[k], at*n.str[k*rank+i])
		}
	}
	w.col = col
}

// inner is how many rows lie in the last dimension outside the row.
func (n *nest) inner() int {
	if len(n.dims) < 2 {
		return 1
	}
	return n.dims[len(n.dims)-2]
}
