package interp

import "fmt"

// A scanValue is a value of a cell's type that scans itself.
type scanValue struct {
	in *Interp
	x  any
}

// Scan implements fmt.Scanner.
func (s scanValue) Scan(state fmt.ScanState, verb rune) error {
	out, ok := s.in.callAny(s.x, "Scan", state, verb)
	if !ok || len(out) != 1 || out[0] == nil {
		return nil
	}
	return s.in.asError(out[0])
}
