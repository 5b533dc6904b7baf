package op

import (
	"math"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

const singularBack Name = "singular_norm_backward"

// reduceMatrixOps are norms of matrices.
var reduceMatrixOps = []Def{
	{
		Name: MatrixNorm, Torch: "linalg_matrix_norm", Func: "MatrixNorm", Class: Reduce, Traits: Composite,
		Doc: "Norm of the matrices in two axes: fro, the extreme sum of magnitudes of a row (±inf) or column (±1), the extreme singular value (±2) or their sum (nuc).", Example: `tpu.MatrixNorm(tpu.Eye(2))`,
		Params: []Param{tensor("A"), {Name: "ord", Kind: KString, Default: "fro", Doc: "fro, nuc, inf, -inf, 1, -1, 2 or -2"},
			{Name: "dim", Kind: KInts, Default: []int{-2, -1}, Doc: "row axis and column axis"}, keepParam(), dtypeParam()},
		Shape: matrixNormShape, DType: floatOnly(MatrixNorm), Grad: matrixNormGrad,
		Kernel: kernel.MatrixNorm, Lower: matrixNormHLO, Cost: perInput(3),
	},
	{
		Name: singularBack, Torch: "linalg_matrix_norm", Class: Reduce, Traits: Composite,
		Doc:    "Gradient of a norm of singular values.",
		Params: []Param{tensor("grad"), tensor("A"), {Name: "ord", Kind: KString, Doc: "nuc, 2 or -2"}, {Name: "dim", Kind: KInts, Default: []int{-2, -1}, Doc: "row axis and column axis"}},
		Shape:  likeSecond, DType: secondType, NoGrad: "the second derivative of singular values is not provided",
		Kernel: kernel.SingularNormBackward, Lower: singularBackHLO, Cost: perInput(64),
	},
}

func matrixNormShape(in []shape.Spec, a Attrs) ([]int, error) {
	x := in[0]
	if len(x.Dims) < 2 {
		return nil, &shape.RankError{Op: string(MatrixNorm), Arg: "A", Dims: x.Dims, Min: 2, Max: -1}
	}
	if d := a.Ints("dim"); len(d) != 2 {
		return nil, &shape.ArgumentError{Op: string(MatrixNorm), Arg: "dim", Value: d, Why: "not two axes"}
	}
	axes, err := shape.Axes(string(MatrixNorm), a.Ints("dim"), len(x.Dims))
	if err != nil {
		return nil, err
	}
	switch ord := a.Str("ord"); ord {
	case "fro", "nuc":
	case "inf", "1", "2":
	case "-inf", "-1", "-2": // the least of nothing
		_, pick := matrixSides(len(x.Dims), a)
		for _, ax := range axes {
			if x.Dims[ax] == 0 && (ord == "-2" || ax == pick) {
				return nil, &EmptyError{MatrixNorm, x, ax}
			}
		}
	default:
		return nil, &shape.ArgumentError{Op: string(MatrixNorm), Arg: "ord", Value: ord, Why: "none of fro, nuc, inf, -inf, 1, -1, 2, -2"}
	}
	return keptDims(x.Dims, axes, a.Bool("keepdim")), nil
}

// matrixSides gives the axis that is summed first and the one whose extreme is taken.
func matrixSides(rank int, a Attrs) (sum, pick int) {
	axes, _ := shape.Axes("", a.Ints("dim"), rank)
	if len(axes) != 2 {
		return 0, 0
	}
	if a.Str("ord") == "1" || a.Str("ord") == "-1" {
		return axes[0], axes[1]
	}
	return axes[1], axes[0]
}

func matrixNormGrad(b Builder, c *Call, dy []Value) []Value {
	k, x := calc{b}, c.In[0]
	axes := c.axes()
	t := dy[0].Spec().DType
	dn := k.keep(dy[0], x.Spec(), axes)
	wide := k.to(x, t)
	if c.Attrs.Str("ord") == "fro" {
		return []Value{k.to(normSlope(k, wide, k.keep(c.Out[0], x.Spec(), axes), dn, 2, axes), x.Spec().DType)}
	}
	if ord := c.Attrs.Str("ord"); singular(ord) {
		return singularGrad(b, c, dy, ord)
	}
	sum, pick := matrixSides(len(x.Spec().Dims), c.Attrs)
	sums := k.sum(k.abs(wide), sum)
	most := Amax
	if c.Attrs.Str("ord")[0] == '-' {
		most = Amin
	}
	extreme := k.Do(most, at("dim", []int{pick}, "keepdim", true), sums) // of these sums: others may round in another way
	g := extremeShare(k, sums, extreme, dn, []int{pick})
	return []Value{k.to(k.mul(k.sign(wide), g), x.Spec().DType)}
}

func matrixNormHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	h := formula{w}
	x := h.Convert(c.In[0], wide(c.Out[0].DType))
	ord := c.Attrs.Str("ord")
	if ord == "fro" {
		return h.results(h.norm(x, c.axes(), 2), c)
	}
	if singular(ord) {
		return h.singularNorm(c, ord)
	}
	sum, pick := matrixSides(len(x.Spec.Dims), c.Attrs)
	s := h.sum(h.abs(x), []int{sum})
	if ord[0] == '-' {
		return h.results(h.reduce("minimum", s, []int{pick}, math.Inf(1)), c)
	}
	return h.results(h.reduce("maximum", s, []int{pick}, 0), c)
}
