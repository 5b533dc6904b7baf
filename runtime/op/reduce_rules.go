package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Parameters that reductions share.
func dimsParam() Param {
	return Param{Name: "dim", Kind: KInts, Default: []int(nil), Doc: "axes to reduce; none: all"}
}
func dimParam() Param     { return Param{Name: "dim", Kind: KInt, Doc: "axis"} }
func lastDimParam() Param { return Param{Name: "dim", Kind: KInt, Default: -1, Doc: "axis"} }
func keepParam() Param {
	return Param{Name: "keepdim", Kind: KBool, Default: false, Doc: "keep reduced axes as size 1"}
}
func dtypeParam() Param {
	return Param{Name: "dtype", Kind: KDType, Default: dtype.Invalid, Doc: "element type to convert to first"}
}

// axesOf gives the axes that a call reduces: the attribute dim, an int or a
// list; an empty list means all.
func axesOf(op Name, x shape.Spec, a Attrs) ([]int, error) {
	var axes []int
	switch d := a.Get("dim").(type) {
	case int:
		axes = []int{d}
	case []int:
		axes = d
	}
	if len(axes) == 0 {
		axes = make([]int, len(x.Dims))
		for i := range axes {
			axes[i] = i
		}
		return axes, nil
	}
	axes, err := shape.Axes(string(op), axes, len(x.Dims))
	if err != nil {
		return nil, err
	}
	slices.Sort(axes)
	return axes, nil
}

// axes is axesOf for a call that was accepted; the axis 0 of a 0-d operand is none.
func (c *Call) axes() []int { return callAxes(c.In[0].Spec(), c.Attrs) }

func callAxes(x shape.Spec, a Attrs) []int {
	axes, _ := axesOf("", x, a)
	if len(x.Dims) == 0 {
		return nil
	}
	return axes
}

// countOf is how many elements one result of a reduction comes from.
func countOf(x shape.Spec, axes []int) int {
	n := 1
	for _, a := range axes {
		if a < len(x.Dims) {
			n *= x.Dims[a]
		}
	}
	return n
}

// reduced gives the shape without the reduced axes.
func reduced(op Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		axes, err := axesOf(op, in[0], a)
		if err != nil {
			return nil, err
		}
		return keptDims(in[0].Dims, axes, a.Bool("keepdim")), nil
	}
}

// reducedSome is reduced, and refuses to reduce an axis of size 0.
func reducedSome(op Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	rule := reduced(op)
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		dims, err := rule(in, a)
		if err != nil {
			return nil, err
		}
		for _, x := range callAxes(in[0], a) {
			if in[0].Dims[x] == 0 {
				return nil, &EmptyError{op, in[0], x}
			}
		}
		return dims, nil
	}
}

// reducedOne is reducedSome over one axis or all.
func reducedOne(op Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	rule := reducedSome(op)
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		if d := a.Ints("dim"); len(d) > 1 {
			return nil, &shape.ArgumentError{Op: string(op), Arg: "dim", Value: d, Why: "more than one axis"}
		}
		return rule(in, a)
	}
}

// scalarShape is the shape of a result over everything.
func scalarShape([]shape.Spec, Attrs) ([]int, error) { return []int{}, nil }

// valueAndIndex infers the results of a reduction along one axis that also says where.
func valueAndIndex(op Name) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	rule, ordered := reducedSome(op), orderedOnly(op)
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		if _, err := ordered(in, a); err != nil {
			return nil, err
		}
		dims, err := rule(in, a)
		if err != nil {
			return nil, err
		}
		if k := a.Get("k"); k != nil {
			n := countOf(in[0], callAxes(in[0], a))
			if k := k.(int); k < 1 || k > n {
				return nil, &shape.IndexError{Op: string(op), Index: k, Axis: a.Int("dim"), Size: n}
			}
		}
		return []shape.Spec{{DType: in[0].DType, Dims: dims}, {DType: dtype.I64, Dims: dims}}, nil
	}
}

