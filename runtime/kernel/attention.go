package kernel

import (
	"math"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// AttentionScale is the factor of the scores: the attribute "scale", or one
// over the square root of the width when that is 0.
func AttentionScale(a Attrs, width int) float64 {
	if s := a.Float("scale"); s != 0 {
		return s
	}
	return 1 / math.Sqrt(float64(width))
}

// Attention computes softmax(q·kᵀ·scale + mask)·v over the last two axes:
// q [..,l,e], k [..,s,e], v [..,s,f] → [..,l,f]. A bool mask keeps where it is
// true, another one is added; "is_causal" lets row i see columns up to i. A row
// that sees nothing gives zeros. With fewer heads of k and v (axis -3), each
// serves as many neighbours of q. Scores are f32 (f64 for f64).
func Attention(c *Call) error {
	if c.Out[0].DType == dtype.F64 {
		attention[float64](c)
	} else {
		attention[float32](c)
	}
	return nil
}

// AttentionBackward computes the gradients of Attention for q, k and v. Inputs:
// that of the result, q, k, v, mask; q has the axes of the result, and k and v
// have those of q but for a number of heads that divides its own.
func AttentionBackward(c *Call) error {
	if c.Out[0].DType == dtype.F64 {
		attentionBackward[float64](c)
	} else {
		attentionBackward[float32](c)
	}
	return nil
}

const (
	// attendedRows is how many queries are computed at a time: their scores stay
	// in the first-level cache, and what a causal mask hides behind them is not computed.
	attendedRows = 32
	// fewRows is up to how many queries the keys are read where they are instead of being turned.
	fewRows = 4
	// keyChunk is how many keys are widened at a time for few queries.
	keyChunk = 64
)

// A heads is one operand of attention: a matrix for each head.
type heads struct {
	Array
	at       []int // where the matrix of a head begins
	row, col int
}

// of sees a as one matrix for each index of batch. Axes that a lacks repeat;
// where a has fewer heads (the last axis of batch), each serves neighbours.
func (h *heads) of(a Array, batch []int) {
	n := len(a.Dims) - 2
	h.Array, h.row, h.col = a, a.Strides[n], a.Strides[n+1]
	h.at = h.at[:0]
	lead := len(batch) - n
	for i := range shape.Size(batch) {
		at := a.Offset
		for d := len(batch) - 1; d >= 0; d-- {
			j := i % batch[d]
			i /= batch[d]
			if d >= lead {
				at += j * a.Dims[d-lead] / batch[d] * a.Strides[d-lead]
			}
		}
		h.at = append(h.at, at)
	}
}

// rowsOf copies rows r to r+n, cols elements each, of the matrix of head i into dst, ld apart.
func rowsOf[T float32 | float64](h *heads, i, r, n, cols int, dst []T, ld int) {
	if cols == 0 {
		return
	}
	if h.col == 1 && h.row == cols && ld == cols { // all rows are one
		n, cols = 1, n*cols
	}
	dense := h.DType == typeOf[T]() && h.col == 1
	for j := range n {
		to, at := dst[j*ld:][:cols], h.at[i]+(r+j)*h.row
		if dense {
			copy(to, As[T](h.Buf)[at:])
			continue
		}
		loadRun(to, &h.Array, at, h.col)
	}
}

// matrixOf gives the same rows, where they are if they are of type T and dense, else in room.
func matrixOf[T float32 | float64](h *heads, i, r, n, cols int, room []T) matrix[T] {
	if h.DType == typeOf[T]() && h.col == 1 && cols > 0 {
		return matrix[T]{As[T](h.Buf)[h.at[i]+r*h.row:], h.row, 1}
	}
	rowsOf(h, i, r, n, cols, room, cols)
	return matrix[T]{room, cols, 1}
}

// An attending is what a call of attention is about.
type attending[T float32 | float64] struct {
	g          *simd.Kernels[T]
	q, k, v    heads
	dy         heads // of the gradient
	mask       heads
	l, s, e, f int // queries, keys, width of keys, width of values
	heads      int
	scale      T
	causal     bool
}

// attend reads a call; in are q, k, v and perhaps a mask.
func (a *attending[T]) attend(c *Call, in []Array, batch []int) {
	q, k, v := in[0], in[1], in[2]
	a.g = simd.KernelsOf[T](simd.Chosen())
	a.l, a.e = q.Dims[len(q.Dims)-2], q.Dims[len(q.Dims)-1]
	a.s, a.f = v.Dims[len(v.Dims)-2], v.Dims[len(v.Dims)-1]
	a.heads = shape.Size(batch)
	a.scale, a.causal = T(AttentionScale(c.Attrs, a.e)), c.Attrs.Bool("is_causal")
	a.q.of(q, batch)
	a.k.of(k, batch)
	a.v.of(v, batch)
	a.mask.Array = Array{}
	if len(in) > 3 && in[3].Valid() {
		m := in[3]
		rank := max(len(m.Dims), 2)
		d := append(make([]int, rank-len(m.Dims)), m.Dims...)
		for i := range rank - len(m.Dims) {
			d[i] = 1
		}
		m.View = shape.View{Dims: d, Strides: stretch(m.Dims, m.Strides, rank), Offset: m.Offset}
		a.mask.of(m, batch)
	}
}

// seen is how many keys rows r to r+n see at most.
func (a *attending[T]) seen(r, n int) int {
	if a.causal {
		return min(r+n, a.s)
	}
	return a.s
}

// wide is s as the length of rows that the micro-kernels fill in whole tiles.
func (a *attending[T]) wide() int { return roundUp(a.s, a.g.Cols) }

// edge is the room that tiles needs for products of at most k terms.
func (a *attending[T]) edge(k int) int { return a.g.Cols * (k + a.g.Rows) }

var attendings32 = sync.Pool{New: func() any { return new(attending[float32]) }}
var attendings64 = sync.Pool{New: func() any { return new(attending[float64]) }}

// attendingOf gives the scratch of a call; forget gives it back.
func attendingOf[T float32 | float64]() (a *attending[T], forget func()) {
	pool := &attendings64
	if typeOf[T]() == dtype.F32 {
		pool = &attendings32
	}
	a = pool.Get().(*attending[T])
	return a, func() {
		for _, h := range []*heads{&a.q, &a.k, &a.v, &a.dy, &a.mask} {
			h.Array = Array{}
		}
		pool.Put(a)
	}
}

func attention[T float32 | float64](c *Call) {
	out := c.Out[0]
	batch := out.Dims[:len(out.Dims)-2]
	a, forget := attendingOf[T]()
	defer forget()
	a.attend(c, c.In, batch)
	if a.s == 0 {
		clear(out.Buf)
		return
	}
	work := a.l * a.s * (a.e + a.f)
	if a.l <= fewRows {
		Parallel(a.heads, max(1, serialWork/max(work, 1)), func(lo, hi int) {
			mem := panelMems.Get().(*panelMem)
			defer panelMems.Put(mem)
			rows := newScoreRows(a, false)
			for i := lo; i < hi; i++ {
				a.few(i, out, rows, mem)
			}
		})
		return
	}
	blocks := (a.l + attendedRows - 1) / attendedRows
	grain := max(1, serialWork/max(work/blocks, 1))
	if a.heads >= 2*threads() {
		grain = blocks * max(1, serialWork/max(work, 1))
	}
	Parallel(a.heads*blocks, grain, func(lo, hi int) {
		mem := panelMems.Get().(*panelMem)
		defer panelMems.Put(mem)
		rows := newScoreRows(a, false)
		w, r := a.wide(), attendedRows
		room := rooms[T](mem, w*a.e, a.s*max(a.e, a.f), r*a.e, r*w, r*w, r*a.f, a.edge(max(a.s, a.e)))
		keys, values, q, scores, p, y, edge := room[0], room[1], room[2], room[3], room[4], room[5], room[6]
		for t, last := lo, -1; t < hi; t++ {
			i, r := t/blocks, t%blocks*attendedRows
			if i != last {
				a.turned(&a.k, i, a.e, keys, values)
				rowsOf(&a.v, i, 0, a.s, a.f, values, a.f)
				last = i
			}
			n := min(attendedRows, a.l-r)
			seen := a.seen(r, n)
			rowsOf(&a.q, i, r, n, a.e, q, a.e)
			tiles(a.g, product[T]{n, roundUp(seen, a.g.Cols), a.e, matrix[T]{q, a.e, 1}, matrix[T]{keys, w, 1}, matrix[T]{scores, w, 1}}, false, edge)
			rows.weights(i, r, n, seen, scores, p, w)
			to := y
			if out.DType == typeOf[T]() {
				to = As[T](out.Buf)[(i*a.l+r)*a.f:]
			}
			tiles(a.g, product[T]{n, a.f, seen, matrix[T]{p, w, 1}, matrix[T]{values, a.f, 1}, matrix[T]{to, a.f, 1}}, false, edge)
			if out.DType != typeOf[T]() {
				storeRun(&out, (i*a.l+r)*a.f, y[:n*a.f])
			}
		}
	})
}

// turned puts the transposed matrix of head i into dst, its rows a.wide apart and
// filled up with zeros; room is for the matrix itself, should it have to be converted.
func (a *attending[T]) turned(h *heads, i, cols int, dst, room []T) {
	pack(a.g, dst, matrixOf(h, i, 0, a.s, cols, room), a.s, cols, a.wide())
}

// few computes the results of the few queries of head i: keys and values are
// read once, where they are or widened a chunk at a time.
func (a *attending[T]) few(i int, out Array, rows *scoreRows[T], mem *panelMem) {
	room := rooms[T](mem, a.l*a.s, a.l*a.s, a.l*a.e, keyChunk*max(a.e, a.f), a.l*a.f)
	scores, p, q, chunk, y := room[0], room[1], room[2], room[3], room[4]
	rowsOf(&a.q, i, 0, a.l, a.e, q, a.e)
	for j := 0; j < a.s; j += keyChunk {
		end := min(j+keyChunk, a.s)
		// The kernels take whole groups of keys: some of the last ones are taken twice.
		from := max(end-roundUp(end-j, max(a.g.Lanes, 1)), 0)
		keys := matrixOf(&a.k, i, from, end-from, a.e, chunk)
		for r := range a.l {
			multiplyOne(a.g, &product[T]{1, end - from, a.e, matrix[T]{q[r*a.e:], a.e, 1}, keys.t(), matrix[T]{scores[r*a.s+from:], a.s, 1}}, 1)
		}
	}
	rows.weights(i, 0, a.l, a.s, scores, p, a.s)
	if out.DType == typeOf[T]() {
		y = As[T](out.Buf)[i*a.l*a.f:][:a.l*a.f]
	}
	for j := 0; j < a.s; j += keyChunk {
		n := min(keyChunk, a.s-j)
		values := matrixOf(&a.v, i, j, n, a.f, chunk)
		for r := range a.l {
			a.g.Stream(n, p[r*a.s+j:], 1, values.data, values.row, y[r*a.f:][:a.f], j > 0)
		}
	}
	if out.DType != typeOf[T]() {
		storeRun(&out, i*a.l*a.f, y)
	}
}

// attentionBackward recomputes the weights p of a block of queries. With g the
// gradient of the result: dv += pᵀ·g, dp = g·vᵀ, ds = p·(dp − Σ dp·p)·scale,
// dq = ds·k, dk += dsᵀ·q.
func attentionBackward[T float32 | float64](c *Call) {
	dq, dk, dv := c.Out[0], c.Out[1], c.Out[2]
	batch := dq.Dims[:len(dq.Dims)-2]
	a, forget := attendingOf[T]()
	defer forget()
	a.attend(c, c.In[1:], batch)
	a.dy.of(c.In[0], batch)
	owners := shape.Size(dk.Dims[:len(dk.Dims)-2]) // matrices of k and v
	if a.s == 0 || owners == 0 {
		clear(dq.Buf)
		return
	}
	share := a.heads / owners
	Parallel(owners, max(1, serialWork/max(1, share*a.l*a.s*(a.e+a.f))), func(lo, hi int) {
		mem := panelMems.Get().(*panelMem)
		defer panelMems.Put(mem)
		rows := newScoreRows(a, true)
		w, r := a.wide(), attendedRows
		room := rooms[T](mem, w*a.e, w*a.f, a.s*max(a.e, a.f), r*a.e, r*a.f, r*w, r*w, r*w, r*w, r*a.e, a.s*a.e, a.s*a.f, a.edge(max(a.s, a.e, a.f, r)))
		keysT, valuesT, keys, q, g := room[0], room[1], room[2], room[3], room[4]
		scores, p, dp, ds, gq, gk, gv, edge := room[5], room[6], room[7], room[8], room[9], room[10], room[11], room[12]
		own := dk.DType == typeOf[T]()
		for o := lo; o < hi; o++ {
			first := o * share
			if own {
				gk, gv = As[T](dk.Buf)[o*a.s*a.e:][:a.s*a.e], As[T](dv.Buf)[o*a.s*a.f:][:a.s*a.f]
			}
			clear(gk)
			clear(gv)
			a.turned(&a.v, first, a.f, valuesT, keys)
			rowsOf(&a.k, first, 0, a.s, a.e, keys, a.e)
			pack(a.g, keysT, matrix[T]{keys, a.e, 1}, a.s, a.e, w)
			for i := first; i < first+share; i++ {
				for r := 0; r < a.l; r += attendedRows {
					n := min(attendedRows, a.l-r)
					seen := a.seen(r, n)
					cols := roundUp(seen, a.g.Cols)
					rowsOf(&a.q, i, r, n, a.e, q, a.e)
					rowsOf(&a.dy, i, r, n, a.f, g, a.f)
					tiles(a.g, product[T]{n, cols, a.e, matrix[T]{q, a.e, 1}, matrix[T]{keysT, w, 1}, matrix[T]{scores, w, 1}}, false, edge)
					tiles(a.g, product[T]{n, cols, a.f, matrix[T]{g, a.f, 1}, matrix[T]{valuesT, w, 1}, matrix[T]{dp, w, 1}}, false, edge)
					rows.slopes(i, r, n, seen, scores, dp, p, ds, w)
					tiles(a.g, product[T]{seen, a.f, n, matrix[T]{p, 1, w}, matrix[T]{g, a.f, 1}, matrix[T]{gv, a.f, 1}}, true, edge)
					tiles(a.g, product[T]{seen, a.e, n, matrix[T]{ds, 1, w}, matrix[T]{q, a.e, 1}, matrix[T]{gk, a.e, 1}}, true, edge)
					to := gq
					if own {
						to = As[T](dq.Buf)[(i*a.l+r)*a.e:]
					}
					tiles(a.g, product[T]{n, a.e, seen, matrix[T]{ds, w, 1}, matrix[T]{keys, a.e, 1}, matrix[T]{to, a.e, 1}}, false, edge)
					if !own {
						storeRun(&dq, (i*a.l+r)*a.e, gq[:n*a.e])
					}
				}
			}
			if !own {
				storeRun(&dk, o*a.s*a.e, gk)
				storeRun(&dv, o*a.s*a.f, gv)
			}
		}
	})
}

// tiles computes a product, or adds it to q.c, with the micro-kernels alone,
// which read both operands where they are: the rows of q.b and q.c are dense.
// edge has room for a panel of q.k terms and a tile.
func tiles[T factor](g *simd.Kernels[T], q product[T], add bool, edge []T) {
	if q.k == 0 {
		for i := 0; i < q.m && !add; i++ {
			clear(q.c.data[i*q.c.row:][:q.n])
		}
		return
	}
	w := g.Cols
	for j := 0; j < q.n; j += w {
		n := min(w, q.n-j)
		b := q.b.at(0, j)
		if n < w {
			pack(g, edge, b.t(), n, q.k, w)
			b = matrix[T]{edge, w, 1}
		}
		for i := 0; i < q.m; i += g.Rows {
			rows := min(g.Rows, q.m-i)
			left, c := q.a.data[i*q.a.row:], q.c.data[i*q.c.row+j:]
			if n == w {
				g.Tile(rows, w, q.k, left, q.a.row, q.a.col, b.data, b.row, c, q.c.row, add)
				continue
			}
			tile := edge[w*q.k:]
			g.Tile(rows, w, q.k, left, q.a.row, q.a.col, b.data, b.row, tile, w, false)
			for r := range rows {
				storeSums(matrix[T]{c[r*q.c.row:], 0, 1}, tile[r*w:][:n], add)
			}
		}
	}
}

// rooms gives consecutive arrays of the sizes, each beginning on a cache line.
func rooms[T any](mem *panelMem, sizes ...int) [][]T {
	sum := 0
	for _, n := range sizes {
		sum += roundUp(n, lineElements)
	}
	all, parts := take[T](mem, sum), make([][]T, len(sizes))
	for i, n := range sizes {
		parts[i] = all[:n:n]
		all = all[roundUp(n, lineElements):]
	}
	return parts
}

// lineElements is a number of elements that fills whole cache lines.
const lineElements = 16
