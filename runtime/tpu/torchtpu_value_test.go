package tpu

import (
	"slices"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Short names of the typed causes.
type (
	rankError     = *shape.RankError
	axisError     = *shape.AxisError
	mismatchError = *shape.MismatchError
	sizeError     = *shape.SizeError
	overlapError  = *shape.OverlapError
	typesError    = *op.TypesError
	typeError     = *op.TypeError
)

// refusedAs is refused for the short names.
func refusedAs[E error](l *lab, f func()) E { l.Helper(); return refused[E](l, f) }

const noBuckets = "programs for a range of sizes (bounded and bucketed dynamic shapes) are not built yet: every size is in the key"

var sizeCases = []conformance{
	{name: "case_45_bounded_size_one_program", skip: noBuckets},
	{name: "case_46_bounds_grow", skip: noBuckets},
	{name: "case_47_sizes_are_numbers", run: func(l *lab) {
		// The first half of the case, one program for sizes 8, 16 and 4, waits:
		// the figures below are what each new size costs now.
		f := Compile(func(x *Tensor) *Tensor { return x.Mul(float64(x.Dim(1)*2 + 1)) }).(func(*Tensor) *Tensor)
		x := Ones(1, 4)
		l.end(x)
		y := f(x)
		l.end(x, y)
		l.every(y, 9)
		z := Ones(1, 8)
		l.end(z)
		l.wantCost("another size", 1, 1, func() { l.end(z, f(z)) })
		l.wantCost("a size seen before", 1, 0, func() { l.end(z, f(z)) })
	}},
}

var valueCases = []conformance{
	{name: "case_48_small_sums", run: func(l *lab) {
		if got := Ones(5, 5).Mul(2).Sum().Item(); got != 50 {
			l.Errorf("%v, want 50", got)
		}
		if !BF16.Scalar(5.0).Gt(3).Bool() {
			l.Error("5 > 3 is false in bf16")
		}
	}},
	{name: "case_49_bf16_is_rounded_between_ops", run: func(l *lab) {
		for _, m := range exec.Modes() {
			l.Run(m.Name, func(l *lab) {
				a := Eye(256).Mul(1 + 1.0/64).To(BF16)
				b := Eye(256).Mul(1 + 1.0/128).To(BF16)
				c := a.MatMul(b).Mul(Of(1.0))
				l.end(c)
				if c.DType() != F32 {
					l.Fatalf("the product is %v", c.DType())
				}
				// (1+2⁻⁶)(1+2⁻⁷) = 1+2⁻⁶+2⁻⁷+2⁻¹³; the last term is lost when the matmul rounds to bf16.
				if got, want := c.Index(0, 0).Item(), 1+1.0/64+1.0/128; got != want {
					l.Errorf("diagonal %v, want %v", got, want)
				}
			}, m)
		}
	}},
	{name: "case_50_one_bit_pack", run: func(l *lab) {
		row := []float32{-7, 7, 1, -1}
		x := From(slices.Repeat(row, 8))
		if got := x.Abs().Mean().Item(); got != 4 {
			l.Errorf("scale %v, want 4", got)
		}
		word := x.Gt(0).To(I64).BitwiseLeftShift(I64.Arange(32)).Sum()
		if got := word.Int(); got != 0x66666666 {
			l.Errorf("word %#x, want 0x66666666", got)
		}
	}},
	{name: "case_51_quantized_sum", run: func(l *lab) {
		bits := Cat(0, Ones(7), Zeros(25))
		l.near(bits.Sum().Mul(2).Sub(32).Mul(42.42), (2*7-32)*42.42)
	}},
	{name: "case_52_floored_gradient", run: func(l *lab) {
		x := Of(1.0).RequireGrad()
		l.near(Grad(x.Sigmoid(), x)[0], 0.19661193)
		// The gradient of sigmoid with a floor, as a hook on the operand.
		x.Hook(func(g *Tensor) *Tensor { return g.Clamp(ClampOptions{Min: 0.25}) })
		x.Sigmoid().Backward()
		l.near(x.Grad(), 0.25)
	}},
	{name: "case_53_pinned_copy_does_not_block", skip: "memory kinds of the host (pinned) and copies that do not block are not built yet"},
	{name: "case_54_offload_and_reload", run: func(l *lab) {
		x := Arange(6.0)
		l.want(x.Index(Slice(2, nil)), 2, 3, 4, 5)
		y := FromArray(x.Reshape(2, 3).Array())
		if !slices.Equal(y.Dims(), []int{2, 3}) || !slices.Equal(y.Strides(), []int{3, 1}) {
			l.Errorf("reloaded %v with strides %v", y.Dims(), y.Strides())
		}
		l.want(y, 0, 1, 2, 3, 4, 5)
		l.Skip("the values and strides of a round trip hold; the memory kind pinned_host is not built yet")
	}},
}
