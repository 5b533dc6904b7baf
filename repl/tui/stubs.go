package tui

import (
	tea "charm.land/bubbletea/v2"
)

type stop struct {
	line   int
	reason string
}

func (c *cell) drawStop(p *pen) {}

func (o *output) drawRich(w int, t *Theme) []string { return nil }

func (m *Model) panelCommand(arg string) tea.Cmd { return nil }
func (m *Model) panelNames() []string            { return nil }
func (m *Model) panelKey(string) (tea.Cmd, bool) { return nil, false }
func (m *Model) focusNextPanel()                 {}
func (m *Model) toggleBreakpoint() tea.Cmd       { return nil }
func panelActor(name string) actor               { return then(func(m *Model) {}) }
func focusPanel(n int) actor                     { return then(func(m *Model) {}) }
func resizer(w, h int) actor                     { return then(func(m *Model) {}) }
func debug(name string) actor                    { return then(func(m *Model) {}) }
