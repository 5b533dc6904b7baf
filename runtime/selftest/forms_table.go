package selftest

import (
	"math"

	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
)

// tableOfForms lists the operations that Go programs write in another way. It
// is made at each call: a variable would be an initialization cycle.
func tableOfForms() map[string]func(c *composite) []*tpu.Tensor {
	return map[string]func(c *composite) []*tpu.Tensor{
		"H": transposed, "mH": transposed, "mT": transposed, "adjoint": transposed,
		"positive": self, "conj": self, "conj_physical": self, "resolve_neg": self, "resolve_conj": self, "real": self,
		"argwhere": func(c *composite) []*tpu.Tensor { return list1(c.t(0).Nonzero()) },
		"broadcast_shapes": func(c *composite) []*tpu.Tensor {
			var xs []*tpu.Tensor
			for i := range c.r.Inputs {
				xs = append(xs, tpu.Bool.Empty(c.sizes(i, "", 1, 0)...))
			}
			var out []*tpu.Tensor
			for _, d := range tpu.BroadcastTensors(xs...)[0].Dims() {
				out = append(out, tpu.I64.Scalar(d))
			}
			return out
		},
		"broadcast_tensors": func(c *composite) []*tpu.Tensor { return tpu.BroadcastTensors(c.tensorsOf()...) },
		"block_diag":        func(c *composite) []*tpu.Tensor { return list1(tpu.BlockDiag(c.tensorsOf()...)) },
		"cartesian_prod":    func(c *composite) []*tpu.Tensor { return list1(tpu.CartesianProd(c.tensorsOf()...)) },
		"meshgrid": func(c *composite) []*tpu.Tensor {
			if c.r.Attrs["indexing"] == "xy" {
				return tpu.MeshgridXY(c.tensorsOf()...)
			}
			return tpu.Meshgrid(c.tensorsOf()...)
		},
		"constant_pad_nd": func(c *composite) []*tpu.Tensor {
			return tpu.Apply("pad", op.Attrs{{Name: "pad", Value: c.sizes(1, "pad", 0, 0)}, {Name: "value", Value: c.num(2, "value", 0.0)}}, c.t(0))
		},
		"cov": func(c *composite) []*tpu.Tensor { return list1(cov(c)) },
		"corrcoef": func(c *composite) []*tpu.Tensor {
			v := cov(c)
			if v.Rank() == 0 {
				return list1(v.Div(v))
			}
			d := v.Diagonal().Sqrt()
			return list1(v.Div(d.Unsqueeze(1)).Div(d.Unsqueeze(0)).Clamp(tpu.ClampOptions{Min: -1, Max: 1}))
		},
		"trapz":     func(c *composite) []*tpu.Tensor { a, d := areas(c); return list1(a.Sum(d)) },
		"trapezoid": func(c *composite) []*tpu.Tensor { a, d := areas(c); return list1(a.Sum(d)) },
		"cumulative_trapezoid": func(c *composite) []*tpu.Tensor {
			a, d := areas(c)
			return list1(a.CumSum(d))
		},
		"new_ones":  func(c *composite) []*tpu.Tensor { return list1(full(c.t(0), 1, c.sizes(1, "size", 1, 0), c.r.Attrs)) },
		"new_zeros": func(c *composite) []*tpu.Tensor { return list1(full(c.t(0), 0, c.sizes(1, "size", 1, 0), c.r.Attrs)) },
		"new_full": func(c *composite) []*tpu.Tensor {
			return list1(full(c.t(0), float(c.num(2, "fill_value", 0)), c.sizes(1, "size", 1, 0), c.r.Attrs))
		},
		"scalar_tensor": func(c *composite) []*tpu.Tensor {
			return list1(full(tpu.Scalar(0.0), float(c.r.Inputs[0].Number), nil, c.r.Attrs))
		},
		"nonzero_static": func(c *composite) []*tpu.Tensor {
			at, n := c.t(0).Nonzero(), whole(c.num(1, "size", 0))
			if have := at.Dim(0); have < n {
				at = tpu.Cat(0, at, tpu.I64.Full(whole(c.num(2, "fill_value", -1)), n-have, at.Dim(1)))
			}
			return list1(at.Narrow(0, 0, n))
		},
		"type_as": func(c *composite) []*tpu.Tensor { return list1(c.t(0).To(c.t(1).DType())) },
		"resize":  resized, "resize_": resized, "resize_as": resized, "resize_as_": resized,
		"_safe_softmax": func(c *composite) []*tpu.Tensor {
			x, dim := c.t(0), c.dim(1, -1)
			if s, ok := c.r.Attrs["dtype"].(string); ok && s == "f32" {
				x = x.To(tpu.F32)
			}
			blind := x.Detach().AMaxKeep(dim).Eq(math.Inf(-1))
			return list1(x.MaskedFill(blind, 0).Softmax(dim).MaskedFill(blind, 0))
		},
		"dropout":               func(c *composite) []*tpu.Tensor { return dropped(c, 0.5) },
		"dropout1d":             func(c *composite) []*tpu.Tensor { return dropped(c, 0.5) },
		"dropout2d":             func(c *composite) []*tpu.Tensor { return dropped(c, 0.5) },
		"dropout3d":             func(c *composite) []*tpu.Tensor { return dropped(c, 0.5) },
		"alpha_dropout":         func(c *composite) []*tpu.Tensor { return dropped(c, 0.5) },
		"feature_alpha_dropout": func(c *composite) []*tpu.Tensor { return dropped(c, 0.5) },
		"rrelu": func(c *composite) []*tpu.Tensor {
			lower, upper := float(c.num(1, "lower", 1.0/8)), float(c.num(2, "upper", 1.0/3))
			if yes(c.r.Attrs["training"]) && c.t(0).Size() > 0 {
				panic(skip("random"))
			}
			return tpu.Apply("leaky_relu", op.Attrs{{Name: "negative_slope", Value: (lower + upper) / 2}}, c.t(0))
		},
		"upsample_bilinear": upsample("bilinear", true), "upsample_nearest": upsample("nearest", false),
		"max_unpool1d": unpool(1), "max_unpool2d": unpool(2), "max_unpool3d": unpool(3),
		"max_pool2d_with_indices_backward": func(c *composite) []*tpu.Tensor {
			g, x, at := c.t(0), c.t(1), c.t(len(c.r.Inputs)-1)
			n := x.Rank() - 2
			lead := x.Dims()[:n]
			flat := append(append([]int{}, lead...), x.Dim(-1)*x.Dim(-2))
			one := append(append([]int{}, lead...), g.Dim(-1)*g.Dim(-2))
			return list1(g.DType().Zeros(flat...).ScatterAdd(n, at.Reshape(one...), g.Reshape(one...)).Reshape(x.Dims()...))
		},
		"unsafe_split": pieces,
		"unsafe_chunk": func(c *composite) []*tpu.Tensor {
			return copied(c.t(0).Chunk(whole(c.num(1, "chunks", 1)), c.dim(2, 0)))
		},
		"split": pieces,
		"chunk": func(c *composite) []*tpu.Tensor {
			return c.t(0).Chunk(whole(c.num(1, "chunks", 1)), c.dim(2, 0))
		},
		"split_with_sizes":      pieces,
		"split_with_sizes_copy": func(c *composite) []*tpu.Tensor { return copied(pieces(c)) },
		"unbind_copy":           func(c *composite) []*tpu.Tensor { return copied(c.t(0).Unbind(c.dim(1, 0))) },
		"native_batch_norm": func(c *composite) []*tpu.Tensor {
			x, training, eps := c.t(0), yes(c.num(5, "training", false)), float(c.num(7, "eps", 1e-5))
			y, _, _ := tpu.BatchNorm(x, tpu.BatchNormOptions{Weight: c.t(1), Bias: c.t(2), RunningMean: c.t(3), RunningVar: c.t(4),
				Training: training, Momentum: float(c.num(6, "momentum", 0.1)), Eps: eps})
			if !training {
				return []*tpu.Tensor{y, tpu.Zeros(0), tpu.Zeros(0)}
			}
			var axes []int
			for i := range x.Rank() {
				if i != 1 {
					axes = append(axes, i)
				}
			}
			x32, t := x.To(tpu.F32), x.DType()
			v := x32.VarWith(tpu.VarOptions{Dim: axes, Correction: 0})
			return []*tpu.Tensor{y, x32.Mean(axes...).To(t), v.Add(eps).Rsqrt().To(t)}
		},
		"native_layer_norm": func(c *composite) []*tpu.Tensor {
			x, dims, eps := c.t(0), c.sizes(1, "normalized_shape", 1, 0), float(c.num(4, "eps", 1e-5))
			y := tpu.LayerNorm(x, dims, tpu.LayerNormOptions{Weight: c.t(2), Bias: c.t(3), Eps: eps})
			var axes []int
			for i := range dims {
				axes = append(axes, x.Rank()-len(dims)+i)
			}
			v := x.VarWith(tpu.VarOptions{Dim: axes, Correction: 0, KeepDim: true})
			return []*tpu.Tensor{y, x.MeanKeep(axes...), v.Add(eps).Rsqrt()}
		},
		"_unsafe_masked_index": func(c *composite) []*tpu.Tensor {
			return list1(c.t(0).Index(clamped(c, 2)...).MaskedFill(c.t(1).LogicalNot(), float(c.num(3, "fill", 0))))
		},
		"_unsafe_masked_index_put_accumulate": func(c *composite) []*tpu.Tensor {
			args := []any{c.t(0), c.t(3).MaskedFill(c.t(1).LogicalNot(), 0)}
			args = append(args, clamped(c, 2)...)
			return tpu.Apply("index_put", op.Attrs{{Name: "accumulate", Value: true}}, args...)
		},
		"_segment_reduce": segments, "segment_reduce": segments,
		"multi_head_attention_forward": heads,
		"masked.sum":                   maskedReduce("sum", zeroOf), "masked.prod": maskedReduce("prod", oneOf),
		"masked.amax": maskedReduce("amax", lowest), "masked.amin": maskedReduce("amin", highest),
		"masked.argmax": maskedReduce("argmax", lowest), "masked.argmin": maskedReduce("argmin", highest),
		"masked.mean": maskedMean, "masked.var": maskedVar(false), "masked.std": maskedVar(true),
		"masked.norm": func(c *composite) []*tpu.Tensor {
			x, p := c.t(0), float(c.num(1, "ord", 2.0))
			hide := 0.0
			if p < 0 {
				hide = math.Inf(1)
			}
			x, _ = masked(c, x, "mask", hide)
			return list1(c.reduced("linalg.vector_norm", x, map[string]any{"ord": p}))
		},
		"masked.softmax": along("softmax", lowest, 1), "masked.log_softmax": along("log_softmax", lowest, 1),
		"masked.softmin": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			x, _ = masked(c, x, "mask", highest(x))
			return list1(x.Neg().Softmax(c.dim(1, -1)))
		},
		"masked.cumsum": along("cumsum", zeroOf, 1), "masked.cumprod": along("cumprod", oneOf, 1),
		"masked.logaddexp": func(c *composite) []*tpu.Tensor {
			x, y := c.t(0), c.t(1)
			x, _ = masked(c, x, "input_mask", math.Inf(-1))
			y, _ = masked(c, y, "other_mask", math.Inf(-1))
			return list1(x.LogAddExp(y))
		},
		"masked.normalize": func(c *composite) []*tpu.Tensor {
			x, dim, eps := c.t(0), c.dim(2, -1), 1e-12
			if v, ok := c.r.Attrs["eps"]; ok {
				eps = float(v)
			}
			x, _ = masked(c, x, "mask", 0)
			n := x.NormWith(tpu.NormOptions{Dim: []int{dim}, KeepDim: true, P: float(c.num(1, "ord", 2.0))})
			return list1(x.Div(n.ClampMin(eps)))
		},
		"item": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			switch v := x.Item(); {
			case x.DType().IsFloat():
				return list1(tpu.Scalar(v))
			case x.DType() == tpu.Bool:
				return list1(tpu.Scalar(v != 0))
			}
			return list1(tpu.I64.Scalar(x.Int()))
		},
		"nonzero": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			if !yes(c.r.Attrs["as_tuple"]) {
				return list1(x.Nonzero())
			}
			if x.Rank() == 0 {
				x = x.Reshape(1)
			}
			return x.Nonzero().Unbind(1)
		},
		"scatter": func(c *composite) []*tpu.Tensor {
			reduce, _ := c.r.Attrs["reduce"].(string)
			x, dim, at, src := c.t(0), c.dim(1, 0), c.tensor(2, "index"), c.t(3)
			if src == nil && reduce == "" {
				v := c.num(3, "value", nil)
				if v == nil {
					return c.ts.row(c.r)
				}
				return list1(x.ScatterValue(dim, at, v))
			}
			if src == nil {
				src = x.DType().Full(c.num(3, "value", 0), at.Dims()...)
			}
			switch reduce {
			case "add":
				return list1(x.ScatterAdd(dim, at, src))
			case "multiply":
				return tpu.Apply("scatter_reduce", op.Attrs{{Name: "dim", Value: dim}, {Name: "reduce", Value: "prod"}}, x, at, src)
			}
			return list1(x.Scatter(dim, at, src))
		},
		"isreal":        func(c *composite) []*tpu.Tensor { return list1(tpu.Bool.Ones(c.t(0).Dims()...)) },
		"lift_fresh":    self,
		"reshape_as":    func(c *composite) []*tpu.Tensor { return list1(c.t(0).ReshapeAs(c.t(1))) },
		"histogram":     histogram,
		"unravel_index": unravelIndex,
		"gradient":      gradient,
		"pdist": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			n := x.Dim(0)
			at := tpu.TriuIndices(n, n, tpu.TriuIndicesOptions{Offset: 1})
			d := x.IndexSelect(0, at.Select(0, 0)).Sub(x.IndexSelect(0, at.Select(0, 1)))
			return list1(d.NormWith(tpu.NormOptions{Dim: []int{1}, P: float(c.num(1, "p", 2.0))}))
		},
		"cdist": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Inputs = nil
			for _, o := range c.r.Inputs {
				if o.Kind != conformance.String {
					r.Inputs = append(r.Inputs, o)
				}
			}
			return c.ts.row(&r)
		},
		"linspace": numbers, "logspace": numbers, "arange": numbers,
		"tensor_split": func(c *composite) []*tpu.Tensor { return evenly(c, c.dim(2, 0)) },
		"hsplit": func(c *composite) []*tpu.Tensor {
			if c.r.Inputs[1].Kind != conformance.List {
				return c.t(0).HSplit(whole(c.r.Inputs[1].Number))
			}
			return evenly(c, min(c.t(0).Rank()-1, 1))
		},
		"vsplit": func(c *composite) []*tpu.Tensor {
			if c.r.Inputs[1].Kind != conformance.List {
				return c.t(0).VSplit(whole(c.r.Inputs[1].Number))
			}
			return evenly(c, 0)
		},
		"dsplit": func(c *composite) []*tpu.Tensor {
			if c.r.Inputs[1].Kind != conformance.List {
				return c.t(0).DSplit(whole(c.r.Inputs[1].Number))
			}
			return evenly(c, 2)
		},
		"unfold": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Op = "unfold2d"
			if c.r.Torch != "torch.nn.functional.unfold" {
				r.Op = "unfold"
			}
			return c.ts.row(&r)
		},
		"fold": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Op = "fold2d"
			return c.ts.row(&r)
		},
	}
}

