package kernel

import (
	"math"
	"math/bits"
	"sync"

	"github.com/tpush/tpush/runtime/dtype"
)

// The narrow floating-point formats. Every conversion to one of them goes
// through f32 and rounds to nearest even; what is beyond the largest finite
// value follows PyTorch: f8e4m3 and f4e2m1 saturate, infinities too, the
// formats with infinities go to infinity, the fnuz formats to NaN.

// BF16ToF32 widens the bits of a bf16.
func BF16ToF32(b uint16) float32 { return math.Float32frombits(uint32(b) << 16) }

// F32ToBF16 rounds to the bits of the nearest bf16.
func F32ToBF16(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40 // keep a NaN a NaN, and make it quiet
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// F16ToF32 widens the bits of an f16.
func F16ToF32(h uint16) float32 {
	sign, exp, man := uint32(h>>15)<<31, uint32(h>>10)&0x1f, uint32(h)&0x3ff
	switch exp {
	case 0:
		if man == 0 {
			return math.Float32frombits(sign)
		}
		n := uint32(bits.LeadingZeros32(man)) - 21 // shift that brings the top bit to bit 10
		return math.Float32frombits(sign | (113-n)<<23 | (man<<n&0x3ff)<<13)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// F32ToF16 rounds to the bits of the nearest f16.
func F32ToF16(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000:
		return sign | 0x7e00 | uint16(b>>13&0x3ff)
	case b >= 0x477ff000: // 65520, half way from the largest finite value to 2^16
		return sign | 0x7c00
	case b >= 0x38800000: // 2^-14, the smallest normal f16
		b += 0xfff + b>>13&1
		return sign | uint16((b-0x38000000)>>13)
	case b < 0x33000000: // 2^-25, half of the smallest subnormal
		return sign
	}
	shift := 126 - b>>23 // 14 … 24: units of 2^-24
	m := b&0x7fffff | 0x800000
	q := m >> shift
	rest, half := m&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return sign | uint16(q)
}

// A narrow describes a format of eight bits or fewer.
type narrow struct {
	exp, man, bias int
	max            float64 // largest finite value
	nan            uint8   // code of a positive NaN
	over           uint8   // code, without sign, of what is too large
	fnuz           bool    // one zero, one NaN
}

// narrowOf gives the description of a float type of eight bits or fewer except f8e8m0.
func narrowOf(t dtype.DType) narrow {
	switch t {
	case dtype.F4E2M1:
		return narrow{2, 1, 1, 6, 0x8, 0x7, false} // no NaN: it becomes -0
	case dtype.F8E4M3:
		return narrow{4, 3, 7, 448, 0x7f, 0x7e, false}
	case dtype.F8E5M2:
		return narrow{5, 2, 15, 57344, 0x7f, 0x7c, false}
	case dtype.F8E4M3FNUZ:
		return narrow{4, 3, 8, 240, 0x80, 0x80, true}
	}
	return narrow{5, 2, 16, 57344, 0x80, 0x80, true}
}

// encode rounds x to the nearest code.
func (f *narrow) encode(x float32) uint8 {
	v := math.Abs(float64(x))
	var sign uint8
	if math.Signbit(float64(x)) {
		sign = 1 << (f.exp + f.man)
	}
	if v != v {
		return f.nan
	}
	if v == 0 {
		if f.fnuz {
			return 0
		}
		return sign
	}
	e := 1 - f.bias
	if !math.IsInf(v, 0) {
		_, fe := math.Frexp(v)
		e = max(e, fe-1)
	}
	quantum := math.Ldexp(1, e-f.man)
	q := math.RoundToEven(v / quantum)
	if math.IsInf(v, 0) || q*quantum > f.max {
		if f.over == f.nan {
			return f.nan
		}
		return sign | f.over
	}
	// q counts quanta of 2^(e-man): with the implicit bit it is 2^man … 2^(man+1),
	// so the fields add up, the carry included.
	c := uint8(int(q) + (e-(1-f.bias))<<f.man)
	if c == 0 && f.fnuz {
		return 0
	}
	return sign | c
}

// decode gives the value of a code.
func (f *narrow) decode(t dtype.DType, c uint8) float32 {
	signBit := uint8(1) << (f.exp + f.man)
	if f.fnuz && c == signBit {
		return float32(math.NaN())
	}
	sign := 1.0
	if c&signBit != 0 {
		sign = -1
	}
	e, m := int(c&(signBit-1))>>f.man, int(c)&(1<<f.man-1)
	switch {
	case t == dtype.F8E4M3 && e == 15 && m == 7, t == dtype.F8E5M2 && e == 31 && m != 0:
		return float32(math.NaN())
	case t == dtype.F8E5M2 && e == 31:
		return float32(math.Inf(int(sign)))
	case e == 0:
		return float32(math.Copysign(math.Ldexp(float64(m), 1-f.bias-f.man), sign))
	}
	return float32(math.Copysign(math.Ldexp(float64(m+1<<f.man), e-f.bias-f.man), sign))
}

// scaleToF32 decodes an f8e8m0.
func scaleToF32(c uint8) float32 {
	if c == 0xff {
		return float32(math.NaN())
	}
	return float32(math.Ldexp(1, int(c)-127))
}

// f32ToScale encodes an f8e8m0: the nearest power of two of the magnitude,
// half way up; the sign is dropped, infinities become NaN.
func f32ToScale(x float32) uint8 {
	b := math.Float32bits(x) & 0x7fffffff
	e := b >> 23
	if e == 0xff {
		return 0xff
	}
	if e == 0 { // zero and subnormals: 2^-127 or 2^-126
		if b > 0x400000 {
			return 1
		}
		return 0
	}
	if b&0x400000 != 0 {
		e++
	}
	return uint8(e)
}

// decoded holds the values of all codes of the formats of eight bits or fewer.
var decoded = sync.OnceValue(func() [][256]float32 {
	t := make([][256]float32, len(dtype.All())+1)
	for _, d := range dtype.All() {
		if !d.IsFloat() || d.Bits() > 8 {
			continue
		}
		f := narrowOf(d)
		for c := range 256 {
			switch {
			case d == dtype.F8E8M0:
				t[d][c] = scaleToF32(uint8(c))
			case d == dtype.F4E2M1:
				t[d][c] = f.decode(d, uint8(c)&0xf)
			default:
				t[d][c] = f.decode(d, uint8(c))
			}
		}
	}
	return t
})

// decodeTable gives the values of all codes of a float type of eight bits or fewer.
func decodeTable(t dtype.DType) *[256]float32 { return &decoded()[t] }

// encodeNarrow rounds xs to codes of a float type of eight bits or fewer.
func encodeNarrow(t dtype.DType, d []uint8, xs []float32) {
	if t == dtype.F8E8M0 {
		for i, x := range xs {
			d[i] = f32ToScale(x)
		}
		return
	}
	f := narrowOf(t)
	for i, x := range xs {
		d[i] = f.encode(x)
	}
}

// RoundF32 rounds x to the values of a float type, and gives it back as f32.
func RoundF32(t dtype.DType, x float32) float32 {
	switch t {
	case dtype.BF16:
		return BF16ToF32(F32ToBF16(x))
	case dtype.F16:
		return F16ToF32(F32ToF16(x))
	case dtype.F32, dtype.F64:
		return x
	}
	var c [1]uint8
	encodeNarrow(t, c[:], []float32{x})
	return decodeTable(t)[c[0]]
}
