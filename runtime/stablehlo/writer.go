// Package stablehlo writes StableHLO text, by syntax only, in MLIR's generic
// form so that any StableHLO parser accepts it without the pretty printer.
//
// It knows nothing of graphs or rows. It imports dtype and shape. Invariant:
// a Value is written once and named by its ID.
package stablehlo

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// A Value is an SSA value of the function being written.
type Value struct {
	ID   string // %3; "" for an absent optional operand
	Spec shape.Spec
}

// A Writer collects the body of one function.
type Writer struct {
	b      strings.Builder
	next   int
	indent int
	// Loc, when not empty, is appended to every operation: loc("…"("file":line:col)).
	Loc string
	// Precision of the products that ask for the highest; "" is the highest.
	Precision string
	// Partitions is how many devices the program is cut over; below 2 nothing
	// says where numbers are.
	Partitions int
	beside     string // attributes of the next operation that are not its own
}

// Body gives what was written so far.
func (w *Writer) Body() string { return w.b.String() }

// Type prints the MLIR type of a spec: tensor<2x3xf32>.
func Type(s shape.Spec) string {
	var b strings.Builder
	b.WriteString("tensor<")
	for _, d := range s.Dims {
		b.WriteString(strconv.Itoa(d))
		b.WriteByte('x')
	}
	b.WriteString(s.DType.Row().StableHLO)
	b.WriteByte('>')
	return b.String()
}

// Op writes one operation in generic form and gives its results. attrs is the
// property dictionary without braces ("" for none); regions are written by the
// given functions, in order.
func (w *Writer) Op(name string, in []Value, out []shape.Spec, attrs string, regions ...func(w *Writer)) []Value {
	res := make([]Value, len(out))
	w.line()
	if len(out) > 0 {
		base := w.next
		w.next++
		if len(out) == 1 {
			res[0] = Value{fmt.Sprintf("%%%d", base), out[0]}
			fmt.Fprintf(&w.b, "%s = ", res[0].ID)
		} else {
			for i := range out {
				res[i] = Value{fmt.Sprintf("%%%d#%d", base, i), out[i]}
			}
			fmt.Fprintf(&w.b, "%%%d:%d = ", base, len(out))
		}
	}
	fmt.Fprintf(&w.b, "%q(", name)
	for i, v := range in {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.b.WriteString(v.ID)
	}
	w.b.WriteByte(')')
	if attrs != "" {
		fmt.Fprintf(&w.b, " <{%s}>", attrs)
	}
	if w.beside != "" {
		fmt.Fprintf(&w.b, " {%s}", w.beside)
		w.beside = ""
	}
	if len(regions) > 0 {
		w.b.WriteString(" (")
		for i, r := range regions {
			if i > 0 {
				w.b.WriteString(", ")
			}
			w.b.WriteString("{\n")
			w.indent++
			loc := w.Loc
			w.Loc = ""
			r(w)
			w.Loc = loc
			w.indent--
			w.line()
			w.b.WriteByte('}')
		}
		w.b.WriteByte(')')
	}
	w.b.WriteString(" : (")
	for i, v := range in {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.b.WriteString(Type(v.Spec))
	}
	w.b.WriteString(") -> ")
	if len(out) == 1 {
		w.b.WriteString(Type(out[0]))
	} else {
		w.b.WriteByte('(')
		for i, s := range out {
			if i > 0 {
				w.b.WriteString(", ")
			}
			w.b.WriteString(Type(s))
		}
		w.b.WriteByte(')')
	}
	if w.Loc != "" {
		w.b.WriteByte(' ')
		w.b.WriteString(w.Loc)
	}
	w.b.WriteByte('\n')
	return res
}

func (w *Writer) line() {
	for range w.indent + 1 {
		w.b.WriteString("  ")
	}
}

// Fresh names a block argument.
func (w *Writer) Fresh(s shape.Spec) Value {
	v := Value{fmt.Sprintf("%%a%d", w.next), s}
	w.next++
	return v
}

// Do writes stablehlo.NAME with a single result.
func (w *Writer) Do(name string, out shape.Spec, attrs string, in ...Value) Value {
	return w.Op("stablehlo."+name, in, []shape.Spec{out}, attrs)[0]
}

// Convert changes the element type as dtype.Encode does; it writes nothing
// when there is nothing to change. Two types need more than XLA's convert,
// which makes NaN of what they do not hold: F8E4M3 saturates, and F8E8M0 takes
// the magnitude, at least its smallest power.
func (w *Writer) Convert(x Value, t dtype.DType) Value {
	if x.Spec.DType == t {
		return x
	}
	if t == dtype.F8E4M3 || t == dtype.F8E8M0 {
		if from := x.Spec.DType; !from.IsFloat() || from.Bits() < 16 {
			x = w.convert(x, dtype.F32)
		}
	}
	switch t {
	case dtype.F8E4M3:
		elem := shape.Spec{DType: x.Spec.DType}
		x = w.Clamp(w.Splat(elem, t.Lowest()), x, w.Splat(elem, t.Max()))
	case dtype.F8E8M0:
		least := t.Min()
		if x.Spec.DType == dtype.F16 {
			x = w.convert(x, dtype.F32) // half does not reach down there
		}
		x = w.Do("maximum", x.Spec, "", w.Do("abs", x.Spec, "", x), w.Splat(x.Spec, least))
	}
	return w.convert(x, t)
}

