package kernel

import (
	"fmt"
	"strings"
)

// A DiedError says that the kernel process ended.
type DiedError struct {
	Status string // exit status 2, signal: killed
	Stderr string // the first and the last text it wrote to standard error
}

// Error names the ending and, if it is known, the cause.
func (e *DiedError) Error() string {
	if why := e.Reason(); why != "" {
		return fmt.Sprintf("the kernel died: %s (%s)", why, e.Status)
	}
	if e.Status == "signal: killed" {
		return "the kernel died: killed from outside, as the system does when memory runs out (" + e.Status + ")"
	}
	return "the kernel died: " + e.Status
}

// deathHeads begin the line in which a Go program says why it dies.
var deathHeads = [...]string{"fatal error: ", "panic: ", "runtime: goroutine stack exceeds", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "unexpected fault"}

// Reason is the line in which the run time said why the process ends, "" when
// it said nothing.
func (e *DiedError) Reason() string {
	for line := range strings.Lines(e.Stderr) {
		line = strings.TrimRight(line, "\n")
		for _, h := range deathHeads {
			if strings.HasPrefix(line, h) {
				return line
			}
		}
	}
	return ""
}

// stackHeads open the part of a fatal error that only a developer of tpush can use.
var stackHeads = [...]string{"\ngoroutine ", "\nruntime stack:", "\nruntime.throw(", "\nruntime.fatal(", "\n\nruntime"}

// Words are the last lines that the kernel wrote before the dump of its
// goroutines, at most n.
func (e *DiedError) Words(n int) []string {
	s := "\n" + e.Stderr
	for _, h := range stackHeads {
		s, _, _ = strings.Cut(s, h)
	}
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	lines := strings.Split(s, "\n")
	return lines[max(len(lines)-n, 0):]
}
