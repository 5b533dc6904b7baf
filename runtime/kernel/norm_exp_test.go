package kernel

import (
	"math"
	"testing"
)

func TestExp32(t *testing.T) {
	var worst float64
	xs := []float32{0, 1, -1, 88.7, -87.3, -87.4, -100, -103.9, -104, 89, float32(math.Inf(1)), float32(math.Inf(-1))}
	for x := float32(-104); x < 89; x += 0.0137 {
		xs = append(xs, x)
	}
	one := make([]float32, 1)
	for _, x := range xs {
		got, want := exp32(x), math.Exp(float64(x))
		if expShifted([]float32{x}, one, 0); one[0] != got {
			t.Fatalf("exp(%v) = %v in a row, %v alone", x, one[0], got)
		}
		w := float32(want)
		if math.IsInf(float64(w), 0) || w == 0 {
			if got != w {
				t.Fatalf("exp(%v) = %v, want %v", x, got, w)
			}
			continue
		}
		ulp := float64(math.Nextafter32(w, float32(math.Inf(1))) - w)
		worst = max(worst, math.Abs(float64(got)-want)/ulp)
	}
	if worst > 2 {
		t.Errorf("off by %.2f units in the last place", worst)
	}
	if got := exp32(float32(math.NaN())); got == got {
		t.Errorf("exp(NaN) = %v", got)
	}
}
