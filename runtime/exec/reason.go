package exec

// Reason says why a region was cut: an index into the reasons table.
type Reason uint8

// The reasons, in the order of the table.
const (
	NoReason Reason = iota
	ReasonEveryOp
	ReasonHostCopy
	ReasonScalar
	ReasonShow
	ReasonSync
	ReasonLoop
	ReasonProgramEnd
	ReasonCompiledCall
	ReasonGraphBreak
	ReasonModeChange
	ReasonBounds
	ReasonDataSize
	ReasonSplit
	ReasonRecover
	numReasons
)

// A ReasonRow explains a reason.
type ReasonRow struct {
	Reason Reason
	Name   string // as it stands in traces, the real system's spelling where it has one
	Doc    string
	Fix    string // how the cut can be avoided, "" when it cannot
}

var reasons = [numReasons]ReasonRow{
	ReasonEveryOp:      {ReasonEveryOp, "every_op", "the mode launches each operation alone", "use :mode fuse or :mode compiled"},
	ReasonHostCopy:     {ReasonHostCopy, ".cpu()", "the program read the numbers of a tensor", "read once, after the loop"},
	ReasonScalar:       {ReasonScalar, "item()", "the program turned a tensor into a Go number", "keep the value on the device, read it every n steps"},
	ReasonShow:         {ReasonShow, "show", "a value was shown", "end the statement with ; to hide the value"},
	ReasonSync:         {ReasonSync, "synchronize()", "the program asked to wait", "leave it out: reads wait by themselves"},
	ReasonLoop:         {ReasonLoop, "repeated_op_heuristic", "the last operations repeat: a loop body was found", "none needed: one region is one loop body"},
	ReasonProgramEnd:   {ReasonProgramEnd, "program_end", "the cell ended: in this mode a cell is one program", ""},
	ReasonCompiledCall: {ReasonCompiledCall, "compile_mode_execution", "a compiled function was called", ""},
	ReasonGraphBreak:   {ReasonGraphBreak, "graph_break", "a read in the middle of a cell broke its program", "move the read to the end of the cell"},
	ReasonModeChange:   {ReasonModeChange, "mode_change", "the mode changed while operations were queued", ""},
	ReasonBounds:       {ReasonBounds, "bounds_check", "index values had to be checked before the operation", "switch the checks off"},
	ReasonDataSize:     {ReasonDataSize, "data_dependent_size", "the size of the result depends on the numbers", "use a masked form of fixed size"},
	ReasonSplit:        {ReasonSplit, "split", "a value inside the region is used after a later output", ""},
	ReasonRecover:      {ReasonRecover, "retry_op_by_op", "the region failed: its operations are launched alone to find the culprit", ""},
}

// Reasons lists the rows of the table.
func Reasons() []ReasonRow { return reasons[1:] }

// Row gives the row of r.
func (r Reason) Row() ReasonRow { return reasons[r] }

// String gives the name of the reason.
func (r Reason) String() string { return reasons[r].Name }
