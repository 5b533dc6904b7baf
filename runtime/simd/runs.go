package simd

import "math"

// Runs are the kernels over runs of elements at one level.
type Runs struct {
	Level Level
	// SumRows is the number of rows that Sums takes; 1 where it has no kernel.
	SumRows int

	lanes, rowCols                             int
	widenBF16, widenF16, narrowBF16, narrowF16 convertFunc
	widenRows                                  [2]panelsFunc // one panel of rowCols columns, and four
	stream8, stream1                           streamFunc
	max, min                                   extremeFunc
	sums                                       func(n int, src *byte, ld uintptr, dst *byte, dd uintptr, carry *byte)
	split                                      func(n int, src, even, odd *byte)
	merge                                      func(n int, even, odd, dst *byte)
	pickRows                                   [2]pickRowsFunc // into the cache, past it
	moveRows                                   [2]moveRowsFunc // in pieces of lanes elements, of half as many
	odd                                        func(n int, src *byte) uint64
	philox                                     func(n int, ctr uint32, words *[5]uint32, dst *byte)
}

// convertStep is how many elements a conversion takes at a time.
const convertStep = 16

type panelsFunc func(n int, src *byte, ld uintptr, dst *byte, dd, pd uintptr)

type moveRowsFunc func(n int, last uintptr, src *byte, ld uintptr, dst *byte, dd uintptr)

type convertFunc func(n int, src, dst *byte)

type extremeFunc func(n int, src *byte) (index int, best float32, nan uint64)

// RunsOf gives the kernels of a level, which the processor must have.
func RunsOf(l Level) *Runs { return runs[l] }

var goRuns = Runs{SumRows: 1}

// convert runs a kernel over whole steps and f over what is left.
func convert[D, S any](k convertFunc, dst []D, src []S, f func(S) D) {
	src = src[:len(dst)]
	n := 0
	if k != nil {
		if n = len(dst) / convertStep * convertStep; n > 0 {
			k(n, at(src), at(dst))
		}
	}
	for i := n; i < len(dst); i++ {
		dst[i] = f(src[i])
	}
}

// WidenBF16 converts bf16 exactly.
func (r *Runs) WidenBF16(dst []float32, src []uint16) {
	convert(r.widenBF16, dst, src, func(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) })
}

// WidenBF16Rows converts n rows of cols bf16 exactly; the rows are srcRow and
// dstRow elements apart.
func (r *Runs) WidenBF16Rows(n, cols int, dst []float32, dstRow int, src []uint16, srcRow int) {
	if n == 0 || cols == 0 {
		return
	}
	_ = src[(n-1)*srcRow+cols-1]
	_ = dst[(n-1)*dstRow+cols-1]
	if k := r.widenRows[0]; k != nil && cols == r.rowCols {
		k(n, at(src), strideBytes[uint16](srcRow), at(dst), strideBytes[float32](dstRow), 0)
		return
	}
	for i := range n {
		r.WidenBF16(dst[i*dstRow:][:cols], src[i*srcRow:][:cols])
	}
}

// WidenBF16Panels converts n rows of four panels of cols bf16 each exactly: a
// row of each panel is dense, the panels are panel elements apart.
func (r *Runs) WidenBF16Panels(n, cols int, dst []float32, panel int, src []uint16, srcRow int) {
	if n == 0 || cols == 0 {
		return
	}
	_ = src[(n-1)*srcRow+4*cols-1]
	_ = dst[3*panel+n*cols-1]
	if k := r.widenRows[1]; k != nil && cols == r.rowCols {
		k(n, at(src), strideBytes[uint16](srcRow), at(dst), strideBytes[float32](cols), strideBytes[float32](panel))
		return
	}
	for i := range 4 {
		r.WidenBF16Rows(n, cols, dst[i*panel:], cols, src[i*cols:], srcRow)
	}
}

// StreamBF16 is Stream of Kernels[float32] for b of bf16, a dense and c from zero:
//
//	c[j] = Σ a[p] · b[p*bK+j]    p < len(a), j < len(c)
func (r *Runs) StreamBF16(a []float32, b []uint16, bK int, c []float32) {
	if len(a) == 0 || len(c) == 0 {
		clear(c)
		return
	}
	_ = b[(len(a)-1)*bK+len(c)-1]
	n := 0
	if r.stream8 != nil {
		n = len(c) / r.rowCols * r.rowCols
	}
	for p, step := 0, 0; p < len(a) && n > 0; p += step {
		f := r.stream1
		if step = 1; p+8 <= len(a) {
			f, step = r.stream8, 8
		}
		f(n, at(a[p:]), 4, at(b[p*bK:]), strideBytes[uint16](bK), at(c), flag(p == 0))
	}
	clear(c[n:])
	for p, x := range a {
		for j := n; j < len(c); j++ {
			c[j] = FMA32(x, math.Float32frombits(uint32(b[p*bK+j])<<16), c[j])
		}
	}
}

// WidenF16 converts f16 exactly; a NaN becomes quiet.
func (r *Runs) WidenF16(dst []float32, src []uint16) { convert(r.widenF16, dst, src, widenF16) }

// NarrowBF16 rounds to nearest even; every NaN becomes 0x7fc0.
func (r *Runs) NarrowBF16(dst []uint16, src []float32) { convert(r.narrowBF16, dst, src, narrowBF16) }

