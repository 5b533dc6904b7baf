package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/repl/view"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

const fusionUsage = "[gN|last|N]"

// everyGroup is more launches than are remembered.
const everyGroup = 1 << 20

func fusion(c *Call) (Answer, error) {
	if len(c.Args) > 0 && (c.Args[0] == "last" || c.Args[0][0] == 'g') {
		return groupAnswer(c.Session, c.Args[0])
	}
	n, err := optionalCount(c, "fusion", fusionUsage, 12)
	if err != nil {
		return Answer{}, err
	}
	f, err := view.New(c.Session).Fusion(inspect.FusionArgs{Last: everyGroup})
	if err != nil {
		return Answer{}, err
	}
	if len(f.Groups) == 0 {
		return text("nothing was launched yet, %d ops queued", f.Queued)
	}
	var b strings.Builder
	b.WriteString(f.Summary() + "\n")
	if len(f.Groups) > n {
		fmt.Fprintf(&b, "… %d earlier rows\n", len(f.Groups)-n)
	}
	b.WriteString(picture(c.Session, 132, f.Table(n)))
	return Answer{Text: b.String()}, nil
}

// groupAnswer explains the group of a name: gN or last.
func groupAnswer(s *repl.Session, name string) (Answer, error) {
	v := view.New(s)
	f, err := v.Fusion(inspect.FusionArgs{Last: everyGroup, Unfold: true})
	if err != nil {
		return Answer{}, err
	}
	ran := slices.DeleteFunc(slices.Clone(f.Groups), func(g inspect.FusionGroup) bool { return g.Pending })
	if len(f.Groups) == 0 {
		return Answer{}, &UsageError{"fusion", fusionUsage, "nothing was launched yet"}
	}
	want := f.Groups[len(f.Groups)-1].Number
	if len(ran) > 0 {
		want = ran[len(ran)-1].Number
	}
	if name != "last" && name != "" {
		if want, err = strconv.ParseUint(strings.TrimPrefix(name, "g"), 10, 64); err != nil {
			return Answer{}, &UsageError{"fusion", fusionUsage, fmt.Sprintf("%q is no group", name)}
		}
	}
	d, err := v.Fusion(inspect.FusionArgs{Last: everyGroup, Detail: want})
	if err != nil {
		return Answer{}, err
	}
	if d.Detail == nil {
		return Answer{}, &UsageError{"fusion", fusionUsage, fmt.Sprintf("group g%d is not remembered; the last is g%d", want, f.Groups[len(f.Groups)-1].Number)}
	}
	return Answer{Text: groupText(s, d.Detail)}, nil
}

// How many rows of a group are printed.
const (
	printedOps     = 40
	printedKernels = 20
)

func groupText(s *repl.Session, d *inspect.GroupDetail) string {
	g := &d.Group
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s   %s mode\n", g.Label(), g.Name, g.Mode)
	b.WriteString(picture(s, 132, viz.Lines{Rows: d.Explain()}) + "\n")
	ops := d.OpTable(func(at inspect.At) string {
		return firstLine(strings.TrimSpace(sourceLine(s, trace.Frame{Cell: at.Cell, Line: at.Line})), 44)
	})
	if n := len(ops.Rows); n > printedOps {
		ops.Rows = append(ops.Rows[:printedOps], []string{"", fmt.Sprintf("… %d more", n-printedOps)})
	}
	b.WriteString(picture(s, 132, ops))
	if kernels := d.KernelTable(); len(kernels.Rows) > 0 {
		if n := len(kernels.Rows); n > printedKernels {
			kernels.Rows = append(kernels.Rows[:printedKernels], []string{"", fmt.Sprintf("… %d more", n-printedKernels)})
		}
		b.WriteString("\n" + picture(s, 132, kernels))
	}
	if len(d.Collectives) > 0 {
		b.WriteString("\n" + picture(s, 132, d.CollectiveTable()))
	}
	return b.String()
}

func graphCommand(c *Call) (Answer, error) {
	args := inspect.GraphArgs{}
	for _, a := range c.Args {
		switch n, err := strconv.ParseUint(strings.TrimPrefix(a, "g"), 10, 64); {
		case a == "--text":
			args.Text = true
		case a == "last":
		case err != nil || a[0] != 'g':
			return Answer{}, &UsageError{"graph", "[gN|last] [--text]", fmt.Sprintf("%q is no group", a)}
		default:
			args.Group = n
		}
	}
	g, err := view.New(c.Session).Graph(args)
	if err != nil {
		return Answer{}, err
	}
	switch {
	case len(g.Nodes) == 0 && g.Last == 0:
		return Answer{}, &UsageError{"graph", "[gN|last] [--text]", "nothing was launched yet"}
	case len(g.Nodes) == 0:
		return Answer{}, &UsageError{"graph", "[gN|last] [--text]", fmt.Sprintf("group g%d is not remembered; there are g%d to g%d", args.Group, g.First, g.Last)}
	case args.Text && g.Text != "":
		return Answer{Text: g.Text}, nil
	}
	d := g.Drawing()
	w, _ := d.Size()
	head := fmt.Sprintf("g%d %s", g.Group, g.Name)
	if g.Pending {
		head += "   waits in the queue"
	}
	if g.Left > 0 {
		head += fmt.Sprintf("   %d earlier operations left out", g.Left)
	}
	return Answer{Text: head + "\n" + picture(c.Session, max(w, 1), d)}, nil
}

// foldedGroups are the launches that are remembered, turns of loops as one.
func foldedGroups(s *repl.Session) ([]inspect.FusionGroup, error) {
	f, err := view.New(s).Fusion(inspect.FusionArgs{Last: everyGroup})
	return slices.DeleteFunc(f.Groups, func(g inspect.FusionGroup) bool { return g.Pending }), err
}
