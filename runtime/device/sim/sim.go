// Package sim is a TPU made of arithmetic: it computes with the reference
// kernels on the host and charges time and HBM by the figures of a chip.
//
// It never decides when to run: exec does, and books the times on the clock. It
// imports trace, shape, kernel, op, graph and device. Invariant: what it
// computes does not depend on the plan, so every mode gives the same bits.
package sim

import (
	"fmt"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// A Device is one simulated chip. It is not safe for concurrent use.
type Device struct {
	chip  device.Chip
	hbm   *device.HBM
	clock device.Clock
	host  hostMemory
	arena []byte // bytes of intermediates, shared by all executables
	small slab

	meshed bool // something is placed on a mesh

	waiting  *lateSlab // what is computed late; nil when nothing waits
	batches  batches   // the last that waited
	atOnce   int       // so many results that might wait do not
	scratch  scratchPool
	lateCall kernel.Call
}

// Options change what New makes.
type Options struct {
	HBMLimitBytes  int64      // 0: what the chip has
	HostLimitBytes int64      // 0: three quarters of the memory of the machine
	Sink           trace.Sink // receives Alloc and Free; may be nil
}

// New makes a device like chip.
func New(chip *device.Chip, o Options) *Device {
	d := &Device{chip: *chip}
	limit := chip.HBMBytes
	if o.HBMLimitBytes > 0 {
		limit = o.HBMLimitBytes
	}
	d.host.limit = o.HostLimitBytes
	if d.host.limit <= 0 {
		d.host.limit = physicalBytes() / 4 * 3
	}
	d.hbm = device.NewHBM(limit, chip.AlignBytes, o.Sink, &d.clock)
	return d
}

// Chip gives the figures of the device.
func (d *Device) Chip() *device.Chip { return &d.chip }

// HBM gives the allocator.
func (d *Device) HBM() *device.HBM { return d.hbm }

// Clock gives the virtual time.
func (d *Device) Clock() *device.Clock { return &d.clock }

// Close lets the memory go.
func (d *Device) Close() error {
	d.arena = nil
	return nil
}

// Upload copies a dense host array to the device. It returns
// *device.OutOfMemoryError, *device.HostMemoryError, or an error when the bytes do not fit s.
func (d *Device) Upload(s shape.Spec, host []byte, owner device.Owner) (device.Buffer, error) {
	f := newForm(d, s)
	if int64(len(host)) != f.host {
		return nil, fmt.Errorf("upload: %v needs %d bytes, got %d", s, f.host, len(host))
	}
	block, err := d.hbm.Alloc(f.bytes, f.padded, owner)
	if err != nil {
		return nil, err
	}
	if err := d.host.take(f.host, owner.What); err != nil {
		d.hbm.Free(block)
		return nil, err
	}
	b := &housed{buffer: buffer{form: &f, buf: kernel.AllocRaw(len(host))}}
	b.home = &b.own
	b.home.Put(block)
	copy(b.buf, host)
	return &b.buffer, nil
}
