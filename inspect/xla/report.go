// Package xla says what the real TPU compiler makes of programs, beside what
// this program predicts: fusions with their source lines, layouts, the memory
// plan, cost.
//
// Its reports are plain data that can be sent. It compiles nothing and asks no
// session. It imports trace, viz, shape, graph, stablehlo, device, sim and the
// readers of the compiler's answers. Invariant: a report is the compiler's
// answer or our prediction, each figure says whose it is, and neither is
// adjusted to the other.
package xla

// A Report is one subject: a cell, a function, a file.
type Report struct {
	Subject  string    `json:"subject"`
	Chip     string    `json:"chip"`
	Compiler string    `json:"compiler,omitempty"` // its version; "" when nothing was compiled
	Entry    string    `json:"entry,omitempty"`    // what the file is that was opened
	Programs []Program `json:"programs"`
	// Left is how many programs there are beyond those that were looked at.
	Left int `json:"left,omitempty"`
}

// A Program is one launch, or one module of a file.
type Program struct {
	Name   string   `json:"name"`
	Where  string   `json:"where,omitempty"` // the lines, as a user reads them
	Groups []uint64 `json:"groups,omitempty"`
	Ops    int      `json:"ops,omitempty"`
	Error  string   `json:"error,omitempty"` // why there is nothing of the compiler's

	OOM      *OOM       `json:"oom,omitempty"`
	Compiled *Compiled  `json:"compiled,omitempty"`
	Ours     *Predicted `json:"predicted,omitempty"`
	Match    *Match     `json:"match,omitempty"`
}

// Compiled is what the compiler made.
type Compiled struct {
	Module    string   `json:"module"`
	Topology  string   `json:"topology,omitempty"`
	Devices   int      `json:"devices,omitempty"`
	CompileNS int64    `json:"compile_ns,omitempty"`
	RSSBytes  int64    `json:"compiler_rss_bytes,omitempty"`
	CodeBytes int64    `json:"code_bytes"`
	ClockHz   float64  `json:"clock_hz,omitempty"` // that turns cycles into time
	Kernels   []Kernel `json:"kernels"`
	Params    []Array  `json:"parameters"`
	Results   []Array  `json:"results"`
	Memory    Memory   `json:"memory"`

	Cycles      int64 `json:"cycles"`              // of all kernels that have an estimate
	Unpriced    int   `json:"kernels_unpriced"`    // kernels without one
	TimeNS      int64 `json:"time_ns"`             // Cycles at the clock
	RooflineNS  int64 `json:"roofline_ns"`         // sum of the kernels' optimal_seconds, transfers that run beside them left out
	FLOPs       int64 `json:"flops"`               // of the whole program
	HBMBytes    int64 `json:"bytes_accessed"`      // by the kernels, VMEM counted too, as the compiler does
	Transcend   int64 `json:"transcendentals"`     //
	TotalNS     int64 `json:"optimal_ns"`          // the compiler's own figure for the program
	Copies      int   `json:"copies"`              // transfers between memories
	Collectives int   `json:"collectives"`         //
	HasSlots    bool  `json:"has_slots,omitempty"` // kernels have Slots

	Serialized []byte `json:"-"` // the executable
}

// A Kernel is an instruction of the schedule that runs: a fusion, or one that
// stands alone.
type Kernel struct {
	Name       string   `json:"name"`
	Opcode     string   `json:"opcode"`
	Kind       string   `json:"kind,omitempty"` // of a fusion: loop, output, custom
	Ops        []string `json:"ops"`            // what was fused: matmul#4, or HLO names where it is not ours
	OpNs       []uint64 `json:"op_numbers,omitempty"`
	Where      string   `json:"where,omitempty"`
	Lines      []At     `json:"lines,omitempty"`
	Shape      string   `json:"shape"`
	Cycles     int64    `json:"cycles"` // -1 without an estimate
	NS         int64    `json:"ns"`     // Cycles at the clock
	RooflineNS int64    `json:"roofline_ns"`
	FLOPs      int64    `json:"flops"`
	Bytes      int64    `json:"bytes"`
	VMEMBytes  int64    `json:"vmem_bytes"` // in use while it runs
	Scoped     int64    `json:"vmem_scoped_bytes,omitempty"`
	CodeBytes  int64    `json:"code_bytes,omitempty"`
	Unit       string   `json:"unit"`
	Bound      string   `json:"bound,omitempty"` // by the roofline: MXU, HBM, …
	Window     string   `json:"window,omitempty"`
	Iterations string   `json:"iterations,omitempty"`
	Emitter    string   `json:"emitter,omitempty"`
	Groups     string   `json:"groups,omitempty"` // of a collective
	Depth      int      `json:"depth,omitempty"`  // in loops
	Trips      int64    `json:"trips,omitempty"`  // of the loops around it
	Moves      bool     `json:"moves,omitempty"`  // a transfer that runs beside the kernels
	Slots      *Slots   `json:"slots,omitempty"`

	Ours       []int  `json:"predicted"` // kernels of the prediction that hold its operations
	Same       bool   `json:"same"`
	Difference string `json:"difference,omitempty"`
}

// An At is a line: of a cell, or of a file.
type At struct {
	Cell   int    `json:"cell,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column,omitempty"`
}

// Slots is the use of the VLIW slots in a kernel's machine code.
type Slots struct {
	Bundles int       `json:"bundles"`
	Empty   int       `json:"empty"`
	Fullest string    `json:"fullest,omitempty"`
	Units   []SlotUse `json:"units"`
}

