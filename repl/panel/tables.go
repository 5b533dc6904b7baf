package panel

import (
	"encoding/json"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Roofline shows how fast kernels ran, under the ceilings of the chip.
type Roofline struct{ table[inspect.Roofline] }

// NewRoofline makes the panel.
func NewRoofline() *Roofline {
	return &Roofline{table[inspect.Roofline]{rows: func(r *inspect.Roofline, _ func(...string) bool) ([]int, []Selection) {
		sels := make([]Selection, len(r.Kernels))
		for i := range r.Kernels {
			k := &r.Kernels[i]
			sels[i] = Selection{Group: k.Group, Cell: k.At.Cell, Line: k.At.Line}
			if n := len(k.Ops); n > 0 {
				sels[i].Op = k.Ops[n-1]
			}
		}
		return every(len(sels)), sels
	}}}
}

// Name implements Panel.
func (*Roofline) Name() string { return "roofline" }

// Title implements Panel.
func (*Roofline) Title() string { return "Roofline" }

// Wants implements Panel.
func (*Roofline) Wants() (string, any) { return "roofline", nil }

// View implements Panel.
func (p *Roofline) View(ctx Context, w, h int) []string {
	top := head{title: "ROOFLINE"}
	if p.data == nil {
		return empty(ctx, w, h, top, waiting)
	}
	if len(p.data.Kernels) == 0 {
		return empty(ctx, w, h, top, "no kernel ran yet: x := tpu.Ones(256, 256).MatMul(tpu.Ones(256, 256)) runs one")
	}
	marked := p.mark(ctx)
	tb := p.data.Table()
	tb.Choose, tb.Marked = true, marked
	p.list.page = max(1, h/3)
	parts := []viz.StackPart{{Drawing: paragraph{p.data.Summary(), viz.Normal}, Min: 1, Max: 2}}
	if h >= 14 && w >= 40 {
		lines := max(8, h/2)
		parts = append(parts, viz.StackPart{Drawing: p.data.Drawing(marked), Min: lines, Max: lines})
	}
	return stack(ctx, w, h, top, append(parts, viz.StackPart{Drawing: tb, Min: 2, Grow: true})...)
}

// Actions implements Panel.
func (*Roofline) Actions() []Action {
	return listActions(Action{Name: "choose"})
}

// Select implements Panel: also an op inside of a kernel selects it.
func (p *Roofline) Select(s Selection) {
	if p.data != nil && s.Op != 0 {
		for i := range p.data.Kernels {
			if has(p.data.Kernels[i].Ops, s.Op) {
				p.list.at, p.list.sel = i, Selection{}
				return
			}
		}
	}
	p.list.choose(s)
}

// Events shows the last events.
type Events struct {
	table[inspect.Events]
	end bool // the cursor stays on the newest
}

// NewEvents makes the panel: it follows the newest event. The kernel filters.
func NewEvents() *Events {
	return &Events{end: true, table: table[inspect.Events]{rows: func(e *inspect.Events, _ func(...string) bool) ([]int, []Selection) {
		sels := make([]Selection, len(e.Rows))
		for i := range e.Rows {
			r := &e.Rows[i]
			sels[i] = Selection{Op: r.Op, Group: r.Group, Value: r.Value, Cell: r.At.Cell, Line: r.At.Line}
		}
		return every(len(sels)), sels
	}}}
}

// Name implements Panel.
func (*Events) Name() string { return "events" }

// Title implements Panel.
func (*Events) Title() string { return "Events" }

// Wants implements Panel.
func (p *Events) Wants() (string, any) {
	return "events", inspect.EventsArgs{Filter: p.list.filter, Last: listedEvents}
}

// listedEvents is how many events the panel holds.
const listedEvents = 300

// Load implements Panel.
func (p *Events) Load(data json.RawMessage) error {
	wanted := p.list.sel
	if err := p.table.Load(data); err != nil {
		return err
	}
	found := wanted != (Selection{}) && p.list.sel == (Selection{})
	if p.end && !found {
		p.list.at = max(0, len(p.kept)-1)
	}
	return nil
}

// View implements Panel.
func (p *Events) View(ctx Context, w, h int) []string {
	top := head{title: "EVENTS"}
	if p.data == nil {
		return empty(ctx, w, h, top, waiting)
	}
	top.note = p.data.Summary()
	if p.list.filter != "" {
		top.title += " with " + p.list.filter
	}
	if len(p.data.Rows) == 0 {
		why := "nothing has happened yet: run a cell"
		switch {
		case p.list.filter != "":
			why = "no event matches " + p.list.filter + "; an empty filter shows all"
		case p.data.Off:
			why = "recording is off: :trace on switches it on"
		}
		return empty(ctx, w, h, top, why)
	}
	tb := p.data.Table()
	tb.Choose, tb.Marked = true, p.list.at
	p.list.page = max(1, h-3)
	return stack(ctx, w, h, top, viz.StackPart{Drawing: tb, Min: 2, Grow: true})
}

// Do implements Panel.
func (p *Events) Do(action string) (Effect, bool) {
	e, ok := p.table.Do(action)
	switch {
	case strings.HasPrefix(action, "filter"):
		p.end = true
	case ok && action != "choose":
		p.end = p.list.at == len(p.kept)-1
	}
	return e, ok
}

// Actions implements Panel.
func (*Events) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "filter", Arg: "part of a kind or name, gN, #N or In[N]"})
}

