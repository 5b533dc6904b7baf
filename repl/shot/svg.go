package shot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The sizes of a picture, in pixels: a cell holds a letter of a monospaced
// font of 14 pixels, which is 0.6 of its size wide.
const (
	cellWidth  = 8.4
	cellHeight = 17.0
	fontSize   = 14
	border     = 8.0
	baseline   = 0.76 // of a cell's height
)

// A Palette is the colours of the terminal that a picture imitates.
type Palette struct {
	Name   string
	Fg, Bg string
	base   [16]string
}

// Palettes lists the palettes.
func Palettes() []Palette {
	return []Palette{
		{"dark", "#d0d0d0", "#16181c", [16]string{
			"#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
			"#5c6370", "#f48b94", "#b5dd96", "#f3d59b", "#85c4f7", "#d99bea", "#7cced8", "#ffffff",
		}},
		{"light", "#24292e", "#ffffff", [16]string{
			"#24292e", "#c4262e", "#22863a", "#9a6700", "#0550ae", "#8250df", "#1b7c83", "#6e7781",
			"#57606a", "#a40e26", "#116329", "#7d4e00", "#0969da", "#6639ba", "#3192aa", "#8c959f",
		}},
	}
}

// LookupPalette finds a palette by its name.
func LookupPalette(name string) (Palette, bool) {
	for _, p := range Palettes() {
		if p.Name == name {
			return p, true
		}
	}
	return Palette{}, false
}

// WriteSVG draws the screen.
func (s *Screen) WriteSVG(w io.Writer, p Palette) error {
	var b bytes.Buffer
	width, height := float64(s.Width)*cellWidth+2*border, float64(s.Height)*cellHeight+2*border
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", p.Bg)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" xml:space="preserve">`+"\n", fontSize)
	for y := range s.Height {
		for x := 0; x < s.Width; {
			n := s.run(x, y)
			s.drawRun(&b, p, x, y, n)
			x += n
		}
	}
	if s.Cursor {
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="0.5"/>`+"\n",
			border+float64(s.CursorX)*cellWidth, border+float64(s.CursorY)*cellHeight, cellWidth, cellHeight, p.Fg)
	}
	b.WriteString("</g></svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// run is how many cells from x on are one piece of text: of the same look, and
// none wide but the first.
func (s *Screen) run(x, y int) int {
	row := s.cells[y*s.Width : (y+1)*s.Width]
	first := row[x]
	n := max(first.width, 1)
	if first.width != 1 {
		return min(n, s.Width-x)
	}
	for x+n < s.Width {
		c := row[x+n]
		c.text, c.width = first.text, row[x+n].width
		if c != first {
			break
		}
		n++
	}
	return n
}

func (s *Screen) drawRun(b *bytes.Buffer, p Palette, x, y, n int) {
	c := s.cells[y*s.Width+x]
	fg, bg := p.hex(c.fg, p.Fg), p.hex(c.bg, "")
	if c.reversed {
		if bg == "" {
			bg = p.Bg
		}
		fg, bg = bg, fg
	}
	px, py, pw := border+float64(x)*cellWidth, border+float64(y)*cellHeight, float64(n)*cellWidth
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", px, py, pw, cellHeight, bg)
	}
	var text strings.Builder
	for i := 0; i < n; i++ {
		text.WriteString(s.cells[y*s.Width+x+i].text)
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"`, px, py+cellHeight*baseline, pw, fg)
	for _, a := range []struct {
		on   bool
		attr string
	}{
		{c.bold, ` font-weight="bold"`}, {c.italic, ` font-style="italic"`},
		{c.under, ` text-decoration="underline"`}, {c.dim, ` opacity="0.6"`},
	} {
		if a.on {
			b.WriteString(a.attr)
		}
	}
	b.WriteByte('>')
	escape(b, text.String())
	b.WriteString("</text>\n")
}

// escape writes text that XML reads back. Letters that XML cannot hold become spaces.
func escape(b *bytes.Buffer, s string) {
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r < ' ' || r == 0xFFFE || r == 0xFFFF || 0xD800 <= r && r < 0xE000:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
}

// hex is a colour as SVG writes it; the first sixteen are the palette's.
func (p Palette) hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	if i, ok := basic(c); ok {
		return p.base[i]
	}
	r, g, bl, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, bl>>8)
}

// basic says which of the sixteen colours of a terminal c is.
func basic(c color.Color) (int, bool) {
	switch x := c.(type) {
	case ansi.BasicColor:
		return int(x), true
	case ansi.IndexedColor:
		return int(x), x < 16
	}
	return 0, false
}
