package tui

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"

	"github.com/tpush/tpush/repl/tui/glyph"
	"github.com/tpush/tpush/repl/tui/render"
)

// A terminal is the one that the screen is on: the only place that reads keys
// and writes bytes. Nothing in it wakes by itself: it sleeps until a key or a
// frame comes.
type terminal struct {
	in, out *os.File
	env     []string
	profile colorprofile.Profile
	gap     time.Duration // between two frames
	before  *term.State
	send    func(tea.Msg)
	lost    func()        // no key will come any more
	frames  chan tea.View // at most one is under way
	over    chan struct{} // closed when no frame will be painted any more

	orderMu sync.Mutex
	ordered orders

	mu      sync.Mutex // of all that follows and of writing
	away    bool       // somebody else has the terminal
	painter *render.Painter
	shown   tea.View // that was painted last
	sync    bool     // the terminal can show a frame at once
	reader  keyReader
	reading chan struct{} // closed when nobody reads keys any more
}

// A keyReader is a reader whose reads can be ended.
type keyReader interface {
	io.ReadCloser
	Cancel() bool
}

// A paintedMsg says that the terminal has taken a frame.
type paintedMsg struct{}

// openTerminal takes over the terminal: raw, on its other screen.
func openTerminal(in, out *os.File, fps int, send func(tea.Msg), lost func()) (*terminal, error) {
	state, err := term.GetState(in.Fd())
	if err != nil {
		return nil, err
	}
	t := &terminal{in: in, out: out, env: os.Environ(), gap: time.Second / time.Duration(max(fps, 1)), before: state, send: send, lost: lost,
		frames: make(chan tea.View, 1), over: make(chan struct{})}
	t.profile = colorprofile.Detect(out, t.env)
	if err := t.take(); err != nil {
		return nil, err
	}
	if asksModes(t.env) {
		t.write(ansi.RequestModeSynchronizedOutput)
	}
	go t.paints()
	return t, nil
}

// The modes that the screen wants of a terminal, and what takes them back:
// keys are told apart (by the kitty protocol and by xterm's), pastes are marked,
// nothing wraps at the right edge, no cursor is seen until a frame has one.
const (
	wanted = ansi.ResetModeTextCursorEnable + ansi.SetModeAltScreenSaveCursor + ansi.ResetModeTextCursorEnable + ansi.ResetModeAutoWrap +
		ansi.SetModeBracketedPaste + ansi.SetModifyOtherKeys2 + "\x1b[>1u"
	takenBack = "\x1b[<1u" + ansi.ResetModifyOtherKeys + ansi.ResetModeBracketedPaste + ansi.SetModeAutoWrap +
		ansi.ResetStyle + ansi.ResetModeAltScreenSaveCursor + ansi.SetModeTextCursorEnable
	mouseOn  = ansi.SetModeMouseButtonEvent + ansi.SetModeMouseExtSgr
	mouseOff = ansi.ResetModeMouseButtonEvent + ansi.ResetModeMouseExtSgr
	// Without mouse reports terminals make arrow keys of the wheel, which would walk
	// through the history.
	wheelKeysOff, wheelKeysOn = "\x1b[?1007l", "\x1b[?1007h"
)

// asksModes says whether the terminal can be asked for its modes: Apple's prints
// the question, and over SSH the answer may come after the program.
func asksModes(env []string) bool {
	e := uv.Environ(env)
	_, remote := e.LookupEnv("SSH_TTY")
	return !remote && !strings.Contains(e.Getenv("TERM_PROGRAM"), "Apple")
}

// take makes the terminal the screen's.
func (t *terminal) take() error {
	if _, err := term.MakeRaw(t.in.Fd()); err != nil {
		return err
	}
	r, err := uv.NewCancelReader(t.in)
	if err != nil {
		_ = term.Restore(t.in.Fd(), t.before)
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.away = false
	t.reader, t.reading = r, make(chan struct{})
	go t.read(r, t.reading)
	t.fresh()
	return nil
}

// fresh sets the modes of a terminal that shows anything at all.
func (t *terminal) fresh() {
	t.shown = tea.View{}
	t.painter = render.New(t.profile)
	if t.sync {
		t.painter.Synchronize()
	}
	_, _ = io.WriteString(t.out, wanted)
}

// read sends keys until the reader is cancelled.
func (t *terminal) read(r keyReader, done chan<- struct{}) {
	defer close(done)
	events := make(chan uv.Event)
	ended := make(chan error, 1)
	go func() {
		ended <- uv.NewTerminalReader(r, uv.Environ(t.env).Getenv("TERM")).StreamEvents(context.Background(), events)
	}()
	for {
		select {
		case e := <-events:
			t.send(e)
		case <-ended:
			t.mu.Lock()
			lost := !t.away
			t.mu.Unlock()
			if lost {
				t.lost()
			}
			return
		}
	}
}

// givenBackAtMost bounds the wait for a terminal that takes no bytes.
const givenBackAtMost = time.Second

// giveBack leaves the terminal as it was found. A terminal that takes no bytes
// gets its modes back all the same.
func (t *terminal) giveBack() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r, reading := t.leave(); r != nil {
			<-reading
			_ = r.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(givenBackAtMost):
	}
	_ = term.Restore(t.in.Fd(), t.before)
}

