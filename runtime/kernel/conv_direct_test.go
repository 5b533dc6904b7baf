package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

// The direct way in f32 and the columns in f64 must agree, for any geometry,
// and threads must not change a bit.
func TestDirectConvolutionAgreesWithColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 120 {
		kh, kw := 1+r.IntN(3), 1+r.IntN(4)
		sh, sw := 1+r.IntN(3), 1+r.IntN(3)
		dh, dw := 1+r.IntN(2), 1+r.IntN(2)
		ph, pw := r.IntN(3), r.IntN(3)
		oh, ow := 1+r.IntN(5), 1+r.IntN(40)
		h, w := (oh-1)*sh+dh*(kh-1)+1-2*ph+r.IntN(sh), (ow-1)*sw+dw*(kw-1)+1-2*pw+r.IntN(sw)
		if h < 1 || w < 1 {
			continue
		}
		groups, batch := 1+r.IntN(2), 1+r.IntN(3)
		ci, og := 1+r.IntN(20), 1+r.IntN(15)
		name := fmt.Sprintf("%d×[%d,%d,%d]*[%d,%d,%d] of %d groups, stride %d,%d dilation %d,%d padding %d,%d", batch, ci, h, w, og, kh, kw, groups, sh, sw, dh, dw, ph, pw)
		attrs := Attrs{{"stride", []int{sh, sw}}, {"padding", []int{ph, pw}}, {"dilation", []int{dh, dw}}, {"groups", groups}}
		x, wt := randomArray(r, dtype.F32, []int{batch, groups * ci, h, w}), randomArray(r, dtype.F32, []int{groups * og, ci, kh, kw})
		dy := randomArray(r, dtype.F32, []int{batch, groups * og, oh, ow})
		for _, c := range []struct {
			op   string
			f    Func
			a, b Array
			out  []int
			size []int
		}{
			{"forward", Convolve, x, wt, dy.Dims, nil},
			{"input", ConvolveInput, dy, wt, x.Dims, []int{h, w}},
			{"weight", ConvolveWeight, x, dy, wt.Dims, []int{kh, kw}},
		} {
			at := append(append(Attrs{}, attrs...), Attr{"size", c.size})
			run := func(d dtype.DType) Array {
				out := New(shape.Of(d, c.out...))
				for i := range out.Buf {
					out.Buf[i] = 0xA5
				}
				if err := c.f(&Call{In: []Array{Cast(c.a, d), Cast(c.b, d)}, Out: []Array{out}, Attrs: at}); err != nil {
					t.Fatal(err)
				}
				return out
			}
			one := func() Array {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				return run(dtype.F32)
			}()
			got, want := Float64s(run(dtype.F32)), Float64s(run(dtype.F64))
			for i, x := range Float64s(one) {
				if x != got[i] {
					t.Fatalf("%s %s: element %d depends on the threads", c.op, name, i)
				}
				if math.Abs(x-want[i]) > 1e-3*(1+math.Abs(want[i])) {
					t.Fatalf("%s %s: element %d is %v, want %v", c.op, name, i, x, want[i])
				}
			}
		}
	}
}
