package optim

import (
	"math"
	"sort"

	"github.com/tpush/tpush/runtime/tpu"
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
	tpu.EachCall(func() {
		s.steps++
		s.opt.SetLR(s.s.LR(s.base, s.steps))
	})
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
// falls to a FinalDiv-th of where it began, along cosines. The base does not count.
type OneCycleLR struct {
	Max        float64
	Steps      int
	Rise       float64 // part of the steps; 0.3 when not set
	Div        float64 // 25 when not set
	FinalDiv   float64 // 1e4 when not set
	Linear     bool    // along straight lines
	ThreePhase bool    // fall back to where it began first, then to the end
}

// LR gives the rate of a step.
func (s OneCycleLR) LR(_ float64, step int) float64 {
	first := s.Max / or(s.Div, 25)
	last := first / or(s.FinalDiv, 1e4)
	rise := or(s.Rise, 0.3)*float64(s.Steps) - 1
	end := float64(s.Steps - 1)
	type phase struct{ until, from, to float64 }
	phases := []phase{{rise, first, s.Max}, {end, s.Max, last}}
	if s.ThreePhase {
		phases = []phase{{rise, first, s.Max}, {2*or(s.Rise, 0.3)*float64(s.Steps) - 2, s.Max, first}, {end, first, last}}
	}
	x, start := math.Min(float64(step), end), 0.0
	for i, p := range phases {
		if x <= p.until || i == len(phases)-1 {
			part := (x - start) / (p.until - start)
			if s.Linear {
				return p.from + (p.to-p.from)*part
			}
			return p.to + (p.from-p.to)/2*(1+math.Cos(math.Pi*part))
		}
		start = p.until
	}
	return last
}

// PolynomialLR falls to zero in Steps steps, along a power of what is left.
type PolynomialLR struct {
	Steps int     // 5 when not set
	Power float64 // 1 when not set
}

// LR gives the rate of a step.
func (s PolynomialLR) LR(base float64, step int) float64 {
	n := s.Steps
	if n == 0 {
		n = 5
	}
	return base * pow(1-float64(min(step, n))/float64(n), or(s.Power, 1))
}

// CyclicLR goes up from Min to Max in Up steps and down again in Down, for
// ever. The base counts when Min is not set.
type CyclicLR struct {
	Min, Max float64
	Up       int     // 2000 when not set
	Down     int     // Up when not set
	Mode     string  // triangular (default); triangular2 halves the height each cycle; exp_range multiplies it by Gamma each step
	Gamma    float64 // 1 when not set
}

// LR gives the rate of a step.
func (s CyclicLR) LR(base float64, step int) float64 {
	up, down := s.Up, s.Down
	if up == 0 {
		up = 2000
	}
	if down == 0 {
		down = up
	}
	total, ratio := float64(up+down), float64(up)/float64(up+down)
	cycle := math.Floor(1 + float64(step)/total)
	x := 1 + float64(step)/total - cycle
	height := x / ratio
	if x > ratio {
		height = (x - 1) / (ratio - 1)
	}
	switch s.Mode {
	case "triangular2":
		height /= pow(2, cycle-1)
	case "exp_range":
		height *= pow(or(s.Gamma, 1), float64(step))
	}
	low := or(s.Min, base)
	return low + (s.Max-low)*height
}

// SequentialLR follows one schedule after the other: Schedules[i+1] starts
// anew at step Milestones[i].
type SequentialLR struct {
	Schedules  []Schedule
	Milestones []int
}

// LR gives the rate of a step.
func (s SequentialLR) LR(base float64, step int) float64 {
	i := sort.SearchInts(s.Milestones, step+1)
	if i > 0 {
		step -= s.Milestones[i-1]
	}
	return s.Schedules[min(i, len(s.Schedules)-1)].LR(base, step)
}

// ChainedLR multiplies the factors of several schedules.
type ChainedLR []Schedule

// LR gives the rate of a step.
func (s ChainedLR) LR(base float64, step int) float64 {
	lr := base
	for _, x := range s {
		lr *= x.LR(base, step) / base
	}
	return lr
}

// MultiplicativeLR multiplies the last rate by what F gives for each step from 1 on.
type MultiplicativeLR struct{ F func(step int) float64 }

// LR gives the rate of a step.
func (s MultiplicativeLR) LR(base float64, step int) float64 {
	for i := 1; i <= step; i++ {
		base *= s.F(i)
	}
	return base
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
