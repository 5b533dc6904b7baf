package inspect

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A Difference is how two arrays of one shape differ, element by element.
type Difference struct {
	A, B      shape.Spec
	Elements  int
	Differing int // elements that are not equal; two NaNs are
	MaxAbs    float64
	MaxRel    float64 // of the larger magnitude
	// MaxULP counts the representable numbers between two elements; -1 when the
	// types differ or the numbers are not floats.
	MaxULP int64
	First  []int // index of the first element that differs
	FirstA float64
	FirstB float64
	Worst  []int // index of the largest absolute difference
}

// A ShapesError says that arrays of different shapes cannot be compared.
type ShapesError struct{ A, B shape.Spec }

// Error names both.
func (e *ShapesError) Error() string {
	return fmt.Sprintf("diff: %v and %v have different shapes", e.A, e.B)
}

// Compare compares two arrays. It returns *ShapesError when their shapes differ.
func Compare(a, b kernel.Array) (Difference, error) {
	d := Difference{A: a.Spec(), B: b.Spec(), Elements: a.Size(), MaxULP: -1}
	if !shape.EqualDims(a.Dims, b.Dims) {
		return d, &ShapesError{a.Spec(), b.Spec()}
	}
	if d.Elements == 0 {
		return d, nil
	}
	xs, ys := Magnitudes(a), Magnitudes(b)
	var ca, cb []int64
	exact := a.DType == b.DType
	if exact {
		ca, cb = codes(a), codes(b)
	}
	floats := exact && a.DType.IsFloat()
	if floats {
		d.MaxULP = 0
	}
	for i := range xs {
		x, y := xs[i], ys[i]
		nan := x != x && y != y
		if nan || (exact && ca[i] == cb[i]) || !exact && x == y || floats && x == y {
			continue
		}
		d.Differing++
		if d.First == nil {
			d.First, d.FirstA, d.FirstB = indexOf(i, a.Dims), x, y
		}
		abs := math.Abs(x - y)
		if x != x || y != y {
			abs = math.Inf(1)
		}
		if abs > d.MaxAbs || d.Worst == nil {
			d.MaxAbs, d.Worst = abs, indexOf(i, a.Dims)
		}
		d.MaxRel = max(d.MaxRel, relative(abs, x, y))
		if floats {
			d.MaxULP = max(d.MaxULP, distance(ca[i], cb[i]))
		}
	}
	return d, nil
}

func relative(abs, x, y float64) float64 {
	if math.IsInf(abs, 1) {
		return math.Inf(1)
	}
	if m := max(math.Abs(x), math.Abs(y)); m > 0 {
		return abs / m
	}
	return 0
}

// distance is how many steps lie between two codes, without overflow.
func distance(a, b int64) int64 {
	if a < b {
		a, b = b, a
	}
	if n := uint64(a) - uint64(b); n <= math.MaxInt64 {
		return int64(n)
	}
	return math.MaxInt64
}

// codes gives the bits of the elements as integers in the order of the numbers:
// neighbours differ by one, and both zeros are 0.
func codes(a kernel.Array) []int64 {
	c := kernel.Contiguous(a)
	out := make([]int64, a.Size())
	size := a.DType.HostBytes()
	signed := a.DType.IsFloat() && a.DType != dtype.F8E8M0
	for i := range out {
		var raw uint64
		switch b := c.Buf[i*size:]; size {
		case 1:
			raw = uint64(b[0])
		case 2:
			raw = uint64(binary.NativeEndian.Uint16(b))
		case 4:
			raw = uint64(binary.NativeEndian.Uint32(b))
		default:
			raw = binary.NativeEndian.Uint64(b)
		}
		if bits := a.DType.Bits(); signed && raw>>(bits-1)&1 == 1 {
			out[i] = -int64(raw &^ (1 << (bits - 1)))
		} else {
			out[i] = int64(raw)
		}
	}
	return out
}

// indexOf gives the index of the i-th element in row-major order.
func indexOf(i int, dims []int) []int {
	at := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = i % dims[k]
		i /= dims[k]
	}
	return at
}

// FormatIndex writes an index as [3,0].
func FormatIndex(at []int) string {
	parts := make([]string, len(at))
	for i, n := range at {
		parts[i] = fmt.Sprint(n)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// String says in one line how much differs.
func (d Difference) String() string {
	if d.Differing == 0 {
		if d.A.DType != d.B.DType {
			return fmt.Sprintf("equal in all %d elements, as %v and %v", d.Elements, d.A.DType, d.B.DType)
		}
		return fmt.Sprintf("equal in all %d elements", d.Elements)
	}
	s := fmt.Sprintf("%d of %d elements differ: max abs %.4g, max rel %.3g", d.Differing, d.Elements, d.MaxAbs, d.MaxRel)
	if d.MaxULP >= 0 {
		s += fmt.Sprintf(", max %d ulp of %v", d.MaxULP, d.A.DType)
	}
	s += fmt.Sprintf("; first at %s: %.9g and %.9g", FormatIndex(d.First), d.FirstA, d.FirstB)
	if w := FormatIndex(d.Worst); w != FormatIndex(d.First) {
		s += ", largest at " + w
	}
	return s
}
