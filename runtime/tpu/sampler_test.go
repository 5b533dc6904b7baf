package tpu

import (
	"math"
	"slices"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/shape"
)

// samplers are draws of many numbers and the mean of their distribution.
var samplers = map[string]struct {
	draw func() *Tensor
	mean float64
}{
	"exponential": {func() *Tensor { return Empty(20000).ExponentialInPlace(4) }, 0.25},
	"geometric":   {func() *Tensor { return Empty(20000).GeometricInPlace(0.25) }, 4},
	"log_normal":  {func() *Tensor { return Empty(20000).LogNormalInPlace(0, 0.5) }, math.Exp(0.125)},
	"bernoulli":   {func() *Tensor { return Empty(20000).BernoulliInPlace(0.3) }, 0.3},
	"random":      {func() *Tensor { return Empty(20000).RandomInPlace(-2, 5) }, 1},
	"cauchy":      {func() *Tensor { return Empty(20000).CauchyInPlace(2, 1).Gt(2).To(F32) }, 0.5},
	"normal":      {func() *Tensor { return NormalOf(Full(3.0, 20000), Of(0.5)) }, 3},
	"poisson":     {func() *Tensor { return Full(7.5, 5000).Poisson() }, 7.5},
	"poisson 100": {func() *Tensor { return Full(100.0, 2000).Poisson() }, 100},
	"multinomial": {func() *Tensor { return Of(1.0, 0.0, 3.0).Multinomial(20000, true).To(F32) }, 1.5},
	"first":       {func() *Tensor { return Of(1.0, 0.0, 3.0).Expand(20000, 3).Multinomial(1, false).To(F32) }, 1.5},
}

// TestSamplers compares means, and wants the same numbers in every mode.
func TestSamplers(t *testing.T) {
	first := map[string][]float64{}
	for _, m := range exec.Modes() {
		use(t, m)
		for name, s := range samplers {
			Seed(9)
			x := s.draw().Float64s()
			sum := 0.0
			for _, v := range x {
				sum += v
			}
			if mean := sum / float64(len(x)); math.Abs(mean-s.mean) > 0.04*(1+s.mean) {
				t.Errorf("%s: the mean of %s is %v, want %v", m.Name, name, mean, s.mean)
			}
			if first[name] == nil {
				first[name] = x
			} else if !slices.Equal(first[name], x) {
				t.Errorf("%s: %s draws other numbers", m.Name, name)
			}
		}
		p := Ones(3, 10).Multinomial(10, false)
		for i := range 3 {
			l := p.Index(i).Ints()
			slices.Sort(l)
			if !slices.Equal(l, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) {
				t.Errorf("%s: without replacement: %v", m.Name, l)
			}
		}
	}
	var e *shape.ArgumentError
	for what, f := range map[string]func(){
		"rate": func() { Ones(2).ExponentialInPlace(0) }, "p": func() { Ones(2).GeometricInPlace(1) }, "too many": func() { Ones(2).Multinomial(3, false) },
		"negative": func() { Of(-1.0).Poisson() }, "probability": func() { Ones(2).BernoulliInPlace(2) },
	} {
		if err := Try(f); !asError(err, &e) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestGenerators draws from streams of their own.
func TestGenerators(t *testing.T) {
	use(t, exec.Debug)
	Seed(1)
	a := Rand(3).Float64s()
	b := Rand(3).Float64s()
	Seed(1)
	g := NewGenerator(1)
	var x, y []float64
	g.Run(func() { x = Rand(3).Float64s() })
	ForkRNG(func() { Rand(100) })
	c := Rand(3).Float64s()
	g.Run(func() { y = Rand(3).Float64s() })
	if !slices.Equal(x, a) || !slices.Equal(y, b) || !slices.Equal(c, a) || InitialSeed() != 1 || g.InitialSeed() != 1 {
		t.Errorf("%v %v %v, want %v %v %v", x, y, c, a, b, a)
	}
}
