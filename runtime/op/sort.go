package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Names of the rows that order, search and count.
const (
	Sort              Name = "sort"
	Argsort           Name = "argsort"
	Msort             Name = "msort"
	Topk              Name = "topk"
	Unique            Name = "unique"
	UniqueConsecutive Name = "unique_consecutive"
	Searchsorted      Name = "searchsorted"
	Bucketize         Name = "bucketize"
	Bincount          Name = "bincount"
	Histc             Name = "histc"
	Isin              Name = "isin"
)

func flag(name string, def bool, doc string) Param {
	return Param{Name: name, Kind: KBool, Default: def, Doc: doc}
}

func sortParams() []Param {
	return []Param{tensor("self"), lastDimParam(), flag("descending", false, "largest first"),
		flag("stable", false, "equal elements keep their order; they always do here")}
}

// sortOps order elements, search among ordered ones, and count.
var sortOps = []Def{
	{
		Name: Sort, Torch: "sort.stable", Method: "Sort", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "Elements in order along an axis, and where they came from; NaN is the largest.", Example: `tpu.Of(3, 1, 2).Sort()`,
		Params: sortParams(), Infer: valuesAndIndices(Sort), Grad: sortGrad,
		Kernel: kernel.Sort, Lower: sortHLO, Cost: perSort,
	},
	{
		Name: Argsort, Torch: "argsort.stable", Method: "ArgSort", Class: Reduce,
		Doc: "Where the elements in order along an axis come from.", Example: `tpu.Of(3, 1, 2).ArgSort()`,
		Params: sortParams(), Shape: alongShape(Argsort), DType: orderedPosition(Argsort), NoGrad: "the result is a position",
		Kernel: kernel.Argsort, Lower: argsortHLO, Cost: perSort,
	},
	{
		Name: Msort, Torch: "msort", Method: "MSort", Class: Reduce,
		Doc: "Elements in order along the first axis.", Example: `tpu.Of(3, 1, 2).MSort()`,
		Params: []Param{tensor("self")}, Shape: likeInput, DType: orderedOnly(Msort), Grad: msortGrad,
		Kernel: kernel.Msort, Lower: msortHLO, Cost: perSort,
	},
	{
		Name: Topk, Torch: "topk", Method: "TopK", Class: Reduce, Results: []string{"values", "indices"},
		Doc: "The k largest (or smallest) elements along an axis, in order, and where they are.", Example: `tpu.Of(3, 1, 2).TopK(2)`,
		Params: []Param{tensor("self"), {Name: "k", Kind: KInt, Doc: "how many"}, lastDimParam(),
			flag("largest", true, "the largest, else the smallest"), flag("sorted", true, "in order; they always are here")},
		Infer: topkInfer, Grad: sortGrad,
		Kernel: kernel.Topk, Lower: topkHLO, Cost: perSort,
	},
	{
		Name: Unique, Torch: "unique_dim", Method: "Unique", Class: Reduce, Traits: HostSize, Results: []string{"values", "inverse", "counts"},
		Doc: "The distinct elements in order, or the distinct slices along an axis; NaN differs from itself.", Example: `tpu.Of(2, 1, 2).Unique()`,
		Params: []Param{tensor("self"), flag("sorted", true, "in order; they always are here"),
			flag("return_inverse", false, "also which distinct element each one is"),
			flag("return_counts", false, "also how often each occurs"),
			{Name: "dim", Kind: KInts, Default: []int(nil), Doc: "axis whose slices are compared; none: the flattened tensor"}, distinctParam()},
		Infer: uniqueInfer(Unique), Host: uniqueHost(false), NoGrad: "which elements are distinct does not change smoothly",
		Kernel: kernel.Unique, Lower: uniqueHLO(true), Cost: perSort,
	},
	{
		Name: UniqueConsecutive, Torch: "unique_consecutive", Method: "UniqueConsecutive", Class: Reduce, Traits: HostSize, Results: []string{"values", "inverse", "counts"},
		Doc: "The elements that differ from the one before them, or the slices along an axis that do.", Example: `tpu.Of(1, 1, 2, 1).UniqueConsecutive()`,
		Params: []Param{tensor("self"),
			flag("return_inverse", false, "also which run each element belongs to"),
			flag("return_counts", false, "also how long each run is"),
			{Name: "dim", Kind: KInts, Default: []int(nil), Doc: "axis whose slices are compared; none: the flattened tensor"}, distinctParam()},
		Infer: uniqueInfer(UniqueConsecutive), Host: uniqueHost(true), NoGrad: "which elements are distinct does not change smoothly",
		Kernel: kernel.UniqueConsecutive, Lower: uniqueHLO(false), Cost: perInput(2),
	},
	{
		Name: Searchsorted, Torch: "searchsorted.Tensor", Func: "SearchSorted", Class: Reduce,
		Doc: "Where values would be inserted into sorted rows to keep them sorted.", Example: `tpu.SearchSorted(tpu.Of(1, 3, 5), 3)`,
		Params: []Param{tensor("sorted_sequence"), operand("self"), {Name: "sorter", Kind: KOptTensor, Doc: "positions that sort the sequence"},
			flag("out_int32", false, "positions as i32"), flag("right", false, "after equal elements"),
			{Name: "side", Kind: KString, Default: "", Doc: "left or right, instead of right"}},
		Shape: searchShape, DType: placeType, NoGrad: "the result is a position",
		Kernel: kernel.Searchsorted, Lower: searchsortedHLO, Cost: perOutLog, Indices: sorterIndices,
	},
	{
		Name: Bucketize, Torch: "bucketize.Tensor", Func: "Bucketize", Class: Reduce,
		Doc: "Which interval between sorted boundaries each element lies in.", Example: `tpu.Bucketize(tpu.Of(2, 4), tpu.Of(1, 3, 5))`,
		Params: []Param{operand("self"), tensor("boundaries"), flag("out_int32", false, "positions as i32"), flag("right", false, "an element equal to a boundary lies above it")},
		Shape:  bucketShape, DType: placeType, NoGrad: "the result is a position",
		Kernel: kernel.Bucketize, Lower: bucketizeHLO, Cost: perOutLog,
	},
	{
		Name: Bincount, Torch: "bincount", Method: "BinCount", Class: Reduce, Traits: HostSize,
		Doc: "How often each integer from 0 occurs, or the sum of the weights there.", Example: `tpu.Of(0, 2, 2).BinCount()`,
		Params: []Param{tensor("self"), {Name: "weights", Kind: KOptTensor, Doc: "added instead of 1"}, {Name: "minlength", Kind: KInt, Default: 0, Doc: "at least so many bins"},
			{Name: "bins", Kind: KInt, Default: -1, Doc: "how many there are; -1: counted first"}},
		Shape: bincountShape, DType: bincountType, Host: bincountHost, NoGrad: "counts do not change smoothly",
		Kernel: kernel.Bincount, Lower: bincountHLO, Cost: perInput(2), Indices: bincountIndices,
	},
	{
		Name: Histc, Torch: "histc", Method: "Histc", Class: Reduce, Traits: Composite,
		Doc: "How many elements fall into each of equal bins from min to max; both 0: the range of the data.", Example: `tpu.Of(1.0, 2.0, 1.0).Histc(tpu.HistcOptions{Bins: 4})`,
		Params: []Param{tensor("self"), {Name: "bins", Kind: KInt, Default: 100, Doc: "how many bins"},
			{Name: "min", Kind: KFloat, Default: 0.0, Dynamic: true, Doc: "lower end"}, {Name: "max", Kind: KFloat, Default: 0.0, Dynamic: true, Doc: "upper end"}},
		Shape: histcShape, DType: floatOnly(Histc), NoGrad: "counts do not change smoothly",
		Kernel: kernel.Histc, Lower: histcHLO, Cost: perInput(6),
	},
	{
		Name: Isin, Torch: "isin.Tensor_Tensor", Func: "IsIn", Class: Reduce,
		Doc: "Whether each element occurs among the test elements.", Example: `tpu.IsIn(tpu.Of(1, 2, 3), tpu.Of(2, 5))`,
		Params: []Param{operand("elements"), operand("test_elements"), flag("assume_unique", false, "both hold no element twice; makes no difference to the result"),
			flag("invert", false, "whether it does not occur")},
		Shape: likeInput, DType: boolean, NoGrad: "the result is a truth value",
		Kernel: kernel.Isin, Lower: isinHLO, Cost: perInput(4),
	},
}

