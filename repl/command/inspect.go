package command

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/viz"
)

const inspectUsage = "NAME [SLICE] [--full|--hist|--heat|--plot]"

// inspectWords completes names and the forms.
func inspectWords(s *repl.Session, prefix string) []string {
	return append(names(s, prefix), "--full", "--hist", "--heat", "--plot")
}

func inspectCommand(c *Call) (Answer, error) {
	if len(c.Args) == 0 {
		return Answer{}, &UsageError{"inspect", inspectUsage, "a name is wanted"}
	}
	name := c.Args[0]
	if looksBack(c.Session) || strings.Contains(name, "@") {
		p, err := findPast(c.Session, name)
		if err == nil {
			return showPast(c.Session, p)
		}
		if findVariable(c.Session, name) == nil || isTensorVariable(c.Session, name) {
			return Answer{}, err
		}
	}
	var forms, slice []string
	for _, a := range c.Args[1:] {
		switch {
		case !strings.HasPrefix(a, "--"):
			slice = append(slice, a)
		case a == "--full" || a == "--hist" || a == "--heat" || a == "--plot":
			forms = append(forms, a)
		default:
			return Answer{}, &UsageError{"inspect", inspectUsage, "no option " + a}
		}
	}
	v := findVariable(c.Session, name)
	if v == nil {
		return Answer{}, &UsageError{"inspect", inspectUsage, fmt.Sprintf("no variable %q, :who lists them", name)}
	}
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil {
		for _, a := range append(slice, forms...) {
			if a != "--full" {
				return Answer{}, &UsageError{"inspect", "NAME [--full]", a + " is for tensors"}
			}
		}
		return text("%s  %s  In[%d]\n%s", v.Name, v.Type, v.Cell, c.Session.FormatMore(interp.Shown{Value: v.Value, Type: v.Type, Name: v.Name + " --full"}, len(forms) > 0))
	}
	return inspectTensor(c.Session, t, name, strings.Join(slice, " "), forms)
}

// inspectTensor describes a tensor and draws it in the forms that are asked
// for. A form needs the numbers; without one, numbers that are not computed are
// not asked for: looking changes nothing.
func inspectTensor(s *repl.Session, t *tpu.Tensor, name, slice string, forms []string) (Answer, error) {
	if len(forms) > 0 || slice != "" {
		if err := tpu.Try(func() { t.Array() }); err != nil {
			return Answer{}, err
		}
	}
	if _, err := view.Cut(t.StorageView(), slice); err != nil {
		return Answer{}, err
	}
	d := view.TensorOf(t, name, slice)
	var b strings.Builder
	b.WriteString(d.Summary() + "\n")
	tb := viz.Table{Columns: []viz.Column{{}, {}}, Rows: d.Facts()}
	for i := range tb.Rows {
		tb.Rows[i] = append([]string{"  " + tb.Rows[i][0]}, tb.Rows[i][1:]...)
	}
	b.WriteString(picture(s, width, tb))
	a, known := t.Peek()
	switch {
	case !known:
		b.WriteString("\n  not computed yet: " + beforeItRuns(t))
		return Answer{Text: b.String()}, nil
	case a.Size() == 0:
		return Answer{Text: b.String()}, nil
	}
	b.WriteString("\n  " + d.Statistics())
	a.View, _ = view.Cut(a.View, slice)
	part := "[" + strings.Trim(strings.TrimSpace(slice), "[]") + "]"
	if slice == "" {
		part = ""
	}
	if len(forms) == 0 {
		b.WriteString("\n" + beside(a.Spec().String(), tpu.FormatArray(a)))
	}
	for _, f := range forms {
		b.WriteByte('\n')
		switch f {
		case "--full":
			b.WriteString(beside(a.Spec().String(), tpu.FormatWhole(a)))
		case "--hist":
			b.WriteString(picture(s, 72, d.Histogram()))
		case "--heat":
			note := name + d.Slice.Index
			if d.Slice.Rows < d.Slice.AllRow || d.Slice.Cols < d.Slice.AllCol {
				note += fmt.Sprintf("  %d of %d rows, %d of %d columns", d.Slice.Rows, d.Slice.AllRow, d.Slice.Cols, d.Slice.AllCol)
			}
			b.WriteString(note + "\n" + picture(s, 72, d.HeatMap()))
		case "--plot":
			b.WriteString(picture(s, 72, viz.Plot{Title: name + part, Series: []viz.PlotSeries{{Values: view.Sample(a)}}, XLabel: viz.Count(int64(a.Size())) + " elements"}))
		}
	}
	return Answer{Text: b.String()}, nil
}

// beside puts text after a type, its further lines indented as far.
func beside(spec, text string) string {
	return spec + " " + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(spec)+1))
}

// inspectValue describes a variable.
func inspectValue(s *repl.Session, v interp.Variable) (Answer, error) {
	if t, ok := v.Value.(*tpu.Tensor); ok && t != nil {
		return inspectTensor(s, t, v.Name, "", nil)
	}
	return text("%s  %s  In[%d]\n%s", v.Name, v.Type, v.Cell, s.Format(interp.Shown{Value: v.Value, Type: v.Type, Name: v.Name}))
}
