package jit

import "unsafe"

// Operands that are neither dense nor still along the row are copied to dense
// rows and back. Several rows are copied at a time, so that a transposed array is
// read a cache line at a time.

// packedRows computes m rows of cols elements through dense copies of operands.
func (k *Kernel) packedRows(n *nest, v *variant, w *work, m, cols int) {
	rank, ins := len(n.dims), len(v.plan.ins)
	strides := func(o int) (row, col int) {
		if rank > 1 {
			row = n.str[o*rank+rank-2]
		}
		return row, n.str[o*rank+rank-1]
	}
	var outs [8]unsafe.Pointer
	back := outs[:0]
	for i, o := range n.packs {
		dense := unsafe.Pointer(&w.rowBuf[len(v.plan.kept)+i][0])
		row, col := strides(o)
		if o < ins {
			size := v.plan.ins[o].size
			copyElements(dense, w.ptr[o], m, cols, [2]int{cols * size, size}, [2]int{row, col}, size)
			w.step[o] = cols * size
		} else {
			back = append(back, w.ptr[o])
			w.step[o] = cols * v.plan.outs[o-ins].size
		}
		w.ptr[o] = dense
	}
	v.rows(w, m, cols)
	for i, o := range n.packs {
		if o >= ins {
			dense := unsafe.Pointer(&w.rowBuf[len(v.plan.kept)+i][0])
			row, col := strides(o)
			size := v.plan.outs[o-ins].size
			copyElements(back[0], dense, m, cols, [2]int{row, col}, [2]int{cols * size, size}, size)
			back = back[1:]
		}
	}
}

// copyElements copies m rows of n elements; to and from are bytes between rows
// and between elements.
func copyElements(d, s unsafe.Pointer, m, n int, to, from [2]int, size int) {
	if m > 1 && min(abs(to[0]), abs(from[0])) < min(abs(to[1]), abs(from[1])) || m > 1 && (abs(from[0]) == size || abs(to[0]) == size) {
		m, n = n, m
		to[0], to[1] = to[1], to[0]
		from[0], from[1] = from[1], from[0]
	}
	for r := range m { // no pointer may point beyond its array, so none is moved on
		d, s := unsafe.Add(d, r*to[0]), unsafe.Add(s, r*from[0])
		switch size {
		case 1:
			move[uint8](d, s, n, to[1], from[1])
		case 2:
			move[uint16](d, s, n, to[1], from[1])
		case 4:
			move[uint32](d, s, n, to[1], from[1])
		default:
			move[uint64](d, s, n, to[1], from[1])
		}
	}
}

func abs(x int) int { return max(x, -x) }

func move[T any](d, s unsafe.Pointer, n, to, from int) {
	for i := range n {
		*(*T)(unsafe.Add(d, i*to)) = *(*T)(unsafe.Add(s, i*from))
	}
}
