package sim

import (
	"math"

	"github.com/tpush/tpush/runtime/shape"
)

// paddedBytes is what an array takes in HBM in the compact default layout; it
// saturates at the largest int64.
func paddedBytes(s shape.Spec) int64 {
	bits := int64(s.DType.Bits())
	if bits == 0 {
		return 0
	}
	pack := 32 / min(bits, 32)
	for _, d := range s.Dims {
		if d == 0 {
			return 0
		}
	}
	if len(s.Dims) == 0 {
		return 128 * pack * bits / 8
	}
	if len(s.Dims) == 1 {
		n, t := int64(s.Dims[0]), 128*pack
		for t < n && t < 1024 {
			t *= 2
		}
		return product(roundUp(n, t), bits) / 8
	}
	best := int64(math.MaxInt64)
	for a := len(s.Dims) - 1; a >= 0; a-- {
		for b := len(s.Dims) - 1; b >= 0; b-- {
			if a == b {
				continue
			}
			n := bits
			for i, d := range s.Dims {
				x := int64(d)
				switch i {
				case a:
					x = roundUp(x, 128)
				case b:
					x = roundUp(x, sublanes(x, pack, bits))
				}
				n = product(n, x)
			}
			best = min(best, n)
		}
	}
	return best / 8
}

// sublanes is the number of rows of the tile for a second-minor dimension of n.
func sublanes(n, pack, bits int64) int64 {
	full := int64(8)
	if bits == 2 {
		full = 16
	}
	if n <= 8 {
		t := pack
		for t < n {
			t *= 2
		}
		return min(t, max(8, pack))
	}
	if pack >= 4 && bits > 2 && n%(8*pack) == 0 {
		return 8 * pack
	}
	return full
}

// roundUp rounds n up to a multiple of m; it saturates.
func roundUp(n, m int64) int64 {
	if n > math.MaxInt64-m {
		return math.MaxInt64
	}
	return (n + m - 1) / m * m
}

// product multiplies; it saturates. Both are at least 0.
func product(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// sum adds; it saturates. Both are at least 0.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
