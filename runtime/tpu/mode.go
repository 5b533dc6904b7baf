package tpu

import (
	"reflect"

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

// A capture is one run of a compiled function.
type capture struct {
	outer *capture
	seq   uint64     // tape nodes made before
	wrote []*Storage // storages written and gradients gathered meanwhile
	made  []*Storage // storages made meanwhile
}

// CompileOptions change Compile.
type CompileOptions struct {
	// Dynamic is kept for programs written for the real system: sizes are always
	// part of the key here, and Go numbers never are.
	Dynamic bool
}

// Compile gives a function of f's own type whose operations are launched as
// one program. Reading a value inside f is refused with
// *exec.ReadWhileTracingError; gradients flow through.
//
// f runs at each call, its operations collected, and the program is found again
// by what they are: rows, edges, static attributes, types and outputs. What f
// reads of Go (closures, fields, branches), the mode and which tensors want
// gradients therefore need no guards. Go numbers are arguments of the program.
func Compile(f any, _ ...CompileOptions) any {
	fv := reflect.ValueOf(f)
	if fv.Kind() != reflect.Func {
		refuse("compile", operandError(f, "a function is wanted"))
	}
	return reflect.MakeFunc(fv.Type(), func(args []reflect.Value) []reflect.Value {
		e := ambientEngine()
		var out []reflect.Value
		e.program(func() []*Tensor {
			if fv.Type().IsVariadic() {
				out = fv.CallSlice(args)
			} else {
				out = fv.Call(args)
			}
			var ts []*Tensor
			for _, v := range out {
				ts = collectTensors(v, ts)
			}
			for _, v := range args { // in-place writes and gradients of arguments
				ts = collectTensors(v, ts)
			}
			return ts
		})
		return out
	}).Interface()
}

// program runs f with its operations collected and launches them as one region.
func (e *engine) program(f func() []*Tensor) {
	if err := e.d.BeginProgram(); err != nil {
		e.fail("compile", err)
	}
	c := &capture{outer: e.capture, seq: e.seq}
	e.capture = c
	done := false
	defer func() {
		e.capture = c.outer
		if !done {
			e.d.AbortProgram()
		}
	}()
	results := f()
	done = true
	if err := e.d.EndProgram(c.needed(results)...); err != nil {
		e.fail("compile", err)
	}
	e.capture = c.outer
	for _, s := range c.made {
		if c.outer != nil || s.value.HBMBytes() > 0 { // the others stayed on chip
			s.adopt()
		}
	}
	if c.outer != nil {
		c.outer.wrote = append(c.outer.wrote, c.wrote...)
	}
}

// needed lists the values the program must leave behind: results, gradients,
// storages that were written, and what the tape saved of the results.
func (c *capture) needed(results []*Tensor) []*exec.Value {
	var vs []*exec.Value
	seen := map[*node]bool{}
	var nodes []*node
	add := func(t *Tensor) {
		if t == nil {
			return
		}
		vs = append(vs, t.s.value)
		if h := t.hist; h != nil {
			if h.grad != nil {
				vs = append(vs, h.grad.s.value)
			}
			if h.fn != nil && h.fn.seq > c.seq && !seen[h.fn] {
				seen[h.fn] = true
				nodes = append(nodes, h.fn)
			}
		}
	}
	for _, t := range results {
		add(t)
	}
	for _, s := range c.wrote {
		vs = append(vs, s.value)
	}
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		for _, s := range n.saved {
			if s != nil && s.s.version == s.version {
				vs = append(vs, s.s.value)
			}
		}
		for _, h := range n.ins {
			if h != nil && h.fn != nil && h.fn.seq > c.seq && !seen[h.fn] {
				seen[h.fn] = true
				nodes = append(nodes, h.fn)
			}
		}
	}
	return vs
}

// collectTensors lists the tensors a value leads to.
func collectTensors(v reflect.Value, ts []*Tensor) []*Tensor {
	w := &walker{visitTensor: func(t *Tensor) { ts = append(ts, t) }}
	w.visit(v)
	return ts
}
