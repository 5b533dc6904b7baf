package op

import (
	"fmt"
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// luOps are the LU, LDL and Cholesky factors in the form in which they are
// kept, and what is solved with them. They compute in f64 and round once.
var luOps = []Def{
	{Name: "lu_factor_ex", Torch: "linalg.lu_factor_ex", Method: "LUFactorEx", Func: "LUFactorEx", Class: Contract, Traits: Composite,
		Results: []string{"factors", "pivots", "info"},
		Doc:     "L and U of P·L·U = A in one matrix, the row that each step swapped with, counted from 1, and the first pivot that is zero, 0 for none.",
		Example: `tpu.From([][]float64{{0, 1}, {2, 3}}).LUFactorEx()`,
		Params:  []Param{tensor("input"), {Name: "pivot", Kind: KBool, Default: true}, {Name: "check_errors", Kind: KBool, Default: false, Doc: "kept for PyTorch's signature"}},
		Infer:   factorInfer("lu_factor_ex", false), Grad: luFactorGrad, Kernel: kernel.LUFactor, Lower: lowerFactor("lu_factor"), Cost: cubic(2.0 / 3)},
	{Name: "lu_unpack", Torch: "lu_unpack", Method: "LUUnpack", Func: "LUUnpack", Class: Contract, Traits: Composite, Results: []string{"permutation", "lower", "upper"},
		Doc:     "P, L and U of the factors and pivots that LUFactorEx gives.",
		Example: `tpu.Eye(2).LUUnpack(tpu.I32.Of(2, 2))`,
		Params: []Param{tensor("LU_data"), tensor("LU_pivots"), {Name: "unpack_data", Kind: KBool, Default: true, Doc: "false: L and U are empty"},
			{Name: "unpack_pivots", Kind: KBool, Default: true, Doc: "false: P is empty"}},
		Infer: unpackInfer, Grad: luUnpackGrad, Kernel: kernel.LUUnpack, Lower: lowerFactor("lu_unpack"), Cost: moves},
	{Name: "lu_solve", Torch: "linalg.lu_solve", Func: "LUSolve", Class: Contract, Traits: Composite,
		Doc:     "X with A·X = B from the factors and pivots of A that LUFactorEx gives.",
		Example: `tpu.LUSolve(tpu.Eye(2), tpu.I32.Of(1, 2), tpu.Ones(2, 1))`,
		Params: []Param{tensor("LU"), tensor("pivots"), tensor("B"), {Name: "left", Kind: KBool, Default: true, Doc: "false: X·A = B"},
			{Name: "adjoint", Kind: KBool, Default: false, Doc: "true: Aᵀ in place of A"}},
		Shape: luSolveShape, DType: factorType("lu_solve"), Grad: luSolveGrad, Kernel: kernel.LUSolve, Lower: lowerFactor("lu_solve"), Cost: cubic(2)},
	{Name: "ldl_factor_ex", Torch: "linalg.ldl_factor_ex", Method: "LDLFactorEx", Func: "LDLFactorEx", Class: Contract, Traits: Composite,
		Results: []string{"factors", "pivots", "info"},
		Doc:     "L and D of a symmetric matrix P·L·D·Lᵀ·Pᵀ in one matrix, LAPACK's pivots, and the first block that is zero, 0 for none.",
		Example: `tpu.From([][]float64{{0, 1}, {1, 0}}).LDLFactorEx()`,
		Params: []Param{tensor("input"), {Name: "hermitian", Kind: KBool, Default: false, Doc: "means nothing for real numbers"},
			{Name: "check_errors", Kind: KBool, Default: false, Doc: "kept for PyTorch's signature"}},
		Infer: factorInfer("ldl_factor_ex", true), NoGrad: "PyTorch has no derivative for it either", Kernel: kernel.LDLFactor, Lower: lowerFactor("ldl_factor"), Cost: cubic(1.0 / 3)},
	{Name: "ldl_solve", Torch: "linalg.ldl_solve", Func: "LDLSolve", Class: Contract, Traits: Composite,
		Doc:     "X with A·X = B from the factors and pivots of A that LDLFactorEx gives.",
		Example: `tpu.LDLSolve(tpu.Eye(2), tpu.I32.Of(1, 2), tpu.Ones(2, 1))`,
		Params:  []Param{tensor("LD"), tensor("pivots"), tensor("B"), {Name: "hermitian", Kind: KBool, Default: false, Doc: "means nothing for real numbers"}},
		Shape:   luSolveShape, DType: factorType("ldl_solve"), NoGrad: "PyTorch has no derivative for it either", Kernel: kernel.LDLSolve, Lower: lowerFactor("ldl_solve"), Cost: cubic(2)},
	{Name: "cholesky_solve", Torch: "cholesky_solve", Method: "CholeskySolve", Func: "CholeskySolve", Class: Contract, Traits: Composite,
		Doc:     "X with A·X = B from the factor of A that Cholesky gives.",
		Example: `tpu.Ones(2, 1).CholeskySolve(tpu.Eye(2))`,
		Params:  []Param{tensor("B"), tensor("L"), {Name: "upper", Kind: KBool, Default: false, Doc: "the factor is the upper one"}},
		Shape:   choleskySolveShape, DType: floatType("cholesky_solve"), Grad: choleskySolveGrad, Kernel: kernel.CholeskySolve, Lower: lowerFactor("cholesky_solve"), Cost: cubic(2)},
	{Name: "cholesky_inverse", Torch: "cholesky_inverse", Method: "CholeskyInverse", Func: "CholeskyInverse", Class: Contract, Traits: Composite,
		Doc: "The inverse of a matrix from the factor that Cholesky gives of it.", Example: `tpu.Eye(2).CholeskyInverse()`,
		Params: []Param{tensor("L"), {Name: "upper", Kind: KBool, Default: false, Doc: "the factor is the upper one"}},
		Shape:  squareShape("cholesky_inverse"), DType: floatType("cholesky_inverse"), Grad: choleskyInverseGrad, Kernel: kernel.CholeskyInverse, Lower: lowerFactor("cholesky_inverse"), Cost: cubic(1)},
}

// factorInfer infers factors in place of the matrix, its pivots and the info.
func factorInfer(name string, square bool) func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	return func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
		t, err := floatType(name)(in, a)
		if err != nil {
			return nil, err
		}
		if err := matrixOf(name, in[0], square); err != nil {
			return nil, err
		}
		d := in[0].Dims
		r := len(d)
		lead := d[:r-2]
		return []shape.Spec{{DType: t, Dims: d}, {DType: dtype.I32, Dims: append(slices.Clone(lead), min(d[r-2], d[r-1]))},
			{DType: dtype.I32, Dims: slices.Clone(lead)}}, nil
	}
}

