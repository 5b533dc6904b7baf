package trace

import (
	"strconv"
	"strings"
)

// A Field is one field of Event as it is written: in the text form, in CSV and
// in the documents.
type Field struct {
	Name string // the Go name
	Key  string // the name in the text form
	Unit string // "ns", "bytes", "FLOPs", ""
	Doc  string

	number func(*Event) *int64 // nil for a field of text
	get    func(*Event) string // "" is the zero value
	set    func(*Event, string, *StackTable) error
}

// Get gives the field of e as text, "" when it is zero.
func (f *Field) Get(e *Event) string { return f.get(e) }

// Number gives the field of e as a number; false for a field of text.
func (f *Field) Number(e *Event) (int64, bool) {
	if f.number == nil {
		return 0, false
	}
	return *f.number(e), true
}

// Fields lists the fields after Seq and Kind, in the order they are written.
func Fields() []Field { return fields[:] }

var fields = [...]Field{
	number("AtNS", "at", "ns", "virtual time since the session began", func(e *Event) *int64 { return &e.AtNS }),
	number("DurationNS", "dur", "ns", "virtual time it took", func(e *Event) *int64 { return &e.DurationNS }),
	number("HostNS", "host", "ns", "wall time it took on the host", func(e *Event) *int64 { return &e.HostNS }),
	number("RealNS", "real", "ns", "time that real XLA measured for a launch, beside the simulated `dur`", func(e *Event) *int64 { return &e.RealNS }),
	integer("Cell", "cell", "cell that was running", func(e *Event) *int { return &e.Cell }),
	integer("Launch", "g", "launch (fusion group) number: the N of gN", func(e *Event) *int { return &e.Launch }),
	unsigned("Op", "op", "op number: the N of op #N", func(e *Event) *uint64 { return &e.Op }),
	text("Name", "name", "name of the op, group or command", func(e *Event) *string { return &e.Name }),
	{
		Name: "Ops", Key: "ops", Doc: "names of the ops of a region",
		get: func(e *Event) string { return strings.Join(mapped(e.Ops, escape), ",") },
		set: func(e *Event, s string, _ *StackTable) (err error) {
			if s == "" {
				return nil
			}
			e.Ops = strings.Split(s, ",")
			for i := range e.Ops {
				if e.Ops[i], err = unescape(e.Ops[i]); err != nil {
					return err
				}
			}
			return nil
		},
	},
	text("Spec", "spec", "shape, dtype and layout of the value", func(e *Event) *string { return &e.Spec }),
	text("Reason", "reason", "why: cut reason, failure kind, state at the end of a cell", func(e *Event) *string { return &e.Reason }),
	text("Mode", "mode", "execution mode", func(e *Event) *string { return &e.Mode }),
	number("Bytes", "bytes", "bytes", "logical bytes", func(e *Event) *int64 { return &e.Bytes }),
	number("PaddedBytes", "padded", "bytes", "bytes in HBM, tiling and padding included", func(e *Event) *int64 { return &e.PaddedBytes }),
	number("SavedBytes", "saved", "bytes", "HBM traffic that fusion avoided", func(e *Event) *int64 { return &e.SavedBytes }),
	number("FLOPs", "flops", "FLOPs", "floating-point operations", func(e *Event) *int64 { return &e.FLOPs }),
	number("InUseBytes", "inuse", "bytes", "HBM in use after the event", func(e *Event) *int64 { return &e.InUseBytes }),
	unsigned("Value", "value", "number of the value", func(e *Event) *uint64 { return &e.Value }),
	text("CacheKey", "key", "key in the compilation cache", func(e *Event) *string { return &e.CacheKey }),
	text("Text", "text", "message, one line or more", func(e *Event) *string { return &e.Text }),
	{
		Name: "Stack", Key: "stack", Doc: "where in the program, innermost first: cell:line:column:fileline:func:file;…",
		get: func(e *Event) string { return stackText(e.Stack) },
		set: func(e *Event, s string, t *StackTable) (err error) {
			e.Stack, err = parseStack(s, t)
			return err
		},
	},
	{
		Name: "Parts", Key: "parts", Doc: "the ops of a launch: op:weight:name:stack|…",
		get: func(e *Event) string { return strings.Join(mapped(e.Parts, partText), "|") },
		set: func(e *Event, s string, t *StackTable) (err error) {
			e.Parts, err = parseParts(s, t)
			return err
		},
	},
}

func number(name, key, unit, doc string, at func(*Event) *int64) Field {
	return Field{
		Name: name, Key: key, Unit: unit, Doc: doc, number: at,
		get: func(e *Event) string { return decimal(*at(e)) },
		set: func(e *Event, s string, _ *StackTable) (err error) {
			*at(e), err = strconv.ParseInt(s, 10, 64)
			return err
		},
	}
}

func integer(name, key, doc string, at func(*Event) *int) Field {
	return Field{
		Name: name, Key: key, Doc: doc,
		get: func(e *Event) string { return decimal(int64(*at(e))) },
		set: func(e *Event, s string, _ *StackTable) (err error) {
			*at(e), err = strconv.Atoi(s)
			return err
		},
	}
}

func unsigned(name, key, doc string, at func(*Event) *uint64) Field {
	return Field{
		Name: name, Key: key, Doc: doc,
		get: func(e *Event) string {
			if *at(e) == 0 {
				return ""
			}
			return strconv.FormatUint(*at(e), 10)
		},
		set: func(e *Event, s string, _ *StackTable) (err error) {
			*at(e), err = strconv.ParseUint(s, 10, 64)
			return err
		},
	}
}

func text(name, key, doc string, at func(*Event) *string) Field {
	return Field{
		Name: name, Key: key, Doc: doc,
		get: func(e *Event) string { return *at(e) },
		set: func(e *Event, s string, _ *StackTable) error {
			*at(e) = s
			return nil
		},
	}
}

func decimal(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func mapped[T any](in []T, f func(T) string) []string {
	out := make([]string, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}