// Select implements Panel.
func (p *Events) Select(s Selection) {
	p.end = false
	p.list.choose(s)
}

// Cache shows the compilation cache.
type Cache struct{ table[inspect.Cache] }

// NewCache makes the panel.
func NewCache() *Cache {
	return &Cache{table[inspect.Cache]{rows: func(c *inspect.Cache, keeps func(...string) bool) (kept []int, sels []Selection) {
		for i := range c.Entries {
			if e := &c.Entries[i]; keeps(e.Name, e.Key, e.Why, e.Inputs) {
				kept, sels = append(kept, i), append(sels, Selection{Group: e.UsedAt})
			}
		}
		return kept, sels
	}}}
}

// Name implements Panel.
func (*Cache) Name() string { return "cache" }

// Title implements Panel.
func (*Cache) Title() string { return "Cache" }

// Wants implements Panel.
func (*Cache) Wants() (string, any) { return "cache", nil }

// View implements Panel.
func (p *Cache) View(ctx Context, w, h int) []string {
	top := head{title: "CACHE"}
	if p.data == nil {
		return empty(ctx, w, h, top, waiting)
	}
	if len(p.data.Entries) == 0 {
		return empty(ctx, w, h, top, "no program was compiled yet: the first launch compiles one, the same again is a hit")
	}
	if len(p.kept) == 0 {
		return empty(ctx, w, h, top, "no program matches "+p.list.filter+"; an empty filter shows all")
	}
	all := p.data.Table()
	tb := viz.Table{Columns: all.Columns, Choose: true, Marked: p.mark(ctx)}
	for _, i := range p.kept {
		tb.Rows = append(tb.Rows, all.Rows[i])
	}
	p.list.page = max(1, h-8)
	parts := []viz.StackPart{{Drawing: paragraph{p.data.Rate(), viz.Normal}, Min: 1, Max: 2}, {Drawing: tb, Min: 2, Grow: true}}
	if reasons := p.data.Reasons(); h >= 12 {
		parts = append(parts, viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Strong, "compiled because")}}, Min: 1},
			viz.StackPart{Drawing: reasons, Min: 1, Max: min(len(reasons.Rows), h/4)})
	}
	return stack(ctx, w, h, top, parts...)
}

// Actions implements Panel.
func (*Cache) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "filter", Arg: "part of a name, key, shape or reason"})
}
