package panel

import (
	"cmp"
	"slices"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Variables shows what the session holds by name.
type Variables struct {
	table[inspect.Variables]
	order int // index into varOrders
}

// varOrders are what variables can be sorted by.
var varOrders = [...]string{"name", "HBM", "cell"}

// NewVariables makes the panel.
func NewVariables() *Variables {
	p := &Variables{}
	p.table = table[inspect.Variables]{rows: p.sorted, fresh: true}
	return p
}

// Name implements Panel.
func (*Variables) Name() string { return "vars" }

// Title implements Panel.
func (*Variables) Title() string { return "Variables" }

// Wants implements Panel: the tensor under the cursor comes with its statistics.
func (p *Variables) Wants() (string, any) {
	args := inspect.VariablesArgs{}
	if i, ok := p.at(); ok {
		args.Detail = p.data.Rows[i].Name
	}
	return "vars", args
}

// sorted orders the variables that the filter lets through.
func (p *Variables) sorted(v *inspect.Variables, keeps func(...string) bool) ([]int, []Selection) {
	var kept []int
	for i := range v.Rows {
		if r := &v.Rows[i]; keeps(r.Name, r.Type, r.State) {
			kept = append(kept, i)
		}
	}
	slices.SortStableFunc(kept, func(x, y int) int {
		a, b := &v.Rows[x], &v.Rows[y]
		switch varOrders[p.order] {
		case "HBM":
			return cmp.Compare(b.HBMBytes, a.HBMBytes)
		case "cell":
			return cmp.Compare(b.Cell, a.Cell)
		}
		return cmp.Compare(a.Name, b.Name)
	})
	sels := make([]Selection, len(kept))
	for k, i := range kept {
		r := &v.Rows[i]
		sels[k] = Selection{Op: r.Op, Group: r.Group, Value: r.Value, Cell: r.Cell, Line: r.Line, Address: r.Address + 1, Name: r.Name}
	}
	return kept, sels
}

// View implements Panel.
func (p *Variables) View(ctx Context, w, h int) []string {
	top := head{title: "VARIABLES"}
	if p.data == nil {
		return empty(ctx, w, h, top, waiting)
	}
	tensors := 0
	for i := range p.data.Rows {
		if p.data.Rows[i].Tensor {
			tensors++
		}
	}
	top.note = viz.Plural(tensors, "tensor") + " " + viz.Bytes(p.data.HBMBytes) + ", " + viz.Plural(len(p.data.Rows)-tensors, "Go value")
	if p.data.Before {
		top.note += ", as before the running cell"
	}
	if len(p.data.Rows) == 0 {
		return empty(ctx, w, h, top, "no variables: x := tpu.Ones(2, 3) makes one")
	}
	if len(p.kept) == 0 {
		return empty(ctx, w, h, top, "no variable matches "+p.list.filter+"; an empty filter shows all")
	}
	p.list.page = max(1, h-8)
	tb := viz.Table{
		Columns: []viz.Column{{Title: "name"}, {Title: "type"}, {Title: "HBM", Right: true, Drop: 2}, {Title: "from", Meaning: viz.Place, Drop: 1}, {Title: "value"}},
		Choose:  true, Marked: p.mark(ctx), Meanings: make([]viz.Meaning, len(p.kept)),
	}
	for k, i := range p.kept {
		r := &p.data.Rows[i]
		size := ""
		if r.Tensor {
			size = viz.BytesShort(r.HBMBytes)
		}
		tb.Rows = append(tb.Rows, []string{r.Name, r.Type, size, r.From(), r.What()})
		switch r.State {
		case "deferred", "pending", "swallowed":
			tb.Meanings[k] = viz.Wait
		case "failed":
			tb.Meanings[k] = viz.Bad
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
	if i, ok := p.at(); ok && p.data.Detail != nil && p.data.Rows[i].Name == p.data.Detail.Name {
		return p.data.Detail
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
	switch action {
	case "inspect":
		if i, ok := p.at(); ok {
			return Effect{Command: ":inspect " + p.data.Rows[i].Name}, true
		}
		return Effect{}, true
	case "sort":
		p.order = (p.order + 1) % len(varOrders)
		p.arrange()
		return Effect{}, true
	}
	return p.table.Do(action)
}

// Actions implements Panel.
func (*Variables) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "inspect"}, Action{Name: "sort"}, Action{Name: "filter", Arg: "part of a name, type or state"})
}
