package device

import (
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/dtype"

	"github.com/tpush/tpush/runtime/spelling"
)

// A Chip is one generation as a user sees it: one device.
type Chip struct {
	Name             string // v5e, v5p, v6e, v7x
	Doc              string
	HBMBytes         int64 // usable by programs
	HBMBytesPerSec   float64
	HBMEfficiency    float64 // fraction of it that large copies reach
	VMEMBytes        int64
	ScopedVMEMBytes  int64 // per-kernel budget
	MXUSize          int   // rows and columns of the matrix unit
	MXUEfficiency    float64
	PeakBF16FLOPs    float64
	PeakInt8OPs      float64 // 0 when int8 is not native: it then runs at the bf16 rate
	Int8Efficiency   float64 // fraction of PeakInt8OPs that a large product reaches
	PeakFP8FLOPs     float64 // f8e4m3
	PeakF8E5M2FLOPs  float64 // f8e5m2, which some generations multiply faster than f8e4m3
	VPUOpsPerSec     float64
	EUPOpsPerSec     float64
	XLUOpsPerSec     float64 // elements through the cross-lane unit
	KernelFloorNS    int64   // launch floor of a kernel on the device
	FillBytes        int64   // pipeline fill
	HostIssueNS      int64   // host cost of issuing one launch
	SyncNS           int64   // fixed cost of waiting for the device
	HostLinkBytesSec float64
	LinkBytesPerSec  float64 // between neighbouring chips, one way
	WrapDevices      int     // a row of a multiple of so many is a ring
	PodDevices       int     // that links connect
	AlignBytes       int64   // HBM allocation granule
	TupleTableBytes  int64   // granule of the table of several results, 4 bytes each
	Megacore         bool    // two cores share the work and no VMEM
}

// Sizes of the table.
const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// Constants that the generations share.
const (
	// hostIssueNS is what an asynchronous eager operation costs the host. Nobody
	// published it; differences of published wall times bound it to 10-37 µs.
	hostIssueNS = 20_000
	// syncNS is the fixed part of a synchronous call, 95-125 µs in the wall-clock
	// sweeps published for v5e, v6e and v7x.
	syncNS = 110_000
	// fillBytes is the un-overlapped first and last block of a kernel: the default
	// on-chip budget of an operation, which is also what fits the published copy curve.
	fillBytes = 16 * mib
	// alignBytes is the size of the smallest array, a scalar, on every generation.
	alignBytes = 512
)

