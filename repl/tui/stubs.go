package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/glyph"
)

type stop struct {
	line   int
	reason string
}

func (c *cell) drawStop(p *pen) {}

func (o *output) drawRich(w int, t *Theme) []string { return nil }

func (m *Model) historyStep(d int) {}

func (m *Model) complete() tea.Cmd { m.text().Insert("\t"); return nil }

func (m *Model) screenCommand(text string) (tea.Cmd, bool) { return nil, false }

func (m *Model) welcome(rows []string) {}

func (m *Model) keyLine() string {
	return paint(m.theme.Dim, glyph.Fit(" Enter run  Alt-Enter newline  Esc cells  Tab complete  Ctrl-R history  Ctrl-C stop  Ctrl-D leave", m.w, ""))
}
