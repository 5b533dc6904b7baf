package panel

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Variables shows what the session holds by name.
type Variables struct {
	v     *inspect.Variables
	rows  []inspect.Variable // that the filter lets through, in order
	list  list
	order int // index into varOrders
}

// varOrders are what variables can be sorted by.
var varOrders = [...]string{"name", "HBM", "cell"}

// NewVariables makes the panel.
func NewVariables() *Variables { return &Variables{} }

// Name implements Panel.
func (*Variables) Name() string { return "vars" }

// Title implements Panel.
func (*Variables) Title() string { return "Variables" }

// Wants implements Panel: the tensor under the cursor comes with its statistics.
func (p *Variables) Wants() (string, any) {
	args := inspect.VariablesArgs{}
	if p.list.at < len(p.rows) {
		args.Detail = p.rows[p.list.at].Name
	}
	return "vars", args
}

// Load implements Panel.
func (p *Variables) Load(data json.RawMessage) error {
	var v inspect.Variables
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	p.v = &v
	p.arrange()
	return nil
}

func (p *Variables) arrange() {
	if p.v == nil {
		return
	}
	var was string
	if p.list.at < len(p.rows) {
		was = p.rows[p.list.at].Name
	}
	p.rows = nil
	for _, r := range p.v.Rows {
		if p.list.keeps(r.Name, r.Type, r.State) {
			p.rows = append(p.rows, r)
		}
	}
	slices.SortStableFunc(p.rows, func(a, b inspect.Variable) int {
		switch varOrders[p.order] {
		case "HBM":
			return cmp.Compare(b.HBMBytes, a.HBMBytes)
		case "cell":
			return cmp.Compare(b.Cell, a.Cell)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	sels := make([]Selection, len(p.rows))
	at := -1
	for i := range p.rows {
		r := &p.rows[i]
		sels[i] = Selection{Op: r.Op, Group: r.Group, Value: r.Value, Cell: r.Cell, Line: r.Line, Address: r.Address + 1}
		if r.Name == was {
			at = i
		}
	}
	p.list.set(sels)
	if at >= 0 && p.list.sel == (Selection{}) {
		p.list.at = at
	}
}

// View implements Panel.
func (p *Variables) View(ctx Context, w, h int) []string {
	top := head{title: "VARIABLES"}
	if p.v == nil {
		return empty(ctx, w, h, top, waiting)
	}
	tensors := 0
	for i := range p.v.Rows {
		if p.v.Rows[i].Tensor {
			tensors++
		}
	}
	top.note = viz.Count(int64(tensors)) + " tensors " + viz.Bytes(p.v.HBMBytes) + ", " + viz.Count(int64(len(p.v.Rows)-tensors)) + " Go values"
	if p.v.Before {
		top.note += ", as before the running cell"
	}
	if len(p.v.Rows) == 0 {
		return empty(ctx, w, h, top, "no variables: x := tpu.Ones(2, 3) makes one")
	}
	if len(p.rows) == 0 {
		return empty(ctx, w, h, top, "no variable matches "+p.list.filter+"; an empty filter shows all")
	}
	p.list.page = max(1, h-8)
	tb := viz.Table{
		Columns: []viz.Column{{Title: "name"}, {Title: "type"}, {Title: "HBM", Right: true, Drop: 2}, {Title: "from", Meaning: viz.Place, Drop: 1}, {Title: "value"}},
		Choose:  true, Marked: p.list.at, Meanings: make([]viz.Meaning, len(p.rows)),
	}
	if !ctx.Focused {
		tb.Marked = -1
	}
	for i := range p.rows {
		r := &p.rows[i]
		size := ""
		if r.Tensor {
			size = viz.BytesShort(r.HBMBytes)
		}
		tb.Rows = append(tb.Rows, []string{r.Name, r.Type, size, r.From(), r.What()})
		switch r.State {
		case "deferred", "pending", "swallowed":
			tb.Meanings[i] = viz.Wait
		case "failed":
			tb.Meanings[i] = viz.Bad
		}
	}
	parts := []viz.StackPart{}
	if p.list.filter != "" {
		parts = append(parts, viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Dim, "filter "+p.list.filter)}}, Min: 1})
	}
	parts = append(parts, viz.StackPart{Drawing: tb, Min: 2, Grow: true})
	if d := p.detail(); d != nil && h >= 10 {
		parts = append(parts, tensorParts(d, h/2)...)
	}
	return stack(ctx, w, h, top, parts...)
}

// detail is what came with the snapshot for the row under the cursor.
func (p *Variables) detail() *inspect.Tensor {
	if d := p.v.Detail; d != nil && p.list.at < len(p.rows) && p.rows[p.list.at].Name == d.Name {
		return d
	}
	return nil
}

// tensorParts draws a tensor in about room lines.
func tensorParts(t *inspect.Tensor, room int) []viz.StackPart {
	line := func(m viz.Meaning, s string) viz.StackPart {
		return viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(m, s)}}, Min: 1}
	}
	parts := []viz.StackPart{line(viz.Strong, t.Summary())}
	if !t.Known {
		return append(parts, line(viz.Wait, "not computed yet: looking runs nothing"))
	}
	parts = append(parts, line(viz.Normal, t.Statistics()))
	if t.Stats.Elements == 0 {
		return parts
	}
	if room >= 6 && len(t.Hist.Counts) > 0 {
		n := min(7, room-3)
		parts = append(parts, viz.StackPart{Drawing: t.Histogram(), Min: 3, Max: n})
		room -= n
	} else if len(t.Slice.Values) > 1 {
		parts = append(parts, viz.StackPart{Drawing: t.Spark(), Min: 1})
	}
	if room >= 14 && t.Slice.Rows > 1 && t.Slice.Cols > 1 {
		parts = append(parts, line(viz.Dim, "values "+t.Slice.Index), viz.StackPart{Drawing: t.HeatMap(), Min: 3, Max: 12})
	}
	return parts
}

// Do implements Panel.
func (p *Variables) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		return Effect{Refresh: true}, true
	}
	name, arg, _ := strings.Cut(action, " ")
	switch name {
	case "enter":
		s, ok := p.list.now()
		return selected(s, ok), true
	case "inspect":
		if p.list.at < len(p.rows) {
			return Effect{Command: ":inspect " + p.rows[p.list.at].Name}, true
		}
		return Effect{}, true
	case "sort":
		p.order = (p.order + 1) % len(varOrders)
		p.arrange()
		return Effect{}, true
	case "filter":
		p.list.filter = strings.TrimSpace(arg)
		p.arrange()
		return Effect{Refresh: true}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Variables) Actions() []Action {
	return append(listActions(),
		Action{"enter", "enter", "", "select what made the variable and show its line"},
		Action{"inspect", "i", "", "inspect the variable in the notebook"},
		Action{"sort", "s", "", "sort by name, HBM or cell"},
		Action{"filter", "/", "part of a name, type or state", "show only what matches"},
	)
}

// Select implements Panel.
func (p *Variables) Select(s Selection) { p.list.choose(s) }