// chips is the table, in the order of introduction. Peaks, bandwidths, VMEM and
// MXU sizes are those of jax-ml/jax jax/_src/tpu_info.py and of the pages "TPU
// v5e", "TPU v5p", "TPU v6e" and "TPU7x" of the Cloud TPU documentation, per
// device. HBMBytes is what the TPU compiler reports as available.
//
// The XLU rate is 256 elements a cycle and core (8 cycles for a vector register of
// 1024 elements, two units), the EUP rate 1024 elements in two cycles (v5) or one:
// XProf's cycle table. The VPU issues four operations on 1024 elements a cycle.
var chips = [...]Chip{
	{
		Name: "v5e", Doc: "one core, 16 GiB; made for inference and small training runs",
		HBMBytes:         1575 * gib / 100, // compiler: "available HBM (15.75G)"
		HBMBytesPerSec:   819e9,
		HBMEfficiency:    0.90, // the compiler's own roofline uses 737.7 of 819.6 GB/s
		VMEMBytes:        128 * mib,
		ScopedVMEMBytes:  16 * mib,
		MXUSize:          128,
		MXUEfficiency:    0.94, // fits 8192³ bf16 in 6.05 ms and 32768³ in 438 ms
		PeakBF16FLOPs:    197e12,
		PeakInt8OPs:      394e12,
		Int8Efficiency:   0.96,   // 32768³ int8 in 186 ms
		PeakFP8FLOPs:     197e12, // converted to bf16
		PeakF8E5M2FLOPs:  394e12, // the compiler gives it the int8 rate
		VPUOpsPerSec:     6.1e12, // 1.5 GHz
		EUPOpsPerSec:     7.7e11,
		XLUOpsPerSec:     3.8e11,
		KernelFloorNS:    1200, // smallest kernel of the compiler: 1825 cycles
		FillBytes:        fillBytes,
		HostIssueNS:      hostIssueNS,
		SyncNS:           syncNS,
		HostLinkBytesSec: 15e9,
		LinkBytesPerSec:  45e9,
		WrapDevices:      16,
		PodDevices:       256,
		AlignBytes:       alignBytes,
		TupleTableBytes:  512,
	},
	{
		Name: "v5p", Doc: "two cores seen as one device, 95 GiB; made for large training runs",
		HBMBytes:         9573 * gib / 100, // compiler: 95.73G
		HBMBytesPerSec:   2765e9,
		HBMEfficiency:    0.85, // the compiler's own roofline uses 2350 of 2765 GB/s
		VMEMBytes:        128 * mib,
		ScopedVMEMBytes:  16 * mib,
		MXUSize:          128,
		MXUEfficiency:    0.90, // assumed: nothing is published
		PeakBF16FLOPs:    459e12,
		PeakInt8OPs:      918e12,
		Int8Efficiency:   0.90,   // assumed
		PeakFP8FLOPs:     459e12, // converted to bf16
		PeakF8E5M2FLOPs:  459e12,
		VPUOpsPerSec:     1.43e13, // two cores at 1.75 GHz
		EUPOpsPerSec:     1.8e12,
		XLUOpsPerSec:     9.0e11,
		KernelFloorNS:    1200, // compiler: 2122 cycles
		FillBytes:        fillBytes,
		HostIssueNS:      hostIssueNS,
		SyncNS:           syncNS,
		HostLinkBytesSec: 16e9,
		LinkBytesPerSec:  90e9,
		WrapDevices:      4,
		PodDevices:       8960,
		AlignBytes:       alignBytes,
		TupleTableBytes:  32,
		Megacore:         true,
	},
	{
		Name: "v6e", Doc: "one core with 256-wide matrix units, 32 GiB (Trillium)",
		HBMBytes:         3124 * gib / 100, // compiler: 31.24G
		HBMBytesPerSec:   1638e9,
		HBMEfficiency:    0.87, // that of v7x; the published sweep accepts 0.87-0.95
		VMEMBytes:        128 * mib,
		ScopedVMEMBytes:  32 * mib,
		MXUSize:          256,
		MXUEfficiency:    0.90, // 28 shapes of a published bf16 sweep, 6 % mean error
		PeakBF16FLOPs:    918e12,
		PeakInt8OPs:      1836e12,
		Int8Efficiency:   0.70,   // 8192³ int8 in 974 µs
		PeakFP8FLOPs:     918e12, // converted to bf16
		PeakF8E5M2FLOPs:  918e12,
		VPUOpsPerSec:     7.2e12, // 1.75 GHz
		EUPOpsPerSec:     1.8e12,
		XLUOpsPerSec:     4.5e11,
		KernelFloorNS:    1200, // compiler: 2116 cycles
		FillBytes:        fillBytes,
		HostIssueNS:      hostIssueNS,
		SyncNS:           syncNS,
		HostLinkBytesSec: 32e9,
		LinkBytesPerSec:  90e9,
		WrapDevices:      16,
		PodDevices:       256,
		AlignBytes:       alignBytes,
		TupleTableBytes:  32,
	},
	{
		Name: "v7x", Doc: "half of an Ironwood chip, which shows as two devices, 95 GiB each",
		HBMBytes:         9474 * gib / 100, // compiler: 94.74G
		HBMBytesPerSec:   3690e9,
		HBMEfficiency:    0.87, // measured: copies reach 3210 of 3690 GB/s
		VMEMBytes:        64 * mib,
		ScopedVMEMBytes:  32 * mib,
		MXUSize:          256,
		MXUEfficiency:    0.90, // measured 0.83 and 0.95 by two parties
		PeakBF16FLOPs:    1153.5e12,
		PeakInt8OPs:      0,    // not native
		Int8Efficiency:   0.60, // measured: 712 T/s of the bf16 peak
		PeakFP8FLOPs:     2307e12,
		PeakF8E5M2FLOPs:  2307e12,
		VPUOpsPerSec:     9.0e12, // 2.2 GHz
		EUPOpsPerSec:     2.2e12,
		XLUOpsPerSec:     5.6e11,
		KernelFloorNS:    1600, // measured: 128³ bf16 in 1.62 µs
		FillBytes:        fillBytes,
		HostIssueNS:      hostIssueNS,
		SyncNS:           syncNS,
		HostLinkBytesSec: 32e9, // assumed: that of v6e
		LinkBytesPerSec:  90e9,
		WrapDevices:      4,
		PodDevices:       18432, // two for a chip
		AlignBytes:       alignBytes,
		TupleTableBytes:  32,
	},
}

// Chips lists the generations, oldest first. The rows are copies.
func Chips() []Chip { return append([]Chip(nil), chips[:]...) }

// LookupChip finds a generation by name; tpu7x and trillium are understood too.
// It returns *UnknownChipError.
func LookupChip(name string) (*Chip, error) {
	n := strings.ToLower(strings.TrimSpace(name))
	switch n {
	case "tpu7x", "7x", "v7", "ironwood":
		n = "v7x"
	case "trillium":
		n = "v6e"
	case "v5litepod", "v5lite":
		n = "v5e"
	}
	names := make([]string, len(chips))
	for i := range chips {
		if chips[i].Name == n {
			c := chips[i]
			return &c, nil
		}
		names[i] = chips[i].Name
	}
	return nil, &UnknownChipError{Name: name, Known: names, Nearest: nearest(n, names)}
}

