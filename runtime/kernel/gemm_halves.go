package kernel

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

const (
	// skinnyRows is the most rows of a product for which every panel of b is used
	// by the thread that widened it, while it is in that thread's cache.
	skinnyRows = 32
	// stripPanels is the number of panels such a thread takes at a time, as many as WidenBF16Panels does.
	stripPanels = 4
)

// halves is a matrix of bf16: element (i, j) is bits[i*row+j*col]. One of the
// strides is 1.
type halves struct {
	bits     []uint16
	row, col int
}

func (x halves) t() halves { return halves{x.bits, x.col, x.row} }

func (x halves) from(i, j int) []uint16 { return x.bits[min(i*x.row+j*x.col, len(x.bits)):] }

// A halfProduct is one c[m,n] = a[m,k] × b[k,n] of bf16 in f32, c with dense rows.
type halfProduct struct {
	g       *simd.Kernels[float32]
	run     *simd.Runs
	m, n, k int
	a, b    halves
	c       matrix[float32]
}

// contractHalves is contractAs for operands of bf16 that are large and dense
// along an axis: they are widened as they are packed, never as a whole. The
// bits are those of contractAs, but for products that go to a unit. It reports false, having done nothing, for others.
func contractHalves(out Array, con contraction, a, b Array, e *epilogue) bool {
	m, n, k := shape.Size(con.m), shape.Size(con.n), shape.Size(con.k)
	if a.DType != dtype.BF16 || b.DType != dtype.BF16 || m*n*k < serialWork {
		return false
	}
	x, okX := halvesOf(a, con.m, con.k, con.aM, con.aK)
	y, okY := halvesOf(b, con.k, con.n, con.bK, con.bN)
	if !okX || !okY {
		return false
	}
	l := simd.Chosen()
	if u := bf16Unit(); u != simd.Exact && takesUnit(m, n, k) {
		q := dotProduct{d: simd.DotsOf(u, false), run: simd.RunsOf(l), m: m, n: n, k: k, a: x, b: y}
		if out.DType == dtype.BF16 && e == nil {
			q.out = As[uint16](out.Buf)[:out.Size()]
			q.multiplyAll(con)
			return true
		}
		q.c = wideResult[float32](out)
		q.multiplyAll(con)
		if e != nil {
			finish(q.c, out.Dims, e)
		}
		storeWide(out, q.c)
		return true
	}
	res := wideResult[float32](out)
	q := halfProduct{g: simd.KernelsOf[float32](l), run: simd.RunsOf(l), m: m, n: n, k: k, a: x, b: y}
	if s, ok := con.rowsOf(x); ok {
		q.m *= shape.Size(con.batch)
		q.a.row = s
		q.c = matrix[float32]{res, n, 1}
		q.multiply(threads())
	} else {
		eachPair(con.batch, con.aB, con.bB, func(i, xo, yo int) {
			p := q
			p.a.bits, p.b.bits, p.c = x.bits[xo:], y.bits[yo:], matrix[float32]{res[i*m*n:], n, 1}
			p.multiply(threads())
		})
	}
	if e != nil {
		finish(res, out.Dims, e)
	}
	storeWide(out, res)
	return true
}

// rowsOf says whether the batch of a contraction is more rows of one product, whose
// left matrix is x and whose right one all share; the stride is that of the rows.
func (con contraction) rowsOf(x halves) (stride int, ok bool) {
	stride, ok = oneStride(slices.Concat(con.batch, con.m), slices.Concat(con.aB, con.aM))
	return stride, ok && x.col == 1 && allZero(con.batch, con.bB)
}

// halvesOf sees an operand as a matrix, when it is one with a dense axis.
func halvesOf(a Array, rows, cols, sr, sc []int) (halves, bool) {
	r, okR := oneStride(rows, sr)
	c, okC := oneStride(cols, sc)
	if !okR || !okC || r != 1 && c != 1 || r < 0 || c < 0 {
		return halves{}, false
	}
	return halves{As[uint16](a.Buf)[a.Offset:], r, c}, true
}

// multiply computes the product on a number of threads.
func (q *halfProduct) multiply(threads int) {
	if q.n == 1 && q.m > 1 { // one column is one row of the transposed product
		*q = halfProduct{q.g, q.run, 1, q.m, q.k, q.b.t(), q.a.t(), q.c}
	}
	switch {
	case q.m == 1 && q.b.col == 1:
		q.multiplyRow(threads)
	case q.m <= skinnyRows:
		q.multiplySkinny(threads)
	default:
		q.multiplyBlocks(threads)
	}
}

