package sim

import (
	"math"

	"github.com/tpush/tpush/runtime/shape"
)

// Sizes saturate at the largest int64: an array that no memory holds is
// refused with an error, not computed with a size that wrapped around.

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

// hostBytes is the size of a dense host array; it saturates where Spec.HostBytes would overflow.
func hostBytes(s shape.Spec) int64 {
	n := int64(s.DType.HostBytes())
	for _, d := range s.Dims {
		n = product(n, int64(d))
	}
	for _, d := range s.Dims {
		if d == 0 {
			return 0
		}
	}
	return n
}

// logicalBytes is Spec.Bytes; it saturates.
func logicalBytes(s shape.Spec) int64 {
	n := int64(s.DType.Bits())
	for _, d := range s.Dims {
		if d == 0 {
			return 0
		}
	}
	for _, d := range s.Dims {
		n = product(n, int64(d))
	}
	if n == math.MaxInt64 {
		return n
	}
	return (n + 7) / 8
}
