package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// View draws the screen.
func (m *Model) View() tea.View {
	rows, x, y, shown := m.frame()
	v := tea.NewView(strings.Join(rows, "\n"))
	v.AltScreen = true
	v.WindowTitle = m.titleBar()
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if shown {
		v.Cursor = tea.NewCursor(x, y)
	}
	return v
}

func (m *Model) titleBar() string {
	if m.opts.File != "" {
		return "tpush " + m.opts.File
	}
	return "tpush"
}

// frame gives exactly h rows of w cells, and where the cursor is.
func (m *Model) frame() (rows []string, x, y int, cursor bool) {
	m.replan()
	src := m.source()
	m.buf, m.spots = m.view.visible(src, m.buf, m.spots)
	rows = append(make([]string, 0, m.h), m.buf...)
	if len(m.nb.cells) == 0 {
		m.welcome(rows)
	}
	if m.focus == onEdit {
		x, y, cursor = m.editCursor()
	}
	if m.at.ruleH > 0 {
		rows = append(rows, m.rule())
	}
	if m.at.inputH > 0 {
		list, ex, ey := m.input.Rows(m.inputLook())
		if m.focus == onInput {
			x, y, cursor = ex, len(rows)+ey, true
		}
		rows = append(rows, list...)
	}
	if m.at.hintH > 0 {
		rows = append(rows, m.hint())
	}
	if m.at.mainW < m.w {
		for i := range rows {
			rows[i] += glyph.Spaces(m.w - m.at.mainW)
		}
	}
	for range m.at.stripH {
		rows = append(rows, glyph.Spaces(m.w))
	}
	if m.at.statusH > 0 {
		rows = append(rows, m.statusBar())
	}
	if m.at.keysH > 0 {
		rows = append(rows, m.keyLine())
	}
	for len(rows) < m.h {
		rows = append(rows, glyph.Spaces(m.w))
	}
	rows = rows[:m.h]
	m.drawPanels(rows)
	if m.popup != nil && cursor {
		m.drawPopup(rows, x, y)
	}
	if m.over != nil {
		x, y, cursor = m.over.draw(m, rows, x, y)
	}
	return rows, x, y, cursor && m.w > 0 && m.h > 0
}

// inputLook is how the editor at the bottom is drawn.
func (m *Model) inputLook() edit.Look {
	return edit.Look{W: m.at.mainW, H: m.at.inputH, GutterW: m.at.gutter, Gutter: m.inputGutter, Tokens: &m.theme.Tokens, Select: m.theme.Select, Match: m.theme.Match, Ghost: m.ghost(), Wrong: m.wrong(m.input), Mistake: m.theme.Mistake}
}

func (m *Model) inputGutter(line int, first bool) string {
	label := ""
	switch {
	case line == 0 && first:
		label = paint(m.theme.In, "In:")
	case first:
		label = paint(m.theme.Dim, "  :")
	default:
		label = paint(m.theme.Dim, "  "+m.theme.Wrap)
	}
	mark := " "
	if m.stopped != nil && line == 0 && first {
		label = paint(m.theme.Brk, "dbg:")
	}
	if m.inputBreaks[line+1] && first {
		mark = paint(m.theme.Err, m.theme.Break)
	}
	return glyph.Fit(mark+label, m.at.gutter, "")
}

// editRows draws the editor inside of a cell.
func (m *Model) editRows() (rows []string, x, y int) { return m.editor.Rows(m.editLook()) }

// editLook is how the editor in a cell is drawn: as high as its text, but so
// that it fits the window.
func (m *Model) editLook() edit.Look {
	g := m.at.gutter
	h := m.editor.Height(max(m.at.mainW-g, 1), max(m.at.cellsH-1, 1))
	return edit.Look{W: m.at.mainW, H: h, GutterW: g, Tokens: &m.theme.Tokens, Select: m.theme.Select, Match: m.theme.Match, Wrong: m.wrong(m.editor), Mistake: m.theme.Mistake, Gutter: func(line int, first bool) string {
		mark, label := paint(m.theme.Brk, m.theme.Bar1), ""
		if m.editing.breaks[line+1] && first {
			mark = paint(m.theme.Err, m.theme.Break)
		}
		switch {
		case line == 0 && first:
			label = paint(m.theme.In, m.editing.label())
		case !first:
			label = paint(m.theme.Dim, "  "+m.theme.Wrap)
		}
		return glyph.Fit(glyph.Fit(mark, 1, "")+label, g, "")
	}}
}

// editCursor is where the cursor of the cell being edited is on the screen.
func (m *Model) editCursor() (x, y int, ok bool) {
	_, x, row := m.editRows()
	for i, s := range m.spots {
		if s.cell >= 0 && m.nb.cells[s.cell] == m.editing && s.row == row {
			return x, i, true
		}
	}
	return 0, 0, false
}

// rule is the line between the cells and the editor: what the keys go to, a note, the place.
func (m *Model) rule() string {
	t := &m.theme
	left := ""
	switch {
	case m.note != "":
		left = " " + paint(t.Note, m.note) + " "
	case m.focus == onCells:
		left = " " + paint(t.Key, "cells") + paint(t.Dim, ": "+m.keysOf("cell-down cell-up")+" move, "+m.keysOf("edit")+" edit, "+m.keysOf("cell-run")+" run, "+m.keysOf("keys")+" all keys, "+m.keysOf("type")+" back") + " "
	case m.focus == onEdit:
		left = " " + paint(t.Key, "editing "+m.editing.label()) + paint(t.Dim, ": "+m.keysOf(m.runs())+" runs, "+m.keysOf("cell-mode")+" leaves") + " "
	}
	right := ""
	if n := len(m.nb.cells); n > 0 {
		at, end := n, true
		if last := m.lastSpot(); !m.view.follow && last.cell >= 0 {
			at = last.cell + 1
			end = at == n && last.row+1 >= len(m.source().rows(last.cell))
		}
		right = " " + paint(t.Dim, fmt.Sprintf("%d/%d", at, n)) + " "
		if !end {
			right = " " + paint(t.Dim, "End follows") + right
		}
	}
	line := t.Viz.Rule
	free := m.at.mainW - glyph.Cells(left) - glyph.Cells(right) - 4
	if free < 0 {
		return glyph.Fit(paint(t.Rule, strings.Repeat(line, 2))+left, m.at.mainW, "")
	}
	return glyph.Fit(paint(t.Rule, strings.Repeat(line, 2))+left+paint(t.Rule, strings.Repeat(line, free))+right+paint(t.Rule, strings.Repeat(line, 2)), m.at.mainW, "")
}

// lastSpot is the last row of a cell on the screen; its cell is -1 when there is none.
func (m *Model) lastSpot() spot {
	for i := len(m.spots) - 1; i >= 0; i-- {
		if m.spots[i].cell >= 0 {
			return m.spots[i]
		}
	}
	return spot{cell: -1}
}

// chip is the last word of the kernel's banner.
func (m *Model) chip() string {
	if i := strings.LastIndexByte(m.info.Banner, ' '); i >= 0 {
		return m.info.Banner[i+1:]
	}
	return ""
}

// say shows a line until the next key.
func (m *Model) say(format string, args ...any) { m.note = fmt.Sprintf(format, args...) }
