package pjrt

import (
	"runtime"
	"slices"
	"weak"

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
	src   *source
	there []*worker.Buffer // nil until a program needs it; one for each device of where
	where *shape.Sharding  // nil: there is one array, on the first device
	born  int              // of the worker that holds there
	lent  bool             // it has copies on a mesh because something else of a launch was there
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
func (d *Device) made(src *source, p placed, block *device.Block) *buffer {
	b := &buffer{dev: d, spec: src.spec, src: src, there: p.on, where: p.where, born: d.born, block: block}
	src.buf = weak.Make(b)
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

// on gives the array on n devices of the process w: where it is on n devices
// already, else a copy on each. What is not in the process is sent, or computed again.
func (b *buffer) on(w *worker.Worker, n int) (placed, error) {
	if b.fits(n) {
		return placed{b.there, b.where}, nil
	}
	if b.src.host == nil {
		if !b.src.here() {
			if err := b.dev.recover(b.src); err != nil {
				return placed{}, err
			}
			if b.fits(n) {
				return placed{b.there, b.where}, nil
			}
		}
		if err := b.Wait(); err != nil {
			return placed{}, err
		}
	}
	p, err := b.dev.put(w, b.spec, b.src.host, n)
	if err != nil {
		return p, err
	}
	b.there, b.where, b.born, b.lent = p.on, p.where, b.dev.born, true // what was there before is freed with b
	b.guard()
	return p, nil
}

func (b *buffer) fits(n int) bool {
	return b.src.here() && placed{b.there, b.where}.fits(n)
}

// fits says whether an array can be read by a program for n devices.
func (p placed) fits(n int) bool {
	return n == 1 && p.where == nil || n > 1 && p.where != nil && len(p.on) == n
}

// put sends an array to the first device, or a copy to each of n.
func (d *Device) put(w *worker.Worker, s shape.Spec, host []byte, n int) (p placed, err error) {
	t, err := typeOf(s)
	if err != nil {
		return p, err
	}
	if n > 1 {
		p.where = copies(s, n)
	}
	for k := range n {
		b, err := w.Put(k, t, dimsOf(s), host)
		if err != nil {
			return p, err
		}
		p.on = append(p.on, b)
	}
	return p, nil
}

// copies is the sharding of a tensor that each of n devices holds whole.
func copies(s shape.Spec, n int) *shape.Sharding {
	c := &shape.Sharding{Tiles: slices.Repeat([]int{1}, len(s.Dims))}
	for d := range n {
		c.Devices = append(c.Devices, d)
	}
	return c
}

// Wait gets the numbers to the host. What was lost with a process is computed
// again. The error is a *LostError, or what the plug-in says went wrong while
// they were computed.
func (b *buffer) Wait() error {
	for again := false; b.src.host == nil; again = true {
		if !b.src.here() {
			if err := b.dev.recover(b.src); err != nil {
				return err
			}
		}
		host, err := b.dev.gather(b.spec, placed{b.there, b.where})
		switch {
		case err == nil:
			b.dev.journal.keep(b.src, host)
		case died(err) && !again:
			if _, err := b.dev.worker(); err != nil {
				return err
			}
		case died(err):
			return b.src.lost(err)
		default:
			return err
		}
	}
	return nil
}

// gather reads an array from the devices it is on.
func (d *Device) gather(s shape.Spec, p placed) ([]byte, error) {
	host := kernel.Alloc(s.Size() * s.DType.HostBytes())
	ctx, done := d.begin()
	defer done()
	if p.where == nil || p.where.Whole() {
		return host, p.on[0].Get(ctx, host)
	}
	part := partOf(s, p.where)
	one := make([]byte, part.Size()*part.DType.HostBytes())
	each := len(p.where.Devices) / shape.Size(p.where.Tiles) // holders of a tile
	for i := 0; i < len(p.where.Devices); i += each {
		k := p.where.Devices[i]
		if err := p.on[k].Get(ctx, one); err != nil {
			return nil, err
		}
		paste(host, s.Dims, one, part.Dims, p.where.TileOf(k), part.DType.HostBytes())
	}
	return host, nil
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
	return kernel.Array{DType: b.spec.DType, View: shape.Dense(b.spec.Dims), Buf: b.src.host}
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
