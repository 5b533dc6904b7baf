package tui

import (
	"cmp"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// externalEditor opens the text in $VISUAL or $EDITOR. What was typed stays
// when the editor fails.
func (m *Model) externalEditor() tea.Cmd {
	e := m.text()
	program := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"), "vi")
	text := e.Text()
	return m.ask(func() func(m *Model) tea.Cmd {
		f, err := os.CreateTemp("", "tpush-*.go")
		if err == nil {
			_, err = f.WriteString(text + "\n")
			if cerr := f.Close(); err == nil {
				err = cerr
			}
		}
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say("external editor: %v", err)
				return nil
			}
			words := strings.Fields(program)
			m.waiting++
			return lendTo(append(words, f.Name()), func(err error) tea.Msg {
				b, rerr := os.ReadFile(f.Name())
				_ = os.Remove(f.Name())
				return answerMsg{func(m *Model) tea.Cmd {
					if err == nil {
						err = rerr
					}
					if err != nil {
						m.say("%s: %v; the text is as it was", program, err)
						return nil
					}
					e.SelectAll()
					e.Insert(strings.TrimRight(glyph.Paste(string(b)), "\n"))
					return nil
				}}
			})
		}
	})
}
