package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Names of the scans.
const (
	Cumsum       Name = "cumsum"
	Cumprod      Name = "cumprod"
	Cummax       Name = "cummax"
	Cummin       Name = "cummin"
	Logcumsumexp Name = "logcumsumexp"
	Diff         Name = "diff"

	CumulativeTrapezoid Name = "cumulative_trapezoid"

	logcumsumexpBack    Name = "logcumsumexp_backward"
	logcumsumexpForward Name = "logcumsumexp_forward"
	Trapezoid           Name = "trapezoid"
)

// scanOps run along one axis.
var scanOps = []Def{
	{
		Name: Cumsum, Torch: "cumsum", Method: "CumSum", InPlace: true, Class: Reduce,
		Doc: "Running sum along an axis.", Example: `tpu.Of(1, 2, 3).CumSum(0)`,
		Params: []Param{tensor("self"), dimParam(), dtypeParam()},
		Shape:  alongShape(Cumsum), DType: realSumType(Cumsum), Grad: cumsumGrad,
		Kernel: kernel.Cumsum, Lower: cumHLO("add", 0), Cost: perInput(1),
	},
	{
		Name: Cumprod, Torch: "cumprod", Method: "CumProd", InPlace: true, Class: Reduce,
		Doc: "Running product along an axis.", Example: `tpu.Of(1, 2, 3).CumProd(0)`,
		Params: []Param{tensor("self"), dimParam(), dtypeParam()},
		Shape:  alongShape(Cumprod), DType: realSumType(Cumprod), Grad: cumprodGrad,
		Kernel: kernel.Cumprod, Lower: cumHLO("multiply", 1), Cost: perInput(1),
	},
	{
		Name: "cumprod_backward", Torch: "cumprod_backward", Class: Reduce,
		Doc:    "Gradient of cumprod: right also where elements are 0.",
		Params: []Param{tensor("self"), tensor("grad"), dimParam()},
		Shape:  likeInput, DType: sameType, Grad: cumprodBackwardGrad,
		Kernel: kernel.CumprodBackward, Lower: cumprodBackwardHLO, Cost: perInput(4),
	},
	{
		Name: "cumprod_forward", Torch: "cumprod", Class: Reduce,
		Doc:    "Change of the running product of self when it changes by v.",
		Params: []Param{tensor("self"), tensor("v"), dimParam()},
		Shape:  likeInput, DType: sameType, Grad: cumprodForwardGrad,
		Kernel: kernel.CumprodForward, Lower: cumprodForwardHLO, Cost: perInput(3),
	},
	{
		Name: "cumprod_second", Torch: "cumprod_backward", Class: Reduce,
		Doc:    "Gradient of cumprod_forward for self.",
		Params: []Param{tensor("self"), tensor("grad"), tensor("v"), dimParam()},
		Shape:  likeInput, DType: sameType, NoGrad: "the third derivative of a running product is not provided",
		Kernel: kernel.CumprodSecond, Lower: cumprodSecondHLO, Cost: perInput(8),
	},
	{
		Name: Cummax, Torch: "cummax", Method: "CumMax", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Running maximum along an axis and its position, the later of equal elements.", Example: `tpu.Of(1, 3, 2).CumMax(0)`,
		Params: []Param{tensor("self"), dimParam()},
		Infer:  valuesAndIndices(Cummax), Grad: cumPickGrad,
		Kernel: kernel.Cummax, Lower: cumExtremeHLO(true), Cost: perInput(2),
	},
	{
		Name: Cummin, Torch: "cummin", Method: "CumMin", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Running minimum along an axis and its position, the later of equal elements.", Example: `tpu.Of(3, 1, 2).CumMin(0)`,
		Params: []Param{tensor("self"), dimParam()},
		Infer:  valuesAndIndices(Cummin), Grad: cumPickGrad,
		Kernel: kernel.Cummin, Lower: cumExtremeHLO(false), Cost: perInput(2),
	},
	{
		Name: Logcumsumexp, Torch: "logcumsumexp", Method: "LogCumSumExp", Class: Reduce, Traits: Composite,
		Doc: "Logarithm of the running sum of e^x along an axis.", Example: `tpu.Of(1.0, 2.0).LogCumSumExp(0)`,
		Params: []Param{tensor("self"), dimParam()},
		Shape:  alongShape(Logcumsumexp), DType: floatOnly(Logcumsumexp), Grad: logcumsumexpGrad,
		Kernel: kernel.Logcumsumexp, Lower: logcumsumexpHLO, Cost: perInputEUP(3),
	},
	{
		Name: logcumsumexpBack, Torch: "_logcumsumexp", Class: Reduce, Traits: Composite,
		Doc:    "For each k the sum over i≥k of grad[i]·e^(self[k]−output[i]).",
		Params: []Param{tensor("grad"), tensor("self"), tensor("output"), dimParam()},
		Shape:  likeInput, DType: sameType, Grad: logcumsumexpBackGrad,
		Kernel: kernel.LogcumsumexpBackward, Lower: logcumsumexpWeightsHLO(false), Cost: perInputEUP(4),
	},
	{
		Name: logcumsumexpForward, Torch: "_logcumsumexp", Class: Reduce, Traits: Composite,
		Doc:    "For each i the sum over k≤i of v[k]·e^(self[k]−output[i]).",
		Params: []Param{tensor("v"), tensor("self"), tensor("output"), dimParam()},
		Shape:  likeInput, DType: sameType, Grad: logcumsumexpForwardGrad,
		Kernel: kernel.LogcumsumexpForward, Lower: logcumsumexpWeightsHLO(true), Cost: perInputEUP(4),
	},
	{
		Name: Diff, Torch: "diff", Method: "Diff", Class: Reduce,
		Doc: "The n-th difference of neighbours along an axis.", Example: `tpu.Of(1, 4, 9).Diff()`,
		Params: []Param{tensor("self"), {Name: "n", Kind: KInt, Default: 1, Doc: "how many times"}, lastDimParam()},
		Shape:  diffShape, DType: orderedOnly(Diff), Grad: diffGrad,
		Kernel: kernel.Diff, Lower: diffHLO, Cost: perInput(1),
	},
	{
		Name: Trapezoid, Torch: "trapezoid.dx", Func: "Trapezoid", Class: Reduce, Traits: Composite,
		Doc: "Integral of samples along an axis by the trapezoidal rule, at equal distance dx or at the points x.", Example: `tpu.Trapezoid(tpu.Of(1.0, 2.0, 3.0))`,
		Params: []Param{tensor("y"), {Name: "x", Kind: KOptTensor, Doc: "points"}, {Name: "dx", Kind: KFloat, Default: 1.0, Dynamic: true, Doc: "distance"}, lastDimParam()},
		Shape:  trapezoidShape, DType: realFloating, Grad: trapezoidGrad,
		Kernel: kernel.Trapezoid, Lower: trapezoidHLO, Cost: perInput(3),
	},
	{
		Name: CumulativeTrapezoid, Torch: "cumulative_trapezoid.dx", Func: "CumulativeTrapezoid", Class: Reduce, Traits: Composite,
		Doc: "Running integral of samples along an axis by the trapezoidal rule, at equal distance dx or at the points x.", Example: `tpu.CumulativeTrapezoid(tpu.Of(1.0, 2.0, 3.0))`,
		Params: []Param{tensor("y"), {Name: "x", Kind: KOptTensor, Doc: "points"}, {Name: "dx", Kind: KFloat, Default: 1.0, Dynamic: true, Doc: "distance"}, lastDimParam()},
		Shape:  cumulativeShape, DType: realFloating, Grad: cumulativeGrad,
		Kernel: kernel.CumulativeTrapezoid, Lower: cumulativeHLO, Cost: perInput(4),
	},
}

