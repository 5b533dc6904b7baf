package op

import (
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Names of the reductions.
const (
	Sum          Name = "sum"
	Mean         Name = "mean"
	Prod         Name = "prod"
	Nansum       Name = "nansum"
	Nanmean      Name = "nanmean"
	CountNonzero Name = "count_nonzero"
	AnyOf        Name = "any"
	AllOf        Name = "all"
	Amax         Name = "amax"
	Amin         Name = "amin"
	Aminmax      Name = "aminmax"
	Max          Name = "max"
	Min          Name = "min"
	MaxDim       Name = "max.dim"
	MinDim       Name = "min.dim"
	Argmax       Name = "argmax"
	Argmin       Name = "argmin"
)

// reduceOps are sums, extremes and truth over axes. Statistics and order
// statistics have their own files and are appended to this table.
var reduceOps = join(reduceSumOps, reduceExtremeOps, reduceStatOps, reduceMatrixOps, reduceRankOps)

// join concatenates tables.
func join(ts ...[]Def) []Def {
	var all []Def
	for _, t := range ts {
		all = append(all, t...)
	}
	return all
}

var reduceSumOps = []Def{
	{
		Name: Sum, Torch: "sum.dim_IntList", Method: "Sum", Class: Reduce,
		Doc: "Sum over the given axes, or all; integers and bools add up in i64.", Example: `tpu.Of(1, 2, 3).Sum()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), dtypeParam()},
		Shape:  reduced(Sum), DType: sumType, Grad: sumGrad,
		Kernel: kernel.Sum, Lower: reduceHLO("add", 0), Cost: perInput(1),
	},
	{
		Name: Mean, Torch: "mean.dim", Method: "Mean", Class: Reduce,
		Doc: "Mean over the given axes, or all.", Example: `tpu.Of(1.0, 2.0, 6.0).Mean()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), dtypeParam()},
		Shape:  reduced(Mean), DType: meanType, Grad: meanGrad,
		Kernel: kernel.Mean, Lower: meanHLO, Cost: perInput(1),
	},
	{
		Name: Prod, Torch: "prod.dim_int", Method: "Prod", Class: Reduce,
		Doc: "Product over the given axes, or all; integers and bools multiply in i64.", Example: `tpu.Of(2, 3, 4).Prod()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), dtypeParam()},
		Shape:  reduced(Prod), DType: realSumType(Prod), Grad: prodGrad,
		Kernel: kernel.Prod, Lower: reduceHLO("multiply", 1), Cost: perInput(1),
	},
	{
		Name: "prod_others", Torch: "prod_backward", Class: Reduce,
		Doc:    "For each element the product of the others along the axes.",
		Params: []Param{tensor("self"), dimsParam()},
		Shape:  likeInput, DType: sameType, Grad: prodOthersGrad,
		Kernel: kernel.ProdOthers, Lower: prodOthersHLO, Cost: perInput(4),
	},
	{
		Name: "prod_others_backward", Torch: "prod_backward", Class: Reduce,
		Doc:    "The change of prod_others along v, transposed.",
		Params: []Param{tensor("self"), tensor("v"), dimsParam()},
		Shape:  likeInput, DType: sameType, NoGrad: "the third derivative of a product is not provided",
		Kernel: kernel.ProdOthersBackward, Lower: prodOthersBackwardHLO, Cost: perInput(8),
	},
	{
		Name: Nansum, Torch: "nansum", Method: "NanSum", Class: Reduce,
		Doc: "Sum over the given axes, or all, with NaN as 0.", Example: `tpu.Of(1.0, math.NaN(), 2.0).NanSum()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), dtypeParam()},
		Shape:  reduced(Nansum), DType: realSumType(Nansum), Grad: nansumGrad,
		Kernel: kernel.Nansum, Lower: nansumHLO, Cost: perInput(2),
	},
	{
		Name: Nanmean, Torch: "nanmean", Method: "NanMean", Class: Reduce,
		Doc: "Mean over the given axes, or all, of what is not NaN.", Example: `tpu.Of(1.0, math.NaN(), 2.0).NanMean()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), dtypeParam()},
		Shape:  reduced(Nanmean), DType: floatOnly(Nanmean), Grad: nanmeanGrad,
		Kernel: kernel.Nanmean, Lower: nanmeanHLO, Cost: perInput(3),
	},
	{
		Name: CountNonzero, Torch: "count_nonzero.dim_IntList", Method: "CountNonzero", Class: Reduce,
		Doc: "How many elements over the given axes, or all, are not 0; NaN counts.", Example: `tpu.Of(0, 1, 2).CountNonzero()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reduced(CountNonzero), DType: positionType, NoGrad: "the result is an integer",
		Kernel: kernel.NonzeroCount, Lower: countHLO, Cost: perInput(2),
	},
	{
		Name: AnyOf, Torch: "any.dims", Method: "Any", Class: Reduce,
		Doc: "Whether an element over the given axes, or all, is not 0; NaN is not 0.", Example: `tpu.Of(0, 1).Any()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reduced(AnyOf), DType: truthType, NoGrad: "the result is a truth value",
		Kernel: kernel.Any, Lower: truthHLO("or", 0), Cost: perInput(1),
	},
	{
		Name: AllOf, Torch: "all.dims", Method: "All", Class: Reduce,
		Doc: "Whether no element over the given axes, or all, is 0.", Example: `tpu.Of(0, 1).All()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reduced(AllOf), DType: truthType, NoGrad: "the result is a truth value",
		Kernel: kernel.All, Lower: truthHLO("and", 1), Cost: perInput(1),
	},
}

