package kernel

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// contractWide runs a contraction in the wide type of the result and rounds
// once. Narrow operands are widened as a whole first, large ones of bf16 piece by piece.
func contractWide(out Array, con contraction, a, b Array, e *epilogue) {
	switch wideType(out.DType) {
	case dtype.F32:
		if !contractHalves(out, con, a, b, e) {
			contractAs[float32](out, con, a, b, e)
		}
	case dtype.F64:
		contractAs[float64](out, con, a, b, e)
	case dtype.C64:
		contractAs[complex64](out, con, a, b, e)
	case dtype.C128:
		contractAs[complex128](out, con, a, b, e)
	default:
		if e != nil || !contractInt8(out, con, a, b) {
			contractAs[int64](out, con, a, b, e)
		}
	}
}

func contractAs[T factor](out Array, con contraction, a, b Array, e *epilogue) {
	res := wideResult[T](out)
	x := wideOperand[T](a, con.batch, con.m, con.k, con.aB, con.aM, con.aK)
	y := wideOperand[T](b, con.batch, con.k, con.n, con.bB, con.bK, con.bN)
	contract(res, con.batch, shape.Size(con.m), shape.Size(con.n), shape.Size(con.k), x, y)
	if e != nil {
		finish(res, out.Dims, e)
	}
	storeWide(out, res)
}

// A stack is a batch of matrices: matrix (i, j, …) starts at i·batch[0] + ….
type stack[T factor] struct {
	matrix[T]
	batch []int
}

// wideOperand brings an operand into the form of a batch of matrices. It is
// used in place when its element type is T and each group of axes can be
// walked with one stride; else it is copied.
func wideOperand[T factor](a Array, batch, rows, cols, sb, sr, sc []int) stack[T] {
	if isWide[T](a.DType) {
		r, okR := oneStride(rows, sr)
		c, okC := oneStride(cols, sc)
		if okR && okC {
			d := As[T](a.Buf)
			return stack[T]{matrix[T]{d[min(a.Offset, len(d)):], r, c}, sb}
		}
	}
	dims, strides := slices.Concat(batch, rows, cols), slices.Concat(sb, sr, sc)
	v := Array{DType: a.DType, Buf: a.Buf, View: shape.View{Dims: dims, Strides: strides, Offset: a.Offset}}
	// A batch axis that repeats the same matrix is not copied.
	for i, s := range sb {
		if s == 0 {
			v.Dims[i] = 1
		}
	}
	d := wideElems[T](v)
	st := shape.RowMajor(v.Dims)[:len(batch)]
	for i, s := range sb {
		if s == 0 {
			st[i] = 0
		}
	}
	n := shape.Size(cols)
	return stack[T]{matrix[T]{d, n, 1}, st}
}

// oneStride says whether axes can be walked as one, and with which stride.
func oneStride(dims, strides []int) (int, bool) {
	stride, n := 1, 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] == 1 {
			continue
		}
		if n == 1 {
			stride = strides[i]
		} else if strides[i] != n*stride {
			return 0, false
		}
		n *= dims[i]
	}
	return stride, true
}

// contract computes res[batch,m,n] = x[batch,m,k] × y[batch,k,n].
func contract[T factor](res []T, batch []int, m, n, k int, x, y stack[T]) {
	g := simd.KernelsOf[T](simd.Chosen())
	if len(batch) == 0 {
		multiplyAlone(g, &product[T]{m, n, k, x.matrix, y.matrix, matrix[T]{res, n, 1}})
		return
	}
	// One product suffices when all matrices of x are multiplied by the same y and lie behind each other.
	if s, ok := oneStride(append(slices.Clone(batch), m), append(slices.Clone(x.batch), x.row)); ok && allZero(batch, y.batch) {
		m *= shape.Size(batch)
		multiplyAlone(g, &product[T]{m, n, k, matrix[T]{x.data, s, x.col}, y.matrix, matrix[T]{res, n, 1}})
		return
	}
	ps := make([]product[T], shape.Size(batch))
	if m*n == 0 {
		return
	}
	eachPair(batch, x.batch, y.batch, func(i, xo, yo int) {
		if k == 0 {
			xo, yo = 0, 0
		}
		ps[i] = product[T]{m, n, k,
			matrix[T]{x.data[xo:], x.row, x.col},
			matrix[T]{y.data[yo:], y.row, y.col},
			matrix[T]{res[i*m*n:], n, 1}}
	})
	multiplyAt(g, ps)
}

// eachPair calls f with the number of each matrix of a batch and where it
// begins in two stacks, whose strides are xs and ys.
func eachPair(batch, xs, ys []int, f func(i, xo, yo int)) {
	idx := make([]int, len(batch))
	for i := range shape.Size(batch) {
		xo, yo := 0, 0
		for d, j := range idx {
			xo += j * xs[d]
			yo += j * ys[d]
		}
		f(i, xo, yo)
		for d := len(idx) - 1; d >= 0; d-- {
			if idx[d]++; idx[d] < batch[d] {
				break
			}
			idx[d] = 0
		}
	}
}

// allZero says whether an operand repeats over every axis longer than one.
func allZero(dims, strides []int) bool {
	for i, s := range strides {
		if s != 0 && dims[i] != 1 {
			return false
		}
	}
	return true
}

// finish computes res = beta·add + alpha·res. Integers take alpha and beta truncated.
func finish[T factor](res []T, dims []int, e *epilogue) {
	alpha, beta := scalarOf[T](e.alpha), scalarOf[T](e.beta)
	if e.beta == 0 {
		Parallel(len(res), 1<<15, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				res[i] *= alpha
			}
		})
		return
	}
	add, v := wideView[T](e.add)
	st := stretch(v.Dims, v.Strides, len(dims))
	n := 1
	step := 0
	if r := len(dims); r > 0 {
		n, step = dims[r-1], st[r-1]
	}
	if n == 0 || len(res) == 0 {
		return
	}
	Parallel(len(res)/n, max(1, 1<<14/n), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			at, rest := v.Offset, o
			for d := len(dims) - 2; d >= 0; d-- {
				at += rest % dims[d] * st[d]
				rest /= dims[d]
			}
			row := res[o*n : (o+1)*n]
			if alpha == 1 && beta == 1 {
				for i := range row {
					row[i] += add[at]
					at += step
				}
				continue
			}
			for i, x := range row {
				row[i] = T(beta*add[at]) + T(alpha*x)
				at += step
			}
		}
	})
}

// scalarOf converts a Go number to the type of a computation.
func scalarOf[T factor](x float64) T {
	var t T
	switch p := any(&t).(type) {
	case *float32:
		*p = float32(x)
	case *float64:
		*p = x
	case *int64:
		*p = int64(x)
	case *complex64:
		*p = complex(float32(x), 0)
	}
	return t
}
