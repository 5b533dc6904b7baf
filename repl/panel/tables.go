package panel

import (
	"encoding/json"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Roofline shows how fast kernels ran, under the ceilings of the chip.
type Roofline struct {
	r    *inspect.Roofline
	list list
}

// NewRoofline makes the panel.
func NewRoofline() *Roofline { return &Roofline{} }

// Name implements Panel.
func (*Roofline) Name() string { return "roofline" }

// Title implements Panel.
func (*Roofline) Title() string { return "Roofline" }

// Wants implements Panel.
func (*Roofline) Wants() (string, any) { return "roofline", nil }

// Load implements Panel.
func (p *Roofline) Load(data json.RawMessage) error {
	var r inspect.Roofline
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	p.r = &r
	sels := make([]Selection, len(r.Kernels))
	for i := range r.Kernels {
		k := &r.Kernels[i]
		sels[i] = Selection{Group: k.Group, Cell: k.At.Cell, Line: k.At.Line}
		if n := len(k.Ops); n > 0 {
			sels[i].Op = k.Ops[n-1]
		}
	}
	p.list.set(sels)
	return nil
}

// View implements Panel.
func (p *Roofline) View(ctx Context, w, h int) []string {
	top := head{title: "ROOFLINE"}
	if p.r == nil {
		return empty(ctx, w, h, top, waiting)
	}
	if len(p.r.Kernels) == 0 {
		return empty(ctx, w, h, top, "no kernel ran yet: x := tpu.Ones(256, 256).MatMul(tpu.Ones(256, 256)) runs one")
	}
	marked := -1
	if ctx.Focused {
		marked = p.list.at
	}
	tb := p.r.Table()
	tb.Choose, tb.Marked = true, marked
	p.list.page = max(1, h/3)
	parts := []viz.StackPart{{Drawing: paragraph{p.r.Summary(), viz.Normal}, Min: 1, Max: 2}}
	if h >= 14 && w >= 40 {
		lines := max(8, h/2)
		parts = append(parts, viz.StackPart{Drawing: p.r.Drawing(marked), Min: lines, Max: lines})
	}
	return stack(ctx, w, h, top, append(parts, viz.StackPart{Drawing: tb, Min: 2, Grow: true})...)
}

// Do implements Panel.
func (p *Roofline) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		return Effect{}, true
	}
	if action == "enter" {
		s, ok := p.list.now()
		return selected(s, ok), true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Roofline) Actions() []Action {
	return append(listActions(), Action{"enter", "enter", "", "select the kernel's last op and show its line"})
}

// Select implements Panel: also an op inside of a kernel selects it.
func (p *Roofline) Select(s Selection) {
	if p.r != nil && s.Op != 0 {
		for i := range p.r.Kernels {
			if has(p.r.Kernels[i].Ops, s.Op) {
				p.list.at, p.list.sel = i, Selection{}
				return
			}
		}
	}
	p.list.choose(s)
}

// Events shows the last events.
type Events struct {
	e    *inspect.Events
	list list
	end  bool // the cursor stays on the newest
}

// NewEvents makes the panel: it follows the newest event.
func NewEvents() *Events { return &Events{end: true} }

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
	var e inspect.Events
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	p.e = &e
	sels := make([]Selection, len(e.Rows))
	for i := range e.Rows {
		r := &e.Rows[i]
		sels[i] = Selection{Op: r.Op, Group: r.Group, Value: r.Value, Cell: r.At.Cell, Line: r.At.Line}
	}
	found := p.list.sel != (Selection{}) && p.list.find(p.list.sel)
	p.list.set(sels)
	if p.end && !found {
		p.list.at = max(0, len(sels)-1)
	}
	return nil
}

// View implements Panel.
func (p *Events) View(ctx Context, w, h int) []string {
	top := head{title: "EVENTS"}
	if p.e == nil {
		return empty(ctx, w, h, top, waiting)
	}
	top.note = p.e.Summary()
	if p.list.filter != "" {
		top.title += " with " + p.list.filter
	}
	if len(p.e.Rows) == 0 {
		why := "nothing has happened yet: run a cell"
		switch {
		case p.list.filter != "":
			why = "no event matches " + p.list.filter + "; an empty filter shows all"
		case p.e.Off:
			why = "recording is off: :trace on switches it on"
		}
		return empty(ctx, w, h, top, why)
	}
	tb := p.e.Table()
	tb.Choose, tb.Marked = true, p.list.at
	p.list.page = max(1, h-3)
	return stack(ctx, w, h, top, viz.StackPart{Drawing: tb, Min: 2, Grow: true})
}

