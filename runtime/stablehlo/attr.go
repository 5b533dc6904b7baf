package stablehlo

import (
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/shape"
)

// ints prints [1, 2].
func ints(xs []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, x := range xs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(x))
	}
	b.WriteByte(']')
	return b.String()
}

// bools prints array<i1: false, true>.
func bools(xs []bool) string {
	var b strings.Builder
	b.WriteString("array<i1")
	for i, x := range xs {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatBool(x))
	}
	b.WriteByte('>')
	return b.String()
}

// pairs prints dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>.
func pairs(xs [][2]int) string {
	var b strings.Builder
	b.WriteString("dense<")
	if len(xs) > 0 {
		b.WriteByte('[')
		for i, x := range xs {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(ints(x[:]))
		}
		b.WriteByte(']')
	}
	return b.String() + "> : tensor<" + strconv.Itoa(len(xs)) + "x2xi64>"
}

// list joins the fields of an attribute that are not empty.
func list(fields ...string) string {
	var b strings.Builder
	for _, f := range fields {
		if f == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f)
	}
	return b.String()
}

// field prints name = [1, 2], nothing for an empty list.
func field(name string, xs []int) string {
	if len(xs) == 0 {
		return ""
	}
	return name + " = " + ints(xs)
}

// fill gives xs, or n times v when xs is nil.
func fill(xs []int, n, v int) []int {
	if xs != nil {
		return xs
	}
	xs = make([]int, n)
	for i := range xs {
		xs[i] = v
	}
	return xs
}

// like gives the type of x with other dimensions.
func like(x Value, dims []int) shape.Spec { return shape.Spec{DType: x.Spec.DType, Dims: dims} }

// specs gives the types of values.
func specs(vs []Value) []shape.Spec {
	out := make([]shape.Spec, len(vs))
	for i, v := range vs {
		out[i] = v.Spec
	}
	return out
}

// scalars gives the element types of values as 0-d types.
func scalars(vs []Value) []shape.Spec {
	out := make([]shape.Spec, len(vs))
	for i, v := range vs {
		out[i] = shape.Spec{DType: v.Spec.DType}
	}
	return out
}
