package sim

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
)

// Small results share their allocations: in eager use making and collecting
// them is what an operation costs.
const (
	slabCells = 32
	cellBytes = 64 // the alignment of arrays
)

// A slab is where the next small results go. A result keeps the slab it lies
// in from being collected: slabCells × cellBytes and as many buffers.
type slab struct {
	cells   []byte
	buffers []buffer
	housed  []housed
}

// bytes gives n bytes for an array, with unspecified contents.
func (s *slab) bytes(n int) []byte {
	if n > cellBytes {
		return kernel.AllocRaw(n)
	}
	if len(s.cells) == 0 {
		s.cells = kernel.Alloc(slabCells * cellBytes)
	}
	b := s.cells[:n:cellBytes]
	s.cells = s.cells[cellBytes:]
	return b
}

// buffer gives a buffer, which has a place of its own, for an array of the given host size.
func (s *slab) buffer(host int64) *buffer {
	var h *housed
	switch {
	case host > cellBytes:
		h = &housed{}
	case len(s.housed) == 0:
		s.housed = make([]housed, slabCells)
		fallthrough
	default:
		h = &s.housed[0]
		s.housed = s.housed[1:]
	}
	h.home = &h.own
	return &h.buffer
}

// bufferAt gives a buffer with a place given by the caller; nil: with its own.
func (s *slab) bufferAt(home *device.Home, host int64) *buffer {
	if home == nil {
		return s.buffer(host)
	}
	if host > cellBytes {
		return &buffer{home: home}
	}
	if len(s.buffers) == 0 {
		s.buffers = make([]buffer, slabCells)
	}
	b := &s.buffers[0]
	s.buffers = s.buffers[1:]
	b.home = home
	return b
}
