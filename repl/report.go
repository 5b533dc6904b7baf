package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
)

// A Report is a failure made ready to be shown: one line for editors, then a picture.
type Report struct {
	Kind    string // kind word: syntax, type, panic, bounds, shape, dtype, oom, …
	Message string // one line
	File    string // "" for a typed cell
	Cell    int
	Line    int // in File when there is one, else in the cell
	Column  int
	Block   []string // the picture below the line
	Err     error
}

// A kindRow maps typed errors to a kind word. The first row that matches wins.
type kindRow struct {
	word  string
	doc   string
	match func(error) bool
}

func is[T error](err error) bool {
	var t T
	return errors.As(err, &t)
}

func anyOf(tests ...func(error) bool) func(error) bool {
	return func(err error) bool {
		for _, t := range tests {
			if t(err) {
				return true
			}
		}
		return false
	}
}

// kinds is the table of kind words. syntax and type come from the compiler, see reports.
var kinds = []kindRow{
	{"bounds", "an index points outside its tensor", anyOf(is[*exec.BoundsError], is[*shape.IndexError])},
	{"oom", "HBM or host memory is full", anyOf(is[*device.OutOfMemoryError], is[*device.HostMemoryError])},
	{"shape", "shapes, axes, sizes or views do not fit", anyOf(
		is[*shape.MismatchError], is[*shape.AxisError], is[*shape.ArgumentError], is[*shape.SizeError], is[*shape.CountError], is[*shape.NotViewableError],
		is[*shape.ExpandError], is[*shape.RankError], is[*shape.OverlapError], is[*tpu.TooManyIndicesError], is[*tpu.MaskError], is[*tpu.ScalarError],
		is[*tpu.RaggedError], is[*op.EmptyListError],
	)},
	{"dtype", "element types do not fit", anyOf(
		is[*dtype.PromotionError], is[*op.TypesError], is[*op.TypeError], is[*tpu.CastError], is[*tpu.OperandError], is[*tpu.IndexTypeError], is[*tpu.SaveTypeError],
		is[*kernel.UnsupportedError],
	)},
	{"grad", "the gradient tape refuses", anyOf(
		is[*tpu.NoGraphError], is[*tpu.NeedsScalarError], is[*tpu.GraphFreedError], is[*tpu.SavedModifiedError], is[*tpu.UnusedError], is[*tpu.GradTypeError],
		is[*tpu.NotLeafError], is[*tpu.LeafWriteError], is[*tpu.ViewWriteError], is[*tpu.OutGradError],
	)},
	{"timeout", "the time limit was reached", is[*interp.TimeoutError]},
	{"interrupt", "the user interrupted the cell", is[*interp.InterruptError]},
	{"deadlock", "every goroutine of the cell waits", is[*interp.DeadlockError]},
	{"depth", "calls were nested too deeply", is[*interp.DepthError]},
	{"device", "the device cannot do it", anyOf(is[*exec.ReadWhileTracingError], is[*exec.CacheOnlyError], is[*tpu.ChipInUseError], is[*device.UnknownChipError])},
	{"panic", "the program panicked", is[*interp.PanicError]},
	{"internal", "a bug of tpush", func(error) bool { return true }},
}

// KindOf gives the kind word of an error.
func KindOf(err error) string {
	for _, k := range kinds {
		if k.match(err) {
			return k.word
		}
	}
	return "internal"
}

// reports turns the error of a cell into what is shown: one report, or one per
// mistake the compiler found.
func (s *Session) reports(c *Cell, err error) []*Report {
	var ce *cell.CompileError
	if errors.As(err, &ce) {
		var list []*Report
		for _, d := range ce.Diagnostics {
			f := trace.Frame{Cell: d.Cell, Line: d.Line, Column: d.Column, File: c.File}
			if c.File != "" {
				f.FileLine = c.FirstLine + d.Line - 1
			}
			r := s.at(&Report{Kind: d.Kind, Message: d.Msg, Err: err}, f)
			r.Block = s.pointer(f)
			list = append(list, r)
		}
		return list
	}
	r := &Report{Kind: KindOf(err), Message: message(err), Err: err}
	st := stackOf(err)
	if st == nil || len(st.Frames) == 0 {
		st = &trace.Stack{Frames: []trace.Frame{{Cell: c.ID, File: c.File, FileLine: c.FirstLine, Line: 1}}}
	}
	s.at(r, st.Top())
	r.Block = s.picture(err, st)
	return []*Report{r}
}

// at fills in the place.
func (s *Session) at(r *Report, f trace.Frame) *Report {
	r.Cell, r.File, r.Line, r.Column = f.Cell, f.File, f.Line, f.Column
	if f.File != "" && f.FileLine > 0 {
		r.Line = f.FileLine
	}
	return r
}

// message is the text of the innermost error that says what happened, on one line.
func message(err error) string {
	var pe *interp.PanicError
	var te *tpu.Error
	switch {
	case errors.As(err, &te):
		err = te
	case errors.As(err, &pe):
		return oneLine(pe.Text)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return oneLine(err.Error())
}

func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i] + " …"
	}
	return s
}

// stackOf finds the user's stack that an error carries: where the operation
// was written, not where somebody waited for it.
func stackOf(err error) *trace.Stack {
	var b *exec.BoundsError
	var f *exec.FailedValueError
	var o *exec.OpError
	var p *interp.PanicError
	switch {
	case errors.As(err, &b) && b.Stack != nil:
		return b.Stack
	case errors.As(err, &f) && f.Origin.Stack != nil:
		return f.Origin.Stack
	case errors.As(err, &o) && o.Stack != nil:
		return o.Stack
	case errors.As(err, &p):
		return p.Stack
	}
	var i *interp.InterruptError
	var t *interp.TimeoutError
	var d *interp.DepthError
	var l *interp.DeadlockError
	switch {
	case errors.As(err, &i):
		return i.Stack
	case errors.As(err, &t):
		return t.Stack
	case errors.As(err, &d):
		return d.Stack
	case errors.As(err, &l) && len(l.Waits) > 0:
		return l.Waits[0].Stack
	}
	return nil
}

// place prints a frame with its column.
func place(f trace.Frame) string {
	if f.Column > 0 {
		return fmt.Sprintf("%s:%d", f.Place(), f.Column)
	}
	return f.Place()
}
