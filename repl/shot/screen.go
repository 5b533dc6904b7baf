package shot

import (
	"image/color"
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
