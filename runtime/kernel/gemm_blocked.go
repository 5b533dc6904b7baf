package kernel

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/simd"
)

// blocks is one step of a product: kb terms of n columns, b being packed.
type blocks[T factor] struct {
	g       *simd.Kernels[T]
	kb      int
	a, b, c matrix[T]
	m, n    int
	right   []T  // panels of g.Cols columns, or only the last, incomplete one
	inPlace bool // the complete panels of b are read where they are
	add     bool // to c
	// rows brings m rows of a from row i on into dst, which has room for
	// leftRoom of them, when a is no matrix of T; a is not used then.
	rows func(dst []T, i, m int) matrix[T]
}

// leftRoom is the number of elements that m widened rows of kb terms take.
func leftRoom(m, kb int) int { return (m + 32) * (kb + 32) }

// multiplyBlocks computes a product with the micro-kernels. b is copied into
// panels as wide as a tile, by all threads, unless so few rows of a meet it
// that the copy would not pay; then the threads take blocks of the result.
func multiplyBlocks[T factor](g *simd.Kernels[T], q product[T], threads int) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	inPlace := q.b.col == 1 && (q.m <= 2*g.Rows || q.k*q.n <= smallRight)
	rows, cols := blockSizes(g, q.m, min(q.n, nBlock), threads)
	for j := 0; j < q.n; j += nBlock {
		n := min(nBlock, q.n-j)
		panels := (n + g.Cols - 1) / g.Cols
		for p := 0; p < q.k; p += kBlock {
			kb := min(kBlock, q.k-p)
			s := blocks[T]{g: g, kb: kb, a: q.a.at(0, p), b: q.b.at(p, j), c: q.c.at(0, j), m: q.m, n: n, inPlace: inPlace, add: p > 0}
			if inPlace {
				s.right = take[T](mem, g.Cols*kb)
				if whole := n / g.Cols * g.Cols; whole < n {
					pack(g, s.right, s.b.at(0, whole).t(), n-whole, kb, g.Cols)
				}
			} else {
				s.right = take[T](mem, panels*g.Cols*kb)
				packWide(&s, threads, panels)
			}
			across := (n + cols - 1) / cols
			each(threads, (q.m+rows-1)/rows*across, func(t int) {
				i, j := t/across*rows, t%across*cols
				s.block(i, min(rows, s.m-i), j, min(j+cols, s.n))
			})
		}
	}
}

// packWide fills all panels of the right operand.
func packWide[T factor](s *blocks[T], threads, panels int) {
	w := s.g.Cols
	each(threads, panels, func(i int) {
		pack(s.g, s.right[i*w*s.kb:], s.b.at(0, i*w).t(), min(w, s.n-i*w), s.kb, w)
	})
}

// blockSizes gives the rows and columns of a block: at least four blocks a
// thread where the result is large enough.
func blockSizes[T factor](g *simd.Kernels[T], m, n, threads int) (rows, cols int) {
	rows, cols = min(roundUp(mBlock, g.Rows), roundUp(m, g.Rows)), roundUp(n, g.Cols)
	if threads == 1 {
		return rows, cols
	}
	count := func() int { return (m + rows - 1) / rows * ((n + cols - 1) / cols) }
	for count() < 4*threads {
		switch {
		case cols > 4*g.Cols && cols >= rows:
			cols = roundUp(cols/2, g.Cols)
		case rows > 2*g.Rows:
			rows = roundUp(rows/2, g.Rows)
		default:
			return rows, cols
		}
	}
	return rows, cols
}

// block computes rows i to i+m and columns j to end of the result.
func (s *blocks[T]) block(i, m, j, end int) {
	g, w := s.g, s.g.Cols
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	a := s.a.at(i, 0)
	if s.rows != nil {
		wide := panelMems.Get().(*panelMem)
		defer panelMems.Put(wide)
		a = s.rows(take[T](wide, leftRoom(m, s.kb)), i, m)
	}
	l := newLeft(g, mem, a, m, s.kb, end-j)
	for ; j < end; j += w {
		n := min(w, s.n-j)
		b, bK := s.right, w
		switch {
		case !s.inPlace:
			b = s.right[j*s.kb:]
		case n == w:
			b, bK = s.b.data[j:], s.b.row
		}
		for r := 0; r < m; r += g.Rows {
			rows := min(g.Rows, m-r)
			a, aRow, aK := l.panel(r)
			c := s.c.data[(i+r)*s.c.row+j:]
			if n == w {
				g.Tile(rows, w, s.kb, a, aRow, aK, b, bK, c, s.c.row, s.add)
				continue
			}
			cols := w
			if n <= g.Narrow {
				cols = g.Narrow
			}
			g.Tile(rows, cols, s.kb, a, aRow, aK, b, bK, l.edge, w, false)
			for q := range rows {
				storeSums(matrix[T]{c[q*s.c.row:], 0, 1}, l.edge[q*w:][:n], s.add)
			}
		}
	}
}

