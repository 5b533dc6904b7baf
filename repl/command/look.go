package command

import (
	"fmt"
	"sort"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/viz"
)

func lookCommands() []Command {
	return []Command{
		{
			Name: "hbm", Group: Look, Args: "[map|top N]",
			Doc:     "shows HBM: used, peak, limit, padding, largest free block, the largest owners by source line, and a map",
			Example: "x := tpu.Ones(512, 512)\n:hbm", Run: hbm, Complete: words("map", "top"),
		},
		{
			Name: "fusion", Aliases: []string{"fu"}, Group: Look, Args: "[gN|last|N]",
			Doc:     "lists the fusion groups: operations, source lines, why each was cut, HBM traffic saved; gN shows one with its kernels",
			Example: "x := tpu.Ones(8)\ny := x.Add(1).Mul(2)\n:fusion", Run: fusion,
		},
		{
			Name: "graph", Group: Look, Args: "[gN]",
			Doc:     "shows the program of a group in SSA form",
			Example: "x := tpu.Ones(2)\ny := x.Add(1)\n:graph", Run: graphCommand,
		},
	}
}

func hbm(c *Call) (Answer, error) {
	const usage = "[map|top N]"
	form, n := "", 10
	if len(c.Args) > 0 {
		form = c.Args[0]
	}
	switch {
	case form != "" && form != "map" && form != "top":
		return Answer{}, &UsageError{"hbm", usage, fmt.Sprintf("no form %q", form)}
	case form == "top" && len(c.Args) > 1:
		if _, err := fmt.Sscanf(c.Args[1], "%d", &n); err != nil || n < 1 {
			return Answer{}, &UsageError{"hbm", usage, fmt.Sprintf("%q is no count", c.Args[1])}
		}
	}
	m := inspect.MemoryOf(c.Session.Device().HBM())
	var b strings.Builder
	fmt.Fprintf(&b, "HBM %s  %s\n", c.Session.Device().Chip().Name, viz.Text(viz.Plain(), 72, m.Gauge()))
	fmt.Fprintf(&b, "peak %s   limit %s   largest free block %s   padding %s   %d values live\n",
		viz.Bytes(m.PeakBytes), viz.Bytes(m.LimitBytes), viz.Bytes(m.LargestFreeBytes), viz.Bytes(m.PaddingBytes), m.Allocations)
	if form != "map" && len(m.Owners) > 0 {
		b.WriteString(viz.Text(viz.Plain(), width, m.Table(n)) + "\n")
	}
	if form != "top" {
		b.WriteString(viz.Text(viz.Plain(), 84, m.Map()))
	}
	return Answer{Text: b.String()}, nil
}

func findGroup(s *repl.Session, name string) (*exec.Group, error) {
	gs := s.Dispatcher().Groups()
	if len(gs) == 0 {
		return nil, &UsageError{"fusion", "[gN|last|N]", "nothing was launched yet"}
	}
	if name == "last" || name == "" {
		return &gs[len(gs)-1], nil
	}
	var n int64
	if _, err := fmt.Sscanf(name, "g%d", &n); err != nil {
		return nil, &UsageError{"fusion", "[gN|last|N]", fmt.Sprintf("%q is no group", name)}
	}
	for i := range gs {
		if gs[i].Number == n {
			return &gs[i], nil
		}
	}
	return nil, &UsageError{"fusion", "[gN|last|N]", fmt.Sprintf("group g%d is not remembered; the last is g%d", n, gs[len(gs)-1].Number)}
}

func fusion(c *Call) (Answer, error) {
	d := c.Session.Dispatcher()
	gs := d.Groups()
	if len(c.Args) > 0 && (c.Args[0] == "last" || c.Args[0][0] == 'g') {
		g, err := findGroup(c.Session, c.Args[0])
		if err != nil {
			return Answer{}, err
		}
		return Answer{Text: groupDetail(c.Session, g)}, nil
	}
	n, err := optionalCount(c, "fusion", "[gN|last|N]", 12)
	if err != nil {
		return Answer{}, err
	}
	if len(gs) == 0 {
		return text("nothing was launched yet, %d ops queued", d.Queued())
	}
	st := d.Stats()
	var b strings.Builder
	fmt.Fprintf(&b, "%d ops in %d launches, %d queued   saved %d launches and %s of HBM traffic", st.Ops, st.Launches, d.Queued(), max(st.Ops-st.Launches, 0), viz.Bytes(st.SavedBytes))
	if st.GraphBreaks > 0 {
		fmt.Fprintf(&b, "   %d graph breaks", st.GraphBreaks)
	}
	b.WriteByte('\n')
	tb := viz.Table{Columns: []viz.Column{{Title: "group"}, {Title: "×", Right: true}, {Title: "ops", Right: true}, {Title: "what"}, {Title: "lines"}, {Title: "cut because"}, {Title: "at"}, {Title: "TPU time", Right: true}, {Title: "saved", Right: true}}}
	rows := foldGroups(gs)
	for _, r := range rows[max(0, len(rows)-n):] {
		g := r.last
		name := fmt.Sprintf("g%d", g.Number)
		if r.times > 1 {
			name = fmt.Sprintf("g%d…g%d", r.first, g.Number)
		}
		at := ""
		if g.CutAt != nil && g.Reason != exec.ReasonEveryOp {
			at = placeOf(g.CutAt.Top())
		}
		tb.Rows = append(tb.Rows, []string{name, fmt.Sprint(r.times), fmt.Sprint(len(g.Ops)), g.Name, lineRange(g), g.Reason.String(), at, viz.DurationNS(g.Plan.DurationNS), viz.Bytes(g.Plan.SavedBytes)})
	}
	if len(rows) > n {
		fmt.Fprintf(&b, "… %d earlier rows\n", len(rows)-n)
	}
	b.WriteString(viz.Text(viz.Plain(), 132, tb))
	return Answer{Text: b.String()}, nil
}

