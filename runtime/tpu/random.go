package tpu

import (
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Seed starts the random numbers anew.
func Seed(n uint64) {
	e := ambientEngine()
	e.capture.spoil()
	e.seed, e.offset = n, 0
}

// RNGState gives seed and offset of the generator as a u64[2] tensor.
func RNGState() *Tensor {
	e := ambientEngine()
	e.capture.spoil()
	a := kernel.New(shape.Of(dtype.U64, 2))
	p := kernel.As[uint64](a.Buf)
	p[0], p[1] = e.seed, e.offset
	return e.upload(a, "rng_state")
}

// SetRNGState restores what RNGState gave; it reads the tensor.
func SetRNGState(t *Tensor) {
	if t.dt != dtype.U64 || !shape.EqualDims(t.view.Dims, []int{2}) {
		t.engine().fail("set_rng_state", &shape.MismatchError{Left: t.Spec(), Right: shape.Of(dtype.U64, 2), Axis: -1, Why: "the state of the generator is u64[2]"})
	}
	v := kernel.Uint64s(t.host("set_rng_state", exec.ReasonHostCopy))
	t.engine().seed, t.engine().offset = v[0], v[1]
}

// draw applies a random row. The state is an argument of the launch, so that a
// draw never recompiles; the counter moves by what the results took.
func (e *engine) draw(name op.Name, given op.Attrs, in ...any) []*Tensor {
	def, attrs := lookup(name, given)
	v := e.rngState(0)
	if c := e.capture; c != nil {
		c.draws(v)
	}
	state := &Tensor{s: &Storage{e: e, value: v}, view: &v.Type().Seen, dt: dtype.U64, whole: true}
	out := doAll(def, attrs, append([]any{state}, in...)...)
	e.offset += kernel.DrawOffset(out[0].Size(), op.DrawBits(name, attrs, out[0].Spec()))
	return out
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
	return ambientEngine().draw("uniform", op.Attrs{{Name: "size", Value: sized("rand", dims)}, {Name: "dtype", Value: t.d()}})[0]
}

// Randn draws normal numbers of type t.
func (t DType) Randn(dims ...int) *Tensor {
	return ambientEngine().draw("normal", op.Attrs{{Name: "size", Value: sized("randn", dims)}, {Name: "dtype", Value: t.d()}})[0]
}

// RandInt draws integers of type t from low on, below high.
func (t DType) RandInt(low, high int, dims ...int) *Tensor {
	e := ambientEngine()
	return e.draw("randint", op.Attrs{{Name: "low", Value: low}, {Name: "high", Value: high}, {Name: "size", Value: sized("randint", dims)}, {Name: "dtype", Value: t.orElse(e.goInt())}})[0]
}

// RandPerm draws an order of 0, …, n-1 in type t.
func (t DType) RandPerm(n int) *Tensor {
	e := ambientEngine()
	sized("randperm", []int{n})
	return e.draw("randperm", op.Attrs{{Name: "n", Value: n}, {Name: "dtype", Value: t.orElse(e.goInt())}})[0]
}

// Bernoulli draws 1 with the probability each element says, else 0.
func (x *Tensor) Bernoulli() *Tensor { return x.engine().draw("bernoulli", nil, x)[0] }

// Dropout sets elements to zero with probability p and divides the others by
// 1-p; with p = 0 it copies nothing.
func (x *Tensor) Dropout(p float64) *Tensor {
	x.engine()
	if p == 0 {
		return x
	}
	return x.engine().draw("native_dropout", op.Attrs{{Name: "p", Value: p}}, x)[0]
}

// Dropout sets elements to zero with probability p and divides the others by 1-p.
func Dropout(x *Tensor, p float64) *Tensor { return x.Dropout(p) }

// UniformInPlace fills x with uniform numbers from low on, below high.
func (x *Tensor) UniformInPlace(low, high float64) *Tensor {
	return x.redraw("uniform", op.Attrs{{Name: "from", Value: low}, {Name: "to", Value: high}})
}

// NormalInPlace fills x with normal numbers.
func (x *Tensor) NormalInPlace(mean, std float64) *Tensor {
	return x.redraw("normal", op.Attrs{{Name: "mean", Value: mean}, {Name: "std", Value: std}})
}

// redraw replaces the content of x by a draw.
func (x *Tensor) redraw(name op.Name, attrs op.Attrs) *Tensor {
	x.mayWrite(string(name), nil)
	attrs = append(attrs, op.Attr{Name: "size", Value: nonNil(x.view.Dims)}, op.Attr{Name: "dtype", Value: x.dt})
	x.become(string(name), x.engine().draw(name, attrs)[0], false, false)
	return x
}
