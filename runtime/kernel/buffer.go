package kernel

import "unsafe"

// alignBytes is the alignment and padding of host buffers: one cache line and
// one AVX-512 register, so that vector loops need no tail code.
const alignBytes = 64

// Alloc gives n zeroed bytes, aligned to 64 and with capacity up to the next multiple of 64.
func Alloc(n int) []byte {
	raw := make([]byte, n+2*alignBytes)
	skip := (alignBytes - int(uintptr(unsafe.Pointer(&raw[0]))&(alignBytes-1))) & (alignBytes - 1)
	end := skip + (n+alignBytes-1)&^(alignBytes-1)
	return raw[skip : skip+n : end]
}

// As sees the bytes of b as elements of type T, without a copy.
func As[T any](b []byte) []T {
	var t T
	n := len(b) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}
