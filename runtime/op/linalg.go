package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// linalgRows are the factorizations and the solves made of them. They read the
// last two axes; the others are a batch. They compute in f64 and round once.
func linalgRows() []Def {
	square := `tpu.Eye(3)`
	return []Def{
		{Name: "cholesky", Torch: "linalg.cholesky", Method: "Cholesky", Func: "Cholesky", Class: Contract, Traits: Composite,
			Doc: "Lower L with A = L·Lᵀ of a symmetric positive definite matrix, or its transpose.", Example: square + `.Cholesky()`,
			Params: []Param{tensor("input"), {Name: "upper", Kind: KBool, Default: false}},
			Shape:  squareShape("cholesky"), DType: floatType("cholesky"),
			Grad: choleskyGrad, Kernel: kernel.Cholesky, Lower: lowerCholesky, Cost: cubic(1.0 / 3)},
		{Name: "solve_triangular", Torch: "linalg.solve_triangular", Method: "SolveTriangular", Func: "SolveTriangular", Class: Contract, Traits: Composite,
			Doc: "X with A·X = B for a triangular A, or X·A = B with left false.", Example: square + `.SolveTriangular(tpu.Ones(3, 1), true)`,
			Params: []Param{tensor("input"), tensor("B"), {Name: "upper", Kind: KBool, Doc: "which triangle is read"},
				{Name: "left", Kind: KBool, Default: true}, {Name: "unitriangular", Kind: KBool, Default: false, Doc: "the diagonal counts as ones"}},
			Shape: triangularShape, DType: floatType("solve_triangular"),
			Grad: triangularGrad, Kernel: kernel.SolveTriangular, Lower: lowerTriangular, Cost: cubic(1)},
		{Name: "solve", Torch: "linalg.solve", Method: "Solve", Func: "Solve", Class: Contract, Traits: Composite,
			Doc: "X with A·X = B, for a matrix or a vector B.", Example: square + `.Solve(tpu.Of(1.0, 2.0, 3.0))`,
			Params: []Param{tensor("input"), tensor("B")},
			Shape:  solveShape, DType: floatType("solve"),
			Grad: solveGrad, Kernel: kernel.Solve, Lower: lowerFactor("solve"), Cost: cubic(2.0 / 3)},
		{Name: "inv", Torch: "linalg.inv", Method: "Inv", Func: "Inv", Class: Contract, Traits: Composite,
			Doc: "The inverse of a matrix.", Example: square + `.Inv()`, Params: []Param{tensor("input")},
			Shape: squareShape("inv"), DType: floatType("inv"),
			Grad: invGrad, Kernel: kernel.Inverse, Lower: lowerFactor("inv"), Cost: cubic(2)},
		{Name: "det", Torch: "linalg.det", Method: "Det", Func: "Det", Class: Contract, Traits: Composite,
			Doc: "The determinant of a matrix.", Example: square + `.Det()`, Params: []Param{tensor("input")},
			Shape: batchShape("det"), DType: floatType("det"),
			Grad: detGrad, Kernel: kernel.Det, Lower: lowerFactor("det"), Cost: cubic(2.0 / 3)},
		{Name: "logdet", Torch: "logdet", Method: "LogDet", Func: "LogDet", Class: Contract, Traits: Composite,
			Doc: "The logarithm of the determinant, NaN where that is negative.", Example: square + `.LogDet()`, Params: []Param{tensor("input")},
			Shape: batchShape("logdet"), DType: floatType("logdet"),
			Grad: logdetGrad(0), Kernel: kernel.LogDet, Lower: lowerFactor("logdet"), Cost: cubic(2.0 / 3)},
		{Name: "slogdet", Torch: "linalg.slogdet", Method: "SLogDet", Func: "SLogDet", Class: Contract, Traits: Composite, Results: []string{"sign", "logabsdet"},
			Doc: "The sign of the determinant and the logarithm of its size.", Example: square + `.SLogDet()`, Params: []Param{tensor("input")},
			Infer: severalOf("slogdet", func(m, n int) [][]int { return [][]int{{}, {}} }, true),
			Grad:  logdetGrad(1), Kernel: kernel.SLogDet, Lower: lowerFactor("slogdet"), Cost: cubic(2.0 / 3)},
		{Name: "qr", Torch: "linalg.qr", Method: "QR", Func: "QR", Class: Contract, Traits: Composite, Results: []string{"orthonormal", "triangular"},
			Doc: "Factors A = Q·R, Q with orthonormal columns and R upper triangular.", Example: `tpu.Ones(3, 2).QR()`,
			Params: []Param{tensor("input"), {Name: "mode", Kind: KString, Default: "reduced", Doc: "reduced, complete (Q is square) or r"}},
			Infer:  qrInfer,
			Grad:   qrGrad, Kernel: kernel.QR, Lower: lowerFactor("qr"), Cost: cubic(4)},
		{Name: "eigh", Torch: "linalg.eigh", Method: "EigH", Func: "EigH", Class: Contract, Traits: Composite, Results: []string{"eigenvalues", "eigenvectors"},
			Doc: "Eigenvalues of a symmetric matrix in ascending order, and eigenvectors as columns; one triangle is read.", Example: square + `.EigH()`,
			Params: []Param{tensor("input"), {Name: "UPLO", Kind: KString, Default: "L", Doc: "the triangle that is read, L or U"}},
			Infer:  severalOf("eigh", func(m, n int) [][]int { return [][]int{{n}, {n, n}} }, true),
			Grad:   eighGrad, Kernel: kernel.Eigh, Lower: lowerFactor("eigh"), Cost: cubic(9)},
		{Name: "svd", Torch: "linalg.svd", Method: "SVD", Func: "SVD", Class: Contract, Traits: Composite, Results: []string{"left", "values", "right"},
			Doc: "Reduced factors A = U·diag(S)·Vh, S in descending order.", Example: `tpu.Ones(3, 2).SVD()`, Params: []Param{tensor("input")},
			Infer: severalOf("svd", func(m, n int) [][]int { k := min(m, n); return [][]int{{m, k}, {k}, {k, n}} }, false),
			Grad:  svdGrad, Kernel: kernel.SVD, Lower: lowerFactor("svd"), Cost: cubic(20)},
	}
}

