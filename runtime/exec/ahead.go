package exec

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/kernel"
)

// host gives the numbers of a value that was launched. On a device that runs
// ahead of the host they may still fail to come.
func (d *Dispatcher) host(v *Value) (kernel.Array, error) {
	if w, ok := v.buf.(device.Waiter); ok {
		if err := w.Wait(); err != nil {
			return kernel.Array{}, &OpError{Op: v.name(), Stack: v.stack, Err: err}
		}
	}
	return v.buf.Host(), nil
}

// catchUp waits for a device that runs ahead, where the mode waits for each
// launch: a failure is then the launch's own, and the host time measured is
// the time it took.
func (d *Dispatcher) catchUp() error {
	if d.syncer != nil {
		return d.syncer.Sync()
	}
	return nil
}

// finishAll has the device compute what it left for later.
func (d *Dispatcher) finishAll() {
	if f, ok := d.dev.(device.Finisher); ok {
		f.Finish()
	}
}