// A SlotUse is one kind of slot.
type SlotUse struct {
	Name     string  `json:"name"`
	Capacity int     `json:"capacity"`
	Used     int64   `json:"used"`
	Busy     int     `json:"busy"`  // words with at least one
	Share    float64 `json:"share"` // of all slots of the code as it is listed
}

// An Array is a parameter or a result, in the compiler's layout and in ours.
type Array struct {
	Index     int    `json:"index"`
	Type      string `json:"type"`
	Where     string `json:"where,omitempty"` // it was made
	Layout    string `json:"layout"`
	Bytes     int64  `json:"bytes"`
	Padded    int64  `json:"padded_bytes"`
	OurLayout string `json:"predicted_layout,omitempty"`
	OurPadded int64  `json:"predicted_padded_bytes,omitempty"`
	Same      bool   `json:"same"`
}

// Memory is the buffer assignment of a program, in bytes.
type Memory struct {
	Arguments int64 `json:"arguments"`
	Outputs   int64 `json:"outputs"`
	Alias     int64 `json:"alias"`
	Temp      int64 `json:"temp"`
	Code      int64 `json:"code"`
	HBM       int64 `json:"hbm"` // arguments + outputs - alias + temp
	Limit     int64 `json:"limit,omitempty"`

	HBMUse   []int64  `json:"hbm_use"`  // live at each step
	VMEMUse  []int64  `json:"vmem_use"` //
	Steps    []string `json:"steps"`    // instructions, in order
	PeakHBM  int64    `json:"peak_hbm"`
	PeakAt   int      `json:"peak_at"`
	PeakVMEM int64    `json:"peak_vmem"`
	Buffers  []Buffer `json:"buffers"` // all of HBM and VMEM
	Lines    []Line   `json:"lines"`   // who holds HBM at the peak, the most first
}

// A Buffer is one value and its place.
type Buffer struct {
	Name       string `json:"name"`
	What       string `json:"what,omitempty"` // operation
	Where      string `json:"where,omitempty"`
	Shape      string `json:"shape,omitempty"`
	Kind       string `json:"kind"`  // parameter, result, temp
	Space      string `json:"space"` // HBM, VMEM
	Allocation int64  `json:"allocation"`
	Offset     int64  `json:"offset"`
	Bytes      int64  `json:"bytes"`
	Unpadded   int64  `json:"unpadded_bytes"`
	First      int    `json:"first"` // step
	Last       int    `json:"last"`
}

// A Line is what a source line holds at the peak.
type Line struct {
	Where string `json:"where"`
	What  string `json:"what,omitempty"`
	Bytes int64  `json:"bytes"`
}

// An OOM is a program that the compiler refused because it does not fit.
type OOM struct {
	Space     string     `json:"space"`
	Needed    int64      `json:"needed"` // as the report says, rounded
	Available int64      `json:"available"`
	Message   string     `json:"message"`
	Entries   []OOMEntry `json:"entries"`          // the largest, by the report or by the plan
	Memory    *Memory    `json:"memory,omitempty"` // the plan that the compiler had come to
}

// An OOMEntry is one large allocation.
type OOMEntry struct {
	Bytes    int64  `json:"bytes"`
	Unpadded int64  `json:"unpadded_bytes,omitempty"`
	Shape    string `json:"shape,omitempty"`
	What     string `json:"what,omitempty"`
	Where    string `json:"where,omitempty"`
	Kind     string `json:"kind,omitempty"`
}

// Predicted is what the simulator's compiler makes of the same program.
type Predicted struct {
	Error     string            `json:"error,omitempty"`
	Kernels   []PredictedKernel `json:"kernels"`
	TimeNS    int64             `json:"time_ns"`
	FLOPs     int64             `json:"flops"`
	Bytes     int64             `json:"bytes"` // HBM traffic
	Arguments int64             `json:"arguments"`
	Outputs   int64             `json:"outputs"`
	Alias     int64             `json:"alias"`
	Temp      int64             `json:"temp"`
	HBM       int64             `json:"hbm"`
	VMEM      int64             `json:"vmem"`
	Limit     int64             `json:"limit"`
	Fits      bool              `json:"fits"`
}

// A PredictedKernel is one kernel of the prediction.
type PredictedKernel struct {
	Name  string   `json:"name"`
	OpNs  []uint64 `json:"op_numbers"`
	Ops   []string `json:"ops"`
	Where string   `json:"where,omitempty"`
	NS    int64    `json:"ns"`
	FLOPs int64    `json:"flops"`
	Bytes int64    `json:"bytes"`
	Unit  string   `json:"unit"`
	Bound string   `json:"bound"`
	Why   string   `json:"why,omitempty"` // it ends here
	Real  []int    `json:"compiled"`      // kernels of the compiler with its operations
}

// A Match compares the two.
type Match struct {
	Kernels      int     `json:"kernels"` // of the compiler that hold operations of the program
	Same         int     `json:"same"`    // of these, with exactly the operations of one of ours
	Ours         int     `json:"predicted"`
	Edges        int     `json:"edges"`      // producer and consumer
	EdgesSame    int     `json:"edges_same"` // fused in both or in neither
	HBMRatio     float64 `json:"hbm_ratio"`  // predicted / compiled
	TimeRatio    float64 `json:"time_ratio"` // predicted / compiler's cycles
	RooflineRate float64 `json:"roof_ratio"` // predicted / compiler's roofline
	Layouts      int     `json:"layouts"`    // of parameters and results
	LayoutsSame  int     `json:"layouts_same"`
}
