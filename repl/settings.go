package repl

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/tpu"
)

// Settings are the values a user may change with :set.
type Settings struct {
	MaxLines int // lines of a shown value
	MaxBytes int // bytes of a shown value
	Width    int // columns of a shown value before it is broken into lines
}

func defaultSettings() Settings { return Settings{MaxLines: 20, MaxBytes: 4 << 10, Width: 100} }

// A Setting is a row of the table of settings.
type Setting struct {
	Name   string
	Doc    string
	Values []string // legal values; nil: a positive number
	Get    func(s *Session) string
	Set    func(s *Session, v string) error
}

// SettingTable lists the settings.
func SettingTable() []Setting {
	onOff := []string{"on", "off"}
	number := func(name, doc string, field func(*Settings) *int) Setting {
		return Setting{
			Name: name, Doc: doc,
			Get: func(s *Session) string { return strconv.Itoa(*field(&s.set)) },
			Set: func(s *Session, v string) error {
				n, err := strconv.Atoi(v)
				if err != nil || n < 1 {
					return &SettingError{Name: name, Value: v, Want: "a positive number"}
				}
				*field(&s.set) = n
				return nil
			},
		}
	}
	return []Setting{
		{
			Name: "anomaly", Doc: "backward passes stop at the first NaN and name the line of its operation", Values: onOff,
			Get: func(s *Session) string { return onOffText(tpu.Anomaly()) },
			Set: func(s *Session, v string) error { tpu.SetAnomaly(v == "on"); return nil },
		},
		{
			Name: "checks", Doc: "check index values before an operation: by mode, always, never", Values: []string{"mode", "on", "off"},
			Get: func(s *Session) string { return s.disp.ChecksSetting().String() },
			Set: func(s *Session, v string) error { return s.disp.SetChecksNamed(v) },
		},
		{
			Name: "measure", Doc: "real XLA is waited for and timed at each launch; in debug mode it always is", Values: onOff,
			Get: func(s *Session) string { return onOffText(s.disp.Measuring()) },
			Set: func(s *Session, v string) error { s.disp.SetMeasure(v == "on"); return nil },
		},
		{
			Name: "donation", Doc: "in-place writes may reuse HBM, where the mode allows it", Values: onOff,
			Get: func(s *Session) string { return onOffText(s.disp.Donation()) },
			Set: func(s *Session, v string) error { s.disp.SetDonation(v == "on"); return nil },
		},
		{
			Name: "precision", Doc: "products of f32: in f32, or in three passes of bf16, or in one", Values: exec.Precisions(),
			Get: func(s *Session) string { return s.disp.Precision() },
			Set: func(s *Session, v string) error { return s.disp.SetPrecision(v) },
		},
		{
			Name: "bf16", Doc: "large products of bf16 on the host: as fast as the processor can, or exactly, the same on every machine", Values: []string{"fast", "exact"},
			Get: func(*Session) string {
				if kernel.ExactBF16() {
					return "exact"
				}
				return "fast"
			},
			Set: func(_ *Session, v string) error { kernel.SetExactBF16(v == "exact"); return nil },
		},
		{
			Name: "trace", Doc: "record events", Values: onOff,
			Get: func(s *Session) string { return onOffText(s.rec.On()) },
			Set: func(s *Session, v string) error { s.rec.SetOn(v == "on"); return nil },
		},
		{
			Name: "history.ops", Doc: "operations that :ops, :back and :why look back at; 0 keeps none",
			Get: func(s *Session) string { return strconv.Itoa(s.history.ops) },
			Set: func(s *Session, v string) error {
				n, err := strconv.Atoi(v)
				if err != nil || n < 0 || n > maxHistoryOps {
					return &SettingError{Name: "history.ops", Value: v, Want: "a number up to " + strconv.Itoa(maxHistoryOps)}
				}
				s.setHistory(n, s.history.bytes)
				return nil
			},
		},
		{
			Name: "history.bytes", Doc: "host memory for values that the program has freed and one may look back at",
			Get: func(s *Session) string { return strconv.FormatInt(s.history.bytes, 10) },
			Set: func(s *Session, v string) error {
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil || n < 0 {
					return &SettingError{Name: "history.bytes", Value: v, Want: "a number of bytes"}
				}
				s.setHistory(s.history.ops, n)
				return nil
			},
		},
		number("print.lines", "lines of a shown value before it is cut", func(s *Settings) *int { return &s.MaxLines }),
		number("print.bytes", "bytes of a shown value before it is cut", func(s *Settings) *int { return &s.MaxBytes }),
		number("print.width", "columns of a shown value before it takes one line an element", func(s *Settings) *int { return &s.Width }),
	}
}

func onOffText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// A SettingError says that a setting does not exist or does not take a value.
type SettingError struct {
	Name, Value, Want string
}

// Error names the setting and what it takes.
func (e *SettingError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("set: no setting %q", e.Name)
	}
	return fmt.Sprintf("set: %s = %q: want %s", e.Name, e.Value, e.Want)
}

// Change sets a setting by name.
func (s *Session) Change(name, value string) error {
	for _, x := range SettingTable() {
		if x.Name != name {
			continue
		}
		if x.Values != nil {
			ok := false
			for _, v := range x.Values {
				ok = ok || v == value
			}
			if !ok {
				return &SettingError{name, value, strings.Join(x.Values, ", ")}
			}
		}
		return x.Set(s, value)
	}
	return &SettingError{Name: name}
}
