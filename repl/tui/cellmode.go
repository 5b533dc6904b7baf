package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/panel"
	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
)

func pasted(s string) string { return glyph.Paste(s) }

// enter runs what is typed when it is whole.
func (m *Model) enter() tea.Cmd {
	e := m.text()
	text := e.Text()
	if strings.TrimSpace(text) == "" {
		if m.focus == onEdit {
			e.Newline()
			return m.typed()
		}
		return nil
	}
	if isCommand(text) || repl.IsWhole(text) && e.Cursor().Line == e.Len()-1 {
		return m.submit()
	}
	if repl.IsWhole(text) && strings.TrimSpace(strings.Join(tailLines(e), "")) == "" {
		return m.submit()
	}
	e.Newline()
	return m.typed()
}

// tailLines is the text behind the cursor.
func tailLines(e *edit.Editor) []string {
	c := e.Cursor()
	list := []string{e.Line(c.Line)[c.Col:]}
	for i := c.Line + 1; i < e.Len(); i++ {
		list = append(list, e.Line(i))
	}
	return list
}

// submit runs what is typed: as a new cell, or in the cell that is edited.
func (m *Model) submit() tea.Cmd {
	if m.focus == onEdit {
		c := m.editing
		m.commitEdit()
		if m.job != nil && m.job.cell == c {
			m.say("the cell runs already")
			return nil
		}
		return m.enqueue(c)
	}
	text := strings.TrimRight(m.input.Text(), " \t\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	m.input.Reset("")
	m.popup, m.sig, m.recall = nil, signature{}, recall{}
	return tea.Batch(m.remember(text), m.run(text))
}

// edit opens a cell for editing.
func (m *Model) edit(i int) {
	if i < 0 || i >= len(m.nb.cells) {
		return
	}
	m.commitEdit()
	m.focus, m.selected = onEdit, i
	m.editing = m.nb.cells[i]
	m.editing.fold = false
	m.editing.touch()
	m.editor = edit.New(m.editing.source)
	m.showEditing()
}

// showEditing scrolls so that the cursor of the cell being edited is seen.
func (m *Model) showEditing() {
	if m.editing == nil {
		return
	}
	m.replan()
	i := m.nb.index(m.editing)
	rows, _, y := m.editRows()
	src := m.source()
	m.view.show(src, i, 0, min(len(rows), m.view.h)-1)
	m.view.show(src, i, y, y)
}

// commitEdit puts the edited text into its cell and goes back to the editor at the bottom.
func (m *Model) commitEdit() {
	if m.editing == nil {
		return
	}
	c := m.editing
	c.cursor = m.editor.Offset()
	if text := strings.TrimRight(m.editor.Text(), " \t\n"); text != c.source {
		m.nb.remember(m.selected)
		c.source = text
		c.breaks = nil
	}
	c.touch()
	m.editing, m.editor, m.focus = nil, nil, onInput
}

// escape leaves the text: an edited cell keeps its text.
func (m *Model) escape() {
	at := len(m.nb.cells) - 1
	if m.focus == onEdit {
		at = m.nb.index(m.editing)
		m.commitEdit()
	}
	if at < 0 {
		return
	}
	m.focus = onCells
	m.selectCell(at)
}

// selectCell selects a cell and shows it.
func (m *Model) selectCell(i int) {
	if len(m.nb.cells) == 0 {
		m.toInput()
		return
	}
	m.selected = min(max(i, 0), len(m.nb.cells)-1)
	src := m.source()
	m.view.show(src, m.selected, 0, len(src.rows(m.selected))-1)
	if c := m.nb.cells[m.selected]; c.count > 0 { // panels show what it did
		for _, p := range m.panes.open {
			p.Select(panel.Selection{Cell: c.count})
		}
	}
}

// toInput goes back to the editor at the bottom.
func (m *Model) toInput() {
	m.commitEdit()
	m.focus, m.pending = onInput, ""
	m.view.follow = true
}

// insertCell makes an empty cell and opens it.
func (m *Model) insertCell(at int) {
	m.nb.remember(m.selected)
	m.nb.add(at, "")
	m.edit(min(at, len(m.nb.cells)-1))
}

// busy says, and tells the user, that a cell cannot be changed because it runs.
func (m *Model) busy(c *cell) bool {
	if c.status == running || c.status == queued {
		m.say("%s runs or waits; Ctrl-C stops it", c.label())
		return true
	}
	return false
}

func (m *Model) deleteCell() {
	if len(m.nb.cells) == 0 || m.busy(m.nb.cells[m.selected]) {
		return
	}
	m.nb.remember(m.selected)
	m.nb.remove(m.selected)
	m.countStale()
	m.say("deleted; u brings it back")
	m.selectCell(m.selected)
}

func (m *Model) undoCells() {
	at, ok := m.nb.undo(m.selected)
	if !ok {
		m.say("nothing to undo")
		return
	}
	m.countStale()
	m.selectCell(at)
}

func (m *Model) redoCells() {
	if at, ok := m.nb.redo(m.selected); ok {
		m.selectCell(at)
	}
}

func (m *Model) moveCell(d int) {
	to := m.selected + d
	if to < 0 || to >= len(m.nb.cells) {
		return
	}
	m.nb.remember(m.selected)
	list := append([]*cell(nil), m.nb.cells...)
	list[m.selected], list[to] = list[to], list[m.selected]
	m.nb.cells = list
	m.selectCell(to)
}

func (m *Model) mergeCells() {
	if m.selected+1 >= len(m.nb.cells) {
		return
	}
	a, b := m.nb.cells[m.selected], m.nb.cells[m.selected+1]
	if m.busy(a) || m.busy(b) {
		return
	}
	if a.command() || b.command() {
		m.say("a command stays a cell of its own")
		return
	}
	m.nb.remember(m.selected)
	m.nb.remove(m.selected + 1)
	m.nb.remove(m.selected)
	both := m.nb.add(m.selected, a.source+"\n"+b.source)
	both.title, both.outputs = a.title, append(append([]*output(nil), a.outputs...), b.outputs...)
	m.selectCell(m.selected)
}

// splitCell splits the selected cell where the cursor was when it was edited last.
func (m *Model) splitCell() {
	if len(m.nb.cells) == 0 {
		return
	}
	i, c := m.selected, m.nb.cells[m.selected]
	if m.busy(c) {
		return
	}
	at := min(c.cursor, len(c.source))
	upper, lower := strings.TrimRight(c.source[:at], " \t\n"), strings.Trim(c.source[at:], "\n")
	if strings.TrimSpace(upper) == "" || strings.TrimSpace(lower) == "" {
		m.say("the cursor was at an end of the cell: edit it, put the cursor where it shall be split, Esc, S")
		return
	}
	m.nb.remember(i)
	m.nb.remove(i)
	m.nb.add(i, upper)
	m.nb.add(i+1, lower)
	m.selectCell(i)
}

func (m *Model) duplicateCell() {
	if len(m.nb.cells) == 0 {
		return
	}
	m.nb.remember(m.selected)
	m.nb.add(m.selected+1, m.nb.cells[m.selected].source)
	m.selectCell(m.selected + 1)
}

func (m *Model) foldCell() {
	if len(m.nb.cells) == 0 {
		return
	}
	c := m.nb.cells[m.selected]
	c.fold = !c.fold
	c.touch()
	m.selectCell(m.selected)
}

func (m *Model) clearOutput() {
	if len(m.nb.cells) == 0 || m.busy(m.nb.cells[m.selected]) {
		return
	}
	c := m.nb.cells[m.selected]
	c.outputs = nil
	c.touch()
}

func (m *Model) runSelected() tea.Cmd {
	if len(m.nb.cells) == 0 {
		return nil
	}
	c := m.nb.cells[m.selected]
	m.selectCell(m.selected + 1)
	return m.enqueue(c)
}

func (m *Model) runFromHere() tea.Cmd {
	return m.enqueue(m.nb.cells[min(m.selected, len(m.nb.cells)):]...)
}

func (m *Model) runAll() tea.Cmd { return m.enqueue(m.nb.cells...) }

func (m *Model) runStale() tea.Cmd {
	var list []*cell
	for _, c := range m.nb.cells {
		if len(c.stale) > 0 {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		m.say("no cell is stale")
	}
	return m.enqueue(list...)
}

// clearInput drops what is typed; undo brings it back.
func (m *Model) clearInput() {
	if e := m.text(); e != nil && e.Text() != "" && m.focus == onInput {
		e.SelectAll()
		e.Cut()
		m.say("cleared; Ctrl-Y brings it back, Ctrl-D leaves")
	}
}

func (m *Model) exitOrDelete() tea.Cmd {
	if e := m.text(); e != nil && (e.Text() != "" || m.focus == onEdit) {
		e.Delete()
		return m.typed()
	}
	if m.job != nil {
		m.over = newLeaveQuestion()
		return nil
	}
	return m.leave()
}

// leave ends the program.
func (m *Model) leave() tea.Cmd {
	m.quit = true
	return tea.Quit
}

// up moves a line up, and at the top into the history.
func (m *Model) up() tea.Cmd { return m.vertical(-1) }

func (m *Model) down() tea.Cmd { return m.vertical(1) }

func (m *Model) vertical(d int) tea.Cmd {
	if !m.text().Vertical(d, false) && m.focus == onInput {
		return m.historyStep(d)
	}
	return m.typed()
}

// right moves a letter to the right; at the end it takes what the history suggests.
func (m *Model) right() tea.Cmd {
	e := m.text()
	if ghost := m.ghost(); ghost != "" && e.Cursor() == e.End() {
		e.Insert(ghost)
		return m.typed()
	}
	e.Move(edit.Right, false)
	return m.typed()
}

func (m *Model) commandLine() {
	m.toInput()
	m.input.Reset(":")
}
