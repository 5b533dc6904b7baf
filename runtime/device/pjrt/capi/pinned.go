package capi

import (
	"runtime"
	"sync"
	"unsafe"
)

// A pool keeps memory that C may see, pinned for good, so that the calls made
// with every program neither allocate nor pin.
type pool[T any] struct {
	mu   sync.Mutex
	free []*T
	pins runtime.Pinner
}

func (p *pool[T]) get() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		x := p.free[n-1]
		p.free = p.free[:n-1]
		return x
	}
	x := new(T)
	p.pins.Pin(x)
	return x
}

func (p *pool[T]) put(x *T) {
	p.mu.Lock()
	p.free = append(p.free, x)
	p.mu.Unlock()
}

// callHandle calls a function that takes a handle and returns nothing.
func (p *Plugin) callHandle(slot int, h uintptr) error {
	a := p.handles.get()
	a.args.h = h
	err := callPinned(p, slot, unsafe.Pointer(a), unsafe.Sizeof(a.args))
	p.handles.put(a)
	return err
}

// A frame is the memory of one Execute on one device. Its lists are pinned by
// it, and made anew when they are too short.
type frame struct {
	a        padded[executeArgs]
	o        padded[executeOptions]
	argLists [1]unsafe.Pointer
	outLists [1]unsafe.Pointer
	event    uintptr
	lists    runtime.Pinner
	args     []uintptr
	outs     []uintptr
	keep     []int64 // 0, 1, 2, …
}

// fit makes room for the inputs and outputs of a program.
func (f *frame) fit(ins, outs int) {
	if f.args != nil && ins <= len(f.args) && outs <= len(f.outs) {
		return
	}
	const few = 8
	n, m := max(2*len(f.args), ins, few), max(2*len(f.outs), outs, few)
	f.lists.Unpin()
	f.args, f.outs, f.keep = make([]uintptr, n), make([]uintptr, m), make([]int64, n)
	for i := range f.keep {
		f.keep[i] = int64(i)
	}
	f.lists.Pin(&f.args[0])
	f.lists.Pin(&f.outs[0])
	f.lists.Pin(&f.keep[0])
	f.argLists[0], f.outLists[0] = unsafe.Pointer(&f.args[0]), unsafe.Pointer(&f.outs[0])
}
