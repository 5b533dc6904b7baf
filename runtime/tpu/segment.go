package tpu

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// SegmentReduce reduces stretches of an axis: kind is sum, mean, max, min or
// prod, and lengths [..., segments] says how long each stretch is, in each of
// the rows before the axis. initial is what a reduction starts from; nil: its
// neutral element, NaN for a mean of nothing.
func (t *Tensor) SegmentReduce(kind string, lengths *Tensor, initial any) *Tensor {
	const name = "segment_reduce"
	e := t.engine()
	axis := len(lengths.view.Dims) - 1
	if axis < 0 || axis >= len(t.view.Dims) || !shape.EqualDims(t.view.Dims[:axis], lengths.view.Dims[:axis]) {
		e.fail(name, &shape.MismatchError{Op: name, Left: t.Spec(), Right: lengths.Spec(), Axis: axis, Why: "the axes before that of the segments must agree"})
	}
	start := map[string]float64{"sum": 0, "mean": 0, "prod": 1, "max": math.Inf(-1), "min": math.Inf(1)}
	neutral, ok := start[kind]
	if !ok {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "reduce", Value: kind, Why: "it is none of sum, mean, max, min, prod"})
	}
	d := t.view.Dims
	rows, n, rest := shape.Size(d[:axis]), d[axis], shape.Size(d[axis+1:])
	segments := lengths.Dim(-1)
	// The segment of every element of the axis: how many segments end at or before it.
	ends := lengths.to(dtype.I64).CumSum(-1).Reshape(rows, 1, segments)
	at := I64.Arange(n).Reshape(1, n, 1).Ge(ends).Sum(2) // [rows,n]
	inside := at.Lt(segments)
	flat := I64.Arange(rows).Mul(segments + 1).Unsqueeze(1).Add(Where(inside, at, segments)).Reshape(rows * n)
	first := neutral
	if initial != nil {
		first = asFloat(initial)
	}
	reduce := map[string]string{"sum": "sum", "mean": "sum", "prod": "prod", "max": "amax", "min": "amin"}[kind]
	base := DType(t.dt).Full(first, rows*(segments+1), rest)
	src := t.Reshape(rows*n, rest)
	out := base.ScatterReduce(0, flat.Unsqueeze(1).expandTo([]int{rows * n, rest}), src, reduce)
	out = out.Reshape(rows, segments+1, rest).narrow(1, 0, segments)
	if kind == "mean" {
		count := lengths.to(t.dt).Reshape(rows, segments, 1)
		empty := count.Eq(0)
		none := math.NaN()
		if initial != nil {
			none = first
		}
		out = Where(empty, none, out.Div(Where(empty, 1.0, count).to(t.dt)))
	}
	return out.Reshape(append(append(append([]int{}, d[:axis]...), segments), d[axis+1:]...)...)
}
