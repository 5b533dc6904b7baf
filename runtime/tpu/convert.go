package tpu

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// To converts to another element type; t itself when it has it already.
func (t *Tensor) To(d DType) *Tensor {
	t.engine()
	return t.to(d.d())
}

// Clone copies; gradients pass through.
func (t *Tensor) Clone() *Tensor { return call("clone", nil, t) }

// Contiguous gives t itself when its elements lie in row-major order, else a copy.
func (t *Tensor) Contiguous() *Tensor {
	t.engine()
	if t.IsContiguous() {
		return t
	}
	return t.Clone()
}

// T swaps the last two axes; a view. A tensor of one axis stays as it is.
func (t *Tensor) T() *Tensor {
	t.engine()
	n := len(t.view.Dims)
	if n < 2 {
		return t
	}
	return call("transpose", op.Attrs{{Name: "dim0", Value: n - 2}, {Name: "dim1", Value: n - 1}}, t)
}

// swapped applies a row of two operands with x on the right.
func (x *Tensor) swapped(n op.Name, y any) *Tensor {
	if x == nil {
		refuse(string(n), &NilTensorError{})
	}
	def, attrs := lookup(n, nil)
	return do(def, attrs, y, x)
}

// RSub is y - x.
func (x *Tensor) RSub(y any) *Tensor { return x.swapped("sub", y) }

// RDiv is y / x.
func (x *Tensor) RDiv(y any) *Tensor { return x.swapped("div", y) }

// RPow is y to the power x.
func (x *Tensor) RPow(y any) *Tensor { return x.swapped("pow", y) }

// RRemainder is y modulo x.
func (x *Tensor) RRemainder(y any) *Tensor { return x.swapped("remainder", y) }

// RBitwiseLeftShift is y << x.
func (x *Tensor) RBitwiseLeftShift(y any) *Tensor { return x.swapped("bitwise_left_shift", y) }

// RBitwiseRightShift is y >> x.
func (x *Tensor) RBitwiseRightShift(y any) *Tensor { return x.swapped("bitwise_right_shift", y) }

// ViewAs sees t in the shape of y without a copy.
func (t *Tensor) ViewAs(y *Tensor) *Tensor {
	return call("view", op.Attrs{{Name: "shape", Value: nonNil(y.view.Dims)}}, t)
}

// ReshapeAs gives t the shape of y.
func (t *Tensor) ReshapeAs(y *Tensor) *Tensor {
	return call("reshape", op.Attrs{{Name: "shape", Value: nonNil(y.view.Dims)}}, t)
}

// ExpandAs stretches t to the shape of y without a copy.
func (t *Tensor) ExpandAs(y *Tensor) *Tensor { return t.expandTo(y.view.Dims) }

// BroadcastTo stretches t to the given sizes without a copy.
func (t *Tensor) BroadcastTo(dims ...int) *Tensor { return t.expandTo(dims) }

func (t *Tensor) expandTo(dims []int) *Tensor {
	return call("expand", op.Attrs{{Name: "sizes", Value: nonNil(dims)}}, t)
}

// BroadcastTensors stretches tensors to their common shape without copies.
func BroadcastTensors(xs ...*Tensor) []*Tensor {
	var dims []int
	for i, x := range xs {
		d, ok := shape.Broadcast(dims, x.view.Dims)
		if !ok {
			x.engine().fail("broadcast_tensors", shape.NewBroadcastError("broadcast_tensors", shape.Spec{DType: xs[i-1].dt, Dims: dims}, x.Spec()))
		}
		dims = d
	}
	out := make([]*Tensor, len(xs))
	for i, x := range xs {
		out[i] = x.expandTo(dims)
	}
	return out
}

// together marks views that one call made: with gradients they may not be written in place.
func together(ts []*Tensor) []*Tensor {
	for _, t := range ts {
		t.multi = true
	}
	return ts
}

// cuts gives the pieces of an axis between positions.
func (t *Tensor) cuts(name string, axis int, at []int) []*Tensor {
	out := make([]*Tensor, 0, len(at)+1)
	from := 0
	for _, to := range append(at, t.view.Dims[axis]) {
		out = append(out, t.narrow(axis, from, max(0, to-from)))
		from = to
	}
	return together(out)
}

