package tui

import (
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/kernel"
)

// An inputMsg says that the program reads standard input: the answer is awaited.
type inputMsg struct {
	job   *job
	reply chan<- kernel.InputContent
}

// inputOf gives the function that fetches standard input for an execution. It
// runs on a goroutine of its own and waits for the user.
func inputOf(j *job, send func(tea.Msg)) func() (string, error) {
	return func() (string, error) {
		reply := make(chan kernel.InputContent, 1)
		send(inputMsg{j, reply})
		select {
		case in := <-reply:
			if in.EOF {
				return "", io.EOF
			}
			return in.Value, nil
		case <-j.over:
			return "", io.EOF
		}
	}
}

// wantInput asks the user for a line.
func (m *Model) wantInput(msg inputMsg) {
	if m.job != msg.job {
		msg.reply <- kernel.InputContent{EOF: true}
		return
	}
	m.arrived(outputMsg{msg.job})
	p := newPrompt("the program reads; Ctrl-D ends its input", func(m *Model, text string) tea.Cmd {
		msg.reply <- kernel.InputContent{Value: text + "\n"}
		return nil
	})
	p.end = func() { msg.reply <- kernel.InputContent{EOF: true} }
	m.over = p
}
