package panel

import (
	"encoding/json"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Help lists commands and keys, and searches them.
type Help struct {
	// Keys are the keys of the screen; those of the panels are known.
	Keys []inspect.HelpRow

	commands *inspect.Help
	rows     []inspect.HelpRow // that the filter lets through
	list     list
}

// NewHelp makes the panel.
func NewHelp() *Help {
	p := &Help{}
	p.arrange()
	return p
}

// Name implements Panel.
func (*Help) Name() string { return "help" }

// Title implements Panel.
func (*Help) Title() string { return "Help" }

// Wants implements Panel.
func (*Help) Wants() (string, any) { return "help", nil }

// Load implements Panel.
func (p *Help) Load(data json.RawMessage) error {
	var h inspect.Help
	if err := json.Unmarshal(data, &h); err != nil {
		return err
	}
	p.commands = &h
	p.arrange()
	return nil
}

func (p *Help) arrange() {
	var all []inspect.HelpRow
	if p.commands != nil {
		all = append(all, p.commands.Rows...)
	}
	all = append(all, p.Keys...)
	for _, x := range others() {
		for _, a := range x.Actions() {
			all = append(all, inspect.HelpRow{Group: "keys of " + x.Name(), Name: a.Key, Args: a.Arg, Doc: a.Name + ": " + a.Doc})
		}
	}
	p.rows = nil
	for _, r := range all {
		if p.list.keeps(r.Name, r.Doc, r.Group, r.Args) {
			p.rows = append(p.rows, r)
		}
	}
	p.list.rows = make([]Selection, len(p.rows))
	p.list.clamp()
}

// others are the panels whose keys are listed.
func others() []Panel {
	return []Panel{NewHBM(), NewVariables(), NewFusion(), NewTrace(), NewGraph(), NewRoofline(), NewEvents(), NewCache(), NewDebug()}
}

// View implements Panel.
func (p *Help) View(ctx Context, w, h int) []string {
	top := head{"HELP", "commands and keys"}
	if p.list.filter != "" {
		top.note = "matching " + p.list.filter
	}
	if len(p.rows) == 0 {
		return empty(ctx, w, h, top, "nothing matches "+p.list.filter+"; an empty filter shows all")
	}
	p.list.page = max(1, h-6)
	tb := viz.Table{Columns: []viz.Column{{Meaning: viz.Strong}, {Meaning: viz.Place, Drop: 2}, {Least: 40}, {Meaning: viz.Dim, Drop: 1}}, Choose: true, Marked: p.list.at}
	if !ctx.Focused {
		tb.Marked = -1
	}
	for _, r := range p.rows {
		tb.Rows = append(tb.Rows, []string{r.Name, r.Args, r.Doc, r.Group})
	}
	parts := []viz.StackPart{{Drawing: tb, Min: 2, Grow: true}}
	if r := p.rows[p.list.at]; h >= 10 {
		text := strings.TrimSpace(r.Name+" "+r.Args) + ": " + r.Doc
		if r.Example != "" {
			text += "\nfor example  " + strings.ReplaceAll(r.Example, "\n", "  ")
		}
		parts = append(parts, viz.StackPart{Drawing: paragraph{text, viz.Normal}, Min: 1, Max: 4})
	}
	return stack(ctx, w, h, top, parts...)
}

// Do implements Panel.
func (p *Help) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		return Effect{}, true
	}
	name, arg, _ := strings.Cut(action, " ")
	switch name {
	case "enter":
		if p.list.at < len(p.rows) && strings.HasPrefix(p.rows[p.list.at].Name, ":") {
			return Effect{Command: ":help " + strings.TrimPrefix(p.rows[p.list.at].Name, ":")}, true
		}
		return Effect{}, true
	case "filter":
		p.list.filter, p.list.at = strings.TrimSpace(arg), 0
		p.arrange()
		return Effect{}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Help) Actions() []Action {
	return append(listActions(),
		Action{"enter", "enter", "", "the page of the command, in the notebook"},
		Action{"filter", "/", "a word", "search commands and keys"},
	)
}

// Select implements Panel: help has nothing to select.
func (*Help) Select(Selection) {}
