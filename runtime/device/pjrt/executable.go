package pjrt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

var errReplaced = errors.New("its plug-in process ended")

// An executable is a graph and the programs that were compiled for it: usually
// one, more when launches differ in attributes that are constants of a program.
type executable struct {
	dev      *Device
	g        *graph.Graph
	plan     *device.Plan
	params   []shape.Spec
	dynamic  []dynamic
	programs []*program // the one used last comes first
}

// Compile plans the graph with the cost model and compiles it with the
// plug-in. It returns *graph.BrokenError, *device.OutOfMemoryError or *CompileError.
func (d *Device) Compile(g *graph.Graph, level device.Level) (device.Executable, error) {
	planned, err := d.planner.Compile(g, level)
	if err != nil {
		return nil, err
	}
	x := &executable{dev: d, g: g, plan: planned.Plan(), params: g.Params()}
	for i, n := range g.Nodes {
		for _, p := range n.Def.Params {
			if p.Dynamic {
				x.dynamic = append(x.dynamic, dynamic{i, p.Name})
			}
		}
	}
	w, err := d.worker()
	if err != nil {
		return nil, err
	}
	_, err = x.program(w, nil)
	return x, err
}

// Plan is the cost model's.
func (x *executable) Plan() *device.Plan { return x.plan }

// A CompileError is what XLA says against a program.
type CompileError struct {
	Name string // of the graph
	Err  error
}

// Error gives XLA's text in one line.
func (e *CompileError) Error() string {
	text := e.Err.Error()
	var ce *capi.Error
	if errors.As(e.Err, &ce) {
		text = ce.Message
	}
	text, _, _ = strings.Cut(text, "<unknown>:0: error: Failed to parse")
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return "xla: " + e.Name + ": " + line
}

// Unwrap gives the plug-in's error.
func (e *CompileError) Unwrap() error { return e.Err }

// compileFlags are given with every program: without them XLA's maximum and
// clamp lose NaN on a CPU.
var compileFlags = map[string]any{"xla_cpu_enable_fast_min_max": false}

// program gives the compiled program for the attributes of a launch; nil are
// the graph's own.
func (x *executable) program(w *worker.Worker, attrs []op.Attrs) (*program, error) {
	for i, p := range x.programs {
		if p.born == x.dev.born && x.serves(p, attrs) {
			copy(x.programs[1:i+1], x.programs[:i])
			x.programs[0] = p
			return p, nil
		}
	}
	l := x.lower(attrs)
	made, err := x.dev.compile(w, l.text)
	if err != nil {
		return nil, &CompileError{x.g.Name, err}
	}
	if len(made.Outputs) != len(x.g.Outputs) {
		return nil, &CompileError{x.g.Name, fmt.Errorf("%d results, want %d", len(made.Outputs), len(x.g.Outputs))}
	}
	p := &program{lowered: l, p: made, born: x.dev.born}
	x.programs = append([]*program{p}, x.programs...)
	return p, nil
}

// compile compiles a text, or takes it from the cache on disk.
func (d *Device) compile(w *worker.Worker, text string) (*worker.Program, error) {
	ctx, done := d.begin()
	defer done()
	options := capi.CompileOptions{}
	if len(w.About().Devices) > 0 && w.About().Platform == "cpu" {
		options.Flags = compileFlags
	}
	return d.opts.Cache.Compile(ctx, w, text, options.Encode())
}

// Run sends the inputs that the process does not hold and starts the program.
// It does not wait: what fails while it runs shows when a result is read.
func (x *executable) Run(l *device.Launch) error {
	d := x.dev
	if len(l.In) != len(x.params) {
		return &device.InputError{Input: -1, Why: fmt.Sprintf("%d inputs, want %d", len(l.In), len(x.params))}
	}
	w, err := d.worker()
	if err != nil {
		return err
	}
	p, err := x.program(w, l.Attrs)
	if err != nil {
		return err
	}
	in := make([]*worker.Buffer, len(l.In))
	var numbers []*worker.Buffer // Go numbers live for this launch
	for i, b := range l.In {
		own, ok := b.(*buffer)
		switch {
		case ok && own.dev == d && own.block == nil:
			return &device.FreedBufferError{Input: i, Spec: own.spec}
		case ok && own.dev == d && own.spec.Equal(x.params[i]):
			in[i], err = own.on(w)
		case !ok && b != nil && b.Spec().Equal(x.params[i]):
			in[i], err = d.number(w, b)
			numbers = append(numbers, in[i])
		default:
			e := &device.InputError{Input: i, Want: x.params[i]}
			if b != nil {
				e.Got = b.Spec()
			}
			err = e
		}
		if err != nil {
			return err
		}
	}
	if len(p.asked) > 0 {
		b, err := w.Put(0, f64, []int64{int64(len(p.asked))}, x.numbers(p, l.Attrs))
		if err != nil {
			return err
		}
		in, numbers = append(in, b), append(numbers, b)
	}
	room, err := x.allocate(l)
	if err != nil {
		return err
	}
	outs, err := p.p.Execute(in)
	if err != nil {
		room.giveBack()
		return err
	}
	d.mu.Lock()
	d.dead = append(d.dead, numbers...)
	gone := d.dead
	d.dead = nil
	d.mu.Unlock()
	w.Free(gone...)
	l.Out = l.Out[:0]
	for i, o := range outs {
		l.Out = append(l.Out, d.made(x.g.Outputs[i].Spec(), o, room.take(i)))
	}
	room.freeDonors()
	return nil
}

// number sends a Go number.
func (d *Device) number(w *worker.Worker, b device.Buffer) (*worker.Buffer, error) {
	t, err := typeOf(b.Spec())
	if err != nil {
		return nil, err
	}
	a := b.Host()
	return w.Put(0, t, dimsOf(b.Spec()), a.Buf[:b.Spec().Size()*a.DType.HostBytes()])
}

// Optimized gives the compiler's program for a graph that was compiled.
func (x *executable) Optimized(ctx context.Context) ([]byte, string, error) {
	w, err := x.dev.worker()
	if err != nil {
		return nil, "", err
	}
	p, err := x.program(w, nil)
	if err != nil {
		return nil, "", err
	}
	return p.p.Optimized(ctx)
}
