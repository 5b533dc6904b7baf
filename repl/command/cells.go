package command

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/viz"
)

func cellCommands() []Command {
	return []Command{
		{
			Name: "who", Aliases: []string{"w"}, Group: Cells, Args: "[FILTER]",
			Doc: "lists the variables with type, size and the cell that made them", Example: "x := tpu.Ones(2, 3)\n:who", Run: who, Complete: names,
		},
		{
			Name: "type", Aliases: []string{"t"}, Group: Cells, Args: "EXPR",
			Doc: "gives the Go type of an expression without running it", Example: "x := tpu.Ones(2)\n:type x.Add(1)", Complete: names,
			Run: func(c *Call) (Answer, error) {
				if c.Rest == "" {
					return Answer{}, &UsageError{"type", "EXPR", "an expression is wanted"}
				}
				t, err := c.Session.Interp().TypeOf(c.Rest)
				if err != nil {
					return Answer{}, err
				}
				return Answer{Text: t}, nil
			},
		},
		{
			Name: "inspect", Aliases: []string{"i"}, Group: Cells, Args: "NAME [--full|--hist|--heat]",
			Doc:  "shows a variable: for a tensor its layout, padding, statistics and values",
			Help: "--full prints every element, --hist a histogram, --heat a heat map of a 2-D tensor.", Example: "x := tpu.Of(1.0, 2.0, 4.0)\n:inspect x", Run: inspectCommand, Complete: names,
		},
		{
			Name: "warnings", Aliases: []string{"vet"}, Group: Cells, Args: "[N]",
			Doc: "lists the warnings of the last cell, or of cell N: unused names, functions that keep an old variable", Example: "func f() { y := 1 }\n:warnings", Run: warnings,
		},
	}
}

func findVariable(s *repl.Session, name string) *interp.Variable {
	for _, v := range s.Interp().Variables() {
		if v.Name == name {
			return &v
		}
	}
	return nil
}

func who(c *Call) (Answer, error) {
	vars := c.Session.Interp().Variables()
	sort.Slice(vars, func(i, j int) bool { return vars[i].Name < vars[j].Name })
	tb := viz.Table{Columns: []viz.Column{{Title: "name"}, {Title: "type"}, {Title: "HBM", Right: true}, {Title: "from"}, {Title: "value"}}}
	var total int64
	for _, v := range vars {
		if c.Rest != "" && !strings.Contains(v.Name, c.Rest) && !strings.Contains(v.Type, c.Rest) {
			continue
		}
		row := []string{v.Name, v.Type, "", fmt.Sprintf("In[%d]", v.Cell), ""}
		switch t, ok := v.Value.(*tpu.Tensor); {
		case ok && t != nil:
			row[1] = t.Spec().String()
			b := t.Value().HBMBytes()
			total += b
			row[2], row[4] = viz.Bytes(b), t.State().String()
		default:
			row[4] = firstLine(c.Session.Format(interp.Shown{Value: v.Value, Name: v.Name}), 40)
		}
		tb.Rows = append(tb.Rows, row)
	}
	if len(tb.Rows) == 0 {
		return text("no variables")
	}
	return Answer{Text: viz.Text(viz.Plain(), width, tb) + fmt.Sprintf("\n%d variables, %s of HBM in tensors", len(tb.Rows), viz.Bytes(total))}, nil
}

