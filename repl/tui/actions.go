package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/edit"
)

// actions is the table of everything a key can do. The names are those of
// [keys] in the configuration.
func actions() []action {
	return join(runActions(), editActions(), cellActions(), screenActions())
}

func join(lists ...[]action) []action {
	var all []action
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// on makes an action of something done to the text.
func on(f func(e *edit.Editor)) func(m *Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		if e := m.text(); e != nil {
			f(e)
			m.typed()
		}
		return nil
	}
}

// then makes an action of something that needs nothing run.
func then(f func(m *Model)) func(m *Model) tea.Cmd {
	return func(m *Model) tea.Cmd { f(m); return nil }
}

func move(motion edit.Motion, extend bool) func(m *Model) tea.Cmd {
	return on(func(e *edit.Editor) { e.Move(motion, extend) })
}

func kill(motion edit.Motion) func(m *Model) tea.Cmd {
	return on(func(e *edit.Editor) { e.Kill(motion) })
}

func runActions() []action {
	return []action{
		{"run", "enter", inText, "run when the text is whole, else begin a line", (*Model).enter},
		{"newline", "alt+enter ctrl+j shift+enter", inText, "begin a line", on((*edit.Editor).Newline)},
		{"run-always", "f8 ctrl+enter", inText, "run without asking whether the text is whole", (*Model).submit},
		{"interrupt", "ctrl+c", anywhere, "stop the cell that runs; twice: a new kernel; else clear what is typed", (*Model).interrupt},
		{"exit", "ctrl+d", anywhere, "leave when nothing is typed, else delete the letter at the cursor", (*Model).exitOrDelete},
		{"run-cell", "r", inCells, "run the cell", (*Model).runSelected},
		{"run-from-here", "R", inCells, "run the cell and those below", (*Model).runFromHere},
		{"run-all", "A", inCells, "run all cells; the first failure ends it", (*Model).runAll},
		{"run-stale", "S", inCells, "run the stale cells, in order", (*Model).runStale},
	}
}

func editActions() []action {
	return []action{
		{"undo", "ctrl+z", inText, "take the last change back", on(func(e *edit.Editor) { e.Undo() })},
		{"redo", "alt+z", inText, "make it again", on(func(e *edit.Editor) { e.Redo() })},
		{"left", "left ctrl+b", inText, "one letter to the left", move(edit.Left, false)},
		{"right", "right ctrl+f", inText, "one letter to the right", move(edit.Right, false)},
		{"up", "up", inText, "a line up; at the top, the history", then((*Model).up)},
		{"down", "down ctrl+n", inText, "a line down; at the bottom, the history", then((*Model).down)},
		{"word-left", "alt+b ctrl+left", inText, "a word to the left", move(edit.WordLeft, false)},
		{"word-right", "alt+f ctrl+right", inText, "a word to the right", move(edit.WordRight, false)},
		{"line-start", "home ctrl+a", inText, "the start of the line", move(edit.LineStart, false)},
		{"line-end", "end ctrl+e", inText, "the end of the line", move(edit.LineEnd, false)},
		{"text-start", "alt+<", inText, "the start of the text", move(edit.TextStart, false)},
		{"text-end", "alt+>", inText, "the end of the text", move(edit.TextEnd, false)},
		{"select-left", "shift+left", inText, "select to the left", move(edit.Left, true)},
		{"select-right", "shift+right", inText, "select to the right", move(edit.Right, true)},
		{"select-up", "shift+up", inText, "select a line up", on(func(e *edit.Editor) { e.Vertical(-1, true) })},
		{"select-down", "shift+down", inText, "select a line down", on(func(e *edit.Editor) { e.Vertical(1, true) })},
		{"select-word-left", "ctrl+shift+left", inText, "select a word to the left", move(edit.WordLeft, true)},
		{"select-word-right", "ctrl+shift+right", inText, "select a word to the right", move(edit.WordRight, true)},
		{"select-line-start", "shift+home", inText, "select to the start of the line", move(edit.LineStart, true)},
		{"select-line-end", "shift+end", inText, "select to the end of the line", move(edit.LineEnd, true)},
		{"select-all", "alt+a", inText, "select everything", on((*edit.Editor).SelectAll)},
		{"backspace", "backspace ctrl+h shift+backspace", inText, "delete the letter before the cursor", on((*edit.Editor).Backspace)},
		{"delete", "delete", inText, "delete the letter at the cursor", on((*edit.Editor).Delete)},
		{"kill-word-left", "ctrl+w alt+backspace", inText, "cut the word before the cursor", kill(edit.WordLeft)},
		{"kill-word-right", "alt+d", inText, "cut the word after the cursor", kill(edit.WordRight)},
		{"kill-line", "ctrl+k", inText, "cut to the end of the line", kill(edit.LineEnd)},
		{"kill-line-start", "ctrl+u", inText, "cut to the start of the line", kill(edit.LineStart)},
		{"yank", "ctrl+y", inText, "insert what was cut", on((*edit.Editor).Yank)},
		{"yank-pop", "alt+y", inText, "insert what was cut before that instead", on((*edit.Editor).YankPop)},
		{"cut", "ctrl+x", inText, "cut the selection, to the clipboard too", (*Model).cutSelection},
		{"copy", "alt+w", inText, "copy the selection to the clipboard", (*Model).copySelection},
		{"indent", "alt+right", 0, "a tab to the right", on(func(e *edit.Editor) { e.Indent(false) })},
		{"outdent", "shift+tab", inText, "a tab to the left", on(func(e *edit.Editor) { e.Indent(true) })},
		{"comment", "alt+/", inText, "comment the lines, or take it away", on((*edit.Editor).Comment)},
		{"complete", "tab", inText, "complete the word; at the start of a line, indent", (*Model).complete},
		{"leave-text", "esc", inText, "cell mode", then((*Model).escape)},
	}
}

