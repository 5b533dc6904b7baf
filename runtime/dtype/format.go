package dtype

import "math"

// Special says which codes of a floating-point format are not finite numbers.
type Special uint8

// The kinds of floating-point formats.
const (
	IEEE   Special = iota // largest exponent: infinities and NaNs
	FN                    // finite and NaN: only the all-ones code of each sign is NaN
	FNUZ                  // finite, NaN, unsigned zero: the code of -0 is the only NaN
	Finite                // every code is a number
	Scale                 // no sign and no mantissa: a power of two; all ones is NaN
)

// Overflow says what becomes of a value beyond the largest finite number.
type Overflow uint8

// The answers to overflow.
const (
	// Overflows gives infinity, NaN where the format has none, and the
	// largest number where it has neither.
	Overflows Overflow = iota
	// Saturates gives the largest finite number of the sign, for infinities too.
	Saturates
)

// A Format is the layout of a floating-point code: sign, Exp bits of exponent,
// Mant bits of mantissa. The value is 2^(e-Bias) · 1.m, or 2^(1-Bias) · 0.m for e = 0.
type Format struct {
	Name      string // XLA's name: f8e4m3fn
	Exp, Mant int
	Bias      int
	Special   Special
}

// formats has the formats of the table's types first, then those that exist
// only as storage. Sources: IEEE 754, OCP OFP8 and MX 1.0, and Graphcore's FNUZ proposal.
var formats = [...]Format{
	{"f4e2m1fn", 2, 1, 1, Finite},
	{"f8e4m3fn", 4, 3, 7, FN},
	{"f8e5m2", 5, 2, 15, IEEE},
	{"f8e4m3fnuz", 4, 3, 8, FNUZ},
	{"f8e5m2fnuz", 5, 2, 16, FNUZ},
	{"f8e8m0fnu", 8, 0, 127, Scale},
	{"bf16", 8, 7, 127, IEEE},
	{"f16", 5, 10, 15, IEEE},
	{"f32", 8, 23, 127, IEEE},
	{"f64", 11, 52, 1023, IEEE},
	{"f6e2m3fn", 2, 3, 1, Finite},
	{"f6e3m2fn", 3, 2, 3, Finite},
	{"f8e4m3", 4, 3, 7, IEEE},
	{"f8e3m4", 3, 4, 3, IEEE},
	{"f8e4m3b11fnuz", 4, 3, 11, FNUZ},
}

// FormatByName finds a floating-point format by XLA's name, also one that is
// no element type (f6e2m3fn).
func FormatByName(name string) (Format, bool) {
	for _, f := range formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// Format gives the code layout of a real floating-point type.
func (d DType) Format() (Format, bool) {
	if !d.IsFloat() {
		return Format{}, false
	}
	return formats[d-F4E2M1], true
}

// Bits is the width of a code.
func (f Format) Bits() int {
	if f.Special == Scale {
		return f.Exp
	}
	return 1 + f.Exp + f.Mant
}

// signBit is the mask of the sign, 0 when codes have none.
func (f Format) signBit() uint64 {
	if f.Special == Scale {
		return 0
	}
	return 1 << (f.Exp + f.Mant)
}

// maxCode is the code of the largest finite number.
func (f Format) maxCode() uint64 {
	all := uint64(1)<<(f.Exp+f.Mant) - 1
	switch f.Special {
	case IEEE:
		return all - 1<<f.Mant
	case FN, Scale:
		return all - 1
	}
	return all
}

// nanCode is the code NaN is written as. A format without NaN gives -0, as ml_dtypes does.
func (f Format) nanCode() uint64 {
	switch f.Special {
	case IEEE:
		return f.maxCode() + 1 + 1<<(f.Mant-1)
	case FN, Scale:
		return f.maxCode() + 1
	}
	return f.signBit()
}

// Decode gives the value of a code.
func (f Format) Decode(code uint64) float64 {
	sign := f.signBit()
	neg := code&sign != 0
	code &= sign | (uint64(1)<<(f.Exp+f.Mant) - 1)
	mag := code &^ sign
	var x float64
	switch {
	case f.Special == FNUZ && code == sign, (f.Special == FN || f.Special == Scale) && mag > f.maxCode():
		return math.NaN()
	case f.Special == IEEE && mag > f.maxCode():
		if mag > f.maxCode()+1 {
			return math.NaN()
		}
		x = math.Inf(1)
	case f.Special == Scale:
		x = math.Ldexp(1, int(mag)-f.Bias)
	default:
		e, m := int(mag>>f.Mant), mag&(1<<f.Mant-1)
		if e == 0 {
			e = 1
		} else {
			m |= 1 << f.Mant
		}
		x = math.Ldexp(float64(m), e-f.Bias-f.Mant)
	}
	if neg {
		x = -x
	}
	return x
}

// Encode rounds x once, to the nearest code and to an even one at a tie. A
// Scale has no sign: it takes the magnitude, ties go up, and what is below the
// smallest power becomes the smallest, as in PyTorch; an infinity is NaN.
func (f Format) Encode(x float64, o Overflow) uint64 {
	if x != x {
		return f.nanCode()
	}
	if f.Special == Scale {
		return f.encodeScale(math.Abs(x), o)
	}
	var sign uint64
	if math.Signbit(x) {
		sign = f.signBit()
		x = -x
	}
	var code uint64
	switch {
	case math.IsInf(x, 0):
		code = math.MaxUint64
	case x > 0:
		_, e := math.Frexp(x)
		ulp := max(e-1, 1-f.Bias) - f.Mant
		n := uint64(math.RoundToEven(math.Ldexp(x, -ulp)))
		code = uint64(ulp+f.Mant+f.Bias-1)<<f.Mant + n
	}
	if code > f.maxCode() {
		return f.overflow(sign, o)
	}
	if code == 0 && f.Special == FNUZ {
		return 0
	}
	return sign | code
}

func (f Format) overflow(sign uint64, o Overflow) uint64 {
	switch {
	case o == Saturates || f.Special == Finite:
		return sign | f.maxCode()
	case f.Special == IEEE:
		return sign | (f.maxCode() + 1)
	case f.Special == FN:
		return sign | f.nanCode()
	}
	return f.nanCode()
}

func (f Format) encodeScale(x float64, o Overflow) uint64 {
	if x == 0 {
		return 0
	}
	if math.IsInf(x, 0) {
		return f.overflow(0, o)
	}
	fr, e := math.Frexp(x)
	c := e - 1 + f.Bias
	if fr >= 0.75 || c == 0 && fr > 0.5 { // PyTorch and ml_dtypes: between the two smallest powers always up
		c++
	}
	if c > int(f.maxCode()) {
		return f.overflow(0, o)
	}
	return uint64(max(c, 0))
}
