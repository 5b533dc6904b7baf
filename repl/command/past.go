package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/viz"
)

func pastCommands() []Command {
	return []Command{
		{
			Name: "ops", Group: Look, Args: "[N] [FILTER]",
			Doc:     "lists the last N operations: operands, result, statistics, group, mode and line",
			Help:    "FILTER is the name of an operation, ours or PyTorch's, which is described too; or it keeps those with the text in their name, type, group (g3) or place. :set history.ops says how many are kept.",
			Example: "x := tpu.Ones(2).Add(1)\n:ops 5 add", Run: ops,
		},
		{
			Name: "back", Group: Look, Args: "[N|#OP]",
			Doc:     "looks back N operations, or at operation #OP: its operands, its result, what the variables named then",
			Help:    "After it :inspect x and :print x show x as it was. Freed values are recomputed from their recipe and marked so. Running a cell ends looking back.",
			Example: "x := tpu.Ones(2)\nx = x.Add(1)\nx = x.Mul(3)\n:back", Run: back,
		},
		{
			Name: "forward", Aliases: []string{"fwd"}, Group: Look, Args: "[N]",
			Doc:     "goes forward again, after :back",
			Example: "x := tpu.Ones(2)\nx = x.Add(1)\n:back 2\n:forward", Run: forward,
		},
		{
			Name: "why", Group: Look, Args: "[err|gN|#OP|NAME]",
			Doc:     "explains the last error, a cut, or where a value comes from: the chain of source lines, operands and flushes",
			Example: "x := tpu.Ones(2)\ny := x.Add(1)\n:why y", Run: why, Complete: names,
		},
		insideCommand(),
	}
}

func ops(c *Call) (Answer, error) {
	n, filter := 20, ""
	for _, a := range c.Args {
		if k, err := strconv.Atoi(a); err == nil {
			if k < 1 {
				return Answer{}, &UsageError{"ops", "[N] [FILTER]", fmt.Sprintf("%q is no count", a)}
			}
			n = k
			continue
		}
		if filter != "" {
			return Answer{}, &UsageError{"ops", "[N] [FILTER]", "one filter is wanted"}
		}
		filter = a
	}
	d := c.Session.Dispatcher()
	past := inspect.PastOf(d)
	queued := map[uint64]bool{}
	for _, opn := range d.QueuedOps() {
		queued[opn] = true
	}
	var list []exec.Record
	all := d.History(0)
	for i := len(all) - 1; i >= 0 && len(list) < n; i-- {
		if matches(c.Session, &all[i], filter) {
			list = append(list, all[i])
		}
	}
	named := op.Find(filter)
	if len(list) == 0 {
		switch {
		case filter != "" && named != nil:
			return Answer{Text: opManual(named)}, nil
		case filter != "" && !placeLike(filter):
			return Answer{}, &OpNameError{filter, string(op.Nearest(filter)), len(all)}
		case len(all) > 0:
			return text("none of the last %d operations has %q", len(all), filter)
		}
		if k, _ := d.HistoryLimits(); k == 0 {
			return text("no operation is recorded: history.ops is 0")
		}
		return text("no operation has run")
	}
	tb := viz.Table{Columns: []viz.Column{{Title: "op", Right: true}, {Title: "what"}, {Title: "operands"}, {Title: "result"}, {Title: "numbers"}, {Title: "group"}, {Title: "mode"}, {Title: "line"}, {Title: "source"}}}
	for i := len(list) - 1; i >= 0; i-- {
		r := &list[i]
		f := r.Stack.Top()
		tb.Rows = append(tb.Rows, []string{fmt.Sprintf("#%d", r.OpN), string(r.Def.Name), specs(r.In), specs(r.Out), numbers(past, r.Out), groupOf(r, queued[r.OpN]), r.Mode.Name, placeOf(f), firstLine(sourceLine(c.Session, f), 40)})
	}
	var b strings.Builder
	if filter != "" && named != nil {
		fmt.Fprintf(&b, "%s  (PyTorch %s)  %s\n", named.Name, named.Torch, named.Doc)
	}
	b.WriteString(picture(c.Session, 180, tb))
	if first, _, forgotten := d.Recorded(); forgotten > 0 && list[len(list)-1].OpN == first {
		fmt.Fprintf(&b, "\nstart of recorded history: %d earlier operations are not kept", forgotten)
	}
	return Answer{Text: b.String()}, nil
}