// matrixOf refuses an operand without matrices.
func matrixOf(name string, s shape.Spec, square bool) error {
	r := s.Rank()
	if r < 2 {
		return wrongRank(name, "", s, 2, -1)
	}
	if square && s.Dims[r-1] != s.Dims[r-2] {
		return &shape.MismatchError{Op: name, Left: s, Right: s, Axis: r - 2, Why: fmt.Sprintf("a matrix of %d rows and %d columns is not square", s.Dims[r-2], s.Dims[r-1])}
	}
	return nil
}

func squareShape(name string) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, _ Attrs) ([]int, error) { return in[0].Dims, matrixOf(name, in[0], true) }
}

func batchShape(name string) func(in []shape.Spec, a Attrs) ([]int, error) {
	return func(in []shape.Spec, _ Attrs) ([]int, error) {
		if err := matrixOf(name, in[0], true); err != nil {
			return nil, err
		}
		return slices.Clone(in[0].Dims[:in[0].Rank()-2]), nil
	}
}

// severalOf infers the factors of matrices [m,n].
func severalOf(name string, sizes func(m, n int) [][]int, square bool) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		t, err := floatType(name)(in, a)
		if err != nil {
			return nil, err
		}
		if err := matrixOf(name, in[0], square); err != nil {
			return nil, err
		}
		r := in[0].Rank()
		var out []shape.Spec
		for _, d := range sizes(in[0].Dims[r-2], in[0].Dims[r-1]) {
			out = append(out, shape.Spec{DType: t, Dims: append(slices.Clone(in[0].Dims[:r-2]), d...)})
		}
		return out, nil
	}
}

func triangularShape(in []shape.Spec, a Attrs) ([]int, error) {
	const name = "solve_triangular"
	x, y := in[0], in[1]
	if err := matrixOf(name, x, true); err != nil {
		return nil, err
	}
	if err := matrixOf(name, y, false); err != nil {
		return nil, err
	}
	axis := y.Rank() - 2
	if !a.Bool("left") {
		axis++
	}
	if n := x.Dims[x.Rank()-1]; y.Dims[axis] != n {
		return nil, &shape.MismatchError{Op: name, Left: x, Right: y, Axis: axis, Why: fmt.Sprintf("sizes %d and %d differ", n, y.Dims[axis])}
	}
	batch, ok := shape.Broadcast(x.Dims[:x.Rank()-2], y.Dims[:y.Rank()-2])
	if !ok {
		return nil, &shape.MismatchError{Op: name, Left: x, Right: y, Axis: -1, Why: "batch sizes do not broadcast"}
	}
	return append(slices.Clone(batch), y.Dims[y.Rank()-2:]...), nil
}