// alongShape checks the axis and keeps the shape.
func alongShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		_, err := shape.Axis(string(n), a.Int("dim"), len(in[0].Dims))
		return in[0].Dims, err
	}
}

// valuesAndIndices infers two results of the shape of the input.
func valuesAndIndices(n Name) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		t, err := orderedOnly(n)(in, a)
		if err != nil {
			return nil, err
		}
		dims, err := alongShape(n)(in, a)
		return []shape.Spec{{DType: t, Dims: dims}, {DType: dtype.I64, Dims: dims}}, err
	}
}

// axis gives the one axis of a call; false for a 0-d operand.
func (c *Call) axis() (int, bool) {
	axes := c.axes()
	if len(axes) != 1 {
		return 0, false
	}
	return axes[0], true
}

// reversed is f of x turned around along the axis, turned back: a sum from the end.
func (k calc) reversed(x Value, axis int, f func(Value) Value) Value {
	flip := at("dims", []int{axis})
	return k.Do("flip", flip, f(k.Do("flip", flip, x)))
}

// suffixSum adds up from each position to the end.
func (k calc) suffixSum(x Value, axis int) Value {
	return k.reversed(x, axis, func(v Value) Value { return k.Do(Cumsum, at("dim", axis), v) })
}

func cumsumGrad(b Builder, c *Call, dy []Value) []Value {
	k, t := calc{b}, c.In[0].Spec().DType
	axis, ok := c.axis()
	if !ok {
		return []Value{k.to(dy[0], t)}
	}
	return []Value{k.to(k.suffixSum(dy[0], axis), t)}
}

func cumprodGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	g := k.Do("cumprod_backward", at("dim", c.Attrs.Int("dim")), k.to(x, dy[0].Spec().DType), dy[0])
	return []Value{k.to(g, x.Spec().DType)}
}

// cumprodBackwardGrad: the rule is linear in grad, and its transpose is cumprod_forward.
func cumprodBackwardGrad(b Builder, c *Call, dy []Value) []Value {
	dim := at("dim", c.Attrs.Int("dim"))
	return []Value{
		b.Do("cumprod_second", dim, c.In[0], c.In[1], dy[0]),
		b.Do("cumprod_forward", dim, c.In[0], dy[0]),
	}
}

func cumprodForwardGrad(b Builder, c *Call, dy []Value) []Value {
	dim := at("dim", c.Attrs.Int("dim"))
	return []Value{
		b.Do("cumprod_second", dim, c.In[0], dy[0], c.In[1]),
		b.Do("cumprod_backward", dim, c.In[0], dy[0]),
	}
}

// cumPickGrad adds dy at the positions of the running extremes.
func cumPickGrad(b Builder, c *Call, dy []Value) []Value {
	if dy[0] == nil {
		return []Value{nil}
	}
	axis, ok := c.axis()
	if !ok {
		return dy[:1]
	}
	return []Value{calc{b}.putAlong(c.In[0], axis, c.Out[1], dy[0])}
}

// logcumsumexpGrad is Σ over i≥k of dy[i]·e^(x[k]−y[i]).
func logcumsumexpGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do(logcumsumexpBack, c.Attrs, dy[0], c.In[0], c.Out[0])}
}

// logcumsumexpBackGrad and logcumsumexpForwardGrad: the two rows are linear in
// their first operand and transposes of each other.
func logcumsumexpBackGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	t := k.Do(logcumsumexpForward, c.Attrs, dy[0], c.In[1], c.In[2])
	return []Value{t, k.mul(dy[0], c.Out[0]), k.neg(k.mul(c.In[0], t))}
}

func logcumsumexpForwardGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	t := k.Do(logcumsumexpBack, c.Attrs, dy[0], c.In[1], c.In[2])
	return []Value{t, k.mul(c.In[0], t), k.neg(k.mul(dy[0], c.Out[0]))}
}

func diffShape(in []shape.Spec, a Attrs) ([]int, error) {
	if len(in[0].Dims) == 0 {
		return nil, &shape.RankError{Op: string(Diff), Dims: in[0].Dims, Min: 1, Max: -1}
	}
	axis, err := shape.Axis(string(Diff), a.Int("dim"), len(in[0].Dims))
	if err != nil {
		return nil, err
	}
	n := a.Int("n")
	if n < 0 {
		return nil, &shape.ArgumentError{Op: string(Diff), Arg: "n", Value: n, Why: "below 0"}
	}
	dims := append([]int{}, in[0].Dims...)
	dims[axis] = max(0, dims[axis]-n)
	return dims, nil
}

// diffGrad undoes one difference at a time: dx[i] = dy[i−1] − dy[i].
func diffGrad(b Builder, c *Call, dy []Value) []Value {
	k, g := calc{b}, dy[0]
	axis, _ := c.axis()
	if g.Spec().Dims[axis] == 0 {
		return []Value{k.zeros(c.In[0])}
	}
	for range c.Attrs.Int("n") {
		edge := like(g)
		edge.Dims = append([]int{}, edge.Dims...)
		edge.Dims[axis] = 1
		zero := k.Full(edge, 0)
		g = k.sub(k.Do("cat", at("dim", axis), zero, g), k.Do("cat", at("dim", axis), g, zero))
	}
	return []Value{g}
}

