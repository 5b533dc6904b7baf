package jit

import (
	"math"
	"math/bits"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/simd"
)

// eval computes one operation on the bits of its operands, which have type t
// (for OpSelect and OpMaskBits x is a mask). It is the definition of every
// operation. 32-bit values have the upper half 0.
func eval(n *node, t Type, x, y, z uint64) uint64 {
	switch n.op {
	case OpSelect:
		if x != 0 {
			return y
		}
		return z
	case OpMaskBits:
		if x == 0 {
			return 0
		}
		if n.typ == I32 {
			return math.MaxUint32
		}
		return math.MaxUint64
	case OpBits:
		return x
	case OpAnd:
		return x & y
	case OpOr:
		return x | y
	case OpXor:
		return x ^ y
	case OpAndNot:
		return ^x & y
	}
	switch t {
	case F32:
		return evalF32(n.op, f32(x), f32(y), f32(z))
	case F64:
		return evalF64(n.op, math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z))
	case I32:
		return evalI32(n.op, uint32(x), uint32(y), uint32(n.imm))
	}
	return evalI64(n.op, x, y, n.imm)
}

func f32(x uint64) float32 { return math.Float32frombits(uint32(x)) }

func bits32(x float32) uint64 { return uint64(math.Float32bits(x)) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func evalF32(o Op, x, y, z float32) uint64 {
	switch o {
	case OpAdd:
		return bits32(x + y)
	case OpSub:
		return bits32(x - y)
	case OpMul:
		return bits32(x * y)
	case OpDiv:
		return bits32(x / y)
	case OpSqrt:
		return bits32(float32(math.Sqrt(float64(x))))
	case OpFMA:
		return bits32(simd.FMA32(x, y, z))
	case OpFNMA:
		return bits32(simd.FMA32(-x, y, z))
	case OpMin:
		return bits32(min(x, y))
	case OpMax:
		return bits32(max(x, y))
	case OpFloor:
		return bits32(float32(math.Floor(float64(x))))
	case OpCeil:
		return bits32(float32(math.Ceil(float64(x))))
	case OpTrunc:
		return bits32(float32(math.Trunc(float64(x))))
	case OpRoundEven:
		return bits32(float32(math.RoundToEven(float64(x))))
	case OpScale:
		return bits32(float32(float64(x) * pow2(float64(y), 400)))
	case OpEq:
		return truth(x == y)
	case OpNe:
		return truth(x != y)
	case OpLt:
		return truth(x < y)
	case OpLe:
		return truth(x <= y)
	case OpF32ToF64:
		return math.Float64bits(float64(x))
	case OpTruncI32:
		return uint64(uint32(rawI32(float64(x))))
	case OpNearI32:
		return uint64(uint32(rawI32(math.RoundToEven(float64(x)))))
	case OpF16Enc:
		return uint64(dtype.F32ToF16(x))
	}
	panic(&TypeError{o, []Type{F32}})
}

// pow2 is 2^k for an integral k, clamped to ±limit.
func pow2(k float64, limit int) float64 {
	switch {
	case k != k:
		return k
	case k > float64(limit):
		k = float64(limit)
	case k < -float64(limit):
		k = -float64(limit)
	}
	return math.Float64frombits(uint64(1023+int(k)) << 52)
}

// rawI32 truncates as CVTTSD2SI does.
func rawI32(x float64) int32 {
	if x > -1<<31-1 && x < 1<<31 {
		return int32(x)
	}
	return math.MinInt32
}

// rawI64 truncates as CVTTSD2SI does.
func rawI64(x float64) int64 {
	if x >= -1<<63 && x < 1<<63 {
		return int64(x)
	}
	return math.MinInt64
}

func evalF64(o Op, x, y, z float64) uint64 {
	f := math.Float64bits
	switch o {
	case OpAdd:
		return f(x + y)
	case OpSub:
		return f(x - y)
	case OpMul:
		return f(x * y)
	case OpDiv:
		return f(x / y)
	case OpSqrt:
		return f(math.Sqrt(x))
	case OpFMA:
		return f(math.FMA(x, y, z))
	case OpFNMA:
		return f(math.FMA(-x, y, z))
	case OpMin:
		return f(min(x, y))
	case OpMax:
		return f(max(x, y))
	case OpFloor:
		return f(math.Floor(x))
	case OpCeil:
		return f(math.Ceil(x))
	case OpTrunc:
		return f(math.Trunc(x))
	case OpRoundEven:
		return f(math.RoundToEven(x))
	case OpScale:
		return f(scale64(x, y))
	case OpEq:
		return truth(x == y)
	case OpNe:
		return truth(x != y)
	case OpLt:
		return truth(x < y)
	case OpLe:
		return truth(x <= y)
	case OpF64ToF32:
		return bits32(float32(x))
	case OpTruncI32:
		return uint64(uint32(rawI32(x)))
	case OpTruncI64:
		return uint64(rawI64(x))
	}
	panic(&TypeError{o, []Type{F64}})
}

// scale64 is x·2^k: in two steps of which, for the x that Scale allows, the first is exact.
func scale64(x, k float64) float64 {
	switch {
	case k != k:
		return k
	case k > 2044:
		k = 2044
	case k < -2044:
		k = -2044
	}
	h := math.Floor(k / 2)
	return float64(x*pow2(h, 1022)) * pow2(k-h, 1022)
}

func evalI32(o Op, x, y, imm uint32) uint64 {
	s, t := int32(x), int32(y)
	var r uint32
	switch o {
	case OpAdd:
		r = x + y
	case OpSub:
		r = x - y
	case OpMul:
		r = x * y
	case OpMin:
		r = uint32(min(s, t))
	case OpMax:
		r = uint32(max(s, t))
	case OpShl:
		r = x << imm
	case OpShr:
		r = x >> imm
	case OpSar:
		r = uint32(s >> imm)
	case OpRound16:
		r = roundBF16(x)
	case OpShlV:
		r = x << y
	case OpShrV:
		r = x >> y
	case OpSarV:
		r = uint32(s >> y)
	case OpEq:
		return truth(x == y)
	case OpNe:
		return truth(x != y)
	case OpLt:
		return truth(s < t)
	case OpLe:
		return truth(s <= t)
	case OpLtU:
		return truth(x < y)
	case OpI32ToF32:
		return bits32(float32(s))
	case OpI32ToF64:
		return math.Float64bits(float64(s))
	case OpSext:
		return uint64(int64(s))
	case OpZext:
		return uint64(x)
	case OpF16Dec:
		return bits32(dtype.F16ToF32(uint16(x)))
	default:
		panic(&TypeError{o, []Type{I32}})
	}
	return uint64(r)
}

func evalI64(o Op, x, y, imm uint64) uint64 {
	s, t := int64(x), int64(y)
	switch o {
	case OpAdd:
		return x + y
	case OpSub:
		return x - y
	case OpMul:
		return x * y
	case OpMin:
		return uint64(min(s, t))
	case OpMax:
		return uint64(max(s, t))
	case OpShl:
		return x << imm
	case OpShr:
		return x >> imm
	case OpSar:
		return uint64(s >> imm)
	case OpShlV:
		return x << y
	case OpShrV:
		return x >> y
	case OpSarV:
		return uint64(s >> y)
	case OpEq:
		return truth(x == y)
	case OpNe:
		return truth(x != y)
	case OpLt:
		return truth(s < t)
	case OpLe:
		return truth(s <= t)
	case OpLtU:
		return truth(x < y)
	case OpI64ToF32:
		return bits32(float32(s))
	case OpI64ToF64:
		return math.Float64bits(float64(s))
	case OpWrap:
		return uint64(uint32(x))
	}
	panic(&TypeError{o, []Type{I64}})
}

// roundBF16 gives the bits of the bf16 nearest to a number of bits x; NaN stays one.
func roundBF16(x uint32) uint32 {
	if x&0x7fffffff > 0x7f800000 {
		return x&^0xffff | 1<<22
	}
	return (x + 0x7fff + x>>16&1) &^ 0xffff
}

// The order of a sum: lanes of a block, and how many elements a block has.
const (
	lanes = 16
	block = 2048
)

// reduce folds the values of a row.
func reduce(n *node, row []uint64) uint64 {
	add := node{op: OpAdd, typ: n.typ}
	identity := uint64(0)
	switch n.op {
	case OpReduceMax:
		add.op, identity = OpMax, least(n.typ)
	case OpReduceMin:
		add.op, identity = OpMin, most(n.typ)
	}
	var parts []uint64
	for lo := 0; lo < len(row) || lo == 0; lo += block {
		var lane [lanes]uint64
		for l := range lane {
			lane[l] = identity
		}
		for i, x := range row[lo:min(lo+block, len(row))] {
			lane[i%lanes] = eval(&add, n.typ, lane[i%lanes], x, 0)
		}
		for w := lanes / 2; w > 0; w /= 2 {
			for l := range w {
				lane[l] = eval(&add, n.typ, lane[l], lane[l+w], 0)
			}
		}
		parts = append(parts, lane[0])
	}
	return foldPairs(parts, func(x, y uint64) uint64 { return eval(&add, n.typ, x, y, 0) })
}

// foldPairs folds neighbouring pairs until one is left; an odd last one is carried.
func foldPairs(p []uint64, f func(x, y uint64) uint64) uint64 {
	for n := len(p); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			p[i] = f(p[2*i], p[2*i+1])
		}
		if n%2 == 1 {
			p[n/2] = p[n-1]
		}
	}
	return p[0]
}

// least is the identity of a maximum.
func least(t Type) uint64 {
	switch t {
	case F32:
		return 0xff800000
	case F64:
		return 0xfff << 52
	case I32:
		return 1 << 31
	}
	return 1 << 63
}

// most is the identity of a minimum.
func most(t Type) uint64 {
	switch t {
	case F32:
		return 0x7f800000
	case F64:
		return 0x7ff << 52
	case I32:
		return math.MaxInt32
	}
	return math.MaxInt64
}

// nextPow2 is the least power of two not below n.
func nextPow2(n int) int { return 1 << bits.Len(uint(max(n, 1)-1)) }
