package jit

import (
	"math"
	"unsafe"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/simd"
)

// tileOp computes one operation on n elements of tiles.
func tileOp(f *vmFrame, s *vmStep, n int) {
	switch s.op {
	case OpSelect:
		m := tileOf[uint32](f, s.x, n)
		if s.typ.wide() {
			choose(tileOf[uint64](f, s.d, n), m, tileOf[uint64](f, s.y, n), tileOf[uint64](f, s.z, n))
		} else {
			choose(tileOf[uint32](f, s.d, n), m, tileOf[uint32](f, s.y, n), tileOf[uint32](f, s.z, n))
		}
		return
	case OpBits:
		size := 4
		if s.typ.wide() {
			size = 8
		}
		copyBytes(unsafe.Pointer(&f.tiles[s.d*tile]), unsafe.Pointer(&f.tiles[s.x*tile]), n*size)
		return
	case OpAnd, OpOr, OpXor, OpAndNot:
		if s.typ.wide() {
			bitOp(s.op, tileOf[uint64](f, s.d, n), tileOf[uint64](f, s.x, n), tileOf[uint64](f, s.y, n))
		} else {
			bitOp(s.op, tileOf[uint32](f, s.d, n), tileOf[uint32](f, s.x, n), tileOf[uint32](f, s.y, n))
		}
		return
	}
	done := false
	switch s.arg {
	case F32:
		x := tileOf[float32](f, s.x, n)
		done = floatOp(s.op, tileOf[float32](f, s.d, n), x, tileOf[float32](f, s.y, n)) ||
			compare(s.op, tileOf[uint32](f, s.d, n), x, tileOf[float32](f, s.y, n)) || fused(f, s, n) || scaleTile(f, s, n)
	case F64:
		x := tileOf[float64](f, s.x, n)
		done = floatOp(s.op, tileOf[float64](f, s.d, n), x, tileOf[float64](f, s.y, n)) ||
			compare(s.op, tileOf[uint32](f, s.d, n), x, tileOf[float64](f, s.y, n)) || fused(f, s, n) || scaleTile(f, s, n)
	case I32:
		x := tileOf[int32](f, s.x, n)
		done = intOp(s.op, tileOf[uint32](f, s.d, n), tileOf[uint32](f, s.x, n), tileOf[uint32](f, s.y, n), s.imm) ||
			minMax(s.op, tileOf[int32](f, s.d, n), x, tileOf[int32](f, s.y, n), s.imm) ||
			compare(s.op, tileOf[uint32](f, s.d, n), x, tileOf[int32](f, s.y, n))
	case I64:
		x := tileOf[int64](f, s.x, n)
		done = intOp(s.op, tileOf[uint64](f, s.d, n), tileOf[uint64](f, s.x, n), tileOf[uint64](f, s.y, n), s.imm) ||
			minMax(s.op, tileOf[int64](f, s.d, n), x, tileOf[int64](f, s.y, n), s.imm) ||
			compare(s.op, tileOf[uint32](f, s.d, n), x, tileOf[int64](f, s.y, n))
	}
	if !done && !convertTile(f, s, n) {
		slowOp(f, s, n)
	}
}

func choose[T any](d []T, m []uint32, x, y []T) {
	m, x, y = m[:len(d)], x[:len(d)], y[:len(d)]
	for i := range d {
		v := y[i]
		if m[i] != 0 {
			v = x[i]
		}
		d[i] = v
	}
}

func bitOp[T uint32 | uint64](o Op, d, x, y []T) {
	x, y = x[:len(d)], y[:len(d)]
	switch o {
	case OpAnd:
		for i := range d {
			d[i] = x[i] & y[i]
		}
	case OpOr:
		for i := range d {
			d[i] = x[i] | y[i]
		}
	case OpXor:
		for i := range d {
			d[i] = x[i] ^ y[i]
		}
	default:
		for i := range d {
			d[i] = y[i] &^ x[i]
		}
	}
}

