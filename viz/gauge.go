package viz

import "math"

// A Gauge is how full something is: parts of a total, drawn as a bar with a
// text after it. With more than one line, the parts are named below.
type Gauge struct {
	Parts []Part
	Total float64
	Text  string // after the bar
}

// A Part is one stretch of a gauge, drawn after the one before.
type Part struct {
	Label string
	Value float64
	Peak  bool // drawn as the way to the peak, not as used
	// Over marks the part as too much: it is drawn as bad; Warm, as nearly so.
	Over bool
	Warm bool
}

// Height is 1, and 1 more for the names of the parts when they have any.
func (g Gauge) Height(int) int {
	for _, p := range g.Parts {
		if p.Label != "" {
			return 2
		}
	}
	return 1
}

// Draw implements Drawing.
func (g Gauge) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	g.paint(c, t, 0, 0, w)
	x := 0
	for _, p := range g.Parts {
		if p.Label == "" || h < 2 {
			continue
		}
		x = c.text(x, 1, w, g.glyph(t, p), g.meaning(p))
		x = c.text(x+1, 1, w, p.Label, Normal) + 2
	}
	return c.lines(t)
}

func (g Gauge) glyph(t Theme, p Part) string {
	if p.Peak {
		return t.Peak
	}
	return t.Full
}

func (g Gauge) meaning(p Part) Meaning {
	switch {
	case p.Over:
		return Bad
	case p.Warm:
		return Wait
	case p.Peak:
		return Dim
	}
	return OK
}

// paint draws the bar and its text on line y from x to limit.
func (g Gauge) paint(c *canvas, t Theme, x, y, limit int) {
	room := limit - x - 2
	if g.Text != "" && room-width(g.Text)-1 >= 5 {
		room -= width(g.Text) + 1
		c.text(limit-width(g.Text), y, limit, g.Text, Normal)
	}
	if room < 1 {
		c.fit(t, x, y, limit, g.Text, Normal)
		return
	}
	c.put(x, y, "[", 1, Dim)
	c.put(x+room+1, y, "]", 1, Dim)
	c.fill(x+1, y, x+1+room, t.Free, Dim)
	done, sum := 0, 0.0
	for _, p := range g.Parts {
		if !(p.Value > 0) {
			continue
		}
		sum += p.Value
		end := room
		if g.Total > 0 && sum < g.Total {
			end = min(room, int(math.Round(sum/g.Total*float64(room))))
		}
		if end == done && done < room {
			end++ // something is never drawn as nothing
		}
		c.fill(x+1+done, y, x+1+end, g.glyph(t, p), g.meaning(p))
		done = max(done, end)
	}
}

// Bars compares quantities: a label, a bar and a text a line. The longest bar
// has the length that is left.
type Bars struct {
	Title string
	Rows  []BarRow
}

// A BarRow is one quantity.
type BarRow struct {
	Label   string
	Value   float64
	Text    string
	Meaning Meaning // of the bar
}

// Height is a line a row and one for the title.
func (b Bars) Height(int) int { return max(1, len(b.Rows)+lineIf(b.Title != "")) }

// Draw implements Drawing.
func (b Bars) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	y := 0
	if b.Title != "" {
		c.fit(t, 0, 0, w, b.Title, Strong)
		y = 1
	}
	label, text, largest := 0, 0, 0.0
	for _, r := range b.Rows {
		label, text = max(label, width(r.Label)), max(text, width(r.Text))
		if !math.IsInf(r.Value, 0) {
			largest = max(largest, r.Value)
		}
	}
	label = min(label, w/2)
	room := w - label - text - 2
	rows := clipRows(c, t, y, h, len(b.Rows))
	for i := range rows {
		r := b.Rows[i]
		c.fit(t, 0, y+i, label, r.Label, Normal)
		if room < 3 { // no place for a bar
			c.fit(t, label+1, y+i, w, r.Text, Normal)
			continue
		}
		if r.Value > 0 && largest > 0 {
			n := max(1, int(math.Round(min(1, r.Value/largest)*float64(room))))
			c.fill(label+1, y+i, label+1+n, t.Full, r.Meaning)
		}
		c.text(w-width(r.Text), y+i, w, r.Text, Normal)
	}
	return c.lines(t)
}

// clipRows says how many of n rows fit in the lines from y on; when not all do,
// the last line says how many are left.
func clipRows(c *canvas, t Theme, y, h, n int) int {
	room := max(0, h-y)
	if n <= room {
		return n
	}
	if room == 0 {
		return 0
	}
	c.fit(t, 0, h-1, c.w, t.More+" and "+Count(int64(n-room+1))+" more", Dim)
	return room - 1
}

func lineIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
