package device

import (
	"fmt"
	"math"
	"strings"

	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// An UnknownChipError says that no chip has this name.
type UnknownChipError struct {
	Name    string
	Known   []string
	Nearest string // "" when no known name is near
}

func (e *UnknownChipError) Error() string {
	s := fmt.Sprintf("unknown chip %q (known: %s)", e.Name, strings.Join(e.Known, " "))
	if e.Nearest != "" {
		s += fmt.Sprintf(": did you mean %s?", e.Nearest)
	}
	return s
}

// An OutOfMemoryError says that HBM cannot hold an array or a program. Nothing
// ran and nothing was freed.
type OutOfMemoryError struct {
	What             string // op name, "input", "temp", …
	Spec             shape.Spec
	RequestedBytes   int64 // what the numbers need
	PaddedBytes      int64 // what they take in HBM
	FreeBytes        int64
	LargestFreeBytes int64 // largest block: smaller than FreeBytes when HBM is fragmented
	LimitBytes       int64
	UsedBytes        int64
	Fragmentation    float64    // see HBM.Fragmentation
	Largest          []OwnerUse // source lines that hold most, largest first, at most ten
	PaddingBytes     int64      // part of UsedBytes that holds no numbers
	MostPadded       BlockInfo  // the block with most padding, zero when none has any
	Stack            *trace.Stack
}

func (e *OutOfMemoryError) Error() string {
	largest := FormatBytes(e.LargestFreeBytes)
	free := FormatBytes(e.FreeBytes)
	if i := strings.LastIndexByte(largest, ' '); strings.HasSuffix(free, largest[i:]) {
		largest = largest[:i]
	}
	what := e.What
	if what == "" {
		what = "allocation"
	}
	if e.Spec.Valid() {
		what += ": " + e.Spec.String()
	}
	return fmt.Sprintf("%s needs %s, %s free (largest block %s) of %s", what, FormatBytes(e.PaddedBytes), free, largest, FormatBytes(e.LimitBytes))
}

// A HostMemoryError says that an array would fit the simulated HBM but not the
// memory of the machine that simulates it.
type HostMemoryError struct {
	What           string
	RequestedBytes int64
	UsedBytes      int64 // heap in use, garbage collected
	LimitBytes     int64
}

func (e *HostMemoryError) Error() string {
	return fmt.Sprintf("%s needs %s of host memory, %s in use of %s allowed", e.What, FormatBytes(e.RequestedBytes), FormatBytes(e.UsedBytes), FormatBytes(e.LimitBytes))
}

// A FreedBufferError says that a launch was given a buffer whose HBM was given back.
type FreedBufferError struct {
	Input int
	Spec  shape.Spec
}

func (e *FreedBufferError) Error() string {
	return fmt.Sprintf("input %d (%v) was freed", e.Input, e.Spec)
}

// An InputError says that the inputs of a launch are not those the executable was compiled for.
type InputError struct {
	Input int // -1: their number is wrong
	Want  shape.Spec
	Got   shape.Spec
	Why   string
}

func (e *InputError) Error() string {
	if e.Input < 0 {
		return "launch: " + e.Why
	}
	return fmt.Sprintf("launch: input %d: want %v, got %v", e.Input, e.Want, e.Got)
}

// A KernelError says that an operation failed while it ran. Out of Panic it is
// the error that the operation returned for its data.
type KernelError struct {
	Op    string
	Node  int // index into Graph.Nodes
	Err   error
	Panic any    // not nil: a defect of the runtime, and Trace its stack
	Trace string // Go stack of the panic
}

func (e *KernelError) Error() string {
	if e.Panic != nil {
		return fmt.Sprintf("%s: internal: %v", e.Op, e.Panic)
	}
	return fmt.Sprintf("%s: %v", e.Op, e.Err)
}

// Unwrap gives the operation's own error.
func (e *KernelError) Unwrap() error { return e.Err }

// FormatBytes prints a size with a binary unit and up to two decimals: 512 B, 3.07 GiB.
func FormatBytes(n int64) string {
	if n == math.MaxInt64 {
		return "over 8 EiB"
	}
	x, unit := float64(n), 0
	for x >= 1024 && unit < 6 {
		x /= 1024
		unit++
	}
	names := [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if unit == 0 || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f %s", x, names[unit])
	}
	return fmt.Sprintf("%.2f %s", x, names[unit])
}

// A Fault is an error of a device itself: it is gone, lacks something, or its
// compiler refuses.
type Fault interface {
	error
	DeviceFault()
}
