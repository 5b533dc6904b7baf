package kernel

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

// A number is a type that loops compute in: every element type but the complex
// one loads into each of them.
type number interface {
	~float32 | ~float64 | ~int64 | ~uint64
}

// stored are the Go types that host buffers hold.
type stored interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// Class gives the type that elements of t are computed in: F32 for floats of
// 32 bits and fewer, F64, I64, U64 (bools too), C64 or C128.
func Class(t dtype.DType) dtype.DType {
	switch t.Kind() {
	case dtype.KindComplex:
		return t
	case dtype.KindFloat:
		if t == dtype.F64 {
			return dtype.F64
		}
		return dtype.F32
	case dtype.KindInt:
		return dtype.I64
	}
	return dtype.U64
}

// classOf gives the element type whose buffers are []T.
func classOf[T number]() dtype.DType {
	var z T
	switch any(z).(type) {
	case float32:
		return dtype.F32
	case float64:
		return dtype.F64
	case int64:
		return dtype.I64
	}
	return dtype.U64
}

// castRun converts elements off, off+stride, … of s.
func castRun[D, S stored](d []D, s []S, off, stride int) {
	if stride == 1 {
		s = s[off : off+len(d)]
		for i := range d {
			d[i] = D(s[i])
		}
		return
	}
	for i := range d {
		d[i] = D(s[off])
		off += stride
	}
}

// loadRun converts elements off, off+stride, … of a to T. Floats become
// integers by truncation, saturated; integers become narrower ones by wrapping.
func loadRun[T number](d []T, a *Array, off, stride int) {
	if len(d) == 0 {
		return
	}
	switch a.DType {
	case dtype.Bool, dtype.U4, dtype.U8:
		castRun(d, a.Buf, off, stride)
		return
	case dtype.I4, dtype.I8:
		castRun(d, As[int8](a.Buf), off, stride)
		return
	case dtype.U16:
		castRun(d, As[uint16](a.Buf), off, stride)
		return
	case dtype.I16:
		castRun(d, As[int16](a.Buf), off, stride)
		return
	case dtype.U32:
		castRun(d, As[uint32](a.Buf), off, stride)
		return
	case dtype.I32:
		castRun(d, As[int32](a.Buf), off, stride)
		return
	case dtype.U64:
		castRun(d, As[uint64](a.Buf), off, stride)
		return
	case dtype.I64:
		castRun(d, As[int64](a.Buf), off, stride)
		return
	}
	class := classOf[T]()
	if class == dtype.I64 || class == dtype.U64 {
		var tmp [128]float64
		for len(d) > 0 {
			n := min(len(d), len(tmp))
			loadRun(tmp[:n], a, off, stride)
			for i, x := range tmp[:n] {
				d[i] = truncate[T](class, x)
			}
			d, off = d[n:], off+n*stride
		}
		return
	}
	switch a.DType {
	case dtype.F32:
		castRun(d, As[float32](a.Buf), off, stride)
	case dtype.F64:
		castRun(d, As[float64](a.Buf), off, stride)
	case dtype.BF16:
		s := As[uint16](a.Buf)
		if f, ok := any(d).([]float32); ok && stride == 1 {
			simd.RunsOf(simd.Chosen()).WidenBF16(f, s[off:off+len(d)])
			return
		}
		if stride == 1 {
			s = s[off : off+len(d)]
			for i := range d {
				d[i] = T(math.Float32frombits(uint32(s[i]) << 16))
			}
			return
		}
		for i := range d {
			d[i] = T(math.Float32frombits(uint32(s[off]) << 16))
			off += stride
		}
	case dtype.F16:
		s := As[uint16](a.Buf)
		if f, ok := any(d).([]float32); ok && stride == 1 {
			simd.RunsOf(simd.Chosen()).WidenF16(f, s[off:off+len(d)])
			return
		}
		for i := range d {
			d[i] = T(dtype.F16ToF32(s[off]))
			off += stride
		}
	case dtype.C64: // the real part
		castRun(d, As[float32](a.Buf), 2*off, 2*stride)
	case dtype.C128:
		castRun(d, As[float64](a.Buf), 2*off, 2*stride)
	default:
		decode := narrowDecoder(a.DType)
		for i := range d {
			d[i] = T(decode(a.Buf[off]))
			off += stride
		}
	}
}

// narrowDecoder gives the function from codes to values of a float type of eight bits or fewer.
func narrowDecoder(t dtype.DType) func(uint8) float32 {
	switch t {
	case dtype.F4E2M1:
		return dtype.F4E2M1ToF32
	case dtype.F8E4M3:
		return dtype.F8E4M3ToF32
	case dtype.F8E5M2:
		return dtype.F8E5M2ToF32
	case dtype.F8E4M3FNUZ:
		return dtype.F8E4M3FNUZToF32
	case dtype.F8E5M2FNUZ:
		return dtype.F8E5M2FNUZToF32
	}
	return dtype.F8E8M0ToF32
}

