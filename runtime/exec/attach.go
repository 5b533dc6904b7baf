package exec

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/trace"
)

// Attach keeps x for the layer above: what belongs to a dispatcher and not to the program.
func (d *Dispatcher) Attach(x any) { d.attached = x }

// Attached gives what was attached, nil when nothing was.
func (d *Dispatcher) Attached() any { return d.attached }

// Constant makes a value of numbers that are known on the host and passed as
// an argument of every launch that reads them: they take no HBM and are never
// part of a key. The caller must not write to a again.
func (d *Dispatcher) Constant(a kernel.Array, what string) *Value {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nextID++
	return &Value{typ: typeOf(a.Spec(), what), id: d.nextID, state: Constant, place: -1, depth: settled, buf: hostBuffer{a.Spec(), a}}
}

// Where is the place of the program now, nil when nobody knows.
func (d *Dispatcher) Where() *trace.Stack {
	if d.place == nil {
		return nil
	}
	return d.place.Where()
}

// SetDevice changes the device. The caller must have dropped every value of the old one.
func (d *Dispatcher) SetDevice(dev device.Device) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dev, d.hbm, d.clock = dev, dev.HBM(), dev.Clock()
	d.syncer, _ = dev.(device.Syncer)
	d.cache.clear()
}