// evenly cuts as tensor_split does: into n pieces, or at positions.
func evenly(c *composite, dim int) []*tpu.Tensor {
	x := c.t(0)
	if len(c.r.Inputs) > 1 {
		switch o := c.r.Inputs[1]; o.Kind {
		case conformance.List:
			return x.TensorSplitAt(c.sizes(1, "", 0, 0), dim)
		case conformance.Tensor:
			if t := c.t(1); t.Rank() > 0 {
				return x.TensorSplitAt(t.Ints(), dim)
			}
			return x.TensorSplit(c.t(1).Int(), dim)
		default:
			return x.TensorSplit(whole(o.Number), dim)
		}
	}
	for _, k := range []string{"indices_or_sections", "indices", "tensor_indices_or_sections"} {
		if l, ok := c.r.Attrs[k].([]any); ok {
			return x.TensorSplitAt(ints(l), dim)
		}
	}
	return x.TensorSplit(attrInt(c.r, "indices_or_sections", attrInt(c.r, "sections", 0)), dim)
}

// numbers reads operands that are tensors of one number.
func numbers(c *composite) []*tpu.Tensor {
	r := *c.r
	r.Inputs = append([]conformance.Operand{}, c.r.Inputs...)
	for i, o := range r.Inputs {
		if o.Kind == conformance.Tensor {
			t := c.t(i)
			r.Inputs[i] = conformance.Operand{Kind: conformance.Scalar, Number: t.Item()}
			if t.DType().IsInt() {
				r.Inputs[i].Number = t.Int()
			}
		}
	}
	return c.ts.row(&r)
}

