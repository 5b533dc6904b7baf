package tui

import (
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	stack "runtime/debug"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// A program is the model on a terminal. Bubble Tea runs its loop and has neither
// keys nor a screen of its own, so that nothing ticks: a frame is made when
// something changed and the one before is on the terminal.
type program struct {
	*Model
	t        *terminal
	rest     func() // ends the frame clock of Bubble Tea, once it runs
	painting bool   // a frame is under way
	changed  bool   // since it was made
	made     time.Time
	urgent   bool // what changed answers a key: it is shown at once
	armed    bool // a timer for the next frame
	lent     bool // the terminal is
	panicked *panicMsg
}

// Init begins the model.
func (p *program) Init() tea.Cmd {
	return tea.Batch(func() tea.Msg { p.rest(); return nil }, watched(p.Model.Init()))
}

// Update takes what is for the terminal and gives the rest to the model. A panic
// ends the program.
func (p *program) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked, cmd = &panicMsg{v, stack.Stack()}, tea.Quit
		}
	}()
	switch msg := msg.(type) {
	case paintedMsg:
		p.painting = false
		return p, nil
	case dueMsg:
		p.armed = false
		return p, nil
	case tea.KeyPressMsg:
		p.urgent = true
	case escapeMsg:
		p.t.write(string(msg))
		p.changed = true
		return p, nil
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeSynchronizedOutput && msg.Value == ansi.ModeReset {
			p.t.synchronize()
		}
		return p, nil
	case panicMsg:
		p.panicked = &msg
		return p, tea.Quit
	case interruptMsg:
		if p.lent { // it was for whoever has the terminal
			return p, nil
		}
	case tea.WindowSizeMsg, redrawMsg:
		p.t.forget()
	case lendMsg:
		p.lent = true
		return p, watched(func() tea.Msg { err := p.t.lend(msg.run); return returnedMsg{msg.then(err)} })
	case returnedMsg:
		p.lent = false
		p.Model.resize(p.t.size())
		p.changed = true
		_, cmd = p.Model.Update(msg.msg)
		return p, watched(cmd)
	}
	p.changed = true
	_, cmd = p.Model.Update(msg)
	return p, watched(cmd)
}

// View sends a frame on its way if there is something new to see.
func (p *program) View() tea.View {
	defer func() {
		if v := recover(); v != nil {
			p.panicked = &panicMsg{v, stack.Stack()}
			go p.t.send(tea.QuitMsg{})
		}
	}()
	if !p.changed || p.painting || p.lent || p.panicked != nil {
		return tea.View{}
	}
	if rest := p.t.gap - time.Since(p.made); rest > 0 && !p.urgent {
		if !p.armed {
			p.armed = true
			time.AfterFunc(rest, func() { p.t.send(dueMsg{}) })
		}
		return tea.View{}
	}
	v := p.Model.View()
	p.changed, p.urgent, p.painting, p.made = false, false, true, time.Now()
	p.t.frames <- v
	return tea.View{}
}

// A dueMsg says that it is time for the next frame.
type dueMsg struct{}

// watched makes a panic of a command, or of those that it leads to, one message.
func watched(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				msg = panicMsg{v, stack.Stack()}
			}
		}()
		msg = cmd()
		if list := reflect.ValueOf(msg); list.IsValid() && list.Kind() == reflect.Slice && list.Type().Elem() == reflect.TypeFor[tea.Cmd]() { // a batch or a sequence
			for i := range list.Len() {
				list.Index(i).Set(reflect.ValueOf(watched(list.Index(i).Interface().(tea.Cmd))))
			}
		}
		return msg
	}
}

// An escapeMsg is a sequence for the terminal that draws nothing.
type escapeMsg string

// escape sends the terminal such a sequence.
func escape(seq string) tea.Cmd { return func() tea.Msg { return escapeMsg(seq) } }

// A redrawMsg has the screen painted whole.
type redrawMsg struct{}

// A lendMsg gives the terminal to somebody else while run runs; then hears how that ended.
type lendMsg struct {
	run  func() error
	then func(err error) tea.Msg
}

// A returnedMsg says that the terminal is the screen's again.
type returnedMsg struct{ msg tea.Msg }

// lendTo gives the terminal to another program.
func lendTo(words []string, then func(err error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		return lendMsg{func() error {
			c := exec.Command(words[0], words[1:]...)
			c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
			return c.Run()
		}, then}
	}
}

// suspend stops tpush until the shell goes on with it.
func suspend() tea.Msg {
	return lendMsg{func() error {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGCONT)
		defer signal.Stop(c)
		if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
			return err
		}
		select {
		case <-c:
		case <-time.After(stopsWithin): // no shell that could go on with it: it was not stopped
		}
		return nil
	}, func(error) tea.Msg { return suspendedMsg{} }}
}

// stopsWithin bounds the time from the signal to the stop.
const stopsWithin = 300 * time.Millisecond

// A suspendedMsg says that tpush was stopped and goes on.
type suspendedMsg struct{}
