package op

import (
	"fmt"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// indexHLO is the element type of computed positions in lowered programs.
const indexHLO = dtype.I32

// sliceHLO writes a slice along one axis.
func sliceHLO(w *stablehlo.Writer, x stablehlo.Value, axis, start, limit, step int) stablehlo.Value {
	n := x.Spec.Rank()
	lo, hi, st := make([]int, n), append([]int{}, x.Spec.Dims...), make([]int, n)
	for i := range st {
		st[i] = 1
	}
	lo[axis], hi[axis], st[axis] = start, limit, step
	return sliceAllHLO(w, x, lo, hi, st)
}

// sliceAllHLO writes a slice along every axis.
func sliceAllHLO(w *stablehlo.Writer, x stablehlo.Value, lo, hi, step []int) stablehlo.Value {
	dims := make([]int, len(lo))
	whole := true
	for i := range lo {
		dims[i] = max(0, (hi[i]-lo[i]+step[i]-1)/step[i])
		whole = whole && lo[i] == 0 && hi[i] == x.Spec.Dims[i] && step[i] == 1
	}
	if whole {
		return x
	}
	return w.Do("slice", shape.Spec{DType: x.Spec.DType, Dims: dims},
		"limit_indices = "+stablehlo.I64s(hi)+", start_indices = "+stablehlo.I64s(lo)+", strides = "+stablehlo.I64s(step), x)
}

// concatHLO writes concatenate.
func concatHLO(w *stablehlo.Writer, xs []stablehlo.Value, axis int) stablehlo.Value {
	if len(xs) == 1 {
		return xs[0]
	}
	dims := append([]int{}, xs[0].Spec.Dims...)
	for _, x := range xs[1:] {
		dims[axis] += x.Spec.Dims[axis]
	}
	return w.Do("concatenate", shape.Spec{DType: xs[0].Spec.DType, Dims: dims}, fmt.Sprintf("dimension = %d : i64", axis), xs...)
}

// reverseHLO writes reverse.
func reverseHLO(w *stablehlo.Writer, x stablehlo.Value, axes []int) stablehlo.Value {
	if len(axes) == 0 {
		return x
	}
	return w.Do("reverse", x.Spec, "dimensions = "+stablehlo.I64s(axes), x)
}

// padHLO writes pad with the value v, a 0-d operand. Negative edges cut.
func padHLO(w *stablehlo.Writer, x, v stablehlo.Value, low, high, interior []int) stablehlo.Value {
	dims := make([]int, len(low))
	for i, d := range x.Spec.Dims {
		dims[i] = low[i] + high[i] + d + max(d-1, 0)*interior[i]
	}
	return w.Do("pad", shape.Spec{DType: x.Spec.DType, Dims: dims},
		"edge_padding_high = "+stablehlo.I64s(high)+", edge_padding_low = "+stablehlo.I64s(low)+", interior_padding = "+stablehlo.I64s(interior), x, v)
}