// vectorSide says whether the right side of solve is a vector for each matrix.
func vectorSide(a, b []int) bool {
	return len(b) == 1 || len(b) == len(a)-1 && shape.EqualDims(b, a[:len(a)-1])
}

func solveShape(in []shape.Spec, _ Attrs) ([]int, error) {
	x, y := in[0], in[1]
	if err := matrixOf("solve", x, true); err != nil {
		return nil, err
	}
	n, r := x.Dims[x.Rank()-1], y.Rank()
	differ := func(axis int) error {
		return &shape.MismatchError{Op: "solve", Left: x, Right: y, Axis: axis, Why: fmt.Sprintf("the matrix has %d rows", n)}
	}
	if r == 0 {
		return nil, wrongRank("solve", "B", y, 1, -1)
	}
	if vectorSide(x.Dims, y.Dims) {
		if y.Dims[r-1] != n {
			return nil, differ(r - 1)
		}
		return append(slices.Clone(x.Dims[:x.Rank()-2]), n), nil
	}
	if y.Dims[r-2] != n {
		return nil, differ(r - 2)
	}
	batch, ok := shape.Broadcast(x.Dims[:x.Rank()-2], y.Dims[:r-2])
	if !ok {
		return nil, differ(-1)
	}
	return append(slices.Clone(batch), n, y.Dims[r-1]), nil
}

// cubic charges k·n³ for every matrix.
func cubic(k float64) func(in, out []shape.Spec, a Attrs) Cost {
	return func(in, _ []shape.Spec, _ Attrs) Cost {
		r := in[0].Rank()
		f := int64(k * float64(in[0].Size()) * float64(min(in[0].Dims[r-2], in[0].Dims[r-1])))
		return Cost{FLOPs: f, VPUOps: f, Unit: VPU}
	}
}

func mat(b Builder, x, y Value) Value       { return b.Do("matmul", nil, x, y) }
func sub(b Builder, x, y Value) Value       { return b.Do("sub", nil, x, y) }
func plus(b Builder, x, y Value) Value      { return b.Do("add", nil, x, y) }
func entrywise(b Builder, x, y Value) Value { return b.Do("mul", nil, x, y) }
func minus(b Builder, x Value) Value        { return b.Do("neg", nil, x) }

func lowerPart(b Builder, x Value, k int) Value { return b.Do("tril", attr("diagonal", k), x) }
func upperPart(b Builder, x Value, k int) Value { return b.Do("triu", attr("diagonal", k), x) }

// symmetric is (x + xᵀ)/2.
func symmetric(b Builder, x Value) Value { return scaled(b, plus(b, x, swapped(b, x)), 0.5) }

func triangular(b Builder, a, rhs Value, upper, left, unit bool) Value {
	return b.Do("solve_triangular", attr("upper", upper, "left", left, "unitriangular", unit), a, rhs)
}

// choleskyGrad: dA = L⁻ᵀ·Φ(Lᵀ·dL)·L⁻¹, made symmetric; Φ takes the lower triangle and half the diagonal.
func choleskyGrad(b Builder, c *Call, dy []Value) []Value {
	l, g := c.Out[0], dy[0]
	if c.Attrs.Bool("upper") {
		l, g = swapped(b, l), swapped(b, g)
	}
	x := mat(b, swapped(b, l), g)
	x = scaled(b, plus(b, lowerPart(b, x, 0), lowerPart(b, x, -1)), 0.5)
	x = triangular(b, swapped(b, l), x, true, true, false)
	return []Value{symmetric(b, triangular(b, l, x, false, false, false))}
}

func triangularGrad(b Builder, c *Call, dy []Value) []Value {
	a, rhs, x := c.In[0], c.In[1], c.Out[0]
	upper, left, unit := c.Attrs.Bool("upper"), c.Attrs.Bool("left"), c.Attrs.Bool("unitriangular")
	db := triangular(b, swapped(b, a), dy[0], !upper, left, unit)
	out := []Value{nil, reduceTo(b, db, dims(rhs))}
	if c.Needs[0] {
		var da Value
		if left {
			da = minus(b, mat(b, db, swapped(b, x)))
		} else {
			da = minus(b, mat(b, swapped(b, x), db))
		}
		k := 0
		if unit {
			k = 1
		}
		if upper {
			da = upperPart(b, da, k)
		} else {
			da = lowerPart(b, da, -k)
		}
		out[0] = reduceTo(b, da, dims(a))
	}
	return out
}

