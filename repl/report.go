package repl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/tpush/tpush/repl/cell"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/checkpoint"
	"github.com/tpush/tpush/runtime/data"
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/dtype"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/optim"
	"github.com/tpush/tpush/runtime/safetensors"
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

// A Kind is a row of the table of kind words.
type Kind struct {
	Word    string
	Doc     string           // what such an error says, without a full stop
	Example string           // a cell that fails so; "" when no cell can be made to
	match   func(error) bool // the typed errors of this kind; nil: the maker of the report knows
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

// refusesType says whether an argument was refused for its element type.
func refusesType(err error) bool {
	var e *shape.ArgumentError
	if !errors.As(err, &e) {
		return false
	}
	_, ok := e.Value.(dtype.DType)
	return ok
}

// kinds is the table of kind words. The first row that matches wins. Rows
// without a match are given by the compiler and by commands.
var kinds = []Kind{
	{Word: "syntax", Doc: "the text is no Go; nothing ran", Example: "x := (1 + 2"},
	{Word: "type", Doc: "the cell does not type-check: every mistake is listed and nothing ran", Example: "var n int = \"seven\"\nm := n + nope"},
	{
		Word: "bounds", Doc: "an index points outside its tensor, or a number is none an operation takes; nothing ran and nothing is lost",
		Example: "table := tpu.Ones(3, 2)\nrows := tpu.I64.Of(0, 7)\ntable.IndexSelect(0, rows)",
		match:   anyOf(is[*exec.BoundsError], is[*exec.TrapError], is[*shape.IndexError], is[*kernel.NegativeCountError]),
	},
	{
		Word: "oom", Doc: "HBM or host memory is full", Example: "x := tpu.Zeros(1<<17, 1<<17)",
		match: anyOf(is[*device.OutOfMemoryError], is[*device.HostMemoryError]),
	},
	{
		Word: "dtype", Doc: "element types do not fit", Example: "tpu.Of(1.5, 2.5).BitwiseAnd(1)",
		match: anyOf(
			is[*dtype.PromotionError], is[*op.TypesError], is[*op.TypeError], is[*tpu.CastError], is[*tpu.OperandError], is[*tpu.IndexTypeError], is[*tpu.SaveTypeError],
			is[*kernel.UnsupportedError], refusesType,
		),
	},
	{
		Word: "shape", Doc: "shapes, axes, sizes or views do not fit", Example: "tpu.Ones(2, 3) @ tpu.Ones(4, 5)",
		match: anyOf(
			is[*shape.MismatchError], is[*shape.AxisError], is[*shape.ArgumentError], is[*shape.MeshError], is[*shape.SizeError], is[*shape.CountError], is[*shape.NotViewableError],
			is[*shape.ExpandError], is[*shape.RankError], is[*shape.OverlapError], is[*tpu.TooManyIndicesError], is[*tpu.MaskError], is[*tpu.ScalarError],
			is[*tpu.RaggedError], is[*kernel.EinsumSyntaxError], is[*kernel.EmptyReadError], is[*op.EmptyListError], is[*op.EmptyError],
		),
	},
	{
		Word: "grad", Doc: "the gradient tape refuses", Example: "w := tpu.Param(\"w\", tpu.Ones(3))\nw.Mul(2).Backward()",
		match: anyOf(
			is[*tpu.NoGraphError], is[*tpu.NeedsScalarError], is[*tpu.GraphFreedError], is[*tpu.SavedModifiedError], is[*tpu.UnusedError], is[*tpu.GradTypeError],
			is[*tpu.NotLeafError], is[*tpu.AnomalyError], is[*tpu.InferenceError], is[*tpu.LeafWriteError], is[*tpu.ViewWriteError], is[*tpu.OutGradError],
		),
	},
	{Word: "timeout", Doc: "the time limit was reached", Example: "for {\n}", match: is[*interp.TimeoutError]},
	{Word: "interrupt", Doc: "the user interrupted the cell", Example: "for {\n}", match: is[*interp.InterruptError]},
	{Word: "deadlock", Doc: "every goroutine of the cell waits", Example: "c := make(chan int)\n<-c", match: is[*interp.DeadlockError]},
	{Word: "depth", Doc: "calls were nested too deeply", Example: "func down(n int) int { return down(n+1) + 1 }\ndown(0)", match: is[*interp.DepthError]},
	{
		Word: "device", Doc: "the device cannot do it", Example: "f := tpu.Compile(func(x *tpu.Tensor) float64 { return x.Sum().Item() })\nf(tpu.Ones(3))",
		match: anyOf(is[*exec.ReadWhileTracingError], is[*exec.CacheOnlyError], is[*tpu.ChipInUseError], is[*exec.PrecisionError], is[*device.UnknownChipError], is[device.Fault]),
	},
	{
		Word: "value", Doc: "an option, a tensor or its numbers are none that can be used", Example: "w := tpu.Param(\"w\", tpu.Ones(3))\noptim.NewSGD([]*tpu.Tensor{w}, optim.SGDOptions{LR: -1})",
		match: anyOf(is[*optim.OptionError], is[*exec.MissingRowError], is[*optim.ParamsError], is[*data.RuneError], is[*tpu.NilTensorError], is[*tpu.UnmadeTensorError], is[*tpu.FreedError],
			is[*kernel.FactorError], is[*kernel.ProbabilityError], is[*kernel.QuantileRangeError], is[*kernel.HistogramRangeError]),
	},
	{
		Word: "file", Doc: "a file is not there or is not what it should be", Example: "data.CSV(\"no/such.csv\")",
		match: anyOf(
			is[*fs.PathError], is[*safetensors.FormatError], is[*data.CSVError], is[*data.IDXError], is[*checkpoint.TypeError], is[*checkpoint.MissingError],
			is[*checkpoint.IndexError], is[*checkpoint.ConfigError],
		),
	},
	{Word: "panic", Doc: "the program panicked", Example: "func third(xs []int) int { return xs[2] }\nthird([]int{1, 2})", match: is[*interp.PanicError]},
	{Word: "command", Doc: "a command is unknown or cannot be done", Example: ":fuson"},
	{Word: "internal", Doc: "a bug of tpush", match: func(error) bool { return true }},
}

// Kinds lists the kind words.
func Kinds() []Kind { return kinds }

// KindOf gives the kind word of an error.
func KindOf(err error) string {
	for _, k := range kinds {
		if k.match != nil && k.match(err) {
			return k.Word
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
			r := s.at(&Report{Kind: d.Kind, Message: oneLine(d.Msg), Err: err}, f)
			r.Block = s.pointer(f)
			list = append(list, r)
		}
		return list
	}
	r := &Report{Kind: KindOf(err), Message: message(err), Err: err}
	st := stackOf(err)
	if st == nil || len(st.Frames) == 0 {
		st = &trace.Stack{Frames: []trace.Frame{{Cell: c.ID, File: c.File, FileLine: c.FirstLine, Line: 1, Column: 1}}}
	}
	s.at(r, st.Top())
	if is[*tpu.NilTensorError](err) && strings.Contains(s.source(st.Top(), st.Top().Line), ".Grad()") {
		r.Message += "; .Grad() is nil where no Backward has left a gradient"
	}
	r.Block = append(moreLines(err), s.picture(err, st)...)
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
		first, _, _ := strings.Cut(pe.Text, "\n")
		return oneLine(first)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	return oneLine(err.Error())
}

// shownPanicLines is how much of a panic's text is shown.
const shownPanicLines = 200

// moreLines are the lines of a panic's text after its first.
func moreLines(err error) []string {
	var pe *interp.PanicError
	var te *tpu.Error
	if errors.As(err, &te) || !errors.As(err, &pe) {
		return nil
	}
	lines := strings.Split(pe.Text, "\n")[1:]
	if n := len(lines) - shownPanicLines; n > 0 {
		lines = append(lines[:shownPanicLines:shownPanicLines], fmt.Sprintf("\t… %d more lines", n))
	}
	for i, l := range lines {
		if len(l) > maxMessage {
			lines[i] = strings.ToValidUTF8(l[:maxMessage], "") + " …"
		}
	}
	return lines
}

func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i] + " …"
	}
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + " …"
	}
	return s
}

// maxMessage bounds the line of an error, in bytes: what a program says may be long.
const maxMessage = 1000

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