// pivotsOf refuses pivots that are no integers or do not go with the matrices.
func pivotsOf(name string, m, p shape.Spec) error {
	if !p.DType.IsInt() {
		return &TypeError{Op: name, Arg: "pivots", DType: p.DType, Want: "an integer"}
	}
	r := m.Rank()
	want := append(slices.Clone(m.Dims[:r-2]), min(m.Dims[r-2], m.Dims[r-1]))
	if !shape.EqualDims(p.Dims, want) {
		return &shape.MismatchError{Op: name, Left: m, Right: p, Axis: -1, Why: fmt.Sprintf("the pivots must be %v", want)}
	}
	return nil
}

func unpackInfer(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
	const name = "lu_unpack"
	t, err := floatType(name)(in[:1], a)
	if err != nil {
		return nil, err
	}
	if err := matrixOf(name, in[0], false); err != nil {
		return nil, err
	}
	if err := pivotsOf(name, in[0], in[1]); err != nil {
		return nil, err
	}
	r := in[0].Rank()
	m, n := in[0].Dims[r-2], in[0].Dims[r-1]
	k := min(m, n)
	of := func(yes bool, rows, cols int) shape.Spec {
		if !yes {
			return shape.Spec{DType: t, Dims: []int{0}}
		}
		return shape.Spec{DType: t, Dims: append(slices.Clone(in[0].Dims[:r-2]), rows, cols)}
	}
	data := a.Bool("unpack_data")
	return []shape.Spec{of(a.Bool("unpack_pivots"), m, m), of(data, m, k), of(data, k, n)}, nil
}

