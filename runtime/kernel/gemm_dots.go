package kernel

import (
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// unitWork is the number of multiplications from which products of bf16 are
// given to the processor's own unit for them, when it has one. Smaller ones are
// computed exactly, so they are the same on every machine; so are products of
// one row or one column, which wait for memory anyway.
const unitWork = 1 << 18

// These only decide speed.
const (
	// dotTerms of a panel of 32 rows stay in the first-level cache.
	dotTerms = 512
	// dotRows × dotColumns are a block of the result: with what it reads it stays in the second-level cache.
	dotRows, dotColumns = 256, 512
	// panelColumns are multiplied at a time.
	panelColumns = 2 * simd.StripRows
	// wideColumns are packed at a time where they are dense.
	wideColumns = simd.WideStrips * simd.StripRows
	// streamTerms and streamColumns are packed at a time by who uses them once:
	// rows are read in long pieces.
	streamTerms, streamColumns = 64, 2048
)

// A dotProduct is one c[m,n] = a[m,k] × b[k,n] of bf16 on a unit. The result
// goes to c, or rounded to bf16 to out when that is not nil; both are dense.
type dotProduct struct {
	d       *simd.Dots
	run     *simd.Runs
	m, n, k int
	a, b    halves
	c       []float32
	out     []uint16
}

// takesUnit says whether a product of bf16 is one for a unit.
func takesUnit(m, n, k int) bool { return m > 1 && n > 1 && m*n*k >= unitWork }

// multiply computes the product on a number of threads.
func (q *dotProduct) multiply(threads int) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	steps := simd.Steps(q.k)
	strip := steps * simd.StepSize
	left := (q.m + simd.StripRows - 1) / simd.StripRows
	rows, cols := q.blockSizes(threads)
	once := q.m <= rows // every strip of b meets one block of rows
	size := left * strip
	if !once {
		size += roundUp(q.n, panelColumns) / simd.StripRows * strip
	}
	buf := take[uint16](mem, size)
	each(threads, left, func(i int) {
		q.d.Left(buf[i*strip:], q.a.from(i*simd.StripRows, 0), q.a.row, q.a.col, min(simd.StripRows, q.m-i*simd.StripRows), q.k)
	})
	right := buf[left*strip:]
	if !once {
		each(threads, (q.n+wideColumns-1)/wideColumns, func(i int) {
			q.right(right[i*simd.WideStrips*strip:], strip, 0, q.k, i*wideColumns, min(wideColumns, q.n-i*wideColumns))
		})
	}
	across := (q.n + cols - 1) / cols
	each(threads, (q.m+rows-1)/rows*across, func(t int) {
		i, j := t/across*rows, t%across*cols
		m, n := min(rows, q.m-i), min(cols, q.n-j)
		a := buf[i/simd.StripRows*strip:]
		if once {
			q.stream(a, strip, m, j, n)
			return
		}
		q.block(a, right[j/simd.StripRows*strip:], strip, i, m, j, n)
	})
}

// blockSizes gives the rows and columns of a task.
func (q *dotProduct) blockSizes(threads int) (rows, cols int) {
	rows, cols = dotRows, dotColumns
	if q.m <= rows && q.b.col == 1 && q.m <= 2*simd.StripRows {
		cols = streamColumns
	}
	for threads > 1 && cols > wideColumns && (q.m+rows-1)/rows*((q.n+cols-1)/cols) < 4*threads {
		cols /= 2
	}
	return rows, cols
}

// right packs terms p to p+k of columns j to j+n, n ≤ wideColumns or more, into
// strips; a last panel is completed with zeros.
func (q *dotProduct) right(dst []uint16, strip, p, k, j, n int) {
	for n > 0 {
		if q.b.col == 1 && n >= wideColumns {
			whole := k / simd.StepTerms
			q.d.RightWide(dst, strip, q.b.from(p, j), q.b.row, whole)
			if done := whole * simd.StepTerms; done < k {
				for s := range simd.WideStrips {
					q.d.Right(dst[s*strip+whole*simd.StepSize:], q.b.from(p+done, j+s*simd.StripRows), q.b.row, 1, simd.StripRows, k-done)
				}
			}
			dst, j, n = dst[min(len(dst), simd.WideStrips*strip):], j+wideColumns, n-wideColumns
			continue
		}
		for range 2 {
			cols := max(0, min(simd.StripRows, n))
			q.d.Right(dst, q.b.from(p, j), q.b.row, q.b.col, cols, k)
			dst, j, n = dst[min(len(dst), strip):], j+cols, n-cols
		}
	}
}

// block computes a block of the result from packed operands.
func (q *dotProduct) block(a, b []uint16, strip, i, m, j, n int) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	wide := roundUp(n, panelColumns)
	sums := take[float32](mem, roundUp(m, simd.StripRows)*wide)
	for p := 0; p < q.k; p += dotTerms {
		steps := simd.Steps(min(dotTerms, q.k-p))
		at := p / simd.StepTerms * simd.StepSize
		for l := 0; l < n; l += panelColumns {
			q.d.Multiply(steps, a[at:], strip, b[l/simd.StripRows*strip+at:], strip, sums[l:], wide, m, p > 0)
		}
	}
	q.store(sums, wide, i, m, j, n)
}

// stream is block for rows that all operands of the right meet once: it packs
// them itself.
func (q *dotProduct) stream(a []uint16, aStrip, m, j, n int) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	wide := roundUp(n, panelColumns)
	terms := dotTerms
	if n > dotColumns {
		terms = streamTerms
	}
	size := roundUp(m, simd.StripRows) * wide
	strip := simd.Steps(min(terms, q.k)) * simd.StepSize
	buf := take[float32](mem, size+wide/simd.StripRows*strip/2)
	sums, b := buf[:size], As[uint16](bytesOf(buf[size:]))
	for p := 0; p < q.k; p += terms {
		k := min(terms, q.k-p)
		q.right(b, strip, p, k, j, n)
		for l := 0; l < n; l += panelColumns {
			q.d.Multiply(simd.Steps(k), a[p/simd.StepTerms*simd.StepSize:], aStrip, b[l/simd.StripRows*strip:], strip, sums[l:], wide, m, p > 0)
		}
	}
	q.store(sums, wide, 0, m, j, n)
}

// store writes rows of sums, wide apart, to the result.
func (q *dotProduct) store(sums []float32, wide, i, m, j, n int) {
	for r := range m {
		at := (i+r)*q.n + j
		if q.out != nil {
			q.run.NarrowBF16(q.out[at:at+n], sums[r*wide:])
			continue
		}
		copy(q.c[at:at+n], sums[r*wide:])
	}
}

// multiplyAll computes the batch of a contraction on a unit; c or out has the
// whole result.
func (q dotProduct) multiplyAll(con contraction) {
	if s, ok := con.rowsOf(q.a); ok {
		q.m *= shape.Size(con.batch)
		q.a.row = s
		q.multiply(threads())
		return
	}
	ps := make([]dotProduct, shape.Size(con.batch))
	eachPair(con.batch, con.aB, con.bB, func(i, xo, yo int) {
		p := q
		p.a.bits, p.b.bits = q.a.bits[xo:], q.b.bits[yo:]
		if q.out != nil {
			p.out = q.out[i*q.m*q.n:]
		} else {
			p.c = q.c[i*q.m*q.n:]
		}
		ps[i] = p
	})
	if n := threads(); n > 1 && len(ps) >= 2*n {
		Parallel(len(ps), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				ps[i].multiply(1)
			}
		})
		return
	}
	for i := range ps {
		ps[i].multiply(threads())
	}
}
