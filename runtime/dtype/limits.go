package dtype

import "math"

// Max is the largest finite value (finfo.max, iinfo.max). For 64-bit integers
// it is the nearest float64; MaxInt is exact.
func (d DType) Max() float64 {
	switch d.Kind() {
	case KindBool:
		return 1
	case KindUint, KindInt:
		return float64(d.MaxInt())
	case KindComplex:
		return F32.Max()
	}
	f, _ := d.Format()
	return f.Decode(f.maxCode())
}

// Lowest is the smallest finite value (finfo.min, iinfo.min).
func (d DType) Lowest() float64 {
	switch d.Kind() {
	case KindBool, KindUint:
		return 0
	case KindInt:
		return float64(d.MinInt())
	}
	if d == F8E8M0 {
		return d.Min()
	}
	return -d.Max()
}

// Min is the smallest positive normal value of a float (finfo.tiny), and
// Lowest for the other types.
func (d DType) Min() float64 {
	switch d.Kind() {
	case KindFloat:
		f, _ := d.Format()
		if f.Special == Scale {
			return f.Decode(0)
		}
		return math.Ldexp(1, 1-f.Bias)
	case KindComplex:
		return F32.Min()
	}
	return d.Lowest()
}

// Smallest is the smallest positive value of a float, subnormals included; 1 for the other types.
func (d DType) Smallest() float64 {
	switch d.Kind() {
	case KindFloat:
		f, _ := d.Format()
		if f.Special == Scale {
			return f.Decode(0)
		}
		return f.Decode(1)
	case KindComplex:
		return F32.Smallest()
	}
	return 1
}

// Eps is the distance from 1 to the next larger value of a float (finfo.eps); 0 for the other types.
func (d DType) Eps() float64 {
	switch d.Kind() {
	case KindFloat:
		return math.Ldexp(1, -d.Row().Mant)
	case KindComplex:
		return F32.Eps()
	}
	return 0
}

// MaxInt is the largest value of an integer type; 1 for Bool and 0 for floats.
func (d DType) MaxInt() uint64 {
	switch d.Kind() {
	case KindBool:
		if d == Bool {
			return 1
		}
	case KindUint:
		return math.MaxUint64 >> (64 - d.Bits())
	case KindInt:
		return math.MaxInt64 >> (64 - d.Bits())
	}
	return 0
}

// MinInt is the smallest value of an integer type; 0 for unsigned ones and floats.
func (d DType) MinInt() int64 {
	if d.Kind() == KindInt {
		return math.MinInt64 >> (64 - d.Bits())
	}
	return 0
}
