package panel

import (
	"encoding/json"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Help lists commands and keys, and searches them.
type Help struct {
	Keys []inspect.HelpRow // those in force, which the screen knows
	table[inspect.Help]
	cells [][]string // of the rows that are kept
}

// NewHelp makes the panel.
func NewHelp() *Help {
	p := &Help{}
	p.table.rows = func(h *inspect.Help, keeps func(...string) bool) ([]int, []Selection) {
		var kept []int
		p.cells = nil
		for i, r := range h.Rows {
			if keeps(r.Name, r.Doc, r.Group, r.Args) {
				kept = append(kept, i)
				p.cells = append(p.cells, []string{r.Name, r.Args, r.Doc, r.Group})
			}
		}
		return kept, make([]Selection, len(kept))
	}
	return p
}

// Name implements Panel.
func (*Help) Name() string { return "help" }

// Title implements Panel.
func (*Help) Title() string { return "Help" }

// Wants implements Panel.
func (*Help) Wants() (string, any) { return "help", nil }

// Load implements Panel: the keys follow the commands.
func (p *Help) Load(data json.RawMessage) error {
	if err := decode(data, &p.data); err != nil {
		return err
	}
	p.data.Rows = append(p.data.Rows, p.Keys...)
	p.arrange()
	return nil
}

// View implements Panel.
func (p *Help) View(ctx Context, w, h int) []string {
	top := head{"HELP", "commands and keys"}
	if p.list.filter != "" {
		top.note = "matching " + p.list.filter
	}
	if p.data == nil {
		return empty(ctx, w, h, top, waiting)
	}
	if len(p.kept) == 0 {
		return empty(ctx, w, h, top, "nothing matches "+p.list.filter+"; an empty filter shows all")
	}
	p.list.page = max(1, h-6)
	tb := viz.Table{Columns: []viz.Column{{Meaning: viz.Strong}, {Meaning: viz.Place, Drop: 2}, {Least: 40}, {Meaning: viz.Dim, Drop: 1}}, Choose: true, Marked: p.mark(ctx), Rows: p.cells}
	parts := []viz.StackPart{{Drawing: tb, Min: 2, Grow: true}}
	if i, ok := p.at(); ok && h >= 10 {
		r := &p.data.Rows[i]
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
	switch i, ok := p.at(); {
	case action == "choose" && ok && strings.HasPrefix(p.data.Rows[i].Name, ":"):
		return Effect{Command: ":help " + strings.TrimPrefix(p.data.Rows[i].Name, ":")}, true
	case action == "choose":
		return Effect{}, true
	}
	return p.table.Do(action)
}

// Actions implements Panel.
func (*Help) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "filter", Arg: "a word"})
}
