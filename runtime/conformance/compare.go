package conformance

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A SpecError says that a result has the wrong element type or shape.
type SpecError struct{ Got, Want shape.Spec }

// Error names both.
func (e *SpecError) Error() string { return fmt.Sprintf("got %v, want %v", e.Got, e.Want) }

// A ValueError says that elements of a result are too far off.
type ValueError struct {
	Wrong, Of int    // how many elements of how many
	At        []int  // index of the first
	Got, Want string // its values
}

// Error names the first wrong element.
func (e *ValueError) Error() string {
	return fmt.Sprintf("%d of %d elements differ; first at %s: got %s, want %s", e.Wrong, e.Of, shape.FormatDims(e.At), e.Got, e.Want)
}

// Compare checks a result: element type and shape exactly, integers and bools
// exactly, floats within tol (the zero Tol asks for equality); NaN only where
// NaN is wanted, infinities equal.
func Compare(got, want kernel.Array, tol Tol) error {
	if got.DType != want.DType || !shape.EqualDims(got.Dims, want.Dims) {
		return &SpecError{shape.Spec{DType: got.DType, Dims: got.Dims}, shape.Spec{DType: want.DType, Dims: want.Dims}}
	}
	var e *ValueError
	n := got.Size()
	note := func(i int, g, w any) {
		if e == nil {
			e = &ValueError{Of: n, At: unravel(i, want.Dims), Got: fmt.Sprint(g), Want: fmt.Sprint(w)}
		}
		e.Wrong++
	}
	switch kernel.Class(got.DType) {
	case dtype.I64:
		g, w := kernel.Int64s(got), kernel.Int64s(want)
		for i := range g {
			if g[i] != w[i] {
				note(i, g[i], w[i])
			}
		}
	case dtype.U64:
		g, w := kernel.Uint64s(got), kernel.Uint64s(want)
		for i := range g {
			if g[i] != w[i] {
				note(i, g[i], w[i])
			}
		}
	case dtype.C64:
		g, w := kernel.Contiguous(got), kernel.Contiguous(want)
		gs, ws := kernel.As[float32](g.Buf), kernel.As[float32](w.Buf)
		for i := range 2 * n {
			if !near(float64(gs[i]), float64(ws[i]), tol) {
				note(i/2, kernel.As[complex64](g.Buf)[i/2], kernel.As[complex64](w.Buf)[i/2])
			}
		}
	case dtype.C128:
		g, w := kernel.Contiguous(got), kernel.Contiguous(want)
		gs, ws := kernel.As[float64](g.Buf), kernel.As[float64](w.Buf)
		for i := range 2 * n {
			if !near(gs[i], ws[i], tol) {
				note(i/2, kernel.As[complex128](g.Buf)[i/2], kernel.As[complex128](w.Buf)[i/2])
			}
		}
	default:
		g, w := kernel.Float64s(got), kernel.Float64s(want)
		for i := range g {
			if !near(g[i], w[i], tol) {
				note(i, g[i], w[i])
			}
		}
	}
	if e != nil {
		return e
	}
	return nil
}

// near applies the rule to one element.
func near(got, want float64, tol Tol) bool {
	switch {
	case want != want || got != got:
		return want != want && got != got
	case got == want:
		return !tol.SignedZero || got != 0 || math.Signbit(got) == math.Signbit(want)
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return false
	}
	return math.Abs(got-want) <= tol.ATol+tol.RTol*math.Abs(want)
}

// unravel gives the index of element i in row-major order.
func unravel(i int, dims []int) []int {
	at := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k] = i % dims[k]
		i /= dims[k]
	}
	return at
}
