package kernel

import (
	"github.com/tpush/tpush/runtime/par"
	"github.com/tpush/tpush/runtime/simd"
)

// factor lists the types a product is computed in: narrower floats are widened
// to float32, integers and bools to int64 (which wraps as the narrow type does).
type factor = simd.Factor

// kBlock alone decides the bits of a result: each block of kBlock terms is
// summed from zero, in order, f32 and f64 with fused multiplications, and the
// blocks are added in order. So it is one constant for every shape, path, level and type.
const kBlock = 512

// These only decide speed.
const (
	// mBlock rows of a, kBlock long, stay in the second-level cache while all panels of b pass.
	mBlock = 96
	// nBlock columns of b, kBlock long, are packed at a time: 4 MiB of f32.
	nBlock = 2048
	// serialWork is the number of multiplications below which a second thread costs more than it gives.
	serialWork = 1 << 17
	// directWork is the number of multiplications below which packing costs more than it gives.
	directWork = 128
	// smallRight is the number of elements of b that are read in place: they stay in the first-level cache anyway.
	smallRight = 64 * 64
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

func (p *product[T]) work() int { return p.m * p.n * p.k }

// multiply computes the products, which must write to different memory, on all
// threads. The bits of each do not depend on the others, on the strides, on
// the number of threads or on the level.
func multiply[T factor](ps []product[T]) {
	multiplyAt(simd.KernelsOf[T](simd.Chosen()), ps)
}

func multiplyAt[T factor](g *simd.Kernels[T], ps []product[T]) {
	work := 0
	for i := range ps {
		work += ps[i].work()
	}
	if n := threads(); n > 1 && work >= serialWork && len(ps) >= 2*n {
		Parallel(len(ps), max(1, len(ps)*serialWork/4/work), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				multiplyOne(g, &ps[i], 1)
			}
		})
		return
	}
	for i := range ps {
		multiplyAlone(g, &ps[i])
	}
}

// multiplyAlone computes a product on all threads that it pays for.
func multiplyAlone[T factor](g *simd.Kernels[T], p *product[T]) {
	multiplyOne(g, p, threadsFor(p.work()))
}

// threadsFor is the number of threads that so many multiplications pay for.
func threadsFor(work int) int {
	if work < serialWork {
		return 1
	}
	return threads()
}

// multiplyOne computes a product on a number of threads.
func multiplyOne[T factor](g *simd.Kernels[T], p *product[T], threads int) {
	q := *p
	if q.c.col != 1 && q.c.row == 1 {
		q = product[T]{q.n, q.m, q.k, q.b.t(), q.a.t(), q.c.t()}
	}
	switch {
	case q.m == 0 || q.n == 0:
	case q.k == 0:
		for i := range q.m {
			clear(q.c.data[i*q.c.row:][:q.n])
		}
	case q.work() <= directWork:
		multiplyDirect(q)
	case q.m == 1:
		multiplyRow(g, q, threads)
	case q.n == 1:
		multiplyRow(g, product[T]{1, q.m, q.k, q.b.t(), q.a.t(), q.c.t()}, threads)
	case q.m <= 2*g.Rows && q.b.col == 1 && q.k*q.n >= sweepRight && q.n >= leastChunk:
		multiplyAlong(g, q, threads)
	default:
		multiplyBlocks(g, q, threads)
	}
}

// multiplyDirect is the plain triple loop, with the sums blocked like everywhere.
func multiplyDirect[T factor](q product[T]) {
	a, b := q.a, q.b
	for i := range q.m {
		for j := range q.n {
			var total T
			for p0 := 0; p0 < q.k; p0 += kBlock {
				var s T
				for p := p0; p < min(p0+kBlock, q.k); p++ {
					s = simd.MulAdd(a.data[i*a.row+p*a.col], b.data[p*b.row+j*b.col], s)
				}
				if p0 == 0 {
					total = s
				} else {
					total += s
				}
			}
			q.c.data[i*q.c.row+j] = total
		}
	}
}

// each runs f over [0, n) on all threads, or here when there is one.
func each(threads, n int, f func(i int)) {
	if threads > 1 {
		par.Default().Run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}

func roundUp(n, m int) int { return (n + m - 1) / m * m }
