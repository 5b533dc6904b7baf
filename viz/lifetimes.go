package viz

import "strconv"

// Lifetimes is what lives from when to when over the steps of a program: a row
// each, with a bar from its first step to its last. Above them is how much
// lives at each step.
type Lifetimes struct {
	Steps int // they count from 0
	Rows  []Lifetime
	Level []float64 // one a step, nil for none
	Label string    // of the level
	Note  string    // after the level
	Mark  int       // a step to point at, below the rows; -1 for none
}

// A Lifetime is one row.
type Lifetime struct {
	Name, Note  string // before and after the bar
	First, Last int    // steps, both included
	Meaning     Meaning
}

// Height is a line a row, one for the level and one for the steps.
func (l Lifetimes) Height(int) int { return len(l.Rows) + lineIf(len(l.Level) > 0) + 1 }

// Draw implements Drawing.
func (l Lifetimes) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	left, right := width(l.Label), width(l.Note)
	for _, r := range l.Rows {
		left, right = max(left, width(r.Name)), max(right, width(r.Note))
	}
	left, right = min(left, w/3)+1, min(right, w/3)+1
	cols := w - left - right
	if cols < 2 || l.Steps < 1 {
		return c.lines(t)
	}
	y := 0
	if len(l.Level) > 0 {
		c.fit(t, 0, 0, left-1, l.Label, Strong)
		high := 0.0
		for _, v := range l.Level {
			high = max(high, v)
		}
		for x, v := range resample(l.Level, cols) {
			if high > 0 {
				c.put(left+x, 0, level(t.Spark, v/high), 1, HBM)
			}
		}
		c.fit(t, left+cols+1, 0, w, l.Note, Normal)
		y = 1
	}
	n := clipRows(c, t, y, h-1, len(l.Rows))
	for i := range n {
		l.row(c, t, l.Rows[i], left, y+i, cols)
	}
	l.axis(c, t, left, min(y+len(l.Rows), h-1), cols)
	return c.lines(t)
}

// column is where a step begins.
func (l Lifetimes) column(step, cols int) int {
	return min(max(step, 0), l.Steps) * cols / max(l.Steps, 1)
}

func (l Lifetimes) row(c *canvas, t Theme, r Lifetime, left, y, cols int) {
	c.fit(t, 0, y, left-1, r.Name, Normal)
	from, to := l.column(r.First, cols), l.column(r.Last+1, cols)
	from = min(from, cols-1)
	to = min(max(to, from+1), cols)
	c.fill(left, y, left+from, t.Free, Dim)
	c.fill(left+from, y, left+to, t.Full, r.Meaning)
	c.fill(left+to, y, left+cols, t.Free, Dim)
	c.fit(t, left+cols+1, y, c.w, r.Note, Normal)
}

// axis writes the first step, the marked one and how many there are.
func (l Lifetimes) axis(c *canvas, t Theme, left, y, cols int) {
	last := strconv.Itoa(l.Steps)
	c.text(left, y, left+cols, "0", Dim)
	free := left + 2
	if l.Mark >= 0 && l.Mark < l.Steps {
		s := "^" + strconv.Itoa(l.Mark)
		x := min(left+l.column(l.Mark, cols), left+cols-width(s))
		free = c.text(x, y, left+cols, s, Hot) + 1
	}
	if left+cols-width(last) >= free {
		c.text(left+cols-width(last), y, left+cols, last, Dim)
	}
}
