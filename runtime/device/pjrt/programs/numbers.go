package programs

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/dtype"
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
	k, ok := formatOf(t.String())
	if !ok {
		return nil, &capi.TypeError{Name: t.String()}
	}
	over := dtype.Overflows
	if k.Special == dtype.FN { // as the recordings have it
		over = dtype.Saturates
	}
	return appendUint(b, t.HostBytes(), k.Encode(f, over)), nil
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
	if k, ok := formatOf(name); ok {
		return k.Decode(v)
	}
	return float64(v)
}

// formatOf is the layout of a narrow float by its StableHLO name, which is
// XLA's with capitals.
func formatOf(name string) (dtype.Format, bool) { return dtype.FormatByName(strings.ToLower(name)) }
