package mem

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a large page where it matters.
const hugePage = 2 << 20

// adviseHuge asks for large pages, which a buffer of many megabytes takes a
// five-hundredth of the faults and address translations with. It is only a wish.
func adviseHuge(b []byte) {
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	if whole := (len(b) - skip) &^ (hugePage - 1); whole > 0 {
		_ = unix.Madvise(b[skip:skip+whole], unix.MADV_HUGEPAGE)
	}
}
