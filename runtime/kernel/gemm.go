package kernel

// kBlock alone decides the bits of a result (each block of kBlock terms is
// summed from zero, the blocks are added in order), so it is one constant for
// every shape, path and type.
const kBlock = 512

// These only decide speed.
const (
	// A block of a (mBlock×kBlock) and one of b (kBlock×nBlock) stay in the second-level cache.
	mBlock, nBlock = 240, 512
	// serialWork is the number of multiplications below which a second thread costs more than it gives.
	serialWork = 1 << 18
	// directWork is the number of multiplications below which packing costs more than it gives.
	directWork = 512
	// cacheSetStride is the row stride in bytes whose multiples let rows fall into the same cache sets.
	cacheSetStride = 1024
)

// A matrix sees element (i, j) at data[i*row+j*col].
type matrix[T factor] struct {
	data     []T
	row, col int
}

func (x matrix[T]) t() matrix[T] { return matrix[T]{x.data, x.col, x.row} }

// at gives the matrix whose first element is (i, j) of x. An empty rest is allowed.
func (x matrix[T]) at(i, j int) matrix[T] {
	o := min(i*x.row+j*x.col, len(x.data))
	return matrix[T]{x.data[o:], x.row, x.col}
}

// A product is one c[m,n] = a[m,k] × b[k,n]. c is written, never read, and its
// rows are dense (col 1) or its columns are (row 1).
type product[T factor] struct {
	m, n, k int
	a, b, c matrix[T]
}

// multiply computes the products, which must write to different memory, on all
// threads. The bits of each do not depend on the others, on the strides, on
// the number of threads or on the micro-kernel.
func multiply[T factor](ps []product[T]) {
	if len(ps) == 1 && ps[0].m*ps[0].n*ps[0].k <= directWork {
		p := &ps[0]
		multiplyDirect(p.m, p.n, p.k, p.a, p.b, p.c)
		return
	}
	mk := goKernel[T]()
	if n := nativeKernels[T](); len(n) > 0 {
		mk = n[0]
		if len(n) > 1 && len(ps) > 0 && ps[0].n <= n[1].cols { // a wide tile would be half empty
			mk = n[1]
		}
	}
	multiplyWith(mk, ps)
}

func multiplyWith[T factor](mk microKernel[T], ps []product[T]) {
	type tile struct{ p, i, j int }
	work := 0
	for pi := range ps {
		p := &ps[pi]
		if p.c.col != 1 && p.c.row == 1 {
			*p = product[T]{p.n, p.m, p.k, p.b.t(), p.a.t(), p.c.t()}
		}
		work += p.m * p.n * p.k
	}
	// Smaller blocks where there would be too few for the threads.
	mb, nb := roundUp(mBlock, mk.rows), roundUp(nBlock, mk.cols)
	count := func() (n int) {
		for pi := range ps {
			n += (ps[pi].m + mb - 1) / mb * ((ps[pi].n + nb - 1) / nb)
		}
		return n
	}
	if procs := threads(); work >= serialWork && procs > 1 {
		for count() < 2*procs && (mb > 4*mk.rows || nb > 2*mk.cols) {
			if nb > mb && nb > 2*mk.cols || mb <= 4*mk.rows {
				nb = roundUp(nb/2, mk.cols)
			} else {
				mb = roundUp(mb/2, mk.rows)
			}
		}
	}
	tiles := make([]tile, 0, count())
	for pi := range ps {
		for i := 0; i < ps[pi].m; i += mb {
			for j := 0; j < ps[pi].n; j += nb {
				tiles = append(tiles, tile{pi, i, j})
			}
		}
	}
	run := func(t int) {
		p := &ps[tiles[t].p]
		i, j := tiles[t].i, tiles[t].j
		m, n := min(mb, p.m-i), min(nb, p.n-j)
		a, b, c := p.a.at(i, 0), p.b.at(0, j), p.c.at(i, j)
		switch {
		case m*n*p.k <= directWork:
			multiplyDirect(m, n, p.k, a, b, c)
		case m < 4:
			for r := range m {
				multiplyRow(n, p.k, a.at(r, 0), b, c.data[r*c.row:r*c.row+n], 1)
			}
		case n < 2:
			for r := range n {
				multiplyRow(m, p.k, b.t().at(r, 0), a.t(), c.data[r:], c.row)
			}
		default:
			multiplyPacked(mk, m, n, p.k, a, b, c)
		}
	}
	if work < serialWork {
		for t := range tiles {
			run(t)
		}
		return
	}
	Parallel(len(tiles), 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			run(t)
		}
	})
}

