package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Names of the order statistics.
const (
	Median       Name = "median"
	MedianDim    Name = "median.dim"
	Nanmedian    Name = "nanmedian"
	NanmedianDim Name = "nanmedian.dim"
	Mode         Name = "mode"
	KthValue     Name = "kthvalue"
	Quantile     Name = "quantile"
	Nanquantile  Name = "nanquantile"
)

func quantileParams() []Param {
	return []Param{
		tensor("self"), operand("q"),
		{Name: "dim", Kind: KInts, Default: []int(nil), Doc: "axis; none: the flattened tensor"},
		keepParam(),
		{Name: "interpolation", Kind: KString, Default: "linear", Doc: "linear, lower, higher, nearest or midpoint"},
	}
}

func ignoreNaN(def bool) Param {
	return Param{Name: "ignore_nan", Kind: KBool, Default: def, Doc: "leave NaN out"}
}

var reduceRankOps = []Def{
	{
		Name: Median, Torch: "median", Method: "Median", Class: Reduce,
		Doc: "Median of all elements, the lower of two middles; NaN when one is NaN.", Example: `tpu.Of(3, 1, 2, 4).Median()`,
		Params: []Param{tensor("self")},
		Shape:  scalarShape, DType: orderedOnly(Median), Grad: extremeGrad,
		Kernel: kernel.Median, Lower: medianHLO(false), Cost: perSort,
	},
	{
		Name: MedianDim, Torch: "median.dim", Method: "MedianAxis", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Median along an axis, the lower of two middles, and its position.", Example: `tpu.Of(3, 1, 2, 4).MedianAxis(0)`,
		Params: []Param{tensor("self"), dimParam(), keepParam()},
		Infer:  valueAndIndex(MedianDim), Grad: pickGrad,
		Kernel: kernel.MedianDim, Lower: medianHLO(false), Cost: perSort,
	},
	{
		Name: Nanmedian, Torch: "nanmedian", Method: "NanMedian", Class: Reduce,
		Doc: "Median of the elements that are not NaN, the lower of two middles.", Example: `tpu.Of(3.0, math.NaN(), 2.0).NanMedian()`,
		Params: []Param{tensor("self")},
		Shape:  scalarShape, DType: orderedOnly(Nanmedian), Grad: extremeGrad,
		Kernel: kernel.Nanmedian, Lower: medianHLO(true), Cost: perSort,
	},
	{
		Name: NanmedianDim, Torch: "nanmedian.dim", Method: "NanMedianAxis", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Median along an axis of the elements that are not NaN, and its position.", Example: `tpu.Of(3.0, math.NaN(), 2.0).NanMedianAxis(0)`,
		Params: []Param{tensor("self"), dimParam(), keepParam()},
		Infer:  valueAndIndex(NanmedianDim), Grad: pickGrad,
		Kernel: kernel.NanmedianDim, Lower: medianHLO(true), Cost: perSort,
	},
	{
		Name: Mode, Torch: "mode", Method: "Mode", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Most frequent element along an axis, the smallest of several, and its last position.", Example: `tpu.Of(1, 2, 2, 3).Mode()`,
		Params: []Param{tensor("self"), lastDimParam(), keepParam()},
		Infer:  valueAndIndex(Mode), Grad: pickGrad,
		Kernel: kernel.Mode, Lower: modeHLO, Cost: perSort,
	},
	{
		Name: KthValue, Torch: "kthvalue", Method: "KthValue", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "The k-th smallest element along an axis, k from 1, and its position.", Example: `tpu.Of(3, 1, 2).KthValue(2)`,
		Params: []Param{tensor("self"), {Name: "k", Kind: KInt, Doc: "rank, from 1"}, lastDimParam(), keepParam()},
		Infer:  valueAndIndex(KthValue), Grad: pickGrad,
		Kernel: kernel.KthValue, Lower: kthHLO, Cost: perSort,
	},
	{
		Name: Quantile, Torch: "quantile", Method: "Quantile", Class: Reduce, Traits: Composite,
		Doc: "Quantiles along an axis, or of all elements, for probabilities q.", Example: `tpu.Of(1.0, 2.0, 4.0).Quantile(0.25)`,
		Params: append(quantileParams(), ignoreNaN(false)),
		Shape:  quantileShape(Quantile), DType: floatOnly(Quantile), Grad: quantileGrad,
		Kernel: kernel.Quantile, Lower: quantileHLO, Cost: perSort,
	},
	{
		Name: Nanquantile, Torch: "nanquantile", Method: "NanQuantile", Class: Reduce, Traits: Composite,
		Doc: "Quantiles of what is not NaN, for probabilities q.", Example: `tpu.Of(1.0, math.NaN(), 4.0).NanQuantile(0.25)`,
		Params: append(quantileParams(), ignoreNaN(true)),
		Shape:  quantileShape(Nanquantile), DType: floatOnly(Nanquantile), Grad: quantileGrad,
		Kernel: kernel.Quantile, Lower: quantileHLO, Cost: perSort,
	},
	{
		Name: "quantile_ranks", Torch: "quantile", Class: Reduce, Results: []string{"lower", "upper", "weight"},
		Doc:    "Positions of the two elements a quantile lies between, and the weight of the upper one.",
		Params: append(quantileParams(), ignoreNaN(false)),
		Infer:  quantileRanksInfer, NoGrad: "positions do not change with the values",
		Kernel: kernel.QuantileRanks, Lower: quantileRanksHLO, Cost: perSort,
	},
}

