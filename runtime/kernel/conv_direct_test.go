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
		if r.IntN(2) == 0 { // enough for the lanes to hold channels
			ci, og = 1+r.IntN(50), 16+r.IntN(40)
		}
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

// Whether the lanes hold places or channels, and where the panels of channels
// end, must not change a bit.
func TestConvolutionOfManyChannelsIsThatOfEach(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 25 {
		stride, padding, dilation := 1+r.IntN(3), r.IntN(3), 1+r.IntN(2)
		ci, o, h, w, batch := 17+r.IntN(60), 16+r.IntN(50), 5+r.IntN(20), 5+r.IntN(20), 1+r.IntN(3)
		name := fmt.Sprintf("%d×[%d,%d,%d] to %d channels, stride %d, padding %d, dilation %d", batch, ci, h, w, o, stride, padding, dilation)
		attrs := Attrs{{"stride", []int{stride}}, {"padding", []int{padding}}, {"dilation", []int{dilation}}, {"groups", 1}, {"size", []int{3, 3}}}
		g := NewConv(attrs, []int{h, w}, []int{3, 3})
		x, wt := randomArray(r, dtype.F32, []int{batch, ci, h, w}), randomArray(r, dtype.F32, []int{o, ci, 3, 3})
		dy := randomArray(r, dtype.F32, []int{batch, o, g.Out[1], g.Out[2]})
		run := func(f Func, a, b Array, dims []int, attrs Attrs) []float32 {
			out := New(shape.Of(dtype.F32, dims...))
			if err := f(&Call{In: []Array{a, b}, Out: []Array{out}, Attrs: attrs}); err != nil {
				t.Fatal(err)
			}
			return As[float32](out.Buf)[:out.Size()]
		}
		// one gives channel c of axis 1 of an array, or row c of axis 0.
		one := func(a Array, axis, c int) Array {
			v, err := a.View.Narrow(axis, c, 1)
			if err != nil {
				t.Fatal(err)
			}
			return Contiguous(Array{DType: a.DType, View: v, Buf: a.Buf})
		}
		same := func(what string, c int, whole, part []float32, at func(i int) int) {
			for i, v := range part {
				if whole[at(i)] != v {
					t.Fatalf("%s of %s: element %d of channel %d is %v among others, %v alone", what, name, i, c, whole[at(i)], v)
				}
			}
		}
		forward := run(Convolve, x, wt, dy.Dims, attrs)
		weight := run(ConvolveWeight, x, dy, wt.Dims, attrs)
		out, in := g.Out[1]*g.Out[2], h*w
		for _, c := range []int{0, 15, o - 1} {
			same("result", c, forward, run(Convolve, x, one(wt, 0, c), []int{batch, 1, g.Out[1], g.Out[2]}, attrs),
				func(i int) int { return (i/out*o+c)*out + i%out })
			same("gradient of the weight", c, weight, run(ConvolveWeight, x, one(dy, 1, c), []int{1, ci, 3, 3}, attrs),
				func(i int) int { return c*ci*9 + i })
		}
		attrs[4].Value = []int{h, w}
		input := run(ConvolveInput, dy, wt, x.Dims, attrs)
		for _, c := range []int{0, ci - 1} {
			same("gradient of the input", c, input, run(ConvolveInput, dy, one(wt, 1, c), []int{batch, 1, h, w}, attrs),
				func(i int) int { return (i/in*ci+c)*in + i%in })
		}
	}
}
