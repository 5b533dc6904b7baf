package command

import (
	"fmt"
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
			Name: "inspect", Aliases: []string{"i"}, Group: Cells, Args: inspectUsage,
			Doc:     "shows a variable: for a tensor its layout, padding, statistics and values",
			Help:    "SLICE is as in Python: 0, or :, 2:8 or [-1, :3]. Of what it leaves, --heat draws the last two dimensions as shades and --plot the\nnumbers as a line; --hist shows how they are distributed, --full prints every element. Without these nothing is computed.",
			Example: "x := tpu.Arange(12).Reshape(3, 4)\n:inspect x 1:, :2 --heat", Run: inspectCommand, Complete: inspectWords,
		},
		{
			Name: "free", Group: Cells, Args: "NAME...|out",
			Doc:     "sets variables to nil or zero and gives their HBM back: what nothing else leads to; out means the results of cells",
			Help:    ":hbm says what each name would give. A name that was freed can be assigned again; :undo brings back what it held.",
			Example: "x := tpu.Ones(512, 512)\n:free x", Run: free,
			Complete: func(s *repl.Session, p string) []string { return append(names(s, p), "out") },
		},
		{
			Name: "warnings", Aliases: []string{"vet"}, Group: Cells, Args: "[N]",
			Doc: "lists the warnings of the last cell, or of cell N: unused names, functions that keep an old variable", Example: "func f() { y := 1 }\n:warnings", Run: warnings,
		},
	}
}

// findVariable finds a variable of the frame where a cell is stopped, or of the session.
func findVariable(s *repl.Session, name string) *interp.Variable {
	d := s.Debugger()
	if d.Stopped() != nil {
		if frames, err := d.Frames(); err == nil && d.Selected() < len(frames) {
			f := frames[d.Selected()]
			for _, l := range f.Locals {
				if l.Name == name && l.Ptr.IsValid() {
					return &interp.Variable{Name: name, Type: s.Interp().TypeText(l.Type), Value: l.Value(), Cell: f.Place.Cell}
				}
			}
		}
	}
	for _, v := range d.SessionVars() {
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
	return Answer{Text: picture(c.Session, width, tb) + fmt.Sprintf("\n%s, %s of HBM in tensors", viz.Plural(len(tb.Rows), "variable"), viz.Bytes(total))}, nil
}

func firstLine(s string, n int) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func isTensorVariable(s *repl.Session, name string) bool {
	v := findVariable(s, name)
	if v == nil {
		return false
	}
	_, ok := v.Value.(*tpu.Tensor)
	return ok
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
