package inspect

import (
	"fmt"
	"math"

	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/kernel"
)

// Stats sum the elements of an array up.
type Stats struct {
	Elements int     `json:"elements"`
	Min      float64 `json:"min"` // of what is finite
	Max      float64 `json:"max"`
	Mean     float64 `json:"mean"`
	Std      float64 `json:"std"`
	NaN      int     `json:"nan"`
	Inf      int     `json:"inf"`
}

// StatsOf gives the statistics of an array; of complex numbers, their magnitudes.
func StatsOf(a kernel.Array) Stats {
	s := Stats{Elements: a.Size(), Min: math.Inf(1), Max: math.Inf(-1)}
	n, m2 := 0.0, 0.0 // squares of differences from the mean: sums of squares cancel
	for _, x := range Magnitudes(a) {
		switch {
		case x != x:
			s.NaN++
		case math.IsInf(x, 0):
			s.Inf++
		default:
			s.Min, s.Max = min(s.Min, x), max(s.Max, x)
			n++
			d := x - s.Mean
			s.Mean += d / n
			m2 += d * (x - s.Mean)
		}
	}
	if n == 0 {
		s.Min, s.Max = 0, 0
		return s
	}
	s.Mean = finite(s.Mean)
	s.Std = finite(math.Sqrt(m2 / n))
	return s
}

// finite keeps what overflowed a number, so that it can be sent.
func finite(x float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -math.MaxFloat64), math.MaxFloat64)
}

// Magnitudes gives the elements as numbers, complex ones by their absolute values.
func Magnitudes(a kernel.Array) []float64 {
	if a.Size() == 0 {
		return nil
	}
	if a.DType != dtype.C64 {
		return kernel.Float64s(a)
	}
	var out []float64
	for _, c := range kernel.As[complex64](kernel.Contiguous(a).Buf)[:a.Size()] {
		out = append(out, math.Hypot(float64(real(c)), float64(imag(c))))
	}
	return out
}

// String is one line: min -1  max 2  mean 0.5  nan 0  inf 0.
func (s Stats) String() string {
	switch n := s.Elements - s.NaN - s.Inf; {
	case s.Elements == 0:
		return "no elements"
	case n == 0:
		return fmt.Sprintf("nan %d  inf %d", s.NaN, s.Inf)
	}
	return fmt.Sprintf("min %.4g  max %.4g  mean %.4g  nan %d  inf %d", s.Min, s.Max, s.Mean, s.NaN, s.Inf)
}