// resized keeps the numbers in the order they have in memory.
func resized(c *composite) []*tpu.Tensor {
	x := c.t(0)
	dims := c.sizes(1, "size", 1, 0)
	if t := c.t(1); t != nil {
		dims = t.Dims()
	}
	n := 1
	for _, d := range dims {
		n *= d
	}
	if n > x.Size() {
		panic(skip("uninitialized numbers"))
	}
	return list1(x.Clone().Reshape(-1).Narrow(0, 0, n).Reshape(dims...))
}

// clamped gives index tensors of argument i cut to the sizes they point into.
func clamped(c *composite, i int) []any {
	var out []any
	for k, o := range c.r.Inputs[i].Items {
		if o.Kind != conformance.Tensor {
			out = append(out, tpu.Slice(nil, nil))
			continue
		}
		n := c.t(0).Dim(k)
		out = append(out, c.ts.upload(o.Array).Clamp(tpu.ClampOptions{Min: -n, Max: n - 1}))
	}
	return out
}

// segments reduces stretches of the first axis.
func segments(c *composite) []*tpu.Tensor {
	x := c.t(0)
	kind := c.r.Inputs[1].Str
	lengths := c.tensor(-1, "lengths")
	var ends []int
	switch {
	case lengths != nil && lengths.Rank() == 1:
		sum := 0
		for _, n := range lengths.Ints() {
			sum += n
			ends = append(ends, sum)
		}
	case c.tensor(-1, "offsets") != nil && c.tensor(-1, "offsets").Rank() == 1:
		ends = c.tensor(-1, "offsets").Ints()[1:]
	default:
		panic(skip("segments of several axes"))
	}
	start := map[string]float64{"max": math.Inf(-1), "min": math.Inf(1), "prod": 1}[kind]
	initial, given := c.r.Attrs["initial"]
	if given && initial != nil {
		start = float(initial)
	}
	var out []*tpu.Tensor
	from := 0
	for _, to := range ends {
		p := x.Slice(0, from, to)
		var y *tpu.Tensor
		first := p.DType().Full(start, append([]int{1}, x.Dims()[1:]...)...)
		switch {
		case kind == "mean" && to == from:
			v := math.NaN()
			if initial != nil {
				v = float(initial)
			}
			y = p.DType().Full(v, x.Dims()[1:]...)
		case kind == "mean":
			y = p.Sum(0)
			if initial != nil {
				y = y.Add(float(initial))
			}
			y = y.Div(to - from)
		case kind == "sum":
			y = tpu.Cat(0, first, p).Sum(0)
		case kind == "prod":
			y = tpu.Cat(0, first, p).Prod(0)
		case kind == "max":
			y = tpu.Cat(0, first, p).AMax(0)
		default:
			y = tpu.Cat(0, first, p).AMin(0)
		}
		out = append(out, y)
		from = to
	}
	return list1(tpu.Stack(0, out...))
}

