package op

import (
	"math/bits"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// FourierPair is the row that all Fourier transforms are made of.
const FourierPair Name = "fft_c2c"

// fourierOps work on complex numbers as two real tensors.
var fourierOps = []Def{
	{
		Name: FourierPair, Torch: "_fft_c2c", Class: Contract, Traits: Composite, Results: []string{"re", "im"},
		Doc: "Fourier transform of the last axis of re + i·im, times scale.",
		Params: []Param{tensor("re"), {Name: "im", Kind: KOptTensor, Doc: "imaginary parts; none: zeros"},
			flag("inverse", false, "with the other sign in the exponent"), {Name: "scale", Kind: KFloat, Default: 1.0, Doc: "factor of the result"}},
		Infer: fourierInfer, Grad: fourierGrad,
		Kernel: kernel.FFT, Lower: fourierHLO, Cost: perFourier,
	},
}

func fourierInfer(in []shape.Spec, _ Attrs) ([]shape.Spec, error) {
	re := in[0]
	switch {
	case !re.DType.IsFloat():
		return nil, &TypeError{Op: string(FourierPair), Arg: "re", DType: re.DType, Want: "a float"}
	case len(re.Dims) == 0 || re.Dims[len(re.Dims)-1] == 0:
		return nil, &shape.ArgumentError{Op: string(FourierPair), Arg: "re", Value: re.Dims, Why: "there is no element to transform"}
	case len(in) > 1 && in[1].DType != dtype.Invalid && !in[1].Equal(re):
		return nil, &shape.MismatchError{Op: string(FourierPair), Left: re, Right: in[1], Axis: -1}
	}
	return []shape.Spec{re, re}, nil
}

// fourierGrad is the transposed map: the transform with the other sign.
func fourierGrad(b Builder, c *Call, dy []Value) []Value {
	for i := range dy {
		if dy[i] == nil {
			dy[i] = b.Full(c.Out[i].Spec(), 0)
		}
	}
	d := b.All(FourierPair, Attrs{{Name: "inverse", Value: !c.Attrs.Bool("inverse")}, {Name: "scale", Value: c.Attrs.Float("scale")}}, dy[0], dy[1])
	if len(c.In) < 2 || c.In[1] == nil {
		return []Value{d[0], nil}
	}
	return d
}

func fourierHLO(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	re, out := c.In[0], c.Out[0]
	t := out.DType
	z := dtype.C64
	switch {
	case t == dtype.F64:
		z = dtype.C128
	case t != dtype.F32:
		t = dtype.F32
		re = w.Convert(re, t)
	}
	im := w.Splat(re.Spec, 0)
	if len(c.In) > 1 && c.In[1].ID != "" {
		im = w.Convert(c.In[1], t)
	}
	n := out.Dims[len(out.Dims)-1]
	kind, scale := "FFT", c.Attrs.Float("scale")
	if c.Attrs.Bool("inverse") {
		kind, scale = "IFFT", scale*float64(n) // XLA divides
	}
	x := w.Do("complex", shape.Spec{DType: z, Dims: out.Dims}, "", re, im)
	y := w.FFT(x, kind, []int{n})
	vs := make([]stablehlo.Value, 2)
	for i, part := range []string{"real", "imag"} {
		v := w.Do(part, shape.Spec{DType: t, Dims: out.Dims}, "", y)
		if scale != 1 {
			v = w.Do("multiply", v.Spec, "", v, w.Full(v, scale))
		}
		vs[i] = w.Convert(v, out.DType)
	}
	return vs
}

// perFourier charges 5·n·log₂n operations for n numbers, as is usual.
func perFourier(in, _ []shape.Spec, _ Attrs) Cost {
	e := int64(in[0].Size())
	n := in[0].Dims[len(in[0].Dims)-1]
	ops := 5 * e * int64(max(1, bits.Len(uint(n-1))))
	return Cost{FLOPs: ops, VPUOps: ops, XLUOps: e, Unit: VPU}
}
