package optim

import (
	"math"
	"sort"
)

// A Schedule gives the learning rate of every step, the first being 0, from
// the one the optimizer was made with.
type Schedule interface {
	LR(base float64, step int) float64
}

// A Scheduler sets the learning rate of an optimizer step by step.
type Scheduler struct {
	opt   Optimizer
	s     Schedule
	base  float64
	steps int
}

// NewScheduler makes a scheduler; the optimizer gets the rate of step 0 at once.
func NewScheduler(opt Optimizer, s Schedule) *Scheduler {
	x := &Scheduler{opt: opt, s: s, base: opt.LR()}
	opt.SetLR(s.LR(x.base, 0))
	return x
}

// Step moves on: call it after the optimizer's.
func (s *Scheduler) Step() {
	s.steps++
	s.opt.SetLR(s.s.LR(s.base, s.steps))
}

// LR is the present learning rate.
func (s *Scheduler) LR() float64 { return s.opt.LR() }

// StepLR multiplies by Gamma every Size steps.
type StepLR struct {
	Size  int
	Gamma float64 // 0.1 when not set
}

// LR gives the rate of a step.
func (s StepLR) LR(base float64, step int) float64 {
	return base * pow(or(s.Gamma, 0.1), float64(step/s.Size))
}

// MultiStepLR multiplies by Gamma at each milestone.
type MultiStepLR struct {
	Milestones []int
	Gamma      float64 // 0.1 when not set
}

// LR gives the rate of a step.
func (s MultiStepLR) LR(base float64, step int) float64 {
	m := append([]int{}, s.Milestones...)
	sort.Ints(m)
	return base * pow(or(s.Gamma, 0.1), float64(sort.SearchInts(m, step+1)))
}

// ExponentialLR multiplies by Gamma every step.
type ExponentialLR struct{ Gamma float64 }

// LR gives the rate of a step.
func (s ExponentialLR) LR(base float64, step int) float64 { return base * pow(s.Gamma, float64(step)) }

// CosineLR falls along half a cosine from the base to Min in Steps steps, and rises again after.
type CosineLR struct {
	Steps int
	Min   float64
}

// LR gives the rate of a step.
func (s CosineLR) LR(base float64, step int) float64 {
	return s.Min + (base-s.Min)*(1+math.Cos(math.Pi*float64(step)/float64(s.Steps)))/2
}

// CosineRestartsLR is CosineLR that starts anew after Steps steps, each period Factor times longer.
type CosineRestartsLR struct {
	Steps  int
	Factor int // 1 when not set
	Min    float64
}

// LR gives the rate of a step.
func (s CosineRestartsLR) LR(base float64, step int) float64 {
	n := s.Steps
	for step >= n {
		step -= n
		n *= max(1, s.Factor)
	}
	return s.Min + (base-s.Min)*(1+math.Cos(math.Pi*float64(step)/float64(n)))/2
}

// LinearLR goes from Start·base to End·base in Steps steps and stays there.
type LinearLR struct {
	Start, End float64 // 1/3 and 1 when not set
	Steps      int     // 5 when not set
}

// LR gives the rate of a step.
func (s LinearLR) LR(base float64, step int) float64 {
	n := s.Steps
	if n == 0 {
		n = 5
	}
	from, to := or(s.Start, 1.0/3), or(s.End, 1)
	return base * (from + (to-from)*float64(min(step, n))/float64(n))
}

// ConstantLR is Factor·base for Steps steps, then base.
type ConstantLR struct {
	Factor float64 // 1/3 when not set
	Steps  int     // 5 when not set
}

// LR gives the rate of a step.
func (s ConstantLR) LR(base float64, step int) float64 {
	n := s.Steps
	if n == 0 {
		n = 5
	}
	if step < n {
		return base * or(s.Factor, 1.0/3)
	}
	return base
}

// OneCycleLR rises from Max/Div to Max in the first part of Steps steps and
// falls to a ten thousandth of where it began, along cosines. The base does not count.
type OneCycleLR struct {
	Max      float64
	Steps    int
	Rise     float64 // part of the steps; 0.3 when not set
	Div      float64 // 25 when not set
	FinalDiv float64 // 1e4 when not set
}

// LR gives the rate of a step.
func (s OneCycleLR) LR(_ float64, step int) float64 {
	first := s.Max / or(s.Div, 25)
	last := first / or(s.FinalDiv, 1e4)
	top := or(s.Rise, 0.3)*float64(s.Steps) - 1
	end := float64(s.Steps - 1)
	cosine := func(from, to, part float64) float64 { return to + (from-to)/2*(1+math.Cos(math.Pi*part)) }
	if x := float64(step); x <= top {
		return cosine(first, s.Max, x/top)
	}
	return cosine(s.Max, last, math.Min(1, (float64(step)-top)/(end-top)))
}

// WarmupLR rises linearly for Steps steps, then follows After.
type WarmupLR struct {
	Steps int
	After Schedule // nil: constant
}

// LR gives the rate of a step.
func (s WarmupLR) LR(base float64, step int) float64 {
	switch {
	case step < s.Steps:
		return base * float64(step+1) / float64(s.Steps)
	case s.After == nil:
		return base
	}
	return s.After.LR(base, step-s.Steps)
}

// LambdaLR multiplies the base by what F gives.
type LambdaLR struct{ F func(step int) float64 }

// LR gives the rate of a step.
func (s LambdaLR) LR(base float64, step int) float64 { return base * s.F(step) }
