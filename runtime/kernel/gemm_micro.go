package kernel

// factor lists the types a product is computed in: narrower floats are widened
// to float32, integers and bools to int64 (which wraps as the narrow type does).
type factor interface {
	float32 | float64 | int64 | complex64 | complex128
}

// A microKernel computes a tile c[rows,cols] of a product over k terms, added
// to c when accumulate is set:
//
//	c[i*rowStrideC+j] = (c[i*rowStrideC+j] +) Σ a[i*rowStrideA+p*kStrideA] · b[p*kStrideB+j]
//
// The sum starts at zero and runs over p in order, so any kernel that keeps
// this order may replace another one.
type microKernel[T factor] struct {
	rows, cols int
	run        func(k int, a []T, rowStrideA, kStrideA int, b []T, kStrideB int, c []T, rowStrideC int, accumulate bool)
}

// goKernel is the portable micro-kernel. Eight sums are what fits in the
// sixteen registers of amd64 beside the operands.
func goKernel[T factor]() microKernel[T] { return microKernel[T]{4, 2, micro4x2[T]} }

// micro4x2 computes a tile of four rows and two columns. Packed panels
// (rowStrideA 1, kStrideA 4, kStrideB 2) take the unrolled loop. The conversions
// T(x*y) keep the compiler from fusing the multiplication with the addition,
// which would give other bits on machines that can.
func micro4x2[T factor](k int, a []T, rowStrideA, kStrideA int, b []T, kStrideB int, c []T, rowStrideC int, accumulate bool) {
	var c00, c01, c10, c11, c20, c21, c30, c31 T
	p := 0
	if rowStrideA == 1 && kStrideA == 4 && kStrideB == 2 {
		x, y := a[:4*k], b[:2*k]
		for len(x) >= 8 && len(y) >= 4 {
			b0, b1 := y[0], y[1]
			a0, a1, a2, a3 := x[0], x[1], x[2], x[3]
			c00 += T(a0 * b0)
			c01 += T(a0 * b1)
			c10 += T(a1 * b0)
			c11 += T(a1 * b1)
			c20 += T(a2 * b0)
			c21 += T(a2 * b1)
			c30 += T(a3 * b0)
			c31 += T(a3 * b1)
			b0, b1 = y[2], y[3]
			a0, a1, a2, a3 = x[4], x[5], x[6], x[7]
			c00 += T(a0 * b0)
			c01 += T(a0 * b1)
			c10 += T(a1 * b0)
			c11 += T(a1 * b1)
			c20 += T(a2 * b0)
			c21 += T(a2 * b1)
			c30 += T(a3 * b0)
			c31 += T(a3 * b1)
			x, y = x[8:], y[4:]
		}
		p = k &^ 1
	}
	for ; p < k; p++ {
		i, j := p*kStrideA, p*kStrideB
		b0, b1 := b[j], b[j+1]
		a0, a1, a2, a3 := a[i], a[i+rowStrideA], a[i+2*rowStrideA], a[i+3*rowStrideA]
		c00 += T(a0 * b0)
		c01 += T(a0 * b1)
		c10 += T(a1 * b0)
		c11 += T(a1 * b1)
		c20 += T(a2 * b0)
		c21 += T(a2 * b1)
		c30 += T(a3 * b0)
		c31 += T(a3 * b1)
	}
	put2(c, c00, c01, accumulate)
	put2(c[rowStrideC:], c10, c11, accumulate)
	put2(c[2*rowStrideC:], c20, c21, accumulate)
	put2(c[3*rowStrideC:], c30, c31, accumulate)
}

func put2[T factor](c []T, x, y T, accumulate bool) {
	if accumulate {
		x, y = c[0]+x, c[1]+y
	}
	c[0], c[1] = x, y
}
