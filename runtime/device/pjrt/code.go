package pjrt

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// A code is a graph and the programs that were compiled for it: usually one,
// more when launches differ in attributes that are constants of a program.
type code struct {
	dev      *Device
	g        *graph.Graph
	dynamic  []dynamic
	programs []*program // the one used last comes first
}

func (d *Device) newCode(g *graph.Graph) *code {
	c := &code{dev: d, g: g}
	for i, n := range g.Nodes {
		for _, p := range n.Def.Params {
			if p.Dynamic {
				c.dynamic = append(c.dynamic, dynamic{i, p.Name})
			}
		}
	}
	return c
}

// compileFlags are given with every program: without them XLA's maximum and
// clamp lose NaN on a CPU, and narrow floats are not rounded where the program says.
var compileFlags = map[string]any{"xla_cpu_enable_fast_min_max": false, "xla_allow_excess_precision": false}

// program gives the compiled program for the attributes of a launch; nil are
// the graph's own.
func (c *code) program(w *worker.Worker, attrs []op.Attrs) (*program, error) {
	for i, p := range c.programs {
		if p.placed == "" && c.dev.holds(p) && c.serves(p, attrs) {
			copy(c.programs[1:i+1], c.programs[:i])
			c.programs[0] = p
			c.dev.touch(p)
			return p, nil
		}
	}
	return c.compile(w, c.lower(attrs, stablehlo.ModuleOptions{}))
}

// compile compiles what was lowered.
func (c *code) compile(w *worker.Worker, l lowered) (*program, error) {
	made, err := c.dev.compile(w, l.text, capi.CompileOptions{})
	if err != nil {
		return nil, &CompileError{c.g.Name, err}
	}
	if len(made.Outputs) != len(c.g.Outputs) {
		return nil, &CompileError{c.g.Name, fmt.Errorf("%d results, want %d", len(made.Outputs), len(c.g.Outputs))}
	}
	p := &program{lowered: l, p: made, born: c.dev.born}
	c.keep(p)
	return p, nil
}

// keep notes a program, before those that were used earlier.
func (c *code) keep(p *program) {
	c.dev.hold(p)
	c.programs = append([]*program{p}, slices.DeleteFunc(c.programs, func(p *program) bool { return !c.dev.holds(p) })...)
}

// start starts the program for the attributes of a launch. The inputs that it
// makes itself are to be freed by the caller, also on error.
func (c *code) start(w *worker.Worker, attrs []op.Attrs, in []*worker.Buffer) (outs, temps []*worker.Buffer, err error) {
	p, err := c.program(w, attrs)
	if err != nil {
		return nil, nil, err
	}
	if len(p.asked) > 0 {
		b, err := w.Put(0, f64, []int64{int64(len(p.asked))}, c.numbers(p, attrs))
		if err != nil {
			return nil, nil, err
		}
		in, temps = append(in[:len(in):len(in)], b), []*worker.Buffer{b}
	}
	outs, err = p.p.Execute(in)
	return outs, temps, err
}

// compile compiles a text, or takes it from the cache on disk.
func (d *Device) compile(w *worker.Worker, text string, options capi.CompileOptions) (*worker.Program, error) {
	ctx, done := d.begin()
	defer done()
	options.Flags = map[string]any{}
	if len(w.About().Devices) > 0 && w.About().Platform == "cpu" {
		maps.Copy(options.Flags, compileFlags)
		if d.opts.Fast {
			maps.Copy(options.Flags, fastFlags)
		}
	}
	return d.opts.Cache.Compile(ctx, w, text, options.Encode())
}