// factorType is the common float type of the factors and B, the first and the last input.
func factorType(name string) func(in []shape.Spec, a Attrs) (dtype.DType, error) {
	return func(in []shape.Spec, a Attrs) (dtype.DType, error) {
		return floatType(name)([]shape.Spec{in[0], in[2]}, a)
	}
}

func luSolveShape(in []shape.Spec, a Attrs) ([]int, error) {
	const name = "lu_solve"
	m, y := in[0], in[2]
	if err := matrixOf(name, m, true); err != nil {
		return nil, err
	}
	if err := matrixOf(name, y, false); err != nil {
		return nil, err
	}
	if err := pivotsOf(name, m, in[1]); err != nil {
		return nil, err
	}
	axis := y.Rank() - 2
	if a.Get("left") == false {
		axis++
	}
	return solvedDims(name, m, y, axis)
}

// solvedDims gives the dimensions of y with the batch of both; axis of y meets the matrices.
func solvedDims(name string, m, y shape.Spec, axis int) ([]int, error) {
	if n := m.Dims[m.Rank()-1]; y.Dims[axis] != n {
		return nil, &shape.MismatchError{Op: name, Left: m, Right: y, Axis: axis, Why: fmt.Sprintf("sizes %d and %d differ", n, y.Dims[axis])}
	}
	batch, ok := shape.Broadcast(m.Dims[:m.Rank()-2], y.Dims[:y.Rank()-2])
	if !ok {
		return nil, &shape.MismatchError{Op: name, Left: m, Right: y, Axis: -1, Why: "batch sizes do not broadcast"}
	}
	return append(slices.Clone(batch), y.Dims[y.Rank()-2:]...), nil
}

func choleskySolveShape(in []shape.Spec, _ Attrs) ([]int, error) {
	const name = "cholesky_solve"
	if err := matrixOf(name, in[1], true); err != nil {
		return nil, err
	}
	if err := matrixOf(name, in[0], false); err != nil {
		return nil, err
	}
	return solvedDims(name, in[1], in[0], in[0].Rank()-2)
}

// choleskySolveGrad: with Z = A⁻¹·dX, dB = Z and dL = -(Z·Xᵀ + X·Zᵀ)·L, the
// whole matrix as PyTorch has it, not only the triangle that is read.
func choleskySolveGrad(b Builder, c *Call, dy []Value) []Value {
	l, x := c.In[1], c.Out[0]
	z := b.Do("cholesky_solve", c.Attrs, dy[0], l)
	out := []Value{nil, nil}
	if c.Needs[0] {
		out[0] = reduceTo(b, z, dims(c.In[0]))
	}
	if c.Needs[1] {
		s := mat(b, z, swapped(b, x))
		s = minus(b, plus(b, s, swapped(b, s)))
		if c.Attrs.Bool("upper") {
			s = mat(b, l, s)
		} else {
			s = mat(b, s, l)
		}
		out[1] = reduceTo(b, s, dims(l))
	}
	return out
}

// choleskyInverseGrad: dL = -A⁻¹·(G + Gᵀ)·A⁻¹·L, the whole matrix.
func choleskyInverseGrad(b Builder, c *Call, dy []Value) []Value {
	l, inv := c.In[0], c.Out[0]
	s := plus(b, dy[0], swapped(b, dy[0]))
	s = minus(b, mat(b, mat(b, inv, s), inv))
	if c.Attrs.Bool("upper") {
		return []Value{mat(b, l, s)}
	}
	return []Value{mat(b, s, l)}
}

// block cuts rows [r0,r1) and columns [c0,c1) of matrices.
func block(b Builder, x Value, r0, r1, c0, c1 int) Value {
	cut := func(x Value, dim, lo, hi int) Value {
		d := dims(x)
		if lo == 0 && hi == d[len(d)+dim] {
			return x
		}
		return b.Do("slice", attr("dim", dim, "start", lo, "end", hi, "step", 1), x)
	}
	return cut(cut(x, -2, r0, r1), -1, c0, c1)
}

// inCorner is x in the upper left of zeros of rows × cols.
func inCorner(b Builder, x Value, rows, cols int) Value {
	d := dims(x)
	n := len(d)
	if d[n-2] == rows && d[n-1] == cols {
		return x
	}
	return b.Do("pad", attr("pad", []int{0, cols - d[n-1], 0, rows - d[n-2]}), x)
}

