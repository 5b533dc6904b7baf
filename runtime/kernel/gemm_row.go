package kernel

import "github.com/tpush/tpush/runtime/simd"

// rowChunk is the number of columns of a row that are summed at a time: few
// enough to stay in the first-level cache, enough for each row of b to be read in long runs.
const rowChunk = 4096

// multiplyRow computes c[1,n] = a[1,k] × b[k,n], reading b once: along its rows,
// or with dot products when its columns are dense.
func multiplyRow[T factor](g *simd.Kernels[T], q product[T], threads int) {
	chunk := rowChunk
	if threads > 1 {
		chunk = min(chunk, roundUp((q.n+threads-1)/threads, 2*g.Cols))
	}
	each(threads, (q.n+chunk-1)/chunk, func(i int) {
		j := i * chunk
		r := product[T]{1, min(chunk, q.n-j), q.k, q.a, q.b.at(0, j), q.c.at(0, j)}
		if q.b.col == 1 {
			rowAlong(g, r)
		} else {
			rowDots(g, r)
		}
	})
}

// rowAlong adds the rows of b, each times its factor.
func rowAlong[T factor](g *simd.Kernels[T], q product[T]) {
	whole := q.n / g.Cols * g.Cols
	if q.n <= 4 { // not worth a panel
		whole = q.n
	}
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	sums := take[T](mem, whole+g.Cols+kBlock*g.Cols)
	edge, panel := sums[whole:], sums[whole+g.Cols:]
	sums = sums[:whole]
	for p := 0; p < q.k; p += kBlock {
		kb := min(kBlock, q.k-p)
		a, b := q.a.at(0, p), q.b.at(p, 0)
		g.Stream(kb, a.data, a.col, b.data, b.row, sums, false)
		storeSums(q.c, sums, p > 0)
		if whole < q.n {
			pack(g, panel, b.at(0, whole).t(), q.n-whole, kb, g.Cols)
			g.Tile(1, g.Cols, kb, a.data, 0, a.col, panel, g.Cols, edge, g.Cols, false)
			storeSums(q.c.at(0, whole), edge[:q.n-whole], p > 0)
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
