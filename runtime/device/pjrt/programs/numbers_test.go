package programs

import (
	"math"
	"testing"
)

// TestFormats: every pattern comes back from its number, and rounding goes to
// the nearest, ties to even.
func TestFormats(t *testing.T) {
	for name, k := range narrow {
		bits := k.exp + k.mant + 1
		if k.special == scale {
			bits = 8
		}
		for b := range uint32(1) << bits {
			v := k.decode(b)
			if got := k.encode(v); got != b && !math.IsNaN(v) {
				t.Errorf("%s: pattern %#x is %v, which gives %#x", name, b, v, got)
			}
		}
	}
	for _, tt := range []struct {
		name    string
		x, want float64
	}{
		{"bf16", 1 + 1.0/256, 1}, {"bf16", 1 + 3.0/256, 1 + 4.0/256}, {"f16", 65520, math.Inf(1)},
		{"f8E4M3FN", 1000, 448}, {"f4E2M1FN", 2.5, 2}, {"f4E2M1FN", 5, 4}, {"f8E5M2", 1e-9, 0},
	} {
		k := narrow[tt.name]
		if got := k.decode(k.encode(tt.x)); got != tt.want {
			t.Errorf("%s: %v became %v, want %v", tt.name, tt.x, got, tt.want)
		}
	}
}