func cellActions() []action {
	return []action{
		{"next-cell", "j down", inCells, "the cell below", then(func(m *Model) { m.selectCell(m.selected + 1) })},
		{"previous-cell", "k up", inCells, "the cell above", then(func(m *Model) { m.selectCell(m.selected - 1) })},
		{"first-cell", "g home", inCells, "the first cell", then(func(m *Model) { m.selectCell(0) })},
		{"last-cell", "G end", inCells, "the last cell", then(func(m *Model) { m.selectCell(len(m.nb.cells) - 1) })},
		{"edit-cell", "enter e", inCells, "edit the cell", then(func(m *Model) { m.edit(m.selected) })},
		{"insert-above", "a", inCells, "a new cell above", then(func(m *Model) { m.insertCell(m.selected) })},
		{"insert-below", "b", inCells, "a new cell below", then(func(m *Model) { m.insertCell(m.selected + 1) })},
		{"delete-cell", "dd", inCells, "delete the cell", then((*Model).deleteCell)},
		{"undo-cells", "u ctrl+z", inCells, "take the last change of the cells back", then((*Model).undoCells)},
		{"redo-cells", "U alt+z", inCells, "make it again", then((*Model).redoCells)},
		{"move-down", "J", inCells, "move the cell down", then(func(m *Model) { m.moveCell(1) })},
		{"move-up", "K", inCells, "move the cell up", then(func(m *Model) { m.moveCell(-1) })},
		{"merge", "m", inCells, "join the cell with the one below", then((*Model).mergeCells)},
		{"split", "alt+s", inText, "split the cell being edited at the cursor", then((*Model).splitCell)},
		{"fold", "z", inCells, "fold the cell, or show it again", then((*Model).foldCell)},
		{"copy-cell", "y", inCells, "copy the text of the cell to the clipboard", (*Model).copyCell},
		{"copy-output", "Y", inCells, "copy what the cell produced to the clipboard", (*Model).copyOutput},
		{"clear-output", "c", inCells, "drop what the cell produced", then((*Model).clearOutput)},
		{"duplicate", "D", inCells, "a copy of the cell below it", then((*Model).duplicateCell)},
		{"leave-cells", "i esc", inCells, "back to the editor", then((*Model).leaveCells)},
		{"command", ":", inCells, "type a command", then((*Model).commandLine)},
	}
}

func screenActions() []action {
	return []action{
		{"page-up", "pgup", anywhere, "a page up", then(func(m *Model) { m.scroll(-max(m.at.cellsH-2, 1)) })},
		{"page-down", "pgdown", anywhere, "a page down", then(func(m *Model) { m.scroll(max(m.at.cellsH-2, 1)) })},
		{"scroll-up", "ctrl+up", anywhere, "a row up", then(func(m *Model) { m.scroll(-1) })},
		{"scroll-down", "ctrl+down", anywhere, "a row down", then(func(m *Model) { m.scroll(1) })},
		{"top", "ctrl+home", anywhere, "the first cell", then(func(m *Model) { m.view.cell, m.view.row, m.view.follow = 0, 0, false })},
		{"bottom", "ctrl+end", anywhere, "the end, following what is printed", then(func(m *Model) { m.view.follow = true })},
		{"redraw", "ctrl+l", anywhere, "draw the screen anew", func(*Model) tea.Cmd { return tea.ClearScreen }},
		{"mouse", "f12", anywhere, "mouse on or off", then((*Model).toggleMouse)},
	}
}
