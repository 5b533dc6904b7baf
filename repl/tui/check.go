package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/tui/edit"
)

// A checked is what the kernel found wrong with the text as it was.
type checked struct {
	of      *edit.Editor
	version uint64
	text    string
	at      edit.Pos
}

// checkAfter is how long the text must stand before it is checked.
const checkAfter = 250 * time.Millisecond

// Texts that are longer are checked when they run: the kernel must stay free for
// what is asked of it.
const (
	checkedLines = 2000
	checkedBytes = 64 << 10
)

type checkMsg struct {
	of      *edit.Editor
	version uint64
}

// checkLater checks the text once nothing is typed for a while.
func (m *Model) checkLater() tea.Cmd {
	e := m.text()
	if e == nil || m.asked == (checkMsg{e, e.Version()}) || isCommandLine(e) || e.Empty() {
		return nil
	}
	m.asked = checkMsg{e, e.Version()}
	m.waiting++
	return m.later(checkAfter, m.asked)
}

// check asks for the mistakes of the text, unless it has changed meanwhile or
// is not whole: what is missing yet is no mistake.
func (m *Model) check(msg checkMsg) tea.Cmd {
	m.waiting--
	e := msg.of
	if m.text() != e || e.Version() != msg.version || m.stopped != nil || e.Len() > checkedLines {
		return nil
	}
	text := e.Text()
	if len(text) > checkedBytes || !repl.IsWhole(text) {
		return nil
	}
	return m.askKernel(func(ctx context.Context, k Kernel) func(m *Model) tea.Cmd {
		rep, err := k.Check(ctx, text)
		return func(m *Model) tea.Cmd {
			if err != nil || e.Version() != msg.version {
				return nil
			}
			m.checked = checked{of: e, version: msg.version}
			if len(rep.Errors) > 0 {
				x := rep.Errors[0]
				m.checked.text = fmt.Sprintf("%s: %s", x.Name, x.Value)
				if strings.Contains(text, "\n") {
					m.checked.text += fmt.Sprintf("  (line %d)", x.Line)
				}
				m.checked.at = pos(x.Line, x.Column)
			}
			return nil
		}
	})
}

// wrong is where the text has its first mistake, as far as that is known.
func (m *Model) wrong(e *edit.Editor) *edit.Pos {
	if c := &m.checked; c.of == e && c.version == e.Version() && c.text != "" {
		return &c.at
	}
	return nil
}
