package inspect

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/kernel"
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
	Known   bool  `json:"known"`
	Stats   Stats `json:"stats"`
	Sampled int   `json:"sampled,omitempty"` // the elements Stats and Hist are of, when not all
	Hist    Hist  `json:"hist"`
	Slice   Slice `json:"slice"`
}

// TensorMIME is the media type of a Tensor as JSON, beside the text of a shown value.
const TensorMIME = "application/vnd.tpush.tensor+json"

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

// HistOf counts the finite elements of an array in n intervals; of complex
// numbers, their magnitudes.
func HistOf(a kernel.Array, n int) Hist {
	h := viz.HistogramOf(Magnitudes(a), n)
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

// Statistics is a line of them; it says so when not every element was looked at.
func (t *Tensor) Statistics() string {
	s := t.Stats.String()
	if n := t.Stats.Elements; t.Sampled > 0 || n > 0 && t.Stats.NaN+t.Stats.Inf < n {
		s = strings.Replace(s, "  nan", fmt.Sprintf("  std %.4g  nan", t.Stats.Std), 1)
	}
	if t.Sampled > 0 {
		n := 1
		for _, d := range t.Dims {
			n *= d
		}
		s += fmt.Sprintf("  (%s of %s elements)", viz.Count(int64(t.Sampled)), viz.Count(int64(n)))
	}
	return s
}

// Histogram draws how the numbers are distributed.
func (t *Tensor) Histogram() viz.Histogram {
	h := viz.Histogram{Low: float64(t.Hist.Low), High: float64(t.Hist.High), Counts: t.Hist.Counts, Text: "n " + viz.Count(int64(t.Stats.Elements))}
	if t.Stats.NaN > 0 {
		h.Text += "  nan " + viz.Count(int64(t.Stats.NaN))
	}
	if t.Stats.Inf > 0 {
		h.Text += "  inf " + viz.Count(int64(t.Stats.Inf))
	}
	return h
}

// HeatMap draws the slice as shades.
func (t *Tensor) HeatMap() viz.HeatMap {
	return viz.HeatMap{Rows: t.Slice.Rows, Cols: t.Slice.Cols, Values: t.Slice.Values}
}

// Spark draws the numbers of the slice in order, as a line of levels.
func (t *Tensor) Spark() viz.Spark {
	s := viz.Spark{Values: t.Slice.Values, Low: t.Stats.Min, High: t.Stats.Max}
	if s.Low == s.High {
		s.Low, s.High = s.Low-1, s.High+1 // in the middle
	}
	return s
}