func (t *Tensor) narrow(axis, start, length int) *Tensor {
	return call("slice", op.Attrs{{Name: "dim", Value: axis}, {Name: "start", Value: start}, {Name: "end", Value: start + length}, {Name: "step", Value: 1}}, t)
}

// axisOf normalizes an axis; a tensor without axes has none.
func (t *Tensor) axisOf(name string, axis int) int {
	if len(t.view.Dims) == 0 {
		t.engine().fail(name, &shape.RankError{Op: name, Dims: t.view.Dims, Min: 1, Max: -1})
	}
	a, err := shape.Axis(name, axis, len(t.view.Dims))
	if err != nil {
		t.engine().fail(name, err)
	}
	return a
}

func axisArg(axis []int) int {
	if len(axis) > 0 {
		return axis[0]
	}
	return 0
}

// Split cuts an axis (the first by default) into pieces of the given size; the last may be smaller.
func (t *Tensor) Split(size int, axis ...int) []*Tensor {
	t.engine()
	const name = "split"
	a := t.axisOf(name, axisArg(axis))
	n := t.view.Dims[a]
	if size < 0 || size == 0 && n > 0 {
		t.engine().fail(name, &shape.ArgumentError{Op: name, Arg: "split_size", Value: size, Why: "it must be positive"})
	}
	var at []int
	for p := size; size > 0 && p < n; p += size {
		at = append(at, p)
	}
	return t.cuts(name, a, at)
}

// SplitSizes cuts an axis into pieces of the given sizes, which must fill it.
func (t *Tensor) SplitSizes(sizes []int, axis ...int) []*Tensor {
	t.engine()
	const name = "split"
	a := t.axisOf(name, axisArg(axis))
	sum := 0
	var at []int
	for _, s := range sizes {
		if s < 0 {
			t.engine().fail(name, &shape.SizeError{Op: name, Dims: sizes, Axis: 0})
		}
		sum += s
		at = append(at, sum)
	}
	if sum != t.view.Dims[a] {
		t.engine().fail(name, &shape.CountError{Op: name, Dims: sizes, Want: t.view.Dims[a]})
	}
	if len(at) > 0 {
		at = at[:len(at)-1]
	}
	return t.cuts(name, a, at)
}

// Chunk cuts an axis into at most n pieces of equal size; the last may be smaller.
func (t *Tensor) Chunk(n int, axis ...int) []*Tensor {
	const name = "chunk"
	if n <= 0 {
		t.engine().fail(name, &shape.ArgumentError{Op: name, Arg: "chunks", Value: n, Why: "it must be positive"})
	}
	a := t.axisOf(name, axisArg(axis))
	size := (t.view.Dims[a] + n - 1) / n
	if size == 0 { // an empty axis gives n empty pieces
		out := make([]*Tensor, n)
		for i := range out {
			out[i] = t.narrow(a, 0, 0)
		}
		return together(out)
	}
	return t.Split(size, a)
}

// TensorSplit cuts an axis into exactly n pieces, the first ones one larger when the size does not divide.
func (t *Tensor) TensorSplit(n int, axis ...int) []*Tensor {
	t.engine()
	const name = "tensor_split"
	a := t.axisOf(name, axisArg(axis))
	if n <= 0 {
		t.engine().fail(name, &shape.ArgumentError{Op: name, Arg: "sections", Value: n, Why: "it must be positive"})
	}
	size := t.view.Dims[a]
	var at []int
	p := 0
	for i := 0; i < n-1; i++ {
		p += size / n
		if i < size%n {
			p++
		}
		at = append(at, p)
	}
	return t.cuts(name, a, at)
}

// TensorSplitAt cuts an axis at the given positions.
func (t *Tensor) TensorSplitAt(at []int, axis ...int) []*Tensor {
	t.engine()
	const name = "tensor_split"
	a := t.axisOf(name, axisArg(axis))
	size := t.view.Dims[a]
	out := make([]*Tensor, 0, len(at)+1)
	from := 0
	for i := 0; i <= len(at); i++ {
		to := size
		if i < len(at) {
			to = at[i]
		}
		out = append(out, call("slice", op.Attrs{{Name: "dim", Value: a}, {Name: "start", Value: from}, {Name: "end", Value: to}, {Name: "step", Value: 1}}, t))
		from = to
	}
	return together(out)
}