// sumType is the type of a sum: dtype when given, I64 for integers and bools.
func sumType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if t := a.DType("dtype"); t != dtype.Invalid {
		return t, nil
	}
	if in[0].DType.Kind() < dtype.KindFloat {
		return dtype.I64, nil
	}
	return in[0].DType, nil
}

// realSumType is sumType without complex numbers.
func realSumType(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		t, err := sumType(in, a)
		if err == nil && (t.Kind() == dtype.KindComplex || in[0].DType.Kind() == dtype.KindComplex) {
			return dtype.Invalid, &TypeError{Op: string(n), Arg: "input", DType: in[0].DType, Want: "a real number"}
		}
		return t, err
	}
}

// meanType is floatOnly, and lets complex numbers be.
func meanType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if in[0].DType.IsComplex() && (a.DType("dtype") == dtype.Invalid || a.DType("dtype").IsComplex()) {
		if t := a.DType("dtype"); t != dtype.Invalid {
			return t, nil
		}
		return in[0].DType, nil
	}
	return floatOnly(Mean)(in, a)
}

// momentType is the type of a variance: floatOnly without the types of eight bits and fewer.
func momentType(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	rule := floatOnly(n)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		t, err := rule(in, a)
		if err == nil && t.Bits() < 16 {
			return dtype.Invalid, &TypeError{Op: string(n), Arg: "input", DType: t, Want: "a float of 16 bits or more"}
		}
		return t, err
	}
}

// orderedPosition is the type of a position among elements that have an order.
func orderedPosition(n Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	rule := orderedOnly(n)
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		_, err := rule(in, a)
		return dtype.I64, err
	}
}

// floatOnly gives the type of the first input, or the attribute dtype, and refuses what is no float.
func floatOnly(op Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		t := a.DType("dtype")
		if t == dtype.Invalid {
			t = in[0].DType
		}
		if !t.IsFloat() {
			return dtype.Invalid, &TypeError{Op: string(op), Arg: "input", DType: t, Want: "a float"}
		}
		return t, nil
	}
}

// orderedOnly gives the type of the first input and refuses complex numbers.
func orderedOnly(op Name) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, _ Attrs) (dtype.DType, error) {
		if in[0].DType.Kind() == dtype.KindComplex {
			return dtype.Invalid, &TypeError{Op: string(op), Arg: "input", DType: in[0].DType, Want: "real"}
		}
		return in[0].DType, nil
	}
}

// truthType is Bool, but U8 stays U8.
func truthType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if in[0].DType == dtype.U8 {
		return dtype.U8, nil
	}
	return dtype.Bool, nil
}

// positionType is I64, the type of positions and counts.
func positionType([]shape.Spec, Attrs) (dtype.DType, error) { return dtype.I64, nil }

// perInput charges n vector operations for each element of the first input.
func perInput(n int64) func(in, out []shape.Spec, a Attrs) Cost {
	return func(in, _ []shape.Spec, _ Attrs) Cost {
		e := int64(in[0].Size())
		return Cost{FLOPs: n * e, VPUOps: n * e, XLUOps: e / 8, Unit: VPU}
	}
}

// perInputEUP is perInput with one transcendental function for each element.
func perInputEUP(n int64) func(in, out []shape.Spec, a Attrs) Cost {
	return func(in, _ []shape.Spec, _ Attrs) Cost {
		e := int64(in[0].Size())
		return Cost{FLOPs: (n + 1) * e, VPUOps: n * e, EUPOps: e, XLUOps: e / 8, Unit: VPU}
	}
}

// perSort charges a bitonic sort: log²(n)/2 passes over the elements.
func perSort(in, _ []shape.Spec, a Attrs) Cost {
	e := int64(in[0].Size())
	n := max(2, countOf(in[0], callAxes(in[0], a)))
	log := int64(0)
	for 1<<log < n {
		log++
	}
	passes := log * (log + 1) / 2
	return Cost{FLOPs: passes * e, VPUOps: 4 * passes * e, XLUOps: passes * e, Unit: XLU}
}
