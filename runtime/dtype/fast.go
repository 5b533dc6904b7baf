package dtype

import "math"

// The conversions below are the ones of the inner loops: float32 and one of
// the 16-bit and 8-bit formats. They agree with Encode and Decode on every float32.

// RoundBF16 gives the bfloat16 nearest to x, to even at a tie.
func RoundBF16(x float32) uint16 {
	u := math.Float32bits(x)
	if u&0x7fffffff > 0x7f800000 {
		return 0x7fc0
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// F32ToBF16 is RoundBF16.
func F32ToBF16(x float32) uint16 { return RoundBF16(x) }

// BF16ToF32 is exact.
func BF16ToF32(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// F32ToF16 gives the half nearest to x, to even at a tie; from 65520 on, infinity.
func F32ToF16(x float32) uint16 {
	u := math.Float32bits(x)
	sign := uint16(u >> 16 & 0x8000)
	if u&0x7fffffff > 0x7f800000 {
		return 0x7e00
	}
	return sign | uint16(min(nearest(u&0x7fffffff, 10, 15), 0x7c00))
}

// F16ToF32 is exact.
func F16ToF32(h uint16) float32 {
	sign, m := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case m >= 0x7c00: // infinity, NaN
		return math.Float32frombits(sign | 0x7f800000 | m<<13)
	case m < 0x400: // subnormal: m · 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(m)*(1.0/(1<<24))))
	}
	return math.Float32frombits(sign | (m<<13 + 112<<23))
}

// nearest rounds the magnitude u (the bits of a float32 without its sign, not
// NaN) to a format of mant mantissa bits, to even at a tie. What is beyond the
// format gives a code that is too large; an infinity the largest of them.
func nearest(u uint32, mant, bias int) uint32 {
	if u >= 0x7f800000 {
		return math.MaxUint32
	}
	if u < uint32(128-bias)<<23 {
		// Adding 2^23 units of the last place leaves the rounded multiple in the mantissa.
		magic := uint32(127+1-bias-mant+23) << 23
		return math.Float32bits(math.Float32frombits(u)+math.Float32frombits(magic)) - magic
	}
	s := 23 - mant
	u += 1<<(s-1) - 1 + u>>s&1
	return u>>s - uint32(127-bias)<<mant
}

// F32ToF8E4M3 rounds to nearest even; beyond 448 it saturates, infinities too.
func F32ToF8E4M3(x float32) uint8 {
	u := math.Float32bits(x)
	sign := uint8(u >> 24 & 0x80)
	if u &= 0x7fffffff; u > 0x7f800000 {
		return 0x7f
	}
	return sign | uint8(min(nearest(u, 3, 7), 0x7e))
}

// F32ToF8E5M2 rounds to nearest even; from 61440 on, infinity.
func F32ToF8E5M2(x float32) uint8 {
	u := math.Float32bits(x)
	sign := uint8(u >> 24 & 0x80)
	if u &= 0x7fffffff; u > 0x7f800000 {
		return 0x7e
	}
	return sign | uint8(min(nearest(u, 2, 15), 0x7c))
}

// F32ToF8E4M3FNUZ rounds to nearest even; beyond 240 it is NaN.
func F32ToF8E4M3FNUZ(x float32) uint8 { return f32ToFNUZ(x, 3, 8) }

// F32ToF8E5M2FNUZ rounds to nearest even; beyond 57344 it is NaN.
func F32ToF8E5M2FNUZ(x float32) uint8 { return f32ToFNUZ(x, 2, 16) }

func f32ToFNUZ(x float32, mant, bias int) uint8 {
	u := math.Float32bits(x)
	sign := uint8(u >> 24 & 0x80)
	if u &= 0x7fffffff; u > 0x7f800000 {
		return 0x80
	}
	c := nearest(u, mant, bias)
	switch {
	case c > 0x7f:
		return 0x80
	case c == 0:
		return 0
	}
	return sign | uint8(c)
}

// F32ToF8E8M0 gives the power of two nearest to |x|, the larger at a tie.
func F32ToF8E8M0(x float32) uint8 { return uint8(F8E8M0.Encode(float64(x))) }

// F32ToF4E2M1 rounds to nearest even; beyond 6 it saturates. The code is in the low four bits.
func F32ToF4E2M1(x float32) uint8 {
	u := math.Float32bits(x)
	sign := uint8(u >> 28 & 8)
	if u &= 0x7fffffff; u > 0x7f800000 {
		return 8
	}
	return sign | uint8(min(nearest(u, 1, 1), 7))
}

// F8E4M3ToF32 is exact.
func F8E4M3ToF32(b uint8) float32 { return f8e4m3[b] }

// F8E5M2ToF32 is exact.
func F8E5M2ToF32(b uint8) float32 { return f8e5m2[b] }

// F8E4M3FNUZToF32 is exact.
func F8E4M3FNUZToF32(b uint8) float32 { return f8e4m3fnuz[b] }

// F8E5M2FNUZToF32 is exact.
func F8E5M2FNUZToF32(b uint8) float32 { return f8e5m2fnuz[b] }

// F8E8M0ToF32 is exact.
func F8E8M0ToF32(b uint8) float32 { return f8e8m0[b] }

// F4E2M1ToF32 is exact; only the low four bits count.
func F4E2M1ToF32(b uint8) float32 { return f4e2m1[b] }

// Every code of the small formats, decoded. Never written after the program started.
var (
	f8e4m3     = decoded(F8E4M3)
	f8e5m2     = decoded(F8E5M2)
	f8e4m3fnuz = decoded(F8E4M3FNUZ)
	f8e5m2fnuz = decoded(F8E5M2FNUZ)
	f8e8m0     = decoded(F8E8M0)
	f4e2m1     = decoded(F4E2M1)
)

func decoded(d DType) (t [256]float32) {
	for i := range t {
		t[i] = float32(formats[d-F4E2M1].Decode(uint64(i)))
	}
	return t
}

// RoundF32 gives the float32 of the value of type d nearest to x; x itself for
// types that are not narrower floats.
func (d DType) RoundF32(x float32) float32 {
	switch d {
	case BF16:
		return BF16ToF32(RoundBF16(x))
	case F16:
		return F16ToF32(F32ToF16(x))
	case F8E4M3:
		return f8e4m3[F32ToF8E4M3(x)]
	case F8E5M2:
		return f8e5m2[F32ToF8E5M2(x)]
	case F8E4M3FNUZ:
		return f8e4m3fnuz[F32ToF8E4M3FNUZ(x)]
	case F8E5M2FNUZ:
		return f8e5m2fnuz[F32ToF8E5M2FNUZ(x)]
	case F8E8M0:
		return f8e8m0[F32ToF8E8M0(x)]
	case F4E2M1:
		return f4e2m1[F32ToF4E2M1(x)]
	}
	return x
}
