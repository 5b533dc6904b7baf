package worker

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The operations of futex(2), in the form that works between processes.
const (
	futexOpWait = 0
	futexOpWake = 1
)

// futexWait sleeps while the word has the value, until it is woken.
func futexWait(word *atomic.Uint32, value uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWait, uintptr(value), 0, 0, 0)
}

// futexWake wakes one sleeper.
func futexWake(word *atomic.Uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexOpWake, 1, 0, 0, 0)
}
