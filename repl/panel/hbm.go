package panel

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// HBM shows who holds the memory of the device.
type HBM struct {
	m      *inspect.Memory
	form   int // what the list shows: index into hbmForms
	order  int // of blocks and owners: index into hbmOrders
	owners list
	blocks list
	names  list
}

// hbmForms are the lists of the panel.
var hbmForms = [...]string{"owners", "blocks", "names"}

// hbmOrders are what rows can be sorted by.
var hbmOrders = [...]string{"size", "padding", "place"}

// NewHBM makes the panel.
func NewHBM() *HBM { return &HBM{} }

// Name implements Panel.
func (*HBM) Name() string { return "hbm" }

// Title implements Panel.
func (*HBM) Title() string { return "HBM" }

// Wants implements Panel.
func (*HBM) Wants() (string, any) { return "hbm", nil }

// Load implements Panel.
func (p *HBM) Load(data json.RawMessage) error {
	if err := decode(data, &p.m); err != nil {
		return err
	}
	p.sort()
	return nil
}

// sort orders the rows and tells the lists what they stand for. Blocks keep
// pointing at their owners.
func (p *HBM) sort() {
	m := p.m
	owners := make([]int, len(m.Owners))
	for i := range owners {
		owners[i] = i
	}
	slices.SortStableFunc(owners, func(a, b int) int {
		x, y := &m.Owners[a], &m.Owners[b]
		switch hbmOrders[p.order] {
		case "padding":
			return cmp.Compare(y.PaddingBytes, x.PaddingBytes)
		case "place":
			return cmp.Or(cmp.Compare(x.Frame.Cell, y.Frame.Cell), cmp.Compare(x.Frame.Line, y.Frame.Line), cmp.Compare(x.Place, y.Place))
		}
		return cmp.Compare(y.Bytes, x.Bytes)
	})
	place := make([]int, len(owners))
	sorted := make([]inspect.MemoryOwner, len(owners))
	for i, o := range owners {
		place[o] = i
		sorted[i] = m.Owners[o]
	}
	m.Owners = sorted
	for i := range m.Blocks {
		m.Blocks[i].Owner = place[m.Blocks[i].Owner]
	}
	largest := make([]*inspect.MemoryBlock, len(sorted))
	blocks := make([]Selection, len(m.Blocks))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		blocks[i] = ofBlock(b)
		if l := largest[b.Owner]; l == nil || b.Size > l.Size {
			largest[b.Owner] = b
		}
	}
	rows := make([]Selection, len(sorted))
	for i, b := range largest {
		if b != nil {
			rows[i] = ofBlock(b)
		}
	}
	p.owners.set(rows)
	p.blocks.set(blocks)
	names := make([]Selection, len(m.Names))
	for i, n := range m.Names {
		for k := range m.Blocks {
			if slices.Contains(m.Blocks[k].Names, n.Name) {
				names[i] = ofBlock(&m.Blocks[k])
				break
			}
		}
	}
	p.names.set(names)
}

func ofBlock(b *inspect.MemoryBlock) Selection {
	return Selection{Op: b.Op, Group: b.Group, Value: b.Value, Cell: b.Cell, Line: b.Line, Address: b.Addr + 1}
}

// list is the list that is shown.
func (p *HBM) list() *list { return []*list{&p.owners, &p.blocks, &p.names}[p.form] }

