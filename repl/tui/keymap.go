package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A where says in which places a key means an action.
type where uint8

const (
	inText   where = 1 << iota // the editor, at the bottom or in a cell
	inCells                    // cell mode
	anywhere = inText | inCells
)

// An action is something a key can do. Every key is one.
type action struct {
	name  string
	keys  string // by default, separated by spaces; "" for none
	where where
	doc   string
	do    func(m *Model) tea.Cmd
}

// A keymap finds the action of a key.
type keymap struct {
	list  []action
	text  map[string]*action
	cells map[string]*action
}

func newKeymap(list []action) keymap {
	k := keymap{list: list, text: map[string]*action{}, cells: map[string]*action{}}
	for i := range list {
		a := &list[i]
		for key := range strings.FieldsSeq(a.keys) {
			if a.where&inText != 0 {
				k.text[key] = a
			}
			if a.where&inCells != 0 {
				k.cells[key] = a
			}
		}
	}
	return k
}

// named finds an action by its name.
func (k *keymap) named(name string) *action {
	for i := range k.list {
		if k.list[i].name == name {
			return &k.list[i]
		}
	}
	return nil
}

// key gives a key to what takes it: what lies over the rest, then the table,
// then the text.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	m.note = ""
	if m.over != nil {
		if cmd, taken := m.over.key(m, k); taken {
			return cmd
		}
	}
	name := k.String()
	table := m.keys.text
	if m.focus == onCells {
		table = m.keys.cells
		name = m.chord(name)
	}
	if a := table[name]; a != nil {
		return a.do(m)
	}
	if e := m.text(); e != nil && k.Text != "" {
		e.Type(k.Text)
		m.typed()
	}
	return nil
}

// chord joins the keys of cell mode that mean something twice: d d.
func (m *Model) chord(name string) string {
	if m.pending != "" {
		both := m.pending + m.pending
		pending := m.pending
		m.pending = ""
		if name == pending {
			return both
		}
	}
	if m.keys.cells[name] == nil && m.keys.cells[name+name] != nil {
		m.pending = name
	}
	return name
}

// typed follows a change of the text.
func (m *Model) typed() {
	if m.focus == onEdit {
		m.showEditing()
	}
}

// paste puts pasted text where the keys go, as it is but for control characters.
func (m *Model) paste(text string) tea.Cmd {
	m.note = ""
	text = pasted(text)
	if m.over != nil {
		return m.over.paste(m, text)
	}
	if m.focus == onCells {
		m.leaveCells()
	}
	m.text().Insert(text)
	m.typed()
	return nil
}
