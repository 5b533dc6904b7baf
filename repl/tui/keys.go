package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
)

// context is the table that the keys are looked up in.
func (m *Model) context() config.Context {
	switch {
	case m.focus == onCells:
		return config.Cells
	case m.focus == onPanel:
		if p := m.focusedPane(); p != nil {
			return config.Context(p.Name())
		}
		return config.Panel
	}
	return config.Editor
}

// key gives a key to what takes it: what lies over the rest, a panel that has
// the focus, the table of actions, the text.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	m.note = ""
	name := k.String()
	if m.over != nil {
		if cmd, taken := m.over.key(m, k); taken {
			return cmd
		}
	}
	if m.popup != nil {
		if cmd, taken := m.popupKey(name); taken {
			return cmd
		}
	}
	if n, ok := strings.CutPrefix(name, "alt+"); ok && len(n) == 1 && m.trying() && n[0] >= '1' && n[0] <= '9' {
		return m.tryOne(int(n[0] - '0'))
	}
	action, more := m.keys.Lookup(m.context(), m.pending, name)
	if action == "" && !more && m.pending != "" { // the sequence came to nothing
		action, more = m.keys.Lookup(m.context(), "", name)
		m.pending = ""
	}
	if more {
		m.pending = join(m.pending, name)
		return nil
	}
	m.pending = ""
	if action != "" {
		return m.act(action)
	}
	if e := m.text(); e != nil && k.Text != "" {
		e.Type(k.Text)
		return m.typed()
	}
	return nil
}

func join(pending, key string) string {
	if pending == "" {
		return key
	}
	return pending + " " + key
}

// act does a named action.
func (m *Model) act(name string) tea.Cmd {
	if do := m.actions[name]; do != nil {
		return do(m)
	}
	return nil
}

// paste puts pasted text where the keys go, as it is but for control characters.
func (m *Model) paste(text string) tea.Cmd {
	m.note = ""
	text = pasted(text)
	if m.over != nil {
		if cmd, taken := m.over.paste(m, text); taken {
			return cmd
		}
	}
	if m.text() == nil {
		m.toInput()
	}
	m.text().Insert(text)
	return m.typed()
}

// typed follows a change of the text or a move in it.
func (m *Model) typed() tea.Cmd {
	if m.focus == onEdit {
		m.showEditing()
	}
	return tea.Batch(m.refreshPopup(), m.checkLater())
}
