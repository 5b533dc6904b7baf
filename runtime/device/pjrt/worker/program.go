package worker

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
)

// A Program is a compiled program in the worker.
type Program struct {
	w       *Worker
	id      uint64
	Outputs []Output
}

// Compile compiles a program for the devices of the worker.
func (w *Worker) Compile(ctx context.Context, format string, code, options []byte) (*Program, error) {
	if len(code) == 0 {
		return nil, &capi.Error{Code: capi.InvalidArgument, Message: "an empty program"}
	}
	p := &Program{w: w, id: w.id()}
	b, err := w.ask(ctx, compile, message(nil).word(p.id).bytes(options).bytes([]byte(format)).word(uint64(len(code))), code)
	return p.with(b, err)
}

// Load loads what Serialize gave. The bytes must come from the same library:
// the format has no check of its own.
func (w *Worker) Load(ctx context.Context, code []byte) (*Program, error) {
	p := &Program{w: w, id: w.id()}
	b, err := w.ask(ctx, load, message(nil).word(p.id).word(uint64(len(code))), code)
	return p.with(b, err)
}

// with reads the types of the results.
func (p *Program) with(b []byte, err error) (*Program, error) {
	if err != nil {
		return nil, err
	}
	c := &cursor{b: b}
	for range c.count(16) {
		p.Outputs = append(p.Outputs, Output{capi.Type(c.word()), c.dims()})
	}
	if c.bad {
		return nil, &FrameError{"a reply is cut short"}
	}
	return p, nil
}

// Serialize gives the compiled program, machine code included.
func (p *Program) Serialize(ctx context.Context) ([]byte, error) {
	return p.w.ask(ctx, serialize, message(nil).word(p.id))
}

// Optimized gives the program after the compiler's passes.
func (p *Program) Optimized(ctx context.Context) (code []byte, format string, err error) {
	b, err := p.w.ask(ctx, optimized, message(nil).word(p.id))
	if err != nil {
		return nil, "", err
	}
	c := &cursor{b: b}
	format = string(c.bytes())
	return c.b, format, nil
}

// Memory is the compiler's memory report.
func (p *Program) Memory(ctx context.Context) (m capi.Memory, err error) {
	b, err := p.w.ask(ctx, memory, message(nil).word(p.id))
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	return m, err
}

// Drop frees the program.
func (p *Program) Drop() { _ = p.w.send(drop, message(nil).word(p.id)) }

// Execute starts the program. It does not wait: a failure shows when a result
// is read, or in Sync.
func (p *Program) Execute(in []*Buffer) ([]*Buffer, error) {
	if err := p.mine(in); err != nil {
		return nil, err
	}
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	outs := w.newBuffers(len(p.Outputs))
	w.msg = w.msg[:0].word(p.id).buffers(in).buffers(outs)
	return outs, w.sendLocked(execute, w.msg)
}

// ExecuteAll starts the program on several devices: in[d] are the inputs of
// the d-th device of its assignment.
func (p *Program) ExecuteAll(in [][]*Buffer) ([][]*Buffer, error) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.msg[:0].word(p.id).word(uint64(len(in)))
	all := make([][]*Buffer, len(in))
	for d := range in {
		if err := p.mine(in[d]); err != nil {
			return nil, err
		}
		all[d] = w.newBuffers(len(p.Outputs))
		m = m.buffers(in[d]).buffers(all[d])
	}
	w.msg = m
	return all, w.sendLocked(executeAll, m)
}

// mine checks that the inputs are in the process that has the program.
func (p *Program) mine(in []*Buffer) error {
	for i, b := range in {
		if b == nil || b.w != p.w {
			return &capi.InputError{Index: i}
		}
	}
	return nil
}

// Sync waits for everything that was started and gives the first failure
// since the last Sync.
func (w *Worker) Sync(ctx context.Context) error {
	_, err := w.SyncTimed(ctx)
	return err
}

// SyncTimed is Sync that tells how long the executions since the last one took,
// as the process saw them begin and end.
func (w *Worker) SyncTimed(ctx context.Context) (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, err := w.answerLocked(ctx, sync)
	if late := w.late; late != nil {
		w.late = nil
		return 0, late
	}
	return time.Duration((&cursor{b: b}).word()), err
}

// CompileAhead compiles for devices that need not be here.
func (w *Worker) CompileAhead(ctx context.Context, r AOTRequest, code []byte) (rep AOTReport, err error) {
	if len(code) == 0 { // libtpu does not survive it
		return rep, &capi.Error{Code: capi.InvalidArgument, Message: "an empty program"}
	}
	head, err := json.Marshal(r)
	if err != nil {
		return rep, err
	}
	b, err := w.ask(ctx, aot, message(nil).bytes(head).word(uint64(len(code))), code)
	if err == nil {
		err = json.Unmarshal(b, &rep)
	}
	return rep, err
}
