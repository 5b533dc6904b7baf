package pjrt

import (
	"errors"
	"runtime"
	"slices"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
)

// A buffer is an array in the plug-in's process, on the host, or in both: what
// was uploaded or read has a copy on the host and survives the process. In the
// process it is on the first device, or in parts on the devices of a mesh.
type buffer struct {
	dev   *Device
	spec  shape.Spec
	host  []byte           // nil until read
	there []*worker.Buffer // nil until a program needs it; one for each device of where
	where *shape.Sharding  // nil: there is one array, on the first device
	born  int              // of the worker that holds there
	block *device.Block    // nil once freed
}

func (b *buffer) charge(owner device.Owner) error {
	s := b.part()
	block, err := b.dev.hbm.Alloc(s.Bytes(), s.PaddedBytes(), owner)
	b.block = block
	return err
}

// part is the type of what one device holds.
func (b *buffer) part() shape.Spec { return partOf(b.spec, b.where) }

func partOf(s shape.Spec, where *shape.Sharding) shape.Spec {
	if where != nil {
		s.Dims = where.Part(s.Dims)
	}
	return s
}

// Sharding says where its parts are.
func (b *buffer) Sharding() *shape.Sharding { return b.where }

// made gives a buffer that a program made. When the last reference goes, the
// process may free the array.
func (d *Device) made(s shape.Spec, there []*worker.Buffer, where *shape.Sharding, block *device.Block) *buffer {
	b := &buffer{dev: d, spec: s, there: there, where: where, born: d.born, block: block}
	b.guard()
	return b
}

func (b *buffer) guard() {
	runtime.AddCleanup(b, func(x dropped) { x.dev.drop(x) }, dropped{b.dev, b.there, b.born})
}

// dropped are arrays of the process that nobody can reach.
type dropped struct {
	dev   *Device
	there []*worker.Buffer
	born  int
}

// drop is called by the collector.
func (d *Device) drop(x dropped) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x.born == d.born {
		d.dead = append(d.dead, x.there...)
	}
}

// on gives the array on the first device of the process w, sending it there
// when it has to be.
func (b *buffer) on(w *worker.Worker) (*worker.Buffer, error) {
	if b.where == nil && b.there != nil && b.born == b.dev.born {
		return b.there[0], nil
	}
	if err := b.send(w, nil); err != nil {
		return nil, err
	}
	return b.there[0], nil
}

// over gives the array on n devices: in its parts, or a copy on each.
func (b *buffer) over(w *worker.Worker, n int) ([]*worker.Buffer, error) {
	if b.where != nil && len(b.there) == n && b.born == b.dev.born {
		return b.there, nil
	}
	return b.there, b.send(w, copies(b.spec, n))
}

// copies is the sharding of a tensor that each of n devices holds whole.
func copies(s shape.Spec, n int) *shape.Sharding {
	c := &shape.Sharding{Tiles: slices.Repeat([]int{1}, len(s.Dims))}
	for d := range n {
		c.Devices = append(c.Devices, d)
	}
	return c
}

// send copies the numbers from the host to the first device, or to every
// device of where, which holds them whole.
func (b *buffer) send(w *worker.Worker, where *shape.Sharding) error {
	if b.host == nil && b.born == b.dev.born {
		if err := b.Wait(); err != nil {
			return err
		}
	}
	if b.host == nil {
		return &LostError{b.spec, errReplaced}
	}
	t, err := typeOf(b.spec)
	if err != nil {
		return err
	}
	n := 1
	if where != nil {
		n = len(where.Devices)
	}
	var there []*worker.Buffer
	for d := range n {
		p, err := w.Put(d, t, dimsOf(b.spec), b.host)
		if err != nil {
			return err
		}
		there = append(there, p)
	}
	b.there, b.where, b.born = there, where, b.dev.born // what was there before is freed with b
	b.guard()
	return nil
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
	if b.where == nil || b.where.Whole() {
		if err := b.there[0].Get(ctx, host); err != nil {
			return b.lost(err)
		}
		b.host = host
		return nil
	}
	part := b.part()
	one := make([]byte, part.Size()*part.DType.HostBytes())
	each := len(b.where.Devices) / shape.Size(b.where.Tiles) // holders of a tile
	for i := 0; i < len(b.where.Devices); i += each {
		d := b.where.Devices[i]
		if err := b.there[d].Get(ctx, one); err != nil {
			return b.lost(err)
		}
		paste(host, b.spec.Dims, one, part.Dims, b.where.TileOf(d), part.DType.HostBytes())
	}
	b.host = host
	return nil
}

// lost is what became of numbers that cannot be read.
func (b *buffer) lost(err error) error {
	var died *worker.DiedError
	if errors.As(err, &died) {
		return &LostError{b.spec, err}
	}
	return err
}

// paste copies a tile into the whole, both row-major; a last tile may reach
// over the end.
func paste(whole []byte, dims []int, tile []byte, part, at []int, width int) {
	if len(dims) == 0 {
		copy(whole, tile)
		return
	}
	first := at[0] * part[0]
	rows, row, tileRow := min(part[0], dims[0]-first), shape.Size(dims[1:])*width, shape.Size(part[1:])*width
	for i := range max(rows, 0) {
		paste(whole[(first+i)*row:(first+i+1)*row], dims[1:], tile[i*tileRow:(i+1)*tileRow], part[1:], at[1:], width)
	}
}

func (b *buffer) Spec() shape.Spec { return b.spec }

// Host gives the numbers; those of a buffer whose Wait fails are zeros.
func (b *buffer) Host() kernel.Array {
	if b.Wait() != nil {
		return kernel.New(b.spec)
	}
	return kernel.Array{DType: b.spec.DType, View: shape.Dense(b.spec.Dims), Buf: b.host}
}

func (b *buffer) PaddedBytes() int64 { return b.part().PaddedBytes() }
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