func quantileShape(n Name) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, a Attrs) ([]int, error) {
		switch how := a.Str("interpolation"); how {
		case "linear", "lower", "higher", "nearest", "midpoint":
		default:
			return nil, &shape.ArgumentError{Op: string(n), Arg: "interpolation", Value: how, Why: "no such rule"}
		}
		if len(in[1].Dims) > 1 {
			return nil, &shape.RankError{Op: string(n), Arg: "q", Dims: in[1].Dims, Min: 0, Max: 1}
		}
		dims, err := reducedOne(n)(in, a)
		if err != nil {
			return nil, err
		}
		if in[0].Size() == 0 && len(a.Ints("dim")) == 0 {
			return nil, &EmptyError{n, in[0], -1}
		}
		return append(append([]int{}, in[1].Dims...), dims...), nil
	}
}

func quantileRanksInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	dims, err := quantileShape("quantile_ranks")(in, a)
	if err != nil {
		return nil, err
	}
	i := shape.Spec{DType: dtype.I64, Dims: dims}
	return []shape.Spec{i, i, {DType: in[0].DType, Dims: dims}}, nil
}

// quantileGrad gives dy·(1−w) to the lower element and dy·w to the upper one.
func quantileGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	xs := x.Spec()
	axes := c.axes()
	r := k.All("quantile_ranks", c.Attrs, c.In[0], c.In[1])
	// The row seen as the last axis, the probabilities as another before it: [q, kept…] → [kept…, q].
	q := 1
	if len(c.In[1].Spec().Dims) == 1 {
		q = c.In[1].Spec().Dims[0]
	}
	kept := keptDims(xs.Dims, axes, false)
	rows, n := shape.Size(kept), countOf(xs, axes)
	flat := k.Full(shape.Of(xs.DType, rows, n), 0)
	turn := func(v Value) Value {
		return k.Do("transpose", at("dim0", 0, "dim1", 1), k.reshape(v, []int{q, rows}))
	}
	g := turn(dy[0])
	w := turn(r[2])
	flat = k.Do("scatter_add", at("dim", 1), flat, turn(r[0]), k.sub(g, k.mul(g, w)))
	flat = k.Do("scatter_add", at("dim", 1), flat, turn(r[1]), k.mul(g, w))
	// Back to the order of x: the reduced axes are last.
	order := append(keptAxes(len(xs.Dims), axes), axes...)
	moved := make([]int, len(order))
	back := make([]int, len(order))
	for i, o := range order {
		moved[i] = xs.Dims[o]
		back[o] = i
	}
	out := k.reshape(flat, moved)
	if len(back) > 1 {
		out = k.Do("permute", at("dims", back), out)
	}
	return []Value{out, quantileSlope(k, c, g, turn(r[0]), turn(r[1]), moved, order, rows)}
}

// quantileSlope is the gradient of the probabilities: what the result rises by
// between two neighbours, times their number; only linear interpolation moves.
// g, lo and hi are [rows,q].
func quantileSlope(k calc, c *Call, g, lo, hi Value, moved, order []int, rows int) Value {
	q := c.In[1]
	if !c.Needs[1] || !q.Spec().DType.IsFloat() || c.Attrs.Str("interpolation") != "linear" {
		return nil
	}
	x := c.In[0]
	if len(order) > 1 {
		x = k.Do("permute", at("dims", order), x)
	}
	n := shape.Size(moved) / max(rows, 1)
	x = k.reshape(x, []int{rows, n})
	read := func(i Value) Value { return k.Do("gather", at("dim", 1), x, i) }
	gaps := Value(k.Scalar(float64(n - 1)))
	if c.Attrs.Bool("ignore_nan") {
		gaps = k.sub(k.to(k.sum(k.eq(x, x), 1), x.Spec().DType), 1)
	}
	slope := k.mul(k.mul(g, k.sub(read(hi), read(lo))), gaps)
	return k.reshape(k.sum(slope, 0), q.Spec().Dims)
}

// keptAxes are the axes of a rank that are not reduced.
func keptAxes(rank int, axes []int) []int {
	reduced := make([]bool, rank)
	for _, a := range axes {
		reduced[a] = true
	}
	var kept []int
	for i, r := range reduced {
		if !r {
			kept = append(kept, i)
		}
	}
	return kept
}
