package panel

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Fusion shows the fusion groups: what ran, what waits, why each ended.
type Fusion struct {
	f      *inspect.Fusion
	rows   []int // groups that the filter lets through, latest first
	list   list
	open   uint64 // the group whose ops are listed, 0 for none
	ops    list   // of the open group
	unfold bool
}

// NewFusion makes the panel.
func NewFusion() *Fusion { return &Fusion{} }

// Name implements Panel.
func (*Fusion) Name() string { return "fusion" }

// Title implements Panel.
func (*Fusion) Title() string { return "Fusion" }

// Wants implements Panel: the group under the cursor comes with its ops.
func (p *Fusion) Wants() (string, any) {
	return "fusion", inspect.FusionArgs{Unfold: p.unfold, Detail: p.chosen()}
}

// chosen is the group that is open or under the cursor.
func (p *Fusion) chosen() uint64 {
	if p.open != 0 {
		return p.open
	}
	if p.list.at < len(p.rows) {
		return p.f.Groups[p.rows[p.list.at]].Number
	}
	return 0
}

// Load implements Panel.
func (p *Fusion) Load(data json.RawMessage) error {
	if err := decode(data, &p.f); err != nil {
		return err
	}
	p.arrange()
	return nil
}

func (p *Fusion) arrange() {
	if p.f == nil {
		return
	}
	p.rows = nil
	var sels []Selection
	for i := len(p.f.Groups) - 1; i >= 0; i-- {
		g := &p.f.Groups[i]
		if !p.list.keeps(g.Label(), g.Name, g.Where, g.Reason, g.State()) {
			continue
		}
		p.rows = append(p.rows, i)
		sels = append(sels, ofGroup(g))
	}
	p.list.set(sels)
	if d := p.detail(); d != nil {
		ops := make([]Selection, len(d.Ops))
		for i := range d.Ops {
			o := &d.Ops[i]
			ops[i] = Selection{Op: o.Op, Group: d.Group.Number, Cell: o.At.Cell, Line: o.At.Line}
		}
		p.ops.set(ops)
	}
}

// ofGroup is what a group stands for: its last op, at the last of its lines.
func ofGroup(g *inspect.FusionGroup) Selection {
	s := Selection{Group: g.Number}
	if n := len(g.Ops); n > 0 {
		s.Op = g.Ops[n-1]
	}
	if n := len(g.Lines); n > 0 {
		s.Cell, s.Line = g.Lines[n-1].Cell, g.Lines[n-1].Line
	}
	return s
}

// detail is what came with the snapshot, when it is of the chosen group.
func (p *Fusion) detail() *inspect.GroupDetail {
	if p.f != nil && p.f.Detail != nil && p.f.Detail.Group.Number == p.chosen() {
		return p.f.Detail
	}
	return nil
}

// View implements Panel.
func (p *Fusion) View(ctx Context, w, h int) []string {
	top := head{title: "FUSION"}
	if p.f == nil {
		return empty(ctx, w, h, top, waiting)
	}
	top.note = p.f.Mode + " mode, queue " + viz.Plural(p.f.Queued, "op")
	if len(p.f.Groups) == 0 {
		return empty(ctx, w, h, top, "nothing was launched yet: x := tpu.Ones(8).Add(1) launches")
	}
	parts := []viz.StackPart{{Drawing: paragraph{p.f.Summary(), viz.Normal}, Min: 1, Max: 2}}
	if p.list.filter != "" {
		parts = append(parts, viz.StackPart{Drawing: paragraph{"filter " + p.list.filter, viz.Dim}, Min: 1})
	}
	d := p.detail()
	if p.open != 0 && d != nil {
		return stack(ctx, w, h, head{"FUSION " + d.Group.Label() + " " + d.Group.Name, d.Group.State()}, p.opened(ctx, d, h)...)
	}
	if len(p.rows) == 0 {
		return empty(ctx, w, h, top, "no group matches "+p.list.filter+"; an empty filter shows all")
	}
	tb := p.f.Table(0)
	sorted := viz.Table{Columns: tb.Columns, Choose: true, Marked: p.list.at}
	if !ctx.Focused {
		sorted.Marked = -1
	}
	for _, i := range p.rows {
		sorted.Rows = append(sorted.Rows, tb.Rows[i])
		sorted.Meanings = append(sorted.Meanings, tb.Meanings[i])
	}
	p.list.page = max(1, h-10)
	parts = append(parts, viz.StackPart{Drawing: sorted, Min: 3, Grow: true})
	if d != nil && h >= 12 {
		rule := viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Strong, "why "+d.Group.Label()+"  "+ctx.hint("fusion-choose", "lists its ops"))}}
		parts = append(parts, viz.StackPart{Drawing: rule, Min: 1}, viz.StackPart{Drawing: viz.Lines{Rows: d.Explain()}, Min: 2, Max: 6})
		if h >= 30 && len(d.Kernels) > 0 {
			parts = append(parts, viz.StackPart{Drawing: d.KernelTable(), Min: 2, Max: 8})
		}
	}
	return stack(ctx, w, h, top, parts...)
}

