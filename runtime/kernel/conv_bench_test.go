package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

func BenchmarkConvolution(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, w := randomArray(r, dtype.F32, []int{32, 16, 32, 32}), randomArray(r, dtype.F32, []int{32, 16, 3, 3})
	y := New(shape.Of(dtype.F32, 32, 32, 32, 32))
	a := Attrs{{"stride", []int{1}}, {"padding", []int{1}}, {"dilation", []int{1}}, {"groups", 1}, {"size", []int{32, 32}}}
	run := func(name string, f Func, c *Call) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*32*32*1024*144*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
	run("forward", Convolve, &Call{In: []Array{x, w}, Out: []Array{y}, Attrs: a})
	run("input", ConvolveInput, &Call{In: []Array{y, w}, Out: []Array{New(x.Spec())}, Attrs: a})
	wa := append(Attrs{}, a...)
	wa[4].Value = []int{3, 3}
	run("weight", ConvolveWeight, &Call{In: []Array{x, y}, Out: []Array{New(w.Spec())}, Attrs: wa})
}

func BenchmarkTransposingCopy(b *testing.B) {
	x := New(shape.Of(dtype.F32, 1024, 1024))
	y := New(shape.Of(dtype.F32, 1024, 1024))
	v, _ := x.View.Transpose(0, 1)
	b.SetBytes(8 << 20)
	for b.Loop() {
		Copy(y, Array{DType: dtype.F32, View: v, Buf: x.Buf})
	}
}