// NarrowF16 rounds to nearest even, from 65520 on to infinity; every NaN becomes 0x7e00.
func (r *Runs) NarrowF16(dst []uint16, src []float32) { convert(r.narrowF16, dst, src, narrowF16) }

func widenF16(h uint16) float32 {
	sign, m := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case m > 0x7c00:
		return math.Float32frombits(sign | 0x7fc00000 | m<<13)
	case m == 0x7c00:
		return math.Float32frombits(sign | 0x7f800000)
	case m < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(m)*(1.0/(1<<24))))
	}
	return math.Float32frombits(sign | (m<<13 + 112<<23))
}

func narrowBF16(x float32) uint16 {
	u := math.Float32bits(x)
	if u&0x7fffffff > 0x7f800000 {
		return 0x7fc0
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

func narrowF16(x float32) uint16 {
	u := math.Float32bits(x)
	sign, u := uint16(u>>16&0x8000), u&0x7fffffff
	switch {
	case u > 0x7f800000:
		return 0x7e00
	case u >= 0x477ff000: // 65520
		return sign | 0x7c00
	case u < 113<<23: // subnormal: adding 2^23 units leaves the rounded multiple in the mantissa
		const magic = (127 - 24 + 23) << 23
		return sign | uint16(math.Float32bits(math.Float32frombits(u)+math.Float32frombits(magic))-magic)
	}
	u += 1<<12 - 1 + u>>13&1
	return sign | uint16(u>>13-112<<10)
}

// ArgMax is the position of the first largest element of a row that is not
// empty; the first NaN wins.
func (r *Runs) ArgMax(row []float32) int {
	return r.arg(row, r.max, func(a, b float32) bool { return a > b })
}

// ArgMin is the position of the first smallest element; the first NaN wins.
func (r *Runs) ArgMin(row []float32) int {
	return r.arg(row, r.min, func(a, b float32) bool { return a < b })
}

func (r *Runs) arg(row []float32, extreme extremeFunc, better func(a, b float32) bool) int {
	k, whole := 0, 0
	best := row[0]
	if r.lanes > 0 {
		whole = min(len(row), 1<<30) / r.lanes * r.lanes
	}
	if whole > 0 {
		index, most, nan := extreme(whole, at(row))
		if nan != 0 {
			whole = 0 // where is the first?
		} else {
			k, best = index, most
		}
	}
	if best != best {
		return 0
	}
	for i := whole; i < len(row); i++ {
		if x := row[i]; better(x, best) {
			k, best = i, x
		} else if x != x {
			return i
		}
	}
	return k
}

// Sums computes running sums of SumRows rows of n elements, in order:
// y[i*yRow+j] = x[i*xRow] + … + x[i*xRow+j].
func (r *Runs) Sums(n int, x []float32, xRow int, y []float32, yRow int) {
	if n == 0 {
		return
	}
	_ = x[(r.SumRows-1)*xRow+n-1]
	_ = y[(r.SumRows-1)*yRow+n-1]
	var carry [16]float32
	whole := 0
	if r.sums != nil {
		if whole = n / r.SumRows * r.SumRows; whole > 0 {
			r.sums(whole, at(x), strideBytes[float32](xRow), at(y), strideBytes[float32](yRow), at(carry[:]))
		}
	}
	for i := range r.SumRows {
		s := carry[i]
		for j := whole; j < n; j++ {
			s += x[i*xRow+j]
			y[i*yRow+j] = s
		}
	}
}

// Split parts src into its elements of even and of odd place; each result may
// lack the last element.
func (r *Runs) Split(even, odd, src []float32) {
	n := min(len(even), len(odd), len(src)/2)
	done := 0
	if r.split != nil {
		if done = n / r.lanes * r.lanes; done > 0 {
			r.split(done, at(src), at(even), at(odd))
		}
	}
	for i := done; i < len(even); i++ {
		even[i] = src[2*i]
	}
	for i := done; i < len(odd); i++ {
		odd[i] = src[2*i+1]
	}
}

// Merge undoes Split: it fills dst from both in turn.
func (r *Runs) Merge(dst, even, odd []float32) {
	n := min(len(even), len(odd), len(dst)/2)
	i := 0
	if r.merge != nil {
		if i = n / r.lanes * r.lanes; i > 0 {
			r.merge(i, at(even), at(odd), at(dst))
		}
	}
	for i *= 2; i < len(dst); i++ {
		if i%2 == 0 {
			dst[i] = even[i/2]
		} else {
			dst[i] = odd[i/2]
		}
	}
}

// MoveRows copies n rows of cols elements; the rows are dstRow and srcRow
// elements apart. The two do not overlap.
func (r *Runs) MoveRows(n, cols int, dst []float32, dstRow int, src []float32, srcRow int) {
	if n == 0 || cols == 0 {
		return
	}
	_ = src[(n-1)*srcRow+cols-1]
	_ = dst[(n-1)*dstRow+cols-1]
	for i, k := range r.moveRows {
		if lanes := r.lanes >> i; k != nil && cols >= lanes {
			k(n, strideBytes[float32](cols-lanes), at(src), strideBytes[float32](srcRow), at(dst), strideBytes[float32](dstRow))
			return
		}
	}
	for i := range n {
		copy(dst[i*dstRow:], src[i*srcRow:][:cols])
	}
}