// heads is PyTorch's multi_head_attention_forward.
func heads(c *composite) []*tpu.Tensor {
	q, k, v := c.t(0), c.t(1), c.t(2)
	if len(c.r.Inputs) < 13 {
		panic(skip("another form"))
	}
	n := whole(c.r.Inputs[4].Number)
	wIn, bIn, kb, vb, wOut, bOut := c.t(5), c.t(6), c.t(7), c.t(8), c.t(11), c.t(12)
	flat := q.Rank() == 2
	if flat {
		q, k, v = q.Unsqueeze(1), k.Unsqueeze(1), v.Unsqueeze(1)
	}
	ws := []*tpu.Tensor{c.tensor(-1, "q_proj_weight"), c.tensor(-1, "k_proj_weight"), c.tensor(-1, "v_proj_weight")}
	if wIn != nil && ws[0] == nil {
		ws = wIn.Chunk(3)
	}
	bs := []*tpu.Tensor{nil, nil, nil}
	if bIn != nil {
		bs = bIn.Chunk(3)
	}
	lin := func(x *tpu.Tensor, i int) *tpu.Tensor { return tpu.Linear(x, ws[i], tpu.LinearOptions{Bias: bs[i]}) }
	d := q.Dim(2)
	q, k, v = lin(q, 0), lin(k, 1), lin(v, 2)
	b := q.Dim(1)
	mask := c.tensor(-1, "attn_mask")
	if mask != nil && mask.DType() == tpu.Bool {
		mask = mask.To(tpu.F32).Mul(0).MaskedFill(mask, math.Inf(-1))
	}
	grow := func(extra *tpu.Tensor, x *tpu.Tensor) *tpu.Tensor {
		return tpu.Cat(0, x, extra.Reshape(1, 1, x.Dim(2)).Expand(1, b, x.Dim(2)))
	}
	if kb != nil && vb != nil {
		k, v = grow(kb, k), grow(vb, v)
	}
	if yes(c.r.Inputs[9].Number) {
		z := tpu.Zeros(1).To(k.DType()).Expand(k.Dim(2))
		k, v = grow(z, k), grow(z, v)
	}
	split := func(x *tpu.Tensor) *tpu.Tensor { return x.Reshape(x.Dim(0), b, n, x.Dim(2)/n).Permute(1, 2, 0, 3) }
	q, k, v = split(q), split(k), split(v)
	s := q.MatMul(k.T()).Mul(1 / math.Sqrt(float64(d/n)))
	if mask != nil {
		if more := s.Dim(-1) - mask.Dim(-1); more > 0 {
			mask = tpu.Apply("pad", op.Attrs{{Name: "pad", Value: []int{0, more}}}, mask)[0]
		}
		if mask.Rank() == 3 {
			mask = mask.Reshape(b, n, mask.Dim(1), mask.Dim(2))
		}
		s = s.Add(mask)
	}
	w := s.Softmax(-1)
	out := w.MatMul(v).Permute(2, 0, 1, 3).Reshape(q.Dim(2), b, d)
	out = tpu.Linear(out, wOut, tpu.LinearOptions{Bias: bOut})
	w = w.Mean(1)
	if flat {
		out, w = out.Squeeze(1), w.Squeeze(0)
	}
	return []*tpu.Tensor{out, w}
}