// sortGrad puts dy back to where the elements came from.
func sortGrad(b Builder, c *Call, dy []Value) []Value {
	if dy[0] == nil {
		return []Value{nil}
	}
	axis, ok := c.axis()
	if !ok {
		return []Value{calc{b}.reshape(dy[0], c.In[0].Spec().Dims)}
	}
	return []Value{calc{b}.putAlong(c.In[0], axis, c.Out[1], dy[0])}
}

func msortGrad(b Builder, c *Call, dy []Value) []Value {
	if len(c.In[0].Spec().Dims) == 0 {
		return dy
	}
	k := calc{b}
	idx := k.Do(Argsort, at("dim", 0), c.In[0])
	return []Value{k.putAlong(c.In[0], 0, idx, dy[0])}
}

func topkInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	out, err := valuesAndIndices(Topk)(in, a)
	if err != nil {
		return nil, err
	}
	axis, _ := shape.Axis("", a.Int("dim"), len(in[0].Dims))
	size := 1
	if len(in[0].Dims) > 0 {
		size = in[0].Dims[axis]
	}
	k := a.Int("k")
	if k < 0 || k > size {
		return nil, &shape.IndexError{Op: string(Topk), Index: k, Axis: axis, Size: size}
	}
	if len(in[0].Dims) == 0 {
		return out, nil
	}
	dims := append([]int{}, in[0].Dims...)
	dims[axis] = k
	for i := range out {
		out[i].Dims = dims
	}
	return out, nil
}

