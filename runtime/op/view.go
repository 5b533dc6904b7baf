package op

import "github.com/tpush/tpush/runtime/shape"

// viewOps see the same elements with other sizes and strides: no launch, no
// bytes. Their kernels copy, for a value that has no storage to share.
var viewOps = []Def{
	seen(transposeView, Def{Name: "transpose", Torch: "transpose.int", Method: "Transpose", Func: "Transpose",
		Doc:     "Exchanges two axes.",
		Example: `tpu.Ones(2, 3).Transpose(0, 1)`,
		Params:  []Param{tensor("input"), {Name: "dim0", Kind: KInt}, {Name: "dim1", Kind: KInt}},
		Grad:    transposeGrad, Lower: lowerPermutation(transposeView)}),
	seen(swapaxesView, Def{Name: "swapaxes", Torch: "swapaxes", Method: "SwapAxes",
		Doc:     "Exchanges two axes: transpose under numpy's name.",
		Example: `tpu.Ones(2, 3).SwapAxes(0, 1)`,
		Params:  []Param{tensor("input"), {Name: "axis0", Kind: KInt}, {Name: "axis1", Kind: KInt}},
		Grad:    swapaxesGrad, Lower: lowerPermutation(swapaxesView)}),
	seen(tView, Def{Name: "t", Torch: "t", Method: "T",
		Doc:     "Transposes a matrix; a vector or a scalar stays as it is.",
		Example: `tpu.Ones(2, 3).T()`,
		Params:  []Param{tensor("input")},
		Grad:    tGrad, Lower: lowerPermutation(tView)}),
	seen(permuteView, Def{Name: "permute", Torch: "permute", Method: "Permute", Func: "Permute",
		Doc:     "Reorders all axes: axis i of the result is axis dims[i].",
		Example: `tpu.Ones(2, 3, 4).Permute(2, 0, 1)`,
		Params:  []Param{tensor("input"), {Name: "dims", Kind: KInts}},
		Grad:    permuteGrad, Lower: lowerPermutation(permuteView)}),
	seen(movedimView, Def{Name: "movedim", Torch: "movedim.intlist", Method: "MoveDim", Func: "MoveDim",
		Doc:     "Moves axes to new positions; the others keep their order.",
		Example: `tpu.Ones(2, 3, 4).MoveDim([]int{0}, []int{2})`,
		Params:  []Param{tensor("input"), {Name: "source", Kind: KInts}, {Name: "destination", Kind: KInts}},
		Grad:    movedimGrad, Lower: lowerPermutation(movedimView)}),
	seen(viewView, Def{Name: "view", Torch: "view", Method: "View",
		Doc:     "Sees the elements in another shape without a copy; one size may be -1.",
		Example: `tpu.Ones(2, 3).View(3, -1)`,
		Params:  []Param{tensor("input"), {Name: "shape", Kind: KInts}},
		Grad:    reshapeGrad, Lower: lowerReshape}),
	seen(reshapeView, Def{Name: "reshape", Torch: "reshape", Method: "Reshape", Func: "Reshape",
		Doc:     "Gives the elements another shape, by a view where the strides allow it; one size may be -1.",
		Example: `tpu.Ones(2, 3).Reshape(3, -1)`,
		Params:  []Param{tensor("input"), {Name: "shape", Kind: KInts}},
		Grad:    reshapeGrad, Lower: lowerReshape}),
	seen(flattenView, Def{Name: "flatten", Torch: "flatten.using_ints", Method: "Flatten", Func: "Flatten",
		Doc:     "Merges the axes from start_dim to end_dim into one.",
		Example: `tpu.Ones(2, 3, 4).Flatten()`,
		Params:  []Param{tensor("input"), {Name: "start_dim", Kind: KInt, Default: 0}, {Name: "end_dim", Kind: KInt, Default: -1}},
		Grad:    reshapeGrad, Lower: lowerReshape}),
	seen(unflattenView, Def{Name: "unflatten", Torch: "unflatten.int", Method: "Unflatten", Func: "Unflatten",
		Doc:     "Splits one axis into several; one size may be -1.",
		Example: `tpu.Ones(2, 6).Unflatten(1, 2, 3)`,
		Params:  []Param{tensor("input"), {Name: "dim", Kind: KInt}, {Name: "sizes", Kind: KInts}},
		Grad:    reshapeGrad, Lower: lowerReshape}),
	seen(squeezeView, Def{Name: "squeeze", Torch: "squeeze.dims", Method: "Squeeze", Func: "Squeeze",
		Doc:     "Drops the given axes that have size 1, or all such axes.",
		Example: `tpu.Ones(1, 3, 1).Squeeze()`,
		Params:  []Param{tensor("input"), {Name: "dim", Kind: KInts, Default: []int(nil)}},
		Grad:    reshapeGrad, Lower: lowerReshape}),
	seen(unsqueezeView, Def{Name: "unsqueeze", Torch: "unsqueeze", Method: "Unsqueeze", Func: "Unsqueeze",
		Doc:     "Inserts an axis of size 1 at position dim.",
		Example: `tpu.Of(1, 2, 3).Unsqueeze(0)`,
		Params:  []Param{tensor("input"), {Name: "dim", Kind: KInt}},
		Grad:    reshapeGrad, Lower: lowerReshape}),
	seen(expandView, Def{Name: "expand", Torch: "expand", Method: "Expand",
		Doc:     "Repeats axes of size 1 without a copy; -1 keeps a size, new axes go in front.",
		Example: `tpu.Of(1, 2, 3).Expand(2, -1)`,
		Params:  []Param{tensor("input"), {Name: "sizes", Kind: KInts}},
		Grad:    expandGrad, Lower: lowerExpand}),
	seen(sliceView, Def{Name: "slice", Torch: "slice.Tensor", Method: "Slice",
		Doc:     "Takes the positions start, start+step, … below end of one axis; bounds are cut to the axis as in Python.",
		Example: `tpu.Arange(10).Slice(0, 2, 8)`,
		Params: []Param{tensor("input"), {Name: "dim", Kind: KInt}, {Name: "start", Kind: KInt}, {Name: "end", Kind: KInt},
			{Name: "step", Kind: KInt, Default: 1}},
		Grad: sliceGrad, Lower: lowerSlice}),
	seen(narrowView, Def{Name: "narrow", Torch: "narrow", Method: "Narrow", Func: "Narrow",
		Doc:     "Takes length positions of one axis from start on.",
		Example: `tpu.Arange(10).Narrow(0, 2, 3)`,
		Params: []Param{tensor("input"), {Name: "dim", Kind: KInt}, {Name: "start", Kind: KInt, Dynamic: true},
			{Name: "length", Kind: KInt}},
		Grad: narrowGrad, Lower: lowerNarrow}),
	seen(selectView, Def{Name: "select", Torch: "select.int", Method: "Select",
		Doc:     "Takes one position of an axis and drops the axis.",
		Example: `tpu.Ones(2, 3).Select(0, 1)`,
		Params:  []Param{tensor("input"), {Name: "dim", Kind: KInt}, {Name: "index", Kind: KInt, Dynamic: true}},
		Grad:    selectGrad, Lower: lowerSelect}),
	seen(diagonalView, Def{Name: "diagonal", Torch: "diagonal", Method: "Diagonal", Func: "Diagonal",
		Doc:     "The elements (i, i+offset) of two axes, as a new last axis.",
		Example: `tpu.Eye(3).Diagonal()`,
		Params:  diagonalParams(),
		Grad:    diagonalGrad, Lower: lowerStridedView(diagonalView)}),
	seen(unfoldView, Def{Name: "unfold", Torch: "unfold", Method: "Unfold",
		Doc:     "Windows of size positions along an axis, one every step; the window is a new last axis.",
		Example: `tpu.Arange(7).Unfold(0, 3, 2)`,
		Params:  []Param{tensor("input"), {Name: "dimension", Kind: KInt}, {Name: "size", Kind: KInt}, {Name: "step", Kind: KInt}},
		Grad:    unfoldGrad, Lower: lowerStridedView(unfoldView)}),
	{Name: "as_strided", Torch: "as_strided", Method: "AsStrided", Class: View, Traits: MetadataOnly,
		Doc:     "Reads the elements of a storage through the given sizes, strides and offset.",
		Example: `tpu.Arange(9).AsStrided([]int{2, 2}, []int{1, 2})`,
		Params:  stridedParams(tensor("input")),
		Shape:   asStridedShape, DType: sameType, View: asStridedView,
		Grad: asStridedGrad, Kernel: asStridedKernel, Lower: lowerAsStrided, Cost: moves},
	seen(sameView, Def{Name: "detach", Torch: "detach", Method: "Detach",
		Doc:     "The same elements without a gradient.",
		Example: `tpu.Ones(2).Detach()`,
		Params:  []Param{tensor("input")},
		NoGrad:  "cuts the gradient on purpose", Lower: lowerReshape}),
	seen(sameView, Def{Name: "alias", Torch: "alias", Method: "Alias",
		Doc:     "The same elements as another tensor.",
		Example: `tpu.Ones(2).Alias()`,
		Params:  []Param{tensor("input")},
		Grad:    reshapeGrad, Lower: lowerReshape}),
}

// seen completes a row of class View from its view function.
func seen(f viewFunc, d Def) Def {
	d.Class, d.Traits = View, MetadataOnly
	d.View, d.Shape, d.DType = f, viewShape(f), sameType
	d.Kernel, d.Cost = viewKernel(f), moves
	return d
}

func diagonalParams() []Param {
	return []Param{tensor("input"), {Name: "offset", Kind: KInt, Default: 0}, {Name: "dim1", Kind: KInt, Default: 0}, {Name: "dim2", Kind: KInt, Default: 1}}
}

// stridedParams are the parameters of as_strided and its scatters after the given tensors.
func stridedParams(tensors ...Param) []Param {
	return append(tensors, Param{Name: "size", Kind: KInts}, Param{Name: "stride", Kind: KInts},
		Param{Name: "storage_offset", Kind: KInt, Default: ownOffset, Dynamic: true, Doc: "position of the first element in the storage; -1: that of input"})
}

// ownOffset as storage_offset stands for the offset of the input.
const ownOffset = -1

// A viewFunc gives the view that a row of class View makes of another one.
type viewFunc = func(v shape.View, a Attrs) (shape.View, error)
