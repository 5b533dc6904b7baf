package shape

import (
	"fmt"
	"math"
)

// CheckDims refuses a negative size, and sizes whose bytes (8 for each
// element, so that the answer does not hang on the type) overflow 64 bits, with a *SizeError.
func CheckDims(op string, dims []int) error {
	n, empty := 1, false
	for i, d := range dims {
		if d < 0 {
			return &SizeError{Op: op, Dims: dims, Axis: i}
		}
		empty = empty || d == 0
	}
	for _, d := range dims {
		if !empty && n > math.MaxInt64/8/d {
			return &SizeError{Op: op, Dims: dims, Axis: -1, Bytes: 8}
		}
		n *= d
	}
	return nil
}

// InferSize replaces the one -1 in dims so that the shape holds size elements.
func InferSize(op string, dims []int, size int) ([]int, error) {
	known, at := 1, -1
	for i, d := range dims {
		switch {
		case d == -1 && at >= 0:
			return nil, &ArgumentError{op, "shape", dims, "only one size may be -1"}
		case d == -1:
			at = i
		case d < 0:
			return nil, &ArgumentError{op, "shape", dims, "a size is below -1"}
		case d > 0 && known > math.MaxInt64/d:
			return nil, &CountError{op, dims, size}
		default:
			known *= d
		}
	}
	if at < 0 {
		if known != size {
			return nil, &CountError{op, dims, size}
		}
		return dims, nil
	}
	if known == 0 {
		if size == 0 {
			return nil, &ArgumentError{op, "shape", dims, "-1 beside a size of 0 can be anything"}
		}
		return nil, &CountError{op, dims, size}
	}
	if size%known != 0 {
		return nil, &CountError{op, dims, size}
	}
	out := append([]int(nil), dims...)
	out[at] = size / known
	return out, nil
}

// Axes normalizes a list of axes, which may count from the end, and refuses
// one named twice. An empty list stays empty.
func Axes(op string, axes []int, rank int) ([]int, error) {
	out := make([]int, len(axes))
	for i, a := range axes {
		n, err := Axis(op, a, rank)
		if err != nil {
			return nil, err
		}
		for _, b := range out[:i] {
			if b == n {
				return nil, &ArgumentError{op, "dim", axes, "an axis appears twice"}
			}
		}
		out[i] = n
	}
	return out, nil
}

// Index normalizes a position on an axis, which may count from the end.
func Index(op string, index, axis, size int) (int, error) {
	if index < -size || index >= size {
		return 0, &IndexError{op, index, axis, size}
	}
	if index < 0 {
		index += size
	}
	return index, nil
}

// BroadcastAll gives the common shape of specs, absent ones left out, or a
// *MismatchError that names the axis of the first that does not fit.
func BroadcastAll(op string, specs ...Spec) ([]int, error) {
	var dims []int
	first := true
	for i, s := range specs {
		if !s.Valid() {
			continue
		}
		if first {
			dims, first = s.Dims, false
			continue
		}
		d, ok := Broadcast(dims, s.Dims)
		if !ok {
			left := Spec{DType: specs[0].DType, Dims: dims}
			return nil, NewBroadcastError(op, left, specs[i])
		}
		dims = d
	}
	return dims, nil
}

// NewBroadcastError says on which axis of left two shapes do not broadcast.
func NewBroadcastError(op string, left, right Spec) *MismatchError {
	e := &MismatchError{Op: op, Left: left, Right: right, Axis: -1, Why: "shapes do not broadcast"}
	for i := 1; i <= min(len(left.Dims), len(right.Dims)); i++ {
		l, r := left.Dims[len(left.Dims)-i], right.Dims[len(right.Dims)-i]
		if l != r && l != 1 && r != 1 {
			e.Axis = len(left.Dims) - i
			e.Why = fmt.Sprintf("sizes %d and %d of axis %d do not broadcast", l, r, -i)
			break
		}
	}
	return e
}