// distinctParam is the attribute that a host read fills in.
func distinctParam() Param {
	return Param{Name: "count", Kind: KInt, Default: -1, Doc: "how many distinct ones there are; -1: counted first"}
}

// hostSize gives the attributes with name set to n.
func hostSize(a Attrs, name string, n int) Attrs {
	out := append(Attrs{}, a...)
	for i := range out {
		if out[i].Name == name {
			out[i].Value = n
		}
	}
	return out
}

func uniqueHost(consecutive bool) func(in []kernel.Array, a Attrs) (Attrs, error) {
	return func(in []kernel.Array, a Attrs) (Attrs, error) {
		if a.Int("count") >= 0 {
			return a, nil
		}
		if _, err := uniqueAxis(Unique, in[0].Spec(), a); err != nil {
			return nil, err
		}
		return hostSize(a, "count", kernel.UniqueCount(in[0], a, consecutive)), nil
	}
}

// uniqueAxis is the axis whose slices are compared, -1 for the flattened tensor.
func uniqueAxis(n Name, x shape.Spec, a Attrs) (int, error) {
	switch d := a.Ints("dim"); len(d) {
	case 0:
		return -1, nil
	case 1:
		axis, err := shape.Axis(string(n), d[0], len(x.Dims))
		if len(x.Dims) == 0 {
			axis = -1
		}
		return axis, err
	default:
		return 0, &shape.ArgumentError{Op: string(n), Arg: "dim", Value: d, Why: "more than one axis"}
	}
}

func uniqueInfer(n Name) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		x, count := in[0], a.Int("count")
		axis, err := uniqueAxis(n, x, a)
		if err != nil {
			return nil, err
		}
		if count < 0 {
			return nil, &shape.ArgumentError{Op: string(n), Arg: "count", Value: count, Why: "it was not counted"}
		}
		values, inverse, counts := []int{count}, x.Dims, []int{count}
		if axis >= 0 {
			values = append([]int{}, x.Dims...)
			values[axis] = count
			inverse = []int{x.Dims[axis]}
		}
		if !a.Bool("return_inverse") {
			inverse = []int{0}
		}
		if !a.Bool("return_counts") {
			counts = []int{0}
		}
		return []shape.Spec{{DType: x.DType, Dims: values}, {DType: dtype.I64, Dims: inverse}, {DType: dtype.I64, Dims: counts}}, nil
	}
}

func bincountHost(in []kernel.Array, a Attrs) (Attrs, error) {
	if a.Int("bins") >= 0 {
		return a, nil
	}
	n, err := kernel.BincountSize(in[0], a.Int("minlength"))
	return hostSize(a, "bins", n), err
}

