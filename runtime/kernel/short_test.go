package kernel

import (
	"bytes"
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// TestShortWayGivesTheBitsOfThePrograms computes pairs of special values alone and in a long array.
func TestShortWayGivesTheBitsOfThePrograms(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	var a, b []float64
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -2.5, 1e38, -3e38, 1e-45, inf, -inf, nan} {
		for _, y := range []float64{0, math.Copysign(0, -1), 3, -0.1, 2e38, 7e-39, inf, -inf, nan} {
			a, b = append(a, x), append(b, y)
		}
	}
	long := [2]Array{array(dtype.F32, a, len(a)), array(dtype.F32, b, len(b))}
	if len(a) <= shortLen {
		t.Fatal("the array is short")
	}
	for name, f := range map[string]Func{"add": Add, "sub": Sub, "mul": Mul, "div": Div} {
		want := New(shape.Of(dtype.F32, len(a)))
		if err := f(&Call{In: long[:], Out: []Array{want}}); err != nil {
			t.Fatal(err)
		}
		for i := range a {
			got := New(shape.Of(dtype.F32, 1))
			in := []Array{array(dtype.F32, a[i:i+1], 1), array(dtype.F32, b[i:i+1], 1)}
			if err := f(&Call{In: in, Out: []Array{got}}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Buf, want.Buf[4*i:4*i+4]) {
				t.Errorf("%s(%v, %v) = %x alone, %x among many", name, a[i], b[i], got.Buf, want.Buf[4*i:4*i+4])
			}
		}
	}
}
