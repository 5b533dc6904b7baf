package pjrt

import (
	"context"
	"fmt"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/device/pjrt/capi"
	"github.com/tpush/tpush/runtime/device/pjrt/hlo"
	"github.com/tpush/tpush/runtime/device/pjrt/worker"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// places says whether a graph puts something on a mesh.
func places(g *graph.Graph) bool {
	for _, n := range g.Nodes {
		if n.Def.Name == op.Distribute {
			return true
		}
	}
	return false
}

// A MeshSizeError says that a program needs more devices than there are.
type MeshSizeError struct{ Want, Have int }

// Error gives both numbers.
func (e *MeshSizeError) Error() string {
	return fmt.Sprintf("a mesh of %d devices, there are %d", e.Want, e.Have)
}

// A MixedMeshError says that a program would need meshes of two sizes.
type MixedMeshError struct{ One, Other int }

// Error gives the sizes.
func (e *MixedMeshError) Error() string {
	return fmt.Sprintf("tensors on meshes of %d and of %d devices in one program", e.One, e.Other)
}

// devices is how many devices a launch runs on: those its inputs are on, and
// those it puts something on.
func (x *executable) devices(l *device.Launch) (int, error) {
	n := 1
	note := func(m int) error {
		if m > 1 && n > 1 && m != n {
			return &MixedMeshError{n, m}
		}
		n = max(n, m)
		return nil
	}
	if x.places {
		for _, node := range x.g.Nodes {
			if node.Def.Name == op.Distribute {
				mesh, err := shape.ParseMesh(node.Attrs.Str("mesh"))
				if err == nil {
					err = note(mesh.Devices())
				}
				if err != nil {
					return 0, err
				}
			}
		}
	}
	if x.dev.meshed {
		for _, b := range l.In {
			if own, ok := b.(*buffer); ok && own.where != nil {
				if err := note(len(own.where.Devices)); err != nil {
					return 0, err
				}
			}
		}
	}
	if have := x.dev.Devices(); n > have {
		return 0, &MeshSizeError{n, have}
	}
	return n, nil
}

// runOver runs the program on n devices at once. XLA cuts it: from where the
// inputs are and what distribute says it chooses where everything else is.
func (x *executable) runOver(w *worker.Worker, l *device.Launch, n int) error {
	d, c := x.dev, x.stages[0].code
	d.meshed = true
	ins := make([][]*worker.Buffer, n)
	var temps []*worker.Buffer
	defer func() { w.Free(temps...) }()
	where := make([]string, 0, len(l.In)+1)
	for i, b := range l.In {
		on, at, err := x.spread(w, i, b, n)
		if err != nil {
			return err
		}
		if _, own := b.(*buffer); !own {
			temps = append(temps, on...)
		}
		where = append(where, at.String())
		for k := range ins {
			ins[k] = append(ins[k], on[k])
		}
	}
	p, err := c.over(w, l.Attrs, n, where)
	if err != nil {
		return err
	}
	if len(p.asked) > 0 {
		for k := range ins {
			b, err := w.Put(k, f64, []int64{int64(len(p.asked))}, c.numbers(p, l.Attrs))
			if err != nil {
				return err
			}
			temps, ins[k] = append(temps, b), append(ins[k], b)
		}
	}
	blocks := make([]*device.Block, len(x.g.Outputs))
	for i, r := range x.g.Outputs {
		s := partOf(r.Spec(), p.outs[i])
		var o device.Owner
		if i < len(l.Owners) {
			o = l.Owners[i]
		}
		if blocks[i], err = d.hbm.Alloc(s.Bytes(), s.PaddedBytes(), o); err != nil {
			for _, b := range blocks[:i] {
				d.hbm.Free(b)
			}
			return err
		}
	}
	outs, err := p.p.ExecuteAll(ins)
	if err != nil {
		for _, b := range blocks {
			d.hbm.Free(b)
		}
		return err
	}
	l.Out = l.Out[:0]
	for i, r := range x.g.Outputs {
		there := make([]*worker.Buffer, n)
		for k := range there {
			there[k] = outs[k][i]
		}
		l.Out = append(l.Out, d.made(r.Spec(), there, p.outs[i], blocks[i]))
	}
	for k, give := range l.Donate {
		if own, ok := l.In[k].(*buffer); give && ok {
			own.Free()
		}
	}
	d.mu.Lock()
	temps = append(temps, d.dead...)
	d.dead = nil
	d.mu.Unlock()
	l.Collectives = p.collectives
	return nil
}

// spread gives an input on n devices, and where its parts are.
func (x *executable) spread(w *worker.Worker, i int, b device.Buffer, n int) ([]*worker.Buffer, *shape.Sharding, error) {
	switch own, ok := b.(*buffer); {
	case ok && own.dev == x.dev && own.block == nil:
		return nil, nil, &device.FreedBufferError{Input: i, Spec: own.spec}
	case ok && own.dev == x.dev && own.spec.Equal(x.params[i]):
		_, err := own.over(w, n)
		return own.there, own.where, err
	case !ok && b != nil && b.Spec().Equal(x.params[i]):
		t, err := typeOf(b.Spec())
		if err != nil {
			return nil, nil, err
		}
		a := b.Host()
		var on []*worker.Buffer
		for k := range n {
			p, err := w.Put(k, t, dimsOf(b.Spec()), a.Buf[:b.Spec().Size()*a.DType.HostBytes()])
			if err != nil {
				return nil, nil, err
			}
			on = append(on, p)
		}
		return on, copies(b.Spec(), n), nil
	}
	e := &device.InputError{Input: i, Want: x.params[i]}
	if b != nil {
		e.Got = b.Spec()
	}
	return nil, nil, e
}

// over gives the program for n devices and inputs that are where the texts say.
func (c *code) over(w *worker.Worker, attrs []op.Attrs, n int, where []string) (*program, error) {
	placed := fmt.Sprint(n, " ", strings.Join(where, " "))
	for _, p := range c.programs {
		if p.placed == placed && c.dev.holds(p) && c.serves(p, attrs) {
			c.dev.touch(p)
			return p, nil
		}
	}
	fail := func(err error) (*program, error) { return nil, &CompileError{c.g.Name, err} }
	l := c.lower(attrs, stablehlo.ModuleOptions{Partitions: n, Sharding: append(where, "{replicated}")})
	made, err := c.dev.compile(w, l.text, capi.CompileOptions{Partitions: n, NoShardy: true, FreeOutputs: len(c.g.Outputs)})
	if err != nil {
		return fail(err)
	}
	if len(made.Outputs) != len(c.g.Outputs) {
		return fail(fmt.Errorf("%d results, want %d", len(made.Outputs), len(c.g.Outputs)))
	}
	p := &program{lowered: l, p: made, born: c.dev.born, placed: placed}
	code, _, err := made.Optimized(context.Background())
	if err != nil {
		return fail(err)
	}
	m, err := hlo.ParseWithConfig(code)
	if err != nil {
		return fail(err)
	}
	ranks := make([]int, len(c.g.Outputs))
	for i, r := range c.g.Outputs {
		ranks[i] = len(r.Spec().Dims)
	}
	p.outs = m.OutputShardings(ranks, n)
	for i, s := range p.outs {
		if s == nil {
			return fail(fmt.Errorf("the compiler does not say where result %d is", i))
		}
	}
	for _, in := range m.Collectives() {
		k := device.Collective{Op: strings.TrimSuffix(in.Opcode, "-start"), Name: in.Name, Groups: in.Groups}
		for _, s := range in.Shape.Leaves() {
			k.Bytes += s.Bytes()
		}
		p.collectives = append(p.collectives, k)
	}
	c.keep(p)
	return p, nil
}
