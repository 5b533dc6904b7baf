package viz

// A Table is rows of text in columns. Columns are as wide as their widest cell;
// when the table is too wide the widest columns give way first, and at last
// columns on the right are left out.
type Table struct {
	Columns []Column
	Rows    [][]string // a row may be shorter than Columns
}

// A Column says how a column looks.
type Column struct {
	Title   string // a table whose titles are all empty has no head
	Right   bool   // for numbers
	Meaning Meaning
}

const (
	gap       = 2 // cells between columns
	narrowest = 4 // a column is not made narrower than this
)

// Height is a line a row, and one for the head.
func (tb Table) Height(int) int { return max(1, len(tb.Rows)+lineIf(tb.head())) }

func (tb Table) head() bool {
	for _, c := range tb.Columns {
		if c.Title != "" {
			return true
		}
	}
	return false
}

// Draw implements Drawing.
func (tb Table) Draw(t Theme, w, h int) []string {
	c := newCanvas(w, h)
	widths := tb.widths(w)
	y := 0
	if tb.head() {
		titles := make([]string, len(tb.Columns))
		for i := range titles {
			titles[i] = tb.Columns[i].Title
		}
		tb.row(c, t, 0, widths, titles, true)
		y = 1
	}
	n := clipRows(c, t, y, h, len(tb.Rows))
	for i := range n {
		tb.row(c, t, y+i, widths, tb.Rows[i], false)
	}
	return c.lines(t)
}

func (tb Table) row(c *canvas, t Theme, y int, widths []int, cells []string, head bool) {
	x := 0
	for i, n := range widths {
		if i >= len(cells) {
			return
		}
		s, m := truncate(t, cells[i], n), tb.Columns[i].Meaning
		if head {
			m = Strong
		}
		if tb.Columns[i].Right {
			c.text(x+n-width(s), y, x+n, s, m)
		} else {
			c.text(x, y, x+n, s, m)
		}
		x += n + gap
	}
}

// widths gives the widths of the columns that are drawn in w cells.
func (tb Table) widths(w int) []int {
	out := make([]int, len(tb.Columns))
	for i, col := range tb.Columns {
		out[i] = width(col.Title)
		for _, row := range tb.Rows {
			if i < len(row) {
				out[i] = max(out[i], width(row[i]))
			}
		}
	}
	for total(out) > w && len(out) > 0 {
		widest := 0
		for i := range out {
			if out[i] > out[widest] {
				widest = i
			}
		}
		switch {
		case out[widest] > narrowest:
			out[widest]--
		case len(out) == 1:
			out[0] = w
		default:
			out = out[:len(out)-1]
		}
	}
	return out
}

func total(widths []int) int {
	sum := gap * (len(widths) - 1)
	for _, n := range widths {
		sum += n
	}
	return sum
}
