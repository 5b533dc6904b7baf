package trace

// Kind is the kind of an event: an index into the kinds table.
type Kind uint8

// The kinds of events, in the order of the table.
const (
	Unknown Kind = iota
	CellBegin
	CellEnd
	Apply
	Cut
	Compile
	CacheHit
	Launch
	Collective
	Transfer
	Alloc
	Free
	Read
	Recompute
	Revive
	Pause
	Resume
	Failure
	Note
	numKinds
)

// A KindRow describes a kind: what it means, which fields it fills, which kind ends it.
type KindRow struct {
	Kind   Kind
	Name   string
	Doc    string
	Fields []string // names of the Event fields it fills beyond Seq, Kind, AtNS, Cell, Stack
	EndsBy Kind     // Unknown when the event stands alone
	Lane   Lane     // the clock and the track it belongs to
}

// A Lane is a track of the timeline. Events of one lane are in order of time;
// the device may be ahead of the host that feeds it.
type Lane uint8

// The lanes, in the order they are drawn.
const (
	HostLane Lane = iota
	QueueLane
	DeviceLane
	TransferLane
	MemoryLane
	NumLanes
)

// String gives the name of the lane.
func (l Lane) String() string {
	return [...]string{"host", "queue", "device", "transfers", "HBM", "?"}[min(l, NumLanes)]
}

var kinds = [numKinds]KindRow{
	CellBegin:  {CellBegin, "cell-begin", "a cell starts to run", []string{"Name", "Mode"}, CellEnd, HostLane},
	CellEnd:    {CellEnd, "cell-end", "a cell ended, well or badly", []string{"HostNS", "Reason"}, Unknown, HostLane},
	Apply:      {Apply, "apply", "an operation was asked for: it is now in the queue; one event for each of its results", []string{"Op", "Name", "Spec", "Value", "Bytes", "PaddedBytes", "Mode"}, Unknown, QueueLane},
	Cut:        {Cut, "cut", "the queue became a region, for the reason given", []string{"Launch", "Ops", "Reason", "Mode"}, Unknown, QueueLane},
	Compile:    {Compile, "compile", "a region was compiled: its key was not in the cache", []string{"Launch", "CacheKey", "HostNS", "Ops", "Reason"}, Unknown, HostLane},
	CacheHit:   {CacheHit, "cache-hit", "a region was found in the compilation cache", []string{"Launch", "CacheKey"}, Unknown, HostLane},
	Launch:     {Launch, "launch", "a region ran on the device", []string{"Launch", "Name", "Ops", "DurationNS", "HostNS", "RealNS", "FLOPs", "Bytes", "PaddedBytes", "SavedBytes", "Reason", "Mode", "Parts"}, Unknown, DeviceLane},
	Collective: {Collective, "collective", "the devices of a mesh exchanged numbers, as real XLA planned it or as simulated; how long the links of the chip take is simulated", []string{"Launch", "Op", "Name", "Reason", "Text", "Bytes"}, Unknown, DeviceLane},
	Transfer:   {Transfer, "transfer", "bytes moved between host and device", []string{"Name", "Spec", "Bytes", "DurationNS", "Reason"}, Unknown, TransferLane},
	Alloc:      {Alloc, "alloc", "HBM was taken", []string{"Value", "Name", "Spec", "Bytes", "PaddedBytes", "InUseBytes"}, Free, MemoryLane},
	Free:       {Free, "free", "HBM was given back", []string{"Value", "Name", "Spec", "Bytes", "PaddedBytes", "InUseBytes"}, Unknown, MemoryLane},
	Read:       {Read, "read", "the program asked for the numbers of a value", []string{"Value", "Name", "Spec", "HostNS"}, Unknown, HostLane},
	Recompute:  {Recompute, "recompute", "a value that fusion had swallowed was computed again because it was used", []string{"Value", "Name"}, Unknown, HostLane},
	Revive:     {Revive, "revive", "a value thought dead was used again: an alloc charges its HBM again", []string{"Value", "Spec"}, Unknown, HostLane},
	Pause:      {Pause, "pause", "the program stopped at a breakpoint", []string{"Reason"}, Resume, HostLane},
	Resume:     {Resume, "resume", "the program went on", nil, Unknown, HostLane},
	Failure:    {Failure, "failure", "an operation or a region failed", []string{"Launch", "Op", "Name", "Reason", "Text", "Value"}, Unknown, HostLane},
	Note:       {Note, "note", "a remark of the runtime: a recompile warning, a graph break, a mode change", []string{"Name", "Reason", "Text"}, Unknown, HostLane},
}

// Kinds lists the rows of the table.
func Kinds() []KindRow { return kinds[1:] }

// Row gives the row of k; the zero row for a kind of a newer version.
func (k Kind) Row() KindRow {
	if k >= numKinds {
		return KindRow{}
	}
	return kinds[k]
}

// KindNamed finds a kind by its name; false for a kind of a newer version.
func KindNamed(name string) (Kind, bool) {
	for _, row := range Kinds() {
		if row.Name == name {
			return row.Kind, true
		}
	}
	return Unknown, false
}

// String gives the name of the kind.
func (k Kind) String() string {
	if n := k.Row().Name; n != "" {
		return n
	}
	return "unknown"
}
