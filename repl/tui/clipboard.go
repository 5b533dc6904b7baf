package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// clip puts text on the clipboard of the terminal (OSC 52).
func (m *Model) clip(text, what string) tea.Cmd {
	if text == "" {
		m.say("nothing to copy")
		return nil
	}
	m.say("copied %s", what)
	return escape(ansi.SetSystemClipboard(text))
}

func (m *Model) copySelection() tea.Cmd {
	s := m.text().Selected()
	m.text().Keep(s)
	return m.clip(s, "the selection")
}

func (m *Model) cutSelection() tea.Cmd {
	s := m.text().Cut()
	return tea.Batch(m.typed(), m.clip(s, "the selection"))
}

func (m *Model) copyCell() tea.Cmd {
	if len(m.nb.cells) == 0 {
		return nil
	}
	c := m.nb.cells[m.selected]
	return m.clip(c.source, "the text of the cell")
}

func (m *Model) copyOutput() tea.Cmd {
	if len(m.nb.cells) == 0 {
		return nil
	}
	return m.clip(m.nb.cells[m.selected].outputText(), "the output of the cell")
}

// outputText is what a cell produced, without colours.
func (c *cell) outputText() string {
	var b strings.Builder
	for _, o := range c.outputs {
		if o.kind == outError {
			b.WriteString(o.err.Name + ": " + o.err.Value + "\n" + strings.Join(o.err.Traceback, "\n") + "\n")
			continue
		}
		for _, l := range o.all() {
			b.WriteString(glyph.Strip(l) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
