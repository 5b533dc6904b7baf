package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Changes of the element type.
const (
	To      Name = "to"
	Bitcast Name = "bitcast"
)

var castOps = []Def{
	{Name: To, Torch: "to.dtype", Method: "To", Class: Elementwise, Params: []Param{tensor("input"), {Name: "dtype", Kind: KDType, Doc: "type of the result"}},
		Doc: "Elements converted to another type, rounded to nearest even or toward zero.", Example: `tpu.Of(1.5, -2.7).To(tpu.I32)`,
		Shape: likeInput, DType: givenType, Kernel: kernel.To, Cost: perElement(1, VPU), Lower: lowerTo,
		Grad: parts(func(k ew, dy Value) Value {
			return k.Do(To, Attrs{{Name: "dtype", Value: k.a().Spec().DType}}, dy)
		})},
	{Name: Bitcast, Torch: "view.dtype", Method: "Bitcast", Class: Elementwise, Params: []Param{tensor("input"), {Name: "dtype", Kind: KDType, Doc: "type of the result"}},
		Doc: "Bits of the elements taken as another type; the last axis shrinks or grows with the width.", Example: `tpu.Of(1.0, 2.0).Bitcast(tpu.BitcastOptions{DType: tpu.I32})`,
		Shape: bitcastShape, DType: givenType, Kernel: kernel.Bitcast, Cost: moves, Lower: lowerBitcast,
		NoGrad: "bits have no derivative"},
}

// givenType is attribute dtype.
func givenType(in []shape.Spec, a Attrs) (dtype.DType, error) {
	t := a.DType("dtype")
	if t == dtype.Invalid {
		return t, &shape.ArgumentError{Arg: "dtype", Value: t, Why: "required"}
	}
	return t, nil
}

// bitcastShape keeps the number of bits: f32[2,4] is u8[2,16].
func bitcastShape(in []shape.Spec, a Attrs) ([]int, error) {
	s, t := in[0], a.DType("dtype")
	if t == dtype.Invalid {
		return nil, &shape.ArgumentError{Op: string(Bitcast), Arg: "dtype", Value: t, Why: "required"}
	}
	from, to := s.DType.HostBytes(), t.HostBytes()
	if (s.DType.Bits() < 8 || t.Bits() < 8) && s.DType.Bits() != t.Bits() {
		return nil, &shape.ArgumentError{Op: string(Bitcast), Arg: "dtype", Value: t, Why: "4-bit types can only become each other"}
	}
	if from == to {
		return s.Dims, nil
	}
	if s.Rank() == 0 || s.Dims[s.Rank()-1]*from%to != 0 {
		return nil, &shape.ArgumentError{Op: string(Bitcast), Arg: "input", Value: s, Why: "the last axis does not divide into " + t.String()}
	}
	dims := append([]int(nil), s.Dims...)
	dims[len(dims)-1] = dims[len(dims)-1] * from / to
	return dims, nil
}

// lowerTo compares with zero for bools: convert would truncate first.
func lowerTo(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x := c.In[0]
	if c.Out[0].DType == dtype.Bool && x.Spec.DType != dtype.Bool {
		return []stablehlo.Value{w.Compare("NE", x, w.Splat(x.Spec, 0))}
	}
	return []stablehlo.Value{w.Convert(x, c.Out[0].DType)}
}

// lowerBitcast splits or joins elements along an extra last axis, as StableHLO does.
func lowerBitcast(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	x, out := c.In[0], like1(c.Out[0])
	from, to := x.Spec.DType.HostBytes(), out.DType.HostBytes()
	switch {
	case from > to:
		wide := append(append([]int(nil), x.Spec.Dims...), from/to)
		x = w.Do("bitcast_convert", shape.Spec{DType: out.DType, Dims: wide}, "", x)
		return []stablehlo.Value{w.Reshape(x, out.Dims)}
	case from < to:
		x = w.Reshape(x, append(append([]int(nil), out.Dims...), to/from))
	}
	return []stablehlo.Value{w.Do("bitcast_convert", out, "", x)}
}
