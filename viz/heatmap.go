package viz

import "math"

// A HeatMap is a matrix of numbers as shades, or as colours where the theme has
// a heat scale; two rows then share a line. A matrix larger than the drawing is
// averaged; NaN and infinities show as ! and are counted below.
type HeatMap struct {
	Rows, Cols int
	Values     []float64 // row-major, Rows × Cols
}

// Height is a line a row, 24 at most, and one for the scale.
func (hm HeatMap) Height(int) int { return min(max(hm.Rows, 1), 24) + 1 }

// Draw implements Drawing.
func (hm HeatMap) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	if w == 0 || h == 0 || hm.Rows <= 0 || hm.Cols <= 0 || len(hm.Values) < hm.Rows*hm.Cols {
		return c.lines(t)
	}
	lines := h - lineIf(h > 1)
	perLine := 1
	if t.heat != nil {
		perLine = 2
	}
	rows := min(hm.Rows, lines*perLine)
	cols := min(hm.Cols, w)
	wide := 1
	if perLine == 1 && 2*cols <= w {
		wide = 2 // cells are about twice as high as wide
	}
	low, high, odd := hm.limits()
	for y := range rows {
		for x := range cols {
			v, bad := hm.mean(y, x, rows, cols)
			f := 0.5
			if high > low {
				f = (v/2 - low/2) / (high/2 - low/2)
			}
			for i := range wide {
				if perLine == 2 {
					halfBlock(c, t, x*wide+i, y, f, bad)
				} else if bad {
					c.put(x*wide+i, y, "!", 1, Bad)
				} else {
					c.put(x*wide+i, y, shade(t.Ramp, f), 1, Normal)
				}
			}
		}
	}
	if lines < h {
		x := c.fit(t, 0, h-1, w, Number(low)+" ", Dim)
		if t.heat == nil {
			for _, r := range t.Ramp {
				x = c.text(x, h-1, w, r, Normal)
			}
		} else {
			for _, n := range t.heat {
				if c.put(x, h-1, t.Full, 1, Normal) {
					c.cells[(h-1)*c.w+x].sgr = "38;5;" + n
				}
				x++
			}
		}
		x = c.fit(t, x, h-1, w, " "+Number(high), Dim)
		if odd > 0 {
			c.fit(t, x+2, h-1, w, "! not finite "+Count(odd), Bad)
		}
	}
	return c.lines(t)
}

// limits are the least and greatest finite values, and how many are not finite.
func (hm HeatMap) limits() (low, high float64, odd int64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range hm.Values[:hm.Rows*hm.Cols] {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			odd++
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	if low > high {
		low, high = 0, 0
	}
	return low, high, odd
}

// mean averages the part of the matrix that cell (y, x) of rows × cols stands
// for; bad when any value of it is not finite.
func (hm HeatMap) mean(y, x, rows, cols int) (v float64, bad bool) {
	n := 0.0
	for i := y * hm.Rows / rows; i < (y+1)*hm.Rows/rows; i++ {
		for j := x * hm.Cols / cols; j < (x+1)*hm.Cols/cols; j++ {
			d := hm.Values[i*hm.Cols+j]
			if math.IsNaN(d) || math.IsInf(d, 0) {
				return 0, true
			}
			n++
			v += d/n - v/n // d-v may overflow
		}
	}
	return v, false
}

// halfBlock paints one of the two values of a cell: the upper half with the
// foreground, the lower with the background.
func halfBlock(c *canvas, t Theme, x, y int, f float64, bad bool) {
	color := shade(t.heat, f)
	if bad {
		color = "46" // green, in no heat scale
	}
	if x >= c.w || y/2 >= c.h {
		return
	}
	if y%2 == 0 {
		c.put(x, y/2, "▀", 1, Normal)
		c.cells[y/2*c.w+x].sgr = "38;5;" + color
		return
	}
	c.cells[y/2*c.w+x].sgr += ";48;5;" + color
}

// shade gives the part of scale that a fraction of 0 to 1 falls in.
func shade(scale []string, fraction float64) string {
	if !(fraction > 0) {
		return scale[0]
	}
	return scale[min(len(scale)-1, int(min(fraction, 1)*float64(len(scale))))]
}
