package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// bagRows are reductions of table rows by bags of indices.
func bagRows() []Def {
	return []Def{
		{Name: "embedding_bag", Torch: "embedding_bag", Func: "EmbeddingBag", Class: Index, Traits: Composite,
			Doc:     "Sums, averages or takes the largest of table rows bag by bag: rows of input, or the stretches that begin at offsets.",
			Example: `tpu.EmbeddingBag(tpu.I64.Of(0, 1).Reshape(1, 2), tpu.Ones(4, 3))`,
			Params: []Param{tensor("input"), tensor("weight"), {Name: "offsets", Kind: KOptTensor, Doc: "where each bag begins in an input of one axis"},
				{Name: "per_sample_weights", Kind: KOptTensor, Doc: "factors of the rows, mode sum alone"},
				{Name: "mode", Kind: KString, Default: "mean", Doc: "sum, mean or max"},
				{Name: "include_last_offset", Kind: KBool, Default: false, Doc: "the last offset is the end"},
				{Name: "padding_idx", Kind: KInt, Default: noPadding, Doc: "a row that does not count"}},
			Shape: bagShape, DType: bagType,
			Grad: bagGrad, Kernel: kernel.EmbeddingBag, Lower: lowerBag, Cost: bagCost, Indices: embeddingIndices},
		{Name: "bag_of", Torch: "_embedding_bag", Class: Index,
			Doc:     "The bag each index of an embedding bag belongs to.",
			Example: `tpu.EmbeddingBag(tpu.I64.Of(0, 1).Reshape(1, 2), tpu.Ones(4, 3))`,
			Params:  []Param{tensor("input"), {Name: "offsets", Kind: KOptTensor}},
			Shape:   flatShape, DType: indexType, NoGrad: "its result is an integer",
			Kernel: kernel.BagOf, Lower: lowerBagOf, Cost: perElement(1, VPU)},
	}
}

func flatShape(in []shape.Spec, _ Attrs) ([]int, error) { return []int{in[0].Size()}, nil }

func bagType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	if !in[1].DType.IsFloat() {
		return dtype.Invalid, &TypeError{Op: "embedding_bag", Arg: "weight", DType: in[1].DType, Want: "a float"}
	}
	if len(in) > 3 && in[3].Valid() && in[3].DType != in[1].DType {
		return dtype.Invalid, &TypesError{Op: "embedding_bag", Left: in[1], Right: in[3]}
	}
	return embeddingType(in, a)
}

func bagShape(in []shape.Spec, a Attrs) ([]int, error) {
	const name = "embedding_bag"
	idx, w := in[0], in[1]
	if w.Rank() != 2 {
		return nil, wrongRank(name, "weight", w, 2, 2)
	}
	mode := a.Str("mode")
	if !slices.Contains([]string{"sum", "mean", "max"}, mode) {
		return nil, &shape.ArgumentError{Op: name, Arg: "mode", Value: mode, Why: "it is none of sum, mean, max"}
	}
	has := func(i int) bool { return len(in) > i && in[i].Valid() }
	if has(3) && mode != "sum" {
		return nil, &shape.ArgumentError{Op: name, Arg: "mode", Value: mode, Why: "only sums have weights of the samples"}
	}
	if has(3) && !shape.EqualDims(in[3].Dims, idx.Dims) {
		return nil, &shape.MismatchError{Op: name, Left: idx, Right: in[3], Axis: -1, Why: "each index needs one weight"}
	}
	switch {
	case idx.Rank() == 2 && has(2):
		return nil, &shape.ArgumentError{Op: name, Arg: "offsets", Value: in[2], Why: "the rows of the input are the bags"}
	case idx.Rank() == 2:
		return []int{idx.Dims[0], w.Dims[1]}, nil
	case idx.Rank() != 1:
		return nil, wrongRank(name, "input", idx, 1, 2)
	case !has(2):
		return nil, &shape.ArgumentError{Op: name, Arg: "offsets", Value: "none", Why: "an input of one axis needs them"}
	case in[2].Rank() != 1:
		return nil, wrongRank(name, "offsets", in[2], 1, 1)
	}
	n := in[2].Dims[0]
	if a.Bool("include_last_offset") {
		if n == 0 {
			return nil, &shape.ArgumentError{Op: name, Arg: "offsets", Value: fmt.Sprint(in[2]), Why: "the last offset is missing"}
		}
		n--
	}
	return []int{n, w.Dims[1]}, nil
}

func bagCost(in, out []shape.Spec, _ Attrs) Cost {
	n := int64(in[0].Size()) * int64(in[1].Dims[1])
	return Cost{FLOPs: n, VPUOps: n, Unit: VPU}
}

