package panel

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Debug shows the debugger: stack, locals, watches, breakpoints.
type Debug struct {
	d    *inspect.Debug
	part int // index into debugParts: what the cursor moves in
	at   [len(debugParts)]int
}

// debugParts are the lists of the panel, in the order they are drawn.
var debugParts = [...]string{"stack", "locals", "watches", "breakpoints"}

// NewDebug makes the panel.
func NewDebug() *Debug { return &Debug{part: 3} }

// Name implements Panel.
func (*Debug) Name() string { return "debug" }

// Title implements Panel.
func (*Debug) Title() string { return "Debug" }

// Wants implements Panel.
func (*Debug) Wants() (string, any) { return "debug", nil }

// Load implements Panel.
func (p *Debug) Load(data json.RawMessage) error {
	if err := decode(data, &p.d); err != nil {
		return err
	}
	if p.d.State == "stopped" {
		p.at[0] = p.d.Frame
	}
	for i := range p.at {
		p.at[i] = max(0, min(p.at[i], p.len(i)-1))
	}
	return nil
}

// len is how many rows a part has.
func (p *Debug) len(part int) int {
	if p.d == nil {
		return 0
	}
	return [...]int{len(p.d.Frames), len(p.d.Locals), len(p.d.Watches), len(p.d.Breakpoints)}[part]
}

// View implements Panel.
func (p *Debug) View(ctx Context, w, h int) []string {
	top := head{title: "DEBUG"}
	if p.d == nil {
		return empty(ctx, w, h, top, waiting)
	}
	d := p.d
	top.note = d.Summary()
	if len(d.Frames)+len(d.Watches)+len(d.Breakpoints) == 0 {
		return empty(ctx, w, h, top, "no breakpoint is set: F9 on a line, or :break In[2]:3, :break op matmul, :break nan, :break mem > 14GiB. :watch EXPR shows a value at each stop.")
	}
	var parts []viz.StackPart
	add := func(part int, tb viz.Drawing, none string) {
		n := p.len(part)
		title := viz.Lines{Rows: [][]viz.Piece{{{Text: strings.ToUpper(debugParts[part]), Meaning: viz.Strong}, {Text: "  " + strconv.Itoa(n), Meaning: viz.Dim}}}}
		if n == 0 {
			if none != "" {
				parts = append(parts, viz.StackPart{Drawing: title, Min: 1}, viz.StackPart{Drawing: paragraph{none, viz.Dim}, Min: 1})
			}
			return
		}
		parts = append(parts, viz.StackPart{Drawing: title, Min: 1}, viz.StackPart{Drawing: tb, Min: 1, Max: n})
	}
	chosen := func(part int, tb viz.Table) viz.Table {
		tb.Choose, tb.Marked = true, -1
		if ctx.Focused && part == p.part || part == 0 {
			tb.Marked = p.at[part]
		}
		return tb
	}
	if d.State == "stopped" {
		add(0, chosen(0, d.Stack()), "")
		add(1, chosen(1, d.LocalTable()), "the frame has no variables")
	}
	add(2, p.watches(ctx), "")
	add(3, chosen(3, d.BreakTable()), "none is set: F9 on a line sets one")
	return stack(ctx, w, h, top, parts...)
}

// watches is a line for each expression: its value and how it went.
func (p *Debug) watches(ctx Context) viz.Drawing {
	return watchLines{p.d.Watches, ctx.Focused && p.part == 2, p.at[2]}
}

// watchLines draws watches, each with a sparkline of its past.
type watchLines struct {
	watches []inspect.Watch
	focused bool
	at      int
}

// Height implements viz.Drawing.
func (l watchLines) Height(int) int { return max(1, len(l.watches)) }

