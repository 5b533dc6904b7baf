package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/edit"
)

// An actor does what an action of the table in config says.
type actor func(m *Model) tea.Cmd

// on makes an actor of something done to the text.
func on(f func(e *edit.Editor)) actor {
	return func(m *Model) tea.Cmd {
		if e := m.text(); e != nil {
			f(e)
			return m.typed()
		}
		return nil
	}
}

// then makes an actor of something that starts nothing.
func then(f func(m *Model)) actor {
	return func(m *Model) tea.Cmd { f(m); return nil }
}

func move(motion edit.Motion, extend bool) actor {
	return on(func(e *edit.Editor) { e.Move(motion, extend) })
}

func kill(motion edit.Motion) actor { return on(func(e *edit.Editor) { e.Kill(motion) }) }

func vertical(d int) actor { return on(func(e *edit.Editor) { e.Vertical(d, true) }) }

func selectCell(to func(m *Model) int) actor {
	return then(func(m *Model) { m.selectCell(to(m)) })
}

// actors is what each action of the table in config does.
func actors() map[string]actor {
	return panelActions(map[string]actor{
		// Typing.
		"run": (*Model).enter, "newline": on((*edit.Editor).Newline), "run-as-is": (*Model).submit, "cell-mode": then((*Model).escape),
		"complete": (*Model).complete, "unindent": on(func(e *edit.Editor) { e.Indent(true) }), "history": (*Model).searchHistory,
		"up": (*Model).up, "down": (*Model).down,
		"left": move(edit.Left, false), "right": (*Model).right, "word-left": move(edit.WordLeft, false), "word-right": move(edit.WordRight, false),
		"line-start": move(edit.LineStart, false), "line-end": move(edit.LineEnd, false), "text-start": move(edit.TextStart, false), "text-end": move(edit.TextEnd, false),
		"select-left": move(edit.Left, true), "select-right": move(edit.Right, true), "select-up": vertical(-1), "select-down": vertical(1),
		"select-word-left": move(edit.WordLeft, true), "select-word-right": move(edit.WordRight, true),
		"select-line-start": move(edit.LineStart, true), "select-line-end": move(edit.LineEnd, true), "select-all": on((*edit.Editor).SelectAll),
		"delete-left": on((*edit.Editor).Backspace), "delete-right": on((*edit.Editor).Delete),
		"delete-word-left": kill(edit.WordLeft), "delete-word-right": kill(edit.WordRight), "kill-line": kill(edit.LineEnd), "kill-start": kill(edit.LineStart),
		"yank": on((*edit.Editor).Yank), "yank-before": on((*edit.Editor).YankPop), "cut": (*Model).cutSelection, "copy": (*Model).copySelection,
		"undo": on(func(e *edit.Editor) { e.Undo() }), "redo": on(func(e *edit.Editor) { e.Redo() }), "comment": on((*edit.Editor).Comment),
		"external-editor": (*Model).externalEditor, "exit": (*Model).exitOrDelete,

		// Cell mode.
		"keys": then((*Model).showKeys), "edit": then(func(m *Model) { m.edit(m.selected) }), "type": then((*Model).toInput), "leave": (*Model).exitOrDelete,
		"cell-down": selectCell(func(m *Model) int { return m.selected + 1 }), "cell-up": selectCell(func(m *Model) int { return m.selected - 1 }),
		"cell-first": selectCell(func(*Model) int { return 0 }), "cell-last": selectCell(func(m *Model) int { return len(m.nb.cells) - 1 }),
		"cell-run": (*Model).runSelected, "run-from-here": (*Model).runFromHere, "run-all": (*Model).runAll, "run-stale": (*Model).runStale,
		"insert-above": then(func(m *Model) { m.insertCell(m.selected) }), "insert-below": then(func(m *Model) { m.insertCell(m.selected + 1) }),
		"cell-delete": then((*Model).deleteCell), "cell-undo": then((*Model).undoCells), "cell-redo": then((*Model).redoCells),
		"move-down": then(func(m *Model) { m.moveCell(1) }), "move-up": then(func(m *Model) { m.moveCell(-1) }),
		"split": then((*Model).splitCell), "merge": then((*Model).mergeCells), "duplicate": then((*Model).duplicateCell),
		"form": then((*Model).nextForm), "fold": then((*Model).foldCell), "show-output": (*Model).showOutput, "copy-cell": (*Model).copyCell, "copy-output": (*Model).copyOutput,
		"clear-output": then((*Model).clearOutput), "command": then((*Model).commandLine), "debug-rerun": (*Model).debugRerun,

		// Everywhere.
		"interrupt": (*Model).interrupt, "palette": then((*Model).openPalette), "redraw": func(*Model) tea.Cmd { return func() tea.Msg { return redrawMsg{} } },
		"scroll-up": then(func(m *Model) { m.scroll(-m.page()) }), "scroll-down": then(func(m *Model) { m.scroll(m.page()) }),
		"scroll-top": then(func(m *Model) { m.view.cell, m.view.row, m.view.follow = 0, 0, false }),
		"scroll-end": then(func(m *Model) { m.view.follow = true }), "help": (*Model).help, "mouse": then((*Model).toggleMouse), "save": (*Model).save,
		"continue": debug("continue"), "step-over": debug("next"), "step-in": debug("stepIn"), "step-out": debug("stepOut"), "breakpoint": (*Model).toggleBreakpoint,
		"panel-hbm": panelActor("hbm"), "panel-fusion": panelActor("fusion"), "panel-trace": panelActor("trace"), "panel-vars": panelActor("vars"),
		"panel-debug": panelActor("debug"), "panel-graph": panelActor("graph"), "panel-roofline": panelActor("roofline"), "panel-events": panelActor("events"),
		"panel-cache": panelActor("cache"), "panel-xla": panelActor("xla"), "panel-help": panelActor("help"), "panel-next": then((*Model).focusNextPanel),
		"pane-wider": resizer(2, 0), "pane-narrower": resizer(-2, 0), "pane-taller": resizer(0, 1), "pane-shorter": resizer(0, -1),
		"focus-1": focusPanel(1), "focus-2": focusPanel(2), "focus-3": focusPanel(3), "focus-4": focusPanel(4), "focus-5": focusPanel(5), "focus-6": focusPanel(6),

		"leave-panel": then((*Model).leavePanel),
	})
}

// page is how far PgUp goes.
func (m *Model) page() int { return max(m.at.cellsH-2, 1) }
