package viz

import "math"

// A Histogram is how often values fall into equal intervals of [Low, High].
type Histogram struct {
	Low, High float64
	Counts    []int64
	Text      string // after the ends of the axis
}

// HistogramOf counts finite values in n intervals between the least and the
// greatest of them.
func HistogramOf(values []float64, n int) Histogram {
	h := Histogram{Low: math.Inf(1), High: math.Inf(-1), Counts: make([]int64, max(n, 1))}
	nan, inf := int64(0), int64(0)
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			nan++
		case math.IsInf(v, 0):
			inf++
		default:
			h.Low, h.High = min(h.Low, v), max(h.High, v)
		}
	}
	if h.Low > h.High {
		h.Low, h.High = 0, 0
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		i := 0
		if h.High > h.Low {
			// Halves, so that the range of the largest numbers does not overflow.
			i = int((v/2 - h.Low/2) / (h.High/2 - h.Low/2) * float64(len(h.Counts)))
		}
		h.Counts[min(max(i, 0), len(h.Counts)-1)]++
	}
	h.Text = "n " + Count(int64(len(values)))
	if nan > 0 {
		h.Text += "  nan " + Count(nan)
	}
	if inf > 0 {
		h.Text += "  inf " + Count(inf)
	}
	return h
}

// Height is six lines of columns and the axis.
func (hg Histogram) Height(int) int { return 7 }

// Draw implements Drawing.
func (hg Histogram) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	if len(hg.Counts) == 0 || w == 0 || h == 0 {
		return c.lines(t)
	}
	chart := h - 1
	if h < 3 {
		chart = h
	}
	counts := hg.Counts
	if len(counts) > w { // intervals are joined
		joined := make([]int64, w)
		for i, n := range counts {
			joined[i*w/len(counts)] += n
		}
		counts = joined
	}
	var most int64
	for _, n := range counts {
		most = max(most, n)
	}
	bar := max(1, w/len(counts))
	for i, n := range counts {
		if n <= 0 {
			continue
		}
		for x := i * bar; x < (i+1)*bar-lineIf(bar > 2); x++ {
			column(c, t, x, 0, chart, float64(n)/float64(most), VPU)
		}
	}
	if chart < h {
		low, high := Number(hg.Low), Number(hg.High)
		x := c.fit(t, 0, h-1, w, low, Dim)
		end := min(w, bar*len(counts))
		if end-width(high) > x {
			c.text(end-width(high), h-1, end, high, Dim)
		}
		if mid := (x + end - width(high) - width(hg.Text)) / 2; mid > x+1 {
			c.text(mid, h-1, end-width(high)-1, hg.Text, Normal)
		} else if end+2+width(hg.Text) <= w {
			c.text(end+2, h-1, w, hg.Text, Normal)
		}
	}
	return c.lines(t)
}
