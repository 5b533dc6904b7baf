package selftest

import (
	"github.com/tpush/tpush/runtime/conformance"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
)

// moreForms are PyTorch's functions that the tensor layer has with other
// arguments: options in place of positions, lists in place of single numbers.
func moreForms() map[string]func(c *composite) []*tpu.Tensor {
	return map[string]func(c *composite) []*tpu.Tensor{
		"T": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			axes := make([]int, x.Rank())
			for i := range axes {
				axes[i] = x.Rank() - 1 - i
			}
			return list1(x.Permute(axes...))
		},
		"unbind":      func(c *composite) []*tpu.Tensor { return c.t(0).Unbind(c.dim(1, 0)) },
		"unbind_copy": func(c *composite) []*tpu.Tensor { return copied(c.t(0).Unbind(c.dim(1, 0))) },
		"chunk": func(c *composite) []*tpu.Tensor {
			return c.t(0).Chunk(whole(c.num(1, "chunks", 1)), c.dim(2, 0))
		},
		"unsafe_chunk": func(c *composite) []*tpu.Tensor {
			return copied(c.t(0).Chunk(whole(c.num(1, "chunks", 1)), c.dim(2, 0)))
		},
		"broadcast_to": func(c *composite) []*tpu.Tensor { return list1(c.t(0).BroadcastTo(c.sizes(1, "size", 1, 0)...)) },
		"to":           converted,
		"diff": func(c *composite) []*tpu.Tensor {
			n, dim := whole(c.num(1, "n", 1)), c.dim(2, -1)
			x := c.t(0)
			if n == 0 {
				return list1(x.Clone())
			}
			xs := []*tpu.Tensor{x}
			if p := c.tensor(3, "prepend"); p != nil {
				xs = []*tpu.Tensor{p, x}
			}
			if a := c.tensor(4, "append"); a != nil {
				xs = append(xs, a)
			}
			if len(xs) > 1 {
				x = tpu.Cat(dim, xs...)
			}
			return list1(x.Diff(tpu.DiffOptions{N: n, Dim: dim}))
		},
		"arange": func(c *composite) []*tpu.Tensor {
			start, end, step := any(0), c.num(1, "end", nil), c.num(2, "step", 1)
			if end == nil {
				end = c.num(0, "", 0)
			} else {
				start = c.num(0, "start", 0)
			}
			for _, v := range []*any{&start, &end, &step} {
				if b, ok := (*v).(bool); ok {
					*v = map[bool]int{false: 0, true: 1}[b]
				}
			}
			t := tpu.DType(0)
			if _, f := step.(float64); !f {
				_, a := start.(float64)
				if _, b := end.(float64); !a && !b {
					t = tpu.I64 // Go numbers would give i32
				}
			}
			return list1(c.dtype(t).ArangeStep(start, end, step))
		},
		"polygamma": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			n := c.num(1, "n", nil)
			if x == nil { // special.polygamma(n, x)
				x, n = c.t(1), c.num(0, "n", 0)
			}
			return list1(x.Polygamma(whole(n)))
		},
		"repeat_interleave": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Attrs = map[string]any{}
			for k, v := range c.r.Attrs {
				if k != "output_size" { // says what the repeats say
					r.Attrs[k] = v
				}
			}
			if len(r.Inputs) == 1 && len(r.Attrs) == 0 {
				x := c.t(0)
				return list1(tpu.I64.Arange(x.Size()).RepeatEach(x))
			}
			return c.ts.row(&r)
		},
		"norm": func(c *composite) []*tpu.Tensor {
			if c.r.Op != "linalg.norm" {
				return c.ts.row(c.r)
			}
			o := tpu.LinalgNormOptions{Ord: c.order(1, "ord"), KeepDim: yes(c.num(3, "keepdim", false))}
			if c.r.Attrs["dim"] != nil || len(c.r.Inputs) > 2 && c.r.Inputs[2].Kind != conformance.None {
				o.Dim = c.sizes(2, "dim", 1, 0)
			}
			x := c.t(0)
			if s, ok := c.r.Attrs["dtype"].(string); ok {
				d, _ := dtype.Parse(s)
				x = x.To(tpu.DType(d))
			}
			return list1(x.LinalgNorm(o))
		},
		"adaptive_max_pool1d": adaptiveMax(1), "adaptive_max_pool2d": adaptiveMax(2), "adaptive_max_pool3d": adaptiveMax(3),
		"fractional_max_pool2d": fractional(2), "fractional_max_pool3d": fractional(3),
		"scaled_dot_product_attention": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Attrs = map[string]any{}
			for k, v := range c.r.Attrs {
				if k == "dropout_p" {
					if float(v) > 0 {
						panic(skip("random"))
					}
					continue
				}
				r.Attrs[k] = v
			}
			return c.ts.row(&r)
		},
		"_scaled_dot_product_flash_attention_for_cpu": func(c *composite) []*tpu.Tensor {
			out, lse := tpu.AttentionWithLogSumExp(c.t(0), c.t(1), c.t(2), tpu.ScaledDotProductAttentionOptions{AttnMask: c.tensor(-1, "attn_mask"), IsCausal: yes(c.num(4, "is_causal", false))})
			return []*tpu.Tensor{out, lse}
		},
		"batch_norm": func(c *composite) []*tpu.Tensor {
			if x := c.t(0); x.Rank() == 1 && x.Size() == 0 {
				return list1(x.Clone())
			}
			return c.ts.row(c.r)
		},
		"atleast_1d": eachOf((*tpu.Tensor).AtLeast1D), "atleast_2d": eachOf((*tpu.Tensor).AtLeast2D), "atleast_3d": eachOf((*tpu.Tensor).AtLeast3D),
		"cov": func(c *composite) []*tpu.Tensor {
			return list1(c.t(0).Cov(tpu.CovOptions{Correction: c.num(1, "correction", nil), FWeights: c.tensor(-1, "fweights"), AWeights: c.tensor(-1, "aweights")}))
		},
		"corrcoef": func(c *composite) []*tpu.Tensor { return list1(c.t(0).CorrCoef()) },
		"pdist":    func(c *composite) []*tpu.Tensor { return list1(c.t(0).PDist(float(c.num(1, "p", 2.0)))) },
		"histogram": func(c *composite) []*tpu.Tensor {
			h, e := c.t(0).Histogram(c.bins(c.r.Inputs[1]), c.histogramOptions())
			return []*tpu.Tensor{h, e}
		},
		"histogramdd": func(c *composite) []*tpu.Tensor {
			var bins []any
			if c.r.Inputs[1].Kind == conformance.List {
				for _, o := range c.r.Inputs[1].Items {
					bins = append(bins, c.bins(o))
				}
			} else {
				for range c.t(0).Dim(-1) {
					bins = append(bins, c.bins(c.r.Inputs[1]))
				}
			}
			h, edges := c.t(0).HistogramDD(bins, c.histogramOptions())
			return append([]*tpu.Tensor{h}, edges...)
		},
		"unravel_index": func(c *composite) []*tpu.Tensor { return c.t(0).UnravelIndex(c.sizes(1, "shape", 1, 0)...) },
		"gradient": func(c *composite) []*tpu.Tensor {
			o := tpu.GradientOptions{EdgeOrder: whole(c.num(-1, "edge_order", 1))}
			switch d := c.r.Attrs["dim"].(type) {
			case int:
				o.Dims = []int{d}
			case []any:
				o.Dims = ints(d)
			}
			switch s := c.r.Attrs["spacing"].(type) {
			case nil:
			case []any:
				for _, v := range s {
					if m, ok := v.(map[string]any); ok {
						v = c.t(m["input"].(int))
					}
					o.Spacing = append(o.Spacing, v)
				}
			default:
				o.Spacing = []any{s}
			}
			return c.t(0).Gradient(o)
		},
		"_segment_reduce": segments, "segment_reduce": segments,
		"rrelu": func(c *composite) []*tpu.Tensor {
			return list1(c.t(0).RReLU(float(c.num(1, "lower", 1.0/8)), float(c.num(2, "upper", 1.0/3)), yes(c.num(3, "training", false))))
		},
		"linear_cross_entropy": func(c *composite) []*tpu.Tensor {
			o := tpu.CrossEntropyOptions{Weight: c.tensor(-1, "weight"), Reduction: c.text(-1, "reduction", "mean")}
			if v := c.num(-1, "ignore_index", nil); v != nil {
				o.IgnoreIndex = v
			}
			o.LabelSmoothing = float(c.num(-1, "label_smoothing", 0.0))
			return list1(tpu.LinearCrossEntropy(c.t(0), c.t(1), c.t(2), c.tensor(-1, "linear_bias"), o))
		},
		"torch._scaled_mm": func(c *composite) []*tpu.Tensor {
			return list1(tpu.ScaledMM(c.t(0), c.t(1), c.t(2), c.t(3), c.tensor(4, "bias"), c.dtype(c.t(0).DType())))
		},
		"upsample_bilinear": upsample("bilinear", true), "upsample_nearest": upsample("nearest", false),
		"_upsample_bilinear2d_aa": smoothed("bilinear"), "_upsample_bicubic2d_aa": smoothed("bicubic"),
		"grid_sampler_2d": gridSampler, "grid_sampler_3d": gridSampler, "grid_sampler": gridSampler,
		"_softmax_backward_data": func(c *composite) []*tpu.Tensor {
			return tpu.Apply("softmax_backward", op.Attrs{{Name: "dim", Value: c.dim(2, -1)}}, c.t(0), c.t(1))
		},
		"_log_softmax_backward_data": func(c *composite) []*tpu.Tensor {
			return tpu.Apply("log_softmax_backward", op.Attrs{{Name: "dim", Value: c.dim(2, -1)}}, c.t(0), c.t(1))
		},
		"native_group_norm": func(c *composite) []*tpu.Tensor {
			y, mean, rstd := tpu.NativeGroupNorm(c.t(0), whole(c.num(6, "group", 1)), tpu.GroupNormOptions{Weight: c.t(1), Bias: c.t(2), Eps: float(c.num(7, "eps", 1e-5))})
			return []*tpu.Tensor{y, mean, rstd}
		},
		"_native_batch_norm_legit": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Op = "native_batch_norm"
			if len(r.Inputs) == 6 { // the form without running statistics
				in := append([]conformance.Operand{}, r.Inputs[:3]...)
				r.Inputs = append(append(in, conformance.Operand{}, conformance.Operand{}), r.Inputs[3:]...)
			}
			out := c.ts.row(&r)
			if !yes(r.Inputs[5].Number) { // PyTorch's CPU leaves the statistics out
				none := c.t(0).DType().Zeros(0)
				out[1], out[2] = none, none
			}
			return out
		},
		"_batch_norm_with_update": func(c *composite) []*tpu.Tensor {
			r := *c.r
			r.Op = "native_batch_norm"
			in := append([]conformance.Operand{}, r.Inputs[:5]...)
			r.Inputs = append(append(in, conformance.Operand{Kind: conformance.Scalar, Number: true}), r.Inputs[5:]...)
			return append(c.ts.row(&r), tpu.U8.Zeros(0))
		},
		"_chunk_cat": func(c *composite) []*tpu.Tensor {
			return list1(tpu.ChunkCat(c.dim(1, 0), whole(c.num(2, "num_chunks", 1)), c.list(0)...))
		},
		"masked.median": func(c *composite) []*tpu.Tensor {
			x := c.t(0)
			if !x.DType().IsFloat() {
				x = x.To(tpu.F32)
			}
			return list1(tpu.MaskedMedian(x, c.tensor(-1, "mask"), c.dim(1, 0), yes(c.num(-1, "keepdim", false))))
		},
		"stft": func(c *composite) []*tpu.Tensor {
			n := whole(c.num(1, "n_fft", 0))
			o := tpu.STFTOptions{Hop: whole(c.num(2, "hop_length", 0)), Window: c.tensor(-1, "window"), PadMode: c.text(-1, "pad_mode", "reflect"),
				NotCenter: !yes(c.num(-1, "center", true)), Normalized: yes(c.num(-1, "normalized", false)), TwoSided: !yes(c.num(-1, "onesided", true))}
			return list1(c.t(0).STFT(n, o).Pairs())
		},
	}
}