// placeLike says whether a filter is a group, a place or a type rather than a name.
func placeLike(filter string) bool { return strings.ContainsAny(filter, "[]:#0123456789") }

// An OpNameError says that no operation has the name, and none that ran its text.
type OpNameError struct {
	Name, Nearest string
	Ran           int // operations that were looked through
}

// Error names the nearest operation.
func (e *OpNameError) Error() string {
	s := fmt.Sprintf(":ops: no operation is called %q", e.Name)
	if e.Ran > 0 {
		s += fmt.Sprintf(", and none of the last %d has the text", e.Ran)
	}
	if e.Nearest != "" {
		s += "; the nearest is " + e.Nearest
	}
	return s
}

// matches says whether a record has the text of a filter.
func matches(s *repl.Session, r *exec.Record, filter string) bool {
	if filter == "" {
		return true
	}
	f := r.Stack.Top()
	for _, x := range []string{string(r.Def.Name), specs(r.Out), specs(r.In), placeOf(f), r.Mode.Name, sourceLine(s, f)} {
		if strings.Contains(x, filter) {
			return true
		}
	}
	return filter == fmt.Sprintf("g%d", r.Group)
}

func specs(refs []exec.Ref) string {
	var parts []string
	for _, r := range refs {
		if r.ID != 0 {
			parts = append(parts, r.Spec.String())
		}
	}
	return strings.Join(parts, " ")
}

func groupOf(r *exec.Record, queued bool) string {
	switch {
	case r.Group > 0:
		return fmt.Sprintf("g%d", r.Group)
	case queued:
		return "queued"
	}
	return "-" // a view, or nothing ever needed it
}

// numbers is the statistics of results that exist, or why they do not.
func numbers(past *inspect.Past, refs []exec.Ref) string {
	if len(refs) == 0 {
		return ""
	}
	a, _, ok := past.Known(refs[0])
	switch {
	case ok:
		return inspect.StatsOf(a).String()
	case refs[0].Value != nil:
		return "not computed"
	}
	return "freed"
}

func back(c *Call) (Answer, error) {
	s := c.Session
	if opn, ok := opNumber(c.Rest); ok {
		r, ok := s.LookAt(opn)
		if !ok {
			return Answer{}, &notRecordedError{opn: opn, d: s.Dispatcher()}
		}
		return Answer{Text: moment(s, r)}, nil
	}
	n, err := optionalCount(c, "back", "[N|#OP]", 1)
	if err != nil {
		return Answer{}, err
	}
	r, left, ok := s.Look(n)
	if !ok {
		return text("nothing is recorded to look back at")
	}
	t := moment(s, r)
	if left > 0 {
		t = "start of recorded history\n" + t
	}
	return Answer{Text: t}, nil
}

func forward(c *Call) (Answer, error) {
	n, err := optionalCount(c, "forward", "[N]", 1)
	if err != nil {
		return Answer{}, err
	}
	s := c.Session
	if _, ok := s.Cursor(); !ok {
		s.Present()
		return text("this is the present; :back looks back")
	}
	r, _, ok := s.Look(-n)
	if !ok {
		return text("back in the present")
	}
	return Answer{Text: moment(s, r)}, nil
}

// A notRecordedError says that an operation is not kept.
type notRecordedError struct {
	opn uint64
	d   *exec.Dispatcher
}

// Error gives what is kept.
func (e *notRecordedError) Error() string {
	first, last, _ := e.d.Recorded()
	if last == 0 {
		return fmt.Sprintf("op #%d is not recorded; nothing is", e.opn)
	}
	return fmt.Sprintf("op #%d is not recorded: #%d to #%d are", e.opn, first, last)
}

// opNumber reads #12.
func opNumber(s string) (uint64, bool) {
	rest, ok := strings.CutPrefix(s, "#")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	return n, err == nil && n > 0
}

