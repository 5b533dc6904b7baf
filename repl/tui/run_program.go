package tui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	stack "runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/tpush/tpush/repl/tui/glyph"
)

// An EndedError says that a signal ended the screen; its code is 128 and the
// number of the signal.
type EndedError struct{ Signal syscall.Signal }

// Error names the signal.
func (e *EndedError) Error() string { return "ended by " + e.Signal.String() }

// Run shows the screen on the terminal until the user leaves. It gives the exit
// code. The terminal is given back as it was in every ending; the notebook is
// kept in the autosave unless it was saved.
func Run(o Options) (code int, err error) {
	var p *tea.Program
	started := make(chan struct{})
	send := func(msg tea.Msg) { <-started; p.Send(msg) }
	var got atomic.Int32
	end := func(s syscall.Signal) {
		got.CompareAndSwap(0, int32(s))
		send(tea.Quit())
	}
	t, err := openTerminal(os.Stdin, os.Stdout, o.FPS, send, func() { end(syscall.SIGHUP) })
	if err != nil {
		return 1, err
	}
	m := New(o, send)
	w, h := t.size()
	m.resize(w, h)
	screen := &program{Model: m, t: t, changed: true}
	p = tea.NewProgram(screen, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithoutSignals(), tea.WithWindowSize(w, h), tea.WithColorProfile(t.profile))
	screen.rest = func() { _ = p.ReleaseTerminal() }
	close(started)
	defer listen(t, send, end)()
	_, err = p.Run()
	t.close()
	m.end()
	if s := got.Load(); s != 0 {
		return 128 + int(s), &EndedError{syscall.Signal(s)}
	}
	switch x := screen.panicked; {
	case x != nil:
		fmt.Fprintf(os.Stderr, "%v\n\n%s\n", x.value, x.stack)
		return 1, errors.New("internal error, see above; the notebook is kept and offered when it is opened again")
	case err != nil && !errors.Is(err, tea.ErrProgramKilled):
		return 1, err
	}
	m.farewell(os.Stdout)
	return m.exitCode, nil
}

// listen tells the screen of what the system tells tpush, until what it gives is called.
func listen(t *terminal, send func(tea.Msg), end func(syscall.Signal)) (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGWINCH, syscall.SIGCONT)
	go func() {
		for s := range signals {
			switch s {
			case syscall.SIGINT: // from another process: as Ctrl-C
				send(interruptMsg{})
			case syscall.SIGWINCH:
				w, h := t.size()
				send(tea.WindowSizeMsg{Width: w, Height: h})
			case syscall.SIGCONT: // somebody may have used the terminal meanwhile
				t.retake()
				send(redrawMsg{})
			default:
				end(s.(syscall.Signal))
			}
		}
	}()
	go func() {
		if hungUp(int(os.Stdin.Fd())) { // also where no signal tells so
			end(syscall.SIGHUP)
		}
	}()
	return func() { signal.Stop(signals) }
}

// hungUp waits until the terminal is gone; false when nobody can tell.
func hungUp(fd int) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(fd)}} // no events: only what nobody asks for
		switch n, err := unix.Poll(fds, -1); {
		case err == unix.EINTR:
		case err != nil || n == 0 || fds[0].Revents&unix.POLLNVAL != 0:
			return false
		default:
			return true
		}
	}
}

// end is Close after whatever happened: a model that a panic left half changed
// must not keep the kernel from being ended.
func (m *Model) end() {
	defer m.endKernel()
	defer func() { _ = recover() }()
	m.closed()
	m.dropSpools()
}

// Close ends the kernel of a program that is over, and gives the files back.
func (m *Model) Close() {
	m.closed()
	m.dropSpools()
	m.endKernel()
}

func (m *Model) endKernel() {
	if m.job != nil { // nobody takes its output any more
		m.job.feed.close()
	}
	if m.kernel != nil {
		m.kernel.Kill()
		m.kernel.Stop()
	}
}

// A panicMsg is a panic beside the loop of the program.
type panicMsg struct {
	value any
	stack []byte
}

// guarded runs f on a goroutine that is no command: its panic ends the program as
// one of Update does.
func guarded(send func(tea.Msg), f func()) {
	defer func() {
		if v := recover(); v != nil {
			send(panicMsg{v, stack.Stack()})
		}
	}()
	f()
}

// farewellCells is how many cells stay on the terminal after the screen is left.
const farewellCells = 3

// farewell prints the last cells, and where the notebook is kept.
func (m *Model) farewell(w io.Writer) {
	look := cellLook{w: max(m.w-1, 20), gutter: m.at.gutter, theme: &m.theme, now: m.now()}
	for _, c := range m.nb.cells[max(len(m.nb.cells)-farewellCells, 0):] {
		for _, r := range c.draw(&look) {
			fmt.Fprintln(w, strings.TrimRight(glyph.Strip(r), " "))
		}
	}
	f := m.opts.Files
	switch {
	case f.File != nil && m.changed():
		fmt.Fprintf(w, "tpush: %s has changes that are not saved; they are kept and offered when it is opened again\n", f.File.Path)
	case f.File == nil && len(m.nb.cells) > 0 && f.Session != nil && f.Session.Where() != "":
		fmt.Fprintln(w, "tpush: the notebook had no name and is not kept; :save FILE keeps one")
	}
}
