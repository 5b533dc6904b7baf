// Package optim changes parameters by their gradients: PyTorch's optimizers,
// learning-rate schedules and gradient clipping.
//
// It never reads a tensor: step counts and learning rates are Go numbers, which
// are arguments of a launch, so no step compiles anew; a compiled function asks
// for them at each call. It imports tpu only.
// Invariant: a step leaves gradients as they were.
package optim

import (
	"fmt"

	"github.com/tpush/tpush/runtime/tpu"
)

// An Optimizer changes its parameters by their gradients.
type Optimizer interface {
	// Step changes every parameter that has a gradient.
	Step()
	// ZeroGrad forgets the gradients.
	ZeroGrad()
	// LR is the learning rate of the next step.
	LR() float64
	SetLR(lr float64)
	Params() []*tpu.Tensor
}

// An OptionError says that an option has an impossible value.
type OptionError struct {
	Optimizer, Option string
	Value             float64
}

// Error names the option.
func (e *OptionError) Error() string {
	return fmt.Sprintf("%s: %s = %v is out of range", e.Optimizer, e.Option, e.Value)
}

// A ParamsError says that an optimizer cannot work on a list of parameters.
type ParamsError struct {
	Optimizer string
	Index     int // of the parameter; -1 when it is the list
	Why       string
}

// Error names the parameter.
func (e *ParamsError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%s: parameters: %s", e.Optimizer, e.Why)
	}
	return fmt.Sprintf("%s: parameter %d: %s", e.Optimizer, e.Index, e.Why)
}

// slots is what an optimizer keeps for one parameter, by name.
type slots map[string]*tpu.Tensor

// base is what all optimizers share.
type base struct {
	params   []*tpu.Tensor
	lr       float64
	maximize bool
	state    []slots
	steps    []int // steps each parameter has seen
	update   func(p, g *tpu.Tensor, s slots, t tick)
}

func newBase(params []*tpu.Tensor, lr, byDefault float64, maximize bool) base {
	if lr == 0 {
		lr = byDefault
	}
	return base{params: params, lr: lr, maximize: maximize, state: make([]slots, len(params)), steps: make([]int, len(params))}
}

// A tick is one step of one parameter.
type tick struct {
	b *base
	i int
}

// count is which step of the parameter this is, from 1 on.
func (t tick) count() int { return t.b.steps[t.i] + 1 }

// number is a number that hangs on the learning rate and the count of steps: in
// a compiled function it is another one at each call.
func (t tick) number(f func(lr, count float64) float64) tpu.LiveNumber {
	return func() float64 { return f(t.b.lr, float64(t.count())) }
}

// rate is the learning rate times a factor.
func (t tick) rate(factor float64) tpu.LiveNumber {
	return func() float64 { return t.b.lr * factor }
}

// Step changes every parameter that has a gradient, in one launch but where the
// mode waits for each operation.
func (b *base) Step() {
	var stepped []int
	update := func() {
		for i, p := range b.params {
			g := p.LentGrad()
			if g == nil {
				continue
			}
			if b.state[i] == nil {
				b.state[i] = slots{}
			}
			if b.maximize {
				g = g.Neg()
			}
			b.update(p, g, b.state[i], tick{b, i})
			stepped = append(stepped, i)
		}
	}
	tpu.NoGrad(func() { tpu.Together(update) })
	tpu.EachCall(func() {
		for _, i := range stepped {
			b.steps[i]++
		}
	})
	tpu.Dispatcher().EndStep()
}

// ZeroGrad forgets the gradients.
func (b *base) ZeroGrad() {
	for _, p := range b.params {
		p.ZeroGrad()
	}
}

// LR is the learning rate of the next step.
func (b *base) LR() float64 { return b.lr }

// SetLR changes the learning rate.
func (b *base) SetLR(lr float64) { tpu.EachCall(func() { b.lr = lr }) }

// Params lists the parameters.
func (b *base) Params() []*tpu.Tensor { return b.params }

// State gives the tensors an optimizer keeps for parameter i, by name; nil before its first step.
func (b *base) State(i int) map[string]*tpu.Tensor { return b.state[i] }

// zeros gives the slot, at first zeros like p.
func (s slots) zeros(name string, p *tpu.Tensor) *tpu.Tensor {
	if s[name] == nil {
		s[name] = tpu.Keep(p.ZerosLike())
	}
	return s[name]
}

// decayed is g + wd·p.
func decayed(g, p *tpu.Tensor, wd float64) *tpu.Tensor {
	if wd == 0 {
		return g
	}
	return g.Add(p, tpu.AddOptions{Alpha: wd})
}

// square makes v the running mean of g²: v·b + (1-b)·g².
func square(v, g *tpu.Tensor, b float64) {
	v.MulInPlace(b)
	v.AddcmulInPlace(g, g, tpu.AddcmulOptions{Value: 1 - b})
}

// or gives x, or y, the default, when x is zero.
func or(x, y float64) float64 {
	if x == 0 {
		return y
	}
	return x
}

// betas gives both decay rates, those of PyTorch when none are set.
func betas(b [2]float64) [2]float64 {
	if b == [2]float64{} {
		return [2]float64{0.9, 0.999}
	}
	return b
}
