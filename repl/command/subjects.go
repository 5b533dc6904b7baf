package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect/xla"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
)

// A SubjectError says that nothing of a name can be compiled.
type SubjectError struct{ What, Why string }

// Error gives both.
func (e *SubjectError) Error() string { return e.What + ": " + e.Why }

// maxRebuilt is how many operations are made into one program.
const maxRebuilt = 20000

var cellName = regexp.MustCompile(`^(?:In\[)?(\d+)\]?$`)

// subjectsOf finds the programs that a word names: of a launch gN, of a cell,
// of a tensor, of a function. No word is the last cell that used the device.
func subjectsOf(s *repl.Session, what string) (title string, subjects []xla.Subject, err error) {
	d := s.Dispatcher()
	if n, ok := strings.CutPrefix(what, "g"); ok || what == "last" {
		if number, err := strconv.ParseInt(n, 10, 64); err == nil || what == "last" {
			return launchSubject(d, what, number)
		}
	}
	if m := cellName.FindStringSubmatch(what); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil || s.Cell(n) == nil {
			return "", nil, &SubjectError{what, fmt.Sprintf("no such cell, there are %d", len(s.Cells()))}
		}
		return cellSubjects(s, n)
	}
	if what == "" {
		records := d.History(1)
		if len(records) == 0 {
			return "", nil, &SubjectError{"programs", "nothing used the device yet"}
		}
		return cellSubjects(s, records[0].Cell)
	}
	v := findVariable(s, what)
	if v == nil {
		return "", nil, &SubjectError{what, "no such variable, cell (N), launch (gN) or file (.tpu, .mlir)"}
	}
	if t, ok := v.Value.(*tpu.Tensor); ok && t != nil {
		return tensorSubject(d, what, t)
	}
	return functionSubjects(s, what, v.Type)
}

func launchSubject(d *exec.Dispatcher, what string, number int64) (string, []xla.Subject, error) {
	groups := d.Groups()
	if len(groups) == 0 {
		return "", nil, &SubjectError{what, "nothing was launched yet"}
	}
	if what == "last" {
		number = groups[len(groups)-1].Number
	}
	for i := range groups {
		if g := &groups[i]; g.Number == number {
			return fmt.Sprintf("g%d", number), []xla.Subject{{Name: g.Name, Groups: []uint64{uint64(number)}, Graph: g.Graph}}, nil
		}
	}
	return "", nil, &SubjectError{what, fmt.Sprintf("not remembered; the last launch is g%d", groups[len(groups)-1].Number)}
}

// cellSubjects are the programs of a cell, and as one more what it launched
// operation by operation or has not launched yet.
func cellSubjects(s *repl.Session, cell int) (string, []xla.Subject, error) {
	d, title := s.Dispatcher(), fmt.Sprintf("In[%d]", cell)
	groups := slices.DeleteFunc(d.Groups(), func(g exec.Group) bool { return g.Cell != cell })
	subjects := xla.Distinct(groups)
	alone := map[int64]bool{}
	for i := range groups {
		if xla.Alone(&groups[i]) {
			alone[groups[i].Number] = true
		}
	}
	records := slices.DeleteFunc(d.History(0), func(r exec.Record) bool { return r.Cell != cell || r.Group != 0 && !alone[r.Group] })
	sub, err := rebuilt(title, records, kept(s))
	if err != nil || sub == nil {
		return title, subjects, err
	}
	return title, append(subjects, *sub), nil
}

// kept tells which values a program must leave behind: those that take HBM, and
// those of variables, computed or not.
func kept(s *repl.Session) func(exec.Ref) bool {
	named := map[uint64]bool{}
	for _, v := range s.Debugger().SessionVars() {
		if t, ok := v.Value.(*tpu.Tensor); ok && t != nil {
			named[t.Value().ID()] = true
		}
	}
	return func(r exec.Ref) bool { return xla.Held(r) || named[r.ID] }
}

// rebuilt makes one program of records; nil when nothing of them runs.
func rebuilt(name string, records []exec.Record, keep func(exec.Ref) bool) (*xla.Subject, error) {
	if len(records) > maxRebuilt {
		return nil, &SubjectError{name, fmt.Sprintf("%d operations were launched alone: too many for one program; :mode fuse or compiled cuts them", len(records))}
	}
	g := xla.FromRecords(name, records, keep)
	if g == nil || len(g.Outputs) == 0 {
		return nil, nil
	}
	return &xla.Subject{Name: name + " as one program", Graph: g}, nil
}

// tensorSubject is the program that made a tensor: its launch, or what of its
// cell leads to it.
func tensorSubject(d *exec.Dispatcher, name string, t *tpu.Tensor) (string, []xla.Subject, error) {
	v := t.Value()
	rec, ok := d.RecordOf(v.OpNumber())
	if !ok {
		return "", nil, &SubjectError{name, "no recorded operation made it"}
	}
	if rec.Group != 0 {
		for _, g := range d.Groups() {
			if g.Number == rec.Group && !xla.Alone(&g) {
				return name, []xla.Subject{{Name: g.Name, Groups: []uint64{uint64(g.Number)}, Graph: g.Graph}}, nil
			}
		}
	}
	records := slices.DeleteFunc(d.History(0), func(r exec.Record) bool { return r.Cell != rec.Cell })
	records = xla.Leading(records, v.ID())
	sub, err := rebuilt(name, records, func(r exec.Ref) bool { return r.ID == v.ID() })
	if err != nil || sub == nil {
		return name, nil, err
	}
	return name, []xla.Subject{*sub}, nil
}

