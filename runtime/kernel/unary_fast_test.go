package kernel

import (
	"math"
	"testing"
)

func TestFastFunctionsAreExactEnough(t *testing.T) {
	for _, c := range []struct {
		name       string
		fast, slow func(float64) float64
	}{
		{"exp", expFast, math.Exp}, {"sigmoid", sigmoidFast, sigmoid}, {"tanh", tanhFast, math.Tanh},
	} {
		worst, at := 0.0, 0.0
		for i := -2_000_000; i <= 2_000_000; i++ {
			x := float64(float32(float64(i) * 0.00005137))
			got, want := c.fast(x), c.slow(x)
			if e := math.Abs(got-want) / math.Max(math.Abs(want), 1e-300); e > worst && want != 0 {
				worst, at = e, x
			}
		}
		if worst > 1e-12 {
			t.Errorf("%s: relative error %g at %g", c.name, worst, at)
		}
		for _, x := range []float64{0, math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e-40, 89, -104} {
			if got, want := float32(c.fast(x)), float32(c.slow(x)); got != want {
				t.Errorf("%s(%g) = %g, want %g", c.name, x, got, want)
			}
		}
		if got := c.fast(math.NaN()); got == got {
			t.Errorf("%s(NaN) = %g", c.name, got)
		}
	}
}
