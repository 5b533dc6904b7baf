package xla

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/viz"
)

// A Section is one drawing of a program, with its title.
type Section struct {
	Title   string
	Drawing viz.Drawing
}

// Text draws a report as it is printed where there is no screen.
func (r *Report) Text(t viz.Theme, w int) string {
	var b strings.Builder
	b.WriteString(r.Head() + "\n")
	if r.Entry != "" {
		b.WriteString(r.Entry + "\n")
	}
	for i := range r.Programs {
		p := &r.Programs[i]
		b.WriteString("\n" + p.Title() + "\n")
		for _, s := range p.Sections() {
			if s.Title != "" {
				b.WriteString("\n" + s.Title + "\n")
			}
			b.WriteString(viz.Text(t, w, s.Drawing) + "\n")
		}
	}
	if r.Left > 0 {
		fmt.Fprintf(&b, "\n… %s more, --all compiles them too\n", viz.Plural(r.Left, "program"))
	}
	return b.String()
}

// Head is the first line of a report.
func (r *Report) Head() string {
	s := r.Subject
	if r.Chip != "" {
		s += "   " + r.Chip
	}
	switch {
	case r.Compiler == "" && r.Entry == "":
		return s + "   predicted"
	case r.Compiler == "":
		return s
	}
	return s + "   " + r.Compiler
}

// Title is the first line of a program.
func (p *Program) Title() string {
	s := p.Name
	switch n := len(p.Groups); {
	case n == 1:
		s = fmt.Sprintf("g%d %s", p.Groups[0], s)
	case n > 1:
		s = fmt.Sprintf("g%d…g%d %s", p.Groups[0], p.Groups[n-1], s)
	}
	if p.Where != "" {
		s += "   " + p.Where
	}
	if p.Ops > 0 {
		s += "   " + viz.Plural(p.Ops, "op")
	}
	return s
}

// Sections are the drawings of a program, in order.
func (p *Program) Sections() []Section {
	if p.OOM != nil {
		return p.OOM.sections(p.Ours)
	}
	all := []Section{{"", p.Summary()}}
	if p.Compiled == nil {
		if p.Ours != nil && p.Ours.Error == "" {
			all = append(all, Section{"kernels (predicted)", p.Ours.Table()})
		}
		return all
	}
	kernels, _ := p.Kernels()
	all = append(all, Section{"kernels, in the order they run", kernels})
	if p.Compiled.HasSlots {
		all = append(all, Section{"VLIW slots taken, in % of all slots of the code as it is listed (a loop counts once)", p.Compiled.SlotTable()})
	}
	all = append(all, Section{"layouts", p.Compiled.LayoutTable()})
	return append(all, p.Compiled.Memory.Sections()...)
}

