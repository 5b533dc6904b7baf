package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
)

// poolingOps reduce or resample windows of the last axes.
var poolingOps = slices.Concat(maxPoolRows(), avgPoolRows(), []Def{
	{Name: "interpolate", Torch: "nn.functional.interpolate", Func: "Interpolate", Class: Reduce, Traits: Composite,
		Doc:     "Resizes the axes after batch and channel: nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area.",
		Example: `tpu.Interpolate(tpu.Ones(1, 1, 2, 3), 4, 6)`,
		Params: append([]Param{tensor("input"), {Name: "size", Kind: KInts, Default: []int(nil), Doc: "spatial sizes of the result; one number is for all"}},
			resizeParams()...),
		Shape: interpolateShape, DType: floatType("interpolate"),
		Grad: interpolateGrad, Kernel: kernel.Resample(kernel.InterpolateTaps, false), Lower: lowerResample(kernel.InterpolateTaps, false), Cost: perElement(4, VPU)},
	{Name: "interpolate_backward", Torch: "upsample_nearest2d_backward", Class: Reduce, Traits: Composite,
		Doc:     "The transpose of interpolate: the gradient of its input, whose spatial sizes are in_size.",
		Example: `tpu.Interpolate(tpu.Ones(1, 1, 2, 3), 4, 6)`,
		Params:  append([]Param{tensor("grad"), {Name: "in_size", Kind: KInts}}, resizeParams()...),
		Shape:   interpolateBackShape, DType: sameType,
		Grad: interpolateBackGrad, Kernel: kernel.Resample(kernel.InterpolateTaps, true), Lower: lowerResample(kernel.InterpolateTaps, true), Cost: perElement(4, VPU)},
})

func resizeParams() []Param {
	return []Param{
		{Name: "scale_factor", Kind: KFloat, Default: 0.0, Doc: "factor of the sizes, instead of size"},
		{Name: "mode", Kind: KString, Default: "nearest"},
		{Name: "align_corners", Kind: KBool, Default: false, Doc: "the corner pixels keep their places"},
		{Name: "recompute_scale_factor", Kind: KBool, Default: false, Doc: "take the factor of the sizes, not scale_factor, for positions"},
		{Name: "antialias", Kind: KBool, Default: false, Doc: "smooth before making smaller"},
		{Name: "scales_d", Kind: KFloat, Default: 0.0, Doc: "factor of the axis before the last two, for positions; 0: from the others"},
		{Name: "scales_h", Kind: KFloat, Default: 0.0, Doc: "likewise of the axis before the last"},
		{Name: "scales_w", Kind: KFloat, Default: 0.0, Doc: "likewise of the last axis"}}
}

// maxPoolParams are the attributes of max pooling.
func maxPoolParams() []Param {
	return []Param{tensor("input"), {Name: "kernel_size", Kind: KInts},
		{Name: "stride", Kind: KInts, Default: []int(nil), Doc: "step of the window; its size by default"},
		{Name: "padding", Kind: KInts, Default: []int{0}}, {Name: "dilation", Kind: KInts, Default: []int{1}},
		{Name: "ceil_mode", Kind: KBool, Default: false, Doc: "the last window may hang over"}}
}

func avgPoolParams() []Param {
	return []Param{{Name: "kernel_size", Kind: KInts},
		{Name: "stride", Kind: KInts, Default: []int(nil), Doc: "step of the window; its size by default"},
		{Name: "padding", Kind: KInts, Default: []int{0}},
		{Name: "ceil_mode", Kind: KBool, Default: false, Doc: "the last window may hang over"},
		{Name: "count_include_pad", Kind: KBool, Default: true, Doc: "padding counts as elements"},
		{Name: "divisor_override", Kind: KInt, Default: 0, Doc: "divides instead of the size of the window"}}
}

