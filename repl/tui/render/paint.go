// Package render says in as few bytes as it can what a terminal must be sent so
// that it shows a frame.
//
// It remembers what the terminal shows and compares cell by cell. It reads and
// writes nothing, knows no model and no time, and never wakes by itself: a frame
// goes in, bytes come out. It imports repl/tui/glyph for the width of letters
// and ultraviolet for what SGR means. Invariant: after the bytes of a frame the
// terminal shows that frame, whatever was shown before.
package render

import (
	"bytes"
	"strconv"

	"github.com/charmbracelet/colorprofile"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// A Frame is what the terminal is to show: rows of exactly W cells, in which SGR
// alone may stand beside letters, and where its cursor is.
type Frame struct {
	Rows []string
	W    int
	// X and Y are where the cursor is, from 0; Cursor says that it is seen.
	X, Y   int
	Cursor bool
}

// A cell is one letter on the screen. The second half of a wide letter has width 0.
type cell struct {
	text  string
	style int32
	width int8
	sure  bool // every terminal moves its cursor by width for it
}

var blank = cell{" ", 0, 1, true}

// A Painter knows what one terminal shows.
type Painter struct {
	styles  styles
	known   bool     // what the terminal shows is what shown says
	rows    []string // shown, as they were given
	shown   [][]cell
	w       int
	line    []cell // a row being made
	out     []byte
	x, y    int // of the terminal's cursor; y is -1 while nobody knows
	pen     int32
	visible bool // the terminal's cursor is
	sync    bool
}

// New makes a painter for a terminal that shows anything at all.
func New(p colorprofile.Profile) *Painter {
	return &Painter{styles: newStyles(p), y: -1, pen: unknown}
}

// Forget says that somebody else wrote to the terminal, or its size changed: the
// next frame is painted whole.
func (p *Painter) Forget() { p.known = false }

// Synchronize says that the terminal can be told to show a frame at once
// (private mode 2026).
func (p *Painter) Synchronize() { p.sync = true }

// atOnce is from how many bytes on a frame is shielded from being seen half done.
const atOnce = 128

// Paint gives the bytes for a frame, which are good until the next call.
func (p *Painter) Paint(f Frame) []byte {
	p.out = p.out[:0]
	if p.styles.full() {
		p.styles = newStyles(p.styles.profile)
		p.known = false
	}
	if !p.known || f.W != p.w || len(f.Rows) != len(p.rows) {
		p.forgotten(f.W, len(f.Rows))
	} else {
		p.scroll(f.Rows)
	}
	for y, row := range f.Rows {
		if row != p.rows[y] {
			p.line = p.styles.cells(p.line[:0], row, f.W)
			p.paintRow(y)
			p.rows[y], p.shown[y], p.line = row, p.line, p.shown[y]
		}
	}
	if p.pen != 0 {
		p.setPen(0)
	}
	if f.Cursor && f.Y < len(f.Rows) {
		p.move(f.X, f.Y)
	}
	return p.shielded(f.Cursor)
}

// forgotten makes a screen on which no cell is what it is to be.
func (p *Painter) forgotten(w, h int) {
	p.known, p.w, p.y, p.pen = true, w, -1, unknown
	p.rows = make([]string, h)
	p.shown = make([][]cell, h)
	for y := range p.shown {
		p.rows[y] = "\x00" // what no row is
		p.shown[y] = make([]cell, w)
		for x := range p.shown[y] {
			p.shown[y][x] = cell{style: unknown, width: 1}
		}
	}
}

// shielded puts around a frame what keeps it from being seen half done, and shows or
// hides the cursor.
func (p *Painter) shielded(cursor bool) []byte {
	const show, hide, begin, end = "\x1b[?25h", "\x1b[?25l", "\x1b[?2026h", "\x1b[?2026l"
	turn := ""
	switch {
	case cursor && !p.visible:
		turn = show
	case !cursor && p.visible:
		turn = hide
	}
	was := p.visible
	p.visible = cursor
	switch {
	case len(p.out) < atOnce:
		p.out = append(p.out, turn...)
	case p.sync:
		p.out = append(p.out, turn+end...)
		p.out = append(p.out, begin...)
		rotate(p.out, len(begin))
	case was:
		if cursor {
			turn = show
		} else {
			turn = ""
		}
		p.out = append(append(p.out, turn...), hide...)
		rotate(p.out, len(hide))
	default:
		p.out = append(p.out, turn...)
	}
	return p.out
}

// rotate brings the last n bytes to the front.
func rotate(b []byte, n int) {
	last := bytes.Clone(b[len(b)-n:])
	copy(b[n:], b[:len(b)-n])
	copy(b, last)
}

// move puts the terminal's cursor at a cell.
func (p *Painter) move(x, y int) {
	switch d := x - p.x; {
	case p.y != y || x >= p.w:
		if x == 0 && y == p.y+1 && p.y >= 0 {
			p.out = append(p.out, "\r\n"...)
			break
		}
		p.csi(y+1, x+1, 'H')
	case d == 0:
	case x == 0:
		p.out = append(p.out, '\r')
	case d > 0:
		p.csi(d, 0, 'C')
	case d >= -3:
		p.out = append(p.out, "\b\b\b"[:-d]...)
	default:
		p.csi(-d, 0, 'D')
	}
	p.x, p.y = x, y
}

// csi writes a control sequence of one number, or of two when the second is not 0.
func (p *Painter) csi(n, m int, final byte) {
	p.out = append(p.out, "\x1b["...)
	if n != 1 || m > 1 {
		p.out = strconv.AppendInt(p.out, int64(n), 10)
	}
	if m > 1 {
		p.out = append(p.out, ';')
		p.out = strconv.AppendInt(p.out, int64(m), 10)
	}
	p.out = append(p.out, final)
}

// setPen makes what is written next look like a style.
func (p *Painter) setPen(style int32) {
	if style != p.pen {
		p.out = append(p.out, p.styles.change(p.pen, style)...)
		p.pen = style
	}
}

// write puts a cell at the cursor.
func (p *Painter) write(c cell) {
	p.setPen(c.style)
	corner := !c.sure && p.x+int(c.width) >= p.w
	if corner { // without wrapping, marks over the last letter of a row go to the one before
		p.out = append(p.out, "\x1b[?7h"...)
	}
	p.out = append(p.out, c.text...)
	if corner {
		p.out = append(p.out, "\x1b[?7l"...)
	}
	p.x += int(c.width)
	if !c.sure || p.x >= p.w {
		p.y = -1
	}
}

// cells reads a row into cells, exactly w of them.
func (s *styles) cells(line []cell, row string, w int) []cell {
	style := int32(0)
	for row != "" && len(line) < w {
		if c := row[0]; c >= ' ' && c < 0x7f && (len(row) == 1 || row[1] < 0x80) {
			line = append(line, cell{row[:1], style, 1, true})
			row = row[1:]
			continue
		}
		if n := glyph.SGR(row); n > 0 {
			style = s.after(style, row[:n])
			row = row[n:]
			continue
		}
		n, draw, width := glyph.Next(row)
		row = row[n:]
		if width == 0 || len(line)+width > w {
			continue
		}
		line = append(line, cell{draw, style, int8(width), certain(draw, width)})
		for range width - 1 {
			line = append(line, cell{"", style, 0, true})
		}
	}
	for len(line) < w {
		line = append(line, blank)
	}
	return line
}
