package tpu

import (
	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/sim"
	"github.com/tpush/tpush/runtime/exec"
	"github.com/tpush/tpush/runtime/kernel"
)

// The modes.
var (
	Debug        = exec.Debug
	Strict       = exec.Strict
	DeferAndFuse = exec.DeferAndFuse
	Compiled     = exec.Compiled
)

// SetMode changes the mode; what is queued is launched first.
func SetMode(m *exec.Mode) {
	e := ambientEngine()
	e.capture.spoil()
	if err := e.d.SetMode(m); err != nil {
		e.fail("mode", err)
	}
}

// WithMode runs f in a mode and returns to the former one.
func WithMode(m *exec.Mode, f func()) {
	e := ambientEngine()
	old := e.d.Mode()
	SetMode(m)
	defer SetMode(old)
	f()
}

// Sync launches what is queued, waits for the device and reports the first failure.
func Sync(xs ...*Tensor) {
	e := ambientEngine()
	vs := make([]*exec.Value, len(xs))
	for i, x := range xs {
		vs[i] = x.s.value
	}
	if err := e.d.Sync(vs...); err != nil {
		e.fail("sync", err)
	}
}

// Memory are the figures of the HBM, in bytes.
type Memory struct {
	UsedBytes, PeakBytes, LimitBytes, FreeBytes, LargestFreeBytes, PaddingBytes int64
	Arrays                                                                      int
}

// MemoryStats gives the figures of the HBM, without what the statements before
// it left behind.
func MemoryStats() Memory {
	d := ambientEngine().d
	d.Settle()
	h := d.Device().HBM()
	return Memory{h.Used(), h.Peak(), h.Limit(), h.FreeBytes(), h.LargestFree(), h.Padding(), h.Live()}
}

// ResetPeak makes the present use the peak.
func ResetPeak() {
	d := ambientEngine().d
	d.Settle()
	d.Device().HBM().ResetPeak()
}

// CacheStats counts what the compilation cache did.
func CacheStats() exec.CacheStats { return ambientEngine().d.CacheStats() }

// Chip gives the chip that is simulated.
func Chip() *device.Chip { return ambientEngine().d.Device().Chip() }

// A ChipInUseError says that the chip cannot change while tensors live on it.
type ChipInUseError struct {
	From, To string
	Arrays   int
}

// Error counts the arrays.
func (e *ChipInUseError) Error() string {
	return "chip: " + e.From + " holds arrays and cannot become " + e.To
}

// SetChip changes the chip by its name; no tensor may be left on the former one.
func SetChip(name string) {
	e := ambientEngine()
	chip, err := device.LookupChip(name)
	if err != nil {
		e.fail("chip", err)
	}
	if name == e.d.Device().Chip().Name {
		return
	}
	if err := e.d.Sync(); err != nil {
		e.fail("chip", err)
	}
	if n := e.d.Device().HBM().Live(); n > 0 {
		e.fail("chip", &ChipInUseError{From: e.d.Device().Chip().Name, To: name, Arrays: n})
	}
	e.d.SetDevice(sim.New(chip, sim.Options{}))
	e.slab = nil // its places are in the HBM of the former chip
}

// SetHBMLimit makes the HBM smaller or, up to what the chip has, larger; 0 is what the chip has.
func SetHBMLimit(bytes int64) {
	d := ambientEngine().d.Device()
	if bytes <= 0 {
		bytes = d.Chip().HBMBytes
	}
	d.HBM().SetLimit(bytes)
}

// Precision is that of products on the matrix unit.
func Precision() string { return ambientEngine().d.Precision() }

// SetPrecision changes how products of f32 and f16 are computed from now on:
// "highest" in f32, "high" in three passes of bf16 (16 bits of each operand),
// "default" in one (8 bits). Sums are f32 in each.
func SetPrecision(name string) {
	e := ambientEngine()
	if err := e.d.SetPrecision(name); err != nil {
		e.fail("precision", err)
	}
}

// WithPrecision runs f at a precision.
func WithPrecision(name string, f func()) {
	old := Precision()
	SetPrecision(name)
	defer SetPrecision(old)
	f()
}

// SetExactBF16 decides how products of bf16 with at least 2^18 multiplications
// are computed on the host from now on, in the whole process: exactly, with
// the same bits on every machine, or on the processor's own unit when it has one.
func SetExactBF16(exact bool) { kernel.SetExactBF16(exact) }
