package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/tui/edit"
	"github.com/tpush/tpush/repl/tui/glyph"
)

// A prompt asks for one line, in the place of the line under the editor.
type prompt struct {
	what string
	line *edit.Editor
	do   func(m *Model, text string) tea.Cmd
	end  func() // on Ctrl-D in an empty line; nil does nothing
}

func newPrompt(what string, do func(m *Model, text string) tea.Cmd) *prompt {
	return &prompt{what: what, line: edit.New(""), do: do}
}

func (p *prompt) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	switch name := k.String(); name {
	case "enter":
		m.over = nil
		return p.do(m, p.line.Text()), true
	case "esc", "ctrl+g":
		if p.end != nil {
			p.end()
		}
		m.over = nil
	case "ctrl+c":
		m.over = nil
		return m.interrupt(), true
	case "ctrl+d":
		if p.end != nil && p.line.Text() == "" {
			p.end()
			m.over = nil
		}
	default:
		if a, _ := m.keys.Lookup(config.Editor, "", name); oneLine[a] != nil {
			oneLine[a](p.line)
		} else if k.Text != "" {
			p.line.Type(k.Text)
		}
	}
	return nil, true
}

func (p *prompt) paste(_ *Model, text string) (tea.Cmd, bool) {
	p.line.Insert(strings.ReplaceAll(text, "\n", " "))
	return nil, true
}

func (p *prompt) draw(m *Model, rows []string, _, _ int) (int, int, bool) {
	if len(rows) == 0 {
		return 0, 0, false
	}
	y := max(len(rows)-1-m.at.statusH-m.at.keysH, 0)
	head := " " + p.what + ": "
	rows[y] = glyph.Fit(paint(m.theme.Note, head)+p.line.Text(), m.w, "")
	return min(glyph.Width(head)+glyph.Width(p.line.Text()[:p.line.Offset()]), max(m.w-1, 0)), y, true
}