// nearest gives the known name with the smallest edit distance to name, or ""
// when none shares at least half of its letters.
func nearest(name string, known []string) string {
	best, distance := "", len(name)/2+1
	for _, k := range known {
		if d := spelling.Distance(name, k); d <= distance && d < max(len(name), len(k)) && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	return best
}

// MatmulRate gives the operations a second that a large product of operands of
// type t reaches: the peak of that type times the efficiency of the matrix unit.
func (c *Chip) MatmulRate(t dtype.DType) float64 {
	switch t {
	case dtype.I8, dtype.U8, dtype.I4, dtype.U4:
		peak := c.PeakInt8OPs
		if peak == 0 {
			peak = c.PeakBF16FLOPs
		}
		return peak * c.Int8Efficiency
	case dtype.F8E4M3:
		return c.PeakFP8FLOPs * c.MXUEfficiency
	case dtype.F8E5M2:
		return c.PeakF8E5M2FLOPs * c.MXUEfficiency
	}
	return c.PeakBF16FLOPs * c.MXUEfficiency
}

// RidgeFLOPsPerByte is the arithmetic intensity in bf16 from which the matrix
// unit, not HBM, limits a kernel: nominal peak over nominal bandwidth.
func (c *Chip) RidgeFLOPsPerByte() float64 { return c.PeakBF16FLOPs / c.HBMBytesPerSec }

// String gives the name.
func (c *Chip) String() string { return c.Name }

// Markdown is the table of generations as a page of documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Chips\n\nGenerated from `runtime/device/chip.go`, where each figure has its source. A device is what a program sees as one:\na whole chip, except on v7x, where it is half of one.\n\n")
	b.WriteString("| |")
	for i := range chips {
		fmt.Fprintf(&b, " %s |", chips[i].Name)
	}
	b.WriteString("\n|---|")
	b.WriteString(strings.Repeat("---|", len(chips)))
	b.WriteByte('\n')
	for _, r := range chipRows {
		fmt.Fprintf(&b, "| %s |", r.label)
		for i := range chips {
			fmt.Fprintf(&b, " %s |", r.cell(&chips[i]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// chipRows are the lines of the page.
var chipRows = []struct {
	label string
	cell  func(c *Chip) string
}{
	{"what it is", func(c *Chip) string { return c.Doc }},
	{"HBM, usable", func(c *Chip) string { return FormatBytes(c.HBMBytes) }},
	{"HBM rate, nominal", func(c *Chip) string { return fmt.Sprintf("%.0f GB/s", c.HBMBytesPerSec/1e9) }},
	{"part of it that copies reach", func(c *Chip) string { return fmt.Sprintf("%.2f", c.HBMEfficiency) }},
	{"VMEM", func(c *Chip) string { return FormatBytes(c.VMEMBytes) }},
	{"VMEM budget of a kernel", func(c *Chip) string { return FormatBytes(c.ScopedVMEMBytes) }},
	{"matrix unit", func(c *Chip) string { return fmt.Sprintf("%d×%d", c.MXUSize, c.MXUSize) }},
	{"bf16 peak", func(c *Chip) string { return tera(c.PeakBF16FLOPs, "FLOP/s") }},
	{"int8 peak", func(c *Chip) string { return tera(c.PeakInt8OPs, "OP/s") }},
	{"f8e4m3 peak", func(c *Chip) string { return tera(c.PeakFP8FLOPs, "FLOP/s") }},
	{"f8e5m2 peak", func(c *Chip) string { return tera(c.PeakF8E5M2FLOPs, "FLOP/s") }},
	{"part of the bf16 peak that products reach", func(c *Chip) string { return fmt.Sprintf("%.2f", c.MXUEfficiency) }},
	{"ridge, bf16", func(c *Chip) string { return fmt.Sprintf("%.0f FLOP/B", c.RidgeFLOPsPerByte()) }},
	{"vector unit", func(c *Chip) string { return tera(c.VPUOpsPerSec, "op/s") }},
	{"transcendentals", func(c *Chip) string { return tera(c.EUPOpsPerSec, "element/s") }},
	{"cross-lane unit", func(c *Chip) string { return tera(c.XLUOpsPerSec, "element/s") }},
	{"shortest kernel", func(c *Chip) string { return fmt.Sprintf("%.1f µs", float64(c.KernelFloorNS)/1e3) }},
	{"issuing a launch costs the host", func(c *Chip) string { return fmt.Sprintf("%d µs", c.HostIssueNS/1000) }},
	{"waiting for the device costs", func(c *Chip) string { return fmt.Sprintf("%d µs", c.SyncNS/1000) }},
	{"host link", func(c *Chip) string { return fmt.Sprintf("%.0f GB/s", c.HostLinkBytesSec/1e9) }},
	{"HBM granule", func(c *Chip) string { return FormatBytes(c.AlignBytes) }},
	{"granule of the table of several results", func(c *Chip) string { return FormatBytes(c.TupleTableBytes) }},
}

// tera prints a rate in units of 10¹², "not native" for none.
func tera(x float64, unit string) string {
	if x == 0 {
		return "not native"
	}
	return fmt.Sprintf("%.4g T%s", x/1e12, unit)
}