// leave takes back what the screen wanted of the terminal; the reader of keys is
// to be closed when it has ended. Nil says that this was done before.
func (t *terminal) leave() (keyReader, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away {
		return nil, nil
	}
	t.away = true
	t.reader.Cancel()
	back := takenBack
	if t.shown.MouseMode != tea.MouseModeNone {
		back = mouseOff + back
	} else if t.shown.AltScreen {
		back = wheelKeysOn + back
	}
	if t.shown.WindowTitle != "" {
		back = ansi.SetWindowTitle("") + back
	}
	_, _ = io.WriteString(t.out, back)
	return t.reader, t.reading
}

// close gives the terminal back for good.
func (t *terminal) close() {
	close(t.frames)
	t.giveBack()
	select {
	case <-t.over:
	case <-time.After(givenBackAtMost):
	}
}

// paints paints the frames that come. A terminal that is slow to take one gets
// the next when it has taken it.
func (t *terminal) paints() {
	defer close(t.over)
	for v := range t.frames {
		t.paint(v)
		t.send(paintedMsg{})
	}
}

// paint shows a frame.
func (t *terminal) paint(v tea.View) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away {
		return
	}
	var b strings.Builder
	b.WriteString(t.obey())
	first := !t.shown.AltScreen
	if v.WindowTitle != t.shown.WindowTitle {
		b.WriteString(ansi.SetWindowTitle(v.WindowTitle))
	}
	if v.MouseMode != t.shown.MouseMode || first {
		switch {
		case v.MouseMode == tea.MouseModeNone && first:
			b.WriteString(wheelKeysOff)
		case v.MouseMode == tea.MouseModeNone:
			b.WriteString(mouseOff + wheelKeysOff)
		case first:
			b.WriteString(mouseOn)
		default:
			b.WriteString(wheelKeysOn + mouseOn)
		}
	}
	t.shown = v
	f := render.Frame{Rows: strings.Split(v.Content, "\n")}
	f.W = glyph.Cells(f.Rows[0])
	if c := v.Cursor; c != nil {
		f.X, f.Y, f.Cursor = c.X, c.Y, true
	}
	if bytes := t.painter.Paint(f); b.Len() > 0 {
		b.Write(bytes)
		_, _ = io.WriteString(t.out, b.String())
	} else if len(bytes) > 0 {
		_, _ = t.out.Write(bytes)
	}
}

// write sends a sequence that draws nothing with the next frame. Like forget and
// synchronize it does not wait for a terminal that takes no bytes.
func (t *terminal) write(seq string) { t.order(func(o *orders) { o.escapes += seq }) }

// forget has the next frame painted whole.
func (t *terminal) forget() { t.order(func(o *orders) { o.whole = true }) }

// synchronize notes that the terminal can show a frame at once.
func (t *terminal) synchronize() { t.order(func(o *orders) { o.sync = true }) }

func (t *terminal) order(f func(o *orders)) {
	t.orderMu.Lock()
	defer t.orderMu.Unlock()
	f(&t.ordered)
}

// orders are what is to be done with the next frame.
type orders struct {
	escapes string
	whole   bool
	sync    bool
}

// obey does what was ordered, and gives the sequences to send.
func (t *terminal) obey() string {
	t.orderMu.Lock()
	o := t.ordered
	t.ordered = orders{}
	t.orderMu.Unlock()
	if o.whole {
		t.painter.Forget()
	}
	if o.sync {
		t.sync = true
		t.painter.Synchronize()
	}
	return o.escapes
}

// size gives the columns and rows.
func (t *terminal) size() (w, h int) {
	w, h, err := term.GetSize(t.out.Fd())
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// retake sets the modes anew of a terminal that somebody may have changed while
// tpush was stopped.
func (t *terminal) retake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.away {
		return
	}
	_, _ = term.MakeRaw(t.in.Fd())
	t.fresh()
}

// lend gives the terminal to somebody else while f runs.
func (t *terminal) lend(f func() error) error {
	t.giveBack()
	err := f()
	if terr := t.take(); err == nil {
		err = terr
	}
	return err
}
