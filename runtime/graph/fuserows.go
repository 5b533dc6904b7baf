package graph

// maxRowElements is the longest row of which a block of eight rows of 32-bit
// numbers fits the on-chip budget of a kernel, 16 MiB.
const maxRowElements = 16 << 20 / (8 * 4)

// claimRows lets the row statistics of a batched product join its kernel
// (F10): t, the end of the epilogue, then its largest element a row, the
// difference, the exponential. The kernel ends there; the sum of the
// exponentials merges with it, and the division is left to the next product.
// A softmax that is one operation joins as a whole.
//
//	t ─┬─ r (reduce) ─ w ─┐
//	   └───────────────── s ─ … ─ e ─┬─ sum
//	                                 └─ …
func (f *fuser) claimRows(t int, claimed []bool) {
	if f.out[t] {
		return
	}
	switch users := f.users[t]; len(users) {
	case 1:
		u := users[0].node
		if users[0].same && f.kind[u] == isReduce && f.elements(u) == f.elements(t) && f.rowsFit(t, f.elements(t)/max(f.lastDim(t), 1)) {
			f.next[t], claimed[u] = u, true
		}
	case 2:
		r, s := users[0], users[1]
		if f.kind[r.node] != isReduce {
			r, s = s, r
		}
		if f.kind[r.node] != isReduce || len(f.g.Nodes[r.node].Outs) != 1 || !r.same || !f.joins(s, claimed) || f.out[r.node] || !f.rowsFit(t, f.elements(r.node)) {
			return
		}
		members := []int{t, r.node}
		w := r.node
		for len(f.users[w]) == 1 && f.users[w][0].same && f.kind[f.users[w][0].node] == isLoop {
			w = f.users[w][0].node
			members = append(members, w)
		}
		if f.out[w] || len(f.users[w]) != 1 || f.users[w][0].node != s.node || !f.users[w][0].wider {
			return
		}
		e := s.node
		for !f.out[e] && len(f.users[e]) == 1 && f.joins(f.users[e][0], claimed) {
			members = append(members, e)
			e = f.users[e][0].node
		}
		for _, i := range members {
			f.next[i], claimed[i] = e, true
		}
		claimed[e] = true
	}
}

// rowsFit says whether t has rows enough for the given number of them and blocks of rows fit on chip.
func (f *fuser) rowsFit(t, rows int) bool {
	return rows > 0 && f.elements(t)/rows <= maxRowElements
}

func (f *fuser) lastDim(i int) int {
	d := f.g.Nodes[i].Outs[0].Dims
	if len(d) == 0 {
		return 1
	}
	return d[len(d)-1]
}
