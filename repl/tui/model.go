package tui

import (
	"context"
	"encoding/json"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/tui/edit"
)

// A Kernel is what the screen needs of a kernel; *kernel.Process is one.
type Kernel interface {
	Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error)
	Complete(ctx context.Context, r kernel.CompleteRequest) (kernel.CompleteReply, error)
	Inspect(ctx context.Context, r kernel.InspectRequest) (kernel.InspectReply, error)
	Info(ctx context.Context) (kernel.KernelInfo, error)
	Debug(ctx context.Context, request json.RawMessage) (json.RawMessage, error)
	View(ctx context.Context, name string, args, into any) error
	Stop()
	Kill()
}

// Options say what the screen shows and how.
type Options struct {
	Start func() (Kernel, error) // makes a kernel; called again to restart
	File  string                 // that was opened, "" for none
	Cells []string               // its cells
	Theme Theme
	Mouse bool
	Now   func() time.Time // the clock; time.Now when nil
}

// A focus says what the keys go to.
type focus uint8

const (
	onInput focus = iota // the editor below the cells
	onEdit               // the editor in a cell
	onCells              // cell mode
)

// A Model is the state of the screen.
type Model struct {
	opts    Options
	theme   Theme
	themeID int // changes with the theme, to void what was drawn
	now     func() time.Time
	send    func(tea.Msg)
	keys    keymap

	w, h int
	at   layout

	nb    notebook
	view  transcript
	spots []spot
	buf   []string

	focus    focus
	input    *edit.Editor // what is typed at the bottom
	editor   *edit.Editor // the text of the cell being edited
	editing  *cell
	selected int // in cell mode
	pending  string
	over     overlay // what lies over the rest and takes the keys first

	kernel  Kernel
	info    kernel.KernelInfo
	state   kernelState
	died    string // why the kernel is gone
	queue   []*cell
	job     *job
	ticking bool
	stopped time.Time // when Ctrl-C was pressed last
	last    kernel.ExecuteReply
	count   int // of the cell that ran last

	note     string // one line for the user, until the next key
	mouse    bool
	quit     bool
	exitCode int
}

// New makes the model. send tells the program of things that happen outside of it.
func New(o Options, send func(tea.Msg)) *Model {
	m := &Model{opts: o, theme: o.Theme, now: o.Now, send: send, input: edit.New(""), mouse: o.Mouse}
	if m.now == nil {
		m.now = time.Now
	}
	m.keys = newKeymap(actions())
	m.view.follow = true
	for _, text := range o.Cells {
		m.nb.append(text)
	}
	m.resize(80, 24)
	return m
}

// Init starts the kernel.
func (m *Model) Init() tea.Cmd { return m.startKernel() }

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tea.MouseWheelMsg:
		return m, m.wheel(msg.Mouse())
	case tea.MouseClickMsg:
		return m, m.click(msg.Mouse())
	case startedMsg:
		return m, m.started(msg)
	case outputMsg:
		m.arrived(msg)
	case doneMsg:
		return m, m.done(msg)
	case tickMsg:
		return m, m.tick()
	}
	return m, nil
}

// text is the editor that takes the keys; nil in cell mode.
func (m *Model) text() *edit.Editor {
	switch m.focus {
	case onInput:
		return m.input
	case onEdit:
		return m.editor
	}
	return nil
}

// source gives the rows of the cells to the transcript.
func (m *Model) source() source {
	look := cellLook{w: m.at.mainW, gutter: m.at.gutter, theme: &m.theme, themeID: m.themeID}
	now := m.now()
	return source{n: len(m.nb.cells), rows: func(i int) []string {
		c, l := m.nb.cells[i], look
		l.now = now
		l.selected = m.focus == onCells && i == m.selected
		if c == m.editing {
			l.editing = func() []string { rows, _, _ := m.editRows(); return rows }
		}
		return c.rows(&l)
	}}
}

// isCommand says whether text is for the program and not Go.
func isCommand(text string) bool { return repl.IsCommand(text) }
