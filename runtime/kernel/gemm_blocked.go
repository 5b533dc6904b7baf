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
	packing bool // the first rows of the result copy the complete panels of b to right
	add     bool // to c
	// rows brings m rows of a from row i on into dst, which has room for
	// leftRoom of them, when a is no matrix of T; a is not used then.
	rows func(dst []T, i, m int) matrix[T]
}

// leftRoom is the number of elements that m widened rows of kb terms take.
func leftRoom(m, kb int) int { return (m + 32) * (kb + 32) }

// multiplyBlocks computes a product with the micro-kernels. b is copied into
// panels as wide as a tile, unless so few rows of a meet it that the copy would
// not pay: by all threads, before they take blocks of the result, or by the one
// there is as it multiplies the first rows, which hides the copy.
func multiplyBlocks[T factor](g *simd.Kernels[T], q product[T], threads int) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	inPlace := q.b.col == 1 && (q.m <= 2*g.Rows || q.k*q.n <= smallRight)
	packing := !inPlace && q.b.col == 1 && threads == 1
	rows, cols := blockSizes(g, q.m, min(q.n, nBlock), threads)
	for j := 0; j < q.n; j += nBlock {
		n := min(nBlock, q.n-j)
		panels := (n + g.Cols - 1) / g.Cols
		for p := 0; p < q.k; p += kBlock {
			kb := min(kBlock, q.k-p)
			s := blocks[T]{g: g, kb: kb, a: q.a.at(0, p), b: q.b.at(p, j), c: q.c.at(0, j), m: q.m, n: n, inPlace: inPlace, packing: packing, add: p > 0}
			first := 0 // panel to pack before
			if inPlace || packing {
				first = n / g.Cols
			}
			if inPlace {
				s.right = take[T](mem, g.Cols*kb)
			} else {
				s.right = take[T](mem, panels*g.Cols*kb)
			}
			each(threads, panels-first, func(i int) {
				j := (first + i) * g.Cols
				pack(g, s.panel(j), s.b.at(0, j).t(), min(g.Cols, n-j), kb, g.Cols)
			})
			across := (n + cols - 1) / cols
			each(threads, (q.m+rows-1)/rows*across, func(t int) {
				i, j := t/across*rows, t%across*cols
				s.block(i, min(rows, s.m-i), j, min(j+cols, s.n))
			})
		}
	}
}

// panel is the packed panel of column j.
func (s *blocks[T]) panel(j int) []T {
	if s.inPlace {
		return s.right
	}
	return s.right[j*s.kb:]
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
	packing := s.packing && i == 0
	for ; j < end; j += w {
		if j+w > s.n {
			s.edge(&l, i, m, j)
			continue
		}
		// What the next panel is read from comes from far: it is fetched meanwhile.
		var b []T
		var bK, ahead int
		if s.inPlace || packing {
			b, bK, ahead = s.b.data[j:], s.b.row, w
		} else {
			b, bK, ahead = s.panel(j), w, w*s.kb
		}
		next, nextRow := b[min(ahead, len(b)):], bK
		a, c, first := l.data, s.c.data[i*s.c.row+j:], 0
		if packing {
			packed := s.panel(j)
			g.PackTile(s.kb, a, l.row, l.k, b, bK, c, s.c.row, s.add, packed)
			a, b, bK, first = a[min(l.tile, len(a)):], packed, w, g.Rows
		}
		if first < m {
			g.Column(m-first, s.kb, a, l.row, l.k, l.tile, b, bK, c[first*s.c.row:], s.c.row, s.add, next, nextRow)
		}
	}
}

// edge computes the last columns of block, from j on, which do not fill a panel.
func (s *blocks[T]) edge(l *left[T], i, m, j int) {
	g, n, b := s.g, s.n-j, s.panel(j)
	cols := g.Cols
	if n <= g.Narrow {
		cols = g.Narrow
	}
	for r := 0; r < m; r += g.Rows {
		rows := min(g.Rows, m-r)
		g.Tile(rows, cols, s.kb, l.data[r/g.Rows*l.tile:], l.row, l.k, b, g.Cols, l.edge, g.Cols, false)
		for q := range rows {
			storeSums(matrix[T]{s.c.data[(i+r+q)*s.c.row+j:], 0, 1}, l.edge[q*g.Cols:][:n], s.add)
		}
	}
}

// A left is a block of rows of a as the micro-kernel reads them.
type left[T factor] struct {
	data         []T
	row, k, tile int // strides of a row, of a term and of the rows of a tile
	edge         []T // room for a tile
}

// newLeft brings m rows and kb terms of a into form for a block of so many
// columns. Rows are read in place when they are dense and do not fall into the
// same cache sets, or when so few columns meet them that a copy would not pay.
func newLeft[T factor](g *simd.Kernels[T], mem *panelMem, a matrix[T], m, kb, cols int) left[T] {
	size := int(unsafe.Sizeof(*new(T)))
	var l left[T]
	tile := g.Rows * g.Cols
	copied := a.col != 1 || a.row*size%cacheSetStride == 0 && a.row != kb && m > 4
	if a.col == 1 && cols <= 4*g.Cols {
		copied = false
	}
	if !copied {
		l.edge = take[T](mem, tile)
		l.data, l.row, l.k, l.tile = a.data, a.row, 1, g.Rows*a.row
		return l
	}
	if a.row == 1 && a.col != 1 {
		// The terms lie row by row: whole rows of a panel are copied.
		buf := take[T](mem, tile+roundUp(m, g.Rows)*kb+g.Cols)
		l.edge, l.data = buf[:tile], buf[tile:]
		l.row, l.k, l.tile = 1, g.Rows, g.Rows*kb
		for r := 0; r < m; r += g.Rows {
			g.CopyRows(kb, min(g.Rows, m-r), a.data[r:], a.col, l.data[r*kb:], g.Rows)
		}
		return l
	}
	ld := roundUp(kb, 16) + 16
	buf := take[T](mem, tile+m*ld)
	l.edge, l.data = buf[:tile], buf[tile:]
	l.row, l.k, l.tile = ld, 1, g.Rows*ld
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

// pack copies x[rows,k], rows ≤ w, into a panel: term p of row i is at dst[p*w+i].
// Missing rows are filled up with zeros.
func pack[T factor](g *simd.Kernels[T], dst []T, x matrix[T], rows, k, w int) {
	dst = dst[:w*k]
	if x.row == 1 && rows == w && w == g.Cols {
		g.CopyRows(k, w, x.data, x.col, dst, w)
		return
	}
	if x.col == 1 && x.row != 1 {
		g.Turn(rows, k, x.data, x.row, dst, w)
		for p := 0; rows < w && p < k; p++ {
			clear(dst[p*w+rows : (p+1)*w])
		}
		return
	}
	if x.row == 1 {
		for p := range k {
			clear(dst[p*w : (p+1)*w][copy(dst[p*w:][:rows], x.data[p*x.col:]):])
		}
		return
	}
	for r := range w {
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
