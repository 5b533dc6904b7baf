package tpu

import (
	"math"
	"testing"

	"github.com/tpush/tpush/runtime/exec"
)

// TestDraws compares the mean of a function of many numbers with what the distribution has.
func TestDraws(t *testing.T) {
	newLab(t, exec.Strict)
	Seed(1)
	const n = 20000
	fill := func(f func(x *Tensor) *Tensor) *Tensor { return f(Zeros(n)) }
	for _, c := range []struct {
		name      string
		mean      float64
		got       *Tensor
		tolerance float64
	}{
		{"exponential", 0.5, fill(func(x *Tensor) *Tensor { return x.ExponentialInPlace(2) }), 0.02},
		{"geometric", 4, fill(func(x *Tensor) *Tensor { return x.GeometricInPlace(0.25) }), 0.1},
		{"log of log-normal", 1, fill(func(x *Tensor) *Tensor { return x.LogNormalInPlace(1, 0.5) }).Log(), 0.02},
		{"angle of Cauchy", 0, fill(func(x *Tensor) *Tensor { return x.CauchyInPlace(3, 2) }).Sub(3).Atan(), 0.04},
		{"multinomial", 1.5, Of(1.0, 1.0, 0.0, 2.0).Multinomial(n, true).To(F32).Mul(Of(1.0)).ClampMax(2).Add(0.25), 0.05},
	} {
		if m := c.got.Mean().Item(); math.Abs(m-c.mean) > c.tolerance {
			t.Errorf("%s: mean %v, want about %v", c.name, m, c.mean)
		}
	}
	all := Of(0.1, 3.0, 2.0).Multinomial(3, false).Ints()
	if seen := map[int]bool{all[0]: true, all[1]: true, all[2]: true}; len(seen) != 3 {
		t.Errorf("without replacement: %v", all)
	}
	if all := Of(0.0, 0.0, 2.0).Multinomial(4, true).Ints(); all[0] != 2 || all[3] != 2 {
		t.Errorf("only one is possible: %v", all)
	}
}

// TestGroupedMM multiplies stretches of rows and leaves the rest zero.
func TestGroupedMM(t *testing.T) {
	l := newLab(t, exec.Strict)
	a := From([][]float32{{1, 2}, {3, 4}, {5, 6}})
	b := From([][][]float32{{{1}, {1}}, {{10}, {0}}})
	l.want(GroupedMM(a, b, I32.Of(1, 2)).Reshape(3), 3, 30, 0)
}