// moment shows an operation and what the variables named when it began.
func moment(s *repl.Session, r exec.Record) string {
	d := s.Dispatcher()
	past := inspect.PastOf(d)
	bound := d.NamesAt(r.OpN)
	var b strings.Builder
	b.WriteString(describe(s, &r, past, bound))
	if len(bound) > 0 {
		b.WriteString("\nvariables before it\n")
		tb := viz.Table{Columns: []viz.Column{{}, {}, {}, {}}}
		for _, x := range bound {
			if x.Ref.ID == 0 {
				continue
			}
			kind := ""
			if x.Serial != 0 {
				kind = "local"
			}
			tb.Rows = append(tb.Rows, []string{"  " + x.Name, pastSpec(x).String(), kind, pastNumbers(past, x)})
		}
		b.WriteString(picture(s, 120, tb))
	}
	return b.String()
}

// describe shows an operation with its operands and results.
func describe(s *repl.Session, r *exec.Record, past *inspect.Past, bound []exec.Binding) string {
	d := s.Dispatcher()
	f := r.Stack.Top()
	var b strings.Builder
	fmt.Fprintf(&b, "op #%d %s   %s mode", r.OpN, r.Def.Name, r.Mode.Name)
	switch {
	case r.Group > 0:
		if rep, err := inspect.ReplayGroup(d, r.Group); err == nil && len(rep.Ops) > 1 {
			for i := range rep.Ops {
				if rep.Ops[i].OpN == r.OpN {
					fmt.Fprintf(&b, ", op %d of %d in g%d", i+1, len(rep.Ops), r.Group)
				}
			}
		} else {
			fmt.Fprintf(&b, ", g%d", r.Group)
		}
	case len(r.Out) > 0 && r.Out[0].Value != nil && d.State(r.Out[0].Value) == exec.Deferred:
		b.WriteString(", not launched")
	}
	fmt.Fprintf(&b, "   %s  %s\n", placeOf(f), firstLine(sourceLine(s, f), 60))
	tb := viz.Table{Columns: []viz.Column{{}, {}, {}, {}, {}}}
	params := r.Def.Inputs()
	for i, x := range r.In {
		if x.ID == 0 {
			continue
		}
		p := params[min(i, len(params)-1)].Name
		tb.Rows = append(tb.Rows, []string{"  " + p, nameOf(bound, x.ID), x.Spec.String(), madeBy(s, x), refNumbers(past, x)})
	}
	for i, x := range r.Out {
		p := "result"
		if i < len(r.Def.Results) {
			p = r.Def.Results[i]
		}
		tb.Rows = append(tb.Rows, []string{"  " + p, "", x.Spec.String(), "", refNumbers(past, x)})
	}
	if attrs := attributes(r); attrs != "" {
		tb.Rows = append(tb.Rows, []string{"  with", "", attrs})
	}
	b.WriteString(picture(s, 180, tb))
	return b.String()
}

// attributes lists the arguments of an operation that are no tensors.
func attributes(r *exec.Record) string {
	var parts []string
	for _, a := range r.Attrs {
		if a.Value != nil && a.Value != dtype.Invalid {
			parts = append(parts, fmt.Sprintf("%s=%v", a.Name, a.Value))
		}
	}
	return strings.Join(parts, " ")
}

func nameOf(bound []exec.Binding, id uint64) string {
	for _, b := range bound {
		if b.Ref.ID == id {
			return b.Name
		}
	}
	return ""
}

// madeBy says which operation, at which line, made a value.
func madeBy(s *repl.Session, r exec.Ref) string {
	if r.OpN == 0 {
		if r.Spec.Weak {
			return "a number"
		}
		if v := r.Value; v != nil && v.Stack() != nil {
			return v.What() + " at " + placeOf(v.Stack().Top())
		}
		return "from the host"
	}
	rec, ok := s.Dispatcher().RecordOf(r.OpN)
	if !ok {
		return fmt.Sprintf("#%d", r.OpN)
	}
	return fmt.Sprintf("#%d %s at %s", r.OpN, rec.Def.Name, placeOf(rec.Stack.Top()))
}

func refNumbers(past *inspect.Past, r exec.Ref) string {
	a, source, err := past.Value(r)
	return arrayNumbers(a, source, err)
}

