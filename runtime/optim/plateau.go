package optim

import (
	"math"

	"github.com/tpush/tpush/runtime/tpu"
)

// PlateauOptions are the options of Plateau; not set: Factor 0.1, Patience 10, Threshold 1e-4.
type PlateauOptions struct {
	Factor    float64
	Patience  int // steps without progress that are borne; -1 for none
	Threshold float64
	Absolute  bool // the threshold is a difference, else a part of the best
	Largest   bool // a larger measure is better
	Cooldown  int
	Min       float64
	Eps       float64 // smallest change of the rate; 1e-8 when not set
}

// A Plateau lowers the learning rate of an optimizer when a measure stops
// getting better: PyTorch's ReduceLROnPlateau.
type Plateau struct {
	opt           Optimizer
	o             PlateauOptions
	best          float64
	bad, cooldown int
}

// NewPlateau makes a Plateau.
func NewPlateau(opt Optimizer, o PlateauOptions) *Plateau {
	o.Factor, o.Threshold, o.Eps = or(o.Factor, 0.1), or(o.Threshold, 1e-4), or(o.Eps, 1e-8)
	switch {
	case o.Patience == 0:
		o.Patience = 10
	case o.Patience < 0:
		o.Patience = 0
	}
	if !(o.Factor < 1) {
		panic(&tpu.Error{Op: "plateau", Err: &OptionError{"plateau", "factor", o.Factor}})
	}
	p := &Plateau{opt: opt, o: o, best: math.Inf(1)}
	if o.Largest {
		p.best = math.Inf(-1)
	}
	return p
}

// better says whether a measure is progress.
func (p *Plateau) better(x float64) bool {
	sign := 1.0
	if p.o.Largest {
		sign = -1
	}
	margin := p.o.Threshold
	if !p.o.Absolute {
		if margin *= p.best; math.IsInf(p.best, 0) {
			margin = 0
		}
	}
	return sign*x < sign*p.best-margin
}

// Step looks at the measure of one epoch.
func (p *Plateau) Step(measure float64) {
	tpu.RunAgain()
	if p.better(measure) {
		p.best, p.bad = measure, 0
	} else {
		p.bad++
	}
	if p.cooldown > 0 {
		p.cooldown--
		p.bad = 0
	}
	if p.bad > p.o.Patience {
		if lr := max(p.opt.LR()*p.o.Factor, p.o.Min); p.opt.LR()-lr > p.o.Eps {
			p.opt.SetLR(lr)
		}
		p.cooldown, p.bad = p.o.Cooldown, 0
	}
}

// LR is the present learning rate.
func (p *Plateau) LR() float64 { return p.opt.LR() }
