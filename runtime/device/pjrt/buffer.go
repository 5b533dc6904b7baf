package pjrt

import (
	"runtime"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A buffer is an array in the plug-in's process, on the host, or in both: what
// was uploaded or read has a copy on the host and survives the process.
type buffer struct {
	dev   *Device
	spec  shape.Spec
	host  []byte         // nil until read
	there *worker.Buffer // nil until a program needs it
	born  int            // of the worker that holds there
	block *device.Block  // nil once freed
}

func (b *buffer) charge(owner device.Owner) error {
	block, err := b.dev.hbm.Alloc(b.spec.Bytes(), b.spec.PaddedBytes(), owner)
	b.block = block
	return err
}

// made gives a buffer that a program made. When the last reference goes, the
// process may free the array.
func (d *Device) made(s shape.Spec, there *worker.Buffer, block *device.Block) *buffer {
	b := &buffer{dev: d, spec: s, there: there, born: d.born, block: block}
	runtime.AddCleanup(b, func(x dropped) { x.dev.drop(x) }, dropped{d, there, d.born})
	return b
}

// dropped is an array of the process that nobody can reach.
type dropped struct {
	dev   *Device
	there *worker.Buffer
	born  int
}

// drop is called by the collector.
func (d *Device) drop(x dropped) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.release(x.there, x.born)
}

// on gives the array in the process w, sending it there when it has to be.
func (b *buffer) on(w *worker.Worker) (*worker.Buffer, error) {
	if b.there != nil && b.born == b.dev.born {
		return b.there, nil
	}
	if b.host == nil {
		return nil, &LostError{b.spec, b.dev.w.Dead()}
	}
	t, err := typeOf(b.spec)
	if err != nil {
		return nil, err
	}
	there, err := w.Put(0, t, dimsOf(b.spec), b.host)
	if err != nil {
		return nil, err
	}
	b.there, b.born = there, b.dev.born
	runtime.AddCleanup(b, func(x dropped) { x.dev.drop(x) }, dropped{b.dev, there, b.born})
	return there, nil
}

// Wait gets the numbers to the host. The error is a *LostError, or what the
// plug-in says went wrong while they were computed.
func (b *buffer) Wait() error {
	if b.host != nil {
		return nil
	}
	if b.born != b.dev.born {
		return &LostError{Spec: b.spec, Cause: errReplaced}
	}
	host := kernel.Alloc(b.spec.Size() * b.spec.DType.HostBytes())
	ctx, done := b.dev.begin()
	defer done()
	if err := b.there.Get(ctx, host); err != nil {
		return err
	}
	b.host = host
	return nil
}

func (b *buffer) Spec() shape.Spec { return b.spec }

// Host gives the numbers; those of a buffer whose Wait fails are zeros.
func (b *buffer) Host() kernel.Array {
	if b.Wait() != nil {
		return kernel.New(b.spec)
	}
	return kernel.Array{DType: b.spec.DType, View: shape.Dense(b.spec.Dims), Buf: b.host}
}

func (b *buffer) PaddedBytes() int64 { return b.spec.PaddedBytes() }
func (b *buffer) Freed() bool        { return b.block == nil }

// Free gives the HBM of the chip back. The array lives in the process until
// nobody can ask for it.
func (b *buffer) Free() {
	if b.block != nil {
		b.dev.hbm.Free(b.block)
		b.block = nil
	}
}

// Revive takes HBM again.
func (b *buffer) Revive(owner device.Owner) error {
	if b.block != nil {
		return nil
	}
	return b.charge(owner)
}