// named runs the first input alone through another operation.
func (ts tensors) named(r *conformance.Record, name string) *tpu.Tensor {
	return ts.apply(&conformance.Record{ID: r.ID, Op: name, Inputs: r.Inputs[:1]})[0]
}

// withInfo adds the error codes of a factorization that did not fail: zeros, one for each matrix.
func withInfo(t *tpu.Tensor) []*tpu.Tensor {
	return []*tpu.Tensor{t, tpu.I32.Zeros(t.Dims()[:t.Rank()-2]...)}
}

// histogram counts elements in bins: equal ones between two bounds, or between given edges.
func histogram(c *composite) []*tpu.Tensor {
	x := c.t(0)
	weight := c.tensor(-1, "weight")
	var edges *tpu.Tensor
	if c.r.Inputs[1].Kind == conformance.Tensor {
		edges = c.t(1)
	} else {
		lo, hi := 0.0, 0.0
		if l, ok := c.r.Attrs["range"].([]any); ok {
			lo, hi = float(l[0]), float(l[1])
		} else if x.Size() > 0 {
			lo, hi = x.Min().Item(), x.Max().Item()
		}
		if lo == hi {
			lo, hi = lo-0.5, hi+0.5
		}
		edges = x.DType().Linspace(lo, hi, whole(c.r.Inputs[1].Number)+1)
	}
	n := edges.Size() - 1
	flat := x.Reshape(-1, 1)
	low, high := edges.Narrow(0, 0, n), edges.Narrow(0, 1, n)
	in := flat.Ge(low).LogicalAnd(flat.Lt(high))
	last := tpu.Arange(n).Eq(n - 1).LogicalAnd(flat.Eq(edges.Narrow(0, n, 1)))
	count := in.LogicalOr(last).To(x.DType())
	if weight != nil {
		count = count.Mul(weight.Reshape(-1, 1))
	}
	h := count.Sum(0)
	if yes(c.r.Attrs["density"]) {
		h = h.Div(h.Sum()).Div(high.Sub(low))
	}
	return []*tpu.Tensor{h, edges}
}

