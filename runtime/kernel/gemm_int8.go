package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// int8Block is the number of rows and of columns of a block of a product of bytes.
const int8Block = 256

// contractInt8 is contractAs for operands of i8 at a level that multiplies them,
// when the result has at most 32 bits: it wraps as it does everywhere, so
// the bits are the same. It reports false, having done nothing, for others.
func contractInt8(out Array, con contraction, a, b Array) bool {
	m, n, k := shape.Size(con.m), shape.Size(con.n), shape.Size(con.k)
	kernels := simd.Int8s(simd.Chosen())
	d := kernels[len(kernels)-1]
	if a.DType != dtype.I8 || b.DType != dtype.I8 || out.DType.Bits() > 32 || m*n*k < serialWork || !d.Native() {
		return false
	}
	aRow, ok1 := oneStride(con.m, con.aM)
	aTerm, ok2 := oneStride(con.k, con.aK)
	bTerm, ok3 := oneStride(con.k, con.bK)
	bCol, ok4 := oneStride(con.n, con.bN)
	if !ok1 || !ok2 || !ok3 || !ok4 || min(aRow, aTerm, bTerm, bCol) < 0 {
		return false
	}
	res := rawOf[int32](shape.Size(con.batch) * m * n)
	x, y := As[int8](a.Buf)[a.Offset:], As[int8](b.Buf)[b.Offset:]
	eachPair(con.batch, con.aB, con.bB, func(i, xo, yo int) {
		multiplyInt8(d, m, n, k, x[xo:], aRow, aTerm, y[yo:], bTerm, bCol, res[i*m*n:][:m*n])
	})
	Convert(out, Array{DType: dtype.I32, View: shape.Dense(out.Dims), Buf: bytesOf(res)})
	return true
}

// multiplyInt8 computes c[m,n] = a[m,k] × b[k,n].
func multiplyInt8(d *simd.Int8, m, n, k int, a []int8, aRow, aTerm int, b []int8, bTerm, bCol int, c []int32) {
	mem := panelMems.Get().(*panelMem)
	defer panelMems.Put(mem)
	const high = simd.StripRows
	steps := (k + simd.StepTermsInt8 - 1) / simd.StepTermsInt8
	strip := steps * simd.StepBytes
	rows, cols := (m+high-1)/high, roundUp(n, 2*high)/high
	buf := take[int8](mem, (rows+cols)*strip)
	each(threads(), rows+cols, func(i int) {
		dst := buf[i*strip:]
		if i < rows {
			simd.LeftInt8(dst, a[i*high*aRow:], aRow, aTerm, min(high, m-i*high), k)
			return
		}
		j := (i - rows) * high
		simd.RightInt8(dst, b[min(j*bCol, len(b)):], bTerm, bCol, max(0, min(high, n-j)), k)
	})
	across := (n + int8Block - 1) / int8Block
	each(threads(), (m+int8Block-1)/int8Block*across, func(t int) {
		i, j := t/across*int8Block, t%across*int8Block
		m, end := min(int8Block, m-i), min(j+int8Block, n)
		mem := panelMems.Get().(*panelMem)
		defer panelMems.Put(mem)
		sums := take[int32](mem, roundUp(m, high)*2*high)
		for ; j < end; j += 2 * high {
			d.Multiply(steps, buf[i/high*strip:], strip, buf[(rows+j/high)*strip:], strip, sums, 2*high, m, false)
			w := min(2*high, n-j)
			for r := range m {
				copy(c[(i+r)*n+j:][:w], sums[r*2*high:])
			}
		}
	})
}
