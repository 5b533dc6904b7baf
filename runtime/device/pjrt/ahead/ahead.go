// Package ahead compiles programs for TPUs that are not here, with Google's
// own compiler in a process of its own, and reads its answers.
//
// It starts the process when somebody first asks, starts it again when it died
// or has grown, and guards it from programs that kill it. It draws nothing and
// knows no session. It imports device, capi, worker and hlo. Invariant: no
// native code runs in this process, and no file is left behind.
package ahead

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
)

// A Starter starts the compiler's process; env is put into its environment.
// The error says how to get a compiler when there is none.
type Starter func(ctx context.Context, env ...string) (*worker.Worker, error)

// A Compiler is the TPU compiler. It may be used by several goroutines, one at
// a time.
type Compiler struct {
	start Starter

	mu    sync.Mutex
	w     *worker.Worker
	ready time.Duration // how long it took to start
}

// New makes a compiler; nothing is started before it is used.
func New(start Starter) *Compiler { return &Compiler{start: start} }

// Close ends the process.
func (c *Compiler) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w != nil {
		c.w.Kill()
		c.w = nil
	}
}

// A Result is what the compiler made of a program.
type Result struct {
	Target     Target
	Version    string // of the compiler
	Compile    time.Duration
	Ready      time.Duration // of the compiler's process, when it was started
	RSSBytes   int64         // of the process, afterwards; 0 when nobody knows
	Partitions int
	CodeBytes  int64
	Cost       worker.Cost // of the whole program
	Module     *hlo.Module
	Memory     hlo.MemoryStats
	Costs      map[int64]worker.Cost // by instruction of the entry
	Slots      map[string]*hlo.Slots // by instruction, when they were asked for
	Serialized []byte
}

// An OutOfMemoryError is a program that does not fit, with the plan that the
// compiler had come to.
type OutOfMemoryError struct {
	Target     Target
	Version    string
	Report     *hlo.OOM
	Module     *hlo.Module // nil when the compiler left no plan
	Assignment *hlo.Assignment
}

// Error is the first line of the compiler's text.
func (e *OutOfMemoryError) Error() string { return e.Report.HeadLine }

// A CompileError is what the compiler says against a program.
type CompileError struct{ Err error }

// Error is the compiler's text.
func (e *CompileError) Error() string {
	var ce *capi.Error
	if errors.As(e.Err, &ce) {
		return ce.Message
	}
	return e.Err.Error()
}

// Unwrap gives the plug-in's error.
func (e *CompileError) Unwrap() error { return e.Err }

// growBytes is how much memory the process may take before it is replaced:
// compiling leaks a little.
const growBytes = 1 << 30

// worker gives the running process.
func (c *Compiler) worker(ctx context.Context) (*worker.Worker, error) {
	if c.w != nil && (c.w.Dead() != nil || residentBytes(c.w.PID()) > growBytes) {
		c.w.Kill()
		c.w = nil
	}
	if c.w == nil {
		t0 := time.Now()
		w, err := c.start(ctx)
		if err != nil {
			return nil, err
		}
		c.w, c.ready = w, time.Since(t0)
	}
	return c.w, nil
}

// residentBytes is what a process takes, 0 where the system does not say.
func residentBytes(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := bytes.Fields(b); err == nil && len(f) > 1 {
		if n, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
			return n * int64(os.Getpagesize())
		}
	}
	return 0
}

// Options change Compile.
type Options struct {
	Topology string // instead of the smallest that has enough devices
	Slots    bool   // read the machine code too; it takes a process of its own
	HBMMiB   int64  // a budget below the chip's, 0 for the chip's
}

// Compile compiles the text of a StableHLO module for a chip. The error is
// *RefusedError, *OutOfMemoryError, *CompileError, *worker.DiedError or what
// starting the compiler says.
func (c *Compiler) Compile(ctx context.Context, chip, text string, o Options) (*Result, error) {
	options, err := optionsOf(text)
	if err != nil {
		return nil, err
	}
	t, err := TargetOf(chip, options.Replicas*options.Partitions)
	if err != nil {
		return nil, err
	}
	if o.Topology != "" {
		t.Topology, t.Devices = o.Topology, 0
	}
	if o.HBMMiB > 0 {
		options.Flags = map[string]any{"xla_tpu_max_hbm_size_mib": o.HBMMiB}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w, err := c.worker(ctx)
	if err != nil {
		return nil, err
	}
	t0 := time.Now()
	rep, err := w.CompileAhead(ctx, worker.AOTRequest{Topology: t.Topology, Options: options.Encode(), Format: capi.MLIR}, []byte(text))
	took := time.Since(t0)
	if err != nil {
		return nil, c.failure(ctx, w, t, text, options, err)
	}
	r := &Result{Target: t, Version: rep.Version, Compile: took, Ready: c.ready, CodeBytes: rep.CodeBytes, Cost: rep.Cost, Serialized: rep.Serialized, Partitions: options.Partitions}
	r.Target.Devices = len(rep.Devices)
	if err := r.read(ctx, w, rep.Optimized, rep.TPU); err != nil {
		return nil, err
	}
	if o.Slots {
		if r.Slots, err = c.slots(ctx, t, text, options); err != nil {
			return nil, err
		}
	}
	r.RSSBytes = residentBytes(w.PID())
	return r, nil
}

// read parses the answers and asks for the cost of each instruction.
func (r *Result) read(ctx context.Context, w *worker.Worker, optimized []byte, rep worker.TPUReport) error {
	m, err := hlo.ParseWithConfig(optimized)
	if err != nil {
		return &CompileError{err}
	}
	r.Module, r.Memory = m, hlo.ParseMemoryStats(rep.Memory, m)
	var ids []int64
	var parts [][]byte
	for _, in := range m.Entry.Instructions {
		if part := m.Slice(in); in.Runs() && part != nil {
			ids, parts = append(ids, in.ID), append(parts, part)
		}
	}
	costs, err := w.CostsTPU(ctx, rep.Target, parts)
	if err != nil {
		return err
	}
	r.Costs = map[int64]worker.Cost{}
	for i, cost := range costs {
		if i < len(ids) && cost != nil {
			r.Costs[ids[i]] = cost
		}
	}
	return nil
}

// Open reads an executable that libtpu serialized. It needs the compiler's
// library and no TPU. The error is *CompileError for bytes that are none.
func (c *Compiler) Open(ctx context.Context, serialized []byte) (*Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, err := c.worker(ctx)
	if err != nil {
		return nil, err
	}
	rep, err := w.OpenTPU(ctx, serialized)
	if err != nil {
		var ce *capi.Error
		if errors.As(err, &ce) {
			return nil, &CompileError{err}
		}
		return nil, err
	}
	r := &Result{Target: targetIn(rep.Target), Version: w.About().Version, Ready: c.ready, Serialized: serialized, Partitions: 1}
	if err := r.read(ctx, w, rep.Module, rep); err != nil {
		return nil, err
	}
	costs, err := w.CostsTPU(ctx, rep.Target, [][]byte{rep.Module})
	if err == nil && len(costs) == 1 {
		r.Cost = costs[0]
	}
	return r, err
}
