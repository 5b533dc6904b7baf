package tui

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/config"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/repl/shot"
	"github.com/tpush/tpush/repl/tui/edit"
)

// A Kernel is what the screen needs of a kernel; *kernel.Process is one.
type Kernel interface {
	Execute(ctx context.Context, r kernel.ExecuteRequest, ev kernel.Events) (kernel.ExecuteReply, error)
	Complete(ctx context.Context, r kernel.CompleteRequest) (kernel.CompleteReply, error)
	Inspect(ctx context.Context, r kernel.InspectRequest) (kernel.InspectReply, error)
	Check(ctx context.Context, code string) (kernel.IsCompleteReply, error)
	Info(ctx context.Context) (kernel.KernelInfo, error)
	Debug(ctx context.Context, request json.RawMessage) (json.RawMessage, error)
	View(ctx context.Context, name string, args, into any) error
	Wait() error // until it is gone: how it ended
	Stop()
	Kill()
}

// Options say what the screen shows and how.
type Options struct {
	Start func() (Kernel, error) // makes a kernel; called again to restart
	File  string                 // that was opened, "" for none
	Files Files
	Theme Theme
	// AskTheme asks the terminal for its background; a light one gets the light theme.
	AskTheme bool
	Keys     config.Keymap
	// History may be nil.
	History History
	Mouse   bool
	Welcome bool // show what to try while the notebook is empty
	FPS     int
	Panels  []string // open at the start
	// SkipSpace keeps what begins with a space out of the history.
	SkipSpace bool
	Timeout   time.Duration // of a cell, 0 for none
	// AnswerWithin bounds the wait for what the kernel tells about the text being
	// typed; 0 for what a user would wait.
	AnswerWithin time.Duration
	// Config is the configuration in force and ConfigFile the user's own file,
	// which :config changes. Without them :config has nothing to show.
	Config     *config.Config
	ConfigFile string
	Now        func() time.Time // the clock; time.Now when nil
}

// A focus says what the keys go to.
type focus uint8

const (
	onInput focus = iota // the editor below the cells
	onEdit               // the editor in a cell
	onCells              // cell mode
	onPanel              // a panel
)

// A Model is the state of the screen.
type Model struct {
	opts    Options
	theme   Theme
	themeID int // changes with the theme, to void what was drawn
	now     func() time.Time
	send    func(tea.Msg)
	later   func(d time.Duration, msg tea.Msg) tea.Cmd
	keys    config.Keymap
	actions map[string]actor

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

	kernel      Kernel
	info        kernel.KernelInfo
	state       kernelState
	died        string // why the kernel is gone
	death       error  // the same with its last words
	queue       []*cell
	job         *job
	ticking     bool
	broken      time.Time // when Ctrl-C was pressed last
	stopped     *cell     // that the debugger holds
	stopIn      *cell     // that it stands in: a function may be of another
	lastStop    *stop
	entry       bool         // the next cell to run stops at its first line
	stepping    bool         // a step is under way: the cell stops again at once, or ends
	held        []string     // what was typed meanwhile
	inputBreaks map[int]bool // lines of what is typed

	status   inspect.Status
	glancing bool // the status is being asked for
	count    int  // of the cell that ran last

	panes      panes
	marked     *cell // that a panel selected a line of
	markedLine int

	waiting  int // questions that are not answered yet
	settlers []shot.Settled
	popup    *popup
	version  uint64 // of the text when the popup last looked
	sig      signature
	checked  checked
	disk     *sync.Mutex // work with files is done one at a time
	past     past
	recall   recall
	asked    checkMsg // the check that was arranged last

	saved         string // the notebook as it is on disk
	kept          string // as it was autosaved last
	autosaving    bool
	noticed       bool // that another program changed the file
	autosaveError string
	autosavedAt   time.Time

	stales   int // how many cells are stale
	tour     *tour
	spools   []string // files of long outputs
	rects    []rect   // where panels are on the screen
	note     string   // one line for the user, until the next key
	mouse    bool
	dragged  bool // the mouse was, with a button held
	quit     bool
	exitCode int
}

// New makes the model. send tells the program of things that happen outside of it.
func New(o Options, send func(tea.Msg)) *Model {
	m := &Model{opts: o, theme: o.Theme, now: o.Now, send: send, input: edit.New(""), mouse: o.Mouse}
	m.later = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	if m.now == nil {
		m.now = time.Now
	}
	m.disk = &sync.Mutex{}
	m.past = newPast(o.History)
	m.keys, m.actions = o.Keys, actors()
	m.view.follow = true
	m.opened()
	m.resize(80, 24)
	for _, name := range o.Panels {
		m.togglePanel(name)
	}
	return m
}

// Init starts the kernel.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.startKernel(), m.autosaveLater()}
	if m.opts.AskTheme {
		cmds = append(cmds, escape(ansi.RequestBackgroundColor))
	}
	return tea.Batch(cmds...)
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.settle()
	return m, cmd
}

// update has one line for each kind of message.
func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(msg.Content)
	case tea.MouseWheelMsg:
		return m.wheel(msg.Mouse())
	case tea.MouseMotionMsg:
		m.drag(msg.Mouse())
	case tea.MouseClickMsg:
		return m.click(msg.Mouse())
	case startedMsg:
		return m.started(msg)
	case goneMsg:
		m.gone(msg)
	case outputMsg:
		m.arrived(msg)
	case doneMsg:
		return m.done(msg)
	case stoppedMsg:
		return m.stoppedAt(msg)
	case inputMsg:
		m.wantInput(msg)
	case continuedMsg:
		m.goesOn(msg.job)
	case tickMsg:
		return m.tick()
	case autosaveMsg:
		return tea.Batch(m.autosave(), m.lookAtFile(), m.autosaveLater())
	case tea.BackgroundColorMsg:
		m.background(msg.IsDark())
	case timeoutMsg:
		return m.timedOut(msg)
	case interruptMsg:
		return m.interrupt()
	case viewMsg:
		return m.viewDue()
	case checkMsg:
		return m.check(msg)
	case answerMsg:
		return m.answered(msg)
	case shot.Settled:
		m.settled(msg)
	}
	return nil
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
		if c == m.marked {
			l.marked, l.line = true, m.markedLine
		}
		if c == m.editing {
			l.editing = func() []string { rows, _, _ := m.editRows(); return rows }
		}
		return c.rows(&l)
	}}
}

// isCommand says whether text is for the program and not Go.
func isCommand(text string) bool { return repl.IsCommand(text) }
