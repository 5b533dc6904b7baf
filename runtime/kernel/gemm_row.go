package kernel

import "github.com/tpush/tpush/runtime/simd"

const (
	// rowChunk is the number of columns that are summed at a time: few enough for
	// the sums of a row to stay in the first-level cache, enough for each row of b
	// to be read in long runs; leastChunk is what a thread takes at least.
	rowChunk, leastChunk = 4096, 1024
	// sweepRight is the number of elements of b from which it is read along its
	// rows for a few rows of a: smaller ones stay in the second-level cache.
	sweepRight = 1 << 17
	// sumsApart is the distance from the end of a row of sums to the next one: nine
	// lines, so that the same columns of few rows do not fall into one set of the first-level cache.
	sumsApart = 144
)

// multiplyRow computes c[1,n] = a[1,k] × b[k,n], reading b once: along its rows,
// or with dot products when its columns are dense.
func multiplyRow[T factor](g *simd.Kernels[T], q product[T], threads int) {
	if q.b.col == 1 {
		multiplyAlong(g, q, threads)
		return
	}
	chunk := rowChunk
	if threads > 1 {
		chunk = min(chunk, roundUp((q.n+threads-1)/threads, 2*g.Cols))
	}
	eachChunk(g, q, threads, chunk, rowDots)
}

// eachChunk calls f for pieces of a product of so many columns.
func eachChunk[T factor](g *simd.Kernels[T], q product[T], threads, chunk int, f func(*simd.Kernels[T], product[T])) {
	each(threads, (q.n+chunk-1)/chunk, func(i int) {
		j := i * chunk
		f(g, product[T]{q.m, min(chunk, q.n-j), q.k, q.a, q.b.at(0, j), q.c.at(0, j)})
	})
}

// multiplyAlong computes a few rows of c, reading b once along its rows, which are dense.
func multiplyAlong[T factor](g *simd.Kernels[T], q product[T], threads int) {
	chunk := rowChunk
	if threads > 1 { // two pieces for each thread: one of them may wait for its core
		chunk = min(chunk, max(leastChunk, roundUp((q.n+2*threads-1)/(2*threads), 2*g.Cols)))
	}
	eachChunk(g, q, threads, chunk, rowsAlong)
}

// rowsAlong adds the rows of b, each times its factors, to the rows of c.
func rowsAlong[T factor](g *simd.Kernels[T], q product[T]) {
	whole := q.n / g.Cols * g.Cols
	if q.n <= 4 && q.m == 1 { // not worth a panel
		whole = q.n
	}
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	groups := (q.m + g.Rows - 1) / g.Rows
	ld := whole + sumsApart
	buf := take[T](mem, q.m*(ld+kBlock)+kBlock*g.Cols+g.Rows*g.Cols)
	sums, rest := buf[:q.m*ld], buf[q.m*ld:]
	a, rest := rest[:q.m*kBlock], rest[q.m*kBlock:]
	panel, edge := rest[:kBlock*g.Cols], rest[kBlock*g.Cols:]
	for p := 0; p < q.k; p += kBlock {
		kb := min(kBlock, q.k-p)
		b := q.b.at(p, 0)
		if q.m == 1 {
			x := q.a.at(0, p)
			g.Stream(kb, x.data, x.col, b.data, b.row, sums[:whole], false)
		} else {
			sweepBlock(g, q, p, kb, whole, groups, a, sums, ld)
		}
		for i := range q.m {
			storeSums(q.c.at(i, 0), sums[i*ld:][:whole], p > 0)
		}
		if whole == q.n {
			continue
		}
		pack(g, panel, b.at(0, whole).t(), q.n-whole, kb, g.Cols)
		for i := 0; i < q.m; i += g.Rows {
			x, rows := q.a.at(i, p), min(g.Rows, q.m-i)
			g.Tile(rows, g.Cols, kb, x.data, x.row, x.col, panel, g.Cols, edge, g.Cols, false)
			for r := range rows {
				storeSums(q.c.at(i+r, whole), edge[r*g.Cols:][:q.n-whole], p > 0)
			}
		}
	}
}

// sweepBlock sums terms p to p+kb of the first n columns, into rows of sums ld apart. Groups of rows follow
// each other closely, so that only the first one waits for b.
func sweepBlock[T factor](g *simd.Kernels[T], q product[T], p, kb, n, groups int, a, sums []T, ld int) {
	for group := range groups {
		lo, hi := share(q.m, group, groups)
		for r := lo; r < hi; r++ {
			at := r*q.a.row + p*q.a.col
			for t := range kb {
				a[lo*kb+t*(hi-lo)+r-lo] = q.a.data[at+t*q.a.col]
			}
		}
	}
	for t := 0; t < kb; t += simd.SweepTerms {
		for group := range groups {
			lo, hi := share(q.m, group, groups)
			b := q.b.at(p+t, 0)
			g.Sweep(hi-lo, n, min(simd.SweepTerms, kb-t), a[lo*kb+t*(hi-lo):], b.data, b.row, sums[lo*ld:], ld, t > 0)
		}
	}
}

// rowDots multiplies a with the columns of b. Where the kernels cannot take
// squares of b it turns a panel of columns first.
func rowDots[T factor](g *simd.Kernels[T], q product[T]) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	w := g.Cols
	buf := take[T](mem, w+kBlock+w*kBlock)
	sums, x, panel := buf[:w], buf[w:w+kBlock], buf[w+kBlock:]
	for p := 0; p < q.k; p += kBlock {
		kb := min(kBlock, q.k-p)
		a, b := q.a.at(0, p), q.b.at(p, 0)
		for i := range kb {
			x[i] = a.data[i*a.col]
		}
		j := 0
		if g.Lanes > 0 && b.row == 1 && kb%g.Lanes == 0 {
			for ; j+g.Lanes <= q.n; j += g.Lanes {
				g.Dots(b.data[j*b.col:], b.col, x[:kb], sums, false)
				storeSums(q.c.at(0, j), sums[:g.Lanes], p > 0)
			}
		}
		for ; j < q.n; j += w {
			n := min(w, q.n-j)
			pack(g, panel, b.at(0, j).t(), n, kb, w)
			g.Tile(1, w, kb, x, 0, 1, panel, w, sums, w, false)
			storeSums(q.c.at(0, j), sums[:n], p > 0)
		}
	}
}

// storeSums stores sums in row 0 of c, or adds them to it.
func storeSums[T factor](c matrix[T], sums []T, accumulate bool) {
	switch {
	case !accumulate && c.col == 1:
		copy(c.data, sums)
	case !accumulate:
		for j, s := range sums {
			c.data[j*c.col] = s
		}
	default:
		for j, s := range sums {
			c.data[j*c.col] += s
		}
	}
}
