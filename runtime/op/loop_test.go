package op

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// TestLoopsAreTheirKernels runs each elementwise row on dense operands and, when
// its kernel is nothing but a loop, that loop on other arrays: the bits are those
// of the kernel.
func TestLoopsAreTheirKernels(t *testing.T) {
	loops := 0
	for _, d := range slices.Concat(All()...) {
		if d.Class != Elementwise || d.Kernel == nil || d.Infer != nil || d.Shape == nil {
			continue
		}
		attrs, err := d.Complete(nil)
		if err != nil {
			continue
		}
		for _, dt := range []dtype.DType{dtype.F32, dtype.BF16, dtype.F64, dtype.I32, dtype.Bool, dtype.C64} {
			for _, n := range []int{5, 64, 300} {
				for operands := 1; operands <= 3; operands++ {
					if loopAgrees(t, &d, attrs, shape.Of(dt, n), operands) {
						loops++
					}
				}
			}
		}
	}
	if loops < 500 {
		t.Errorf("%d loops were compared", loops)
	}
}

func loopAgrees(t *testing.T, d *Def, attrs Attrs, s shape.Spec, operands int) bool {
	n := 0
	for _, p := range d.Inputs() {
		if p.Kind == KTensors {
			return false
		}
		n++
	}
	if n != operands {
		return false
	}
	specs := make([]shape.Spec, n)
	for i := range specs {
		specs[i] = s
	}
	out, err := d.Spec(specs, attrs)
	if err != nil {
		return false
	}
	call := func(seed int, m *kernel.Memo) *kernel.Call {
		c := &kernel.Call{Attrs: attrs, Memo: m, Out: []kernel.Array{kernel.NewRaw(out)}}
		for i := range specs {
			a := kernel.New(s)
			for k := range a.Buf {
				a.Buf[k] = byte((k*7+i*31+seed*13)%251) % 128
				if s.DType == dtype.Bool {
					a.Buf[k] &= 1
				}
			}
			c.In = append(c.In, a)
		}
		return c
	}
	var m kernel.Memo
	first := call(1, &m)
	if d.Kernel(first) != nil {
		return false
	}
	loop := m.Loop(first)
	if loop == nil {
		return false
	}
	want, got := call(2, nil), call(2, nil)
	if err := d.Kernel(want); err != nil {
		t.Errorf("%s of %v: %v", d.Name, s, err)
	}
	in := make([][]byte, n)
	for i := range in {
		in[i] = got.In[i].Buf
	}
	if !loop.Run(got.Out[0].Buf, in) {
		t.Errorf("%s of %v: the loop refuses its arrays", d.Name, s)
	}
	if !bytes.Equal(got.Out[0].Buf, want.Out[0].Buf) {
		t.Errorf("%s of %v: the loop gives other bits than the kernel", d.Name, s)
	}
	if loop.Run(got.Out[0].Buf[1:], in) || loop.Run(got.Out[0].Buf, in[1:]) {
		t.Errorf("%s of %v: the loop takes arrays that are too short", d.Name, s)
	}
	return true
}
