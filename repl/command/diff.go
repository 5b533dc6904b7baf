package command

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/tpu"
)

func diffCommands() []Command {
	return []Command{
		{
			Name: "diff", Idle: true, Group: Look, Args: "A B | --modes M1 M2 [CELL]",
			Doc:     "compares two values, or what a cell computes in two modes: how many elements differ, max abs, rel and ulp, the first",
			Help:    "A value is a variable, x@12 (as it was at op #12) or #12 (the result of op #12). --modes runs the cell again in each mode from the state before it, compares op by op, and puts the session back; what the cell prints is dropped, what it does to files happens again.",
			Example: "x := tpu.Of(1.0, 2.0)\ny := x.Mul(1.0000001)\n:diff x y", Run: diff, Complete: names,
		},
		{
			Name: "undo", Idle: true, Group: Session,
			Doc:     "gives variables and names the state before the last cell: again, before the one before it",
			Help:    "Tensors get their former values, Go values their former contents, in place. What was printed or written to files stays, and so do channels and objects of native packages; the answer names them. State is kept for the last cells only.",
			Example: "x := tpu.Ones(2)\nx = x.Mul(3)\n:undo", Run: undo,
		},
	}
}

func diff(c *Call) (Answer, error) {
	const usage = "A B | --modes M1 M2 [CELL]"
	if len(c.Args) > 0 && c.Args[0] == "--modes" {
		return diffModes(c)
	}
	if len(c.Args) != 2 {
		return Answer{}, &UsageError{"diff", usage, "two values are wanted"}
	}
	var arrays [2]kernel.Array
	notes := ""
	for i, name := range c.Args {
		a, note, err := arrayOf(c.Session, name)
		if err != nil {
			return Answer{}, err
		}
		arrays[i] = a
		if note != "" {
			notes += fmt.Sprintf("\n%s is %s", name, note)
		}
	}
	d, err := inspect.Compare(arrays[0], arrays[1])
	if err != nil {
		return Answer{}, err
	}
	return text("%s  %v\n%s  %v\n%v%s", c.Args[0], d.A, c.Args[1], d.B, d, notes)
}

// arrayOf gives the numbers of a variable, of x@12, or of #12, and what is to
// be said of them.
func arrayOf(s *repl.Session, name string) (kernel.Array, string, error) {
	past := inspect.PastOf(s.Dispatcher())
	if opn, ok := opNumber(name); ok {
		r, ok := s.Dispatcher().RecordOf(opn)
		if !ok || len(r.Out) == 0 {
			return kernel.Array{}, "", &notRecordedError{opn: opn, d: s.Dispatcher()}
		}
		a, source, err := past.Value(r.Out[0])
		return a, marked(source), err
	}
	if looksBack(s) || strings.Contains(name, "@") {
		p, err := findPast(s, name)
		if err != nil {
			return kernel.Array{}, "", err
		}
		a, source, err := pastArray(past, p.binding)
		return a, marked(source), err
	}
	v := findVariable(s, name)
	if v == nil {
		return kernel.Array{}, "", &UsageError{"diff", "A B", fmt.Sprintf("no variable %q", name)}
	}
	t, ok := v.Value.(*tpu.Tensor)
	if ok && t == nil {
		return kernel.Array{}, "", &UsageError{"diff", "A B", name + " is nil"}
	}
	if !ok {
		return kernel.Array{}, "", &UsageError{"diff", "A B", fmt.Sprintf("%s is no tensor but %s", name, v.Type)}
	}
	a, source, err := past.Value(exec.RefOf(t.Value()))
	if err == nil {
		a.View = t.StorageView()
	}
	return a, marked(source), err
}

func marked(s inspect.Source) string {
	if s == inspect.Recomputed {
		return s.String()
	}
	return ""
}

// A modeRun is what a cell computed in one mode.
type modeRun struct {
	mode   *exec.Mode
	ops    []exec.Record
	arrays [][]kernel.Array // per op and result; Valid is false where nothing is known
	err    error
}

