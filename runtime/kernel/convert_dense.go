package kernel

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/simd"
)

// convertDense converts n dense elements between f32 and a half type in one
// pass of vectors; it reports false for other pairs.
func convertDense(dst, src Array, n int) bool {
	r := simd.RunsOf(simd.Chosen())
	var widen func([]float32, []uint16)
	var narrow func([]uint16, []float32)
	switch {
	case src.DType == dtype.BF16 && dst.DType == dtype.F32:
		widen = r.WidenBF16
	case src.DType == dtype.F16 && dst.DType == dtype.F32:
		widen = r.WidenF16
	case src.DType == dtype.F32 && dst.DType == dtype.BF16:
		narrow = r.NarrowBF16
	case src.DType == dtype.F32 && dst.DType == dtype.F16:
		narrow = r.NarrowF16
	default:
		return false
	}
	if widen != nil {
		d, s := As[float32](dst.Buf)[:n], As[uint16](src.Buf)[src.Offset:src.Offset+n]
		Parallel(n, convertGrain, func(lo, hi int) { widen(d[lo:hi], s[lo:hi]) })
		return true
	}
	d, s := As[uint16](dst.Buf)[:n], As[float32](src.Buf)[src.Offset:src.Offset+n]
	Parallel(n, convertGrain, func(lo, hi int) { narrow(d[lo:hi], s[lo:hi]) })
	return true
}
