package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// defaultSeed is the seed of a program that sets none: two runs draw the same numbers.
const defaultSeed = 0

// Seed starts the random numbers anew.
func Seed(n uint64) {
	e := ambientEngine()
	e.seed, e.offset = n, 0
}

// RNGState gives seed and offset of the generator as a u64[2] tensor.
func RNGState() *Tensor {
	e := ambientEngine()
	a := kernel.New(shape.Of(dtype.U64, 2))
	p := kernel.As[uint64](a.Buf)
	p[0], p[1] = e.seed, e.offset
	return e.upload(a, "rng_state")
}

// SetRNGState restores what RNGState gave; it reads the tensor.
func SetRNGState(t *Tensor) {
	if t.dt != dtype.U64 || !shape.EqualDims(t.view.Dims, []int{2}) {
		t.s.e.fail("set_rng_state", &shape.MismatchError{Left: t.Spec(), Right: shape.Of(dtype.U64, 2), Axis: -1, Why: "the state of the generator is u64[2]"})
	}
	v := kernel.Uint64s(t.host("set_rng_state", exec.ReasonHostCopy))
	t.s.e.seed, t.s.e.offset = v[0], v[1]
}

// drawState gives the counter state for a draw of n numbers and moves on. The
// state is an argument of the launch, so a draw never recompiles.
func (e *engine) drawState(n int) *Tensor {
	a := kernel.New(shape.Of(dtype.U64, 2))
	p := kernel.As[uint64](a.Buf)
	p[0], p[1] = e.seed, e.offset
	e.offset += drawOffset(n)
	return &Tensor{s: &Storage{e: e, value: e.d.Constant(a, "rng_state")}, view: shape.View{Dims: []int{2}}, dt: dtype.U64, whole: true}
}

// drawOffset is how far the counter moves for n numbers: a block gives four.
func drawOffset(n int) uint64 { return uint64(n+3) / 4 }

// draw applies a random row.
func (e *engine) draw(name op.Name, n int, given op.Attrs, in ...any) *Tensor {
	def, attrs := lookup(name, given)
	ins := append([]any{e.drawState(n)}, in...)
	return do(def, attrs, ins...)
}

// Rand draws uniform numbers from [0, 1).
func Rand(dims ...int) *Tensor { return F32.Rand(dims...) }

// Randn draws normal numbers of mean 0 and deviation 1.
func Randn(dims ...int) *Tensor { return F32.Randn(dims...) }

// RandInt draws integers from low on, below high.
func RandInt(low, high int, dims ...int) *Tensor { return DType(0).RandInt(low, high, dims...) }

// RandPerm draws an order of 0, …, n-1.
func RandPerm(n int) *Tensor { return DType(0).RandPerm(n) }

// Rand draws uniform numbers of type t from [0, 1).
func (t DType) Rand(dims ...int) *Tensor {
	d := sized("rand", dims)
	return ambientEngine().draw("rand", shape.Size(d), op.Attrs{{Name: "size", Value: d}, {Name: "dtype", Value: t.d()}})
}

// Randn draws normal numbers of type t.
func (t DType) Randn(dims ...int) *Tensor {
	d := sized("randn", dims)
	return ambientEngine().draw("randn", shape.Size(d), op.Attrs{{Name: "size", Value: d}, {Name: "dtype", Value: t.d()}})
}

// RandInt draws integers of type t from low on, below high.
func (t DType) RandInt(low, high int, dims ...int) *Tensor {
	e := ambientEngine()
	d := sized("randint", dims)
	if high <= low {
		e.fail("randint", &shape.ArgumentError{Op: "randint", Arg: "high", Value: high, Why: "it must be above low"})
	}
	return e.draw("randint", shape.Size(d), op.Attrs{{Name: "low", Value: low}, {Name: "high", Value: high}, {Name: "size", Value: d}, {Name: "dtype", Value: t.orElse(e.goInt())}})
}

// RandPerm draws an order of 0, …, n-1 in type t.
func (t DType) RandPerm(n int) *Tensor {
	e := ambientEngine()
	sized("randperm", []int{n})
	return e.draw("randperm", n, op.Attrs{{Name: "n", Value: n}, {Name: "dtype", Value: t.orElse(e.goInt())}})
}
