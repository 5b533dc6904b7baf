package interp

import (
	"sync/atomic"
	"unsafe"
)

// An atomicPointer is the memory of an atomic.Pointer: its only field with a
// size.
type atomicPointer struct{ p unsafe.Pointer }

func (a *atomicPointer) load() unsafe.Pointer                 { return atomic.LoadPointer(&a.p) }
func (a *atomicPointer) store(p unsafe.Pointer)               { atomic.StorePointer(&a.p, p) }
func (a *atomicPointer) swap(p unsafe.Pointer) unsafe.Pointer { return atomic.SwapPointer(&a.p, p) }
func (a *atomicPointer) compareAndSwap(p, q unsafe.Pointer) bool {
	return atomic.CompareAndSwapPointer(&a.p, p, q)
}
