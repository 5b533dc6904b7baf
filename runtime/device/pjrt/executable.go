package pjrt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/shape"
)

var errReplaced = errors.New("its plug-in process ended")

// An executable is a graph as stages that run one after the other: usually one
// program, more when a node has no lowering that XLA can run.
type executable struct {
	dev    *Device
	g      *graph.Graph
	plan   *device.Plan
	params []shape.Spec
	stages []stage
	// results are the slots of the outputs; nil: they are those of the only stage.
	results []int
	places  bool // puts something on a mesh
}

// Compile plans the graph with the cost model and compiles it with the
// plug-in. It returns *graph.BrokenError, *device.OutOfMemoryError or *CompileError.
func (d *Device) Compile(g *graph.Graph, level device.Level) (device.Executable, error) {
	planned, err := d.planner.Compile(g, level)
	if err != nil {
		return nil, err
	}
	w, err := d.worker()
	if err != nil {
		return nil, err
	}
	x := &executable{dev: d, g: g, plan: planned.Plan(), params: g.Params(), places: places(g)}
	x.stages, x.results, err = d.stagesOf(w, g)
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

// Run sends the inputs that the process does not hold and starts the program.
// It does not wait: what fails while it runs shows when a result is read.
//
// When the process dies under it the launch is done again in a new one, unless
// an input was only in the old one or gave its memory away.
func (x *executable) Run(l *device.Launch) error {
	err := x.attempt(l)
	var died *worker.DiedError
	var lost *LostError
	if !errors.As(err, &died) || errors.As(err, &lost) || slices.Contains(l.Donate, true) {
		return err
	}
	return x.attempt(l)
}

func (x *executable) attempt(l *device.Launch) error {
	if err := x.launch(l); err != nil || !l.Measure {
		return err
	}
	return x.measure(l)
}

// measure waits for the launch and notes how long the plug-in took. Its failure
// is the launch's own.
func (x *executable) measure(l *device.Launch) error {
	ctx, done := x.dev.begin()
	defer done()
	t, err := x.dev.w.SyncTimed(ctx)
	l.RealNS = t.Nanoseconds()
	if err != nil {
		for _, b := range l.Out {
			b.Free()
		}
	}
	return err
}

func (x *executable) launch(l *device.Launch) error {
	d := x.dev
	if len(l.In) != len(x.params) {
		return &device.InputError{Input: -1, Why: fmt.Sprintf("%d inputs, want %d", len(l.In), len(x.params))}
	}
	w, err := d.worker()
	if err != nil {
		return err
	}
	l.Collectives = nil
	if n, err := x.devices(l); err != nil {
		return err
	} else if n > 1 && x.results == nil {
		return x.runOver(w, l, n)
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
	room, err := x.allocate(l)
	if err != nil {
		return err
	}
	outs, temps, err := x.start(w, l.Attrs, in)
	numbers = append(numbers, temps...)
	if err != nil {
		room.giveBack()
		w.Free(numbers...)
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
		l.Out = append(l.Out, d.made(x.g.Outputs[i].Spec(), []*worker.Buffer{o}, nil, room.take(i)))
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

// Optimized gives the compiler's programs for a graph that was compiled, one a
// stage that XLA runs, and their format.
func (x *executable) Optimized(ctx context.Context) (codes [][]byte, format string, err error) {
	w, err := x.dev.worker()
	if err != nil {
		return nil, "", err
	}
	for i := range x.stages {
		c := x.stages[i].code
		if c == nil {
			continue
		}
		p, err := c.program(w, nil)
		if err != nil {
			return nil, "", err
		}
		var b []byte
		if b, format, err = p.p.Optimized(ctx); err != nil {
			return nil, "", err
		}
		codes = append(codes, b)
	}
	return codes, format, nil
}
