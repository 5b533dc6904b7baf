package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// What a slice of a snapshot holds at most; more is left out evenly.
const (
	maxRows = 64
	maxCols = 256
)

// A SliceError says that text is no slice of a shape.
type SliceError struct {
	Text string
	Dims []int
	Why  string
}

// Error names the text and what is wrong with it.
func (e *SliceError) Error() string {
	return fmt.Sprintf("slice [%s] of %s: %s", e.Text, shape.FormatDims(e.Dims), e.Why)
}

// Cut is a view of a tensor by an index as in Python: 0, :, 2:8. Dimensions
// without an index are whole. A number takes its dimension away.
func Cut(v shape.View, text string) (shape.View, error) {
	out := shape.View{Offset: v.Offset}
	fail := func(format string, args ...any) (shape.View, error) {
		return v, &SliceError{Text: text, Dims: v.Dims, Why: fmt.Sprintf(format, args...)}
	}
	var parts []string
	if t := strings.Trim(strings.TrimSpace(text), "[]"); t != "" {
		parts = strings.Split(t, ",")
	}
	if len(parts) > len(v.Dims) {
		return fail("%d indices for %d dimensions", len(parts), len(v.Dims))
	}
	for axis, n := range v.Dims {
		part := ":"
		if axis < len(parts) {
			part = strings.TrimSpace(parts[axis])
		}
		from, to, ranged := strings.Cut(part, ":")
		bound := func(s string, otherwise int) (int, error) {
			if s = strings.TrimSpace(s); s == "" {
				return otherwise, nil
			}
			i, err := strconv.Atoi(s)
			if err != nil {
				return 0, fmt.Errorf("%q is no number", s)
			}
			if i < 0 {
				i += n
			}
			return i, nil
		}
		lo, err := bound(from, 0)
		if err != nil {
			return fail("%v", err)
		}
		if !ranged {
			if lo < 0 || lo >= n {
				return fail("%s is outside of dimension %d of %d", part, axis, n)
			}
			out.Offset += lo * v.Strides[axis]
			continue
		}
		hi, err := bound(to, n)
		if err != nil {
			return fail("%v", err)
		}
		lo, hi = min(max(lo, 0), n), min(max(hi, 0), n)
		out.Offset += lo * v.Strides[axis]
		out.Dims = append(out.Dims, max(0, hi-lo))
		out.Strides = append(out.Strides, v.Strides[axis])
	}
	return out, nil
}

// matrix cuts a matrix out of an array: of what the index leaves, the two last
// dimensions, at 0 of those before. An index that is none counts as none.
func matrix(a kernel.Array, index string) inspect.Slice {
	v, err := Cut(a.View, index)
	if err != nil {
		v, index = a.View, ""
	}
	for len(v.Dims) < 2 {
		v.Dims, v.Strides = append([]int{1}, v.Dims...), append([]int{0}, v.Strides...)
	}
	lead := len(v.Dims) - 2
	out := inspect.Slice{AllRow: v.Dims[lead], AllCol: v.Dims[lead+1]}
	out.Index = strings.Trim(strings.TrimSpace(index), "[]")
	if out.Index == "" {
		out.Index = strings.Repeat("0, ", max(0, len(a.Dims)-2)) + strings.TrimSuffix(strings.Repeat(":, ", min(2, len(a.Dims))), ", ")
	}
	out.Index = "[" + out.Index + "]"
	for _, n := range v.Dims[:lead] {
		if n == 0 {
			out.AllRow = 0
		}
	}
	out.Rows, out.Cols = min(out.AllRow, maxRows), min(out.AllCol, maxCols)
	if out.Rows == 0 || out.Cols == 0 {
		out.Rows, out.Cols = 0, 0
		return out
	}
	rowStep, colStep := out.AllRow/out.Rows, out.AllCol/out.Cols
	a.View = shape.View{
		Dims: []int{out.Rows, out.Cols}, Offset: v.Offset,
		Strides: []int{v.Strides[lead] * rowStep, v.Strides[lead+1] * colStep},
	}
	out.Values = inspect.Magnitudes(a)
	return out
}
