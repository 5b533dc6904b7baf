package tui

import tea "charm.land/bubbletea/v2"

type stop struct {
	line   int
	reason string
}

func (c *cell) drawStop(p *pen) {}

func (m *Model) toggleBreakpoint() tea.Cmd { return nil }
func debug(name string) actor              { return then(func(m *Model) {}) }
