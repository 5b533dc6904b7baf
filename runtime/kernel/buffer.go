package kernel

import (
	"unsafe"

	"github.com/tpush/tpush/runtime/mem"
)

// Alloc gives n zeroed bytes, aligned to 64 and with capacity up to the next
// multiple of 64.
func Alloc(n int) []byte { return mem.Default().Zeroed(n) }

// AllocRaw is Alloc for bytes that are all written before one is read: their
// contents are unspecified, and large buffers are used again.
func AllocRaw(n int) []byte { return mem.Default().Get(n) }

// As sees the bytes of b as elements of type T, without a copy.
func As[T any](b []byte) []T {
	var t T
	n := len(b) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// rawOf gives n elements of unspecified contents.
func rawOf[T any](n int) []T {
	var t T
	return As[T](AllocRaw(n * int(unsafe.Sizeof(t))))
}
