package op_test

import (
	"errors"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// TestComplexIsComputedOrRefused gives complex operands to every row that
// takes tensors alone: it computes, or inference refuses by type.
func TestComplexIsComputedOrRefused(t *testing.T) {
	for _, table := range op.All() {
		for i := range table {
			d := &table[i]
			attrs, err := d.Complete(nil)
			if err != nil || d.Kernel == nil || d.Has(op.Draws) || len(d.Inputs()) == 0 || d.Inputs()[len(d.Inputs())-1].Kind == op.KTensors {
				continue
			}
			for _, c := range []dtype.DType{dtype.C64, dtype.C128} {
				in := make([]kernel.Array, len(d.Inputs()))
				specs := make([]shape.Spec, len(in))
				for k := range in {
					in[k] = kernel.Cast(ones(3, 3), c)
					specs[k] = in[k].Spec()
				}
				outs, err := d.Specs(specs, attrs)
				if err != nil {
					continue
				}
				call := &kernel.Call{In: in, Attrs: attrs}
				for _, s := range outs {
					call.Out = append(call.Out, kernel.New(s))
				}
				var e *kernel.UnsupportedError
				if err := d.Kernel(call); errors.As(err, &e) {
					t.Errorf("%s infers %v of %v and has no loop for it", d.Name, outs, c)
				}
			}
		}
	}
}

func ones(dims ...int) kernel.Array {
	a := kernel.New(shape.Of(dtype.F64, dims...))
	for i := range a.Size() {
		kernel.As[float64](a.Buf)[i] = 1
	}
	return a
}
