package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/inspect"
)

// glance renews what the bar tells of the session, also while a cell runs.
func (m *Model) glance() tea.Cmd {
	if m.state != ready || m.glancing {
		return nil
	}
	m.glancing = true
	k := m.kernel
	return m.ask(func() func(m *Model) tea.Cmd {
		ctx, cancel := context.WithTimeout(context.Background(), viewDeadline)
		defer cancel()
		var s inspect.Status
		err := k.View(ctx, "status", nil, &s)
		return func(m *Model) tea.Cmd {
			m.glancing = false
			if err == nil && k == m.kernel {
				m.status = s
			}
			return nil
		}
	})
}
