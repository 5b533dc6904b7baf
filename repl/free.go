package repl

import (
	"fmt"
	"strings"
)

// An UnknownNamesError lists names that no variable has.
type UnknownNamesError struct{ Names []string }

// Error lists them.
func (e *UnknownNamesError) Error() string {
	return fmt.Sprintf("free: no variable %s", strings.Join(e.Names, ", "))
}

// Outputs lists the variables that hold the results of cells: _3 and so on.
func (s *Session) Outputs() []string {
	var names []string
	for _, v := range s.in.Variables() {
		if IsOutput(v.Name) {
			names = append(names, v.Name)
		}
	}
	return names
}

// IsOutput says whether a variable is the result of a cell.
func IsOutput(name string) bool {
	digits, ok := strings.CutPrefix(name, "_")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Free sets variables to their zero values and gives the HBM back that nothing
// else leads to; freed is how much. When a name is unknown nothing is freed and
// the error is *UnknownNamesError.
func (s *Session) Free(names ...string) (freed int64, err error) {
	s.quiet.Lock()
	defer s.quiet.Unlock()
	have := map[string]bool{}
	for _, v := range s.in.Variables() {
		have[v.Name] = true
	}
	var unknown []string
	for _, n := range names {
		if !have[n] {
			unknown = append(unknown, n)
		}
	}
	if len(unknown) > 0 {
		return 0, &UnknownNamesError{unknown}
	}
	used := s.dev.HBM().Used()
	s.in.Clear(names...)
	s.disp.Touch()
	err = s.disp.EndCell()
	return used - s.dev.HBM().Used(), err
}
