// Package pjrt is a device behind a PJRT plug-in: the same graphs, lowered to
// StableHLO, compiled and run by the real XLA.
//
// Numbers are the plug-in's. HBM, layout and time of the chip it stands for
// are still the cost model's, so they can be compared: what took real time on
// this host is measured by whoever launches. It imports graph, stablehlo,
// device, sim (for plans alone), capi and worker. Invariant: no native code
// runs in this process.
package pjrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/trace"
)

// Options say what to open.
type Options struct {
	Worker worker.Options
	Cache  *Cache // executables on disk, nil for none
	Chip   *device.Chip
	Limit  int64 // of HBM, 0: the chip's
	Sink   trace.Sink
	// Fast compiles in a third of the time, to code that runs several times slower.
	Fast bool
}

// fastEnv and fastFlags are what Fast means: XLA's CPU compiler spends most of
// its time on a small program in MLIR's passes and in LLVM's.
const fastEnv = "XLA_FLAGS=--xla_backend_extra_options=xla_cpu_disable_new_fusion_emitters"

var fastFlags = map[string]any{"xla_backend_optimization_level": int64(0)}

// A Device runs graphs in a plug-in process, which it starts again when it
// died. It is not safe for concurrent use, but Interrupt is.
type Device struct {
	opts    Options
	planner *sim.Device // plans and prices, never runs
	hbm     *device.HBM
	clock   device.Clock

	mu   sync.Mutex // w, stop
	w    *worker.Worker
	born int // how many workers there were
	stop context.CancelCauseFunc
	dead []*worker.Buffer // to be freed with the next launch

	journal journal

	meshed bool       // something is on more than one device
	held   []*program // that the process has
	uses   uint64     // of programs
}

// ErrInterrupted is why a process was ended on request: native code cannot be
// asked to stop.
var ErrInterrupted = errors.New("interrupted")

// Open starts the plug-in.
func Open(o Options) (*Device, error) {
	if o.Fast {
		o.Worker.Env = append(slices.Clone(o.Worker.Env), fastEnv)
	}
	d := &Device{opts: o, planner: sim.New(o.Chip, sim.Options{HBMLimitBytes: o.Limit})}
	limit := o.Chip.HBMBytes
	if o.Limit > 0 {
		limit = o.Limit
	}
	d.hbm = device.NewHBM(limit, o.Chip.AlignBytes, o.Sink, &d.clock)
	_, err := d.worker()
	return d, err
}

// worker gives the running process; a dead one is replaced.
func (d *Device) worker() (*worker.Worker, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.w != nil && d.w.Dead() == nil {
		return d.w, nil
	}
	w, err := worker.Start(context.Background(), d.opts.Worker)
	if err != nil {
		return nil, err
	}
	if len(w.About().Devices) == 0 {
		w.Kill()
		return nil, &NoDeviceError{w.About().NoClient}
	}
	d.w = w
	d.born++
	d.dead = nil
	return w, nil
}

// A NoDeviceError says that a plug-in loaded but has nothing to run on.
type NoDeviceError struct{ Why string }

// Error gives the plug-in's reason.
func (e *NoDeviceError) Error() string {
	if e.Why == "" {
		return "the plug-in has no device"
	}
	return "the plug-in has no device: " + e.Why
}

// begin gives a context that Interrupt ends.
func (d *Device) begin() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	d.mu.Lock()
	d.stop = cancel
	d.mu.Unlock()
	return ctx, func() {
		d.mu.Lock()
		d.stop = nil
		d.mu.Unlock()
		cancel(nil)
	}
}

// Interrupt ends what is being waited for, and the process with it. Arrays
// that were never read are lost.
func (d *Device) Interrupt() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop(ErrInterrupted)
	}
}

// About is what the plug-in says of itself.
func (d *Device) About() worker.About {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.w.About()
}

// Describe says what runs.
func (d *Device) Describe() string {
	a := d.About()
	return fmt.Sprintf("%s %s, %d device(s), PJRT %d.%d, process %d", a.Platform, a.Version, len(a.Devices), a.Major, a.Minor, d.PID())
}

// PID is the plug-in's process.
func (d *Device) PID() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.w.PID()
}

// Chip gives the figures of the chip that plans are made for.
func (d *Device) Chip() *device.Chip { return d.planner.Chip() }

// HBM gives the allocator of that chip.
func (d *Device) HBM() *device.HBM { return d.hbm }

// Clock gives the virtual time.
func (d *Device) Clock() *device.Clock { return &d.clock }

// Close ends the process.
func (d *Device) Close() error {
	d.mu.Lock()
	w := d.w
	d.mu.Unlock()
	if w != nil {
		w.Kill()
	}
	return d.planner.Close()
}

// Upload keeps a dense host array for the device: it travels when a program
// first reads it. It returns *device.OutOfMemoryError, or an error when the
// bytes do not fit s.
func (d *Device) Upload(s shape.Spec, host []byte, owner device.Owner) (device.Buffer, error) {
	if want := s.Size() * s.DType.HostBytes(); len(host) != want {
		return nil, fmt.Errorf("upload: %v needs %d bytes, got %d", s, want, len(host))
	}
	b := &buffer{dev: d, spec: s, src: &source{spec: s, host: append(make([]byte, 0, len(host)), host...)}}
	b.src.buf = weak.Make(b)
	if err := b.charge(owner); err != nil {
		return nil, err
	}
	return b, nil
}

// Sync waits until everything launched is done and gives its first failure.
// When the process ended meanwhile, the last launch is done again: should that
// end the next one too, it is the failure.
func (d *Device) Sync() error {
	_, err := d.drain()
	if died(err) {
		if err = d.redo(); err == nil {
			_, err = d.drain()
		}
	}
	return err
}

// drain waits for everything launched and tells how long the executions took.
func (d *Device) drain() (time.Duration, error) {
	w, err := d.worker()
	if err != nil {
		return 0, err
	}
	ctx, done := d.begin()
	defer done()
	return w.SyncTimed(ctx)
}

// Devices is how many devices the plug-in has.
func (d *Device) Devices() int { return len(d.About().Devices) }

// typeOf is the plug-in's element type of ours.
func typeOf(s shape.Spec) (capi.Type, error) { return capi.ParseType(s.DType.Row().StableHLO) }

func dimsOf(s shape.Spec) []int64 {
	dims := make([]int64, len(s.Dims))
	for i, n := range s.Dims {
		dims[i] = int64(n)
	}
	return dims
}
