package command

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/op"
)

// opClasses are the sections of the page of operations, in its order.
var opClasses = []struct {
	class op.Class
	title string
}{
	{op.Elementwise, "Elementwise"},
	{op.Reduce, "Reductions, scans and sorting"},
	{op.Contract, "Products and convolutions"},
	{op.Normalize, "Norms and softmax"},
	{op.Loss, "Losses"},
	{op.Move, "Movement"},
	{op.View, "Views"},
	{op.Index, "Indexing"},
	{op.Random, "Random numbers"},
	{op.Factory, "Making tensors"},
	{op.Collective, "Collectives"},
}

// OpsMarkdown is the page docs/ops.md: every operation with its names,
// parameters, gradient, example and what run says the example shows.
func OpsMarkdown(run func(example string) string) string {
	var b strings.Builder
	n := 0
	for _, t := range op.All() {
		n += len(t)
	}
	fmt.Fprintf(&b, "# Operations\n\nGenerated from the table in `runtime/op` by running each example; `go test ./repl/command -run Ops -update` rewrites it.\n\n"+
		"%d operations. A method is called on a tensor, a function in package `tpu`; `InPlace` after a method's name says that it also exists in a form that writes its receiver. "+
		"Parameters are PyTorch's; those with a default stand in an options struct, which may be left out. `:ops NAME` shows an entry in a session.\n", n)
	for _, c := range opClasses {
		rows := ofClass(c.class, true)
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", c.title)
		for _, d := range rows {
			opSection(&b, d, run)
		}
	}
	b.WriteString("\n## Steps of others\n\nOperations without a name in a program: gradients and parts of composites. They appear in `:ops` and `:fusion`.\n\n| operation | |\n|---|---|\n")
	for _, c := range opClasses {
		for _, d := range ofClass(c.class, false) {
			fmt.Fprintf(&b, "| `%s` | %s |\n", d.Name, d.Doc)
		}
	}
	return b.String()
}

// ofClass lists the rows of a class that a program can name, or those that it cannot.
func ofClass(c op.Class, named bool) []*op.Def {
	var rows []*op.Def
	for _, t := range op.All() {
		for i := range t {
			if t[i].Class == c && named == (t[i].Method != "" || t[i].Func != "") {
				rows = append(rows, &t[i])
			}
		}
	}
	return rows
}

func opSection(b *strings.Builder, d *op.Def, run func(string) string) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", d.Name, d.Doc)
	var names []string
	if d.Method != "" {
		m := "`x." + d.Method + "`"
		if d.InPlace {
			m += " (`InPlace`)"
		}
		names = append(names, m)
	}
	if d.Func != "" {
		names = append(names, "`tpu."+d.Func+"`")
	}
	if d.Torch != "" {
		names = append(names, "PyTorch `"+d.Torch+"`")
	}
	fmt.Fprintf(b, "%s · `(%s)`", strings.Join(names, ", "), parameters(d))
	if len(d.Results) > 0 {
		fmt.Fprintf(b, " → `%s`", strings.Join(d.Results, ", "))
	}
	if d.NoGrad != "" {
		fmt.Fprintf(b, " · no gradient: %s", d.NoGrad)
	}
	if d.Indices != nil {
		b.WriteString(" · index values are checked in debug mode")
	}
	fmt.Fprintf(b, "\n\n```go\n%s\n```\n", d.Example)
	if out := run(d.Example); out != "" {
		fmt.Fprintf(b, "```text\n%s\n```\n", out)
	}
}

// parameters lists names and defaults in PyTorch's order.
func parameters(d *op.Def) string {
	var ps []string
	for _, p := range d.Params {
		s := p.Name
		switch v := p.Default.(type) {
		case nil:
		case string:
			s += fmt.Sprintf("=%q", v)
		default:
			s += fmt.Sprintf("=%v", v)
		}
		ps = append(ps, s)
	}
	return strings.Join(ps, ", ")
}
