package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// reflectOps are factorizations by Householder reflections, and functions of matrices.
var reflectOps = []Def{
	{Name: "geqrf", Torch: "geqrf", Method: "Geqrf", Func: "Geqrf", Class: Contract, Traits: Composite, Results: []string{"reflections", "tau"},
		Doc:     "R on and above the diagonal, the vectors of the reflections whose product is Q below it, and their factors.",
		Example: `tpu.Ones(3, 2).Geqrf()`, Params: []Param{tensor("input")},
		Infer: func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
			s, err := factorInfer("geqrf", false)(in, a)
			if err != nil {
				return nil, err
			}
			s[1].DType = s[0].DType
			return s[:2], nil
		},
		NoGrad: "PyTorch has no derivative for it either", Kernel: kernel.Geqrf, Lower: lowerFactor("geqrf"), Cost: cubic(2)},
	{Name: "ormqr", Torch: "ormqr", Method: "Ormqr", Func: "Ormqr", Class: Contract, Traits: Composite,
		Doc:     "The product of the whole Q that Geqrf describes and other.",
		Example: `tpu.Ones(3, 1).Ormqr(tpu.Of(2.0), tpu.Eye(3))`,
		Params: []Param{tensor("input"), tensor("tau"), tensor("other"), {Name: "left", Kind: KBool, Default: true, Doc: "false: other·Q"},
			{Name: "transpose", Kind: KBool, Default: false, Doc: "Qᵀ in place of Q"}},
		Shape: ormqrShape, DType: floatType("ormqr"), Grad: ormqrGrad, Kernel: kernel.Ormqr, Lower: lowerFactor("ormqr"), Cost: cubic(4)},
	{Name: "matrix_exp", Torch: "linalg.matrix_exp", Method: "MatrixExp", Func: "MatrixExp", Class: Contract, Traits: Composite,
		Doc: "The exponential of a matrix.", Example: `tpu.Eye(2).MatrixExp()`, Params: []Param{tensor("input")},
		Shape: squareShape("matrix_exp"), DType: floatType("matrix_exp"), Grad: matrixExpGrad, Kernel: kernel.MatrixExp, Lower: lowerFactor("matrix_exp"), Cost: cubic(40)},
	{Name: "matrix_sqrth", Torch: "linalg.matrix_sqrth", Method: "MatrixSqrtH", Func: "MatrixSqrtH", Class: Contract, Traits: Composite,
		Doc: "The symmetric square root of a symmetric positive definite matrix; the lower triangle is read.", Example: `tpu.Eye(2).MatrixSqrtH()`, Params: []Param{tensor("input")},
		Shape: squareShape("matrix_sqrth"), DType: floatType("matrix_sqrth"), Grad: matrixSqrtGrad, Kernel: kernel.MatrixSqrtH, Lower: lowerFactor("matrix_sqrth"), Cost: cubic(12)},
}

func ormqrShape(in []shape.Spec, a Attrs) ([]int, error) {
	const name = "ormqr"
	x, tau, y := in[0], in[1], in[2]
	for _, s := range []shape.Spec{x, y} {
		if err := matrixOf(name, s, false); err != nil {
			return nil, err
		}
	}
	r := x.Rank()
	batch := x.Dims[:r-2]
	differ := func(right shape.Spec, why string) error {
		return &shape.MismatchError{Op: name, Left: x, Right: right, Axis: -1, Why: why}
	}
	if tau.Rank() != r-1 || !shape.EqualDims(tau.Dims[:r-2], batch) || tau.Dims[r-2] > min(x.Dims[r-1], x.Dims[r-2]) {
		return nil, differ(tau, "a factor for each of the first columns is wanted")
	}
	axis := r - 2
	if a.Get("left") == false {
		axis++
	}
	if y.Rank() != r || !shape.EqualDims(y.Dims[:r-2], batch) || y.Dims[axis] != x.Dims[r-2] {
		return nil, differ(y, fmt.Sprintf("axis %d must have the %d rows of the reflections, in the same batch", axis, x.Dims[r-2]))
	}
	return slices.Clone(y.Dims), nil
}