func arrayNumbers(a kernel.Array, source inspect.Source, err error) string {
	if err != nil {
		return firstLine(err.Error(), 80)
	}
	mark := ""
	if source == inspect.Recomputed {
		mark = "  (recomputed)"
	}
	if a.Size() == 1 {
		return strings.TrimSpace(tpu.FormatArray(a)) + mark
	}
	return inspect.StatsOf(a).String() + mark
}

// An unknownNameError says that nothing recorded has a name.
type unknownNameError struct {
	name string
	opn  uint64
}

// Error names the variable and the moment.
func (e *unknownNameError) Error() string {
	return fmt.Sprintf("there was no tensor variable %q when op #%d began, or it is not recorded", e.name, e.opn)
}

func why(c *Call) (Answer, error) {
	s := c.Session
	const usage = "[err|gN|#OP|NAME]"
	if len(c.Args) == 0 || c.Args[0] == "err" {
		return whyError(s)
	}
	name := c.Args[0]
	if name[0] == 'g' && len(name) > 1 && name[1] >= '0' && name[1] <= '9' {
		return groupAnswer(s, name)
	}
	if opn, ok := opNumber(name); ok {
		r, ok := s.Dispatcher().RecordOf(opn)
		if !ok {
			return Answer{}, &notRecordedError{opn: opn, d: s.Dispatcher()}
		}
		return Answer{Text: describe(s, &r, inspect.PastOf(s.Dispatcher()), s.Dispatcher().NamesAt(opn)) + "\n" + chain(s, &r) + flushed(s, opn)}, nil
	}
	if strings.Contains(name, "@") || looksBack(s) {
		p, err := findPast(s, name)
		if err == nil {
			return Answer{Text: originOfPast(s, p)}, nil
		}
		var unknown *unknownNameError
		if !errors.As(err, &unknown) || strings.Contains(name, "@") {
			return Answer{}, err
		}
	}
	v := findVariable(s, name)
	if v == nil {
		return Answer{}, &UsageError{"why", usage, fmt.Sprintf("no variable %q", name)}
	}
	t, ok := v.Value.(*tpu.Tensor)
	if !ok || t == nil {
		return text("%s  %s, made by In[%d]", v.Name, v.Type, v.Cell)
	}
	return Answer{Text: origin(s, v.Name, t)}, nil
}

func looksBack(s *repl.Session) bool {
	_, ok := s.Cursor()
	return ok
}

// whyError shows the last failure, its causes, and the operation's operands.
func whyError(s *repl.Session) (Answer, error) {
	x := s.LastError()
	if x == nil {
		return text("nothing has failed")
	}
	var b strings.Builder
	for _, r := range x.Reports {
		fmt.Fprintf(&b, "In[%d] %s: %s\n%s\n", x.ID, r.Kind, r.Message, strings.Join(r.Block, "\n"))
		said := r.Message
		for err := errors.Unwrap(r.Err); err != nil; err = errors.Unwrap(err) {
			if text := err.Error(); !strings.Contains(said, text) { // wrappers add a place or a type, and may add no words
				fmt.Fprintf(&b, "   because %s\n", text)
				said = text
			}
		}
		var oe *exec.OpError
		if !errors.As(r.Err, &oe) || oe.OpN == 0 {
			continue
		}
		if rec, ok := s.Dispatcher().RecordOf(oe.OpN); ok {
			fmt.Fprintf(&b, "%s\n%s", describe(s, &rec, inspect.PastOf(s.Dispatcher()), s.Dispatcher().NamesAt(oe.OpN)), chain(s, &rec))
			b.WriteString(flushed(s, oe.OpN))
		}
	}
	return Answer{Text: b.String()}, nil
}

