package viz

// A Table is rows of text in columns. Columns are as wide as their widest cell;
// when the table is too wide the widest columns give way first, and at last
// columns on the right are left out.
type Table struct {
	Columns []Column
	Rows    [][]string // a row may be shorter than Columns

	// Meanings give the meaning of a whole row, where it is not Normal.
	Meanings []Meaning
	// Choose draws a gutter of two cells with the mark at row Marked. When not
	// all rows fit, those around it are drawn.
	Choose bool
	Marked int
}

// A Column says how a column looks.
type Column struct {
	Title   string // a table whose titles are all empty has no head
	Right   bool   // for numbers
	Meaning Meaning
	// Drop says when the column is left out of a table that is too wide, after
	// text was shortened: the highest first, 0 last of all.
	Drop int
	// Least is how short text may get before other columns are left out for it;
	// 0 for the usual.
	Least int
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
	left := 0
	if tb.Choose {
		left = 2
	}
	widths := tb.widths(w - left)
	y := 0
	if tb.head() {
		titles := make([]string, len(tb.Columns))
		for i := range titles {
			titles[i] = tb.Columns[i].Title
		}
		tb.row(c, t, left, 0, widths, titles, Strong)
		y = 1
	}
	if tb.Choose {
		first := window(len(tb.Rows), tb.Marked, h-y)
		for i := first; i < len(tb.Rows) && i-first < h-y; i++ {
			cursor(c, t, y+i-first, i == tb.Marked)
			tb.row(c, t, left, y+i-first, widths, tb.Rows[i], tb.meaning(i))
			if i == tb.Marked {
				c.choose(t, y+i-first)
			}
		}
		return c.lines(t)
	}
	n := clipRows(c, t, y, h, len(tb.Rows))
	for i := range n {
		tb.row(c, t, left, y+i, widths, tb.Rows[i], tb.meaning(i))
	}
	return c.lines(t)
}

func (tb Table) meaning(row int) Meaning {
	if row < len(tb.Meanings) {
		return tb.Meanings[row]
	}
	return Normal
}

func (tb Table) row(c *canvas, t Theme, x, y int, widths []int, cells []string, of Meaning) {
	for i, n := range widths {
		if i >= len(cells) {
			return
		}
		if n == dropped {
			continue
		}
		s, m := truncate(t, cells[i], n), tb.Columns[i].Meaning
		if of != Normal {
			m = of
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
	tb.drop(out, w)
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
	sum := -gap
	for _, n := range widths {
		if n != dropped {
			sum += n + gap
		}
	}
	return sum
}

// dropped is the width of a column that is left out.
const dropped = -1

// shortened is how short text may get before columns are left out for it.
const shortened = 14

// drop leaves out columns until the others fit, should text be shortened.
func (tb Table) drop(widths []int, w int) {
	for {
		least, last := 0, -1
		for i, n := range widths {
			if n == dropped {
				continue
			}
			if !tb.Columns[i].Right {
				n = min(n, max(shortened, tb.Columns[i].Least))
			}
			least += n + gap
			if d := tb.Columns[i].Drop; d > 0 && (last < 0 || d >= tb.Columns[last].Drop) {
				last = i
			}
		}
		if last < 0 || least-gap <= w {
			return
		}
		widths[last] = dropped
	}
}
