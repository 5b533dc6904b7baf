package trace

import "fmt"

// A TextError is a line of the text form that could not be read.
type TextError struct {
	Line  int // from 1; 0 when a single line was parsed
	Field string
	Value string
	Err   error
}

func (e *TextError) Error() string {
	return fmt.Sprintf("trace text: line %d: %s %q: %v", e.Line, e.Field, e.Value, e.Err)
}

// Unwrap gives the cause.
func (e *TextError) Unwrap() error { return e.Err }

// A LawError is a law of traces that an event broke.
type LawError struct {
	Law  string // name of the row in the table of laws
	Seq  uint64 // the event
	Kind Kind
	Text string // what was seen and what was due
}

func (e *LawError) Error() string {
	return fmt.Sprintf("trace: law %s: event %d %s: %s", e.Law, e.Seq, e.Kind, e.Text)
}
