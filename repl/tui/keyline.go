package tui

import (
	"strings"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A keyHint is what some actions do, in a word or two; their keys are those in force.
type keyHint struct{ actions, word string }

// keyHints are the actions that matter now, the first the most.
func (m *Model) keyHints() []keyHint {
	switch {
	case m.stopped != nil && m.focus != onPanel:
		return []keyHint{{"step-over", "next"}, {"step-in", "into"}, {"step-out", "out"}, {"continue", "continue"}, {"breakpoint", "breakpoint"}, {"panel-debug", "stack"}, {":back", "look back"}, {"interrupt", "stop"}}
	case m.focus == onCells:
		return []keyHint{{"type", "back"}, {"edit", "edit"}, {"cell-run", "run"}, {"run-from-here", "from here"}, {"insert-above insert-below", "insert"}, {"cell-delete", "delete"}, {"cell-undo", "undo"}, {"fold", "fold"}, {"form", "form"}, {"show-output", "all output"}, {"copy-cell", "copy"}, {"keys", "all keys"}}
	case m.focus == onPanel:
		return m.panelHints()
	case m.focus == onEdit:
		return []keyHint{{m.runs(), "run"}, {"newline", "newline"}, {"cell-mode", "leave"}, {"complete", "complete"}, {"external-editor", "editor"}, {"breakpoint", "breakpoint"}, {"help", "help"}}
	case m.job != nil:
		return []keyHint{{"interrupt", "stop"}, {"cell-mode", "cells"}, {"panel-hbm..panel-debug", "panels"}, {"palette", "commands"}, {"help", "help"}}
	}
	hints := []keyHint{{m.runs(), "run"}, {"newline", "newline"}, {"complete", "complete"}, {"cell-mode", "cells"}, {"history", "history"}, {"panel-hbm..panel-debug", "panels"}, {"palette", "commands"}, {"help", "help"}, {"exit", "leave"}}
	if len(m.nb.cells) > 0 && m.trying() {
		hints = append([]keyHint{{"Alt-1..4", "try another"}}, hints...)
	}
	return hints
}

// runs is the action that runs what is typed: where lines follow the cursor, the key
// that runs a whole cell begins a new line.
func (m *Model) runs() string {
	if e := m.text(); e != nil {
		for i, last := e.Cursor().Line+1, e.Len(); i < last; i++ {
			if strings.TrimSpace(e.Line(i)) != "" {
				return "run-as-is"
			}
		}
	}
	return "run"
}

// panelHints are the keys of the panel that has the focus.
func (m *Model) panelHints() []keyHint {
	hints := []keyHint{{"leave-panel", "back"}}
	c := m.context()
	for _, a := range config.Actions() {
		if a.Context == c {
			hints = append(hints, keyHint{a.Name, strings.ReplaceAll(strings.TrimPrefix(a.Name, string(c)+"-"), "-", " ")})
		}
	}
	return append(hints, keyHint{"panel-next", "next panel"}, keyHint{"pane-wider pane-narrower", "size"})
}

// keyLine names the keys that matter now, as far as there is room.
func (m *Model) keyLine() string {
	t := &m.theme
	if m.tour != nil {
		return glyph.Fit(" "+paint(t.Key, "Enter")+paint(t.Dim, " next step")+"  "+paint(t.Key, "Esc")+paint(t.Dim, " leave the tour"), m.w, "")
	}
	line := ""
	for _, h := range m.keyHints() {
		keys := m.keysOf(h.actions)
		if keys == "" {
			continue
		}
		part := paint(t.Key, keys) + paint(t.Dim, " "+h.word)
		if glyph.Cells(line)+glyph.Cells(part)+2 > m.w {
			break
		}
		if line == "" {
			line = " " + part
		} else {
			line += "  " + part
		}
	}
	return glyph.Fit(line, m.w, "")
}

// keysOf names the first key of each action; a..b is from the key of a to that
// of b. What is no action stands for itself.
func (m *Model) keysOf(actions string) string {
	var list []string
	for name := range strings.FieldsSeq(actions) {
		if from, to, ok := strings.Cut(name, ".."); ok && m.actions[from] != nil {
			if a, b := m.keysOf(from), m.keysOf(to); a != "" && b != "" {
				list = append(list, a+".."+b)
			}
			continue
		}
		if m.actions[name] == nil {
			list = append(list, name)
		} else if keys := m.keys.Keys(name); len(keys) > 0 {
			list = append(list, keyName(keys[0]))
		}
	}
	return strings.Join(list, " ")
}

// keyName writes a key as people do: Ctrl-R, F2, Esc, d d. A letter stays as it is.
func keyName(key string) string {
	parts := strings.Split(key, " ")
	for i, p := range parts {
		words := strings.Split(p, "+")
		for k, w := range words {
			switch {
			case w == "" || len(words) == 1 && len(w) == 1:
			case len(w) > 3 && (w == "pgup" || w == "pgdown"):
				words[k] = "Pg" + strings.ToUpper(w[2:3]) + w[3:]
			default:
				words[k] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		parts[i] = strings.Join(words, "-")
	}
	return strings.Join(parts, " ")
}
