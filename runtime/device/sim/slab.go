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
	// slabBuffers fill 2 KiB, a size of Go's allocator; slabCells of them would take it, too.
	slabBuffers = 36
	// chunkBytes is the most that an array of a chunk takes.
	chunkBytes = 4 << 10
)

// A slab is where the next small results go. A result keeps the slab it lies
// in from being collected: slabCells × cellBytes and slabBuffers buffers. One that
// goes together with others anyway lies in a chunk: slabCells arrays, which nobody
// clears before they are written.
type slab struct {
	cells   []byte
	cell    int // the next one
	chunk   []byte
	buffers []buffer
	next    int // buffer
	housed  []housed
}

// bytes gives n bytes for an array, with unspecified contents.
func (s *slab) bytes(n int) []byte {
	if n > cellBytes {
		return kernel.AllocRaw(n)
	}
	if s.cell == len(s.cells) {
		s.cells, s.cell = kernel.Alloc(slabCells*cellBytes), 0
	}
	at := s.cell
	s.cell += cellBytes
	return s.cells[at : at+n : at+cellBytes]
}

// joint is bytes for an array that may keep its neighbours from being collected.
func (s *slab) joint(n int) []byte {
	if n <= cellBytes || n > chunkBytes {
		return s.bytes(n)
	}
	room := whole(n)
	if len(s.chunk) < room {
		s.chunk = kernel.AllocRaw(slabCells * room)
	}
	return cut(&s.chunk, n, room)
}

// whole is what an array of n bytes takes beside others.
func whole(n int) int { return (n + cellBytes - 1) &^ (cellBytes - 1) }

// cut takes room bytes from the beginning of all and gives n of them.
func cut(all *[]byte, n, room int) []byte {
	b := (*all)[:n:room]
	*all = (*all)[room:]
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

// bufferAt gives a buffer whose place is given, for an array that may keep its neighbours.
func (s *slab) bufferAt(home *device.Home) *buffer {
	if s.next == len(s.buffers) {
		s.buffers, s.next = make([]buffer, slabBuffers), 0
	}
	b := &s.buffers[s.next]
	s.next++
	b.home = home
	return b
}
