package viz

import (
	"math"
	"strconv"
)

// A Timeline is lanes over one axis of time.
type Timeline struct {
	StartNS int64
	EndNS   int64
	Lanes   []Lane
	Note    string // before the lanes, on the first line; the axis follows
}

// A Lane is one line of a timeline: spans, or a quantity over time.
type Lane struct {
	Name    string
	Spans   []Span
	Samples []Sample // drawn as levels, each holds until the next; Spans are then not drawn
	Note    string   // after the line
	Meaning Meaning  // of what has none of its own
}

// A Span is a stretch of time. A later span of a lane is drawn over an earlier one.
type Span struct {
	StartNS int64
	EndNS   int64
	Label   string
	Meaning Meaning
}

// A Sample is a quantity from a moment on.
type Sample struct {
	AtNS  int64
	Value float64
}

// Height is a line a lane, one for the axis and one for the note.
func (tl Timeline) Height(int) int { return 1 + len(tl.Lanes) + lineIf(tl.Note != "") }

// Draw implements Drawing. A span of three cells or more is drawn as [label];
// shorter ones as how busy the cell is.
func (tl Timeline) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	left, right := 0, 0
	for _, l := range tl.Lanes {
		left, right = max(left, width(l.Name)), max(right, width(l.Note))
	}
	left = min(left, w/3) + 1
	if right > 0 && right+1 <= w/3 {
		right++
	} else {
		right = 0
	}
	cols := w - left - right
	y := 0
	if tl.Note != "" && h > 1 {
		c.fit(t, 0, 0, w, tl.Note, Normal)
		y = 1
	}
	if cols < 1 {
		return c.lines(t)
	}
	tl.axis(c, left, y, cols)
	y++
	n := clipRows(c, t, y, h, len(tl.Lanes))
	for i := range n {
		l := tl.Lanes[i]
		c.fit(t, 0, y+i, left-1, l.Name, Strong)
		if len(l.Samples) > 0 {
			tl.samples(c, t, l, left, y+i, cols)
		} else {
			tl.spans(c, t, l, left, y+i, cols)
		}
		if right > 0 {
			c.text(w-width(l.Note), y+i, w, l.Note, Normal)
		}
	}
	return c.lines(t)
}

// position is where a moment falls, in cells and fractions of them.
func (tl Timeline) position(ns int64, cols int) float64 {
	if tl.EndNS <= tl.StartNS {
		return 0
	}
	f := (float64(ns) - float64(tl.StartNS)) / (float64(tl.EndNS) - float64(tl.StartNS))
	return min(max(f, 0), 1) * float64(cols)
}

func (tl Timeline) spans(c *canvas, t Theme, l Lane, left, y, cols int) {
	busy := make([]float64, cols)
	meaning := make([]Meaning, cols)
	for _, s := range l.Spans {
		if s.EndNS < tl.StartNS || s.StartNS > tl.EndNS {
			continue
		}
		from, to := tl.position(s.StartNS, cols), tl.position(s.EndNS, cols)
		for x := int(from); x < cols && (float64(x) < to || x == int(from)); x++ {
			part := min(to, float64(x+1)) - max(from, float64(x))
			busy[x] = min(1, busy[x]+max(part, 0.05)) // an instant shows too
			meaning[x] = l.of(s)
		}
	}
	for x, f := range busy {
		if f > 0 {
			c.put(left+x, y, level(t.Ramp, f), 1, meaning[x])
		}
	}
	for _, s := range l.Spans {
		from, to := int(math.Round(tl.position(s.StartNS, cols))), int(math.Round(tl.position(s.EndNS, cols)))
		if to-from < 3 {
			continue
		}
		m := l.of(s)
		c.put(left+from, y, "[", 1, m)
		c.fill(left+from+1, y, left+to-1, t.Rule, m)
		if to-from >= 5 || width(s.Label) <= to-from-2 {
			c.fit(t, left+from+1, y, left+to-1, s.Label, m)
		}
		c.put(left+to-1, y, "]", 1, m)
	}
}

func (l Lane) of(s Span) Meaning {
	if s.Meaning == Normal {
		return l.Meaning
	}
	return s.Meaning
}

func (tl Timeline) samples(c *canvas, t Theme, l Lane, left, y, cols int) {
	high := 0.0
	for _, s := range l.Samples {
		if !math.IsInf(s.Value, 0) && s.Value > high {
			high = s.Value
		}
	}
	now, next := 0.0, 0
	for x := range cols {
		// The largest value that held within the cell.
		most := now
		for next < len(l.Samples) && int(tl.position(l.Samples[next].AtNS, cols)) <= x {
			now = l.Samples[next].Value
			if !(most >= now) {
				most = now
			}
			next++
		}
		if high > 0 {
			c.put(left+x, y, level(t.Spark, most/high), 1, l.Meaning)
		}
	}
}

// axis writes round times at the cells where they fall.
func (tl Timeline) axis(c *canvas, left, y, cols int) {
	span := tl.EndNS - tl.StartNS
	if span <= 0 {
		return
	}
	unit, name := int64(1), "ns"
	for _, u := range [...]struct {
		ns   int64
		name string
	}{{1_000, "us"}, {1_000_000, "ms"}, {1_000_000_000, "s"}} {
		if span >= 2*u.ns {
			unit, name = u.ns, u.name
		}
	}
	const apart = 12 // cells between labels, at least
	step := int64(1)
	for span/step >= int64(max(1, cols/apart)) && step < math.MaxInt64/10 {
		step = nextStep(step)
	}
	free := left
	for at := tl.StartNS; ; at += step {
		s := strconv.FormatFloat(float64(at-tl.StartNS)/float64(unit), 'g', 6, 64)
		if at == tl.StartNS {
			s += " " + name
		}
		if x := left + int(tl.position(at, cols)); x >= free && x+width(s) <= left+cols {
			free = c.text(x, y, left+cols, s, Dim) + 1
		}
		if at > tl.EndNS-step {
			return
		}
	}
}

// nextStep goes 1, 2, 5, 10, 20, 50 and so on.
func nextStep(step int64) int64 {
	lead := step
	for lead >= 10 {
		lead /= 10
	}
	if lead == 2 {
		return step / 2 * 5
	}
	return step * 2
}
