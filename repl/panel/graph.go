package panel

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/viz"
)

// Graph shows the program of a group as a graph in layers.
type Graph struct {
	g     *inspect.Graph
	dag   viz.DAG
	group uint64 // asked for, 0 for the latest
	at    int    // node under the cursor
	sel   Selection
	w, h  int // of the drawing, as it was drawn last
}

// NewGraph makes the panel: it follows the latest group.
func NewGraph() *Graph { return &Graph{at: -1, w: 78, h: 16} }

// Name implements Panel.
func (*Graph) Name() string { return "graph" }

// Title implements Panel.
func (*Graph) Title() string { return "Graph" }

// Wants implements Panel.
func (p *Graph) Wants() (string, any) {
	args := inspect.GraphArgs{Group: p.group}
	if p.group == 0 {
		args.Op, args.At = p.sel.Op, inspect.At{Cell: p.sel.Cell, Line: p.sel.Line}
	}
	return "graph", args
}

// Load implements Panel.
func (p *Graph) Load(data json.RawMessage) error {
	was := p.g
	if err := decode(data, &p.g); err != nil {
		return err
	}
	g := p.g
	same := was != nil && was.Group == g.Group && len(was.Nodes) == len(g.Nodes)
	x, y := p.dag.X, p.dag.Y
	p.dag = g.Drawing()
	if same {
		p.dag.X, p.dag.Y = x, y
	} else {
		p.at = -1
		for i := range g.Nodes {
			if !g.Nodes[i].Input {
				p.at = i
				break
			}
		}
	}
	if p.sel != (Selection{}) {
		p.pick(p.sel)
		p.sel, p.group = Selection{}, g.Group // it stays
	}
	p.dag.Center(p.at, p.w, p.h)
	return nil
}

// pick puts the cursor on the node that fits a selection best.
func (p *Graph) pick(s Selection) {
	best := 0
	for i := range p.g.Nodes {
		n := &p.g.Nodes[i]
		if n.Input {
			continue
		}
		if m := s.matches(Selection{Op: n.Op, Cell: n.At.Cell, Line: n.At.Line}); m > best {
			best, p.at = m, i
		}
	}
}

// View implements Panel.
func (p *Graph) View(ctx Context, w, h int) []string {
	top := head{title: "GRAPH"}
	if p.g == nil {
		return empty(ctx, w, h, top, waiting)
	}
	g := p.g
	if len(g.Nodes) == 0 {
		why := "nothing was launched yet: x := tpu.Ones(8).Add(1) makes a program"
		if p.group != 0 && g.Last != 0 {
			why = fmt.Sprintf("group g%d is not remembered; there are g%d to g%d", p.group, g.First, g.Last)
		}
		return empty(ctx, w, h, top, why)
	}
	top.title = fmt.Sprintf("GRAPH g%d %s", g.Group, g.Name)
	top.note = viz.Plural(len(g.Nodes), "node")
	if g.Pending {
		top.note += ", PENDING"
	}
	if g.Left > 0 {
		top.note += fmt.Sprintf(", %d earlier left out", g.Left)
	}
	room := max(0, h-3)
	if p.w != w || p.h != room {
		p.w, p.h = w, room
		p.dag.Center(p.at, w, room)
	}
	d := p.dag
	d.Marked = -1
	if ctx.Focused {
		d.Marked = p.at
	}
	card := ctx.hint("graph-left graph-right graph-up graph-down", "another node", "graph-earlier graph-later", "an earlier, a later group")
	if ctx.Focused && p.at >= 0 && p.at < len(g.Nodes) {
		card = g.Nodes[p.at].Card()
	}
	dw, dh := d.Size()
	more := fmt.Sprintf("%d×%d cells from %d,%d", dw, dh, d.X, d.Y)
	if dw <= w && dh <= room {
		more = "whole"
	}
	return stack(ctx, w, h, top,
		viz.StackPart{Drawing: d, Min: 1, Max: room, Grow: true},
		viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Normal, card)}}, Min: 1, Max: 1},
		viz.StackPart{Drawing: viz.Lines{Rows: [][]viz.Piece{viz.Line(viz.Dim, more)}}, Min: 1, Max: 1})
}

// Do implements Panel.
func (p *Graph) Do(action string) (Effect, bool) {
	name, arg, _ := strings.Cut(action, " ")
	step := map[string][2]int{"left": {-1, 0}, "right": {1, 0}, "up": {0, -1}, "down": {0, 1}}
	if d, ok := step[name]; ok {
		if p.g != nil && len(p.g.Nodes) > 0 {
			p.at = p.dag.Next(p.at, d[0], d[1])
			p.dag.Center(p.at, p.w, p.h)
		}
		return Effect{}, true
	}
	pan := map[string][2]int{"pan-left": {-8, 0}, "pan-right": {8, 0}, "pan-up": {0, -4}, "pan-down": {0, 4}}
	if d, ok := pan[name]; ok {
		p.dag.X, p.dag.Y = p.dag.X+d[0], p.dag.Y+d[1]
		p.dag.Fit(p.w, p.h)
		return Effect{}, true
	}
	switch name {
	case "earlier", "later":
		if p.g == nil || p.g.Last == 0 {
			return Effect{}, true
		}
		now := p.g.Group
		if now == 0 {
			now = p.g.Last
		}
		if name == "earlier" {
			now = max(now-1, p.g.First)
		} else {
			now = min(now+1, p.g.Last)
		}
		p.group = now
		return Effect{Refresh: true}, true
	case "latest":
		p.group = 0
		return Effect{Refresh: true}, true
	case "group":
		if n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(arg), "g"), 10, 64); err == nil {
			p.group = n
			return Effect{Refresh: true}, true
		}
		return Effect{}, true
	case "choose":
		if p.g == nil || p.at < 0 || p.at >= len(p.g.Nodes) {
			return Effect{}, true
		}
		n := &p.g.Nodes[p.at]
		return Effect{Selection: &Selection{Op: n.Op, Group: p.g.Group, Cell: n.At.Cell, Line: n.At.Line}}, true
	}
	return Effect{}, false
}

// Actions implements Panel.
func (*Graph) Actions() []Action {
	return []Action{
		{Name: "left"},
		{Name: "right"},
		{Name: "up"},
		{Name: "down"},
		{Name: "pan-left"},
		{Name: "pan-right"},
		{Name: "pan-up"},
		{Name: "pan-down"},
		{Name: "earlier"},
		{Name: "later"},
		{Name: "latest"},
		{Name: "group", Arg: "gN"},
		{Name: "choose"},
	}
}

// Select implements Panel.
func (p *Graph) Select(s Selection) {
	p.group, p.sel = s.Group, s
}
