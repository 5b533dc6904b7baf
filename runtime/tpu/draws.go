package tpu

import (
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// Distributions made of uniform and normal numbers.

// ExponentialInPlace draws from the exponential distribution of the given rate.
func (x *Tensor) ExponentialInPlace(rate float64) *Tensor {
	if !(rate > 0) {
		x.engine().fail("exponential", &shape.ArgumentError{Op: "exponential", Arg: "lambd", Value: rate, Why: "it must be positive"})
	}
	return x.redraw("exponential", op.Attrs{{Name: "lambd", Value: rate}})
}

// CauchyInPlace draws from the Cauchy distribution.
func (x *Tensor) CauchyInPlace(median, sigma float64) *Tensor {
	return x.drawn("cauchy", sigma > 0, sigma, func(u *Tensor) *Tensor {
		return u.Sub(0.5).Mul(math.Pi).Tan().Mul(sigma).Add(median)
	})
}

// GeometricInPlace draws how many trials of probability p it takes to succeed once.
func (x *Tensor) GeometricInPlace(p float64) *Tensor {
	return x.drawn("geometric", p > 0 && p < 1, p, func(u *Tensor) *Tensor {
		return u.Neg().Log1p().Div(math.Log1p(-p)).Ceil().ClampMin(1)
	})
}

// LogNormalInPlace draws numbers whose logarithm is normal.
func (x *Tensor) LogNormalInPlace(mean, std float64) *Tensor {
	e := x.engine()
	if !(std > 0) {
		e.fail("log_normal", &shape.ArgumentError{Op: "log_normal", Arg: "std", Value: std, Why: "it must be positive"})
	}
	return x.CopyFrom(F32.Randn(x.view.Dims...).Mul(std).Add(mean).Exp().to(x.dt))
}

// drawn writes f of uniform numbers from 0 to 1 into x.
func (x *Tensor) drawn(name string, ok bool, arg float64, f func(u *Tensor) *Tensor) *Tensor {
	e := x.engine()
	if !ok {
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "parameter", Value: arg, Why: "it is outside the distribution's range"})
	}
	t := dtype.F32
	if x.dt == dtype.F64 {
		t = x.dt
	}
	return x.CopyFrom(f(DType(t).Rand(x.view.Dims...)).to(x.dt))
}

// Multinomial draws n positions of each row with probabilities in proportion to
// its elements: [k] → I64 [n], [m,k] → I64 [m,n]; the same one again only with replacement.
func (x *Tensor) Multinomial(n int, replacement bool) *Tensor {
	const name = "multinomial"
	e := x.engine()
	d := x.view.Dims
	switch {
	case len(d) < 1 || len(d) > 2:
		e.fail(name, &shape.RankError{Op: name, Dims: d, Min: 1, Max: 2})
	case !x.dt.IsFloat():
		e.fail(name, &op.TypeError{Op: name, Arg: "input", DType: x.dt, Want: "a float"})
	case n < 1 || !replacement && n > x.Dim(-1):
		e.fail(name, &shape.ArgumentError{Op: name, Arg: "num_samples", Value: n, Why: "without replacement there are as many as elements"})
	}
	p := x.Detach().to(dtype.F32)
	if !replacement {
		// Of independent exponential times of these rates the first n are such a draw.
		_, at := p.Div(F32.Rand(d...).Neg().Log1p().Neg()).TopK(n)
		return at
	}
	if len(d) == 1 {
		p = p.Unsqueeze(0)
	}
	sums := p.CumSum(-1)
	at := SearchSorted(sums, F32.Rand(p.Dim(0), n).Mul(sums.narrow(-1, p.Dim(1)-1, 1)), SearchSortedOptions{Right: true}).ClampMax(p.Dim(1) - 1)
	if len(d) == 1 {
		at = at.Squeeze(0)
	}
	return at
}

// GroupedMM multiplies stretches of the rows of a with one matrix each: a [m,k],
// b [g,k,n] and the ends of the stretches, ascending integers [g] → [m,n]; rows
// after the last end are zero. It reads the ends.
func GroupedMM(a, b, ends *Tensor) *Tensor {
	const name = "_grouped_mm"
	e := someTensors(name, a, b, ends)
	d, w := a.view.Dims, b.view.Dims
	if len(d) != 2 || len(w) != 3 || len(ends.view.Dims) != 1 || ends.Dim(0) != w[0] || d[1] != w[1] {
		e.fail(name, &shape.MismatchError{Op: name, Left: a.Spec(), Right: b.Spec(), Axis: -1, Why: "[m,k], [g,k,n] and one end for each matrix are wanted"})
	}
	var parts []*Tensor
	from := 0
	for g, to := range ends.Ints() {
		if to < from || to > d[0] {
			e.fail(name, &shape.ArgumentError{Op: name, Arg: "ends", Value: to, Why: "they must ascend and stay among the rows"})
		}
		parts = append(parts, a.narrow(0, from, to-from).MatMul(b.selectAt(0, g)))
		from = to
	}
	return Cat(0, append(parts, DType(a.dt).Zeros(d[0]-from, w[2]))...)
}
