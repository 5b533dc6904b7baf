package op

import (
	"bytes"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// TestFusedRowsGiveTheBitsOfTheirKernels runs the samples of every row with a
// recipe as a program of a fusion and by the kernel of the row, in four float types.
func TestFusedRowsGiveTheBitsOfTheirKernels(t *testing.T) {
	rows := map[Name]bool{}
	for name, list := range gradSamples() {
		def := Lookup(name)
		if !kernel.Recipes(string(name)) {
			continue
		}
		for k, s := range list {
			values, _ := s.build(name, k)
			a, err := def.Complete(s.attrs)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, float := range []dtype.DType{dtype.F32, dtype.BF16, dtype.F16, dtype.F64} {
				if fuseSample(t, def, a, values, float) {
					rows[name] = true
				}
			}
		}
	}
	if len(rows) < 60 {
		t.Errorf("only %d rows were fused", len(rows))
	}
}

// fuseSample compares one sample: no when its types or axes cannot be fused.
func fuseSample(t *testing.T, def *Def, a Attrs, values []Value, float dtype.DType) bool {
	t.Helper()
	in := make([]kernel.Array, len(values))
	specs := make([]shape.Spec, len(values))
	node := kernel.FusedNode{Row: string(def.Name), Attrs: a}
	for i, v := range values {
		node.In = append(node.In, -1)
		if v == nil {
			continue
		}
		in[i] = v.(*ev).arr
		if in[i].DType == dtype.F64 && !v.(*ev).spec.Weak {
			in[i] = kernel.Cast(in[i], float)
		}
		specs[i], node.In[i] = in[i].Spec(), i
	}
	out, err := def.Specs(specs, a)
	if err != nil || len(out) != 1 {
		return false
	}
	node.Out = out[0]
	space, ok := kernel.Fuses(node.Row, a, specs, node.Out)
	if !ok {
		return false
	}
	want, got := kernel.New(node.Out), kernel.New(node.Out)
	if err := def.Kernel(&kernel.Call{In: in, Out: []kernel.Array{want}, Attrs: a}); err != nil {
		t.Fatalf("%s: %v", def.Name, err)
	}
	f := kernel.NewFusion(space, specs, []kernel.FusedNode{node}, []int{len(in)})
	if err := f.Run(in, []kernel.Array{got}, func(int) kernel.Attrs { return a }); err != nil {
		t.Fatalf("%s: %v", def.Name, err)
	}
	if !bytes.Equal(got.Buf, want.Buf) {
		t.Errorf("%s of %v: fused %x, alone %x", def.Name, specs, got.Buf, want.Buf)
	}
	return true
}
