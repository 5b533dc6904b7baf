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
		"H": transposed, "mH": transposed, "mT": transposed,
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
		"max_unpool1d":          unpool(1), "max_unpool2d": unpool(2), "max_unpool3d": unpool(3),
		"max_pool2d_with_indices_backward": func(c *composite) []*tpu.Tensor {
			g, x, at := c.t(0), c.t(1), c.t(len(c.r.Inputs)-1)
			n := x.Rank() - 2
			lead := x.Dims()[:n]
			flat := append(append([]int{}, lead...), x.Dim(-1)*x.Dim(-2))
			one := append(append([]int{}, lead...), g.Dim(-1)*g.Dim(-2))
			return list1(g.DType().Zeros(flat...).ScatterAdd(n, at.Reshape(one...), g.Reshape(one...)).Reshape(x.Dims()...))
		},
		"unsafe_split":          pieces,
		"split":                 pieces,
		"split_with_sizes":      pieces,
		"split_with_sizes_copy": func(c *composite) []*tpu.Tensor { return copied(pieces(c)) },
		"_unsafe_masked_index": func(c *composite) []*tpu.Tensor {
			return list1(c.t(0).Index(clamped(c, 2)...).MaskedFill(c.t(1).LogicalNot(), float(c.num(3, "fill", 0))))
		},
		"_unsafe_masked_index_put_accumulate": func(c *composite) []*tpu.Tensor {
			args := []any{c.t(0), c.t(3).MaskedFill(c.t(1).LogicalNot(), 0)}
			args = append(args, clamped(c, 2)...)
			return tpu.Apply("index_put", op.Attrs{{Name: "accumulate", Value: true}}, args...)
		},
		"multi_head_attention_forward": heads,
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
		"isreal":     func(c *composite) []*tpu.Tensor { return list1(tpu.Bool.Ones(c.t(0).Dims()...)) },
		"lift_fresh": self,
		"reshape_as": func(c *composite) []*tpu.Tensor { return list1(c.t(0).ReshapeAs(c.t(1))) },
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
		"linspace": numbers, "logspace": numbers,
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

// withInfo adds the error codes of a factorization that did not fail: zeros, one for each matrix.
func withInfo(t *tpu.Tensor) []*tpu.Tensor {
	return []*tpu.Tensor{t, tpu.I32.Zeros(t.Dims()[:t.Rank()-2]...)}
}
