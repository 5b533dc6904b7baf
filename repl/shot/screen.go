package shot

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// A Screen is a grid of letters with colours.
type Screen struct {
	Width, Height    int
	Cursor           bool
	CursorX, CursorY int

	cells []cell
}

// A cell is one letter; the second half of a wide one has an empty text.
type cell struct {
	text                               string
	width                              int
	fg, bg                             color.Color // nil for the terminal's own
	bold, dim, italic, under, reversed bool
}

// NewScreen reads a frame: lines with SGR sequences. plain drops the colours,
// as a terminal without any does.
func NewScreen(frame string, w, h int, plain bool) *Screen {
	em := vt.NewEmulator(w, h)
	defer em.Close()
	_, _ = em.WriteString("\x1b[?7l") // no wrapping: a line that is too long must show as cut, not move the rest
	_, _ = em.WriteString(strings.ReplaceAll(frame, "\n", "\r\n"))
	s := &Screen{Width: w, Height: h, cells: make([]cell, w*h)}
	for y := range h {
		for x := range w {
			at := &s.cells[y*w+x]
			c := em.CellAt(x, y)
			if c == nil {
				*at = cell{text: " ", width: 1}
				continue
			}
			*at = cell{text: c.Content, width: c.Width}
			st := c.Style
			at.bold, at.dim, at.italic = st.Attrs&uv.AttrBold != 0, st.Attrs&uv.AttrFaint != 0, st.Attrs&uv.AttrItalic != 0
			at.reversed, at.under = st.Attrs&uv.AttrReverse != 0, st.Underline != uv.UnderlineNone
			if !plain {
				at.fg, at.bg = st.Fg, st.Bg
			}
		}
	}
	return s
}

// Text is the letters alone, without the spaces at the ends of lines.
func (s *Screen) Text() string {
	var b strings.Builder
	for y := range s.Height {
		var line strings.Builder
		for x := 0; x < s.Width; {
			c := s.cells[y*s.Width+x]
			if c.width == 0 || c.text == "" {
				line.WriteByte(' ')
				x++
				continue
			}
			line.WriteString(c.text)
			x += c.width
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// ANSI is the letters with their colours, for a terminal to show.
func (s *Screen) ANSI() string {
	var b strings.Builder
	for y := range s.Height {
		row := s.cells[y*s.Width : (y+1)*s.Width]
		end := len(row) // what is blank at the end of a line is left out
		for end > 0 && strings.TrimSpace(row[end-1].text) == "" && row[end-1].sgr() == "" {
			end--
		}
		last := ""
		for x := 0; x < end; x++ {
			c := row[x]
			if c.width == 0 && c.text == "" && x > 0 && row[x-1].width == 2 {
				continue
			}
			if style := c.sgr(); style != last {
				b.WriteString("\x1b[" + strings.TrimSuffix("0;"+style, ";") + "m")
				last = style
			}
			if c.text == "" {
				c.text = " "
			}
			b.WriteString(c.text)
		}
		if last != "" {
			b.WriteString("\x1b[0m")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// sgr is the parameters of the sequence that gives a cell its look, "" for the plain one.
func (c cell) sgr() string {
	var p []string
	for _, a := range []struct {
		on   bool
		code string
	}{{c.bold, "1"}, {c.dim, "2"}, {c.italic, "3"}, {c.under, "4"}, {c.reversed, "7"}} {
		if a.on {
			p = append(p, a.code)
		}
	}
	for _, col := range []struct {
		c       color.Color
		base    int
		bright  int
		palette string
	}{{c.fg, 30, 90, "38"}, {c.bg, 40, 100, "48"}} {
		if col.c == nil {
			continue
		}
		if i, ok := basic(col.c); ok && i < 8 {
			p = append(p, strconv.Itoa(col.base+i))
		} else if ok {
			p = append(p, strconv.Itoa(col.bright+i-8))
		} else {
			r, g, bl, _ := col.c.RGBA()
			p = append(p, fmt.Sprintf("%s;2;%d;%d;%d", col.palette, r>>8, g>>8, bl>>8))
		}
	}
	return strings.Join(p, ";")
}
