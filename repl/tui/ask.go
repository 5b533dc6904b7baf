package tui

import (
	"cmp"
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/shot"
)

// answerDeadline is how long the screen waits for what the kernel may tell
// about the text being typed: later it is of no use.
const answerDeadline = 400 * time.Millisecond

// An answerMsg brings the result of something that was asked beside the screen.
type answerMsg struct{ then func(m *Model) tea.Cmd }

// ask does work beside the screen; what it gives is done to the model after.
func (m *Model) ask(work func() func(m *Model) tea.Cmd) tea.Cmd {
	m.waiting++
	return func() tea.Msg { return answerMsg{work()} }
}

// onDisk is ask for work with files: one piece at a time.
func (m *Model) onDisk(work func() func(m *Model) tea.Cmd) tea.Cmd {
	mu := m.disk
	return m.ask(func() func(m *Model) tea.Cmd {
		mu.Lock()
		defer mu.Unlock()
		return work()
	})
}

// askKernel is ask for a question to the kernel, with a deadline; nothing is
// asked when there is no kernel.
func (m *Model) askKernel(work func(ctx context.Context, k Kernel) func(m *Model) tea.Cmd) tea.Cmd {
	if m.state != ready {
		return nil
	}
	k, within := m.kernel, cmp.Or(m.opts.AnswerWithin, answerDeadline)
	return m.ask(func() func(m *Model) tea.Cmd {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		return work(ctx, k)
	})
}

func (m *Model) answered(msg answerMsg) tea.Cmd {
	m.waiting--
	if msg.then == nil {
		return nil
	}
	return msg.then(m)
}

// settle answers those who wait until nothing is going on.
func (m *Model) settle() {
	if len(m.settlers) == 0 || m.waiting > 0 || m.state == starting || (m.job != nil || len(m.queue) > 0) && m.stopped == nil {
		return
	}
	v := m.View()
	for _, s := range m.settlers {
		s.Reply(v)
	}
	m.settlers = nil
}

func (m *Model) settled(msg shot.Settled) { m.settlers = append(m.settlers, msg) }