func solveGrad(b Builder, c *Call, dy []Value) []Value {
	a, rhs, x, g := c.In[0], c.In[1], c.Out[0], dy[0]
	vector := vectorSide(dims(a), dims(rhs))
	if vector {
		x, g = unsqueezed(b, x, -1), unsqueezed(b, g, -1)
	}
	db := b.Do("solve", nil, swapped(b, a), g)
	out := []Value{nil, nil}
	if c.Needs[0] {
		out[0] = reduceTo(b, minus(b, mat(b, db, swapped(b, x))), dims(a))
	}
	if c.Needs[1] {
		if vector {
			db = b.Do("squeeze", attr("dim", []int{-1}), db)
		}
		out[1] = reduceTo(b, db, dims(rhs))
	}
	return out
}

func invGrad(b Builder, c *Call, dy []Value) []Value {
	t := swapped(b, c.Out[0])
	return []Value{minus(b, mat(b, mat(b, t, dy[0]), t))}
}

// perMatrix makes a number for each matrix multiply matrices.
func perMatrix(b Builder, x Value) Value { return unsqueezed(b, unsqueezed(b, x, -1), -1) }

func detGrad(b Builder, c *Call, dy []Value) []Value {
	g := entrywise(b, dy[0], c.Out[0])
	return []Value{entrywise(b, perMatrix(b, g), swapped(b, b.Do("inv", nil, c.In[0])))}
}

// logdetGrad: the gradient of the logarithm, result at, is A⁻ᵀ.
func logdetGrad(at int) Grad {
	return func(b Builder, c *Call, dy []Value) []Value {
		if dy[at] == nil {
			return []Value{nil}
		}
		return []Value{entrywise(b, perMatrix(b, dy[at]), swapped(b, b.Do("inv", nil, c.In[0])))}
	}
}

func orZero(b Builder, g, like Value) Value {
	if g == nil {
		return zeros(b, like)
	}
	return g
}

// qrGrad: with M = R·dRᵀ - dQᵀ·Q, dA = (dQ + Q·sym(M))·R⁻ᵀ, sym copying the
// lower triangle up. A wide A = [X|Y] has R = [U|V]: X = Q·U is square and Y = Q·V.
func qrGrad(b Builder, c *Call, dy []Value) []Value {
	q, r := c.Out[0], c.Out[1]
	gq, gr := orZero(b, dy[0], q), orZero(b, dy[1], r)
	d := dims(c.In[0])
	k := len(d)
	m, n := d[k-2], d[k-1]
	columns := func(x Value, lo, hi int) Value {
		return b.Do("slice", attr("dim", -1, "start", lo, "end", hi, "step", 1), x)
	}
	tall := func(q, r, gq, gr Value) Value {
		x := sub(b, mat(b, r, swapped(b, gr)), mat(b, swapped(b, gq), q))
		x = plus(b, lowerPart(b, x, 0), swapped(b, lowerPart(b, x, -1)))
		g := plus(b, gq, mat(b, q, x))
		return triangular(b, swapped(b, r), g, false, false, false)
	}
	if m >= n {
		return []Value{tall(q, r, gq, gr)}
	}
	y := columns(c.In[0], m, n)
	gu, gv := columns(gr, 0, m), columns(gr, m, n)
	gx := tall(q, columns(r, 0, m), plus(b, gq, mat(b, y, swapped(b, gv))), gu)
	return []Value{b.Do("cat", attr("dim", -1), gx, mat(b, q, gv))}
}

// gaps gives y[j] - x[i] for each pair, with ones on the diagonal.
func gaps(b Builder, x, y Value) Value {
	d := sub(b, unsqueezed(b, y, -2), unsqueezed(b, x, -1))
	n := dims(x)[len(dims(x))-1]
	eye := lowerPart(b, upperPart(b, b.Full(shape.Spec{DType: x.Spec().DType, Dims: []int{n, n}}, 1), 0), 0)
	return plus(b, d, eye)
}

