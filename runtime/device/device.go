// Package device says what a device must offer: chips, buffers, executables,
// the HBM allocator and the virtual clock.
//
// It contains no device. It imports trace, shape, kernel and graph. Invariant:
// the bytes of a Buffer never change after the launch that made it, except by
// donation, after which the donor may not be read.
package device

import (
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// Level is how hard the compiler tries.
type Level uint8

// The levels, as the real system names them.
const (
	FastCompile Level = iota // one op, launched alone
	FastRun                  // regions
)

// A Device runs graphs.
type Device interface {
	Chip() *Chip
	// Compile plans a graph. It returns an error for a graph the device cannot hold.
	Compile(g *graph.Graph, level Level) (Executable, error)
	// Upload copies a dense host array to the device. It returns *OutOfMemoryError when HBM is full.
	Upload(s shape.Spec, host []byte, owner Owner) (Buffer, error)
	HBM() *HBM
	Clock() *Clock
	Close() error
}

// An Executable is a compiled graph. It serves every graph with the same key.
type Executable interface {
	Plan() *Plan
	// Run computes l.Out from l.In. On error no output exists and inputs are
	// untouched, but for donated ones of a launch InPlace, which may be freed.
	Run(l *Launch) error
}

// A Launch is one run of an executable.
type Launch struct {
	Number int        // the N of gN
	In     []Buffer   // per graph input
	Attrs  []op.Attrs // per graph node: dynamic values differ between runs
	Owners []Owner    // per graph output
	Donate []bool     // per graph input
	Out    []Buffer   // filled by Run, one per graph output
	// Spent says per graph input that nobody reads its numbers after the run, though
	// its HBM is given back as ever; empty when all are kept.
	Spent []bool
	// InPlace says that nobody keeps the numbers of donated and spent inputs: results
	// may be computed in their memory on the host.
	InPlace bool
	// Late allows that the numbers are computed when somebody looks at them.
	Late bool
	// Collectives are filled by Run: what the devices of a mesh told each other.
	Collectives []Collective
	// Measure asks Run to wait and to say in RealNS how long a real device took.
	Measure bool
	RealNS  int64
}

// A Collective is one exchange between the devices of a mesh, as a real
// compiler planned it or as one would.
type Collective struct {
	Op        string // all-reduce, all-gather, reduce-scatter, collective-permute, all-to-all
	Name      string // of the instruction
	Bytes     int64  // of the result on one device
	Groups    string // who talks to whom, in the compiler's words
	NS        int64  // over the links of the chip: simulated, always
	Predicted bool   // no compiler planned it
}

// A Meshed device is several devices.
type Meshed interface {
	Device
	Devices() int
}

// A Placed buffer knows on which devices of a mesh its parts are; nil: on the first.
type Placed interface {
	Buffer
	Sharding() *shape.Sharding
}

// A Buffer is immutable bytes on a device.
type Buffer interface {
	Spec() shape.Spec
	// Host gives the numbers as a dense host array. The caller must not write to it.
	Host() kernel.Array
	// PaddedBytes is what it takes in HBM.
	PaddedBytes() int64
	// Free gives the HBM back. The host bytes stay valid while somebody holds the Buffer.
	Free()
	// Freed says whether the HBM was given back.
	Freed() bool
	// Revive takes HBM again for a freed buffer that turned out to be needed.
	Revive(owner Owner) error
}

// A Waiter is a buffer of a device that runs ahead of the host. Its numbers may
// still fail to come: before Wait gave nil, Host gives zeros.
type Waiter interface {
	Buffer
	// Wait gets the numbers. The error says what went wrong while they were computed.
	Wait() error
}

// A Syncer is a device that runs ahead of the host.
type Syncer interface {
	Device
	// Sync waits until everything launched is done and gives its first failure.
	Sync() error
}

// An Interrupter is a device whose work can be broken off from another goroutine.
type Interrupter interface {
	Device
	Interrupt()
}

// A Plan is what a compiler decided about a graph.
type Plan struct {
	Kernels    []Kernel
	DurationNS int64 // device time of one run, launch floor included
	FLOPs      int64
	ReadBytes  int64 // HBM traffic, padded
	WriteBytes int64
	SavedBytes int64   // HBM traffic that running op by op would add
	VMEMBytes  int64   // largest on-chip working set
	TempBytes  int64   // HBM for intermediates that do not stay on chip
	NodeNS     []int64 // per graph node: its share of DurationNS; they add up to it
	// Padded bytes at the boundary. The HBM of the program in all is
	// ArgumentBytes + OutputBytes + TableBytes - AliasBytes + TempBytes.
	ArgumentBytes int64
	OutputBytes   int64
	AliasBytes    int64 // outputs that take over a donated input of their type
	TableBytes    int64 // table of addresses, when there is more than one output
}

// A Kernel is one fusion of a plan.
type Kernel struct {
	Name       string // matmul+add+relu
	Kind       string // loop, output, custom, scalar: see graph.Group
	Nodes      []int  // indices into Graph.Nodes
	DurationNS int64
	FLOPs      int64
	ReadBytes  int64
	WriteBytes int64
	Unit       op.Unit
	Bound      string // what limits it: "HBM", "MXU", "VPU", "EUP", "XLU", "index", "launch", or "scalar" (free)
	Why        string // why it ends here: the fusion rule
	// What DurationNS is made of; memory, compute and vector work overlap.
	MXUNS, VectorNS, HBMNS, SerialNS int64
}

// An Owner says whose an allocation is.
type Owner struct {
	Value  uint64
	Op     uint64      // the N of op #N that made it, 0 if none
	Launch int         // the N of the group gN that made it, 0 if none
	What   string      // op name, "input", "temp", "executable"
	Spec   *shape.Spec // nil when it is no array; not to be written to
	Stack  *trace.Stack
}

// spec is Spec, the zero one when there is none.
func (o *Owner) spec() shape.Spec {
	if o.Spec == nil {
		return shape.Spec{}
	}
	return *o.Spec
}
