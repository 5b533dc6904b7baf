package mem

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a large page where it matters.
const hugePage = 2 << 20

// adviseHuge asks for large pages, which a buffer of many megabytes takes a
// five-hundredth of the faults and address translations with. The pages that a
// buffer shares with its neighbours on Go's heap count: weights of two megabytes
// would else lie in small ones. It is only a wish.
func adviseHuge(b []byte) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	first := at &^ (hugePage - 1) // a number: the collector must not see a pointer that is nobody's
	end := (at + uintptr(len(b)) + hugePage - 1) &^ (hugePage - 1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, first, end-first, unix.MADV_HUGEPAGE)
	runtime.KeepAlive(b)
}
