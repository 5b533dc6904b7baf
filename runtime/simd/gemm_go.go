package simd

import "math"

// The kernels in Go: what the others must agree with, and what other
// architectures run. T(x*y) keeps the compiler from fusing where fusing is not
// meant.

func tileOf[T Factor](rows, cols, k int, a []T, aRow, aK int, b []T, bK int, c []T, cRow int, accumulate bool) {
	for i := range rows {
		for j := 0; j < cols; j += 2 {
			var s0, s1 T
			p, q := i*aRow, j
			for range k {
				x := a[p]
				s0 += T(x * b[q])
				s1 += T(x * b[q+1])
				p += aK
				q += bK
			}
			put2(c[i*cRow+j:], s0, s1, accumulate)
		}
	}
}

func put2[T Factor](c []T, x, y T, accumulate bool) {
	if accumulate {
		x, y = c[0]+x, c[1]+y
	}
	c[0], c[1] = x, y
}

func tileF32(rows, cols, k int, a []float32, aRow, aK int, b []float32, bK int, c []float32, cRow int, accumulate bool) {
	for i := range rows {
		for j := 0; j < cols; j += 2 {
			var s0, s1 float32
			p, q := i*aRow, j
			for range k {
				x := a[p]
				// FMA32, inlined: one rounding suffices nearly always.
				d0 := float64(x)*float64(b[q]) + float64(s0)
				d1 := float64(x)*float64(b[q+1]) + float64(s1)
				if roundsOnce(d0) && roundsOnce(d1) {
					s0, s1 = float32(d0), float32(d1)
				} else {
					s0, s1 = FMA32(x, b[q], s0), FMA32(x, b[q+1], s1)
				}
				p += aK
				q += bK
			}
			put2(c[i*cRow+j:], s0, s1, accumulate)
		}
	}
}

func tileF64(rows, cols, k int, a []float64, aRow, aK int, b []float64, bK int, c []float64, cRow int, accumulate bool) {
	for i := range rows {
		for j := 0; j < cols; j += 2 {
			var s0, s1 float64
			p, q := i*aRow, j
			for range k {
				x := a[p]
				s0 = math.FMA(x, b[q], s0)
				s1 = math.FMA(x, b[q+1], s1)
				p += aK
				q += bK
			}
			put2(c[i*cRow+j:], s0, s1, accumulate)
		}
	}
}

func axpyOf[T Factor](x T, b, c []T) {
	b = b[:len(c)]
	for j, y := range b {
		c[j] += T(x * y)
	}
}

func axpyF32(x float32, b, c []float32) {
	b = b[:len(c)]
	for j, y := range b {
		if d := float64(x)*float64(y) + float64(c[j]); roundsOnce(d) {
			c[j] = float32(d)
		} else {
			c[j] = FMA32(x, y, c[j])
		}
	}
}

func axpyF64(x float64, b, c []float64) {
	b = b[:len(c)]
	for j, y := range b {
		c[j] = math.FMA(x, y, c[j])
	}
}
