package kernel

import (
	"sync"
	"unsafe"
)

// A panelMem is memory for the copies a product makes, used again by the next one.
type panelMem struct{ bytes []byte }

var panelMems = sync.Pool{New: func() any { return new(panelMem) }}

// take gives n elements of unspecified contents, aligned to 64 bytes.
func take[T any](s *panelMem, n int) []T {
	var t T
	if need := n * int(unsafe.Sizeof(t)); cap(s.bytes) < need {
		s.bytes = AllocRaw(need)
	} else {
		s.bytes = s.bytes[:need]
	}
	return As[T](s.bytes)
}