// opened draws the ops and kernels of the open group.
func (p *Fusion) opened(ctx Context, d *inspect.GroupDetail, h int) []viz.StackPart {
	ops := d.OpTable(nil)
	ops.Choose, ops.Marked = true, p.ops.at
	if !ctx.Focused {
		ops.Marked = -1
	}
	p.ops.page = max(1, h/2)
	parts := []viz.StackPart{
		{Drawing: viz.Lines{Rows: d.Explain()}, Min: 1, Max: 6},
		{Drawing: ops, Min: 3, Grow: true},
	}
	if len(d.Kernels) > 0 {
		parts = append(parts, viz.StackPart{Drawing: d.KernelTable(), Min: 2, Max: 1 + max(2, h/4)})
	}
	if len(d.Collectives) > 0 {
		parts = append(parts, viz.StackPart{Drawing: d.CollectiveTable(), Min: 2, Max: 1 + max(2, h/4)})
	}
	io := "in " + strings.Join(d.Inputs, " ")
	if len(d.Outputs) > 0 {
		io += "   out " + strings.Join(d.Outputs, " ")
	}
	return append(parts, viz.StackPart{Drawing: paragraph{io, viz.Dim}, Min: 1, Max: 2})
}

// Do implements Panel.
func (p *Fusion) Do(action string) (Effect, bool) {
	l := &p.list
	if p.open != 0 {
		l = &p.ops
	}
	if l.move(action) {
		return Effect{Refresh: p.open == 0}, true
	}
	name, arg, _ := strings.Cut(action, " ")
	switch name {
	case "choose":
		s, ok := l.now()
		if p.open == 0 && ok {
			p.open = s.Group
			return Effect{Selection: &s, Refresh: true}, true
		}
		return selected(s, ok), true
	case "back":
		p.open = 0
		return Effect{Refresh: true}, true
	case "fold":
		p.unfold = !p.unfold
		return Effect{Refresh: true}, true
	case "why":
		if n := p.chosen(); n != 0 {
			return Effect{Command: ":why g" + strconv.FormatUint(n, 10)}, true
		}
		return Effect{}, true
	case "filter":
		p.list.filter = strings.TrimSpace(arg)
		p.arrange()
		return Effect{Refresh: true}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Fusion) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "back"}, Action{Name: "fold"}, Action{Name: "why"}, Action{Name: "filter", Arg: "part of a group, op, line or reason"})
}

// Select implements Panel: the group that has the op, or stands for the group,
// or came from the line.
func (p *Fusion) Select(s Selection) {
	p.ops.choose(s)
	if p.f == nil {
		p.list.sel = s
		return
	}
	best := -1
	for i, k := range p.rows {
		g := &p.f.Groups[k]
		switch {
		case s.Group != 0 && g.Has(s.Group), s.Op != 0 && has(g.Ops, s.Op):
			p.list.at, p.list.sel = i, Selection{}
			p.reopen(g)
			return
		case best < 0 && s.Line != 0 && hasLine(g.Lines, s):
			best = i
		}
	}
	if best >= 0 {
		p.list.at, p.list.sel = best, Selection{}
		p.reopen(&p.f.Groups[p.rows[best]])
	}
}

// reopen makes an open group the selected one.
func (p *Fusion) reopen(g *inspect.FusionGroup) {
	if p.open != 0 {
		p.open = g.Number
	}
}

func has(list []uint64, n uint64) bool {
	for _, x := range list {
		if x == n {
			return true
		}
	}
	return false
}

func hasLine(list []inspect.At, s Selection) bool {
	for _, x := range list {
		if x.Cell == s.Cell && x.Line == s.Line {
			return true
		}
	}
	return false
}