func searchShape(in []shape.Spec, a Attrs) ([]int, error) {
	seq, v := in[0], in[1]
	if len(seq.Dims) == 0 {
		return nil, &shape.RankError{Op: string(Searchsorted), Arg: "sorted_sequence", Dims: seq.Dims, Min: 1, Max: -1}
	}
	if len(seq.Dims) > 1 && (len(v.Dims) != len(seq.Dims) || !shape.EqualDims(seq.Dims[:len(seq.Dims)-1], v.Dims[:len(v.Dims)-1])) {
		return nil, &shape.MismatchError{Op: string(Searchsorted), Left: seq, Right: v, Axis: -1, Why: "leading sizes differ"}
	}
	if s := a.Str("side"); s != "" && s != "left" && s != "right" {
		return nil, &shape.ArgumentError{Op: string(Searchsorted), Arg: "side", Value: s, Why: "neither left nor right"}
	} else if s == "left" && a.Bool("right") {
		return nil, &shape.ArgumentError{Op: string(Searchsorted), Arg: "side", Value: s, Why: "right says otherwise"}
	}
	if len(in) > 2 && in[2].Valid() && !shape.EqualDims(in[2].Dims, seq.Dims) {
		return nil, &shape.MismatchError{Op: string(Searchsorted), Left: seq, Right: in[2], Axis: -1, Why: "sequence and sorter differ"}
	}
	return v.Dims, nil
}

func bucketShape(in []shape.Spec, _ Attrs) ([]int, error) {
	if len(in[1].Dims) != 1 {
		return nil, &shape.RankError{Op: string(Bucketize), Arg: "boundaries", Dims: in[1].Dims, Min: 1, Max: 1}
	}
	return in[0].Dims, nil
}

func placeType(_ []shape.Spec, a Attrs) (dtype.DType, error) {
	if a.Bool("out_int32") {
		return dtype.I32, nil
	}
	return dtype.I64, nil
}

func sorterIndices(in []shape.Spec, _ Attrs) []IndexCheck {
	if len(in) < 3 || !in[2].Valid() {
		return nil
	}
	axis := len(in[0].Dims) - 1
	return []IndexCheck{{Index: 2, Into: 0, Axis: axis, Lo: 0, Hi: int64(in[0].Dims[axis]) - 1}}
}

// perOutLog charges a binary search for each element of the result.
func perOutLog(in, out []shape.Spec, _ Attrs) Cost {
	n := int64(out[0].Size()) * 16
	return Cost{VPUOps: n, XLUOps: n, Unit: VPU}
}

func bincountShape(in []shape.Spec, a Attrs) ([]int, error) {
	if len(in[0].Dims) != 1 {
		return nil, &shape.RankError{Op: string(Bincount), Dims: in[0].Dims, Min: 1, Max: 1}
	}
	if n := a.Int("minlength"); n < 0 {
		return nil, &shape.ArgumentError{Op: string(Bincount), Arg: "minlength", Value: n, Why: "below 0"}
	}
	if len(in) > 1 && in[1].Valid() && !shape.EqualDims(in[0].Dims, in[1].Dims) {
		return nil, &shape.MismatchError{Op: string(Bincount), Left: in[0], Right: in[1], Axis: 0, Why: "input and weights differ"}
	}
	n := a.Int("bins")
	if n < 0 {
		return nil, &shape.ArgumentError{Op: string(Bincount), Arg: "bins", Value: n, Why: "it was not counted"}
	}
	return []int{n}, nil
}

func bincountType(in []shape.Spec, _ Attrs) (dtype.DType, error) {
	if !in[0].DType.IsInt() {
		return dtype.Invalid, &TypeError{Op: string(Bincount), Arg: "input", DType: in[0].DType, Want: "an integer"}
	}
	switch {
	case len(in) < 2 || !in[1].Valid():
		return dtype.I64, nil
	case in[1].DType == dtype.F32:
		return dtype.F32, nil
	}
	return dtype.F64, nil
}

func bincountIndices(in []shape.Spec, _ Attrs) []IndexCheck {
	return []IndexCheck{{Index: 0, Into: -1, Lo: 0, Hi: 1<<31 - 1}}
}

func histcShape(_ []shape.Spec, a Attrs) ([]int, error) {
	n := a.Int("bins")
	if n < 1 {
		return nil, &shape.ArgumentError{Op: string(Histc), Arg: "bins", Value: n, Why: "below 1"}
	}
	if lo, hi := a.Float("min"), a.Float("max"); lo > hi {
		return nil, &shape.ArgumentError{Op: string(Histc), Arg: "max", Value: hi, Why: "below min"}
	}
	return []int{n}, nil
}
