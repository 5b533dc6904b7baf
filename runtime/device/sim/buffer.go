package sim

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A buffer is a dense host array and the place it is charged for in HBM.
type buffer struct {
	dev    *Device
	spec   shape.Spec
	array  kernel.Array
	padded int64
	block  *device.Block // nil once freed
}

func (b *buffer) Spec() shape.Spec   { return b.spec }
func (b *buffer) Host() kernel.Array { return b.array }
func (b *buffer) PaddedBytes() int64 { return b.padded }
func (b *buffer) Freed() bool        { return b.block == nil }

// Free gives the HBM back; a second call does nothing.
func (b *buffer) Free() {
	if b.block != nil {
		b.dev.hbm.Free(b.block)
		b.block = nil
	}
}

// Revive takes HBM again. It returns *device.OutOfMemoryError; a buffer that is not freed stays as it is.
func (b *buffer) Revive(owner device.Owner) error {
	if b.block != nil {
		return nil
	}
	block, err := b.dev.hbm.Alloc(b.spec.Bytes(), b.padded, owner)
	b.block = block
	return err
}