var reduceExtremeOps = []Def{
	{
		Name: Amax, Torch: "amax", Method: "AMax", Class: Reduce,
		Doc: "Largest element over the given axes, or all; equal ones share the gradient.", Example: `tpu.Of(1, 3, 2).AMax()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reducedSome(Amax), DType: orderedOnly(Amax), Grad: extremeGrad,
		Kernel: kernel.Amax, Lower: extremeHLO(true), Cost: perInput(1),
	},
	{
		Name: Amin, Torch: "amin", Method: "AMin", Class: Reduce,
		Doc: "Smallest element over the given axes, or all; equal ones share the gradient.", Example: `tpu.Of(1, 3, 2).AMin()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reducedSome(Amin), DType: orderedOnly(Amin), Grad: extremeGrad,
		Kernel: kernel.Amin, Lower: extremeHLO(false), Cost: perInput(1),
	},
	{
		Name: Aminmax, Torch: "aminmax", Method: "AMinMax", Class: Reduce, Results: []string{"min", "max"},
		Doc: "Smallest and largest element over the given axis, or all.", Example: `tpu.Of(1, 3, 2).AMinMax()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Infer:  aminmaxInfer, Grad: aminmaxGrad,
		Kernel: kernel.Aminmax, Lower: aminmaxHLO, Cost: perInput(2),
	},
	{
		Name: Max, Torch: "max", Method: "Max", Class: Reduce,
		Doc: "Largest of all elements; equal ones share the gradient.", Example: `tpu.Of(1, 3, 2).Max()`,
		Params: []Param{tensor("self")},
		Shape:  reducedSome(Max), DType: orderedOnly(Max), Grad: extremeGrad,
		Kernel: kernel.Amax, Lower: extremeHLO(true), Cost: perInput(1),
	},
	{
		Name: Min, Torch: "min", Method: "Min", Class: Reduce,
		Doc: "Smallest of all elements; equal ones share the gradient.", Example: `tpu.Of(1, 3, 2).Min()`,
		Params: []Param{tensor("self")},
		Shape:  reducedSome(Min), DType: orderedOnly(Min), Grad: extremeGrad,
		Kernel: kernel.Amin, Lower: extremeHLO(false), Cost: perInput(1),
	},
	{
		Name: MaxDim, Torch: "max.dim", Method: "MaxAxis", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Largest element along an axis and its first position, which alone gets the gradient.", Example: `tpu.Of(1, 3, 2).MaxAxis(0)`,
		Params: []Param{tensor("self"), dimParam(), keepParam()},
		Infer:  valueAndIndex(MaxDim), Grad: pickGrad,
		Kernel: kernel.MaxDim, Lower: argPairHLO(true), Cost: perInput(2),
	},
	{
		Name: MinDim, Torch: "min.dim", Method: "MinAxis", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Smallest element along an axis and its first position, which alone gets the gradient.", Example: `tpu.Of(1, 3, 2).MinAxis(0)`,
		Params: []Param{tensor("self"), dimParam(), keepParam()},
		Infer:  valueAndIndex(MinDim), Grad: pickGrad,
		Kernel: kernel.MinDim, Lower: argPairHLO(false), Cost: perInput(2),
	},
	{
		Name: Argmax, Torch: "argmax", Method: "ArgMax", Class: Reduce,
		Doc: "First position of the largest element along one axis, or in the flattened tensor.", Example: `tpu.Of(1, 3, 2).ArgMax()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reducedOne(Argmax), DType: orderedPosition(Argmax), NoGrad: "the result is a position",
		Kernel: kernel.Argmax, Lower: argHLO(true), Cost: perInput(2),
	},
	{
		Name: Argmin, Torch: "argmin", Method: "ArgMin", Class: Reduce,
		Doc: "First position of the smallest element along one axis, or in the flattened tensor.", Example: `tpu.Of(1, 3, 2).ArgMin()`,
		Params: []Param{tensor("self"), dimsParam(), keepParam()},
		Shape:  reducedOne(Argmin), DType: orderedPosition(Argmin), NoGrad: "the result is a position",
		Kernel: kernel.Argmin, Lower: argHLO(false), Cost: perInput(2),
	},
}

func aminmaxInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	t, err := orderedOnly(Aminmax)(in, a)
	if err != nil {
		return nil, err
	}
	dims, err := reducedOne(Aminmax)(in, a)
	if err != nil {
		return nil, err
	}
	s := shape.Spec{DType: t, Dims: dims}
	return []shape.Spec{s, s}, nil
}

// sumGrad stretches dy over the axes.
func sumGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0].Spec()
	return []Value{k.expand(k.to(k.keep(dy[0], x, c.axes()), x.DType), x.Dims)}
}

func meanGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0].Spec()
	g := k.div(k.keep(dy[0], x, c.axes()), countOf(x, c.axes()))
	return []Value{k.expand(k.to(g, x.DType), x.Dims)}
}

func prodGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	axes := c.axes()
	others := k.Do("prod_others", at("dim", axes), k.to(x, dy[0].Spec().DType))
	return []Value{k.to(k.mul(others, k.keep(dy[0], x.Spec(), axes)), x.Spec().DType)}
}

func prodOthersGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{b.Do("prod_others_backward", c.Attrs, c.In[0], dy[0])}
}

func nansumGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	g := k.to(k.keep(dy[0], x.Spec(), c.axes()), x.Spec().DType)
	return []Value{k.where(k.eq(x, x), g, 0)}
}

func nanmeanGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	axes := c.axes()
	valid := k.eq(x, x)
	n := k.to(k.Do(Sum, at("dim", axes, "keepdim", true), valid), dy[0].Spec().DType)
	g := k.div(k.keep(dy[0], x.Spec(), axes), n)
	return []Value{k.where(valid, k.to(g, x.Spec().DType), 0)}
}

// extremeShare gives dy to the elements that equal the result, in equal shares.
func extremeShare(k calc, x, y, dy Value, axes []int) Value {
	hit := k.eq(x, k.keep(y, x.Spec(), axes))
	n := k.to(k.Do(Sum, at("dim", axes, "keepdim", true), hit), x.Spec().DType)
	return k.where(hit, k.div(k.keep(dy, x.Spec(), axes), n), 0)
}

func extremeGrad(b Builder, c *Call, dy []Value) []Value {
	return []Value{extremeShare(calc{b}, c.In[0], c.Out[0], dy[0], c.axes())}
}

func aminmaxGrad(b Builder, c *Call, dy []Value) []Value {
	k := calc{b}
	var g Value
	for i := range 2 {
		if dy[i] == nil {
			continue
		}
		s := extremeShare(k, c.In[0], c.Out[i], dy[i], c.axes())
		if g != nil {
			s = k.add(g, s)
		}
		g = s
	}
	return []Value{g}
}

// pickGrad gives dy to the element at the returned position.
func pickGrad(b Builder, c *Call, dy []Value) []Value {
	if dy[0] == nil {
		return []Value{nil}
	}
	k, x := calc{b}, c.In[0]
	axes := c.axes()
	if len(axes) == 0 { // 0-d: the element itself
		return []Value{k.reshape(dy[0], x.Spec().Dims)}
	}
	return []Value{k.putAlong(x, axes[0], k.keep(c.Out[1], x.Spec(), axes), k.keep(dy[0], x.Spec(), axes))}
}

// putAlong makes a tensor like x of zeros with v added at positions idx of the axis.
func (k calc) putAlong(x Value, axis int, idx, v Value) Value {
	return k.Do("scatter_add", at("dim", axis), k.zeros(x), idx, v)
}

// takeAlong reads elements of x at positions idx of the axis.
func (k calc) takeAlong(x Value, axis int, idx Value) Value {
	return k.Do("gather", at("dim", axis), x, idx)
}
