package sim

import (
	"runtime/metrics"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/mem"
)

// hostMemory keeps the simulation from asking the machine for more than it
// has. Go's heap is looked at only each time checkEvery bytes were taken, so
// that small arrays cost an addition.
type hostMemory struct {
	limit  int64
	since  int64 // bytes taken since the last look
	sample [1]metrics.Sample
}

// checkEvery is small against any machine and large against the cost of a look, 2 µs.
const checkEvery = 64 << 20

// take books n bytes that are about to be allocated. It returns
// *device.HostMemoryError when the heap would grow beyond the limit even after garbage collection.
func (h *hostMemory) take(n int64, what string) error {
	if h.since += n; h.since < checkEvery {
		return nil
	}
	return h.look(n, what)
}

// look is take that does look.
func (h *hostMemory) look(n int64, what string) error {
	h.since = 0
	if h.limit-h.heap() >= n {
		return nil
	}
	mem.Default().Reclaim()
	if used := h.heap(); h.limit-used < n {
		return &device.HostMemoryError{What: what, RequestedBytes: n, UsedBytes: used, LimitBytes: h.limit}
	}
	return nil
}

// heap is the size of Go's heap, garbage included, without the buffers that
// wait to be used again.
func (h *hostMemory) heap() int64 {
	h.sample[0].Name = "/memory/classes/heap/objects:bytes"
	metrics.Read(h.sample[:])
	return int64(h.sample[0].Value.Uint64()) - mem.Default().IdleBytes()
}
