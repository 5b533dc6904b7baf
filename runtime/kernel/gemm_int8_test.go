package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/simd"
)

func TestInt8AgreesWithWideIntegers(t *testing.T) {
	if simd.Chosen() == simd.Generic {
		t.Skip("the level does not multiply bytes")
	}
	r := rand.New(rand.NewPCG(3, 9))
	array := func(dims ...int) Array {
		a := New(shape.Of(dtype.I8, dims...))
		for i := range a.Buf {
			a.Buf[i] = byte(r.Uint32())
		}
		return a
	}
	for _, d := range []struct{ batch, m, n, k int }{{1, 64, 64, 64}, {3, 70, 33, 130}, {1, 1, 700, 300}, {2, 300, 5, 129}, {1, 260, 300, 65}} {
		for layout := range 4 {
			a, b := array(d.batch, d.m, d.k), array(d.batch, d.k, d.n)
			if layout&1 != 0 {
				a = swapped(array(d.batch, d.k, d.m))
			}
			if layout&2 != 0 {
				b = swapped(array(d.batch, d.n, d.k))
			}
			for _, dt := range []dtype.DType{dtype.I8, dtype.I32} {
				got, want := New(shape.Of(dt, d.batch, d.m, d.n)), New(shape.Of(dt, d.batch, d.m, d.n))
				con := matmulViews(a.View, b.View, got.Dims)
				if !contractInt8(got, con, a, b) {
					t.Fatal("the product was not taken")
				}
				contractAs[int64](want, con, a, b, nil)
				if !slices.Equal(got.Buf, want.Buf) {
					t.Errorf("%+v, layout %d, %v differs", d, layout, dt)
				}
			}
		}
	}
}
