package sim

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/mem"
	"github.com/tpush/tpush/runtime/shape"
)

// A form is what all buffers of one type and device share, so that a buffer
// itself is small: bytes and a place.
type form struct {
	dev    *Device
	spec   shape.Spec
	view   shape.View // dense
	bytes  int64      // what the numbers need
	padded int64      // what they take in HBM
	host   int64      // what they take on the host
	spot   *spot      // on a mesh; nil: on this chip
}

func newForm(d *Device, s shape.Spec) form {
	return form{dev: d, spec: s, view: shape.Dense(s.Dims), bytes: logicalBytes(s), padded: s.PaddedBytes(), host: hostBytes(s)}
}

// A buffer is a dense host array and the place it is charged for in HBM. A
// large constant is held as its one element until somebody wants the array:
// filling the HBM must not fill the memory of the host.
type buffer struct {
	*form
	buf  []byte
	home *device.Home // it is empty once freed
	slab *lateSlab    // it lies in, when it is computed late
	at   uint8        // its place there
	// claimed: a run that has not ended will give the block to its output.
	claimed bool
	lent    bool // others may look at its array: it was given out, or another buffer has it too
	lost    bool // its array went to the output of a run
}

// A housed buffer keeps its own place in HBM.
type housed struct {
	buffer
	own device.Home
}

// constant says whether b holds one element for all.
func (b *buffer) constant() bool { return int64(len(b.numbers())) < b.host }

// spread writes the one element everywhere.
func (b *buffer) spread() {
	all := kernel.AllocRaw(int(b.host))
	for n := copy(all, b.buf); n < len(all); n *= 2 {
		copy(all[n:], all[:n])
	}
	b.buf = all
}

func (b *buffer) Spec() shape.Spec { return b.spec }

func (b *buffer) Host() kernel.Array {
	b.lent = true
	if b.constant() {
		b.spread()
	}
	return kernel.Array{DType: b.spec.DType, View: b.view, Buf: b.buf}
}

func (b *buffer) PaddedBytes() int64 { return b.padded }
func (b *buffer) Freed() bool        { return b.home.Empty() }

// Free gives the HBM back; a second call does nothing.
func (b *buffer) Free() {
	if block := b.dev.hbm.Alone(b.home); block != nil {
		b.dev.hbm.Free(block)
		b.home.Put(nil)
	}
}

// Give gives the array back to the pool of the host. One that a donation took has none.
func (b *buffer) Give() bool {
	if b.lost && b.home.Empty() {
		b.buf = nil
		return true
	}
	if b.lent || b.slab != nil || !b.home.Empty() || b.claimed {
		return false
	}
	mem.Default().Put(b.buf)
	b.buf = nil
	return true
}

// Revive takes HBM again. It returns *device.OutOfMemoryError, or
// *device.FreedBufferError when a donation took the numbers; a buffer that
// is not freed stays as it is.
func (b *buffer) Revive(owner device.Owner) error {
	if !b.home.Empty() {
		return nil
	}
	if b.lost {
		return &device.FreedBufferError{Spec: b.spec}
	}
	block, err := b.dev.hbm.Alloc(b.bytes, b.padded, owner)
	b.home.Put(block)
	return err
}