// maxPoolRows are max pooling over one to three axes, plain and adaptive, each
// with a form that also gives positions.
func maxPoolRows() []Def {
	var rows []Def
	for n := 1; n <= 3; n++ {
		name, adaptive := "max_pool"+digits[n]+"d", "adaptive_max_pool"+digits[n]+"d"
		kernelSize, ones := "[]int{2}", "tpu.Ones(1, 1, "+[]string{"", "4", "4, 4", "4, 4, 4"}[n]+")"
		rows = append(rows,
			Def{Name: Name(name), Torch: name, Func: "MaxPool" + digits[n] + "D", Class: Reduce,
				Doc:     "The largest element of every window over " + digits[n] + " axes.",
				Example: "tpu.MaxPool" + digits[n] + "D(" + ones + ", " + kernelSize + ")",
				Params:  maxPoolParams(), Shape: poolShape(name, n), DType: pooledType(name),
				Grad: maxPoolGrad(Name(name+"_with_indices"), n), Kernel: kernel.MaxPool(n), Lower: lowerMaxPool(n), Cost: maxPoolCost},
			Def{Name: Name(name + "_with_indices"), Torch: name + "_with_indices", Func: "MaxPool" + digits[n] + "DWithIndices", Class: Reduce,
				Doc:     "The largest element of every window over " + digits[n] + " axes, and its position in the flattened plane.",
				Example: "tpu.MaxPool" + digits[n] + "DWithIndices(" + ones + ", " + kernelSize + ")",
				Params:  maxPoolParams(), Results: []string{"values", "indices"}, Infer: withPositions(poolShape(name, n), pooledType(name)),
				Grad: positionsGrad(n), Kernel: kernel.MaxPool(n), Lower: lowerMaxPoolPositions(n), Cost: maxPoolCost},
			Def{Name: Name(adaptive), Torch: adaptive, Func: "AdaptiveMaxPool" + digits[n] + "D", Class: Reduce,
				Doc:     "The largest element of every window, the windows sharing " + digits[n] + " axes out evenly.",
				Example: "tpu.AdaptiveMaxPool" + digits[n] + "D(" + ones + ", 2)",
				Params:  []Param{tensor("input"), {Name: "output_size", Kind: KInts, Doc: "-1 keeps a size"}}, Shape: adaptiveShape(adaptive, n), DType: pooledType(adaptive),
				Grad: maxPoolGrad(Name(adaptive+"_with_indices"), n), Kernel: kernel.AdaptiveMaxPool(n), Lower: lowerAdaptiveMax(n, false), Cost: maxPoolCost},
			Def{Name: Name(adaptive + "_with_indices"), Torch: adaptive, Func: "AdaptiveMaxPool" + digits[n] + "DWithIndices", Class: Reduce,
				Doc:     "The largest element of every window, the windows sharing " + digits[n] + " axes out evenly, and its position in the flattened plane.",
				Example: "tpu.AdaptiveMaxPool" + digits[n] + "DWithIndices(" + ones + ", 2)",
				Params:  []Param{tensor("input"), {Name: "output_size", Kind: KInts, Doc: "-1 keeps a size"}}, Results: []string{"values", "indices"},
				Infer: withPositions(adaptiveShape(adaptive, n), pooledType(adaptive)),
				Grad:  positionsGrad(n), Kernel: kernel.AdaptiveMaxPool(n), Lower: lowerAdaptiveMax(n, true), Cost: maxPoolCost})
	}
	return rows
}

// avgPoolRows are average pooling over one to three axes, plain and adaptive, and their transposes.
func avgPoolRows() []Def {
	var rows []Def
	for n := 1; n <= 3; n++ {
		name, adaptive := "avg_pool"+digits[n]+"d", "adaptive_avg_pool"+digits[n]+"d"
		ones := "tpu.Ones(1, 1, " + []string{"", "4", "4, 4", "4, 4, 4"}[n] + ")"
		plain, even := kernel.AvgTaps(n), kernel.AdaptiveTaps(n)
		rows = append(rows,
			Def{Name: Name(name), Torch: name, Func: "AvgPool" + digits[n] + "D", Class: Reduce,
				Doc:     "The mean of every window over " + digits[n] + " axes.",
				Example: "tpu.AvgPool" + digits[n] + "D(" + ones + ", []int{2})",
				Params:  append([]Param{tensor("input")}, avgPoolParams()...), Shape: poolShape(name, n), DType: floatType(name),
				Grad: avgPoolGrad(Name(name+"_backward"), n), Kernel: kernel.Resample(plain, false), Lower: lowerResample(plain, false), Cost: maxPoolCost},
			Def{Name: Name(name + "_backward"), Torch: name + "_backward", Class: Reduce,
				Doc:     "The transpose of " + name + ": the gradient of its input, whose spatial sizes are size.",
				Example: "tpu.AvgPool" + digits[n] + "D(" + ones + ", []int{2})",
				Params:  append([]Param{tensor("grad"), {Name: "size", Kind: KInts}}, avgPoolParams()...), Shape: spreadShape, DType: sameType,
				Grad: avgPoolBackGrad(Name(name)), Kernel: kernel.Resample(plain, true), Lower: lowerResample(plain, true), Cost: perElement(2, VPU)},
			Def{Name: Name(adaptive), Torch: adaptive, Func: "AdaptiveAvgPool" + digits[n] + "D", Class: Reduce,
				Doc:     "The mean of every window, the windows sharing " + digits[n] + " axes out evenly.",
				Example: "tpu.AdaptiveAvgPool" + digits[n] + "D(" + ones + ", 2)",
				Params:  []Param{tensor("input"), {Name: "output_size", Kind: KInts, Doc: "-1 keeps a size"}}, Shape: adaptiveShape(adaptive, n), DType: floatType(adaptive),
				Grad: adaptiveAvgGrad(Name(adaptive+"_backward"), n), Kernel: kernel.Resample(even, false), Lower: lowerResample(even, false), Cost: maxPoolCost},
			Def{Name: Name(adaptive + "_backward"), Torch: "_" + adaptive + "_backward", Class: Reduce,
				Doc:     "The transpose of " + adaptive + ": the gradient of its input, whose spatial sizes are size.",
				Example: "tpu.AdaptiveAvgPool" + digits[n] + "D(" + ones + ", 2)",
				Params:  []Param{tensor("grad"), {Name: "size", Kind: KInts}}, Shape: spreadShape, DType: sameType,
				Grad: adaptiveAvgBackGrad(Name(adaptive), n), Kernel: kernel.Resample(even, true), Lower: lowerResample(even, true), Cost: perElement(2, VPU)})
	}
	return rows
}
