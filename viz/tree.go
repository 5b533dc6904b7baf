package viz

// A Tree is labels that hold labels.
type Tree struct {
	Label    string
	Note     string // drawn dim after the label
	Children []Tree
}

// Height is a line a label.
func (tr Tree) Height(w int) int {
	n := 1
	for _, c := range tr.Children {
		n += c.Height(w)
	}
	return n
}

// Draw implements Drawing.
func (tr Tree) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	n := clipRows(c, t, 0, h, tr.Height(w))
	y := 0
	tr.paint(c, t, &y, n, "", "")
	return c.lines(t)
}

func (tr Tree) paint(c *canvas, t Theme, y *int, limit int, first, rest string) {
	if *y >= limit {
		return
	}
	x := c.text(0, *y, c.w, first, Dim)
	x = c.fit(t, x, *y, c.w, tr.Label, Normal)
	if tr.Note != "" {
		c.fit(t, x+2, *y, c.w, tr.Note, Dim)
	}
	*y++
	for i, child := range tr.Children {
		if i == len(tr.Children)-1 {
			child.paint(c, t, y, limit, rest+t.Last+" ", rest+blank(t.Last)+" ")
		} else {
			child.paint(c, t, y, limit, rest+t.Branch+" ", rest+t.Through+" ")
		}
	}
}

func blank(s string) string {
	out := ""
	for range width(s) {
		out += " "
	}
	return out
}

// A List is lines with marks; the marked one is under the cursor.
type List struct {
	Title  string
	Items  []string
	Marked int // -1 for none
}

// Height is a line an item, and one for the title.
func (l List) Height(int) int { return max(1, len(l.Items)+lineIf(l.Title != "")) }

// Draw implements Drawing. The marked item is always among those drawn.
func (l List) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	y := 0
	if l.Title != "" {
		c.fit(t, 0, 0, w, l.Title, Strong)
		y = 1
	}
	room := max(0, h-y)
	first := max(0, min(l.Marked, len(l.Items)-1)-max(room, 1)+1)
	for i := first; i < len(l.Items) && i-first < room; i++ {
		m := Normal
		if i == l.Marked {
			c.text(0, y+i-first, w, ">", Hot)
			m = Strong
		}
		c.fit(t, 2, y+i-first, w, l.Items[i], m)
	}
	return c.lines(t)
}