// multiplyRow reads b once, along its rows, and widens it in registers.
func (q *halfProduct) multiplyRow(threads int) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	a := take[float32](mem, q.k)
	if q.a.col == 1 {
		q.run.WidenBF16(a, q.a.bits)
	} else {
		q.run.WidenBF16Rows(q.k, 1, a, 1, q.a.bits, q.a.col)
	}
	chunk := min(rowChunk, roundUp((q.n+threads-1)/threads, 2*q.g.Cols))
	each(threads, (q.n+chunk-1)/chunk, func(t int) {
		mem := panelMems.Get().(*panelMem)
		defer panelMems.Put(mem)
		j := t * chunk
		sums := take[float32](mem, min(chunk, q.n-j))
		for p := 0; p < q.k; p += kBlock {
			q.run.StreamBF16(a[p:min(p+kBlock, q.k)], q.b.from(p, j), q.b.row, sums)
			storeSums(q.c.at(0, j), sums, p > 0)
		}
	})
}

// multiplySkinny widens a strip of b at a time and multiplies all rows by it at once.
func (q *halfProduct) multiplySkinny(threads int) {
	g := q.g
	width := stripPanels * g.Cols
	each(threads, (q.n+width-1)/width, func(t int) {
		mem := panelMems.Get().(*panelMem)
		defer panelMems.Put(mem)
		j := t * width
		n := min(width, q.n-j)
		panels := (n + g.Cols - 1) / g.Cols
		buf := take[float32](mem, (panels+1)*g.Cols*kBlock)
		for p := 0; p < q.k; p += kBlock {
			s := q.step(p, j, n)
			s.right = buf[g.Cols*kBlock:]
			if q.b.col == 1 && n == width {
				q.run.WidenBF16Panels(s.kb, g.Cols, s.right, g.Cols*s.kb, q.b.from(p, j), q.b.row)
				s.block(0, q.m, 0, n)
				continue
			}
			for i := range panels {
				q.panel(s.right[i*g.Cols*s.kb:], buf[:g.Cols*kBlock], p, s.kb, j+i*g.Cols)
			}
			s.block(0, q.m, 0, n)
		}
	})
}

// multiplyBlocks is the function of that name with operands that are widened.
func (q *halfProduct) multiplyBlocks(threads int) {
	g := q.g
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	rows, cols := blockSizes(g, q.m, min(q.n, nBlock), threads)
	for j := 0; j < q.n; j += nBlock {
		n := min(nBlock, q.n-j)
		panels := (n + g.Cols - 1) / g.Cols
		for p := 0; p < q.k; p += kBlock {
			s := q.step(p, j, n)
			s.right = take[float32](mem, panels*g.Cols*s.kb)
			each(threads, panels, func(i int) {
				tmp := panelMems.Get().(*panelMem)
				defer panelMems.Put(tmp)
				q.panel(s.right[i*g.Cols*s.kb:], take[float32](tmp, g.Cols*kBlock), p, s.kb, j+i*g.Cols)
			})
			across := (n + cols - 1) / cols
			each(threads, (q.m+rows-1)/rows*across, func(t int) {
				i, j := t/across*rows, t%across*cols
				s.block(i, min(rows, q.m-i), j, min(j+cols, n))
			})
		}
	}
}

// step is the product of terms p to p+kBlock and columns j to j+n, without its panels.
func (q *halfProduct) step(p, j, n int) blocks[float32] {
	kb := min(kBlock, q.k-p)
	return blocks[float32]{g: q.g, kb: kb, c: q.c.at(0, j), m: q.m, n: n, add: p > 0,
		rows: func(dst []float32, i, m int) matrix[float32] {
			if q.a.col == 1 {
				ld := roundUp(kb, 16) + 16
				for r := range m {
					q.run.WidenBF16(dst[r*ld:][:kb], q.a.from(i+r, p))
				}
				return matrix[float32]{dst, ld, 1}
			}
			ld := roundUp(m, 16)
			q.run.WidenBF16Rows(kb, m, dst, ld, q.a.from(i, p), q.a.col)
			return matrix[float32]{dst, 1, ld}
		}}
}

// panel widens the panel of terms p to p+kb that begins at column j; tmp has
// room for one.
func (q *halfProduct) panel(dst, tmp []float32, p, kb, j int) {
	w := q.g.Cols
	n := min(w, q.n-j)
	switch {
	case q.b.col == 1 && n == w:
		q.run.WidenBF16Rows(kb, n, dst, w, q.b.from(p, j), q.b.row)
	case q.b.col == 1:
		q.run.WidenBF16Rows(kb, n, tmp, n, q.b.from(p, j), q.b.row)
		pack(q.g, dst, matrix[float32]{tmp, 1, n}, n, kb, w)
	default:
		for i := range n {
			q.run.WidenBF16(tmp[i*kb:][:kb], q.b.from(p, j+i))
		}
		pack(q.g, dst, matrix[float32]{tmp, kb, 1}, n, kb, w)
	}
}
