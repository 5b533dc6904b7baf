package op

import (
	"slices"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// pinvOps is the pseudoinverse. Singular values up to max(atol, rtol·largest)
// count as zero; the default of rtol, where atol is not positive, is the longer
// side times the precision of the type.
var pinvOps = []Def{
	{Name: "pinv", Torch: "linalg.pinv", Method: "PInv", Func: "PInv", Class: Contract, Traits: Composite,
		Doc: "The pseudoinverse of a matrix.", Example: `tpu.Ones(3, 2).PInv()`,
		Params: []Param{tensor("input"), {Name: "atol", Kind: KOptTensor, Doc: "a number, or one for each matrix"}, {Name: "rtol", Kind: KOptTensor, Doc: "likewise"},
			{Name: "hermitian", Kind: KBool, Default: false, Doc: "the matrix is symmetric; its lower triangle is read"}},
		Shape: pinvShape, DType: func(in []shape.Spec, a Attrs) (dtype.DType, error) { return floatType("pinv")(in[:1], a) },
		Grad: pinvGrad, Kernel: kernel.PInv, Lower: lowerFactor("pinv"), Cost: cubic(22)},
}

func pinvShape(in []shape.Spec, a Attrs) ([]int, error) {
	x := in[0]
	if err := matrixOf("pinv", x, a.Bool("hermitian")); err != nil {
		return nil, err
	}
	r := x.Rank()
	batch := x.Dims[:r-2]
	for _, t := range in[1:] {
		if !t.Valid() {
			continue
		}
		if d, ok := shape.Broadcast(batch, t.Dims); !ok || !shape.EqualDims(d, batch) {
			return nil, &shape.MismatchError{Op: "pinv", Left: x, Right: t, Axis: -1, Why: "the tolerance must be one number or one for each matrix"}
		}
	}
	return append(slices.Clone(batch), x.Dims[r-1], x.Dims[r-2]), nil
}

// pinvGrad is that of the pseudoinverse of a general matrix (Golub and Pereyra).
func pinvGrad(b Builder, c *Call, dy []Value) []Value {
	a, p := c.In[0], c.Out[0]
	g, pt := swapped(b, dy[0]), swapped(b, p)
	d := dims(a)
	out := make([]Value, len(c.In))
	if d[len(d)-2] <= d[len(d)-1] {
		k := mat(b, g, p)
		kp := mat(b, k, pt)
		x := sub(b, kp, swapped(b, mat(b, p, k)))
		x = sub(b, x, mat(b, mat(b, a, p), kp))
		out[0] = plus(b, x, mat(b, mat(b, pt, p), sub(b, g, mat(b, k, a))))
		return out
	}
	k := mat(b, p, g)
	pk := mat(b, pt, k)
	x := sub(b, pk, swapped(b, mat(b, k, p)))
	x = plus(b, x, mat(b, mat(b, sub(b, g, mat(b, a, k)), p), pt))
	out[0] = sub(b, x, mat(b, mat(b, pk, p), a))
	return out
}
