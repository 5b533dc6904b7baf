package kernel

import (
	"fmt"
	"testing"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/shape"
)

func ramp(dims ...int) Array {
	a := New(shape.Of(dtype.F32, dims...))
	v := As[float32](a.Buf)
	for i := range a.Size() {
		v[i] = float32(i%97)/50 - 1
	}
	return a
}

func labels(n, classes int) Array {
	a := New(shape.Of(dtype.I64, n))
	for i := range n {
		As[int64](a.Buf)[i] = int64(i % classes)
	}
	return a
}

func BenchmarkReduce(b *testing.B) {
	run := func(name string, f Func, c *Call) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	x := ramp(1024, 1024)
	all := New(shape.Of(dtype.F32))
	vec := New(shape.Of(dtype.F32, 1024))
	run("sum all 1M", Sum, &Call{In: []Array{x}, Out: []Array{all}})
	run("sum rows 1M", Sum, &Call{In: []Array{x}, Out: []Array{vec}, Attrs: Attrs{{"dim", []int{1}}}})
	run("sum columns 1M", Sum, &Call{In: []Array{x}, Out: []Array{vec}, Attrs: Attrs{{"dim", []int{0}}}})
	run("amax rows 1M", Amax, &Call{In: []Array{x}, Out: []Array{vec}, Attrs: Attrs{{"dim", []int{1}}}})
	run("softmax 1M", Softmax, &Call{In: []Array{x}, Out: []Array{New(x.Spec())}, Attrs: Attrs{{"dim", 1}}})
	run("layer_norm 1M", LayerNorm, &Call{In: []Array{x, vec, vec}, Out: []Array{New(x.Spec())}, Attrs: Attrs{{"normalized_shape", []int{1024}}, {"eps", 1e-5}}})
	run("var rows 1M", Var, &Call{In: []Array{x}, Out: []Array{vec}, Attrs: Attrs{{"dim", []int{1}}, {"correction", 1}}})
	run("mse 1M", MSELoss, &Call{In: []Array{x, x}, Out: []Array{all}, Attrs: Attrs{{"reduction", "mean"}}})
	for _, n := range []int{32, 1437} {
		logits, y := ramp(n, 10), labels(n, 10)
		a := Attrs{{"ignore_index", -100}, {"reduction", "mean"}, {"label_smoothing", 0.0}}
		run(fmt.Sprintf("cross_entropy %d", n), CrossEntropy, &Call{In: []Array{logits, y}, Out: []Array{all}, Attrs: a})
		run(fmt.Sprintf("cross_entropy_backward %d", n), CrossEntropyBackward, &Call{In: []Array{all, logits, y}, Out: []Array{New(logits.Spec())}, Attrs: a})
		run(fmt.Sprintf("sum columns %d", n), Sum, &Call{In: []Array{logits}, Out: []Array{New(shape.Of(dtype.F32, 10))}, Attrs: Attrs{{"dim", []int{0}}}})
	}
	w := ramp(1437, 128)
	run("sum columns 1437x128", Sum, &Call{In: []Array{w}, Out: []Array{New(shape.Of(dtype.F32, 128))}, Attrs: Attrs{{"dim", []int{0}}}})
	run("argmax 1437", Argmax, &Call{In: []Array{ramp(1437, 10)}, Out: []Array{New(shape.Of(dtype.I64, 1437))}, Attrs: Attrs{{"dim", []int{1}}}})
}