// functionSubjects are the programs of a compiled function: the launches whose
// operations stand in its body. Of another function it is what its operations
// of the last cell that called it make as one program.
func functionSubjects(s *repl.Session, name, typ string) (string, []xla.Subject, error) {
	if !strings.HasPrefix(typ, "func(") {
		return "", nil, &SubjectError{name, "a " + typ + " is no tensor and no function"}
	}
	d, body := s.Dispatcher(), bodyOf(s, name)
	groups := slices.DeleteFunc(d.Groups(), func(g exec.Group) bool {
		return g.Reason != exec.ReasonCompiledCall || !slices.ContainsFunc(g.Ops, func(o exec.GroupOp) bool { return body.holds(o.Stack) })
	})
	if len(groups) > 0 {
		return name, xla.Distinct(groups), nil
	}
	records := slices.DeleteFunc(d.History(0), func(r exec.Record) bool { return !body.holds(r.Stack) })
	if len(records) == 0 {
		return "", nil, &SubjectError{name, "it was not called yet: its types are not known"}
	}
	last := records[len(records)-1].Cell
	records = slices.DeleteFunc(records, func(r exec.Record) bool { return r.Cell != last })
	sub, err := rebuilt(name, records, kept(s))
	if err != nil || sub == nil {
		return name, nil, err
	}
	return name, []xla.Subject{*sub}, nil
}

// A body is where a function was written.
type body struct {
	names       []string // of functions
	cell        int
	first, last int // lines of a literal, 0 for none
}

// bodyOf finds the body of a variable that holds a function: what stands to
// the right of its last assignment, or in tpu.Compile there.
func bodyOf(s *repl.Session, name string) body {
	b := body{names: []string{name}}
	assigned := regexp.MustCompile(`(?m)\b` + regexp.QuoteMeta(name) + `\s*:?=\s*(tpu\.Compile\(\s*)?(func\b|[\w.]+)`)
	cells := s.Cells()
	for i := len(cells) - 1; i >= 0; i-- {
		src := cells[i].Source
		m := assigned.FindStringSubmatchIndex(src)
		if m == nil {
			continue
		}
		b.cell, b.first = cells[i].ID, 1+strings.Count(src[:m[4]], "\n")
		if word := src[m[4]:m[5]]; word != "func" {
			b.names, b.first = append(b.names, word[strings.LastIndexByte(word, '.')+1:]), 0
			return b
		}
		b.last = b.first + strings.Count(src[m[4]:m[4]+blockLength(src[m[4]:])], "\n")
		return b
	}
	return b
}

// blockLength is how far the first block in braces of a text reaches.
func blockLength(src string) int {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(src)
}

func (b body) holds(st *trace.Stack) bool {
	if st == nil {
		return false
	}
	for _, f := range st.Frames {
		if b.last > 0 && f.Cell == b.cell && b.first <= f.Line && f.Line <= b.last {
			return true
		}
		if slices.Contains(b.names, f.Func) {
			return true
		}
	}
	return false
}

// quiet takes what the cells of a file print.
type quiet struct{}

func (quiet) Stream(string, string)  {}
func (quiet) Input() (string, error) { return "", io.EOF }

// fileSubjects runs a .tpu file in a session of its own, in compiled mode, and
// gives its programs. Cells that fail are passed over: a file may expect it.
func fileSubjects(ctx context.Context, path string, chip *device.Chip) ([]xla.Subject, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := repl.NewSession(repl.Options{Mode: exec.Compiled, Chip: chip.Name, Name: path})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for _, step := range repl.ParseNotebook(path, src).Steps {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		switch step.Kind {
		case repl.Code:
			s.Run(ctx, step.Text, path, step.Line, quiet{})
		case repl.Command:
			if mayChange(step.Text) {
				_, _ = Run(ctx, s, step.Text, quiet{})
			}
		}
	}
	d := s.Dispatcher()
	subjects := xla.Distinct(d.Groups())
	if len(subjects) > 0 {
		return subjects, nil
	}
	sub, err := rebuilt(path, d.History(0), kept(s))
	if err != nil {
		return nil, err
	}
	if sub == nil {
		return nil, &SubjectError{path, "it launched nothing"}
	}
	return []xla.Subject{*sub}, nil
}

// mayChange says whether a command of a file matters to the programs of later
// cells: those that are asked again of a new kernel do.
func mayChange(line string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ":"), " ")
	c, err := Lookup(name)
	return err == nil && c.Replay && c.Name != "device" && c.Name != "chip"
}
