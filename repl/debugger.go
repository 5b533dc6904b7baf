package repl

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tpush/tpush/inspect"
	"github.com/tpush/tpush/repl/debug"
	"github.com/tpush/tpush/repl/interp"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/tpu"
	"github.com/tpush/tpush/trace"
	"github.com/tpush/tpush/viz"
)

// A DebugListener is told what the debugger does. Its methods are called on the
// goroutine that is stopped.
type DebugListener interface {
	Stopped(st *debug.Stop)
	Continued()
	// Command runs a line of a breakpoint's command list and shows its answer.
	Command(line string) error
	// Log shows the text of a logpoint.
	Log(text string)
}

// Debugger is the debugger of the session's cells.
func (s *Session) Debugger() *debug.Debugger { return s.dbg }

// ListenDebug sets who is told of stops. Without a listener nothing stops: cells
// go on at once.
func (s *Session) ListenDebug(l DebugListener) { s.listener = l }

// exitKind is the kind word of os.Exit in a cell, which is no error of its own.
const exitKind = "exit"

// errorKinds lists the kind words that an error which stops a cell can have.
func errorKinds() []string {
	words := []string{exitKind}
	for _, k := range kinds {
		if k.match != nil {
			words = append(words, k.Word)
		}
	}
	return words
}

func (s *Session) newDebugger() *debug.Debugger {
	return debug.New(debug.Options{
		Interp: s.in,
		Stopped: func(st *debug.Stop) {
			s.std.flush()
			if s.listener == nil {
				_ = s.dbg.Resume(debug.Resume{})
				return
			}
			s.listener.Stopped(st)
		},
		Continued: func() {
			if s.listener != nil {
				s.listener.Continued()
			}
		},
		Command: func(line string) error {
			s.std.flush()
			if s.listener == nil {
				return nil
			}
			return s.listener.Command(line)
		},
		Log: func(text string) {
			s.std.flush()
			if s.listener != nil {
				s.listener.Log(text)
			}
		},
		Lend: s.Stopped,
		ErrorKind: func(v any) string {
			if _, exit := v.(*interp.ExitError); exit {
				return exitKind
			}
			return KindOf(asError(v))
		},
		ErrorKinds: errorKinds(),
		Mark:       markOf,
		Text:       func(values []interp.Shown) string { return s.watchValue(values, nil) },
		Holds: func(v reflect.Value, x *exec.Value) bool {
			t, ok := v.Interface().(*tpu.Tensor)
			return ok && t != nil && t.Value().ID() == x.ID()
		},
	})
}

// asError makes the error of a panic's value.
func asError(v any) error {
	switch e := v.(type) {
	case *interp.DepthError, *interp.DeadlockError, *interp.ExitError: // no panic
		return e.(error)
	}
	if err, ok := v.(error); ok {
		return &interp.PanicError{Value: err, Text: err.Error(), Stack: &trace.Stack{}}
	}
	return &interp.PanicError{Value: v, Text: fmt.Sprint(v), Stack: &trace.Stack{}}
}

// maxMarked bounds the elements that are compared to see whether a variable has
// changed.
const maxMarked = 1000

// markOf gives something comparable and readable of what a variable holds. Of a
// tensor that is the value it names; of long lists the first elements count.
func markOf(v reflect.Value) any {
	if t, ok := v.Interface().(*tpu.Tensor); ok {
		if t == nil {
			return "nil"
		}
		v := t.Value()
		return tensorMark{v.ID(), v.OpNumber(), t.Spec().String()}
	}
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return fmt.Sprint(v.Interface())
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	case reflect.Slice, reflect.Array:
		var b strings.Builder
		fmt.Fprintf(&b, "len %d [", v.Len())
		for i := range min(v.Len(), maxMarked) {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprint(&b, markOf(v.Index(i)))
		}
		return b.String() + "]"
	case reflect.Pointer, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return fmt.Sprintf("%#x", v.Pointer())
	case reflect.Interface:
		if v.IsNil() {
			return "nil"
		}
		return markOf(v.Elem())
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				parts = append(parts, fmt.Sprint(markOf(f)))
			}
		}
		return "{" + strings.Join(parts, " ") + "}"
	case reflect.Map:
		return fmt.Sprint(v.Interface())
	}
	return "nil"
}

// A tensorMark tells tensors apart by the value they name, whether it is computed
// yet or not.
type tensorMark struct {
	id   uint64
	opn  uint64 // of the operation that made it, 0 when none did
	spec string
}

// String is the type and the operation: f32[2] of #3.
func (t tensorMark) String() string {
	if t.opn == 0 {
		return t.spec
	}
	return fmt.Sprintf("%s of #%d", t.spec, t.opn)
}

// linesAround are shown before and behind the line of a stop.
const linesAround = 1

