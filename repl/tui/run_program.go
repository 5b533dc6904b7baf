package tui

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

// Run shows the screen on the terminal until the user leaves. It gives the exit code.
func Run(o Options) (int, error) {
	var p *tea.Program
	m := New(o, func(msg tea.Msg) { p.Send(msg) })
	p = tea.NewProgram(m, tea.WithInput(os.Stdin), tea.WithOutput(os.Stdout))
	_, err := p.Run()
	if m.kernel != nil {
		m.kernel.Kill()
		m.kernel.Stop()
	}
	return m.exitCode, err
}
