package interp

import (
	"encoding/json"
	"log/slog"
)

// A logValue is a value of a cell's type as log/slog gets it: it writes itself
// with the fmt package and as JSON.
type logValue struct {
	printed
	json json.Marshaler
}

// MarshalJSON implements json.Marshaler.
func (v logValue) MarshalJSON() ([]byte, error) { return v.json.MarshalJSON() }

// A logText is one that has a text of its own.
type logText struct {
	logValue
	text func() ([]byte, error)
}

// MarshalText implements encoding.TextMarshaler.
func (v logText) MarshalText() ([]byte, error) { return v.text() }

// slogArg gives log/slog its form of an argument.
func (m *machine) slogArg(x any) any {
	b, boxed := x.(box)
	if boxed && m.hasMethod(m.types.byID(b.ID), "LogValue") {
		if out, ok := m.in.callAny(x, "LogValue"); ok && len(out) == 1 {
			if v, ok := out[0].(slog.Value); ok {
				return v
			}
		}
	}
	p, ok := m.in.registry.operands([]any{x})[0].(printed)
	if !ok { // Go's own, an error, or a text
		return m.in.registry.operands([]any{x})[0]
	}
	v := logValue{printed: p}
	if v.json, ok = m.jsonArg(x).(json.Marshaler); !ok {
		return p
	}
	if boxed && m.hasMethod(m.types.byID(b.ID), "MarshalText") {
		return logText{v, func() ([]byte, error) {
			out, _ := m.in.callAny(x, "MarshalText")
			if len(out) != 2 {
				return nil, nil
			}
			text, _ := out[0].([]byte)
			if out[1] != nil {
				return nil, m.in.asError(out[1])
			}
			return text, nil
		}}
	}
	return v
}
