package viz

import "strings"

// A Piece is text in one meaning.
type Piece struct {
	Text    string
	Meaning Meaning
}

// Lines are lines of pieces; one of them may be under the cursor. When not all
// fit, those around the marked one are drawn.
type Lines struct {
	Rows   [][]Piece
	Choose bool // draws a gutter of two cells with the mark at row Marked
	Marked int
}

// Line is a line of one piece.
func Line(m Meaning, s string) []Piece { return []Piece{{s, m}} }

// Height is a line a row.
func (l Lines) Height(int) int { return max(1, len(l.Rows)) }

// Draw implements Drawing.
func (l Lines) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	first := 0
	if l.Choose {
		first = window(len(l.Rows), l.Marked, h)
	}
	for i := first; i < len(l.Rows) && i-first < h; i++ {
		x := 0
		if l.Choose {
			x = cursor(c, t, i-first, i == l.Marked)
		}
		for _, p := range l.Rows[i] {
			x = c.fit(t, x, i-first, w, p.Text, p.Meaning)
		}
		if l.Choose && i == l.Marked {
			c.choose(t, i-first)
		}
	}
	return c.lines(t)
}

// window gives the first of n rows to draw in h lines so that row marked is
// among them, as near to the middle as the ends allow.
func window(n, marked, h int) int {
	return max(0, min(marked-h/2, n-h))
}

// cursor draws the gutter of a row and gives the cell after it.
func cursor(c *canvas, t Theme, y int, marked bool) int {
	if marked {
		c.text(0, y, c.w, t.Mark, Hot)
	}
	return 2
}

// choose gives line y the colour of the row under the cursor, which covers theirs
// unless it is a background alone.
func (c *canvas) choose(t Theme, y int) {
	if t.colors[Chosen] == "" || y < 0 || y >= c.h {
		return
	}
	under := strings.HasPrefix(t.colors[Chosen], "48;") // a background alone lies under the colours of letters
	for i := y * c.w; i < (y+1)*c.w; i++ {
		cl := &c.cells[i]
		sgr := cl.sgr
		if sgr == "" {
			sgr = t.colors[cl.meaning]
		}
		if !under || sgr == "" {
			cl.sgr = t.colors[Chosen]
		} else {
			cl.sgr = sgr + ";" + t.colors[Chosen]
		}
	}
}

// A Stack is drawings one below the other. When there are fewer lines than they
// like, the parts give lines up from the last to the first, down to their
// minimum and then altogether; what is left over goes to the parts that grow.
type Stack struct{ Parts []StackPart }

// A StackPart is one drawing of a Stack.
type StackPart struct {
	Drawing Drawing
	Min     int  // lines it needs to say anything, at least 1
	Max     int  // lines it may have, 0 for as many as it likes
	Grow    bool // takes lines that are left over
}

// Height is the sum of the parts.
func (s Stack) Height(w int) int {
	n := 0
	for _, p := range s.Parts {
		n += p.wants(w)
	}
	return max(1, n)
}

func (p StackPart) wants(w int) int {
	n := p.Drawing.Height(w)
	if p.Max > 0 {
		n = min(n, p.Max)
	}
	return max(n, p.Min, 1)
}

// Draw implements Drawing.
func (s Stack) Draw(t Theme, w, h int) []string {
	w, h = max(w, 0), max(h, 0)
	heights := make([]int, len(s.Parts))
	left := h
	for i, p := range s.Parts {
		heights[i] = min(max(p.Min, 1), left)
		if heights[i] < p.Min {
			heights[i] = 0 // what cannot say anything makes room
		}
		left -= heights[i]
	}
	for i, p := range s.Parts {
		if heights[i] > 0 {
			n := min(max(0, p.wants(w)-heights[i]), left)
			heights[i] += n
			left -= n
		}
	}
	growing := 0
	for i, p := range s.Parts {
		if p.Grow && heights[i] > 0 {
			growing++
		}
	}
	for i, p := range s.Parts {
		if p.Grow && heights[i] > 0 {
			n := left / growing
			heights[i] += n
			left -= n
			growing--
		}
	}
	lines := make([]string, 0, h)
	for i, p := range s.Parts {
		if heights[i] > 0 {
			lines = append(lines, p.Drawing.Draw(t, w, heights[i])...)
		}
	}
	for len(lines) < h {
		lines = append(lines, newCanvas(w, 1).lines(t)...)
	}
	return lines
}

// Beside is two drawings next to each other, the left one Left cells wide.
type Beside struct {
	Left, Right Drawing
	Cells       int // of the left drawing; 0 for half
}

// Height is that of the higher one.
func (b Beside) Height(w int) int {
	l := b.left(w)
	return max(b.Left.Height(l), b.Right.Height(max(0, w-l-gap)))
}

func (b Beside) left(w int) int {
	n := b.Cells
	if n <= 0 {
		n = (w - gap) / 2
	}
	return max(0, min(n, w-gap))
}

// Draw implements Drawing. What is too narrow for both draws the left one.
func (b Beside) Draw(t Theme, w, h int) []string {
	const narrowest = 24
	if w < narrowest || b.left(w) == 0 {
		return b.Left.Draw(t, w, h)
	}
	l := b.left(w)
	left, right := b.Left.Draw(t, l, h), b.Right.Draw(t, w-l-gap, h)
	for i := range left {
		left[i] += "  " + right[i]
	}
	return left
}