// luFactorGrad: for a square A, with ΦL = tril(Lᵀ·dL,-1) and ΦU = triu(dU·Uᵀ),
// dA = P·L⁻ᵀ·(ΦL + ΦU)·U⁻ᵀ. The rows or columns beyond the square part are
// solved for, and change ΦL or ΦU.
func luFactorGrad(b Builder, c *Call, dy []Value) []Value {
	lu, g := c.Out[0], dy[0]
	if g == nil {
		return []Value{nil}
	}
	d := dims(lu)
	m, n := d[len(d)-2], d[len(d)-1]
	k := min(m, n)
	f := b.All("lu_unpack", nil, lu, c.Out[1])
	p, l, u := f[0], f[1], f[2]
	l1, u1 := block(b, l, 0, k, 0, k), block(b, u, 0, k, 0, k)
	gl, gu := lowerPart(b, block(b, g, 0, k, 0, k), -1), upperPart(b, block(b, g, 0, k, 0, k), 0)
	phiL, phiU := mat(b, swapped(b, l1), gl), mat(b, gu, swapped(b, u1))
	var beyond Value // of P·A
	if n > m {
		g2, u2 := block(b, g, 0, k, k, n), block(b, u, 0, k, k, n)
		phiL = sub(b, phiL, mat(b, g2, swapped(b, u2)))
		beyond = triangular(b, swapped(b, l1), g2, true, true, true)
	}
	if m > n {
		g2, l2 := block(b, g, k, m, 0, k), block(b, l, k, m, 0, k)
		phiU = sub(b, phiU, mat(b, swapped(b, l2), g2))
		beyond = triangular(b, swapped(b, u1), g2, false, false, false)
	}
	phi := plus(b, lowerPart(b, phiL, -1), upperPart(b, phiU, 0))
	x := triangular(b, swapped(b, u1), triangular(b, swapped(b, l1), phi, true, true, true), false, false, false)
	switch {
	case n > m:
		x = b.Do("cat", attr("dim", -1), x, beyond)
	case m > n:
		x = b.Do("cat", attr("dim", -2), x, beyond)
	}
	return []Value{mat(b, p, x)}
}

func luUnpackGrad(b Builder, c *Call, dy []Value) []Value {
	d := dims(c.In[0])
	m, n := d[len(d)-2], d[len(d)-1]
	var g Value
	if dy[1] != nil && c.Attrs.Bool("unpack_data") {
		g = inCorner(b, lowerPart(b, dy[1], -1), m, n)
	}
	if dy[2] != nil && c.Attrs.Bool("unpack_data") {
		u := inCorner(b, upperPart(b, dy[2], 0), m, n)
		if g != nil {
			u = plus(b, g, u)
		}
		g = u
	}
	return []Value{g, nil}
}

// luSolveGrad: dB = A⁻ᵀ·dX; with -dB·Xᵀ = P·N, the part of L is tril(N·Uᵀ,-1) and that of U triu(Lᵀ·N).
func luSolveGrad(b Builder, c *Call, dy []Value) []Value {
	left, adjoint := c.Attrs.Bool("left"), c.Attrs.Bool("adjoint")
	lu, piv, x := c.In[0], c.In[1], c.Out[0]
	gb := b.Do("lu_solve", attr("left", left, "adjoint", !adjoint), lu, piv, dy[0])
	out := make([]Value, 3)
	if c.Needs[2] {
		out[2] = reduceTo(b, gb, dims(c.In[2]))
	}
	if c.Needs[0] {
		y, z := gb, x // -y·zᵀ is the gradient of A
		if !left {
			y, z = swapped(b, x), swapped(b, gb)
		}
		if adjoint {
			y, z = z, y
		}
		f := b.All("lu_unpack", nil, lu, piv)
		n := minus(b, mat(b, swapped(b, f[0]), mat(b, y, swapped(b, z))))
		g := plus(b, lowerPart(b, mat(b, n, swapped(b, f[2])), -1), upperPart(b, mat(b, swapped(b, f[1]), n), 0))
		out[0] = reduceTo(b, g, dims(lu))
	}
	return out
}