func trapezoidShape(in []shape.Spec, a Attrs) ([]int, error) {
	rank := len(in[0].Dims)
	axis, err := shape.Axis(string(Trapezoid), a.Int("dim"), rank)
	if err != nil {
		return nil, err
	}
	if rank == 0 {
		return nil, &shape.RankError{Op: string(Trapezoid), Dims: in[0].Dims, Min: 1, Max: -1}
	}
	if len(in) > 1 && in[1].Valid() {
		x := in[1].Dims
		if len(x) == 0 || len(x) == 1 && x[0] != in[0].Dims[axis] || len(x) > 1 && !shape.EqualDims(x, in[0].Dims) {
			return nil, &shape.MismatchError{Op: string(Trapezoid), Left: in[0], Right: in[1], Axis: axis, Why: "points and samples differ"}
		}
	}
	return keptDims(in[0].Dims, []int{axis}, false), nil
}

// slice takes n elements of an axis from start.
func (k calc) slice(x Value, axis, start, n int) Value {
	return k.Do("narrow", at("dim", axis, "start", start, "length", n), x)
}

// trapezoidPoints sees the points along the axis of y.
func trapezoidPoints(k calc, c *Call, axis int) Value {
	x := c.In[1]
	if len(x.Spec().Dims) == 1 {
		dims := make([]int, len(c.In[0].Spec().Dims))
		for i := range dims {
			dims[i] = 1
		}
		dims[axis] = x.Spec().Dims[0]
		x = k.reshape(x, dims)
	}
	return x
}

func trapezoidGrad(b Builder, c *Call, dy []Value) []Value {
	k, y := calc{b}, c.In[0]
	axis, _ := c.axis()
	if y.Spec().Dims[axis] < 2 {
		return []Value{k.zeros(y), nil}[:len(c.In)]
	}
	return intervalGrad(k, c, axis, k.keep(dy[0], y.Spec(), []int{axis}))
}

// cumulativeGrad: interval i counts in the results from i on.
func cumulativeGrad(b Builder, c *Call, dy []Value) []Value {
	k, y := calc{b}, c.In[0]
	axis, _ := c.axis()
	if y.Spec().Dims[axis] < 2 {
		return []Value{k.zeros(y), nil}[:len(c.In)]
	}
	return intervalGrad(k, c, axis, k.suffixSum(dy[0], axis))
}

// intervalGrad gives the gradients of samples and points from g, that of the
// integral over each interval (or over all of them, with size 1).
func intervalGrad(k calc, c *Call, axis int, g Value) []Value {
	y := c.In[0]
	n := y.Spec().Dims[axis]
	zero := func(v Value) Value {
		edge := like(v)
		edge.Dims = append([]int{}, edge.Dims...)
		edge.Dims[axis] = 1
		return k.Full(edge, 0)
	}
	after := func(v Value) Value { return k.Do("cat", at("dim", axis), zero(v), v) }
	before := func(v Value) Value { return k.Do("cat", at("dim", axis), v, zero(v)) }
	inner := append([]int{}, y.Spec().Dims...)
	inner[axis] = n - 1
	if len(c.In) < 2 || c.In[1] == nil {
		w := k.to(k.expand(k.mul(g, c.Attrs.Float("dx")/2), inner), y.Spec().DType)
		return []Value{k.add(after(w), before(w)), nil}[:len(c.In)]
	}
	x := trapezoidPoints(k, c, axis)
	d := k.sub(k.slice(x, axis, 1, n-1), k.slice(x, axis, 0, n-1))
	// Each interval of width d gives g·d/2 to the samples at both its ends.
	w := k.to(k.expand(k.div(k.mul(g, d), 2), inner), y.Spec().DType)
	gy := k.add(after(w), before(w))
	s := k.expand(k.div(k.mul(g, k.add(k.slice(y, axis, 1, n-1), k.slice(y, axis, 0, n-1))), 2), inner)
	gx := k.sub(after(s), before(s))
	return []Value{gy, k.reshape(k.fit(gx, like(x)), c.In[1].Spec().Dims)}
}

// cumulativeShape has one result for each interval.
func cumulativeShape(in []shape.Spec, a Attrs) ([]int, error) {
	if _, err := trapezoidShape(in, a); err != nil {
		return nil, err
	}
	axis, _ := shape.Axis("", a.Int("dim"), len(in[0].Dims))
	dims := append([]int{}, in[0].Dims...)
	dims[axis] = max(0, dims[axis]-1)
	return dims, nil
}
