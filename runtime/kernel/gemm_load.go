package kernel

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// wideType is the type that an operation which adds and multiplies elements of
// d computes in: F64, C64 and C128 as they are, F32 for the other floats, I64 for
// integers and bools (sums and products that wrap there wrap alike in the narrow type).
func wideType(d dtype.DType) dtype.DType {
	switch {
	case d == dtype.F64 || d.IsComplex():
		return d
	case d.IsFloat():
		return dtype.F32
	}
	return dtype.I64
}

// wideOf is the element type whose values are of Go type T.
func wideOf[T factor]() dtype.DType {
	var t T
	switch any(t).(type) {
	case float32:
		return dtype.F32
	case float64:
		return dtype.F64
	case complex64:
		return dtype.C64
	case complex128:
		return dtype.C128
	}
	return dtype.I64
}

// isWide says whether the bits of elements of d are values of T as they stand.
func isWide[T factor](d dtype.DType) bool {
	w := wideOf[T]()
	return d == w || w == dtype.I64 && d == dtype.U64
}

// wideView gives the elements of a as values of T and the view to read them
// through. Nothing is copied when they are such values already.
func wideView[T factor](a Array) ([]T, shape.View) {
	if isWide[T](a.DType) {
		return As[T](a.Buf), a.View
	}
	return wideElems[T](a), shape.Dense(a.Dims)
}

// wideElems gives the elements of a in row-major order as values of T; they may
// be a's own memory, so they are read only.
func wideElems[T factor](a Array) []T {
	if isWide[T](a.DType) {
		return As[T](Contiguous(a).Buf)[:a.Size()]
	}
	return As[T](Cast(a, wideOf[T]()).Buf)[:a.Size()]
}

// wideResult gives the memory to compute the dense array out in: its own when
// that holds values of T. It is not cleared.
func wideResult[T factor](out Array) []T {
	if isWide[T](out.DType) {
		return As[T](out.Buf)[:out.Size()]
	}
	return rawOf[T](out.Size())
}

// storeWide rounds xs, in row-major order, once into the dense array out. It
// does nothing when xs is out's memory.
func storeWide[T factor](out Array, xs []T) {
	if len(xs) == 0 {
		return
	}
	if isWide[T](out.DType) {
		if dst := As[T](out.Buf); unsafe.SliceData(dst) != unsafe.SliceData(xs) {
			copy(dst, xs)
		}
		return
	}
	Convert(out, Array{DType: wideOf[T](), View: shape.Dense(out.Dims), Buf: bytesOf(xs)})
}

// bytesOf sees xs as bytes, without a copy.
func bytesOf[T any](xs []T) []byte {
	if len(xs) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&xs[0])), len(xs)*int(unsafe.Sizeof(xs[0])))
}
