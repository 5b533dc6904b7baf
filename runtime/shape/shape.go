// Package shape holds what is known of a value without computing it: its
// element type and dimensions, how a view addresses a storage, how shapes
// broadcast, and how the TPU lays an array out in tiles.
//
// It touches no data. It imports only dtype. Invariant: Dims of a Spec are
// never modified after creation, so Specs share them freely.
package shape

import (
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
)

// A Spec is the type of a value. It prints as f32[128,256].
type Spec struct {
	DType dtype.DType
	Dims  []int
	// Weak marks a Go number used as an operand: it takes part in promotion
	// by its kind only (PyTorch's "wrapped number"). Its DType is F64, I64 or Bool.
	Weak bool
}

// Of makes a Spec.
func Of(d dtype.DType, dims ...int) Spec { return Spec{DType: d, Dims: dims} }

// Size is the number of elements.
func (s Spec) Size() int { return Size(s.Dims) }

// Rank is the number of dimensions.
func (s Spec) Rank() int { return len(s.Dims) }

// Bytes is what the numbers need, without padding: 4-bit elements are packed.
func (s Spec) Bytes() int64 { return (int64(s.Size())*int64(s.DType.Bits()) + 7) / 8 }

// HostBytes is the size of a dense host array of this type.
func (s Spec) HostBytes() int { return s.Size() * s.DType.HostBytes() }

// Valid says whether s describes a value; the zero Spec stands for an absent optional operand.
func (s Spec) Valid() bool { return s.DType != dtype.Invalid }

// Equal compares element type and dimensions.
func (s Spec) Equal(t Spec) bool { return s.DType == t.DType && EqualDims(s.Dims, t.Dims) }

// String prints f32[128,256].
func (s Spec) String() string {
	if !s.Valid() {
		return "none"
	}
	return s.DType.String() + FormatDims(s.Dims)
}

// Size is the product of dims: 1 for none.
func Size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// EqualDims compares two shapes.
func EqualDims(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// FormatDims prints [128,256].
func FormatDims(dims []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range dims {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(d))
	}
	b.WriteByte(']')
	return b.String()
}

// A View says which elements of a storage a tensor sees: element (i, j, …) is
// at Offset + i·Strides[0] + j·Strides[1] + …, counted in elements.
type View struct {
	Dims    []int
	Strides []int
	Offset  int
}

// Dense is the row-major view of a whole storage.
func Dense(dims []int) View { return View{Dims: dims, Strides: RowMajor(dims)} }

// RowMajor gives the strides of a dense array, in elements.
func RowMajor(dims []int) []int {
	st := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		st[i] = n
		n *= max(dims[i], 1)
	}
	return st
}

// Contiguous says whether the view addresses its elements in row-major order without gaps.
func (v View) Contiguous() bool {
	n := 1
	for i := len(v.Dims) - 1; i >= 0; i-- {
		if v.Dims[i] == 0 {
			return true
		}
		if v.Dims[i] != 1 && v.Strides[i] != n {
			return false
		}
		n *= v.Dims[i]
	}
	return true
}

// String prints [3,2] strides [1,3] offset 0.
func (v View) String() string {
	return FormatDims(v.Dims) + " strides " + FormatDims(v.Strides) + " offset " + strconv.Itoa(v.Offset)
}