// narrowEncoder gives the function that rounds to codes of a float type of eight bits or fewer.
func narrowEncoder(t dtype.DType) func(float32) uint8 {
	switch t {
	case dtype.F4E2M1:
		return dtype.F32ToF4E2M1
	case dtype.F8E4M3:
		return dtype.F32ToF8E4M3
	case dtype.F8E5M2:
		return dtype.F32ToF8E5M2
	case dtype.F8E4M3FNUZ:
		return dtype.F32ToF8E4M3FNUZ
	case dtype.F8E5M2FNUZ:
		return dtype.F32ToF8E5M2FNUZ
	}
	return dtype.F32ToF8E8M0
}

// truncate converts to a 64-bit integer: toward zero, saturated, NaN to 0.
func truncate[T number](class dtype.DType, x float64) T {
	if class == dtype.I64 {
		return T(truncateI64(x))
	}
	return T(truncateU64(x))
}

func truncateI64(x float64) int64 {
	switch {
	case x != x:
		return 0
	case x >= 1<<63:
		return math.MaxInt64
	case x <= -1<<63:
		return math.MinInt64
	}
	return int64(x)
}

func truncateU64(x float64) uint64 {
	switch {
	case !(x > 0):
		return 0
	case x >= 1<<64:
		return math.MaxUint64
	}
	return uint64(x)
}

// storeRun writes s to elements lo, lo+1, … of the dense array out, rounding
// or wrapping to its type.
func storeRun[S number](out *Array, lo int, s []S) {
	if len(s) == 0 {
		return
	}
	n := len(s)
	switch out.DType {
	case dtype.Bool:
		d := out.Buf[lo : lo+n]
		for i, x := range s {
			d[i] = 0
			if x != 0 {
				d[i] = 1
			}
		}
		return
	case dtype.F32:
		castRun(As[float32](out.Buf)[lo:lo+n], s, 0, 1)
		return
	case dtype.F64:
		castRun(As[float64](out.Buf)[lo:lo+n], s, 0, 1)
		return
	case dtype.BF16:
		d := As[uint16](out.Buf)[lo : lo+n]
		if f, ok := any(s).([]float32); ok {
			simd.RunsOf(simd.Chosen()).NarrowBF16(d, f)
			return
		}
		for i, x := range s {
			b := math.Float32bits(float32(x))
			if b&0x7fffffff > 0x7f800000 { // NaN
				d[i] = dtype.RoundBF16(float32(x))
				continue
			}
			d[i] = uint16((b + 0x7fff + b>>16&1) >> 16)
		}
		return
	case dtype.F16:
		d := As[uint16](out.Buf)[lo : lo+n]
		if f, ok := any(s).([]float32); ok {
			simd.RunsOf(simd.Chosen()).NarrowF16(d, f)
			return
		}
		for i, x := range s {
			d[i] = dtype.F32ToF16(float32(x))
		}
		return
	case dtype.C64:
		d := As[float32](out.Buf)[2*lo : 2*(lo+n)]
		for i, x := range s {
			d[2*i], d[2*i+1] = float32(x), 0
		}
		return
	case dtype.C128:
		d := As[float64](out.Buf)[2*lo : 2*(lo+n)]
		for i, x := range s {
			d[2*i], d[2*i+1] = float64(x), 0
		}
		return
	}
	if out.DType.IsFloat() {
		d := out.Buf[lo : lo+n]
		encode := narrowEncoder(out.DType)
		for i, x := range s {
			d[i] = encode(float32(x))
		}
		return
	}
	if c := classOf[S](); c == dtype.F32 || c == dtype.F64 {
		storeFloatAsInt(out, lo, s)
		return
	}
	switch out.DType {
	case dtype.U8:
		castRun(out.Buf[lo:lo+n], s, 0, 1)
	case dtype.I8:
		castRun(As[int8](out.Buf)[lo:lo+n], s, 0, 1)
	case dtype.U4:
		d := out.Buf[lo : lo+n]
		for i, x := range s {
			d[i] = uint8(x) & 0xf
		}
	case dtype.I4:
		d := As[int8](out.Buf)[lo : lo+n]
		for i, x := range s {
			d[i] = int8(uint8(x)<<4) >> 4
		}
	case dtype.U16:
		castRun(As[uint16](out.Buf)[lo:lo+n], s, 0, 1)
	case dtype.I16:
		castRun(As[int16](out.Buf)[lo:lo+n], s, 0, 1)
	case dtype.U32:
		castRun(As[uint32](out.Buf)[lo:lo+n], s, 0, 1)
	case dtype.I32:
		castRun(As[int32](out.Buf)[lo:lo+n], s, 0, 1)
	case dtype.U64:
		castRun(As[uint64](out.Buf)[lo:lo+n], s, 0, 1)
	case dtype.I64:
		castRun(As[int64](out.Buf)[lo:lo+n], s, 0, 1)
	}
}

