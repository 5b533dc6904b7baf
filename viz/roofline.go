package viz

import (
	"math"
	"strconv"
)

// A Roofline is how fast kernels ran against how much they compute for each
// byte they move, on logarithmic axes, below the ceilings of a chip.
type Roofline struct {
	BytesPerSec float64 // of the memory
	Ceilings    []Ceiling
	Points      []RoofPoint
	Marked      int // point under the cursor, -1 for none
}

// A Ceiling is a rate that nothing exceeds.
type Ceiling struct {
	Label       string
	FLOPsPerSec float64
	Meaning     Meaning
}

// A RoofPoint is one kernel.
type RoofPoint struct {
	Letter       string  // one cell
	FLOPsPerByte float64 // of memory traffic
	FLOPsPerSec  float64
	Meaning      Meaning
}

// Height is sixteen lines.
func (Roofline) Height(int) int { return 16 }

// Draw implements Drawing. A point off the axes stands at their end.
func (r Roofline) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	const left = 7
	cols, rows := w-left-1, h-2
	if cols < 8 || rows < 3 || !(r.BytesPerSec > 0) || len(r.Ceilings) == 0 {
		c.fit(t, 0, 0, w, "roofline: too small", Dim)
		return c.lines(t)
	}
	top := 0.0
	for _, l := range r.Ceilings {
		top = max(top, l.FLOPsPerSec)
	}
	ridge := top / r.BytesPerSec
	if !(top > 0) || top > 1e30 || ridge > 1e30 || ridge < 1e-30 {
		c.fit(t, 0, 0, w, "roofline: the ceilings are no rates", Bad)
		return c.lines(t)
	}
	xLow, xHigh := ridge/1e4, ridge*30
	yLow, yHigh := top, top*2
	for _, p := range r.Points {
		if p.FLOPsPerByte > 0 && !math.IsInf(p.FLOPsPerByte, 0) {
			xLow, xHigh = min(xLow, p.FLOPsPerByte/2), max(xHigh, p.FLOPsPerByte*2)
		}
		if p.FLOPsPerSec > 0 {
			yLow = min(yLow, p.FLOPsPerSec/2)
		}
	}
	xLow, xHigh = max(xLow, ridge/1e8), min(xHigh, ridge*1e8)
	yLow = max(min(yLow, xLow*r.BytesPerSec), top/1e9)
	column := func(x float64) int { return left + 1 + scale(x, xLow, xHigh, cols) }
	line := func(y float64) int { return rows - 1 - scale(y, yLow, yHigh, rows) }
	r.axes(c, t, left, rows, xLow, xHigh, yLow, yHigh, column, line)
	for i, l := range r.Ceilings {
		m := l.Meaning
		at := line(l.FLOPsPerSec)
		from := column(l.FLOPsPerSec / r.BytesPerSec)
		glyph := t.Line[0]
		if i > 0 {
			glyph = t.Free
		}
		c.fill(from, at, w, glyph, m)
		c.fit(t, max(from+1, w-width(l.Label)-1), at, w, l.Label, m)
	}
	// The slope of the memory, up to the ridge.
	last := -1
	for x := left + 1; x <= min(column(ridge), w-1); x++ {
		v := xLow * math.Pow(xHigh/xLow, (float64(x-left-1)+0.5)/float64(cols))
		y := line(v * r.BytesPerSec)
		glyph := t.Line[1]
		if y == last {
			glyph = t.Line[0]
		}
		last = y
		c.put(x, y, glyph, 1, HBM)
	}
	for i, p := range r.Points {
		if i != r.Marked {
			r.point(c, t, p, column, line, p.Meaning)
		}
	}
	if r.Marked >= 0 && r.Marked < len(r.Points) {
		p := r.Points[r.Marked]
		r.point(c, t, p, column, line, Hot)
		if x := column(p.FLOPsPerByte); x > left+1 {
			c.put(x-1, line(p.FLOPsPerSec), t.Mark, 1, Hot)
		}
	}
	return c.lines(t)
}

func (r Roofline) point(c *canvas, t Theme, p RoofPoint, column, line func(float64) int, m Meaning) {
	letter := p.Letter
	if width(letter) != 1 {
		letter = t.Dot
	}
	c.put(column(p.FLOPsPerByte), line(p.FLOPsPerSec), letter, 1, m)
}

// scale is where v falls on n cells of a logarithmic axis.
func scale(v, low, high float64, n int) int {
	if !(v > low) {
		return 0
	}
	if v >= high {
		return n - 1
	}
	return min(n-1, int(math.Log(v/low)/math.Log(high/low)*float64(n)))
}

// axes draws both axes with the decades.
func (r Roofline) axes(c *canvas, t Theme, left, rows int, xLow, xHigh, yLow, yHigh float64, column, line func(float64) int) {
	for y := range rows {
		c.put(left, y, t.Wall, 1, Dim)
	}
	c.put(left, rows, t.Edge, 1, Dim)
	c.fill(left+1, rows, c.w, t.Rule, Dim)
	free := rows
	for e := math.Ceil(math.Log10(yLow)); e <= math.Floor(math.Log10(yHigh)); e++ {
		v := math.Pow(10, e)
		if y := line(v); y < free {
			s := rate(v)
			c.text(left-width(s), y, left, s, Dim)
			free = y - 1
		}
	}
	next := left
	for e := math.Ceil(math.Log10(xLow)); e <= math.Floor(math.Log10(xHigh)); e++ {
		v := math.Pow(10, e)
		s := strconv.FormatFloat(v, 'g', 4, 64)
		if x := column(v); x >= next && x+width(s) <= c.w {
			c.text(x, rows+1, c.w, s, Dim)
			next = x + width(s) + 2
		}
	}
	const name = "FLOP/byte"
	if x := c.w - len(name); x > next {
		c.text(x, rows+1, c.w, name, Dim)
	}
}

// rate writes FLOP/s shortly: 1T, 100G.
func rate(v float64) string {
	for _, u := range [...]struct {
		size float64
		name string
	}{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size*0.999 {
			return strconv.FormatFloat(v/u.size, 'g', 3, 64) + u.name + "/s"
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + "/s"
}