// multiplyDirect is the plain triple loop, with the sums blocked like everywhere.
func multiplyDirect[T factor](m, n, k int, a, b, c matrix[T]) {
	for i := range m {
		for j := range n {
			var total T
			for p0 := 0; p0 < k; p0 += kBlock {
				var s T
				for p := p0; p < min(p0+kBlock, k); p++ {
					s += T(a.data[i*a.row+p*a.col] * b.data[p*b.row+j*b.col])
				}
				if p0 == 0 {
					total = s
				} else {
					total += s
				}
			}
			c.data[i*c.row+j*c.col] = total
		}
	}
}

// multiplyRow computes c[n] = a[1,k] × b[k,n], streaming over the rows of b, or
// with four dot products at a time when its columns are dense. Element j of c
// is at c[j*stride].
func multiplyRow[T factor](n, k int, a, b matrix[T], c []T, stride int) {
	if k == 0 {
		for j := range n {
			c[j*stride] = 0
		}
		return
	}
	if b.col != 1 {
		multiplyDots(n, k, a, b, c, stride)
		return
	}
	sums := make([]T, n)
	for p0 := 0; p0 < k; p0 += kBlock {
		clear(sums)
		for p := p0; p < min(p0+kBlock, k); p++ {
			x := a.data[p*a.col]
			addScaled(sums, x, b.data[p*b.row:][:n])
		}
		for j, s := range sums {
			if p0 > 0 {
				s = c[j*stride] + s
			}
			c[j*stride] = s
		}
	}
}

func multiplyDots[T factor](n, k int, a, b matrix[T], c []T, stride int) {
	for p0 := 0; p0 < k; p0 += kBlock {
		kb := min(kBlock, k-p0)
		x := a.data[p0*a.col:]
		put := func(j int, s T) {
			if p0 > 0 {
				s = c[j*stride] + s
			}
			c[j*stride] = s
		}
		j := 0
		for ; j+4 <= n; j += 4 {
			y := b.data[p0*b.row+j*b.col:]
			y1, y2, y3 := y[b.col:], y[2*b.col:], y[3*b.col:]
			var s0, s1, s2, s3 T
			i, q := 0, 0
			for range kb {
				v := x[i]
				s0 += T(v * y[q])
				s1 += T(v * y1[q])
				s2 += T(v * y2[q])
				s3 += T(v * y3[q])
				i += a.col
				q += b.row
			}
			put(j, s0)
			put(j+1, s1)
			put(j+2, s2)
			put(j+3, s3)
		}
		for ; j < n; j++ {
			y := b.data[p0*b.row+j*b.col:]
			var s T
			for p := range kb {
				s += T(x[p*a.col] * y[p*b.row])
			}
			put(j, s)
		}
	}
}

// addScaledGo is addScaled in portable form.
func addScaledGo[T factor](dst []T, x T, src []T) {
	src = src[:len(dst)]
	for j, y := range src {
		dst[j] += T(x * y)
	}
}

// multiplyPacked computes one tile with the micro-kernel. b is copied into
// panels as wide as the kernel's tile, unless so few rows of a meet it that the
// copy would not pay. a is read in place where its rows are dense and do not
// fall into the same cache sets; edges go through a scratch tile.
func multiplyPacked[T factor](mk microKernel[T], m, n, k int, a, b, c matrix[T]) {
	mr, nr := mk.rows, mk.cols
	kb := min(kBlock, k)
	var mem [3]*panelMem
	for i := range mem {
		mem[i] = panelMems.Get().(*panelMem)
		defer panelMems.Put(mem[i])
	}
	left := newLeft(mem[0], mr, m, kb, a)
	right := newRight(mem[1], nr, m, n, kb, 2*mr, b)
	edge := take[T](mem[2], mr*nr)
	for p := 0; p < k; p += kBlock {
		kb = min(kBlock, k-p)
		left.load(a.at(0, p), kb)
		right.load(b.at(p, 0), kb)
		for j := 0; j < n; j += nr {
			bp, bs := right.panel(j)
			for i := 0; i < m; i += mr {
				ap, rs, ks := left.panel(i)
				if i+mr <= m && j+nr <= n {
					mk.run(kb, ap, rs, ks, bp, bs, c.data[i*c.row+j:], c.row, p > 0)
					continue
				}
				mk.run(kb, ap, rs, ks, bp, bs, edge, nr, false)
				for r := i; r < min(i+mr, m); r++ {
					for s := j; s < min(j+nr, n); s++ {
						v := edge[(r-i)*nr+s-j]
						if p > 0 {
							v = c.data[r*c.row+s] + v
						}
						c.data[r*c.row+s] = v
					}
				}
			}
		}
	}
}

