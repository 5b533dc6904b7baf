package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/kernel"
	"github.com/tpush/tpush/viz"
)

// A screenCommand is a : command that is about the screen and not the session.
type screenCommand struct {
	name, args, doc string
	run             func(m *Model, arg string) tea.Cmd
	values          func(m *Model) []string // what may stand as the argument
	mine            func(arg string) bool   // nil: always; else the session has a command of that name too
}

func screenCommands() []screenCommand {
	return []screenCommand{
		{"keys", "", "lists every key and what it does", func(m *Model, _ string) tea.Cmd { m.showKeys(); return nil }, nil, nil},
		{"tour", "", "shows what tpush does on a small program that runs", func(m *Model, _ string) tea.Cmd { return m.startTour() }, nil, nil},
		{"config", "[KEY VALUE]", "lists what is set for good and where, or changes it in config.toml", (*Model).configCommand, func(*Model) []string { return configKeys() }, nil},
		{"theme", "[NAME]", "changes the colours", (*Model).themeCommand, func(*Model) []string { return themeNames() }, nil},
		{"run", "N|all|stale|from N", "runs cells again", (*Model).runCommand, func(*Model) []string { return []string{"all", "stale", "from"} }, nil},
		{"edit", "[N]", "edits a cell", (*Model).editCommand, nil, nil},
		{"recover", "", "offers what a crash left of notebooks", (*Model).recoverCommand, nil, nil},
		{"save", "[FILE]", "saves the notebook", func(m *Model, arg string) tea.Cmd { return m.saveAs(arg) }, nil, nil},
		{"panel", "[NAME]", "opens or closes a panel", (*Model).panelCommand, func(m *Model) []string { return m.panelNames() }, nil},
		{"clear", "", "drops what all cells showed", func(m *Model, _ string) tea.Cmd { m.clearAll(); return nil }, nil, nil},
		{"mouse", "", "mouse on or off", func(m *Model, _ string) tea.Cmd { m.toggleMouse(); return nil }, nil, nil},
		{"suspend", "", "stops tpush until the shell's fg", func(*Model, string) tea.Cmd { return suspend }, nil, nil},
		{"welcome", "", "four things to try", func(m *Model, _ string) tea.Cmd {
			m.over = textPager("welcome", strings.Join(welcomeText(&m.theme, m.w-2), "\n"))
			return nil
		}, nil, nil},
		{"export", "html|ipynb|svg|go|tpu FILE", "writes the notebook, or what was recorded", (*Model).exportNotebook, exportFormats, exportsNotebook},
	}
}

// screenCommand does a command that is the screen's own; false when it is none.
func (m *Model) screenCommand(text string) (tea.Cmd, bool) {
	text = strings.TrimSpace(text)
	if !isCommand(text) || text[0] != ':' {
		return nil, false
	}
	name, arg, _ := strings.Cut(text[1:], " ")
	arg = strings.TrimSpace(arg)
	var prefixed []screenCommand
	for _, c := range screenCommands() {
		if c.name == name && (c.mine == nil || c.mine(arg)) {
			return c.run(m, arg), true
		}
		if strings.HasPrefix(c.name, name) {
			prefixed = append(prefixed, c)
		}
	}
	if len(prefixed) == 1 {
		if _, err := command.Lookup(name); err != nil {
			return prefixed[0].run(m, arg), true
		}
	}
	return nil, false
}

// completeScreenCommand gives the screen's commands, or the values of one, for
// the word that is typed. Kind is that word, so that its length is known.
func (m *Model) completeScreenCommand(req kernel.CompleteRequest) []kernel.Candidate {
	line := req.Code[:req.CursorPos]
	if !strings.HasPrefix(line, ":") || strings.Contains(line, "\n") {
		return nil
	}
	name, arg, hasArg := strings.Cut(line[1:], " ")
	var list []kernel.Candidate
	for _, c := range screenCommands() {
		switch {
		case !hasArg && strings.HasPrefix(c.name, name):
			list = append(list, kernel.Candidate{Text: c.name, Kind: name, Detail: c.doc})
		case hasArg && c.name == name && c.values != nil:
			for _, v := range c.values(m) {
				if strings.HasPrefix(v, arg) {
					list = append(list, kernel.Candidate{Text: v, Kind: arg})
				}
			}
		}
	}
	return list
}

// run makes a cell of a text at the end of the notebook and runs it.
func (m *Model) run(text string) tea.Cmd {
	if m.state == dead && isCommand(text) && restarts(text) {
		return m.restart(false)
	}
	if q, ok := m.over.(*question); ok && q.unasked && m.state != dead { // going on is an answer: later
		m.over = nil
	}
	if cmd, ok := m.screenCommand(text); ok {
		return cmd
	}
	if m.stepping && m.stopped == nil && m.job != nil {
		m.held = append(m.held, text)
		return nil
	}
	if m.stopped != nil {
		return m.evaluate(text)
	}
	m.view.follow = true
	c := m.nb.append(text)
	c.breaks, m.inputBreaks = m.inputBreaks, nil
	return m.enqueue(c)
}

func themeNames() []string {
	var list []string
	for _, t := range Themes() {
		list = append(list, t.Name)
	}
	return list
}

func (m *Model) themeCommand(arg string) tea.Cmd {
	if t, ok := ThemeNamed(arg); ok {
		m.setTheme(t)
		m.say("theme %s: %s; ui.theme in config.toml keeps it", t.Name, t.Doc)
		return nil
	}
	m.say("themes: %s", strings.Join(themeNames(), ", "))
	return nil
}

func (m *Model) runCommand(arg string) tea.Cmd {
	switch from, isFrom := strings.CutPrefix(arg, "from "); {
	case arg == "all":
		return m.runAll()
	case arg == "stale":
		return m.runStale()
	case isFrom:
		if i := m.cellNumbered(from); i >= 0 {
			return m.enqueue(m.nb.cells[i:]...)
		}
	default:
		if i := m.cellNumbered(arg); i >= 0 {
			return m.enqueue(m.nb.cells[i])
		}
	}
	return nil
}

// cellNumbered finds the cell that ran as In[n], for a text; -1 with a note when there is none.
func (m *Model) cellNumbered(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if c := m.nb.byCount(n); err == nil && c != nil && n > 0 {
		return m.nb.index(c)
	}
	m.say("there is no cell In[%s]: a number, all, stale or from N", text)
	return -1
}

func (m *Model) editCommand(arg string) tea.Cmd {
	i := len(m.nb.cells) - 1
	if arg != "" {
		i = m.cellNumbered(arg)
	}
	m.edit(i)
	return nil
}

func (m *Model) clearAll() {
	for _, c := range m.nb.cells {
		if c.status != running && c.status != queued {
			c.outputs = nil
			c.touch()
		}
	}
	m.say("%s kept, their output dropped", viz.Plural(len(m.nb.cells), "cell"))
}

// debugRerun runs the selected cell again in the mode that checks before each operation.
func (m *Model) debugRerun() tea.Cmd {
	if len(m.nb.cells) == 0 {
		return nil
	}
	return tea.Batch(m.run(":mode debug"), m.enqueue(m.nb.cells[m.selected]))
}