// Summary is a line for the compiler, one for the prediction, and one that
// compares them.
func (p *Program) Summary() viz.Drawing {
	var rows [][]viz.Piece
	add := func(name string, m viz.Meaning, format string, args ...any) {
		rows = append(rows, []viz.Piece{{Text: fmt.Sprintf("%-10s", name), Meaning: viz.Dim}, {Text: fmt.Sprintf(format, args...), Meaning: m}})
	}
	if p.Error != "" {
		for i, l := range strings.Split(strings.TrimSpace(p.Error), "\n") {
			name := "compiler"
			if i > 0 {
				name = ""
			}
			add(name, viz.Bad, "%s", l)
		}
	}
	if c := p.Compiled; c != nil {
		m := &c.Memory
		work, scalars := c.working()
		time := ""
		if c.TimeNS > 0 {
			time = fmt.Sprintf("   %s cycles = %s", viz.Count(c.Cycles), viz.DurationNS(c.TimeNS))
		}
		if c.Unpriced > 0 {
			time += fmt.Sprintf(" (%s without an estimate)", viz.Plural(c.Unpriced, "kernel"))
		}
		count := viz.Plural(work, "kernel")
		if c.Copies > 0 {
			count += ", " + plural(c.Copies, "copy", "copies")
		}
		if scalars > 0 {
			count += ", " + viz.Plural(scalars, "scalar instruction")
		}
		add("compiler", viz.Normal, "%s%s   roofline %s   %s", count, time, viz.DurationNS(c.RooflineNS), viz.FLOPs(c.FLOPs))
		add("", viz.Normal, "HBM %s   VMEM peak %s", m.sum(), viz.Bytes(m.PeakVMEM))
		if c.CompileNS > 0 {
			add("", viz.Dim, "compiled in %s for %s (%s), %s of code, compiler takes %s", viz.DurationNS(c.CompileNS), c.Topology,
				viz.Plural(c.Devices, "device"), viz.Bytes(c.CodeBytes), viz.Bytes(c.RSSBytes))
		}
	}
	if o := p.Ours; o != nil {
		if o.Error != "" {
			add("predicted", viz.Bad, "%s", o.Error)
		} else {
			fits := ""
			if !o.Fits {
				fits = "   does not fit into " + viz.Bytes(o.Limit)
			}
			add("predicted", viz.Normal, "%s   %s   %s   HBM %s, %s temporary%s", viz.Plural(o.working(), "kernel"), viz.DurationNS(o.TimeNS),
				viz.FLOPs(o.FLOPs), viz.Bytes(o.HBM), viz.Bytes(o.Temp), fits)
		}
	}
	if m := p.Match; m != nil && p.Compiled != nil {
		s := ""
		if p.Ours != nil && p.Ours.Error == "" {
			s = fmt.Sprintf("%d of %s, %d of %s fused alike   predicted / compiler: time %s, roofline %s, HBM %s   ", m.Same, viz.Plural(m.Kernels, "kernel"), m.EdgesSame,
				viz.Plural(m.Edges, "edge"), times(m.TimeRatio), times(m.RooflineRate), times(m.HBMRatio))
		}
		meaning := viz.OK
		if m.Same < m.Kernels || m.LayoutsSame < m.Layouts {
			meaning = viz.Wait
		}
		add("agree", meaning, "%slayouts %d of %d", s, m.LayoutsSame, m.Layouts)
	}
	return viz.Lines{Rows: rows}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func times(r float64) string {
	if r == 0 {
		return "?"
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// working counts the kernels that take time.
func (p *Predicted) working() int {
	n := 0
	for i := range p.Kernels {
		if p.Kernels[i].Unit != scalarKernel {
			n++
		}
	}
	return n
}

// working counts the kernels, and the instructions on single numbers.
func (c *Compiled) working() (kernels, scalars int) {
	for i := range c.Kernels {
		switch k := &c.Kernels[i]; {
		case k.Moves:
		case k.Unit == scalarKernel:
			scalars++
		default:
			kernels++
		}
	}
	return kernels, scalars
}

// Kernels lists what the compiler runs, beside the kernels of the prediction.
// of gives the kernel of each row, -1 for a row that is only predicted.
func (p *Program) Kernels() (tb viz.Table, of []int) {
	tb = viz.Table{Columns: []viz.Column{
		{}, {Title: "kernel", Meaning: viz.Strong, Least: 18}, {Title: "what", Least: 20}, {Title: "lines", Meaning: viz.Place, Least: 9}, {Title: "cycles", Right: true, Drop: 3},
		{Title: "time", Right: true}, {Title: "roofline", Right: true, Drop: 6}, {Title: "VMEM", Right: true, Drop: 5}, {Title: "unit", Drop: 2}, {Title: "bound", Drop: 7},
		{Title: "ours"}, {Title: "our time", Right: true, Drop: 1}, {Title: "differs", Drop: 4, Least: 20},
	}}
	c, o := p.Compiled, p.Ours
	predicted := o != nil && o.Error == ""
	for i := 0; i < len(c.Kernels); i++ {
		k := &c.Kernels[i]
		if n := scalarsFrom(c.Kernels[i:]); n > foldedScalars {
			tb.Rows = append(tb.Rows, []string{"", strings.Repeat("  ", k.Depth) + fmt.Sprintf("%d scalar instructions", n), strings.Join(opsOf(c.Kernels[i:i+n]), " "), k.Where, "", "", "", "", k.Unit})
			tb.Meanings = append(tb.Meanings, viz.Dim)
			of = append(of, i)
			i += n - 1
			continue
		}
		mark, m, mine, ns, time := "", viz.Normal, "", "", ""
		if predicted && !k.Moves && len(k.Ours) > 0 {
			if mark = "="; k.Unit == scalarKernel {
				mark = ""
			} else if !k.Same {
				mark, m = "!", viz.Wait
			}
			mine = kernelNames(k.Ours)
			var sum int64
			for _, n := range k.Ours {
				sum += o.Kernels[n].NS
			}
			ns = viz.DurationNS(sum)
		} else if predicted && k.Difference != "" {
			mark, m = "!", viz.Wait
		}
		if k.Moves || k.Unit == scalarKernel {
			m = viz.Dim
		}
		cycles := ""
		if k.Cycles >= 0 {
			cycles = viz.Count(k.Cycles)
			if k.Trips > 1 {
				cycles += fmt.Sprintf(" x%d", k.Trips)
			}
			if time = ""; k.NS > 0 {
				time = viz.DurationNS(k.NS * max(k.Trips, 1))
			}
		}
		roof := ""
		if k.RooflineNS > 0 && !k.Moves {
			roof = viz.DurationNS(k.RooflineNS)
		}
		tb.Rows = append(tb.Rows, []string{mark, strings.Repeat("  ", k.Depth) + k.Name, strings.Join(k.Ops, " "), k.Where, cycles, time, roof, size(k.VMEMBytes), k.Unit, k.Bound, mine, ns, k.Difference})
		tb.Meanings = append(tb.Meanings, m)
		of = append(of, i)
	}
	if predicted {
		for i := range o.Kernels {
			k := &o.Kernels[i]
			if len(k.Real) > 0 || k.Unit == scalarKernel {
				continue
			}
			tb.Rows = append(tb.Rows, []string{"!", "", strings.Join(k.Ops, " "), k.Where, "", "", "", "", k.Unit, "", fmt.Sprintf("k%d", i+1), viz.DurationNS(k.NS), "only predicted"})
			tb.Meanings = append(tb.Meanings, viz.Wait)
			of = append(of, -1)
		}
	} else {
		tb.Columns = tb.Columns[:len(tb.Columns)-3]
	}
	return tb, of
}

// Detail says more of a kernel than its row has room for.
func (k *Kernel) Detail() string {
	s := k.Name + ": " + strings.Join(k.Ops, " ")
	for _, x := range []struct{ name, text string }{
		{"result", k.Shape}, {"window", k.Window}, {"iterations", k.Iterations}, {"emitter", k.Emitter}, {"groups", k.Groups},
		{"VMEM of its own", size(k.Scoped)}, {"code", size(k.CodeBytes)}, {"prediction", k.Difference},
	} {
		if x.text != "" {
			s += "   " + x.name + " " + x.text
		}
	}
	return s
}

// foldedScalars is how many scalar instructions after each other are rows of
// their own.
const foldedScalars = 2

// scalarsFrom counts the instructions on single numbers that a list begins with.
func scalarsFrom(list []Kernel) int {
	n := 0
	for n < len(list) && list[n].Unit == scalarKernel && list[n].Depth == list[0].Depth && list[n].Opcode != "while" {
		n++
	}
	return n
}

// opsOf lists the operations of kernels, each once.
func opsOf(list []Kernel) []string {
	var all []string
	for i := range list {
		for _, o := range list[i].Ops {
			if !slices.Contains(all, o) {
				all = append(all, o)
			}
		}
	}
	return all
}

// size writes bytes, nothing for none.
func size(n int64) string {
	if n == 0 {
		return ""
	}
	return viz.Bytes(n)
}

// Table lists the kernels of a prediction.
func (p *Predicted) Table() viz.Table {
	tb := viz.Table{Columns: []viz.Column{
		{}, {Title: "kernel"}, {Title: "what", Least: 20}, {Title: "lines", Meaning: viz.Place, Least: 12}, {Title: "time", Right: true}, {Title: "FLOP", Right: true, Drop: 3},
		{Title: "HBM traffic", Right: true, Drop: 2}, {Title: "bound by", Meaning: viz.Hot}, {Title: "ends because", Drop: 1},
	}}
	for i := range p.Kernels {
		k := &p.Kernels[i]
		tb.Rows = append(tb.Rows, []string{fmt.Sprintf("k%d", i+1), k.Name, strings.Join(k.Ops, " "), k.Where, viz.DurationNS(k.NS), viz.FLOPs(k.FLOPs), size(k.Bytes), k.Bound, k.Why})
	}
	return tb
}

// LayoutTable lists parameters and results in the compiler's layout and ours.
func (c *Compiled) LayoutTable() viz.Table {
	tb := viz.Table{Columns: []viz.Column{
		{}, {}, {Title: "type"}, {Title: "layout"}, {Title: "bytes", Right: true}, {Title: "padded", Right: true}, {Title: "x", Right: true},
		{Title: "our layout", Drop: 1}, {Title: "ours", Right: true}, {Title: "made at", Meaning: viz.Place, Drop: 2},
	}}
	for _, list := range []struct {
		role string
		of   []Array
	}{{"parameter", c.Params}, {"result", c.Results}} {
		for i := range list.of {
			a := &list.of[i]
			mark, m, our := "=", viz.Normal, size(a.OurPadded)
			switch {
			case a.OurPadded == 0 && a.OurLayout == "":
				mark = ""
			case !a.Same:
				mark, m = "!", viz.Wait
			}
			more := ""
			if a.Bytes > 0 {
				more = viz.Number(float64(a.Padded*100/a.Bytes) / 100)
			}
			tb.Rows = append(tb.Rows, []string{mark, fmt.Sprintf("%s %d", list.role, a.Index), a.Type, a.Layout, viz.Bytes(a.Bytes), viz.Bytes(a.Padded), more, a.OurLayout, our, a.Where})
			tb.Meanings = append(tb.Meanings, m)
		}
	}
	return tb
}

// SlotTable shows how the kernels fill the slots of their VLIW words.
func (c *Compiled) SlotTable() viz.Table {
	tb := viz.Table{Columns: []viz.Column{{Title: "kernel", Meaning: viz.Strong}, {Title: "words", Right: true}, {Title: "empty", Right: true, Drop: 5}, {Title: "fullest", Meaning: viz.Hot}}}
	for i := range c.Kernels {
		k := &c.Kernels[i]
		if k.Slots == nil {
			continue
		}
		if len(tb.Columns) == 4 {
			for _, u := range k.Slots.Units {
				tb.Columns = append(tb.Columns, viz.Column{Title: u.Name, Right: true})
			}
		}
		row := []string{k.Name, viz.Count(int64(k.Slots.Bundles)), viz.Percent(int64(k.Slots.Empty), int64(k.Slots.Bundles)), k.Slots.Fullest}
		for _, u := range k.Slots.Units {
			s := ""
			if u.Used > 0 {
				s = fmt.Sprintf("%.1f", 100*u.Share)
			}
			row = append(row, s)
		}
		tb.Rows = append(tb.Rows, row)
	}
	return tb
}