// A groupRow is launches of one program, for one reason, one after another.
type groupRow struct {
	first int64
	last  *exec.Group
	times int
}

// foldGroups folds the turns of a loop: launches of the same program from the same lines.
func foldGroups(gs []exec.Group) []groupRow {
	type key struct {
		name, lines string
		reason      exec.Reason
		ops         int
	}
	seen := map[key]int{}
	var rows []groupRow
	for i := range gs {
		g := &gs[i]
		k := key{g.Name, lineRange(g), g.Reason, len(g.Ops)}
		if j, ok := seen[k]; ok {
			rows[j].times++
			rows[j].last = g
			continue
		}
		seen[k] = len(rows)
		rows = append(rows, groupRow{g.Number, g, 1})
	}
	return rows
}

// lineRange gives the source lines of a group's operations: 12 or 12-15 or 12,20.
func lineRange(g *exec.Group) string {
	set := map[int]bool{}
	cell, file := 0, ""
	for _, o := range g.Ops {
		f := o.Stack.Top()
		if f.Line == 0 {
			continue
		}
		line := f.Line
		if f.File != "" {
			line, file = f.FileLine, f.File
		}
		set[line] = true
		cell = f.Cell
	}
	if len(set) == 0 {
		return ""
	}
	var lines []int
	for l := range set {
		lines = append(lines, l)
	}
	sort.Ints(lines)
	var parts []string
	for i := 0; i < len(lines); {
		j := i
		for j+1 < len(lines) && lines[j+1] == lines[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", lines[i], lines[j]))
		} else {
			parts = append(parts, fmt.Sprint(lines[i]))
		}
		i = j + 1
	}
	if len(parts) > 4 {
		parts = append(parts[:3], "…", parts[len(parts)-1])
	}
	s := strings.Join(parts, ",")
	if file == "" {
		return fmt.Sprintf("In[%d]:%s", cell, s)
	}
	return s
}

func groupDetail(s *repl.Session, g *exec.Group) string {
	var b strings.Builder
	hit := "compiled now"
	if g.Hit {
		hit = "found in the cache"
	}
	fmt.Fprintf(&b, "g%d %s   %s mode, %s\n", g.Number, g.Name, g.Mode, hit)
	fmt.Fprintf(&b, "  cut because  %s: %s", g.Reason, g.Reason.Row().Doc)
	if g.CutAt != nil {
		fmt.Fprintf(&b, "  (%s)", placeOf(g.CutAt.Top()))
	}
	b.WriteByte('\n')
	if fix := g.Reason.Row().Fix; fix != "" {
		fmt.Fprintf(&b, "  to avoid it  %s\n", fix)
	}
	p := g.Plan
	fmt.Fprintf(&b, "  TPU time %s (simulated)   %s   HBM read %s, written %s, saved %s\n", viz.DurationNS(p.DurationNS), viz.FLOPs(p.FLOPs), viz.Bytes(p.ReadBytes), viz.Bytes(p.WriteBytes), viz.Bytes(p.SavedBytes))
	tb := viz.Table{Columns: []viz.Column{{Title: "  op", Right: true}, {Title: "what"}, {Title: "type"}, {Title: "line"}, {Title: "source"}}}
	for i, o := range g.Ops {
		if i == 40 {
			tb.Rows = append(tb.Rows, []string{"", fmt.Sprintf("… %d more", len(g.Ops)-i)})
			break
		}
		f := o.Stack.Top()
		tb.Rows = append(tb.Rows, []string{fmt.Sprintf("#%d", o.OpN), o.Name, o.Spec.String(), placeOf(f), firstLine(strings.TrimSpace(sourceLine(s, f)), 44)})
	}
	b.WriteString(viz.Text(viz.Plain(), 120, tb) + "\n")
	kt := viz.Table{Columns: []viz.Column{{Title: "  kernel"}, {Title: "ops", Right: true}, {Title: "TPU time", Right: true}, {Title: "bound by"}, {Title: "ends because"}}}
	for i, k := range p.Kernels {
		if i == 20 {
			kt.Rows = append(kt.Rows, []string{fmt.Sprintf("  … %d more", len(p.Kernels)-i)})
			break
		}
		kt.Rows = append(kt.Rows, []string{"  " + k.Name, fmt.Sprint(len(k.Nodes)), viz.DurationNS(k.DurationNS), k.Bound, k.Why})
	}
	b.WriteString(viz.Text(viz.Plain(), 120, kt))
	return b.String()
}

func graphCommand(c *Call) (Answer, error) {
	g, err := findGroup(c.Session, c.Rest)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Text: g.Graph.String()}, nil
}
