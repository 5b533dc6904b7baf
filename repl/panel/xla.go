package panel

import (
	"encoding/json"
	"fmt"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/viz"
)

// XLA shows what the real TPU compiler said last, beside the prediction: one
// program at a time, in one of several views.
type XLA struct {
	data    *xla.Report // nil before the first
	program int
	view    int
	kernels viz.Table
	of      []int // kernel of each row of kernels, -1 for one that is only predicted
	list    list
}

// The views of the panel.
const (
	xlaKernels = iota
	xlaLayouts
	xlaMemory
	xlaSlots
	xlaViews
)

var xlaViewNames = [xlaViews]string{"kernels", "layouts", "memory", "slots"}

// NewXLA makes the panel.
func NewXLA() *XLA { return &XLA{} }

// Name implements Panel.
func (*XLA) Name() string { return "xla" }

// Title implements Panel.
func (*XLA) Title() string { return "XLA" }

// Wants implements Panel.
func (*XLA) Wants() (string, any) { return "xla", nil }

// Load implements Panel.
func (p *XLA) Load(data json.RawMessage) error {
	was := ""
	if p.data != nil {
		was = p.data.Subject + p.data.Chip
	}
	if err := decode(data, &p.data); err != nil {
		return err
	}
	if was != p.data.Subject+p.data.Chip {
		p.program = 0
	}
	p.arrange()
	return nil
}

// arrange makes the rows of the program that is shown.
func (p *XLA) arrange() {
	p.kernels, p.of = viz.Table{}, nil
	var sels []Selection
	if p.data != nil && len(p.data.Programs) > 0 {
		p.program = min(max(p.program, 0), len(p.data.Programs)-1)
		if pr := p.now(); pr.Compiled != nil {
			p.kernels, p.of = pr.Kernels()
			for _, i := range p.of {
				sels = append(sels, p.selection(pr, i))
			}
		}
	}
	p.list.set(sels)
}

// now is the program that is shown.
func (p *XLA) now() *xla.Program { return &p.data.Programs[p.program] }

func (p *XLA) selection(pr *xla.Program, kernel int) (s Selection) {
	if kernel < 0 {
		return s
	}
	k := &pr.Compiled.Kernels[kernel]
	if n := len(pr.Groups); n > 0 {
		s.Group = pr.Groups[n-1]
	}
	if n := len(k.OpNs); n > 0 {
		s.Op = k.OpNs[n-1]
	}
	if n := len(k.Lines); n > 0 {
		s.Cell, s.Line = k.Lines[n-1].Cell, k.Lines[n-1].Line
	}
	return s
}

// View implements Panel.
func (p *XLA) View(ctx Context, w, h int) []string {
	top := head{title: "XLA"}
	switch {
	case p.data == nil:
		return empty(ctx, w, h, top, waiting)
	case len(p.data.Programs) == 0:
		return empty(ctx, w, h, top, "the TPU compiler was not asked yet: :xla compiles the last cell, :plan predicts it")
	}
	pr := p.now()
	top.title = "XLA " + p.data.Head()
	top.note = ctx.hint("xla-view", xlaViewNames[(p.view+1)%xlaViews], "xla-earlier xla-later", fmt.Sprintf("program %d of %d", p.program+1, len(p.data.Programs)))
	parts := []viz.StackPart{{Drawing: paragraph{pr.Title(), viz.Strong}, Min: 1, Max: 2}, {Drawing: pr.Summary(), Min: 1}}
	p.list.page = max(1, h/2)
	switch {
	case pr.Compiled == nil:
		for _, s := range pr.Sections()[1:] {
			parts = append(parts, section(s)...)
		}
	case p.view == xlaLayouts:
		parts = append(parts, viz.StackPart{Drawing: pr.Compiled.LayoutTable(), Min: 2, Grow: true})
	case p.view == xlaMemory:
		for _, s := range pr.Compiled.Memory.Sections() {
			parts = append(parts, section(s)...)
		}
	case p.view == xlaSlots && pr.Compiled.HasSlots:
		parts = append(parts, viz.StackPart{Drawing: pr.Compiled.SlotTable(), Min: 2, Grow: true})
	case p.view == xlaSlots:
		parts = append(parts, viz.StackPart{Drawing: paragraph{":xla --bundles reads the machine code: the slots of its VLIW words stand here then", viz.Dim}, Min: 1})
	default:
		tb := p.kernels
		tb.Choose, tb.Marked = true, p.list.at
		if !ctx.Focused {
			tb.Marked = -1
		}
		parts = append(parts, viz.StackPart{Drawing: tb, Min: 2, Grow: true})
		if i := p.list.at; i < len(p.of) && p.of[i] >= 0 && h >= 12 {
			parts = append(parts, viz.StackPart{Drawing: paragraph{pr.Compiled.Kernels[p.of[i]].Detail(), viz.Dim}, Min: 1, Max: 3})
		}
	}
	return stack(ctx, w, h, top, parts...)
}

// section is the parts of a drawing with its title.
func section(s xla.Section) []viz.StackPart {
	var parts []viz.StackPart
	if s.Title != "" {
		parts = append(parts, viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Strong, s.Title)}}, Min: 1, Max: 1})
	}
	return append(parts, viz.StackPart{Drawing: s.Drawing, Min: 2})
}

// Do implements Panel.
func (p *XLA) Do(action string) (Effect, bool) {
	if p.list.move(action) {
		return Effect{}, true
	}
	switch action {
	case "choose":
		return selected(p.list.now()), true
	case "view":
		p.view = (p.view + 1) % xlaViews
	case "earlier", "later":
		if action == "later" {
			p.program++
		} else {
			p.program--
		}
		p.arrange()
	default:
		return Effect{}, false
	}
	return Effect{}, true
}

// Actions implements Panel.
func (*XLA) Actions() []Action {
	return listActions(Action{Name: "choose"}, Action{Name: "view"}, Action{Name: "earlier"}, Action{Name: "later"})
}

// Select implements Panel: an op inside of a kernel selects it.
func (p *XLA) Select(s Selection) {
	if p.data != nil && s.Op != 0 && len(p.data.Programs) > 0 && p.now().Compiled != nil {
		for row, i := range p.of {
			if i >= 0 && has(p.now().Compiled.Kernels[i].OpNs, s.Op) {
				p.list.at, p.list.sel = row, Selection{}
				return
			}
		}
	}
	p.list.choose(s)
}