// eighGrad: dA = V·(diag(dw) + (Vᵀ·dV)/(wⱼ - wᵢ))·Vᵀ, made symmetric.
func eighGrad(b Builder, c *Call, dy []Value) []Value {
	w, v := c.Out[0], c.Out[1]
	inner := b.Do("diag_embed", nil, orZero(b, dy[0], w))
	if dy[1] != nil {
		f := b.Do("div", nil, mat(b, swapped(b, v), dy[1]), gaps(b, w, w))
		f = sub(b, f, b.Do("diag_embed", nil, b.Do("diagonal", attr("offset", 0, "dim1", -2, "dim2", -1), f)))
		inner = plus(b, inner, f)
	}
	return []Value{symmetric(b, mat(b, mat(b, v, inner), swapped(b, v)))}
}

// svdGrad: dA = U·(skew(Uᵀ·dU)/E·S + S·skew(Vᵀ·dV)/E + diag(dS))·Vᵀ with
// E = sⱼ² - sᵢ², and what dU and dV have outside the columns of U and V.
func svdGrad(b Builder, c *Call, dy []Value) []Value {
	u, s, vh := c.Out[0], c.Out[1], c.Out[2]
	v := swapped(b, vh)
	row := unsqueezed(b, s, -2)
	inner := b.Do("diag_embed", nil, orZero(b, dy[1], s))
	outside := Value(nil)
	add := func(x Value) {
		if outside == nil {
			outside = x
		} else {
			outside = plus(b, outside, x)
		}
	}
	if dy[0] != nil || dy[2] != nil {
		s2 := entrywise(b, s, s)
		e := gaps(b, s2, s2)
		skew := func(x Value) Value { return b.Do("div", nil, sub(b, x, swapped(b, x)), e) }
		if dy[0] != nil {
			ug := mat(b, swapped(b, u), dy[0])
			inner = plus(b, inner, entrywise(b, skew(ug), row))
			if d := dims(u); d[len(d)-2] > d[len(d)-1] {
				g := b.Do("div", nil, dy[0], row)
				add(mat(b, sub(b, g, mat(b, u, mat(b, swapped(b, u), g))), vh))
			}
		}
		if dy[2] != nil {
			gv := swapped(b, dy[2])
			vg := mat(b, vh, gv)
			inner = plus(b, inner, entrywise(b, unsqueezed(b, s, -1), skew(vg)))
			if d := dims(v); d[len(d)-2] > d[len(d)-1] {
				g := b.Do("div", nil, gv, row)
				g = sub(b, g, mat(b, v, mat(b, vh, g)))
				add(mat(b, u, swapped(b, g)))
			}
		}
	}
	g := mat(b, mat(b, u, inner), vh)
	if outside != nil {
		g = plus(b, g, outside)
	}
	return []Value{g}
}

// lowerFactor calls the routine of a factorization by name, as the real system
// does for what StableHLO has no operation for.
func lowerFactor(name string) func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	return func(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
		in := slices.DeleteFunc(slices.Clone(c.In), func(v stablehlo.Value) bool { return v.ID == "" })
		return w.Op("stablehlo.custom_call", in, c.Out, `call_target_name = "tpush.`+name+`"`)
	}
}

func lowerCholesky(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := c.In[0]
	r := x.Spec.Rank()
	upper := c.Attrs.Bool("upper")
	l := w.Cholesky(wideHLO(w, x), true)
	// The other triangle of the operation's result is not defined.
	keep := diagonalCompareHLO(w, "LE", x.Spec.Dims, r-2, r-1, 0)
	l = w.Select(keep, l, w.Splat(l.Spec, 0))
	if upper {
		l = w.Transpose(l, append(span(0, r-2), r-1, r-2))
	}
	return []stablehlo.Value{w.Convert(l, c.Out[0].DType)}
}

// wideHLO widens narrow floats to f32.
func wideHLO(w *stablehlo.Writer, x stablehlo.Value) stablehlo.Value {
	if x.Spec.DType.Bits() < 32 {
		return w.Convert(x, dtype.F32)
	}
	return x
}

func lowerTriangular(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	a, b, out := c.In[0], c.In[1], c.Out[0]
	batch := out.Dims[:out.Rank()-2]
	full := func(x stablehlo.Value) stablehlo.Value {
		d := x.Spec.Dims
		return w.BroadcastTo(wideHLO(w, x), append(slices.Clone(batch), d[len(d)-2:]...))
	}
	x := w.TriangularSolve(full(a), full(b), c.Attrs.Bool("left"), !c.Attrs.Bool("upper"), c.Attrs.Bool("unitriangular"), false)
	return []stablehlo.Value{w.Convert(x, out.DType)}
}
