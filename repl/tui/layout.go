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
}

// Least sizes at which a line is worth its row.
const (
	ruleFrom   = 6
	statusFrom = 4
	hintFrom   = 16
	keysFrom   = 18
)

// plan divides w × h cells. wanted is how many rows the editor at the bottom would like.
func plan(w, h, count, wanted int) layout {
	l := layout{w: w, h: h, mainW: w}
	l.gutter = min(max(9, len("In[]")+len(strconv.Itoa(count))+3), max(w/3, 1))
	row := func(from int) int {
		if h >= from {
			return 1
		}
		return 0
	}
	l.ruleH, l.statusH, l.hintH, l.keysH = row(ruleFrom), row(statusFrom), row(hintFrom), row(keysFrom)
	rest := h - l.ruleH - l.statusH - l.hintH - l.keysH
	l.inputH = min(max(wanted, 1), max(rest/2, 1))
	l.inputH = min(l.inputH, max(rest, 0))
	l.cellsH = max(rest-l.inputH, 0)
	return l
}

// resize plans the screen anew.
func (m *Model) resize(w, h int) {
	m.w, m.h = max(w, 0), max(h, 0)
	m.replan()
}

// replan is called before each frame: the editor may have grown.
func (m *Model) replan() {
	wanted := 1
	if m.focus != onEdit {
		wanted = m.input.Height(max(m.w-m.gutterNow(), 1), max(m.h/2, 1))
	}
	m.at = plan(m.w, m.h, m.count, wanted)
	m.view.w, m.view.h = m.at.mainW, m.at.cellsH
}

func (m *Model) gutterNow() int { return plan(m.w, m.h, m.count, 1).gutter }

// pos makes a place of the editor from a line and column that count from 1.
func pos(line, column int) edit.Pos { return edit.Pos{Line: line - 1, Col: max(column-1, 0)} }