// eachOf applies a function to one tensor or to each of a list.
func eachOf(f func(*tpu.Tensor) *tpu.Tensor) func(c *composite) []*tpu.Tensor {
	return func(c *composite) []*tpu.Tensor {
		var out []*tpu.Tensor
		for _, x := range c.tensorsOf() {
			out = append(out, f(x))
		}
		return out
	}
}

// dtype is the keyword of that name, or another type.
func (c *composite) dtype(or tpu.DType) tpu.DType {
	for _, k := range []string{"dtype", "out_dtype"} {
		if s, ok := c.r.Attrs[k].(string); ok {
			if d, ok := dtype.Parse(s); ok {
				return tpu.DType(d)
			}
		}
	}
	return or
}

// converted is Tensor.to in its forms: a type, a device, another tensor.
func converted(c *composite) []*tpu.Tensor {
	x := c.t(0)
	t := c.dtype(x.DType())
	for i, o := range c.r.Inputs[1:] {
		switch o.Kind {
		case conformance.Tensor:
			t = c.t(i + 1).DType()
		default:
			if d, ok := dtype.Parse(o.Str); ok && o.Str != "" {
				t = tpu.DType(d)
			}
		}
	}
	return list1(x.To(t))
}

// bins is a number of bins or a tensor of edges.
func (c *composite) bins(o conformance.Operand) any {
	if o.Kind == conformance.Tensor {
		return c.ts.upload(o.Array)
	}
	return whole(o.Number)
}

