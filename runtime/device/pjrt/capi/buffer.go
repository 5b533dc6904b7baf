package capi

import (
	"runtime"
	"unsafe"
)

// A Buffer is an array on a device.
type Buffer struct {
	p *Plugin
	h uintptr
}

// Semantics says how long the plug-in may use host memory (PJRT_HostBufferSemantics).
type Semantics int32

// The two that are used.
const (
	OnlyDuringCall    Semantics = 0 // it is copied before the call returns
	ImmutableZeroCopy Semantics = 2 // the buffer may alias it: it must stay, unchanged, until the buffer is destroyed
)

// FromHost makes a buffer from a dense row-major array at data. With zero copy
// the memory must not be the Go collector's.
func (c *Client) FromHost(d *Device, data unsafe.Pointer, t Type, dims []int64, sem Semantics) (*Buffer, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[fromHostArgs]{}
	a.args.client, a.args.data, a.args.typ, a.args.semantics, a.args.device = c.h, data, int32(t), int32(sem), d.h
	if len(dims) > 0 {
		pin.Pin(&dims[0])
		a.args.dims, a.args.ndims = unsafe.Pointer(&dims[0]), uintptr(len(dims))
	}
	if err := call(c.p, slotClientFromHost, a); err != nil {
		return nil, err
	}
	b, done := &Buffer{c.p, a.args.buf}, &Event{c.p, a.args.done}
	if sem == OnlyDuringCall {
		return b, done.Wait()
	}
	return b, done.Destroy() // with zero copy it is ready only when the buffer is destroyed
}

// FromBytes copies Go memory to the device.
func (c *Client) FromBytes(d *Device, b []byte, t Type, dims []int64) (*Buffer, error) {
	if len(b) == 0 {
		b = make([]byte, 1) // an address is wanted, also of nothing
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&b[0])
	return c.FromHost(d, unsafe.Pointer(&b[0]), t, dims, OnlyDuringCall)
}

// Destroy frees the handle and, with the last reference, the memory.
func (b *Buffer) Destroy() error {
	if b == nil || b.h == 0 {
		return nil
	}
	h := b.h
	b.h = 0
	return b.p.callHandle(slotBufferDestroy, h)
}

// IsDeleted says whether the memory went, by donation for example.
func (b *Buffer) IsDeleted() (bool, error) {
	v, err := b.p.callWord(slotBufferIsDeleted, b.h)
	return byte(v) != 0, err
}

// Type is the element type.
func (b *Buffer) Type() (Type, error) {
	v, err := b.p.callWord(slotBufferType, b.h)
	return Type(int32(v)), err
}

// Dims are the dimensions.
func (b *Buffer) Dims() ([]int64, error) { return callSpan[int64](b.p, slotBufferDims, b.h) }

// DeviceBytes is what the buffer takes on the device.
func (b *Buffer) DeviceBytes() (int64, error) {
	v, err := b.p.callWord(slotBufferSize, b.h)
	return int64(v), err
}

// HostBytes is what ToHost needs.
func (b *Buffer) HostBytes() (int, error) {
	a := &padded[toHostArgs]{}
	a.args.src = b.h
	err := call(b.p, slotBufferToHost, a)
	return int(a.args.ndst), err
}

// ToHost copies into n bytes at dst, dense and row-major, and waits.
func (b *Buffer) ToHost(dst unsafe.Pointer, n int) error {
	order, err := b.minorToMajor()
	if err != nil {
		return err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	a := &padded[toHostArgs]{}
	a.args.src, a.args.dst, a.args.ndst = b.h, dst, uintptr(n)
	if !descending(order) { // the device keeps it in another order: ask for rows
		rows := make([]int64, len(order))
		for i := range rows {
			rows[i] = int64(len(rows) - 1 - i)
		}
		l := &padded[memoryLayout]{}
		l.args.size, l.args.tiled.size = unsafe.Sizeof(l.args), unsafe.Sizeof(l.args.tiled)
		pin.Pin(&rows[0])
		pin.Pin(l)
		l.args.tiled.minorToMajor, l.args.tiled.nMinorToMajor = unsafe.Pointer(&rows[0]), uintptr(len(rows))
		a.args.layout = unsafe.Pointer(l)
	}
	if err := call(b.p, slotBufferToHost, a); err != nil {
		return err
	}
	return (&Event{b.p, a.args.event}).Wait()
}

func descending(order []int64) bool {
	for i, d := range order {
		if d != int64(len(order)-1-i) {
			return false
		}
	}
	return true
}

// minorToMajor is the order of dimensions in the device's memory; nil for a plain one.
func (b *Buffer) minorToMajor() ([]int64, error) {
	a := &padded[layoutArgs]{}
	a.args.buf = b.h
	a.args.layout.size, a.args.layout.tiled.size = unsafe.Sizeof(a.args.layout), unsafe.Sizeof(a.args.layout.tiled)
	if err := call(b.p, slotBufferLayout, a); err != nil {
		return nil, err
	}
	t := &a.args.layout.tiled
	if t.nMinorToMajor == 0 {
		return nil, nil
	}
	return append([]int64(nil), unsafe.Slice((*int64)(t.minorToMajor), t.nMinorToMajor)...), nil
}

// Bytes copies the array to Go memory and waits.
func (b *Buffer) Bytes() ([]byte, error) {
	n, err := b.HostBytes()
	if err != nil {
		return nil, err
	}
	out := make([]byte, n, n+1)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(unsafe.SliceData(out))
	return out, b.ToHost(unsafe.Pointer(unsafe.SliceData(out)), n)
}
