package device

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
	PeakInt8OPs      float64
	PeakFP8FLOPs     float64
	VPUOpsPerSec     float64
	EUPOpsPerSec     float64
	KernelFloorNS    int64 // launch floor of a kernel on the device
	FillBytes        int64 // pipeline fill
	HostIssueNS      int64 // host cost of issuing one launch
	SyncNS           int64 // fixed cost of waiting for the device
	HostLinkBytesSec float64
	AlignBytes       int64 // HBM allocation granule
	TupleTableBytes  int64
	Megacore         bool // two cores share the work and no VMEM
}