func (w *Writer) convert(x Value, t dtype.DType) Value {
	return w.Do("convert", shape.Spec{DType: t, Dims: x.Spec.Dims}, "", x)
}

// BroadcastInDim writes broadcast_in_dim: axis i of x becomes axis axes[i] of the result.
func (w *Writer) BroadcastInDim(x Value, dims, axes []int) Value {
	return w.Do("broadcast_in_dim", shape.Spec{DType: x.Spec.DType, Dims: dims}, "broadcast_dimensions = "+I64s(axes), x)
}

// BroadcastTo stretches x to dims by numpy's rule: axes are aligned at the end.
func (w *Writer) BroadcastTo(x Value, dims []int) Value {
	if shape.EqualDims(x.Spec.Dims, dims) {
		return x
	}
	axes := make([]int, len(x.Spec.Dims))
	for i := range axes {
		axes[i] = len(dims) - len(axes) + i
	}
	return w.BroadcastInDim(x, dims, axes)
}

// Compare writes compare; dir is EQ NE GE GT LE LT. Floats compare as IEEE
// does: every comparison with NaN but NE is false.
func (w *Writer) Compare(dir string, x, y Value) Value {
	kind := "SIGNED"
	switch x.Spec.DType.Kind() {
	case dtype.KindFloat, dtype.KindComplex:
		kind = "FLOAT"
	case dtype.KindBool, dtype.KindUint:
		kind = "UNSIGNED"
	}
	return w.compare(dir, kind, x, y)
}

// CompareTotal compares floats by IEEE's total order: -NaN < -Inf < … < -0 < 0 < … < Inf < NaN.
func (w *Writer) CompareTotal(dir string, x, y Value) Value {
	return w.compare(dir, "TOTALORDER", x, y)
}

func (w *Writer) compare(dir, kind string, x, y Value) Value {
	return w.Do("compare", shape.Spec{DType: dtype.Bool, Dims: x.Spec.Dims},
		"compare_type = #stablehlo<comparison_type "+kind+">, comparison_direction = #stablehlo<comparison_direction "+dir+">", x, y)
}

// Select writes select(cond, a, b).
func (w *Writer) Select(cond, a, b Value) Value { return w.Do("select", a.Spec, "", cond, a, b) }

// Reshape writes reshape; nothing when the dimensions are equal.
func (w *Writer) Reshape(x Value, dims []int) Value {
	if shape.EqualDims(x.Spec.Dims, dims) {
		return x
	}
	return w.Do("reshape", shape.Spec{DType: x.Spec.DType, Dims: dims}, "", x)
}

// Transpose writes transpose: axis i of the result is axis perm[i] of x.
func (w *Writer) Transpose(x Value, perm []int) Value {
	dims := make([]int, len(perm))
	for i, p := range perm {
		dims[i] = x.Spec.Dims[p]
	}
	return w.Do("transpose", shape.Spec{DType: x.Spec.DType, Dims: dims}, "permutation = "+I64s(perm), x)
}

// Sharding writes where the elements of x are, in XLA's text, when the program
// is cut over several devices.
func (w *Writer) Sharding(x Value, where string) Value {
	if w.Partitions < 2 {
		return x
	}
	w.beside = fmt.Sprintf("mhlo.sharding = %q", where)
	return w.Do("custom_call", x.Spec, `call_target_name = "Sharding"`, x)
}

// Iota writes iota along axis.
func (w *Writer) Iota(s shape.Spec, axis int) Value {
	return w.Do("iota", s, fmt.Sprintf("iota_dimension = %d : i64", axis))
}

// Block writes the head of a region with its arguments.
func (w *Writer) Block(args ...Value) {
	w.indent--
	w.line()
	w.indent++
	w.b.WriteString("^bb0(")
	for i, a := range args {
		if i > 0 {
			w.b.WriteString(", ")
		}
		fmt.Fprintf(&w.b, "%s: %s", a.ID, Type(a.Spec))
	}
	w.b.WriteString("):\n")
}

// Return ends a region.
func (w *Writer) Return(vs ...Value) { w.Op("stablehlo.return", vs, nil, "") }

// I64s prints array<i64: 1, 2>.
func I64s(xs []int) string {
	var b strings.Builder
	b.WriteString("array<i64")
	for i, x := range xs {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(x))
	}
	b.WriteByte('>')
	return b.String()
}
