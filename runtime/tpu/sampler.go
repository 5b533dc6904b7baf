package tpu

import (
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A Generator is a stream of random numbers of its own: what Run draws does
// not move the session's stream, nor that the generator's.
type Generator struct{ seed, offset uint64 }

// NewGenerator makes a generator that starts with a seed.
func NewGenerator(seed uint64) *Generator { return &Generator{seed: seed} }

// Run runs f with the generator's numbers in the place of the session's; the
// next Run goes on where this one ends.
func (g *Generator) Run(f func()) {
	e := ambientEngine()
	e.capture.spoil()
	seed, offset := e.seed, e.offset
	e.seed, e.offset = g.seed, g.offset
	defer func() {
		g.seed, g.offset = e.seed, e.offset
		e.seed, e.offset = seed, offset
	}()
	f()
}

// Seed starts the generator anew.
func (g *Generator) Seed(n uint64) { g.seed, g.offset = n, 0 }

// InitialSeed is the seed of the present numbers.
func (g *Generator) InitialSeed() uint64 { return g.seed }

// InitialSeed is the seed that Seed was given last.
func InitialSeed() uint64 { return ambientEngine().seed }

// ForkRNG runs f and takes the random numbers it drew back: what follows draws
// as if f had not run.
func ForkRNG(f func()) {
	e := ambientEngine()
	e.capture.spoil()
	seed, offset := e.seed, e.offset
	defer func() { e.seed, e.offset = seed, offset }()
	f()
}

// BernoulliInPlace fills x with ones of probability p and zeros.
func (x *Tensor) BernoulliInPlace(p float64) *Tensor {
	if !(p >= 0 && p <= 1) {
		x.engine().fail("bernoulli", &shape.ArgumentError{Op: "bernoulli", Arg: "p", Value: p, Why: "it is no probability"})
	}
	e := x.engine()
	var y *Tensor
	e.withoutGrad(func() { y = F32.Rand(x.view.Dims...).Lt(p).to(x.dt) })
	x.mayWrite("bernoulli", nil)
	x.become("bernoulli", y, false, false)
	return x
}

// RandomInPlace fills x with integers from low on, below high.
func (x *Tensor) RandomInPlace(low, high int) *Tensor {
	e := x.engine()
	var y *Tensor
	e.withoutGrad(func() { y = I64.RandInt(low, high, x.view.Dims...).to(x.dt) })
	x.mayWrite("random", nil)
	x.become("random", y, false, false)
	return x
}

// NormalOf draws normal numbers, each with the mean and the deviation at its place.
func NormalOf(mean, std *Tensor) *Tensor {
	e := someTensors("normal", mean, std)
	dims, ok := shape.Broadcast(mean.view.Dims, std.view.Dims)
	if !ok {
		e.fail("normal", shape.NewBroadcastError("normal", mean.Spec(), std.Spec()))
	}
	return Randn(dims...).Mul(std).Add(mean)
}

// Poisson draws how often something happens that has the rate of each element:
// the number of arrivals in one unit of time. It reads how far they are.
func (x *Tensor) Poisson() *Tensor {
	const arrivals = 64
	e := x.engine()
	if !x.dt.IsFloat() {
		e.fail("poisson", &op.TypeError{Op: "poisson", Arg: "input", DType: x.dt, Want: "a float"})
	}
	var count *Tensor
	e.withoutGrad(func() {
		if x.Size() > 0 && x.Lt(0).Any().Bool() {
			e.fail("poisson", &shape.ArgumentError{Op: "poisson", Arg: "input", Value: x.Min().Item(), Why: "a rate is negative"})
		}
		rate := x.to(F32.d()).Unsqueeze(-1)
		dims := append(x.Dims(), arrivals)
		now, total := F32.Zeros(rate.view.Dims...), F32.Zeros(x.view.Dims...)
		for x.Size() > 0 {
			at := F32.Ones(dims...).ExponentialInPlace(1).CumSum(-1).Add(now)
			total = total.Add(at.Lt(rate).Sum(-1))
			now = at.Index(Ellipsis, Slice(-1, nil))
			if !now.Lt(rate).Any().Bool() {
				break
			}
		}
		count = total.to(x.dt)
	})
	return count
}