// origin tells the story of a tensor: the operation and the lines that made
// it, what went in, the group that computed it, what holds it.
func origin(s *repl.Session, name string, t *tpu.Tensor) string {
	val := t.Value()
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %v  %s\n", name, t.Spec(), t.State())
	fmt.Fprintf(&b, "  made by op #%d %s", val.OpNumber(), val.What())
	if st := val.Stack(); st != nil {
		for i, f := range st.Frames {
			lead := " at "
			if i > 0 {
				lead = "\n    called from "
			}
			fmt.Fprintf(&b, "%s%s  %s", lead, placeOf(f), firstLine(strings.TrimSpace(sourceLine(s, f)), 60))
		}
	}
	b.WriteByte('\n')
	if rec, ok := s.Dispatcher().RecordOf(val.OpNumber()); ok {
		b.WriteString(chain(s, &rec))
	}
	b.WriteString(flushed(s, val.OpNumber()))
	fmt.Fprintf(&b, "  HBM %s, %s of it numbers, layout %v\n", viz.Bytes(val.HBMBytes()), viz.Bytes(t.Bytes()), t.Layout())
	if fn := t.GradFn(); fn != "" {
		fmt.Fprintf(&b, "  gradient by %s\n", fn)
	}
	return b.String()
}

func originOfPast(s *repl.Session, p pastTensor) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at op #%d  %v\n", p.name, p.opn, pastSpec(p.binding))
	if rec, ok := s.Dispatcher().RecordOf(p.binding.Ref.OpN); ok {
		fmt.Fprintf(&b, "  made by op #%d %s at %s  %s\n", rec.OpN, rec.Def.Name, placeOf(rec.Stack.Top()), firstLine(sourceLine(s, rec.Stack.Top()), 60))
		b.WriteString(chain(s, &rec))
		b.WriteString(flushed(s, rec.OpN))
	} else {
		fmt.Fprintf(&b, "  %s\n", madeBy(s, p.binding.Ref))
	}
	return b.String()
}

// chainLines bounds how much of a chain is shown.
const chainLines = 16

// chain lists the operations that lead to one, nearest first, each once.
func chain(s *repl.Session, r *exec.Record) string {
	d := s.Dispatcher()
	type item struct {
		ref   exec.Ref
		depth int
	}
	var todo []item
	push := func(r *exec.Record, depth int) {
		var in []item
		for _, x := range r.In {
			if x.ID != 0 && !(x.OpN == 0 && x.Spec.Weak) {
				in = append(in, item{x, depth})
			}
		}
		todo = append(in, todo...)
	}
	push(r, 1)
	seen := map[uint64]bool{}
	var b strings.Builder
	for lines := 0; len(todo) > 0; {
		x := todo[0]
		todo = todo[1:]
		if seen[x.ref.ID] {
			continue
		}
		seen[x.ref.ID] = true
		if lines == chainLines {
			fmt.Fprintf(&b, "  … and more; :why #%d goes on\n", x.ref.OpN)
			break
		}
		lines++
		lead := strings.Repeat("  ", min(x.depth, 12)) + "from "
		rec, ok := d.RecordOf(x.ref.OpN)
		switch {
		case x.ref.OpN == 0 || !ok:
			what := madeBy(s, x.ref)
			if x.ref.OpN > 0 {
				what += ", before the start of recorded history"
			}
			fmt.Fprintf(&b, "%s%v  %s\n", lead, x.ref.Spec, what)
		default:
			f := rec.Stack.Top()
			name := nameOf(d.NamesAt(r.OpN), x.ref.ID)
			if name != "" {
				name += "  "
			}
			fmt.Fprintf(&b, "%s%s%v  #%d %s at %s  %s\n", lead, name, x.ref.Spec, rec.OpN, rec.Def.Name, placeOf(f), firstLine(sourceLine(s, f), 50))
			push(&rec, x.depth+1)
		}
	}
	return b.String()
}

// flushed says which launch computed an operation and why it was cut.
func flushed(s *repl.Session, opn uint64) string {
	if opn == 0 {
		return ""
	}
	for _, g := range s.Dispatcher().Groups() {
		for _, o := range g.Ops {
			if o.OpN != opn {
				continue
			}
			at := ""
			if g.CutAt != nil && g.Reason != exec.ReasonEveryOp {
				at = "  (" + placeOf(g.CutAt.Top()) + "  " + firstLine(sourceLine(s, g.CutAt.Top()), 50) + ")"
			}
			return fmt.Sprintf("  computed in g%d (%d ops), cut because %s: %s%s\n", g.Number, len(g.Ops), g.Reason, g.Reason.Row().Doc, at)
		}
	}
	return ""
}
