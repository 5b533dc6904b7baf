package stablehlo

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Literal prints one element of a dense attribute: v rounded to t. NaN and
// infinities are the hexadecimal bits, which every width has its own of.
func Literal(t dtype.DType, v float64) string {
	if t == dtype.F64 && v != v {
		return LiteralBits(t, nan(t)) // Go's NaN carries a payload
	}
	return LiteralBits(t, t.Encode(v))
}

// LiteralBits prints the element whose host bytes are bits, exactly.
func LiteralBits(t dtype.DType, bits uint64) string {
	switch t.Kind() {
	case dtype.KindBool:
		return strconv.FormatBool(bits&0xff != 0)
	case dtype.KindUint:
		return strconv.FormatUint(bits&(math.MaxUint64>>(64-t.Bits())), 10)
	case dtype.KindInt:
		s := 64 - t.Bits()
		return strconv.FormatInt(int64(bits<<s)>>s, 10)
	case dtype.KindComplex:
		if t == dtype.C128 { // bits are the real part
			return "(" + LiteralBits(dtype.F64, bits) + ", " + LiteralBits(dtype.F64, 0) + ")"
		}
		return "(" + LiteralBits(dtype.F32, bits&math.MaxUint32) + ", " + LiteralBits(dtype.F32, bits>>32) + ")"
	}
	x := t.Decode(bits)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("0x%0*X", (t.Bits()+3)/4, bits)
	}
	width := 64
	if t != dtype.F64 {
		width = 32
	}
	s := strconv.FormatFloat(x, 'e', -1, width)
	if e := strings.IndexByte(s, 'e'); !strings.Contains(s, ".") {
		s = s[:e] + ".0" + s[e:] // MLIR wants the point
	}
	return s
}

// Splat writes a constant whose elements are all v.
func (w *Writer) Splat(s shape.Spec, v float64) Value {
	return w.constant(s, Literal(s.DType, v))
}

// Constant writes a constant from its elements in row-major order, rounded to
// the type of s. It is for small tables; data belongs in parameters.
func (w *Writer) Constant(s shape.Spec, data []float64) Value {
	return w.elements(s, len(data), func(i int) string { return Literal(s.DType, data[i]) })
}

// ConstantInts is Constant for integers, exact up to 64 bits.
func (w *Writer) ConstantInts(s shape.Spec, data []int64) Value {
	return w.elements(s, len(data), func(i int) string {
		if s.DType.IsInt() {
			return LiteralBits(s.DType, uint64(data[i]))
		}
		return Literal(s.DType, float64(data[i]))
	})
}

// ConstantBits is Constant from the host bytes of the elements: exact for every type.
func (w *Writer) ConstantBits(s shape.Spec, data []uint64) Value {
	return w.elements(s, len(data), func(i int) string { return LiteralBits(s.DType, data[i]) })
}

func (w *Writer) elements(s shape.Spec, n int, lit func(i int) string) Value {
	if n != s.Size() {
		panic(fmt.Sprintf("stablehlo: constant %v with %d elements", s, n))
	}
	if n == 0 {
		return w.constant(s, "")
	}
	first, splat := lit(0), true
	for i := 1; i < n && splat; i++ {
		splat = lit(i) == first
	}
	if splat {
		return w.constant(s, first)
	}
	var b strings.Builder
	at := 0
	var nest func(dims []int)
	nest = func(dims []int) {
		if len(dims) == 0 {
			b.WriteString(lit(at))
			at++
			return
		}
		b.WriteByte('[')
		for i := range dims[0] {
			if i > 0 {
				b.WriteString(", ")
			}
			nest(dims[1:])
		}
		b.WriteByte(']')
	}
	nest(s.Dims)
	return w.constant(s, b.String())
}

func (w *Writer) constant(s shape.Spec, lit string) Value {
	if s.Size() == 0 {
		lit = ""
	}
	return w.Do("constant", s, "value = dense<"+lit+"> : "+Type(s))
}
