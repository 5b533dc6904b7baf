package viz

import "math"

// A Spark is a series of values as a line of levels, or as columns when it may
// have more than one line. Values that are NaN are left out.
type Spark struct {
	Values []float64
	Low    float64 // drawn as nothing; values at or below too
	High   float64 // drawn as full; 0 with Low 0 means the largest value
	Label  string  // before the line
	Text   string  // after the line
}

// Height is 1.
func (s Spark) Height(int) int { return 1 }

// Draw implements Drawing.
func (s Spark) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	x, limit := 0, w
	if s.Label != "" {
		x = c.fit(t, 0, 0, w/2, s.Label, Normal) + 1
	}
	if n := width(s.Text); n > 0 && limit-x-n-1 >= 3 {
		limit -= n + 1
		c.text(w-n, 0, w, s.Text, Normal)
	}
	if limit <= x {
		return c.lines(t)
	}
	low, high := s.Low, s.High
	if low == 0 && high == 0 {
		for _, v := range s.Values {
			if !math.IsInf(v, 0) && v > high {
				high = v
			}
		}
	}
	for i, v := range resample(s.Values, limit-x) {
		f := (v - low) / (high - low)
		if h == 1 {
			c.put(x+i, 0, level(t.Spark, f), 1, HBM)
		} else {
			column(c, t, x+i, 0, h, f, HBM)
		}
	}
	return c.lines(t)
}

// column fills the cells of column x from the bottom line (y+h-1) up to a fraction of h lines.
func column(c *canvas, t Theme, x, y, h int, fraction float64, m Meaning) {
	if !(fraction > 0) {
		return
	}
	full := min(fraction, 1) * float64(h)
	for i := range h {
		part := full - float64(i)
		if part <= 0 {
			break
		}
		c.put(x, y+h-1-i, level(t.Column, part), 1, m)
	}
}

// resample gives at most n values: the largest of each stretch, so that peaks
// stay. Fewer values than n are given as they are.
func resample(values []float64, n int) []float64 {
	if len(values) <= n || n <= 0 {
		return values[:min(len(values), max(n, 0))]
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
		for _, v := range values[i*len(values)/n : (i+1)*len(values)/n] {
			if !(out[i] >= v) && !math.IsNaN(v) {
				out[i] = v
			}
		}
	}
	return out
}
