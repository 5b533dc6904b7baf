// Package glyph measures and cuts text for a grid of cells: wide, combining,
// zero-width and right-to-left letters, tabs, and the colours in what programs
// print.
//
// It never draws and reads no terminal. It imports only x/ansi, for the widths
// of letters. Invariant: Fit and Wrap give rows of exactly the width asked for,
// and nothing but SGR passes Clean.
package glyph

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// TabWidth is how many cells apart tab stops are.
const TabWidth = 4

// Next gives the first letter of s, which is not empty: the bytes it takes, what
// is drawn for it and in how many cells. A letter whose width terminals disagree
// about is drawn in the form that all of them agree about. What takes no cell of
// its own (a mark without a letter, a bidirectional control, a control
// character) is drawn as nothing. A tab is for the caller.
func Next(s string) (n int, draw string, width int) {
	if c := s[0]; c < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if c < ' ' || c == 0x7f {
			return 1, "", 0
		}
		return 1, s[:1], 1
	}
	text, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	if text == "" {
		return 1, "", 0
	}
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && size <= 1:
		return len(text), "\ufffd", 1
	case r < ' ' || r >= 0x7f && r < 0xa0 || invisible(r):
		return len(text), "", 0
	}
	switch {
	case r >= firstIndicator && r <= lastIndicator:
		return flag(text)
	case r >= firstJamo && r <= lastJamo:
		return hangul(text)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // joins what follows it
		return len(text), "\ufffd", 1
	}
	narrow := ansi.WcWidth.StringWidth(text)
	if narrow != w || strings.ContainsRune(text, '\u200d') { // emoji of several parts, a selector
		text2, w2 := text[:size], ansi.WcWidth.StringWidth(text[:size])
		if w2 == ansi.GraphemeWidth.StringWidth(text2) {
			return len(text), text2, w2
		}
		return len(text), "\ufffd", 1
	}
	if w <= 0 {
		return len(text), "", 0
	}
	return len(text), text, w
}

// invisible tells the letters that change the order or the joining of others,
// and those that draw nothing.
func invisible(r rune) bool {
	switch {
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// Width is how many cells plain text takes from column 0.
func Width(s string) int {
	x := 0
	for s != "" {
		if s[0] == '\t' {
			x += TabWidth - x%TabWidth
			s = s[1:]
			continue
		}
		n, _, w := Next(s)
		x += w
		s = s[n:]
	}
	return x
}

// ascii says whether s is printable ASCII alone, and so as wide as it is long.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// Spaces gives n spaces.
func Spaces(n int) string {
	const many = "                                                                                                                                "
	if n <= len(many) {
		return many[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

// Fit cuts or pads text, which may hold SGR, to exactly w cells. Where it cuts
// it ends in more, which is one cell wide or empty. The row ends without colour.
func Fit(s string, w int, more string) string {
	if w <= 0 {
		return ""
	}
	if ascii(s) {
		switch {
		case len(s) == w:
			return s
		case len(s) < w:
			return s + Spaces(w-len(s))
		}
		if more == "" {
			return s[:w]
		}
		return s[:w-1] + more
	}
	var b strings.Builder
	b.Grow(len(s) + w)
	x, mark, markX, styled := 0, -1, 0, false // mark: where to cut for more
	for rest := s; rest != ""; {
		if sgr := SGR(rest); sgr > 0 {
			b.WriteString(rest[:sgr])
			styled = !isReset(rest[:sgr])
			rest = rest[sgr:]
			continue
		}
		n, draw, cells := step(rest, x)
		if x+cells > w {
			if more != "" {
				kept := b.String()
				b.Reset()
				b.WriteString(kept[:max(mark, 0)])
				b.WriteString(Spaces(w - 1 - markX))
				b.WriteString(more)
				x = w
			}
			break
		}
		if x <= w-1 {
			mark, markX = b.Len(), x
		}
		b.WriteString(draw)
		x += cells
		rest = rest[n:]
	}
	if styled {
		b.WriteString("\x1b[0m")
	}
	b.WriteString(Spaces(w - x))
	return b.String()
}

// step is Next with tabs as spaces.
func step(s string, x int) (n int, draw string, cells int) {
	if s[0] == '\t' {
		cells = TabWidth - x%TabWidth
		return 1, Spaces(cells), cells
	}
	return Next(s)
}

// Cells is how many cells text that may hold SGR takes.
func Cells(s string) int {
	x := 0
	for s != "" {
		if n := SGR(s); n > 0 {
			s = s[n:]
			continue
		}
		n, _, cells := step(s, x)
		x += cells
		s = s[n:]
	}
	return x
}

// Wrap cuts a line, which may hold SGR, into rows of at most w cells, at least
// one row. Each row carries its own colours and ends without any.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return []string{""}
	}
	if len(s) <= w && ascii(s) {
		return []string{s}
	}
	var rows []string
	var b strings.Builder
	style := "" // SGR in force
	x := 0
	end := func() {
		if style != "" {
			b.WriteString("\x1b[0m")
		}
		rows = append(rows, b.String())
		b.Reset()
		b.WriteString(style)
		x = 0
	}
	for s != "" {
		if n := SGR(s); n > 0 {
			if isReset(s[:n]) {
				style = ""
			} else if style += s[:n]; len(style) > maxStyleBytes {
				style = s[:n]
			}
			b.WriteString(s[:n])
			s = s[n:]
			continue
		}
		n, draw, cells := step(s, x)
		if cells > w { // a wide letter, or a tab, in a very narrow pane
			draw, cells = Spaces(w), w
		}
		if x+cells > w {
			end()
		}
		b.WriteString(draw)
		x += cells
		s = s[n:]
	}
	end()
	return rows
}

// maxStyleBytes bounds the colours that a row of output repeats from the rows before it.
const maxStyleBytes = 128

// SGR gives the length of the SGR sequence that s begins with, 0 when there is none.
func SGR(s string) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s) && i < 64; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c >= '0' && c <= '9', c == ';', c == ':':
		default:
			return 0
		}
	}
	return 0
}

func isReset(sgr string) bool { return sgr == "\x1b[m" || sgr == "\x1b[0m" }

// Strip drops SGR.
func Strip(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		if n := SGR(s); n > 0 {
			s = s[n:]
			continue
		}
		i := 1 + strings.IndexByte(s[1:], 0x1b)
		if i == 0 {
			i = len(s)
		}
		b.WriteString(s[:i])
		s = s[i:]
	}
	return b.String()
}

// Skip gives the row, which may hold SGR, without its first x cells. A wide
// letter that is cut in two leaves a space.
func Skip(s string, x int) string {
	var style strings.Builder
	at := 0
	for s != "" && at < x {
		if n := SGR(s); n > 0 {
			if isReset(s[:n]) {
				style.Reset()
			} else {
				style.WriteString(s[:n])
			}
			s = s[n:]
			continue
		}
		n, _, cells := step(s, at)
		at += cells
		s = s[n:]
	}
	return style.String() + Spaces(at-x) + s
}

// Splice puts a box over a row at column x: both may hold SGR; the row keeps its width.
func Splice(row, box string, x, boxCells, w int) string {
	if x >= w || x < 0 {
		return row
	}
	if x+boxCells > w {
		boxCells = w - x
		box = Fit(box, boxCells, "")
	}
	return Fit(row, x, "") + "\x1b[0m" + box + "\x1b[0m" + Skip(row, x+boxCells)
}