// Draw implements viz.Drawing.
func (l watchLines) Draw(t viz.Theme, w, h int) []string {
	var parts []viz.StackPart
	first := max(0, min(l.at-h/2, len(l.watches)-h))
	for i := first; i < len(l.watches) && i-first < h; i++ {
		x := &l.watches[i]
		mark, m := "  ", viz.Normal
		if l.focused && i == l.at {
			mark = t.Mark + " "
		}
		text := x.Text
		switch {
		case x.Error != "":
			text, m = x.Error, viz.Bad
		case x.Changed:
			text, m = "* "+text, viz.Hot
		}
		line := viz.Lines{Rows: [][]viz.Piece{{{Text: mark, Meaning: viz.Hot}, {Text: strconv.Itoa(x.Number) + " " + x.Expr, Meaning: viz.Strong}, {Text: " = "}, {Text: text, Meaning: m}}}}
		var d viz.Drawing = line
		if len(x.Past) > 1 {
			spark := viz.Spark{Values: x.Past}
			spark.Low, spark.High = limits(x.Past)
			d = viz.Beside{Left: line, Right: spark, Cells: max(w*2/3, w-26)}
		}
		parts = append(parts, viz.StackPart{Drawing: d, Min: 1, Max: 1})
	}
	return viz.Stack{Parts: parts}.Draw(t, w, h)
}

// limits are a little below the least and the greatest number.
func limits(xs []float64) (low, high float64) {
	p := viz.Plot{Series: []viz.PlotSeries{{Values: xs}}}
	low, high = p.Limits()
	return low - (high-low)/8, high
}

// row is what row i of a part stands for; false when that is nothing.
func (p *Debug) row(part, i int) (Selection, bool) {
	d := p.d
	if i >= p.len(part) {
		return Selection{}, false
	}
	switch debugParts[part] {
	case "stack":
		return Selection{Cell: d.Frames[i].At.Cell, Line: d.Frames[i].At.Line}, true
	case "locals":
		v := &d.Locals[i]
		return Selection{Op: v.Op, Group: v.Group, Value: v.Value}, v.Op != 0 || v.Value != 0
	case "breakpoints":
		b := &d.Breakpoints[i]
		return Selection{Cell: b.At.Cell, Line: b.At.Line}, b.At.Cell != 0
	}
	return Selection{}, false
}

// Do implements Panel.
func (p *Debug) Do(action string) (Effect, bool) {
	name, arg, _ := strings.Cut(action, " ")
	arg = strings.TrimSpace(arg)
	move := map[string]int{"up": -1, "down": 1, "page-up": -8, "page-down": 8, "top": -1 << 20, "bottom": 1 << 20}
	if by, ok := move[name]; ok {
		p.at[p.part] = max(0, min(p.at[p.part]+by, p.len(p.part)-1))
		return Effect{}, true
	}
	switch name {
	case "part":
		for range debugParts { // the next that has rows
			if p.part = (p.part + 1) % len(debugParts); p.len(p.part) > 0 {
				break
			}
		}
		return Effect{}, true
	case "choose":
		s, ok := p.row(p.part, p.at[p.part])
		e := selected(s, ok)
		if debugParts[p.part] == "stack" && ok {
			e.Command, e.Refresh = ":frame "+strconv.Itoa(p.at[0]), true
		}
		return e, true
	case "delete":
		i := p.at[p.part]
		if p.d == nil || i >= p.len(p.part) {
			return Effect{}, true
		}
		switch debugParts[p.part] {
		case "breakpoints":
			return Effect{Command: ":clear " + strconv.Itoa(p.d.Breakpoints[i].Number), Refresh: true}, true
		case "watches":
			return Effect{Command: ":unwatch " + strconv.Itoa(p.d.Watches[i].Number), Refresh: true}, true
		}
		return Effect{}, true
	case "watch", "break":
		if arg == "" {
			return Effect{}, true
		}
		return Effect{Command: ":" + name + " " + arg, Refresh: true}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Debug) Actions() []Action {
	return listActions(Action{Name: "part"}, Action{Name: "choose"}, Action{Name: "delete"}, Action{Name: "watch", Arg: "an expression"}, Action{Name: "break", Arg: "a line, op KIND, nan, or mem > N"})
}

// Select implements Panel: the cursor goes to the row that fits best.
func (p *Debug) Select(s Selection) {
	best := 0
	for part := range debugParts {
		for i := range p.len(part) {
			if row, ok := p.row(part, i); ok && s.matches(row) > best {
				best, p.part, p.at[part] = s.matches(row), part, i
			}
		}
	}
}