// Do implements Panel.
func (p *Events) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		p.end = p.list.at == len(p.list.rows)-1
		return Effect{}, true
	}
	name, arg, _ := strings.Cut(action, " ")
	switch name {
	case "enter":
		s, ok := p.list.now()
		return selected(s, ok), true
	case "filter":
		p.list.filter, p.end = strings.TrimSpace(arg), true
		return Effect{Refresh: true}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Events) Actions() []Action {
	return append(listActions(),
		Action{"enter", "enter", "", "select what the event is about and show its line"},
		Action{"filter", "/", "part of a kind or name, gN, #N or In[N]", "show only what matches"},
	)
}

// Select implements Panel.
func (p *Events) Select(s Selection) {
	p.end = false
	p.list.choose(s)
}

// Cache shows the compilation cache.
type Cache struct {
	c    *inspect.Cache
	list list
	rows []int
}

// NewCache makes the panel.
func NewCache() *Cache { return &Cache{} }

// Name implements Panel.
func (*Cache) Name() string { return "cache" }

// Title implements Panel.
func (*Cache) Title() string { return "Cache" }

// Wants implements Panel.
func (*Cache) Wants() (string, any) { return "cache", nil }

// Load implements Panel.
func (p *Cache) Load(data json.RawMessage) error {
	var c inspect.Cache
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	p.c = &c
	p.arrange()
	return nil
}

func (p *Cache) arrange() {
	if p.c == nil {
		return
	}
	p.rows = nil
	var sels []Selection
	for i := range p.c.Entries {
		e := &p.c.Entries[i]
		if p.list.keeps(e.Name, e.Key, e.Why, e.Inputs) {
			p.rows = append(p.rows, i)
			sels = append(sels, Selection{Group: e.UsedAt})
		}
	}
	p.list.set(sels)
}

// View implements Panel.
func (p *Cache) View(ctx Context, w, h int) []string {
	top := head{title: "CACHE"}
	if p.c == nil {
		return empty(ctx, w, h, top, waiting)
	}
	if len(p.c.Entries) == 0 {
		return empty(ctx, w, h, top, "no program was compiled yet: the first launch compiles one, the same again is a hit")
	}
	if len(p.rows) == 0 {
		return empty(ctx, w, h, top, "no program matches "+p.list.filter+"; an empty filter shows all")
	}
	all := p.c.Table()
	tb := viz.Table{Columns: all.Columns, Choose: true, Marked: p.list.at}
	if !ctx.Focused {
		tb.Marked = -1
	}
	for _, i := range p.rows {
		tb.Rows = append(tb.Rows, all.Rows[i])
	}
	p.list.page = max(1, h-8)
	parts := []viz.StackPart{{Drawing: paragraph{p.c.Rate(), viz.Normal}, Min: 1, Max: 2}, {Drawing: tb, Min: 2, Grow: true}}
	if reasons := p.c.Reasons(); h >= 12 {
		parts = append(parts, viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Strong, "compiled because")}}, Min: 1},
			viz.StackPart{Drawing: reasons, Min: 1, Max: min(len(reasons.Rows), h/4)})
	}
	return stack(ctx, w, h, top, parts...)
}

// Do implements Panel.
func (p *Cache) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		return Effect{}, true
	}
	name, arg, _ := strings.Cut(action, " ")
	switch name {
	case "enter":
		s, ok := p.list.now()
		return selected(s, ok), true
	case "filter":
		p.list.filter = strings.TrimSpace(arg)
		p.arrange()
		return Effect{}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Cache) Actions() []Action {
	return append(listActions(),
		Action{"enter", "enter", "", "select the group that ran the program last"},
		Action{"filter", "/", "part of a name, key, shape or reason", "show only what matches"},
	)
}

// Select implements Panel.
func (p *Cache) Select(s Selection) { p.list.choose(s) }
