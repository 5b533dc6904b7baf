package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// A Look says how the text is drawn. The strings of colours are parameters of
// SGR: 1;31.
type Look struct {
	W, H    int
	GutterW int
	Gutter  func(line int, first bool) string // exactly GutterW cells, before each row of a line
	Tokens  *[NumTokens]string
	Select  string // the selection
	Match   string // a bracket and its partner
	Wrong   *Pos   // where a mistake is, nil for none
	Mistake string // the word there
	Ghost   string // text after the end that is no text yet, in the colour of comments
}

// inner is how many cells a row has for text.
func (l *Look) inner() int { return max(l.W-l.GutterW, 1) }

// Height is how many rows the text takes at the width of the look, but not more than limit.
func (e *Editor) Height(w, limit int) int {
	n := 0
	for i := 0; i < len(e.lines) && n < limit; i++ {
		n += rowsOf(e.lines[i], w)
	}
	return min(n, limit)
}

// rowsOf is how many rows a line takes: the place after its last letter has room too.
func rowsOf(line string, w int) int {
	n, _ := place(line, len(line), w)
	return n + 1
}

// place gives the row and the cell in it where the letter at byte col stands.
func place(line string, col, w int) (row, x int) {
	at := 0 // cells of the line so far, for tabs
	for i := 0; i < len(line); {
		n, _, cells := next(line[i:], at)
		cells = min(cells, w)
		if x+cells > w {
			row, x = row+1, 0
		}
		if i >= col {
			return row, x
		}
		x += cells
		at += cells
		i += n
	}
	if x >= w {
		row, x = row+1, 0
	}
	return row, x
}

// next is the next letter with tabs as spaces and what has no cell as one mark.
func next(s string, at int) (n int, draw string, cells int) {
	if s[0] == '\t' {
		cells = glyph.TabWidth - at%glyph.TabWidth
		return 1, glyph.Spaces(cells), cells
	}
	n, draw, cells = glyph.Next(s)
	if cells == 0 { // nothing may hide in a program
		return n, "\u00b7", 1
	}
	return n, draw, cells
}

// follow scrolls so that the cursor is in the window.
func (e *Editor) follow(w, h int) {
	row, _ := place(e.lines[e.cur.Line], e.cur.Col, w)
	cur := Pos{e.cur.Line, row}
	if e.top.Line >= len(e.lines) || cur.before(e.top) {
		e.top = cur
	}
	for n, at := 0, e.top; at.before(cur); n++ {
		if n >= h-1 {
			e.top = e.up(cur, h-1, w)
			break
		}
		if at.Col++; at.Col >= rowsOf(e.lines[at.Line], w) {
			at = Pos{at.Line + 1, 0}
		}
	}
	// No empty rows below the text while there is text above.
	end := Pos{len(e.lines) - 1, rowsOf(e.lines[len(e.lines)-1], w) - 1}
	if last := e.up(end, h-1, w); last.before(e.top) {
		e.top = last
	}
}

// up goes n rows up from a row.
func (e *Editor) up(p Pos, n, w int) Pos {
	for ; n > 0; n-- {
		switch {
		case p.Col > 0:
			p.Col--
		case p.Line > 0:
			p.Line--
			p.Col = rowsOf(e.lines[p.Line], w) - 1
		default:
			return p
		}
	}
	return p
}

// Rows draws the text around the cursor: exactly H rows of W cells, and where
// the cursor is in them.
func (e *Editor) Rows(l Look) (rows []string, x, y int) {
	if l.W <= 0 || l.H <= 0 {
		return make([]string, max(l.H, 0)), 0, 0
	}
	w := l.inner()
	e.follow(w, l.H)
	a, b, selected := e.Selection()
	at, other, matched := e.Match()
	line, skip := e.top.Line, e.top.Col
	for len(rows) < l.H && line < len(e.lines) {
		d := drawing{look: &l, w: w, spans: e.Spans(line)}
		if selected && line >= a.Line && line <= b.Line {
			d.over(l.Select, from(a, line), until(b, line, len(e.lines[line])+1))
		}
		if matched {
			for _, p := range [2]Pos{at, other} {
				if p.Line == line {
					d.over(l.Match, p.Col, p.Col+1)
				}
			}
		}
		if l.Wrong != nil && l.Wrong.Line == line {
			d.over(l.Mistake, l.Wrong.Col, wordEnd(e.lines[line], l.Wrong.Col))
		}
		d.draw(e.lines[line])
		if line == len(e.lines)-1 && l.Ghost != "" {
			d.ghost(l.Ghost)
		}
		if line == e.cur.Line {
			row, col := place(e.lines[line], e.cur.Col, w)
			x, y = l.GutterW+col, len(rows)+row-skip
		}
		for i, r := range d.end() {
			if i < skip || len(rows) == l.H {
				continue
			}
			if l.Gutter != nil {
				r = l.Gutter(line, i == 0) + r
			}
			rows = append(rows, glyph.Fit(r, l.W, ""))
		}
		skip = 0
		line++
	}
	for len(rows) < l.H {
		rows = append(rows, glyph.Spaces(l.W))
	}
	return rows, min(x, l.W-1), min(max(y, 0), l.H-1)
}

