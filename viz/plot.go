package viz

import (
	"math"
)

// A Plot is series of values over a common axis, as lines of a chart.
type Plot struct {
	Title  string
	Series []PlotSeries
	XLabel string // below the axis, at its right end
	// Low and High bound the values that are drawn; when both are 0 the values decide.
	Low, High float64
}

// A PlotSeries is one line. Values that are not finite interrupt it.
type PlotSeries struct {
	Label   string
	Values  []float64
	Meaning Meaning
}

// Height is ten lines and what title, axis and legend take.
func (p Plot) Height(int) int { return 10 + 1 + lineIf(p.Title != "") + lineIf(p.legend()) }

func (p Plot) legend() bool {
	for _, s := range p.Series {
		if s.Label != "" {
			return true
		}
	}
	return false
}

// marks are the points of the first series and so on where lines cannot be told apart by colour.
const plotMarks = "ox+*"

// Draw implements Drawing.
func (p Plot) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	y, end := 0, h
	if p.Title != "" && h > 3 {
		c.fit(t, 0, 0, w, p.Title, Strong)
		y = 1
	}
	if p.legend() && h > 4 {
		end--
		x := 0
		for i, s := range p.Series {
			x = c.text(x, end, w, p.glyph(t, i), s.meaning(i))
			x = c.fit(t, x+1, end, w, s.Label, Normal) + 2
		}
	}
	low, high := p.Limits()
	rows := end - y - 1
	if rows < 1 || w < 2 {
		return c.lines(t)
	}
	top, bottom := Number(high), Number(low)
	left := max(width(top), width(bottom)) + 1
	if left*2 > w {
		left = 0
	} else {
		c.text(left-1-width(top), y, left, top, Dim)
		c.text(left-1-width(bottom), y+rows-1, left, bottom, Dim)
	}
	for i := range rows {
		c.put(left, y+i, t.Wall, 1, Dim)
	}
	c.put(left, y+rows, t.Edge, 1, Dim)
	c.fill(left+1, y+rows, w, t.Rule, Dim)
	if n := width(p.XLabel); n > 0 && n+left+2 < w {
		c.text(w-n, y+rows, w, p.XLabel, Dim)
	}
	cols := w - left - 1
	for i, s := range p.Series {
		p.line(c, t, i, s, left+1, y, cols, rows, low, high)
	}
	return c.lines(t)
}

func (s PlotSeries) meaning(i int) Meaning {
	if s.Meaning != Normal {
		return s.Meaning
	}
	return [...]Meaning{MXU, VPU, DMA, Place}[i%4]
}

// glyph is the point of a series: one that tells it from the others.
func (p Plot) glyph(t Theme, i int) string {
	if len(p.Series) == 1 {
		return t.Dot
	}
	return string(plotMarks[i%len(plotMarks)])
}

// Limits are the ends of the axis: the least and greatest finite values, apart.
func (p Plot) Limits() (low, high float64) {
	if p.Low != 0 || p.High != 0 {
		return p.Low, p.High
	}
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range p.Series {
		for _, v := range s.Values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	switch {
	case low > high:
		return 0, 1
	case low == high:
		return low - 1, high + 1
	}
	return low, high
}

// line draws a series: a point a column, upright lines between columns.
func (p Plot) line(c *canvas, t Theme, i int, s PlotSeries, x0, y0, cols, rows int, low, high float64) {
	if len(s.Values) == 0 || cols < 1 || !(high > low) {
		return
	}
	at := func(v float64) int {
		f := (v/2 - low/2) / (high/2 - low/2)
		return y0 + rows - 1 - int(math.Round(min(max(f, 0), 1)*float64(rows-1)))
	}
	last, known := 0, false
	for x := range cols {
		from, to := x*len(s.Values)/cols, (x+1)*len(s.Values)/cols
		if len(s.Values) < cols { // fewer values than columns: each at its own
			k := 0
			if cols > 1 && len(s.Values) > 1 {
				k = x * (len(s.Values) - 1) / (cols - 1)
			}
			from, to = k, k+1
		}
		least, most := math.Inf(1), math.Inf(-1)
		for _, v := range s.Values[from:max(to, from)] {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				least, most = min(least, v), max(most, v)
			}
		}
		if least > most {
			known = false
			continue
		}
		upper, lower := at(most), at(least)
		if known {
			upper, lower = min(upper, max(last, upper)), max(lower, min(last, lower))
			if last < upper-1 {
				upper = last + 1
			}
			if last > lower+1 {
				lower = last - 1
			}
		}
		for y := upper; y <= lower; y++ {
			c.put(x0+x, y, p.glyph(t, i), 1, s.meaning(i))
		}
		last, known = at(s.Values[max(to-1, from)]), true
		if math.IsNaN(s.Values[max(to-1, from)]) || math.IsInf(s.Values[max(to-1, from)], 0) {
			last = upper
		}
	}
}