func (c *composite) histogramOptions() (o tpu.HistogramOptions) {
	o.Weight, o.Density = c.tensor(-1, "weight"), yes(c.r.Attrs["density"])
	if l, ok := c.r.Attrs["range"].([]any); ok {
		for _, v := range l {
			o.Range = append(o.Range, float(v))
		}
	}
	return o
}

// segments is segment_reduce with lengths or offsets.
func segments(c *composite) []*tpu.Tensor {
	lengths := c.tensor(-1, "lengths")
	if lengths == nil {
		at := c.tensor(-1, "offsets")
		n := at.Dim(-1) - 1
		lengths = at.Narrow(-1, 1, n).Sub(at.Narrow(-1, 0, n))
	}
	return list1(c.t(0).SegmentReduce(c.text(1, "reduce", "sum"), lengths, c.r.Attrs["initial"]))
}

func adaptiveMax(n int) func(c *composite) []*tpu.Tensor {
	return func(c *composite) []*tpu.Tensor {
		name := []string{"", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"}[n]
		r := *c.r
		r.Attrs = map[string]any{}
		for k, v := range c.r.Attrs {
			r.Attrs[k] = v
		}
		if len(r.Inputs) > 2 {
			r.Attrs["return_indices"], r.Inputs = yes(r.Inputs[2].Number), r.Inputs[:2]
		}
		if yes(r.Attrs["return_indices"]) {
			name += "_with_indices"
		}
		delete(r.Attrs, "return_indices")
		r.Op = name
		return c.ts.row(&r)
	}
}

func fractional(n int) func(c *composite) []*tpu.Tensor {
	return func(c *composite) []*tpu.Tensor {
		o := tpu.FractionalMaxPoolOptions{Samples: c.tensor(-1, "_random_samples")}
		switch v := c.r.Attrs["output_size"].(type) {
		case int:
			o.OutputSize = []int{v}
		case []any:
			o.OutputSize = ints(v)
		}
		switch v := c.r.Attrs["output_ratio"].(type) {
		case float64:
			o.OutputRatio = []float64{v}
		case []any:
			for _, x := range v {
				o.OutputRatio = append(o.OutputRatio, float(x))
			}
		}
		out, at := tpu.FractionalMaxPool(c.t(0), c.sizes(1, "kernel_size", n, 1), o)
		if yes(c.r.Attrs["return_indices"]) {
			return []*tpu.Tensor{out, at}
		}
		return list1(out)
	}
}

// smoothed is interpolation with antialiasing, by sizes or factors of each axis.
func smoothed(mode string) func(c *composite) []*tpu.Tensor {
	return func(c *composite) []*tpu.Tensor {
		x := c.t(0)
		var size []int
		if l, ok := c.r.Attrs["output_size"].([]any); ok {
			size = ints(l)
		} else {
			for i, f := range c.r.Attrs["scale_factors"].([]any) {
				size = append(size, int(float64(x.Dim(2+i))*float(f)))
			}
		}
		a := op.Attrs{{Name: "size", Value: size}, {Name: "mode", Value: mode}, {Name: "antialias", Value: true},
			{Name: "align_corners", Value: yes(c.r.Attrs["align_corners"])}}
		for i, name := range []string{"scales_h", "scales_w"} {
			if l, ok := c.r.Attrs["scale_factors"].([]any); ok {
				a = append(a, op.Attr{Name: name, Value: float(l[i])})
			} else if v := c.r.Attrs[name]; v != nil {
				a = append(a, op.Attr{Name: name, Value: float(v)})
			}
		}
		return tpu.Apply("interpolate", a, x)
	}
}

// gridSampler is grid_sample with numbers for the modes.
func gridSampler(c *composite) []*tpu.Tensor {
	o := tpu.GridSampleOptions{Mode: []string{"bilinear", "nearest", "bicubic"}[whole(c.num(2, "interpolation_mode", 0))],
		PaddingMode: []string{"zeros", "border", "reflection"}[whole(c.num(3, "padding_mode", 0))], AlignCorners: yes(c.num(4, "align_corners", false))}
	return list1(tpu.GridSample(c.t(0), c.t(1), o))
}