// TopRow says how far the text is scrolled: the line of the first row shown.
func (e *Editor) TopRow() int { return e.top.Line }

// Click puts the cursor at a cell of the rows drawn last.
func (e *Editor) Click(l Look, x, y int) {
	w, p := l.inner(), e.top
	for ; y > 0; y-- {
		if p.Col++; p.Col >= rowsOf(e.lines[p.Line], w) {
			if p.Line == len(e.lines)-1 {
				e.MoveTo(e.End())
				return
			}
			p = Pos{p.Line + 1, 0}
		}
	}
	line, col := e.lines[p.Line], 0
	for col < len(line) {
		row, cx := place(line, col, w)
		if row > p.Col || row == p.Col && cx >= x-l.GutterW {
			break
		}
		col += letter(line[col:])
	}
	e.MoveTo(Pos{p.Line, col})
}

// wordEnd is where the word that begins at a byte ends, at least a letter behind it.
func wordEnd(line string, col int) int {
	for i := col; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		if !isWord(r) {
			return max(i, col+1)
		}
		i += n
	}
	return max(len(line), col+1)
}

func from(p Pos, line int) int {
	if p.Line < line {
		return 0
	}
	return p.Col
}

func until(p Pos, line, end int) int {
	if p.Line > line {
		return end
	}
	return p.Col
}

// A drawing draws one line into rows.
type drawing struct {
	look  *Look
	w     int
	spans []Span
	overs []over

	b     strings.Builder
	rows  []string
	style string
	x     int
}

// An over is a style on a piece of a line, beside that of the token.
type over struct {
	style    string
	from, to int
}

func (d *drawing) over(style string, from, to int) {
	d.overs = append(d.overs, over{style, from, to})
}

func (d *drawing) draw(line string) {
	cells, at := 0, 0
	for i := 0; i < len(line); {
		n, text, c := next(line[i:], cells)
		if c > d.w {
			text, c = glyph.Spaces(d.w), d.w
		}
		for at < len(d.spans) && i >= d.spans[at].To {
			at++
		}
		style := ""
		if at < len(d.spans) && i >= d.spans[at].From {
			style = d.look.Tokens[d.spans[at].Token]
		}
		d.put(d.covered(style, i), text, c)
		cells += c
		i += n
	}
	if style := d.covered("", len(line)); style != "" { // the line end is selected
		d.put(style, " ", 1)
	}
	if d.x >= d.w {
		d.row()
	}
}

// covered is the style of byte i, of which the token's style is one part.
func (d *drawing) covered(style string, i int) string {
	for _, o := range d.overs {
		if i >= o.from && i < o.to && o.style != "" {
			if style != "" {
				style += ";"
			}
			style += o.style
		}
	}
	return style
}

func (d *drawing) ghost(text string) {
	for text != "" {
		n, draw, c := next(text, 0)
		if d.x+c > d.w {
			return
		}
		d.put(d.look.Tokens[Comment], draw, c)
		text = text[n:]
	}
}

func (d *drawing) put(style, text string, cells int) {
	if d.x+cells > d.w {
		d.row()
	}
	if style != d.style {
		if d.style != "" {
			d.b.WriteString("\x1b[0m")
		}
		if style != "" {
			d.b.WriteString("\x1b[" + style + "m")
		}
		d.style = style
	}
	d.b.WriteString(text)
	d.x += cells
}

func (d *drawing) row() {
	if d.style != "" {
		d.b.WriteString("\x1b[0m")
	}
	d.rows = append(d.rows, d.b.String())
	d.b.Reset()
	d.style, d.x = "", 0
}

func (d *drawing) end() []string {
	d.row()
	return d.rows
}

// Draw draws lines of Go at width w, without a cursor: rows of at most w cells.
// Each element holds the rows of one line.
func Draw(lines []string, w int, colors *[NumTokens]string) [][]string {
	out := make([][]string, len(lines))
	l := Look{Tokens: colors}
	for i, spans := range Highlight(lines) {
		d := drawing{look: &l, w: max(w, 1), spans: spans}
		d.draw(lines[i])
		if d.x == 0 && len(d.rows) > 0 { // no room for a cursor is wanted
			out[i] = d.rows
			continue
		}
		out[i] = d.end()
	}
	return out
}