func floatOp[T float32 | float64](o Op, d, x, y []T) bool {
	x, y = x[:len(d)], y[:len(d)]
	switch o {
	case OpAdd:
		for i := range d {
			d[i] = x[i] + y[i]
		}
	case OpSub:
		for i := range d {
			d[i] = x[i] - y[i]
		}
	case OpMul:
		for i := range d {
			d[i] = x[i] * y[i]
		}
	case OpDiv:
		for i := range d {
			d[i] = x[i] / y[i]
		}
	case OpMin:
		for i := range d {
			d[i] = min(x[i], y[i])
		}
	case OpMax:
		for i := range d {
			d[i] = max(x[i], y[i])
		}
	case OpSqrt:
		for i := range d {
			d[i] = T(math.Sqrt(float64(x[i])))
		}
	case OpFloor:
		for i := range d {
			d[i] = T(math.Floor(float64(x[i])))
		}
	case OpCeil:
		for i := range d {
			d[i] = T(math.Ceil(float64(x[i])))
		}
	case OpTrunc:
		for i := range d {
			d[i] = T(math.Trunc(float64(x[i])))
		}
	case OpRoundEven:
		for i := range d {
			d[i] = T(math.RoundToEven(float64(x[i])))
		}
	default:
		return false
	}
	return true
}

// fused computes the operations of three floats.
func fused(f *vmFrame, s *vmStep, n int) bool {
	if s.op != OpFMA && s.op != OpFNMA {
		return false
	}
	if s.typ == F64 {
		d, x, y, z := tileOf[float64](f, s.d, n), tileOf[float64](f, s.x, n), tileOf[float64](f, s.y, n), tileOf[float64](f, s.z, n)
		for i := range d {
			a := x[i]
			if s.op == OpFNMA {
				a = -a
			}
			d[i] = math.FMA(a, y[i], z[i])
		}
		return true
	}
	d, x, y, z := tileOf[float32](f, s.d, n), tileOf[float32](f, s.x, n), tileOf[float32](f, s.y, n), tileOf[float32](f, s.z, n)
	if s.op == OpFNMA {
		for i := range d {
			d[i] = simd.FMA32(-x[i], y[i], z[i])
		}
		return true
	}
	for i := range d {
		d[i] = simd.FMA32(x[i], y[i], z[i])
	}
	return true
}

// scaleTile computes OpScale.
func scaleTile(f *vmFrame, s *vmStep, n int) bool {
	if s.op != OpScale {
		return false
	}
	if s.typ == F64 {
		d, x, k := tileOf[float64](f, s.d, n), tileOf[float64](f, s.x, n), tileOf[float64](f, s.y, n)
		for i := range d {
			d[i] = scale64(x[i], k[i])
		}
		return true
	}
	d, x, k := tileOf[float32](f, s.d, n), tileOf[float32](f, s.x, n), tileOf[float32](f, s.y, n)
	for i := range d {
		d[i] = float32(float64(x[i]) * pow2(float64(k[i]), 400))
	}
	return true
}

func compare[T float32 | float64 | int32 | int64](o Op, d []uint32, x, y []T) bool {
	x, y = x[:len(d)], y[:len(d)]
	switch o {
	case OpEq:
		for i := range d {
			d[i] = one(x[i] == y[i])
		}
	case OpNe:
		for i := range d {
			d[i] = one(x[i] != y[i])
		}
	case OpLt:
		for i := range d {
			d[i] = one(x[i] < y[i])
		}
	case OpLe:
		for i := range d {
			d[i] = one(x[i] <= y[i])
		}
	default:
		return false
	}
	return true
}

