package op

import "github.com/tpush/tpush/runtime/kernel"

// convOps are the convolutions: products of a weight with the windows of an input.
var convOps = []Def{
	convRow(1, `tpu.Conv1D(tpu.Ones(1, 2, 6), tpu.Ones(3, 2, 3))`),
	convRow(2, `tpu.Conv2D(tpu.Ones(1, 2, 5, 5), tpu.Ones(3, 2, 3, 3), tpu.Conv2DOptions{Padding: []int{1}})`),
	convRow(3, `tpu.Conv3D(tpu.Ones(1, 2, 3, 4, 3), tpu.Ones(2, 2, 2, 2, 2))`),
	convTransposeRow(1, `tpu.ConvTranspose1D(tpu.Ones(1, 2, 4), tpu.Ones(2, 3, 3))`),
	convTransposeRow(2, `tpu.ConvTranspose2D(tpu.Ones(1, 2, 3, 3), tpu.Ones(2, 2, 2, 2), tpu.ConvTranspose2DOptions{Stride: []int{2}})`),
	convTransposeRow(3, `tpu.ConvTranspose3D(tpu.Ones(1, 1, 2, 2, 2), tpu.Ones(1, 2, 2, 2, 2))`),
	{Name: "conv_input_grad", Torch: "convolution_backward", Class: Contract,
		Doc:     "The transpose of a convolution for its input: gradient [b,o,…] and weight [o,c/groups,…] → [b,c,size…].",
		Example: `tpu.ConvTranspose1D(tpu.Ones(1, 2, 4), tpu.Ones(2, 3, 3))`,
		Params:  append([]Param{tensor("grad"), tensor("weight"), {Name: "size", Kind: KInts}}, geometryParams()...),
		Shape:   convInputShape, DType: oneType("conv_input_grad"),
		Grad: convInputGrad, Kernel: kernel.ConvolveInput, Lower: lowerConvInput, Cost: convInputCost},
	{Name: "conv_weight_grad", Torch: "convolution_backward", Class: Contract,
		Doc:     "The transpose of a convolution for its weight: input [b,c,…] and gradient [b,o,…] → [o,c/groups,size…].",
		Example: `tpu.Conv1D(tpu.Ones(1, 2, 6), tpu.Ones(3, 2, 3))`,
		Params:  append([]Param{tensor("input"), tensor("grad"), {Name: "size", Kind: KInts}}, geometryParams()...),
		Shape:   convWeightShape, DType: oneType("conv_weight_grad"),
		Grad: convWeightGrad, Kernel: kernel.ConvolveWeight, Lower: lowerConvWeight, Cost: convWeightCost},
	{Name: "unfold2d", Torch: "nn.functional.unfold", Func: "Unfold2D", Class: Move,
		Doc:     "The windows of an image as columns: [b,c,h,w] → [b,c·kernel,windows].",
		Example: `tpu.Unfold2D(tpu.Ones(1, 2, 4, 5), []int{2})`,
		Params:  append([]Param{tensor("input"), {Name: "kernel_size", Kind: KInts}}, tapParams()...),
		Shape:   unfold2DShape, DType: sameType,
		Grad: unfold2DGrad, Kernel: kernel.Unfold2D, Lower: lowerUnfold2D, Cost: moves},
	{Name: "fold2d", Torch: "nn.functional.fold", Func: "Fold2D", Class: Move,
		Doc:     "Adds windows back into an image: [b,c·kernel,windows] → [b,c,h,w].",
		Example: `tpu.Fold2D(tpu.Ones(1, 4, 4), []int{3, 3}, []int{2, 2})`,
		Params:  append([]Param{tensor("input"), {Name: "output_size", Kind: KInts}, {Name: "kernel_size", Kind: KInts}}, tapParams()...),
		Shape:   fold2DShape, DType: sameType,
		Grad: fold2DGrad, Kernel: kernel.Fold2D, Lower: lowerFold2D, Cost: perElement(1, VPU)},
}

// geometryParams are the attributes of every convolution.
func geometryParams() []Param {
	return []Param{
		{Name: "stride", Kind: KInts, Default: []int{1}, Doc: "step of the window; one number or one for each axis"},
		{Name: "padding", Kind: KInts, Default: []int{0}, Doc: "zeros on both sides; one number, one for each axis, or low and high for each"},
		{Name: "dilation", Kind: KInts, Default: []int{1}, Doc: "distance of the taps"},
		{Name: "groups", Kind: KInt, Default: 1, Doc: "channels are cut into so many groups that do not mix"}}
}

// tapParams are the attributes of unfold and fold.
func tapParams() []Param {
	return []Param{
		{Name: "dilation", Kind: KInts, Default: []int{1}},
		{Name: "padding", Kind: KInts, Default: []int{0}},
		{Name: "stride", Kind: KInts, Default: []int{1}}}
}

var digits = [...]string{"0", "1", "2", "3"}

func convRow(n int, example string) Def {
	name := Name("conv" + digits[n] + "d")
	return Def{Name: name, Torch: "nn.functional." + string(name), Func: "Conv" + digits[n] + "D", Class: Contract,
		Doc:     "Convolution over " + digits[n] + " spatial axes: input [b,c,…], weight [o,c/groups,…], bias [o].",
		Example: example,
		Params: append(append([]Param{tensor("input"), tensor("weight"), {Name: "bias", Kind: KOptTensor}}, geometryParams()...),
			Param{Name: "padding_mode", Kind: KString, Default: "", Doc: "same or valid, instead of padding"}),
		Shape: convShape(string(name), n), DType: oneType(string(name)),
		Grad: convGrad(name, n), Kernel: kernel.Convolve, Lower: lowerConv, Cost: convCost}
}

func convTransposeRow(n int, example string) Def {
	name := Name("conv_transpose" + digits[n] + "d")
	return Def{Name: name, Torch: "nn.functional." + string(name), Func: "ConvTranspose" + digits[n] + "D", Class: Contract,
		Doc:     "Transposed convolution over " + digits[n] + " spatial axes: input [b,c,…], weight [c,o/groups,…], bias [o].",
		Example: example,
		Params: []Param{tensor("input"), tensor("weight"), {Name: "bias", Kind: KOptTensor},
			{Name: "stride", Kind: KInts, Default: []int{1}}, {Name: "padding", Kind: KInts, Default: []int{0}},
			{Name: "output_padding", Kind: KInts, Default: []int{0}, Doc: "added to one side of the result"},
			{Name: "groups", Kind: KInt, Default: 1}, {Name: "dilation", Kind: KInts, Default: []int{1}}},
		Shape: convTransposeShape(string(name), n), DType: oneType(string(name)),
		Grad: convTransposeGrad(n), Kernel: kernel.ConvolveTransposed, Lower: lowerConvTranspose, Cost: convTransposeCost}
}
