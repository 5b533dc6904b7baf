package dtype

import "math"

// Decode gives the value of one element. bits holds HostBytes() bytes, the
// first byte lowest. 64-bit integers lose what float64 cannot hold; a complex
// number gives its real part, the lower half.
func (d DType) Decode(bits uint64) float64 {
	switch d.Kind() {
	case KindBool:
		if bits&0xff != 0 {
			return 1
		}
		return 0
	case KindUint:
		return float64(bits & (math.MaxUint64 >> (64 - d.Bits())))
	case KindInt:
		s := 64 - d.Bits()
		return float64(int64(bits<<s) >> s)
	}
	switch d {
	case F64, C128:
		return math.Float64frombits(bits)
	case F32, C64:
		return float64(math.Float32frombits(uint32(bits)))
	case BF16:
		return float64(BF16ToF32(uint16(bits)))
	case F16:
		return float64(F16ToF32(uint16(bits)))
	case Invalid:
		return math.NaN()
	}
	return formats[d-F4E2M1].Decode(bits)
}

// Encode gives the bits of the element nearest to x, to the even one at a tie,
// rounding once from float64. Beyond the largest number: F8E4M3 and F4E2M1
// saturate (infinities too), the FNUZ types and F8E8M0 give NaN, the others
// infinity, as PyTorch's casts do. Integers truncate toward zero and saturate,
// NaN becomes 0, as XLA's convert does. Bool is x != 0, so NaN is true.
func (d DType) Encode(x float64) uint64 {
	switch d.Kind() {
	case KindBool:
		if x != 0 {
			return 1
		}
		return 0
	case KindUint:
		return encodeUint(x, d.Bits())
	case KindInt:
		return encodeInt(x, d.Bits())
	}
	switch d {
	case F64, C128:
		return math.Float64bits(x)
	case F32, C64:
		return uint64(math.Float32bits(float32(x)))
	case Invalid:
		return 0
	}
	return formats[d-F4E2M1].Encode(x, d.overflow())
}

// overflow is the answer of PyTorch's cast to a value beyond the largest one.
func (d DType) overflow() Overflow {
	if d == F8E4M3 {
		return Saturates
	}
	return Overflows
}

// Round gives x rounded to the nearest value of type d: Decode(Encode(x)).
func (d DType) Round(x float64) float64 { return d.Decode(d.Encode(x)) }

func encodeUint(x float64, bits int) uint64 {
	switch {
	case !(x > 0): // NaN too
		return 0
	case x >= math.Ldexp(1, bits):
		return math.MaxUint64 >> (64 - bits)
	}
	return uint64(x)
}

func encodeInt(x float64, bits int) uint64 {
	lim := math.Ldexp(1, bits-1)
	var n int64
	switch {
	case x != x:
	case x >= lim:
		n = math.MaxInt64 >> (64 - bits)
	case x < -lim:
		n = math.MinInt64 >> (64 - bits)
	default:
		n = int64(x)
	}
	if bits < 8 {
		bits = 8 // an element of a host array has a whole byte, sign-extended
	}
	return uint64(n) & (math.MaxUint64 >> (64 - bits))
}
