package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A History is the cells that were run, this time and before, on disk;
// *store.History is one. Add is called beside the screen, one call at a time.
type History interface {
	Len() int
	At(i int) string
	Add(cell string, now time.Time) error
}

// A past is the history as the screen knows it, the oldest cell first.
type past struct {
	cells []string
}

func newPast(h History) past {
	var p past
	if h != nil {
		for i := range h.Len() {
			p.cells = append(p.cells, h.At(i))
		}
	}
	return p
}

// step finds the next cell from i on, in direction d, that begins with prefix
// and is not skip; -1 or len(cells) when there is none.
func (p *past) step(i, d int, prefix, skip string) int {
	for i += d; i >= 0 && i < len(p.cells); i += d {
		if strings.HasPrefix(p.cells[i], prefix) && p.cells[i] != skip {
			return i
		}
	}
	return min(max(i, -1), len(p.cells))
}

// remember adds what was typed to the history.
func (m *Model) remember(text string) tea.Cmd {
	if m.opts.SkipSpace && strings.HasPrefix(text, " ") {
		return nil
	}
	if n := len(m.past.cells); n == 0 || m.past.cells[n-1] != text {
		m.past.cells = append(m.past.cells, text)
	}
	h, now := m.opts.History, m.now()
	if h == nil {
		return nil
	}
	return m.onDisk(func() func(m *Model) tea.Cmd {
		if err := h.Add(text, now); err != nil {
			return func(m *Model) tea.Cmd { m.say("history: %v", err); return nil }
		}
		return nil
	})
}

// A recall is a walk through the history with Up and Down.
type recall struct {
	at      int    // in the history; Len() is what was being typed
	draft   string // what was being typed
	prefix  string
	version uint64 // of the input as the walk left it: another one ends the walk
}

// historyStep goes to the cell before, or after, that begins with what was typed.
func (m *Model) historyStep(d int) tea.Cmd {
	all := len(m.past.cells)
	r := &m.recall
	if r.version != m.input.Version() || r.at > all {
		*r = recall{at: all, draft: m.input.Text(), prefix: m.input.Text()[:m.input.Offset()]}
		if strings.TrimSpace(r.prefix) == "" {
			r.prefix = ""
		}
	}
	if d > 0 && r.at == all {
		return nil
	}
	next := m.past.step(r.at, d, r.prefix, m.input.Text())
	if next < 0 {
		return nil
	}
	if r.at = next; next == all {
		m.replaceInput(r.draft)
	} else {
		m.replaceInput(m.past.cells[next])
	}
	r.version = m.input.Version()
	return m.dropPopup()
}

// replaceInput changes the whole text so that undo brings the old one back.
func (m *Model) replaceInput(text string) {
	m.input.SelectAll()
	m.input.Insert(text)
}

// searchHistory opens the list of the history, the newest first.
func (m *Model) searchHistory() tea.Cmd {
	if len(m.past.cells) == 0 {
		m.say("the history is empty")
		return nil
	}
	m.toInput()
	var items []item
	seen := map[string]bool{}
	for i := len(m.past.cells) - 1; i >= 0; i-- {
		text := m.past.cells[i]
		if seen[text] {
			continue
		}
		seen[text] = true
		it := item{text: text, do: func(m *Model) tea.Cmd { m.replaceInput(text); return nil }}
		if strings.Contains(text, "\n") {
			it.detail = text
		}
		items = append(items, it)
	}
	query := m.input.Text()
	if strings.Contains(query, "\n") {
		query = ""
	}
	m.over = newPicker("history", items, query)
	return nil
}

// ghost is how the history would go on with the line that is typed.
func (m *Model) ghost() string {
	text := m.input.Text()
	if m.focus != onInput || text == "" || strings.Contains(text, "\n") || m.input.Cursor() != m.input.End() || m.popup != nil {
		return ""
	}
	i := m.past.step(len(m.past.cells), -1, text, text)
	if i < 0 {
		return ""
	}
	rest := m.past.cells[i][len(text):]
	if strings.Contains(rest, "\n") {
		return ""
	}
	return rest
}