// ormqrGrad goes through the product reflection by reflection. With
// Y = H₁·…·Hₖ·X, K what a reflection was applied to and G the gradient of what
// came out of it, that of H = I - τ·v·vᵀ is G·Kᵀ.
func ormqrGrad(b Builder, c *Call, dy []Value) []Value {
	a, tau := c.In[0], c.In[1]
	left, transpose := c.Attrs.Bool("left"), c.Attrs.Bool("transpose")
	out := make([]Value, 3)
	if c.Needs[2] {
		out[2] = b.Do("ormqr", attr("left", left, "transpose", !transpose), a, tau, dy[0])
	}
	d := dims(a)
	r := len(d)
	m, cols := d[r-2], d[r-1]
	k := dims(tau)[r-2]
	if !c.Needs[0] && !c.Needs[1] || k == 0 || shape.Size(dims(c.Out[0])) == 0 {
		return out
	}
	y, g := c.Out[0], dy[0]
	if !left {
		y, g = swapped(b, y), swapped(b, g)
	}
	eye := b.Full(shape.Spec{DType: a.Spec().DType, Dims: []int{m, cols}}, 1)
	vs := plus(b, lowerPart(b, a, -1), lowerPart(b, upperPart(b, eye, 0), 0))
	gv, gt := make([]Value, cols), make([]Value, k)
	for s := range k {
		i := k - 1 - s
		if left != transpose {
			i = s
		}
		v := block(b, vs, 0, m, i, i+1)
		vt := swapped(b, v)
		t := unsqueezed(b, b.Do("slice", attr("dim", -1, "start", i, "end", i+1, "step", 1), tau), -1)
		// H⁻¹ = I - τ/(τ·vᵀv - 1)·v·vᵀ.
		inverse := b.Do("div", nil, t, sub(b, entrywise(b, t, mat(b, vt, v)), b.Scalar(1)))
		y = sub(b, y, entrywise(b, inverse, mat(b, v, mat(b, vt, y))))
		ky, kg := mat(b, swapped(b, y), v), mat(b, swapped(b, g), v) // Kᵀv, Gᵀv
		gt[i] = minus(b, b.Do("sum", attr("dim", []int{-2, -1}, "keepdim", false), entrywise(b, ky, kg)))
		gv[i] = minus(b, entrywise(b, t, plus(b, mat(b, g, ky), mat(b, y, kg))))
		g = sub(b, g, entrywise(b, t, mat(b, v, swapped(b, kg))))
	}
	if c.Needs[1] {
		for i := range gt {
			gt[i] = unsqueezed(b, gt[i], -1)
		}
		out[1] = b.Do("cat", attr("dim", -1), gt...)
	}
	if c.Needs[0] {
		out[0] = lowerPart(b, inCorner(b, b.Do("cat", attr("dim", -1), gv[:k]...), m, cols), -1)
	}
	return out
}

// matrixExpGrad: the upper right block of exp [Aᵀ G; 0 Aᵀ].
func matrixExpGrad(b Builder, c *Call, dy []Value) []Value {
	t := swapped(b, c.In[0])
	d := dims(t)
	n := d[len(d)-1]
	if n == 0 {
		return []Value{zeros(b, c.In[0])}
	}
	top := b.Do("cat", attr("dim", -1), t, dy[0])
	bottom := b.Do("cat", attr("dim", -1), zeros(b, t), t)
	e := b.Do("matrix_exp", nil, b.Do("cat", attr("dim", -2), top, bottom))
	return []Value{block(b, e, 0, n, n, 2*n)}
}

// matrixSqrtGrad solves X·D + D·X = G for D in the basis of eigenvectors of X.
func matrixSqrtGrad(b Builder, c *Call, dy []Value) []Value {
	f := b.All("eigh", attr("UPLO", "L"), c.Out[0])
	w, v := f[0], f[1]
	g := mat(b, mat(b, swapped(b, v), symmetric(b, dy[0])), v)
	g = b.Do("div", nil, g, plus(b, unsqueezed(b, w, -1), unsqueezed(b, w, -2)))
	return []Value{mat(b, mat(b, v, g), swapped(b, v))}
}

// qrInfer infers the factors in a mode.
func qrInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	mode := a.Str("mode")
	switch mode {
	case "", "reduced", "complete", "r":
	default:
		return nil, &shape.ArgumentError{Op: "qr", Arg: "mode", Value: mode, Why: "must be reduced, complete or r"}
	}
	return severalOf("qr", func(m, n int) [][]int {
		k := min(m, n)
		if mode == "complete" {
			k = m
		}
		return [][]int{{m, k}, {k, n}}
	}, false)(in, a)
}
