package inspect

import (
	"fmt"
	"math"
	"strings"

	"github.com/tpush/tpush/viz"
)

// A Tensor is a tensor as it is shown: its type and state, statistics of its
// numbers, and a slice of them.
type Tensor struct {
	Name     string `json:"name,omitempty"`
	Spec     string `json:"spec"` // f32[2,3]
	Dims     []int  `json:"dims"`
	Layout   string `json:"layout,omitempty"`
	Bytes    int64  `json:"bytes"`     // of its numbers
	HBMBytes int64  `json:"hbm_bytes"` // when it has a buffer of its own
	State    string `json:"state"`
	Place    string `json:"place,omitempty"` // where it was made
	Op       string `json:"op,omitempty"`    // that made it
	Strides  []int  `json:"strides,omitempty"`
	Offset   int    `json:"offset,omitempty"`
	Version  int    `json:"version,omitempty"`
	Grad     string `json:"grad,omitempty"` // how its gradient is found, "" when it wants none

	// Known is false when the numbers are not computed: looking computes nothing.
	Known bool  `json:"known"`
	Stats Stats `json:"stats"`
	Hist  Hist  `json:"hist"`
	Slice Slice `json:"slice"`
}

// Stats are statistics of numbers. Those of min, max, mean and std are of the finite ones.
type Stats struct {
	Count   int64 `json:"count"`             // of the tensor
	Sampled int64 `json:"sampled,omitempty"` // how many were looked at when not all were
	NaN     int64 `json:"nan"`
	Inf     int64 `json:"inf"`
	Min     Float `json:"min"`
	Max     Float `json:"max"`
	Mean    Float `json:"mean"`
	Std     Float `json:"std"`
}

// Hist is how often values fall in equal intervals from Low to High.
type Hist struct {
	Low    Float   `json:"low"`
	High   Float   `json:"high"`
	Counts []int64 `json:"counts,omitempty"`
}

// A Slice is a matrix cut out of a tensor: the two last dimensions that were
// left open, as rows and columns.
type Slice struct {
	Index  string `json:"index"` // what was cut, as in Python: [0, :, 2:8]
	Rows   int    `json:"rows"`  // of Values
	Cols   int    `json:"cols"`
	AllRow int    `json:"all_rows"` // before values were left out
	AllCol int    `json:"all_cols"`
	Values Floats `json:"values,omitempty"`
}

// StatsOf looks at numbers; count is how many the tensor has.
func StatsOf(xs []float64, count int64) Stats {
	s := Stats{Count: count}
	if int64(len(xs)) < count {
		s.Sampled = int64(len(xs))
	}
	lo, hi, mean, m2 := math.Inf(1), math.Inf(-1), 0.0, 0.0
	n := 0.0
	for _, x := range xs {
		switch {
		case math.IsNaN(x):
			s.NaN++
		case math.IsInf(x, 0):
			s.Inf++
		default:
			lo, hi = min(lo, x), max(hi, x)
			n++
			d := x - mean // Welford: sums of squares would cancel
			mean += d / n
			m2 += d * (x - mean)
		}
	}
	if n == 0 {
		return s
	}
	s.Min, s.Max, s.Mean, s.Std = Float(lo), Float(hi), Float(mean), Float(math.Sqrt(max(m2/n, 0)))
	return s
}

// String is a line: min, max, mean, std and what is not finite.
func (s Stats) String() string {
	if s.Count == 0 {
		return "no elements"
	}
	text := fmt.Sprintf("nan %s  inf %s", viz.Count(s.NaN), viz.Count(s.Inf))
	if all := max(s.Sampled, s.Count*b2i(s.Sampled == 0)); all > s.NaN+s.Inf {
		text = fmt.Sprintf("min %.4g  max %.4g  mean %.4g  std %.4g  ", float64(s.Min), float64(s.Max), float64(s.Mean), float64(s.Std)) + text
	}
	if s.Sampled > 0 {
		text += fmt.Sprintf("  (of %s of %s elements)", viz.Count(s.Sampled), viz.Count(s.Count))
	}
	return text
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// HistOf counts finite numbers in n intervals.
func HistOf(xs []float64, n int) Hist {
	h := viz.HistogramOf(xs, n)
	return Hist{Low: Float(h.Low), High: Float(h.High), Counts: h.Counts}
}

// Summary is one line: name, type, size, state.
func (t *Tensor) Summary() string {
	return strings.TrimSpace(t.Name + "  " + t.Spec + "  " + viz.Bytes(t.Bytes) + "  " + t.State)
}

// Facts are the properties of the tensor as rows of name and value.
func (t *Tensor) Facts() [][]string {
	ratio := 1.0
	if t.Bytes > 0 {
		ratio = float64(t.HBMBytes) / float64(t.Bytes)
	}
	rows := [][]string{
		{"layout", t.Layout},
		{"bytes", fmt.Sprintf("%s of numbers, %s in HBM (%.2fx)", viz.Bytes(t.Bytes), viz.Bytes(t.HBMBytes), ratio)},
		{"state", t.State},
		{"strides", fmt.Sprintf("%v offset %d version %d", t.Strides, t.Offset, t.Version)},
	}
	if t.Place != "" {
		rows = append(rows, []string{"made at", t.Place + " by " + t.Op})
	}
	if t.Grad != "" {
		rows = append(rows, []string{"gradient", t.Grad})
	}
	return rows
}

// Histogram draws how the numbers are distributed.
func (t *Tensor) Histogram() viz.Histogram {
	h := viz.Histogram{Low: float64(t.Hist.Low), High: float64(t.Hist.High), Counts: t.Hist.Counts, Text: "n " + viz.Count(t.Stats.Count)}
	if t.Stats.NaN > 0 {
		h.Text += "  nan " + viz.Count(t.Stats.NaN)
	}
	if t.Stats.Inf > 0 {
		h.Text += "  inf " + viz.Count(t.Stats.Inf)
	}
	return h
}

// HeatMap draws the slice as shades.
func (t *Tensor) HeatMap() viz.HeatMap {
	return viz.HeatMap{Rows: t.Slice.Rows, Cols: t.Slice.Cols, Values: t.Slice.Values}
}

// Spark draws the numbers of the slice in order, as a line of levels.
func (t *Tensor) Spark() viz.Spark {
	s := viz.Spark{Values: t.Slice.Values, Low: float64(t.Stats.Min), High: float64(t.Stats.Max)}
	if s.Low == s.High {
		s.Low, s.High = s.Low-1, s.High+1 // in the middle
	}
	return s
}