// A left is a block of a as the micro-kernel reads it, in panels of w rows.
// Rows missing in the last panel hold anything: what they give is thrown away.
type left[T factor] struct {
	w, m, ld int
	src      matrix[T] // read in place
	inPlace  bool
	columns  bool // a panel holds one column after the other, else one row after the other
	buf      []T
}

func newLeft[T factor](mem *panelMem, w, m, kb int, a matrix[T]) *left[T] {
	l := &left[T]{w: w, m: m, ld: roundUp(kb, 16) + 16}
	l.columns = a.col != 1 && a.row == 1 || w == 4
	l.inPlace = !l.columns && a.col == 1 && a.row*int(sizeOf(*new(T)))%cacheSetStride != 0
	switch {
	case l.columns:
		l.buf = take[T](mem, roundUp(m, w)*kb)
	case l.inPlace:
		l.buf = take[T](mem, w*l.ld)
	default:
		l.buf = take[T](mem, roundUp(m, w)*l.ld)
	}
	return l
}

// load takes the block that begins at a, kb columns wide.
func (l *left[T]) load(a matrix[T], kb int) {
	first := 0
	switch {
	case l.columns:
		pack(l.buf, a, l.m, kb, l.w)
		l.ld = kb
		return
	case l.inPlace:
		l.src = a
		first = l.m / l.w * l.w // only an incomplete panel is copied
	}
	for r := first; r < l.m; r++ {
		dst := l.buf[(r-first)*l.ld:][:kb]
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
}

// panel gives rows i to i+w with their strides.
func (l *left[T]) panel(i int) (data []T, rowStride, kStride int) {
	switch {
	case l.columns:
		return l.buf[i*l.ld:], 1, l.w
	case !l.inPlace:
		return l.buf[i*l.ld:], l.ld, 1
	case i+l.w <= l.m:
		return l.src.data[i*l.src.row:], l.src.row, 1
	}
	return l.buf, l.ld, 1
}

// A right is a block of b as the micro-kernel reads it, in panels of w columns.
type right[T factor] struct {
	w, n, kb int
	src      matrix[T]
	inPlace  bool
	buf      []T
}

// newRight leaves b in place when at most few rows meet it.
func newRight[T factor](mem *panelMem, w, m, n, kb, few int, b matrix[T]) *right[T] {
	r := &right[T]{w: w, n: n, kb: kb, inPlace: b.col == 1 && m <= few && w > 2}
	if r.inPlace {
		r.buf = take[T](mem, w*kb)
	} else {
		r.buf = take[T](mem, roundUp(n, w)*kb)
	}
	return r
}

func (r *right[T]) load(b matrix[T], kb int) {
	r.kb, r.src = kb, b
	if !r.inPlace {
		pack(r.buf, b.t(), r.n, kb, r.w)
		return
	}
	if whole := r.n / r.w * r.w; whole < r.n {
		pack(r.buf, b.at(0, whole).t(), r.n-whole, kb, r.w)
	}
}

// panel gives columns j to j+w with their stride.
func (r *right[T]) panel(j int) (data []T, kStride int) {
	switch {
	case !r.inPlace:
		return r.buf[j*r.kb:], r.w
	case j+r.w <= r.n:
		return r.src.data[j:], r.src.row
	}
	return r.buf, r.w
}

// pack copies x[rows,k] into panels of w rows: term p of row i of a panel is at
// [p*w+i]. The last panel is filled up with zeros.
func pack[T factor](dst []T, x matrix[T], rows, k, w int) {
	for i := 0; i < rows; i += w {
		panel := dst[i*k : (i+w)*k]
		if x.row == 1 && i+w <= rows { // the rows are neighbours: whole terms at once
			for p := range k {
				copy(panel[p*w:(p+1)*w], x.data[i+p*x.col:])
			}
			continue
		}
		for r := range w {
			if i+r >= rows {
				for p := range k {
					panel[p*w+r] = 0
				}
				continue
			}
			src := x.data[(i+r)*x.row:]
			q := r
			s := 0
			for range k {
				panel[q] = src[s]
				q += w
				s += x.col
			}
		}
	}
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }
