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
	"github.com/tpush/tpush/runtime/op"
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
	dynamic bool // launches may differ in attributes
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
	x.dynamic = len(d.newCode(g).dynamic) > 0
	x.stages, x.results, err = d.stagesOf(w, g)
	if died(err) { // not of this program, perhaps: once more
		if w, err = d.worker(); err == nil {
			x.stages, x.results, err = d.stagesOf(w, g)
		}
	}
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
// When the process dies under it the launch is done again in a new one.
func (x *executable) Run(l *device.Launch) error {
	err := x.launch(l)
	if died(err) {
		err = x.launch(l)
	}
	if err != nil || !l.Measure {
		return err
	}
	took, err := x.dev.drain()
	if died(err) {
		if err = x.dev.redo(); err == nil {
			took, err = x.dev.drain()
		}
	}
	l.RealNS = took.Nanoseconds()
	if err != nil { // it is the launch's own
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
	n, err := x.devices(l)
	if err != nil {
		return err
	}
	feeds := make([]feed, len(l.In))
	var room *room
	outs, temps, err := x.compute(w, l.Attrs, n, func(k, n int) (p placed, own bool, err error) {
		if feeds[k], err = x.feed(l, k); err != nil {
			return p, false, err
		}
		if feeds[k].src == nil {
			p, err = d.number(w, feeds[k].number, n)
			return p, true, err
		}
		p, err = l.In[k].(*buffer).on(w, n)
		return p, false, err
	}, func(where []*shape.Sharding) (err error) {
		room, err = x.allocate(l, where)
		return err
	})
	if err != nil {
		if room != nil {
			room.giveBack()
		}
		w.Free(temps...)
		return err
	}
	d.mu.Lock()
	temps = append(temps, d.dead...)
	d.dead = nil
	d.mu.Unlock()
	w.Free(temps...)
	rec := &launched{x: x, in: feeds, outs: make([]*source, len(outs))}
	if x.dynamic {
		rec.attrs = slices.Clone(l.Attrs)
	}
	l.Out, l.Collectives = l.Out[:0], nil
	for i, p := range outs {
		o := room.owner(i)
		rec.outs[i] = &source{spec: x.g.Outputs[i].Spec(), made: rec, op: o.What, opn: o.Op}
		l.Out = append(l.Out, d.made(rec.outs[i], p, room.take(i)))
	}
	if n > 1 {
		l.Collectives = x.stages[0].code.programs[0].collectives
	}
	d.journal.add(rec)
	room.freeDonors()
	return nil
}

// feed checks an input and says where its numbers come from.
func (x *executable) feed(l *device.Launch, k int) (feed, error) {
	b := l.In[k]
	own, ok := b.(*buffer)
	switch {
	case ok && own.dev == x.dev && own.block == nil:
		return feed{}, &device.FreedBufferError{Input: k, Spec: own.spec}
	case ok && own.dev == x.dev && own.spec.Equal(x.params[k]):
		return feed{src: own.src}, nil
	case !ok && b != nil && b.Spec().Equal(x.params[k]):
		return feed{number: b}, nil
	}
	e := &device.InputError{Input: k, Want: x.params[k]}
	if b != nil {
		e.Got = b.Spec()
	}
	return feed{}, e
}

// compute starts the programs in w, on n devices. fetch gives an input on n
// devices and whether it is the launch's own; room is asked before anything
// runs, with where the results will be. What the caller must free comes beside
// the results, also on error.
func (x *executable) compute(w *worker.Worker, attrs []op.Attrs, n int, fetch func(k, n int) (placed, bool, error), room func([]*shape.Sharding) error) (outs []placed, temps []*worker.Buffer, err error) {
	ins := make([]placed, len(x.params))
	for k := range ins {
		p, own, err := fetch(k, n)
		if own {
			temps = append(temps, p.on...)
		}
		if err != nil {
			return nil, temps, err
		}
		ins[k] = p
	}
	if n > 1 {
		outs, more, err := x.stages[0].code.startOver(w, attrs, ins, n, room)
		return outs, append(temps, more...), err
	}
	if err := room(make([]*shape.Sharding, len(x.g.Outputs))); err != nil {
		return nil, temps, err
	}
	in := make([]*worker.Buffer, len(ins))
	for k, p := range ins {
		in[k] = p.on[0]
	}
	made, more, err := x.start(w, attrs, in)
	temps = append(temps, more...)
	if err != nil {
		return nil, temps, err
	}
	outs = make([]placed, len(made))
	for i := range made {
		outs[i].on = made[i : i+1 : i+1]
	}
	return outs, temps, nil
}

// number sends a Go number to n devices.
func (d *Device) number(w *worker.Worker, b device.Buffer, n int) (placed, error) {
	a := b.Host()
	return d.put(w, b.Spec(), a.Buf[:b.Spec().Size()*a.DType.HostBytes()], n)
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