func diffModes(c *Call) (Answer, error) {
	const usage = "--modes M1 M2 [CELL]"
	if len(c.Args) < 3 || len(c.Args) > 4 {
		return Answer{}, &UsageError{"diff", usage, "two modes are wanted"}
	}
	s := c.Session
	id := len(s.Cells())
	if len(c.Args) == 4 {
		n, err := strconv.Atoi(strings.Trim(strings.TrimPrefix(c.Args[3], "In"), "[]"))
		if err != nil {
			return Answer{}, &UsageError{"diff", usage, fmt.Sprintf("%q is no cell", c.Args[3])}
		}
		id = n
	}
	var modes []*exec.Mode
	for _, name := range c.Args[1:3] {
		m, err := exec.LookupMode(name)
		if err != nil {
			return Answer{}, err
		}
		modes = append(modes, m)
	}
	var runs []modeRun
	err := s.Rerun(c.Ctx, id, modes, func(r repl.Rerun) {
		x := modeRun{mode: r.Mode, ops: r.Ops, err: r.Err}
		past := inspect.PastOf(s.Dispatcher())
		for i := range r.Ops {
			var arrays []kernel.Array
			for _, o := range r.Ops[i].Out {
				a, _, err := past.Value(o)
				if err != nil {
					a = kernel.Array{}
				}
				arrays = append(arrays, a)
			}
			x.arrays = append(x.arrays, arrays)
		}
		runs = append(runs, x)
	})
	if err != nil {
		return Answer{}, err
	}
	if len(runs) < 2 {
		return text("interrupted")
	}
	return Answer{Text: compareRuns(s, id, &runs[0], &runs[1])}, nil
}

// compareRuns finds the first operation whose results differ.
func compareRuns(s *repl.Session, id int, a, b *modeRun) string {
	var t strings.Builder
	fmt.Fprintf(&t, "In[%d]: %d ops in %s, %d in %s\n", id, len(a.ops), a.mode.Name, len(b.ops), b.mode.Name)
	for _, r := range []*modeRun{a, b} {
		if r.err != nil {
			fmt.Fprintf(&t, "in %s it fails: %s\n", r.mode.Name, firstLine(repl.ErrorText(r.err), 100))
		}
	}
	at := func(r *exec.Record) string {
		f := r.Stack.Top()
		return fmt.Sprintf("%s at %s  %s", r.Def.Name, placeOf(f), firstLine(sourceLine(s, f), 60))
	}
	compared, unknown := 0, 0
	for i := range min(len(a.ops), len(b.ops)) {
		x, y := &a.ops[i], &b.ops[i]
		if x.Def != y.Def {
			fmt.Fprintf(&t, "the programs part at op %d: %s, and %s", i+1, at(x), at(y))
			return t.String()
		}
		for k := range min(len(a.arrays[i]), len(b.arrays[i])) {
			if !a.arrays[i][k].Valid() || !b.arrays[i][k].Valid() {
				unknown++
				continue
			}
			d, err := inspect.Compare(a.arrays[i][k], b.arrays[i][k])
			compared++
			if err != nil {
				fmt.Fprintf(&t, "first difference at op %d %s\n%v", i+1, at(x), err)
				return t.String()
			}
			if d.Differing > 0 {
				fmt.Fprintf(&t, "first difference at op %d %s\n%v", i+1, at(x), d)
				return t.String()
			}
		}
	}
	if len(a.ops) != len(b.ops) {
		long := a
		if len(b.ops) > len(a.ops) {
			long = b
		}
		fmt.Fprintf(&t, "only %s has op %d: %s", long.mode.Name, min(len(a.ops), len(b.ops))+1, at(&long.ops[min(len(a.ops), len(b.ops))]))
		return t.String()
	}
	fmt.Fprintf(&t, "%d results compared, all with equal bits", compared)
	if unknown > 0 {
		fmt.Fprintf(&t, "; %d are not known in both", unknown)
	}
	return t.String()
}

func undo(c *Call) (Answer, error) {
	if len(c.Args) > 0 {
		return Answer{}, &UsageError{"undo", "", "no argument is wanted"}
	}
	u, err := c.Session.Undo()
	var no *repl.NoUndoError
	if errors.As(err, &no) {
		return Answer{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the state before In[%d]", u.Cell)
	if len(u.Names) > 0 {
		fmt.Fprintf(&b, "\nrestored   %s", list(u.Names))
	}
	if len(u.Forgotten) > 0 {
		fmt.Fprintf(&b, "\nforgotten  %s", list(u.Forgotten))
	}
	var kept []string
	for name := range u.Kept {
		kept = append(kept, name)
	}
	sort.Strings(kept)
	for _, name := range kept {
		fmt.Fprintf(&b, "\nas it is   %s: %s", name, u.Kept[name])
	}
	b.WriteString("\nwhat was printed or written to files stays")
	return Answer{Text: b.String()}, nil
}

// listed bounds the names of an answer.
const listed = 20

func list(names []string) string {
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:listed], " "), len(names)-listed)
	}
	return strings.Join(names, " ")
}