// View implements Panel.
func (p *HBM) View(ctx Context, w, h int) []string {
	m := p.m
	if m == nil {
		return empty(ctx, w, h, head{"HBM", ""}, waiting)
	}
	top := head{"HBM " + m.Chip, viz.Bytes(m.UsedBytes) + " of " + viz.Bytes(m.LimitBytes)}
	if s := m.State(); s != "" {
		top.note += "  " + s
	}
	gauge := m.Gauge()
	gauge.Text = "peak " + viz.Bytes(m.PeakBytes)
	if s := m.State(); s != "" {
		gauge.Text += "  " + s
	}
	parts := []viz.StackPart{{Drawing: gauge, Min: 1, Max: 1}}
	if m.UsedBytes == 0 {
		parts = append(parts, viz.StackPart{Drawing: paragraph{"nothing is on the device: a tensor takes HBM when it is computed", viz.Dim}, Min: 1})
		return stack(ctx, w, h, top, parts...)
	}
	if len(m.Points) > 1 {
		lines := 1
		if h >= 30 {
			lines = 3
		}
		parts = append(parts, viz.StackPart{Drawing: m.History(), Min: lines, Max: lines})
	}
	bm := m.Map()
	if own, ok := p.chosenOwner(); ok && ctx.Focused && own < len(bm.Classes) {
		bm.Classes[own].Meaning = viz.Hot
	}
	rows := max(1, min(8, h/6))
	need := bm.Height(w) - 4 + rows
	if h >= 16 {
		parts = append(parts, viz.StackPart{Drawing: bm, Min: min(need, h/2), Max: need})
	} else {
		parts = append(parts, viz.StackPart{Drawing: paragraph{m.Note(), viz.Normal}, Min: 1, Max: 2})
	}
	title := viz.Lines{Rows: [][]viz.Piece{{
		{Text: "by " + strings.TrimSuffix(hbmForms[p.form], "s"), Meaning: viz.Strong},
		{Text: "  sorted by " + hbmOrders[p.order] + "  " + ctx.hint("hbm-view", "other view", "hbm-sort", "sort"), Meaning: viz.Dim},
	}}}
	parts = append(parts, viz.StackPart{Drawing: title, Min: 1, Max: 1}, viz.StackPart{Drawing: p.table(ctx), Min: 2, Grow: true})
	if card := m.Holders(4); card != nil && h >= 20 {
		parts = append(parts, viz.StackPart{Drawing: viz.Lines{Rows: card}, Min: 1, Max: len(card)})
	}
	p.list().page = max(1, h/2)
	return stack(ctx, w, h, top, parts...)
}

// chosenOwner is the owner of the row under the cursor.
func (p *HBM) chosenOwner() (int, bool) {
	switch p.form {
	case 0:
		return p.owners.at, len(p.m.Owners) > 0
	case 1:
		if p.blocks.at < len(p.m.Blocks) {
			return p.m.Blocks[p.blocks.at].Owner, true
		}
	}
	return 0, false
}

func (p *HBM) table(ctx Context) viz.Table {
	m := p.m
	var tb viz.Table
	switch hbmForms[p.form] {
	case "owners":
		tb = m.Table(0)
	case "blocks":
		tb.Columns = []viz.Column{{}, {Title: "at", Right: true}, {Title: "HBM", Right: true}, {Title: "padding", Right: true, Drop: 2}, {Title: "type", Drop: 3}, {Title: "held by"}, {Title: "line", Meaning: viz.Place, Drop: 1}}
		for i := range m.Blocks {
			b := &m.Blocks[i]
			tb.Rows = append(tb.Rows, []string{inspect.Letter(b.Owner), viz.BytesShort(b.Addr), viz.Bytes(b.Size), viz.Bytes(b.Size - b.Bytes),
				strings.TrimSpace(b.What + " " + b.Spec), p.heldBy(b), m.Owners[b.Owner].Place})
		}
	case "names":
		tb.Columns = []viz.Column{{Title: "name"}, {Title: "HBM", Right: true}, {Title: ":free gives", Right: true}, {Title: "why less", Drop: 1}}
		for _, n := range m.Names {
			why := ""
			if n.OnlyHere < n.Bytes {
				why = "other names lead there too"
			}
			tb.Rows = append(tb.Rows, []string{n.Name, viz.Bytes(n.Bytes), viz.Bytes(n.OnlyHere), why})
		}
	}
	tb.Choose, tb.Marked = true, p.list().at
	if !ctx.Focused {
		tb.Marked = -1
	}
	return tb
}

func (p *HBM) heldBy(b *inspect.MemoryBlock) string {
	switch {
	case len(b.Names) > 0:
		return strings.Join(b.Names, " ")
	case !p.m.NamesKnown:
		return "?"
	}
	return "no name"
}

// Do implements Panel.
func (p *HBM) Do(action string) (Effect, bool) {
	l := p.list()
	if l.move(action) {
		return Effect{}, true
	}
	switch action {
	case "choose":
		s, ok := l.now()
		return selected(s, ok), true
	case "view":
		now, ok := l.now()
		p.form = (p.form + 1) % len(hbmForms)
		if ok {
			p.list().choose(now)
		}
		return Effect{}, true
	case "sort":
		p.order = (p.order + 1) % len(hbmOrders)
		if p.m != nil {
			p.sort()
		}
		return Effect{}, true
	case "free":
		if hbmForms[p.form] == "names" && p.m != nil && l.at < len(p.m.Names) {
			return Effect{Command: ":free " + p.m.Names[l.at].Name, Refresh: true}, true
		}
		return Effect{}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*HBM) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "view"}, Action{Name: "sort"}, Action{Name: "free"})
}

// Select implements Panel.
func (p *HBM) Select(s Selection) {
	p.owners.choose(s)
	p.blocks.choose(s)
	p.names.choose(s)
}