// A left is a block of rows of a as the micro-kernel reads them.
type left[T factor] struct {
	data   []T
	row, k int // strides of a row and of a term
	panels int // rows of a panel when each is stored apart, else 0
	kb     int
	edge   []T // room for a tile
}

// newLeft brings m rows and kb terms of a into form for a block of so many
// columns. Rows are read in place when they are dense and do not fall into the
// same cache sets, or when so few columns meet them that a copy would not pay.
func newLeft[T factor](g *simd.Kernels[T], mem *panelMem, a matrix[T], m, kb, cols int) left[T] {
	size := int(unsafe.Sizeof(*new(T)))
	l := left[T]{kb: kb}
	tile := g.Rows * g.Cols
	copied := a.col != 1 || a.row*size%cacheSetStride == 0 && m > 4
	if a.col == 1 && cols <= 4*g.Cols {
		copied = false
	}
	if !copied {
		l.edge = take[T](mem, tile)
		l.data, l.row, l.k = a.data, a.row, 1
		return l
	}
	if a.row == 1 && a.col != 1 {
		// The terms lie row by row: whole rows of a panel are copied.
		buf := take[T](mem, tile+roundUp(m, g.Rows)*kb+g.Cols)
		l.edge, l.data = buf[:tile], buf[tile:]
		l.panels, l.row, l.k = g.Rows, 1, g.Rows
		for r := 0; r < m; r += g.Rows {
			g.CopyRows(kb, min(g.Rows, m-r), a.data[r:], a.col, l.data[r*kb:], g.Rows)
		}
		return l
	}
	ld := roundUp(kb, 16) + 16
	buf := take[T](mem, tile+m*ld)
	l.edge, l.data = buf[:tile], buf[tile:]
	l.row, l.k = ld, 1
	for r := range m {
		dst := l.data[r*ld:][:kb]
		if a.col == 1 {
			copy(dst, a.data[r*a.row:])
			continue
		}
		q := r * a.row
		for p := range dst {
			dst[p] = a.data[q]
			q += a.col
		}
	}
	return l
}

// panel gives the rows from r on with their strides.
func (l *left[T]) panel(r int) (data []T, rowStride, kStride int) {
	if l.panels != 0 {
		return l.data[r*l.kb:], l.row, l.k
	}
	return l.data[r*l.row:], l.row, l.k
}

// pack copies x[rows,k], rows ≤ w, into a panel: term p of row i is at dst[p*w+i].
// Missing rows are filled up with zeros.
func pack[T factor](g *simd.Kernels[T], dst []T, x matrix[T], rows, k, w int) {
	dst = dst[:w*k]
	if x.row == 1 && rows == w && w == g.Cols {
		g.CopyRows(k, w, x.data, x.col, dst, w)
		return
	}
	first := 0
	if x.col == 1 && g.Lanes > 0 {
		for ; first+g.Lanes <= rows; first += g.Lanes {
			whole := k / g.Lanes * g.Lanes
			g.Transpose(whole, x.data[first*x.row:], x.row, dst[first:], w)
			for r := first; r < first+g.Lanes; r++ {
				for p := whole; p < k; p++ {
					dst[p*w+r] = x.data[r*x.row+p]
				}
			}
		}
	}
	if x.row == 1 && first == 0 {
		for p := range k {
			clear(dst[p*w : (p+1)*w][copy(dst[p*w:][:rows], x.data[p*x.col:]):])
		}
		return
	}
	for r := first; r < w; r++ {
		if r >= rows {
			for p := range k {
				dst[p*w+r] = 0
			}
			continue
		}
		q := r * x.row
		for p := range k {
			dst[p*w+r] = x.data[q]
			q += x.col
		}
	}
}
