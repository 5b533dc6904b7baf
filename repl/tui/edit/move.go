package edit

import (
	"strings"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// A Motion is a way the cursor goes.
type Motion uint8

// The motions.
const (
	Left Motion = iota
	Right
	WordLeft
	WordRight
	LineStart // the first letter of the line that is no blank, then its very start
	LineEnd
	TextStart
	TextEnd
)

// Move moves the cursor; with extend the selection grows, else it ends.
func (e *Editor) Move(m Motion, extend bool) {
	if a, b, ok := e.Selection(); ok && !extend && (m == Left || m == Right) {
		e.marking = false
		if e.cur = b; m == Left {
			e.cur = a
		}
		e.moved()
		return
	}
	e.extend(extend)
	switch m {
	case Left:
		e.cur = e.left(e.cur)
	case Right:
		e.cur = e.right(e.cur)
	case WordLeft:
		e.cur = e.wordLeft(e.cur)
	case WordRight:
		e.cur = e.wordRight(e.cur)
	case LineStart:
		l := e.lines[e.cur.Line]
		first := len(l) - len(strings.TrimLeft(l, " \t"))
		if e.cur.Col == first {
			first = 0
		}
		e.cur.Col = first
	case LineEnd:
		e.cur.Col = len(e.lines[e.cur.Line])
	case TextStart:
		e.cur = Pos{}
	case TextEnd:
		e.cur = e.End()
	}
	e.moved()
}

func (e *Editor) extend(extend bool) {
	if extend && !e.marking {
		e.mark = e.cur
	}
	e.marking = extend
}

// Vertical moves the cursor d lines down and keeps its column; false, and no
// move, when the text ends before.
func (e *Editor) Vertical(d int, extend bool) bool {
	to := e.cur.Line + d
	if to < 0 || to >= len(e.lines) {
		return false
	}
	e.extend(extend)
	want := e.want
	if want < 0 {
		want = glyph.Width(e.lines[e.cur.Line][:e.cur.Col])
	}
	e.cur = Pos{to, column(e.lines[to], want)}
	e.moved()
	e.want = want
	return true
}

// column is the byte of line at cell x.
func column(line string, x int) int {
	at, col := 0, 0
	for col < len(line) {
		n, w := 1, glyph.TabWidth-at%glyph.TabWidth
		if line[col] != '\t' {
			n, _, w = glyph.Next(line[col:])
		}
		if at+w > x {
			break
		}
		at += w
		col += n
	}
	return col
}

// Selection gives the two ends of what is selected.
func (e *Editor) Selection() (from, to Pos, ok bool) {
	if !e.marking || e.mark == e.cur {
		return e.cur, e.cur, false
	}
	from, to = e.clamp(e.mark), e.cur
	if to.before(from) {
		from, to = to, from
	}
	return from, to, true
}

// SelectAll selects the whole text.
func (e *Editor) SelectAll() {
	e.mark, e.cur, e.marking = Pos{}, e.End(), true
	e.moved()
}

// Selected gives the text that is selected.
func (e *Editor) Selected() string {
	a, b, ok := e.Selection()
	if !ok {
		return ""
	}
	return e.slice(a, b)
}