func one(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func intOp[T uint32 | uint64](o Op, d, x, y []T, imm uint64) bool {
	x, y = x[:len(d)], y[:len(d)]
	switch o {
	case OpAdd:
		for i := range d {
			d[i] = x[i] + y[i]
		}
	case OpSub:
		for i := range d {
			d[i] = x[i] - y[i]
		}
	case OpMul:
		for i := range d {
			d[i] = x[i] * y[i]
		}
	case OpShl:
		for i := range d {
			d[i] = x[i] << imm
		}
	case OpShr:
		for i := range d {
			d[i] = x[i] >> imm
		}
	case OpShlV:
		for i := range d {
			d[i] = x[i] << y[i]
		}
	case OpShrV:
		for i := range d {
			d[i] = x[i] >> y[i]
		}
	default:
		return false
	}
	return true
}

// minMax computes what depends on the sign.
func minMax[T int32 | int64](o Op, d, x, y []T, imm uint64) bool {
	x, y = x[:len(d)], y[:len(d)]
	switch o {
	case OpMin:
		for i := range d {
			d[i] = min(x[i], y[i])
		}
	case OpMax:
		for i := range d {
			d[i] = max(x[i], y[i])
		}
	case OpSar:
		for i := range d {
			d[i] = x[i] >> imm
		}
	case OpRound16:
		for i, v := range x {
			d[i] = T(roundBF16(uint32(v)))
		}
	default:
		return false
	}
	return true
}

// convertTile changes the type of n elements.
func convertTile(f *vmFrame, s *vmStep, n int) bool {
	switch s.op {
	case OpF32ToF64:
		cast(tileOf[float64](f, s.d, n), tileOf[float32](f, s.x, n))
	case OpF64ToF32:
		cast(tileOf[float32](f, s.d, n), tileOf[float64](f, s.x, n))
	case OpI32ToF32:
		cast(tileOf[float32](f, s.d, n), tileOf[int32](f, s.x, n))
	case OpI32ToF64:
		cast(tileOf[float64](f, s.d, n), tileOf[int32](f, s.x, n))
	case OpI64ToF32:
		cast(tileOf[float32](f, s.d, n), tileOf[int64](f, s.x, n))
	case OpI64ToF64:
		cast(tileOf[float64](f, s.d, n), tileOf[int64](f, s.x, n))
	case OpSext:
		cast(tileOf[int64](f, s.d, n), tileOf[int32](f, s.x, n))
	case OpZext:
		cast(tileOf[uint64](f, s.d, n), tileOf[uint32](f, s.x, n))
	case OpWrap:
		cast(tileOf[uint32](f, s.d, n), tileOf[uint64](f, s.x, n))
	case OpF16Dec:
		d, x := tileOf[float32](f, s.d, n), tileOf[uint32](f, s.x, n)
		for i := range d {
			d[i] = dtype.F16ToF32(uint16(x[i]))
		}
	case OpF16Enc:
		d, x := tileOf[uint32](f, s.d, n), tileOf[float32](f, s.x, n)
		for i := range d {
			d[i] = uint32(dtype.F32ToF16(x[i]))
		}
	default:
		return false
	}
	return true
}

func cast[D, S float32 | float64 | int32 | int64 | uint32 | uint64](d []D, x []S) {
	x = x[:len(d)]
	for i := range d {
		d[i] = D(x[i])
	}
}

// slowOp computes what no loop above does, by the definition.
func slowOp(f *vmFrame, s *vmStep, n int) {
	nd := node{op: s.op, typ: s.typ, imm: s.imm}
	get := func(t, i int) uint64 {
		if s.arg.wide() {
			return tileOf[uint64](f, t, n)[i]
		}
		return uint64(tileOf[uint32](f, t, n)[i])
	}
	for i := range n {
		r := eval(&nd, s.arg, get(s.x, i), get(s.y, i), get(s.z, i))
		if s.typ.wide() {
			tileOf[uint64](f, s.d, n)[i] = r
		} else {
			tileOf[uint32](f, s.d, n)[i] = uint32(r)
		}
	}
}