// unravelIndex turns flat positions into one position for each axis.
func unravelIndex(c *composite) []*tpu.Tensor {
	x := c.t(0)
	dims := c.sizes(1, "shape", 1, 0)
	out := make([]*tpu.Tensor, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		out[i] = x.Remainder(dims[i])
		x = x.FloorDivide(dims[i])
	}
	return out
}

// gradient estimates the derivative along axes from neighbours; evenly spaced.
func gradient(c *composite) []*tpu.Tensor {
	x := c.t(0)
	if whole(c.num(-1, "edge_order", 1)) != 1 {
		panic(skip("second order edges"))
	}
	var dims []int
	switch d := c.r.Attrs["dim"].(type) {
	case int:
		dims = []int{d}
	case []any:
		dims = ints(d)
	default:
		for i := range x.Rank() {
			dims = append(dims, i)
		}
	}
	var out []*tpu.Tensor
	for i, d := range dims {
		h := 1.0
		switch s := c.r.Attrs["spacing"].(type) {
		case []any:
			if _, ok := s[0].(map[string]any); ok {
				panic(skip("coordinates"))
			}
			h = float(s[i])
		case nil:
		default:
			h = float(s)
		}
		n := x.Dim(d)
		first := x.Narrow(d, 1, 1).Sub(x.Narrow(d, 0, 1))
		last := x.Narrow(d, n-1, 1).Sub(x.Narrow(d, n-2, 1))
		mid := x.Narrow(d, 2, n-2).Sub(x.Narrow(d, 0, n-2)).Div(2)
		out = append(out, tpu.Cat(d, first, mid, last).Div(h))
	}
	return out
}
