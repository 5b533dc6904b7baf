package viz

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A canvas is a grid of cells that drawings are painted on.
type canvas struct {
	w, h  int
	cells []cell
}

// A cell is one letter on the screen, blank when it has none. The second half of
// a wide letter has none either and follows is set.
type cell struct {
	text    string
	follows bool
	meaning Meaning
	sgr     string // overrides the colour of meaning
}

func newCanvas(w, h int) *canvas {
	w, h = max(w, 0), max(h, 0)
	return &canvas{w: w, h: h, cells: make([]cell, w*h)}
}

// put paints one letter that is width cells wide; false when it does not fit.
func (c *canvas) put(x, y int, letter string, width int, m Meaning) bool {
	if y < 0 || y >= c.h || x < 0 || x+width > c.w {
		return false
	}
	for i := range width {
		c.clear(x+i, y)
	}
	at := &c.cells[y*c.w+x]
	*at = cell{text: letter, meaning: m}
	for i := 1; i < width; i++ {
		c.cells[y*c.w+x+i] = cell{follows: true, meaning: m}
	}
	return true
}

// clear blanks a cell and the other half of a wide letter it belongs to.
func (c *canvas) clear(x, y int) {
	row := c.cells[y*c.w : (y+1)*c.w]
	for row[x].follows {
		x--
	}
	row[x] = cell{}
	for x++; x < c.w && row[x].follows; x++ {
		row[x] = cell{}
	}
}

// text paints s from x on, as far as limit (exclusive); it gives the cell after
// the last letter. What does not fit is cut off.
func (c *canvas) text(x, y, limit int, s string, m Meaning) int {
	limit = min(limit, c.w)
	if isPlain(s) {
		return c.plain(x, y, limit, s, m)
	}
	for _, l := range letters(s) {
		if x+l.width > limit || !c.put(x, y, l.text, l.width, m) {
			break
		}
		x += l.width
	}
	return x
}

// plain is text of letters that take one cell and one byte each.
func (c *canvas) plain(x, y, limit int, s string, m Meaning) int {
	if y < 0 || y >= c.h || x < 0 {
		return x
	}
	row := c.cells[y*c.w : (y+1)*c.w]
	for i := 0; i < len(s) && x < limit; i++ {
		if row[x].follows || x+1 < c.w && row[x+1].follows {
			c.clear(x, y)
		}
		row[x] = cell{text: s[i : i+1], meaning: m}
		x++
	}
	return x
}

// isPlain says whether every letter of s takes one cell and one byte.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// fit is text that ends in the theme's mark when it had to be cut.
func (c *canvas) fit(t Theme, x, y, limit int, s string, m Meaning) int {
	return c.text(x, y, limit, truncate(t, s, min(limit, c.w)-x), m)
}

// fill paints the same letter, one cell wide, from x to limit (exclusive).
func (c *canvas) fill(x, y, limit int, letter string, m Meaning) {
	for ; x < limit; x++ {
		c.put(x, y, letter, 1, m)
	}
}

// lines gives the grid as text in the colours of t.
func (c *canvas) lines(t Theme) []string {
	out := make([]string, c.h)
	for y := range out {
		var b strings.Builder
		b.Grow(2 * c.w)
		now := ""
		for _, cl := range c.cells[y*c.w : (y+1)*c.w] {
			if cl.follows {
				continue
			}
			sgr := cl.sgr
			if sgr == "" {
				sgr = t.colors[cl.meaning]
			}
			if sgr != now {
				if now != "" {
					b.WriteString("\x1b[0m")
				}
				if sgr != "" {
					b.WriteString("\x1b[" + sgr + "m")
				}
				now = sgr
			}
			if cl.text == "" {
				b.WriteByte(' ')
				continue
			}
			b.WriteString(cl.text)
		}
		if now != "" {
			b.WriteString("\x1b[0m")
		}
		out[y] = b.String()
	}
	return out
}

type letter struct {
	text  string
	width int
}

// letters splits s into what takes cells. Escape sequences are dropped, control
// characters become spaces, marks without a letter are dropped.
func letters(s string) []letter {
	out := make([]letter, 0, len(s))
	if !tame(s) {
		s = tamed(s)
	}
	for s != "" {
		if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) { // nothing joins it
			out = append(out, letter{s[:1], 1})
			s = s[1:]
			continue
		}
		text, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if text == "" {
			break
		}
		s = s[len(text):]
		if width <= 0 || unicode.IsControl([]rune(text)[0]) {
			continue
		}
		out = append(out, letter{text, width})
	}
	return out
}

// tame says whether s has neither controls nor what joins letters.
func tame(s string) bool {
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError || joins(r) {
			return false
		}
	}
	return true
}

// tamed drops escape sequences and what joins letters; controls become spaces,
// or go.
func tamed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, ansi.Strip(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case joins(r):
			return -1
		}
		return r
	}, s)))
}

// joins says whether r can merge with a letter beside it that it does not
// belong to, which would change the width of the line: flags and joined emoji.
func joins(r rune) bool {
	return r == 0x200d || r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1f3fb && r <= 0x1f3ff
}

// Width is how many cells s takes on a screen.
func Width(s string) int { return width(s) }

func width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for _, l := range letters(s) {
		n += l.width
	}
	return n
}

// truncate shortens s to w cells, with the theme's mark at the cut.
func truncate(t Theme, s string, w int) string {
	if w <= 0 {
		return ""
	}
	if isPlain(s) {
		if len(s) <= w {
			return s
		}
		return s[:w-1] + t.More
	}
	all := letters(s)
	n := 0
	for _, l := range all {
		n += l.width
	}
	if n <= w {
		return s
	}
	var b strings.Builder
	n = 0
	for _, l := range all {
		if n+l.width > w-1 {
			break
		}
		b.WriteString(l.text)
		n += l.width
	}
	return strings.TrimSuffix(b.String(), t.More) + t.More
}