// storeFloatAsInt truncates toward zero and saturates, as the TPU does.
func storeFloatAsInt[S number](out *Array, lo int, s []S) {
	t := out.DType
	if t == dtype.U64 {
		d := As[uint64](out.Buf)[lo:]
		for i, x := range s {
			d[i] = truncateU64(float64(x))
		}
		return
	}
	least, most := int64(0), int64(1)<<t.Bits()-1
	if t.Kind() == dtype.KindInt {
		least, most = -1<<(t.Bits()-1), 1<<(t.Bits()-1)-1
	}
	var tmp [128]int64
	for len(s) > 0 {
		m := min(len(s), len(tmp))
		for i, x := range s[:m] {
			tmp[i] = min(max(truncateI64(float64(x)), least), most)
		}
		storeRun(out, lo, tmp[:m])
		s, lo = s[m:], lo+m
	}
}

// Convert writes src, of the same number of elements, to the dense array dst
// in dst's type: floats round to nearest even, floats become integers toward
// zero and saturated, integers wrap, and whatever is not zero is true. Elements
// of one type are moved as they are.
func Convert(dst, src Array) {
	n := dst.Size()
	if n == 0 {
		return
	}
	dst.View = shape.Dense(src.Dims)
	switch {
	case dst.DType == src.DType && src.Contiguous():
		b := src.DType.HostBytes()
		copy(dst.Buf[:n*b], src.Buf[src.Offset*b:])
	case dst.DType == src.DType:
		Copy(dst, src)
	case !src.DType.IsComplex() && !dst.DType.IsComplex():
		if err := toOp.run(&Call{In: []Array{src}, Out: []Array{dst}}); err != nil {
			panic(err)
		}
	case !dst.DType.IsComplex() && dst.DType != dtype.Bool:
		Convert(dst, partOf(src, 0))
	default:
		Parallel(n, convertGrain, func(lo, hi int) { convertRange(dst, src, lo, hi) })
	}
}

// convertGrain is the number of elements that one goroutine converts at least.
const convertGrain = 1 << 15

// convertRange converts elements lo … hi to complex numbers, or such to bools.
func convertRange(dst, src Array, lo, hi int) {
	w := newWork()
	defer w.free()
	v := &w.in[0]
	v.see(&src, src.Dims)
	switch Class(src.DType) {
	case dtype.F32:
		convertAs(w, &dst, lo, hi, scratch[float32](w, 0))
	case dtype.F64:
		convertAs(w, &dst, lo, hi, scratch[float64](w, 0))
	case dtype.I64:
		convertAs(w, &dst, lo, hi, scratch[int64](w, 0))
	case dtype.U64:
		convertAs(w, &dst, lo, hi, scratch[uint64](w, 0))
	default:
		buf := scratch[complex128](w, 0)
		for ; lo < hi; lo += chunk {
			x := buf[:min(chunk, hi-lo)]
			loadComplex(x, v, lo)
			storeComplex(&dst, lo, x)
		}
	}
}

func convertAs[T number](w *work, dst *Array, lo, hi int, buf []T) {
	for ; lo < hi; lo += chunk {
		x := buf[:min(chunk, hi-lo)]
		loadReal(x, &w.in[0], lo)
		storeRun(dst, lo, x)
	}
}

// Contiguous gives a itself when it is dense from the start of its buffer,
// else a dense copy.
func Contiguous(a Array) Array {
	if a.Offset == 0 && a.Contiguous() {
		return a
	}
	d := NewRaw(a.Spec())
	d.Weak = a.Weak
	Convert(d, a)
	return d
}

// Cast gives a dense array of type t with the elements of a: a itself when it
// is already that.
func Cast(a Array, t dtype.DType) Array {
	if a.DType == t {
		return Contiguous(a)
	}
	d := NewRaw(shape.Spec{DType: t, Dims: a.Dims})
	Convert(d, a)
	return d
}

// Float32s gives the elements in row-major order as f32: the array's own
// memory when it is dense f32, which the caller must not write.
func Float32s(a Array) []float32 { return As[float32](Cast(a, dtype.F32).Buf)[:a.Size()] }

// Float64s is Float32s for f64.
func Float64s(a Array) []float64 { return As[float64](Cast(a, dtype.F64).Buf)[:a.Size()] }

// Int64s is Float32s for i64: floats are truncated, bools are 0 and 1.
func Int64s(a Array) []int64 { return As[int64](Cast(a, dtype.I64).Buf)[:a.Size()] }

// Uint64s is Float32s for u64; signed integers wrap.
func Uint64s(a Array) []uint64 { return As[uint64](Cast(a, dtype.U64).Buf)[:a.Size()] }

// Bools gives the elements in row-major order as bytes, 1 where an element is
// not zero and 0 where it is.
func Bools(a Array) []uint8 { return Cast(a, dtype.Bool).Buf[:a.Size()] }
