package dap

import (
	"context"
	"fmt"
	"go/types"
	"reflect"

	"github.com/tpush/tpush/repl/interp"
)

// An Engine is the debugger that the adapter speaks for.
type Engine interface {
	// Start begins to debug a file; breakpoints are ignored with noDebug.
	Start(program string, stopOnEntry, noDebug bool) error

	// SetLines replaces the line breakpoints of a file or, when file is "", a cell.
	SetLines(file string, cell int, specs []Spec) []Breakpoint
	// SetFunctions, SetData and SetErrors replace those of their kind. The
	// expression of a data breakpoint is a variable, kinds of errors are kind
	// words, "nan" and "all".
	SetFunctions(specs []Spec) []Breakpoint
	SetData(specs []Spec) []Breakpoint
	SetErrors(kinds []string) []Breakpoint

	// Threads lists the goroutines of cells.
	Threads() []Thread
	// Frames gives the frames of a goroutine that stands, innermost first.
	Frames(thread int) ([]Frame, error)
	// Locals gives the variables of a frame of it, 0 the innermost.
	Locals(thread, frame int) ([]Variable, error)

	// Session gives the variables of the session, as the program that stands sees them.
	Session() []Variable

	// Resume goes on; the kind is continue, next, stepIn or stepOut.
	Resume(thread int, kind string) error
	// Enter makes a step end at the first statement of the cell at a line of a file.
	Enter(file string, line int) error
	// Pause stops at the next statement.
	Pause() error

	// Evaluate gives the values of Go in a frame; a frame below 0 means the session.
	Evaluate(ctx context.Context, thread, frame int, expr string) ([]Variable, error)
	// Assign writes a value to what an expression names.
	Assign(ctx context.Context, thread, frame int, expr, value string) (Variable, error)

	// Reason says what a stop at a breakpoint is called: "entry" at that of
	// stopOnEntry, "step" at that of Enter, "exception" at those of SetErrors, "" at others.
	Reason(breakpoint int) string
	// Complete lists what may stand at the end of Go in a frame, and where the word
	// begins that it replaces.
	Complete(thread, frame int, text string) ([]interp.Candidate, int)

	// Failure is the error that a stop or the last cell ended with.
	Failure() (Failure, bool)
}

// A Spec is a breakpoint that is asked for.
type Spec struct {
	Line       int    // in its file or cell
	Expr       string // function, or variable
	Condition  string
	Hits       string // hit condition: a number, >= 3, % 2
	LogMessage string // with {expressions}: printed instead of stopping
}

// A Breakpoint is what became of a Spec.
type Breakpoint struct {
	ID      int
	Line    int    // where it is, 0 when that is not known yet
	Message string // why it is not verified, "" when it is
}

// A Thread is a goroutine of a cell.
type Thread struct {
	ID   int
	Name string
}

// A Frame is one level of a goroutine's stack.
type Frame struct {
	Name   string
	File   string
	Cell   int
	Line   int // in File when there is one, else in the cell
	Column int
}

// A Variable has a name, a type as Go writes it, and a value.
type Variable struct {
	Name  string
	Type  string
	Exact types.Type // nil when only Go knows it
	Value reflect.Value
}

// A Stop says why the program stands.
type Stop struct {
	Thread      int
	Reason      string // as the protocol names it: step, breakpoint, exception, pause, entry, …
	Description string
	Text        string
	Breakpoint  int // its number, 0 for none
}

// A Failure is an error of the program.
type Failure struct {
	Kind    string // kind word
	Message string
	Details string
}

func cellName(n int) string { return fmt.Sprintf("In[%d]", n) }
