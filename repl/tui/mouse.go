package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// wheelRows is how far one step of the wheel scrolls.
const wheelRows = 3

func (m *Model) wheel(e tea.Mouse) tea.Cmd {
	d := wheelRows
	if e.Button == tea.MouseWheelUp {
		d = -wheelRows
	}
	if p, ok := m.over.(*pager); ok {
		p.scroll(m, d)
		return nil
	}
	if p := m.paneAt(e.X, e.Y); p != nil && m.over == nil {
		action := "down"
		if d < 0 {
			action = "up"
		}
		for range wheelRows {
			_, _ = p.Do(action)
		}
		return nil
	}
	m.scroll(d)
	return nil
}

// scroll moves the window over the cells.
func (m *Model) scroll(d int) { m.view.scroll(m.source(), d) }

// drag tells, the first time, who would select text by dragging how that is done.
func (m *Model) drag(e tea.Mouse) {
	if e.Button == tea.MouseLeft && !m.dragged {
		m.dragged = true
		m.say("hold Shift to select text with the terminal; %s turns the mouse off", m.keysOf("mouse"))
	}
}

// click puts the cursor where it points, or selects a cell.
func (m *Model) click(e tea.Mouse) tea.Cmd {
	top := m.at.cellsH + m.at.ruleH
	if p := m.paneAt(e.X, e.Y); p != nil && m.over == nil {
		m.focusPane(slices.Index(m.panes.open, p))
		return nil
	}
	switch {
	case e.Button != tea.MouseLeft || m.over != nil:
	case e.Y >= top && e.Y < top+m.at.inputH:
		if m.focus != onInput {
			m.commitEdit()
			m.focus = onInput
		}
		m.input.Click(m.inputLook(), e.X, e.Y-top)
	case e.Y < len(m.spots) && m.spots[e.Y].cell >= 0:
		s := m.spots[e.Y]
		if m.nb.cells[s.cell] == m.editing {
			m.editor.Click(m.editLook(), e.X, s.row)
			return nil
		}
		m.commitEdit()
		m.focus = onCells
		m.selected = s.cell
	}
	return nil
}

func (m *Model) toggleMouse() {
	if m.mouse = !m.mouse; m.mouse {
		m.say("mouse on: wheel and click; hold Shift to select text with the terminal")
	} else {
		m.say("mouse off: the terminal selects")
	}
}
