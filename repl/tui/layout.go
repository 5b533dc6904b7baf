package tui

import (
	"strconv"

	"github.com/tpush/tpush/repl/tui/edit"
)

// A layout is where things stand on the screen. All arithmetic of widths and
// heights is here.
type layout struct {
	w, h    int
	mainW   int // of the cells and the editor
	gutter  int // of the cells: the mark and In[12]
	cellsH  int
	ruleH   int // the line between cells and editor
	inputH  int
	hintH   int // signature, ghost of help
	statusH int
	keysH   int

	columns []span // of panels
	overlay bool   // a panel lies over the cells instead
	stripH  int    // of the trace, with its rule
}

// A span is a piece of a row.
type span struct{ x, w int }

// bodyH is the height beside which panels stand.
func (l *layout) bodyH() int { return l.cellsH + l.ruleH + l.inputH + l.hintH }

// Least sizes at which a line is worth its row.
const (
	ruleFrom   = 6
	statusFrom = 4
	hintFrom   = 16
	keysFrom   = 18
)

// Sizes from which panels have their own place.
const (
	oneColumnFrom  = 100
	twoColumnsFrom = 180
	stripFrom      = 50
	stripRows      = 12
	leastMain      = 40
	leastColumn    = 20
)

// A demand is what the parts of the screen would like.
type demand struct {
	count  int // the greatest number of a cell
	input  int // rows of the editor at the bottom
	panels int // that are stacked in columns
	strip  bool
	wider  int
	taller int
}

// plan divides w × h cells.
func plan(w, h int, d demand) layout {
	l := layout{w: w, h: h, mainW: w}
	row := func(from int) int {
		if h >= from {
			return 1
		}
		return 0
	}
	l.ruleH, l.statusH, l.hintH, l.keysH = row(ruleFrom), row(statusFrom), row(hintFrom), row(keysFrom)
	stacked := d.panels
	if d.strip && w >= oneColumnFrom && h >= stripFrom {
		l.stripH = min(stripRows+d.taller, h/2)
	} else if d.strip {
		stacked++
	}
	if stacked > 0 {
		l.columnsOf(stacked, d.wider)
	}
	l.gutter = min(max(9, len("In[]")+len(strconv.Itoa(d.count))+3), max(l.mainW/3, 1))
	rest := h - l.ruleH - l.statusH - l.hintH - l.keysH - l.stripH
	l.inputH = min(max(d.input, 1), max(rest/2, 1))
	if l.stripH == 0 { // more rows to type in
		l.inputH = min(max(l.inputH, 1+d.taller), max(rest*3/4, 1))
	}
	l.inputH = min(l.inputH, max(rest, 0))
	l.cellsH = max(rest-l.inputH, 0)
	return l
}

// columnsOf gives panels their columns, or lets one lie over the cells.
func (l *layout) columnsOf(panels, wider int) {
	n, each := 1, min(max(l.w*2/5, 38), 64)
	switch {
	case l.w < oneColumnFrom:
		l.overlay = true
		return
	case l.w >= twoColumnsFrom && panels > 1:
		n, each = 2, min(max(l.w/4, 40), 70)
	}
	each = max(min(each+wider, (l.w-leastMain)/n-1), leastColumn)
	l.mainW = l.w - n*(each+1)
	for i := range n {
		l.columns = append(l.columns, span{l.mainW + 1 + i*(each+1), each})
	}
}

// resize plans the screen anew.
func (m *Model) resize(w, h int) {
	m.w, m.h = max(w, 0), max(h, 0)
	m.replan()
}

// replan is called before each frame: the editor may have grown.
func (m *Model) replan() {
	d := demand{count: m.count, input: 1, wider: m.panes.wider, taller: m.panes.taller}
	for _, p := range m.panes.open {
		if p.strip() {
			d.strip = true
		} else {
			d.panels++
		}
	}
	m.at = plan(m.w, m.h, d)
	if m.focus != onEdit && m.input.Len() > 0 {
		d.input = m.input.Height(max(m.at.mainW-m.at.gutter, 1), max(m.h/2, 1))
		m.at = plan(m.w, m.h, d)
	}
	if m.tour != nil { // it stands in the place of the editor
		d.input = len(m.tour.box(m)) - m.at.ruleH - m.at.hintH
		m.at = plan(m.w, m.h, d)
	}
	m.view.w, m.view.h = m.at.mainW, m.at.cellsH
}

// pos makes a place of the editor from a line and column that count from 1.
func pos(line, column int) edit.Pos { return edit.Pos{Line: line - 1, Col: max(column-1, 0)} }
