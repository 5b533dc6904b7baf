package programs

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// An array is one input or result of a program: flat, row-major numbers, the
// texts nan, inf and -inf, pairs for complex types.
type array struct {
	DType string  `json:"dtype"`
	Shape []int64 `json:"shape"`
	Data  []any   `json:"data"`
}

// encode makes the host bytes: little-endian, one byte an element below a byte.
func (a *array) encode() ([]byte, capi.Type, error) {
	t, err := capi.ParseType(a.DType)
	if err != nil {
		return nil, 0, err
	}
	n := int64(1)
	for _, d := range a.Shape {
		n *= d
	}
	if int64(len(a.Data)) != n {
		return nil, 0, fmt.Errorf("%s%v has %d numbers", a.DType, a.Shape, len(a.Data))
	}
	var b []byte
	for _, v := range a.Data {
		if b, err = a.append(b, t, v); err != nil {
			return nil, 0, err
		}
	}
	return b, t, nil
}

func (a *array) append(b []byte, t capi.Type, v any) ([]byte, error) {
	if pair, ok := v.([]any); ok && len(pair) == 2 {
		part := "f32"
		if a.DType == "complex<f64>" {
			part = "f64"
		}
		half, _ := capi.ParseType(part)
		b, err := a.append(b, half, pair[0])
		if err != nil {
			return nil, err
		}
		return a.append(b, half, pair[1])
	}
	if isInt(t) {
		n, err := toInt(v)
		if err != nil {
			return nil, err
		}
		return appendUint(b, t.HostBytes(), n), nil
	}
	f, err := toFloat(v)
	if err != nil {
		return nil, err
	}
	switch t.String() {
	case "f64":
		return appendUint(b, 8, math.Float64bits(f)), nil
	case "f32":
		return appendUint(b, 4, uint64(math.Float32bits(float32(f)))), nil
	}
	k, ok := narrow[t.String()]
	if !ok {
		return nil, &capi.TypeError{Name: t.String()}
	}
	return appendUint(b, t.HostBytes(), uint64(k.encode(f))), nil
}

func appendUint(b []byte, width int, v uint64) []byte {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	return append(b, w[:width]...)
}

func isInt(t capi.Type) bool {
	n := t.String()
	return n[0] == 'i' || n[0] == 'u'
}

func toInt(v any) (uint64, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return uint64(n), nil
		}
		return strconv.ParseUint(string(v), 10, 64)
	}
	return 0, fmt.Errorf("%v is no integer", v)
}

func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case json.Number:
		return v.Float64()
	case string:
		return strconv.ParseFloat(v, 64)
	}
	return 0, fmt.Errorf("%v is no number", v)
}

// decode reads host bytes; a complex number gives two. Integers above 2^53
// lose bits, so equal bytes are looked for first.
func decode(b []byte, t capi.Type) []float64 {
	width, name := t.HostBytes(), t.String()
	if name == "complex<f32>" || name == "complex<f64>" {
		width /= 2
	}
	var all []float64
	for ; len(b) >= width; b = b[width:] {
		var w [8]byte
		copy(w[:], b[:width])
		v := binary.LittleEndian.Uint64(w[:])
		all = append(all, number(name, v))
	}
	return all
}

// number is an element of a type by its bits.
func number(name string, v uint64) float64 {
	switch name {
	case "f32", "complex<f32>":
		return float64(math.Float32frombits(uint32(v)))
	case "f64", "complex<f64>":
		return math.Float64frombits(v)
	case "i2":
		return float64(int8(v<<6) >> 6)
	case "i4":
		return float64(int8(v<<4) >> 4)
	case "i8":
		return float64(int8(v))
	case "i16":
		return float64(int16(v))
	case "i32":
		return float64(int32(v))
	case "i64":
		return float64(int64(v))
	}
	if k, ok := narrow[name]; ok {
		return k.decode(uint32(v))
	}
	return float64(v)
}

// A format is a float of at most 16 bits.
type format struct {
	exp, mant, bias int
	special         special
}

// special is which patterns are no numbers.
type special uint8

const (
	ieee   special = iota // infinities and NaN at the top exponent
	finite                // FN: one NaN per sign, no infinities
	fnuz                  // one zero, one NaN: the pattern of minus zero
	none                  // every pattern is a number
	scale                 // E8M0: powers of two, the last pattern is NaN
)

// narrow are the formats by their StableHLO names.
var narrow = map[string]format{
	"f16": {5, 10, 15, ieee}, "bf16": {8, 7, 127, ieee},
	"f8E5M2": {5, 2, 15, ieee}, "f8E4M3": {4, 3, 7, ieee}, "f8E3M4": {3, 4, 3, ieee},
	"f8E4M3FN": {4, 3, 7, finite}, "f8E5M2FNUZ": {5, 2, 16, fnuz}, "f8E4M3FNUZ": {4, 3, 8, fnuz}, "f8E4M3B11FNUZ": {4, 3, 11, fnuz},
	"f4E2M1FN": {2, 1, 1, none}, "f8E8M0FNU": {8, 0, 127, scale},
}

func (k format) decode(b uint32) float64 {
	if k.special == scale {
		if b == 0xff {
			return math.NaN()
		}
		return math.Ldexp(1, int(b)-127)
	}
	neg := b>>(k.exp+k.mant)&1 == 1
	e, m := int(b>>k.mant)&(1<<k.exp-1), int(b)&(1<<k.mant-1)
	top := e == 1<<k.exp-1
	var v float64
	switch {
	case k.special == ieee && top && m == 0:
		v = math.Inf(1)
	case k.special == ieee && top, k.special == finite && top && m == 1<<k.mant-1, k.special == fnuz && neg && e == 0 && m == 0:
		return math.NaN()
	case e == 0:
		v = math.Ldexp(float64(m), 1-k.bias-k.mant)
	default:
		v = math.Ldexp(float64(m|1<<k.mant), e-k.bias-k.mant)
	}
	if neg {
		v = -v
	}
	return v
}

// encode rounds to nearest, ties to even: the non-negative patterns are in
// ascending order, so the nearest one is looked for by halves.
func (k format) encode(f float64) uint32 {
	sign := uint32(1) << (k.exp + k.mant)
	hi := sign - 1
	for math.IsNaN(k.decode(hi)) {
		hi--
	}
	if math.IsNaN(f) {
		switch k.special {
		case fnuz:
			return sign
		case ieee:
			return (1<<k.exp-1)<<k.mant | 1<<(k.mant-1)
		}
		return sign - 1
	}
	a, lo := math.Abs(f), uint32(0)
	for lo < hi {
		if mid := (lo + hi) / 2; k.decode(mid) >= a {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if above := k.decode(lo); lo > 0 && above > a && !math.IsInf(a, 1) {
		if math.IsInf(above, 1) { // rounding sees the number that would come next
			above = math.Ldexp(1, 1<<k.exp-1-k.bias)
		}
		up, down := above-a, a-k.decode(lo-1)
		if down < up || down == up && lo&1 == 1 {
			lo--
		}
	}
	if math.Signbit(f) && k.special != scale && !(k.special == fnuz && lo == 0) {
		lo |= sign
	}
	return lo
}
