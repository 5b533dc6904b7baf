package kernel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// Slices are added in the order of their indices; indices outside are left out.
func TestIndexAddKeepsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, d := range []struct{ outer, n, inner, picks int }{{1, 7, 300, 40}, {3, 5, 64, 17}, {2, 9, 1, 30}, {1, 4, 130, 0}, {2, 100, 70, 3}, {2, 3, 0, 4}} {
		for _, dt := range []dtype.DType{dtype.F32, dtype.F64, dtype.I32} {
			x, src := randomArray(r, dt, []int{d.outer, d.n, d.inner}), randomArray(r, dt, []int{d.outer, d.picks, d.inner})
			idx := New(shape.Of(dtype.I64, d.picks))
			ids := As[int64](idx.Buf)
			for i := range ids {
				ids[i] = int64(r.IntN(d.n+2)) - 1
			}
			out := New(shape.Of(dt, d.outer, d.n, d.inner))
			if err := IndexAdd(&Call{In: []Array{x, idx, src}, Out: []Array{out}, Attrs: Attrs{{Name: "dim", Value: 1}}}); err != nil {
				t.Fatal(err)
			}
			want, from := Float64s(x), Float64s(src)
			for o := range d.outer {
				for i, k := range ids {
					for j := range d.inner {
						if k >= 0 && k < int64(d.n) {
							to := (o*d.n+int(k))*d.inner + j
							want[to] = dt.Round(want[to] + from[(o*d.picks+i)*d.inner+j])
						}
					}
				}
			}
			if got := Float64s(out); !slices.Equal(got, want) {
				t.Errorf("%v %+v: differs", dt, d)
			}
		}
	}
}