// HSplit, VSplit and DSplit are TensorSplit of the second (of a vector the only), first and third axis.
func (t *Tensor) HSplit(n int) []*Tensor {
	t.engine()
	if len(t.view.Dims) == 1 {
		return t.evenly("hsplit", n, 0)
	}
	return t.evenly("hsplit", n, 1)
}

// VSplit cuts the first axis into n equal pieces.
func (t *Tensor) VSplit(n int) []*Tensor {
	t.engine()
	return t.evenly("vsplit", n, 0)
}

// DSplit cuts the third axis into n equal pieces.
func (t *Tensor) DSplit(n int) []*Tensor {
	t.engine()
	return t.evenly("dsplit", n, 2)
}

func (t *Tensor) evenly(name string, n, axis int) []*Tensor {
	least := max(1, axis+1)
	if name == "vsplit" {
		least = 2
	}
	if len(t.view.Dims) < least {
		t.engine().fail(name, &shape.RankError{Op: name, Dims: t.view.Dims, Min: least, Max: -1})
	}
	if n <= 0 || t.view.Dims[axis]%n != 0 {
		t.engine().fail(name, &shape.ArgumentError{Op: name, Arg: "sections", Value: n, Why: "it does not divide the axis"})
	}
	return t.TensorSplit(n, axis)
}

// Unbind gives the slices along an axis (the first by default), without it.
func (t *Tensor) Unbind(axis ...int) []*Tensor {
	t.engine()
	a := t.axisOf("unbind", axisArg(axis))
	out := make([]*Tensor, t.view.Dims[a])
	for i := range out {
		out[i] = t.selectAt(a, i)
	}
	return together(out)
}

func (t *Tensor) selectAt(axis, i int) *Tensor {
	return call("select", op.Attrs{{Name: "dim", Value: axis}, {Name: "index", Value: i}}, t)
}

// AtLeast1D gives a tensor without axes one of size 1.
func (t *Tensor) AtLeast1D() *Tensor {
	t.engine()
	if len(t.view.Dims) == 0 {
		return call("reshape", op.Attrs{{Name: "shape", Value: []int{1}}}, t)
	}
	return t
}

// AtLeast2D adds axes of size 1 in front until there are two.
func (t *Tensor) AtLeast2D() *Tensor {
	t.engine()
	switch len(t.view.Dims) {
	case 0:
		return call("reshape", op.Attrs{{Name: "shape", Value: []int{1, 1}}}, t)
	case 1:
		return call("unsqueeze", op.Attrs{{Name: "dim", Value: 0}}, t)
	}
	return t
}

// AtLeast3D adds axes of size 1 until there are three: one in front, the others behind.
func (t *Tensor) AtLeast3D() *Tensor {
	t.engine()
	switch len(t.view.Dims) {
	case 0:
		return call("reshape", op.Attrs{{Name: "shape", Value: []int{1, 1, 1}}}, t)
	case 1:
		return call("unsqueeze", op.Attrs{{Name: "dim", Value: -1}}, call("unsqueeze", op.Attrs{{Name: "dim", Value: 0}}, t))
	case 2:
		return call("unsqueeze", op.Attrs{{Name: "dim", Value: -1}}, t)
	}
	return t
}

// TransposeInPlace changes what the handle t sees: two axes swapped. Other handles stay as they are.
func (t *Tensor) TransposeInPlace(a, b int) *Tensor {
	def, attrs := lookup("transpose", op.Attrs{{Name: "dim0", Value: a}, {Name: "dim1", Value: b}})
	return t.review(def, attrs)
}

// SqueezeInPlace drops axes of size 1 of the handle t.
func (t *Tensor) SqueezeInPlace(axes ...int) *Tensor {
	def := op.Must("squeeze")
	attrs, err := def.Complete(op.Attrs{{Name: "dim", Value: intsOr(def, "dim", axes)}})
	if err != nil {
		t.engine().fail("squeeze", err)
	}
	return t.review(def, attrs)
}

// UnsqueezeInPlace adds an axis of size 1 to the handle t.
func (t *Tensor) UnsqueezeInPlace(axis int) *Tensor {
	def, attrs := lookup("unsqueeze", op.Attrs{{Name: "dim", Value: axis}})
	return t.review(def, attrs)
}
