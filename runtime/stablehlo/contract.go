package stablehlo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// The precisions of a product of f32 operands on the matrix unit.
const (
	Default = "DEFAULT" // one pass in bf16
	High    = "HIGH"    // three passes
	Highest = "HIGHEST" // six passes: f32
)

// DotDims pairs the axes of a dot_general.
type DotDims struct {
	LHSBatch, RHSBatch       []int
	LHSContract, RHSContract []int
}

// DotGeneral writes dot_general with result type t: the batch axes, then the
// free ones of x, then those of y.
func (w *Writer) DotGeneral(x, y Value, d DotDims, t dtype.DType, precision string) Value {
	dims := []int{}
	for _, a := range d.LHSBatch {
		dims = append(dims, x.Spec.Dims[a])
	}
	dims = append(dims, without(x.Spec.Dims, slices.Concat(d.LHSBatch, d.LHSContract))...)
	dims = append(dims, without(y.Spec.Dims, slices.Concat(d.RHSBatch, d.RHSContract))...)
	return w.Do("dot_general", shape.Spec{DType: t, Dims: dims},
		"dot_dimension_numbers = #stablehlo.dot<"+list(
			field("lhs_batching_dimensions", d.LHSBatch),
			field("rhs_batching_dimensions", d.RHSBatch),
			field("lhs_contracting_dimensions", d.LHSContract),
			field("rhs_contracting_dimensions", d.RHSContract),
		)+">, "+w.precisionConfig(precision), x, y)
}

// precisionConfig states a precision, the program's own where the highest is asked for.
func (w *Writer) precisionConfig(p string) string {
	switch {
	case p == "":
		p = Default
	case p == Highest && w.Precision != "":
		p = w.Precision
	}
	return fmt.Sprintf("precision_config = [#stablehlo<precision %s>, #stablehlo<precision %s>]", p, p)
}

// A Conv is what a convolution needs beside its operands. Nil lists are the
// neutral ones. Input, Kernel and Output say what the axes are, a letter each:
// b batch, f feature, i and o the kernel's input and output feature, digits
// the spatial axes. PyTorch's conv2d is bf01, oi01, bf01.
type Conv struct {
	Strides                   []int
	Padding                   [][2]int // low, high; negative cuts
	LHSDilation, RHSDilation  []int    // steps between input elements, between taps
	Reversal                  []bool
	Input, Kernel, Output     string
	FeatureGroups, BatchGroup int // 0 is 1
	Precision                 string
}

// Convolution writes convolution with result type t.
func (w *Writer) Convolution(x, k Value, c Conv, t dtype.DType) Value {
	n := len(c.Kernel) - 2
	strides, ldil, rdil := fill(c.Strides, n, 1), fill(c.LHSDilation, n, 1), fill(c.RHSDilation, n, 1)
	pad, rev := c.Padding, c.Reversal
	if pad == nil {
		pad = make([][2]int, n)
	}
	if rev == nil {
		rev = make([]bool, n)
	}
	fg, bg := max(c.FeatureGroups, 1), max(c.BatchGroup, 1)
	dims := make([]int, n+2)
	for i, a := range c.Output {
		switch a {
		case 'b':
			dims[i] = x.Spec.Dims[strings.IndexByte(c.Input, 'b')] / bg
		case 'f':
			dims[i] = k.Spec.Dims[strings.IndexByte(c.Kernel, 'o')]
		default:
			s := int(a - '0')
			in, taps := x.Spec.Dims[strings.IndexRune(c.Input, a)], k.Spec.Dims[strings.IndexRune(c.Kernel, a)]
			dims[i] = windowed(in, taps, strides[s], ldil[s], rdil[s], pad[s])
		}
	}
	return w.Do("convolution", shape.Spec{DType: t, Dims: dims}, list(
		fmt.Sprintf("batch_group_count = %d : i64", bg),
		"dimension_numbers = #stablehlo.conv<["+letters(c.Input)+"]x["+letters(c.Kernel)+"]->["+letters(c.Output)+"]>",
		fmt.Sprintf("feature_group_count = %d : i64", fg),
		"lhs_dilation = "+I64s(ldil),
		"padding = "+pairs(pad),
		w.precisionConfig(c.Precision),
		"rhs_dilation = "+I64s(rdil),
		"window_reversal = "+bools(rev),
		"window_strides = "+I64s(strides),
	), x, k)
}

// letters spreads bf01 into b, f, 0, 1.
func letters(s string) string { return strings.Join(strings.Split(s, ""), ", ") }

// windowed is the size of an axis after a window went over it.
func windowed(in, taps, stride, baseDilation, windowDilation int, pad [2]int) int {
	if in > 0 {
		in = (in-1)*baseDilation + 1
	}
	if taps > 0 {
		taps = (taps-1)*windowDilation + 1
	}
	in += pad[0] + pad[1]
	if in < taps || in <= 0 {
		return 0
	}
	return (in-taps)/stride + 1
}
