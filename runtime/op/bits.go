package op

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// Rows that look at how numbers are kept.
const (
	Frexp      Name = "frexp"
	HashTensor Name = "hash_tensor"
)

var bitsOps = []Def{
	{Name: Frexp, Torch: "frexp.Tensor", Method: "Frexp", Func: "Frexp", Class: Elementwise, Traits: Composite, Results: []string{"mantissa", "exponent"},
		Params: unaryParams, Doc: "Mantissa, at least one half and below one, and power of two of each element.", Example: `tpu.Of(8.0, 0.3).Frexp()`,
		Infer: func(in []shape.Spec, a Attrs) ([]shape.Spec, error) {
			t, err := floatsOnly(in, a)
			return []shape.Spec{{DType: t, Dims: in[0].Dims}, {DType: dtype.I32, Dims: in[0].Dims}}, err
		},
		Kernel: kernel.Frexp, Cost: perElement(8, VPU), Lower: lowerFactor("frexp"),
		Grad: func(b Builder, c *Call, dy []Value) []Value {
			k := calc{b}
			if dy[0] == nil {
				return []Value{nil}
			}
			return []Value{k.div(dy[0], k.to(k.do("exp2", k.to(c.Out[1], dtype.F32)), dy[0].Spec().DType))}
		}},
	{Name: HashTensor, Torch: "hash_tensor", Method: "HashTensor", Class: Reduce, Traits: Composite,
		Params: []Param{tensor("self"), dimsParam(), keepParam(), {Name: "mode", Kind: KInt, Default: 0, Doc: "0: exclusive or"}},
		Doc:    "Exclusive or of the bits of all elements, as f64 or i64.", Example: `tpu.Of(1.0, 2.0).HashTensor()`,
		Shape: reduced(HashTensor), DType: func(in []shape.Spec, a Attrs) (dtype.DType, error) {
			if m := a.Int("mode"); m != 0 {
				return dtype.Invalid, &shape.ArgumentError{Op: string(HashTensor), Arg: "mode", Value: m, Why: "must be 0"}
			}
			_, err := realOnly(in, a)
			return dtype.U64, err
		},
		Kernel: kernel.HashTensor, Cost: perInput(1), Lower: lowerFactor("hash_tensor"), NoGrad: "the result is bits"},
}