// StopText draws where and why a cell is stopped.
func (s *Session) StopText(st *debug.Stop) []string {
	f := st.Place
	head := fmt.Sprintf("Brk[%d] stopped at %s", st.Cell, place(f))
	if f.Func != "" && f.Func != "(cell)" {
		head += " in " + f.Func
	}
	if w := s.Why(st); w != "" {
		head += " " + w
	}
	if len(st.Hits) > 0 {
		var names []string
		for _, id := range st.Hits {
			name := fmt.Sprint("breakpoint ", id)
			if b := s.dbg.Breakpoint(id); b != nil {
				name += ": " + b.String()
			}
			names = append(names, name)
		}
		head += "  (" + strings.Join(names, ", ") + ")"
	}
	lines := append([]string{head}, s.Around(f, linesAround)...)
	if st.Op != nil && st.Op.Call != nil {
		if deferred(s.disp, st.Op.Call) {
			lines = append(lines, s.replayedOperands(st.Op.Call)...)
		} else {
			lines = append(lines, operandLines(st.Op.Call)...)
		}
	}
	for _, why := range st.Failed {
		lines = append(lines, "   "+why)
	}
	return append(lines, s.WatchText()...)
}

// Why says what stopped a cell, beyond its place.
func (s *Session) Why(st *debug.Stop) string {
	switch o := st.Op; {
	case st.Text != "":
		return st.Text
	case len(st.Returned) > 0:
		parts := make([]string, len(st.Returned))
		for i, l := range st.Returned {
			parts[i] = s.Brief(interp.Shown{Value: l.Value(), Type: s.in.TypeText(l.Type)})
		}
		return "returned " + strings.Join(parts, ", ")
	case st.Reason == debug.AtError:
		return fmt.Sprintf("%s about to be raised: %s", st.ErrorKind, oneLine(errorText(st.Err)))
	case st.Reason == debug.Paused:
		return "paused"
	case o == nil:
	case s.replayReason(o) != "":
		return s.replayReason(o)
	case o.Call != nil:
		return fmt.Sprintf("before op #%d %s", o.Call.OpN, o.Call.Def.Name)
	case o.Value != nil:
		return fmt.Sprintf("after op #%d %s made %v", o.Value.OpNumber(), o.Value.What(), o.Value.Spec())
	case o.Bytes > 0:
		return fmt.Sprintf("with %s of HBM in use", viz.Bytes(o.Bytes))
	case o.Launch != nil:
		return fmt.Sprintf("after g%d %s was cut: %s", o.Launch.Number, o.Launch.Name, o.Launch.Why)
	}
	return ""
}

func errorText(v any) string {
	var err error
	if e, ok := v.(error); ok {
		err = e
	}
	var op *exec.OpError
	if errors.As(err, &op) {
		return op.Error()
	}
	return fmt.Sprint(v)
}

// Around shows the source around a place, its own line marked.
func (s *Session) Around(f trace.Frame, n int) []string {
	var lines []string
	margin := len(fmt.Sprint(number(f, f.Line+n)))
	for l := f.Line - n; l <= f.Line+n; l++ {
		text := s.source(f, l)
		if l < 1 || text == "" && l != f.Line || len(text) > maxShownLine {
			continue
		}
		mark := "   "
		if l == f.Line {
			mark = "=> "
		}
		lines = append(lines, fmt.Sprintf("   %s%*d | %s", mark, margin, number(f, l), expand(text)))
	}
	return lines
}

// operandLines lists the operands of an operation and what it would give.
func operandLines(c *exec.Call) []string {
	var parts []string
	for i, p := range c.Def.Inputs() {
		if i < len(c.In) && c.In[i] != nil && !c.In[i].Spec().Weak {
			v := c.In[i].Spec()
			parts = append(parts, fmt.Sprintf("%s %v %s", p.Name, v, viz.Bytes(v.Bytes())))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"   operands  " + strings.Join(parts, "   ")}
}

// WatchText lists the watches with their values, and with those of before where
// they changed.
func (s *Session) WatchText() []string {
	var lines []string
	for _, w := range s.dbg.Watches() {
		text := w.Text
		if w.Err != nil {
			text = s.watchValue(nil, w.Err)
		}
		line := fmt.Sprintf("   %d: %s = %s", w.ID, w.Expr, text)
		if w.Changed {
			line += "   was " + w.Was
		}
		lines = append(lines, line)
	}
	return lines
}

func (s *Session) watchValue(values []interp.Shown, err error) string {
	if err != nil {
		return "not here: " + strings.TrimPrefix(oneLine(err.Error()), "1:1: ")
	}
	parts := make([]string, len(values))
	for i, v := range values {
		text, ok := s.Replayed(v, maxWatched)
		if !ok || strings.Contains(text, "\n") {
			text = s.Brief(v)
		}
		parts[i] = strings.TrimSuffix(text, "  "+inspect.Recomputed.String()) // that it was computed is no change
	}
	return strings.Join(parts, ", ")
}

// maxWatched bounds the elements of a tensor whose numbers a watch shows.
const maxWatched = 16

// FormatAll prints values as they stand after Out[n].
func (s *Session) FormatAll(values []interp.Shown) string {
	parts := make([]string, len(values))
	err := tpu.Try(func() {
		for i, v := range values {
			parts[i] = s.Format(v)
		}
	})
	if err != nil {
		return "error: " + oneLine(err.Error())
	}
	return strings.Join(parts, ", ")
}

// lookAtWatches evaluates the watches after a cell, and frees what that made.
func (s *Session) lookAtWatches() {
	if len(s.dbg.Watches()) == 0 {
		return
	}
	s.dbg.RefreshIdle()
	_ = s.disp.EndCell() // a failure of the cell's own was told before
}
