package exec

import "github.com/tpush/tpush/runtime/device"

// A Mode is a row that says when a queue is cut and how regions are launched.
// It has no behaviour of its own: the dispatcher reads the columns.
type Mode struct {
	Name        string // debug, strict, fuse, compiled
	Title       string // name of the real system's mode
	Doc         string
	EveryOp     bool // cut after each operation
	DetectLoops bool // cut when the last operations repeat
	Wait        bool // the host waits for each launch
	Checks      bool // index values are checked before an operation runs
	Donate      bool // an in-place write may reuse its operand's HBM
	PerCell     bool // the statements of a cell are one program: its end cuts, a read breaks it
	Split       bool // a region is split where an edge crosses an output
	Level       device.Level
}

// The modes. They are rows of the table below, so == compares them.
var (
	Debug        = &modes[0]
	Strict       = &modes[1]
	DeferAndFuse = &modes[2]
	Compiled     = &modes[3]
	DeferAll     = &modes[4]
)

var modes = [...]Mode{
	{
		Name: "debug", Title: "Debug",
		Doc:     "each op is launched alone and waited for; indices are checked before it runs",
		EveryOp: true, Wait: true, Checks: true, Donate: true, Level: device.FastCompile,
	},
	{
		Name: "strict", Title: "Strict",
		Doc:     "each op is launched alone and not waited for; indices are not checked",
		EveryOp: true, Donate: true, Level: device.FastCompile,
	},
	{
		Name: "fuse", Title: "DeferAndFuse",
		Doc:         "ops are queued; a read or a repeating loop body cuts the queue into fused regions",
		DetectLoops: true, Split: true, Level: device.FastRun,
	},
	{
		Name: "compiled", Title: "Compiled",
		Doc:     "the statements of a cell are one program; a read breaks it and is reported",
		PerCell: true, Level: device.FastRun,
	},
	{
		Name: "defer-all", Title: "DeferAll",
		Doc:   "everything is queued until a read; for tests",
		Split: true, Level: device.FastRun,
	},
}

// Modes lists the modes a user may choose.
func Modes() []*Mode { return []*Mode{Debug, Strict, DeferAndFuse, Compiled} }

// LookupMode finds a mode by its name or the real system's name.
func LookupMode(name string) (*Mode, error) {
	for i := range modes {
		if name == modes[i].Name || name == modes[i].Title {
			return &modes[i], nil
		}
	}
	return nil, &UnknownModeError{name}
}
