package kernel

// Block sizes of the product. kBlock alone decides the bits of a result (each
// block of kBlock terms is summed from zero, the blocks are added in order), so
// it is one constant for every shape, path and type. The others only decide
// speed: a block of a (mBlock×kBlock) stays in the second-level cache.
const (
	kBlock = 512
	mBlock = 128
	nBlock = 256

	// serialWork is the number of multiplications below which a second thread costs more than it gives.
	serialWork = 1 << 16
	// directWork is the number of multiplications below which packing costs more than it gives.
	directWork = 512
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
// threads. The bits of each do not depend on the others, on the strides or on
// the number of threads.
func multiply[T factor](ps []product[T]) {
	mk := goKernel[T]()
	type tile struct{ p, i, j int }
	var tiles []tile
	work := 0
	for pi := range ps {
		p := &ps[pi]
		if p.c.col != 1 && p.c.row == 1 {
			*p = product[T]{p.n, p.m, p.k, p.b.t(), p.a.t(), p.c.t()}
		}
		work += p.m * p.n * p.k
		for i := 0; i < p.m; i += mBlock {
			for j := 0; j < p.n; j += nBlock {
				tiles = append(tiles, tile{pi, i, j})
			}
		}
	}
	run := func(t int) {
		p := &ps[tiles[t].p]
		i, j := tiles[t].i, tiles[t].j
		m, n := min(mBlock, p.m-i), min(nBlock, p.n-j)
		a, b, c := p.a.at(i, 0), p.b.at(0, j), p.c.at(i, j)
		switch {
		case m*n*p.k <= directWork:
			multiplyDirect(m, n, p.k, a, b, c)
		case m < mk.rows:
			for r := range m {
				multiplyRow(n, p.k, a.at(r, 0), b, c.data[r*c.row:r*c.row+n], 1)
			}
		case n < mk.cols:
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
			row := b.data[p*b.row:][:n]
			for j, y := range row {
				sums[j] += T(x * y)
			}
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

// multiplyPacked computes one tile: per block of k, both operands are copied
// into panels as the micro-kernel reads them, and edges go through a scratch tile.
func multiplyPacked[T factor](mk microKernel[T], m, n, k int, a, b, c matrix[T]) {
	mr, nr := mk.rows, mk.cols
	kb := min(kBlock, k)
	pa := make([]T, roundUp(m, mr)*kb)
	pb := make([]T, roundUp(n, nr)*kb)
	edge := make([]T, mr*nr)
	for p := 0; p < k; p += kBlock {
		kb = min(kBlock, k-p)
		pack(pa, a.at(0, p), m, kb, mr)
		pack(pb, b.at(p, 0).t(), n, kb, nr)
		for j := 0; j < n; j += nr {
			bp := pb[j*kb:]
			for i := 0; i < m; i += mr {
				ap := pa[i*kb:]
				if i+mr <= m && j+nr <= n {
					mk.run(kb, ap, 1, mr, bp, nr, c.data[i*c.row+j:], c.row, p > 0)
					continue
				}
				mk.run(kb, ap, 1, mr, bp, nr, edge, nr, false)
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

// pack copies x[rows,k] into panels of w rows: term p of row i of a panel is at
// [p*w+i]. The last panel is filled up with zeros.
func pack[T factor](dst []T, x matrix[T], rows, k, w int) {
	for i := 0; i < rows; i += w {
		panel := dst[i*k : (i+w)*k]
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
