package cell

import (
	"fmt"
	"regexp"
	"strings"
)

// A Diagnostic is one complaint about the text of a cell, at the user's
// position. Line and Column start at 1; Column counts bytes.
type Diagnostic struct {
	Cell   int
	File   string // "" when typed
	Line   int    // line inside the cell
	Column int
	Kind   string // "syntax", "type"; "unused", "import", "kept", "note", OnlyImports for warnings
	Msg    string
}

// OnlyImports is the kind of the warning that a cell does not use an import, when
// it has nothing else: the cells that follow may use it.
const OnlyImports = "import only"

// String gives the diagnostic as 3:14: text.
func (d Diagnostic) String() string { return fmt.Sprintf("%d:%d: %s", d.Line, d.Column, d.Msg) }

// A CompileError lists everything that is wrong with a cell, in text order.
type CompileError struct {
	Diagnostics []Diagnostic
}

// Error gives the diagnostics, one a line.
func (e *CompileError) Error() string {
	var b strings.Builder
	for i, d := range e.Diagnostics {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.String())
	}
	return b.String()
}

// An InternalError says that the compiler made something it should not have:
// a fault of this package, never of the user.
type InternalError struct {
	Stage string
	Err   error
}

func (e *InternalError) Error() string { return "cell compiler: " + e.Stage + ": " + e.Err.Error() }
func (e *InternalError) Unwrap() error { return e.Err }

var versionSuffix = regexp.MustCompile(`ʹ\d+`)

// plain removes the internal part of names from a message.
func plain(msg string) string {
	if !strings.Contains(msg, "ʹ") {
		return msg
	}
	return strings.ReplaceAll(versionSuffix.ReplaceAllString(msg, ""), "ʹ", "")
}
