package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
)

// A pastTensor is what a variable named when an operation began.
type pastTensor struct {
	name    string
	opn     uint64
	binding exec.Binding
}

// findPast finds a tensor variable as it was where the session looks back, or,
// as x@12, when op #12 began.
func findPast(s *repl.Session, name string) (pastTensor, error) {
	d := s.Dispatcher()
	base, at, given := strings.Cut(name, "@")
	var opn uint64
	if given {
		n, err := strconv.ParseUint(strings.TrimPrefix(at, "#"), 10, 64)
		if err != nil {
			return pastTensor{}, &UsageError{"back", "[N|#OP]", fmt.Sprintf("%q is no operation", at)}
		}
		opn = n
	} else if r, ok := s.Cursor(); ok {
		opn = r.OpN
	}
	if _, ok := d.RecordOf(opn); !ok {
		return pastTensor{}, &notRecordedError{opn: opn, d: d}
	}
	var found *exec.Binding
	for _, b := range d.NamesAt(opn) {
		if b.Name == base && (found == nil || b.Serial != 0) { // a local hides a variable of the session
			found = &b
		}
	}
	if found == nil || found.Ref.ID == 0 {
		return pastTensor{}, &unknownNameError{base, opn}
	}
	return pastTensor{base, opn, *found}, nil
}

// pastSpec is the type of what a binding shows: the value seen through the variable's view.
func pastSpec(b exec.Binding) shape.Spec {
	s := b.Ref.Spec
	if b.Ref.ID != 0 {
		s.Dims = b.View.Dims
	}
	return s
}

// pastArray gives the numbers that a binding shows.
func pastArray(past *inspect.Past, b exec.Binding) (kernel.Array, inspect.Source, error) {
	a, source, err := past.Value(b.Ref)
	if err == nil {
		a.View = b.View
	}
	return a, source, err
}

func pastNumbers(past *inspect.Past, b exec.Binding) string { return arrayNumbers(pastArray(past, b)) }

// showPast describes a variable as it was.
func showPast(s *repl.Session, p pastTensor) (Answer, error) {
	a, source, err := pastArray(inspect.PastOf(s.Dispatcher()), p.binding)
	if err != nil {
		return Answer{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s as it was at op #%d  %v  %v\n", p.name, p.opn, pastSpec(p.binding), source)
	if made := madeBy(s, p.binding.Ref); made != "" {
		fmt.Fprintf(&b, "  made by  %s\n", made)
	}
	if a.Size() > 0 {
		fmt.Fprintf(&b, "  %v\n", inspect.StatsOf(a))
	}
	b.WriteString(tpu.FormatArray(a))
	return Answer{Text: b.String()}, nil
}

// beforeItRuns shows a tensor that is not computed: what it depends on is
// replayed beside the program, which then computes the same bits.
func beforeItRuns(t *tpu.Tensor) string {
	a, _, err := inspect.PastOf(tpu.Dispatcher()).Value(exec.RefOf(t.Value()))
	if err != nil {
		return "showing it would run what it depends on"
	}
	a.View = t.StorageView()
	if a.Size() == 0 {
		return "it has no elements"
	}
	return fmt.Sprintf("replayed beside the program\n  %v\n%s", inspect.StatsOf(a), tpu.FormatArray(a))
}

// printHere is :print; where the session looks back, a variable is shown as it was.
func printHere(c *Call) (Answer, error) {
	if len(c.Args) == 1 && (looksBack(c.Session) || strings.Contains(c.Rest, "@")) {
		if p, err := findPast(c.Session, c.Rest); err == nil {
			return showPast(c.Session, p)
		}
	}
	return printExpr(c)
}