func firstLine(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func inspectCommand(c *Call) (Answer, error) {
	if len(c.Args) == 0 {
		return Answer{}, &UsageError{"inspect", "NAME [--full|--hist|--heat]", "a name is wanted"}
	}
	if looksBack(c.Session) || strings.Contains(c.Args[0], "@") {
		p, err := findPast(c.Session, c.Args[0])
		if err == nil {
			return showPast(c.Session, p)
		}
		if findVariable(c.Session, c.Args[0]) == nil || isTensorVariable(c.Session, c.Args[0]) {
			return Answer{}, err
		}
	}
	v := findVariable(c.Session, c.Args[0])
	if v == nil {
		return Answer{}, &UsageError{"inspect", "NAME", fmt.Sprintf("no variable %q, :who lists them", c.Args[0])}
	}
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil {
		all := false
		for _, flag := range c.Args[1:] {
			if all = flag == "--full"; !all {
				return Answer{}, &UsageError{"inspect", "NAME [--full]", flag + " is for tensors"}
			}
		}
		return text("%s  %s  In[%d]\n%s", v.Name, v.Type, v.Cell, c.Session.FormatMore(interp.Shown{Value: v.Value, Type: v.Type, Name: v.Name + " --full"}, all))
	}
	a, err := inspectValue(c.Session, *v)
	for _, flag := range c.Args[1:] {
		switch flag {
		case "--full":
			a.Text += "\n" + t.Full()
		case "--hist":
			a.Text += "\n" + viz.Text(viz.Plain(), 72, viz.HistogramOf(t.Float64s(), 60))
		case "--heat":
			if t.Rank() != 2 {
				return Answer{}, &UsageError{"inspect", "NAME --heat", fmt.Sprintf("a heat map needs two dimensions, %v has %d", t.Spec(), t.Rank())}
			}
			a.Text += "\n" + viz.Text(viz.Plain(), 72, viz.HeatMap{Values: t.Float64s(), Rows: t.Dim(0), Cols: t.Dim(1)})
		default:
			return Answer{}, &UsageError{"inspect", "NAME [--full|--hist|--heat]", "no option " + flag}
		}
	}
	return a, err
}

// inspectValue describes a variable. The numbers of a tensor that is not
// computed are not asked for: looking changes nothing.
func inspectValue(s *repl.Session, v interp.Variable) (Answer, error) {
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil {
		return text("%s  %s  In[%d]\n%s", v.Name, v.Type, v.Cell, s.Format(interp.Shown{Value: v.Value, Type: v.Type, Name: v.Name}))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", v.Name, t.Summary())
	tb := viz.Table{Columns: []viz.Column{{}, {}}, Rows: [][]string{
		{"  layout", t.Layout().String()},
		{"  bytes", fmt.Sprintf("%s of numbers, %s in HBM (%.2fx)", viz.Bytes(t.Bytes()), viz.Bytes(t.PaddedBytes()), ratio(t.PaddedBytes(), t.Bytes()))},
		{"  state", t.State().String()},
		{"  strides", fmt.Sprintf("%v offset %d version %d", t.Strides(), t.Offset(), t.Version())},
	}}
	if st := t.Origin(); st != nil && len(st.Frames) > 0 {
		tb.Rows = append(tb.Rows, []string{"  made at", placeOf(st.Top()) + " by " + t.Value().What()})
	}
	if t.RequiresGrad() {
		fn := t.GradFn()
		if fn == "" {
			fn = "a leaf"
		}
		tb.Rows = append(tb.Rows, []string{"  gradient", fn})
	}
	b.WriteString(viz.Text(viz.Plain(), width, tb))
	if a, known := s.Dispatcher().Peek(t.Value()); known && a.Size() > 0 {
		b.WriteString("\n  " + stats(t.Float64s()) + "\n" + t.String())
	} else if !known {
		b.WriteString("\n  not computed yet: showing it would run what it depends on")
	}
	return Answer{Text: b.String()}, nil
}

func isTensorVariable(s *repl.Session, name string) bool {
	v := findVariable(s, name)
	if v == nil {
		return false
	}
	_, ok := v.Value.(*tpu.Tensor)
	return ok
}

func ratio(a, b int64) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// stats is a line of statistics: min, max, mean, std and what is not finite.
func stats(xs []float64) string {
	lo, hi, sum, sq := math.Inf(1), math.Inf(-1), 0.0, 0.0
	n, nan, inf := 0, 0, 0
	for _, x := range xs {
		switch {
		case math.IsNaN(x):
			nan++
		case math.IsInf(x, 0):
			inf++
		default:
			lo, hi, sum, sq = min(lo, x), max(hi, x), sum+x, sq+x*x
			n++
		}
	}
	if n == 0 {
		return fmt.Sprintf("nan %d  inf %d", nan, inf)
	}
	mean := sum / float64(n)
	return fmt.Sprintf("min %.4g  max %.4g  mean %.4g  std %.4g  nan %d  inf %d", lo, hi, mean, math.Sqrt(max(sq/float64(n)-mean*mean, 0)), nan, inf)
}

func warnings(c *Call) (Answer, error) {
	cells := c.Session.Cells()
	if len(cells) == 0 {
		return text("no cell has run yet")
	}
	n, err := optionalCount(c, "warnings", "[N]", len(cells))
	if err != nil {
		return Answer{}, err
	}
	x := c.Session.Cell(n)
	if x == nil {
		return Answer{}, &UsageError{"warnings", "[N]", fmt.Sprintf("there is no cell %d", n)}
	}
	if len(x.Warnings) == 0 {
		return text("In[%d] has no warnings", n)
	}
	var b strings.Builder
	for _, w := range x.Warnings {
		fmt.Fprintf(&b, "In[%d]:%d:%d: %s\n", n, w.Line, w.Column, w.Msg)
	}
	return Answer{Text: b.String()}, nil
}