// bagGrad sends the gradient of every bag to the rows it is made of. Of the
// largest, all that equal it get a share.
func bagGrad(b Builder, c *Call, dy []Value) []Value {
	idx, w, g := c.In[0], c.In[1], dy[0]
	n, d := shape.Size(dims(idx)), dims(w)[1]
	out := make([]Value, len(c.In))
	var offsets, factors Value
	if len(c.In) > 2 {
		offsets = c.In[2]
	}
	if len(c.In) > 3 {
		factors = c.In[3]
	}
	flat := reshaped(b, idx, n)
	bag := b.Do("bag_of", nil, idx, offsets)
	ofBag := func(x Value) Value { return b.Do("index_select", attr("dim", 0), x, bag) }
	// 1 for each index that counts, [n,1].
	t := w.Spec().DType
	counts := b.Full(shape.Spec{DType: t, Dims: []int{n, 1}}, 1)
	if p := c.Attrs.Int("padding_idx"); p != noPadding {
		if p < 0 {
			p += dims(w)[0]
		}
		pad := b.Do("eq", nil, unsqueezed(b, flat, 1), b.Scalar(float64(p)))
		counts = b.Do("where", nil, pad, zeros(b, counts), counts)
	}
	each := b.Do("mul", nil, ofBag(g), counts)
	switch c.Attrs.Str("mode") {
	case "mean":
		size := b.Do("index_add", attr("dim", 0), b.Full(shape.Spec{DType: t, Dims: []int{dims(g)[0], 1}}, 0), bag, counts)
		size = b.Do("where", nil, b.Do("eq", nil, size, b.Scalar(0)), b.Scalar(1), size)
		each = b.Do("div", nil, each, ofBag(size))
	case "max":
		rows := b.Do("index_select", attr("dim", 0), w, flat)
		mine := b.Do("where", nil, b.Do("eq", nil, rows, ofBag(c.Out[0])), b.Do("expand", attr("sizes", []int{n, d}), counts), zeros(b, rows))
		share := b.Do("index_add", attr("dim", 0), b.Full(shape.Spec{DType: t, Dims: dims(g)}, 0), bag, mine)
		share = b.Do("where", nil, b.Do("eq", nil, share, b.Scalar(0)), b.Scalar(1), share)
		each = b.Do("div", nil, b.Do("mul", nil, each, mine), ofBag(share))
	}
	if factors != nil {
		if c.Needs[3] {
			rows := b.Do("index_select", attr("dim", 0), w, flat)
			out[3] = reshaped(b, reduceTo(b, b.Do("mul", nil, each, rows), []int{n, 1}), dims(factors)...)
		}
		each = b.Do("mul", nil, each, reshaped(b, factors, n, 1))
	}
	if c.Needs[1] {
		out[1] = b.Do("index_add", attr("dim", 0), zeros(b, w), flat, each)
	}
	return out
}

// bagHLO counts the offsets up to each position, without the first.
func bagHLO(w *stablehlo.Writer, idx, offsets stablehlo.Value) stablehlo.Value {
	n := idx.Spec.Size()
	s := shape.Spec{DType: indexHLO, Dims: []int{n}}
	if idx.Spec.Rank() == 2 {
		return w.Do("divide", s, "", w.Iota(s, 0), w.Splat(s, float64(max(idx.Spec.Dims[1], 1))))
	}
	grid := shape.Spec{DType: indexHLO, Dims: []int{n, offsets.Spec.Dims[0]}}
	begun := w.Compare("GE", w.Iota(grid, 0), w.BroadcastInDim(w.Convert(offsets, indexHLO), grid.Dims, []int{1}))
	k := w.Reduce("add", w.Convert(begun, indexHLO), []int{1}, 0)
	return w.Do("maximum", s, "", w.Do("subtract", s, "", k, w.Splat(s, 1)), w.Splat(s, 0))
}

func lowerBagOf(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	var offsets stablehlo.Value
	if len(c.In) > 1 {
		offsets = c.In[1]
	}
	return []stablehlo.Value{w.Convert(bagHLO(w, c.In[0], offsets), c.Out[0].DType)}
}

func lowerBag(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	idx, table, out := c.In[0], c.In[1], c.Out[0]
	var offsets, factors stablehlo.Value
	if len(c.In) > 2 {
		offsets = c.In[2]
	}
	if len(c.In) > 3 {
		factors = c.In[3]
	}
	n, d := idx.Spec.Size(), table.Spec.Dims[1]
	if n == 0 || out.Size() == 0 {
		return []stablehlo.Value{w.Splat(out, 0)}
	}
	flat := flatHLO(w, idx)
	bag := bagHLO(w, idx, offsets)
	rows := wideHLO(w, w.TakeAxis(table, flat, 0))
	t := rows.Spec.DType
	mode := c.Attrs.Str("mode")
	body, neutral := reduceBody(map[bool]string{true: "amax", false: "sum"}[mode == "max"], t)
	if factors.ID != "" {
		rows = w.Do("multiply", rows.Spec, "", rows, w.BroadcastInDim(flatHLO(w, w.Convert(factors, t)), rows.Spec.Dims, []int{0}))
	}
	counts := w.Splat(shape.Spec{DType: t, Dims: []int{n, d}}, 1)
	if p := c.Attrs.Int("padding_idx"); p != noPadding {
		if p < 0 {
			p += table.Spec.Dims[0]
		}
		pad := w.BroadcastInDim(w.Compare("EQ", flat, w.Splat(flat.Spec, float64(p))), rows.Spec.Dims, []int{0})
		counts = w.Select(pad, w.Splat(counts.Spec, 0), counts)
		rows = w.Select(pad, w.Splat(rows.Spec, neutral), rows)
	}
	wide := shape.Spec{DType: t, Dims: out.Dims}
	r := putSlicesHLO(w, body, w.Splat(wide, neutral), bag, rows, 0)
	if mode == "sum" {
		return []stablehlo.Value{w.Convert(r, out.DType)}
	}
	size := putSlicesHLO(w, "add", w.Splat(wide, 0), bag, counts, 0)
	if mode == "max" {
		r = w.Select(w.Compare("EQ", size, w.Splat(wide, 0)), w.Splat(wide, 0), r)
	} else {
		r = w.Do("divide", wide, "", r, w.Do("maximum", wide, "", size, w.Splat(wide, 1)))
	}
	return []stablehlo.Value{w.Convert(r, out.DType)}
}
