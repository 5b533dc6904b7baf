package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tpush/tpush/repl/command"
	"github.com/tpush/tpush/repl/config"
)

// openPalette lists every action and every command.
func (m *Model) openPalette() {
	var items []item
	for _, a := range config.Actions() {
		if a.Context == config.Popup || m.actions[a.Name] == nil {
			continue
		}
		items = append(items, item{text: a.Name + "  " + a.Doc, note: strings.Join(m.keys.Keys(a.Name), " "), do: func(m *Model) tea.Cmd { return m.actIn(a) }})
	}
	for _, c := range screenCommands() {
		items = append(items, item{text: strings.TrimSpace(":"+c.name+" "+c.args) + "  " + c.doc, do: commandItem(c.name, c.args)})
	}
	for _, c := range command.All() {
		items = append(items, item{text: strings.TrimSpace(":"+c.Name+" "+c.Args) + "  " + c.Doc, detail: c.Help, do: commandItem(c.Name, c.Args)})
	}
	m.over = newPicker("commands and keys", items, "")
}

// commandItem runs a command, or begins to type it when it must have arguments.
func commandItem(name, args string) func(m *Model) tea.Cmd {
	return func(m *Model) tea.Cmd {
		m.toInput()
		if args == "" || strings.HasPrefix(args, "[") {
			return m.run(":" + name)
		}
		m.input.Reset(":" + name + " ")
		return nil
	}
}

// actIn does an action in the place where it means something.
func (m *Model) actIn(a config.Action) tea.Cmd {
	switch a.Context {
	case config.Editor:
		if m.text() == nil {
			m.toInput()
		}
	case config.Cells:
		if m.focus != onCells {
			m.escape()
		}
	default:
		if slices.Contains(config.Panels(), a.Context) {
			opened := m.openPanel(string(a.Context))
			return tea.Batch(opened, m.act(a.Name))
		}
	}
	return m.act(a.Name)
}

// showKeys lists the keys as they are in force.
func (m *Model) showKeys() {
	t := &m.theme
	var lines []string
	for _, c := range config.Contexts() {
		lines = append(lines, "", paint(t.Title, contextTitles[c]))
		for _, a := range config.Actions() {
			if a.Context == c {
				lines = append(lines, fmt.Sprintf("  %s  %-20s  %s", paint(t.Key, fmt.Sprintf("%-28s", strings.Join(m.keys.Keys(a.Name), "  "))), a.Name, a.Doc))
			}
		}
	}
	m.over = newPager("keys; each is set by its name under [keys] in config.toml", func() []string { return lines[1:] })
}

var contextTitles = map[config.Context]string{
	config.Global: "everywhere", config.Editor: "typing", config.Cells: "cell mode (Esc)", config.Popup: "in a list", config.Panel: "in every panel",
	config.HBM: "in the HBM panel", config.Vars: "in the variables panel", config.Fusion: "in the fusion panel", config.Trace: "in the trace panel",
	config.Graph: "in the graph panel", config.Roofline: "in the roofline panel", config.Events: "in the events panel", config.Cache: "in the cache panel",
	config.XLA: "in the panel of the TPU compiler", config.Debug: "in the breakpoints, stack and watches panel", config.Help: "in the help panel",
}
