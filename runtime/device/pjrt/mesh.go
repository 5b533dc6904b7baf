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
// those it puts something on. With an operation of the host it is the first.
func (x *executable) devices(l *device.Launch) (int, error) {
	n := 1
	if x.dev.meshed {
		for _, b := range l.In {
			if own, ok := b.(*buffer); ok && own.where != nil && !own.lent {
				var err error
				if n, err = together(n, len(own.where.Devices)); err != nil {
					return 0, err
				}
			}
		}
	}
	return x.meshOf(n)
}

// together is the size of the mesh of a program that has to do with one of n and one of m devices.
func together(n, m int) (int, error) {
	if m > 1 && n > 1 && m != n {
		return 0, &MixedMeshError{n, m}
	}
	return max(n, m), nil
}

// meshOf is how many devices the programs run on when the inputs are on n.
func (x *executable) meshOf(n int) (int, error) {
	if x.places {
		for _, node := range x.g.Nodes {
			if node.Def.Name == op.Distribute {
				mesh, err := shape.ParseMesh(node.Attrs.Str("mesh"))
				if err == nil {
					n, err = together(n, mesh.Devices())
				}
				if err != nil {
					return 0, err
				}
			}
		}
	}
	if have := x.dev.Devices(); n > have {
		return 0, &MeshSizeError{n, have}
	}
	if x.results != nil {
		return 1, nil
	}
	x.dev.meshed = x.dev.meshed || n > 1
	return n, nil
}

// startOver starts the program on n devices at once. XLA cuts it: from where
// the inputs are and what distribute says it chooses where everything else is.
func (c *code) startOver(w *worker.Worker, attrs []op.Attrs, in []placed, n int, room func([]*shape.Sharding) error) (made []placed, temps []*worker.Buffer, err error) {
	ins := make([][]*worker.Buffer, n)
	where := make([]string, 0, len(in)+1)
	for _, p := range in {
		where = append(where, p.where.String())
		for k := range ins {
			ins[k] = append(ins[k], p.on[k])
		}
	}
	p, err := c.over(w, attrs, n, where)
	if err != nil {
		return nil, nil, err
	}
	if len(p.asked) > 0 {
		for k := range ins {
			b, err := w.Put(k, f64, []int64{int64(len(p.asked))}, c.numbers(p, attrs))
			if err != nil {
				return nil, temps, err
			}
			temps, ins[k] = append(temps, b), append(ins[k], b)
		}
	}
	if err := room(p.outs); err != nil {
		return nil, temps, err
	}
	outs, err := p.p.ExecuteAll(ins)
	if err != nil {
		return nil, temps, err
	}
	made = make([]placed, len(p.outs))
	for i := range made {
		made[i].where = p.outs[i]
		for k := range ins {
			made[i].on = append(made[i].on, outs[k][i])
		}
	}
	return made, temps, nil
}

// over gives the program for n devices and inputs that are where the texts say.
func (c *code) over(w *worker.Worker, attrs []op.Attrs, n int, where []string) (*program, error) {
	placed := fmt.Sprint(n, " ", strings.Join(where, " "))
	for i, p := range c.programs {
		if p.placed == placed && c.dev.holds(p) && c.serves(p, attrs) {
			copy(c.programs[1:i+1], c.programs[:i])
			c.programs[0] = p
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
		size := in.GroupSize
		if size == 0 {
			size = n
		}
		k.NS = c.dev.Chip().ExchangeNS(k.Op, k.Bytes, size)
		p.collectives = append(p.collectives, k)
	}
	c.keep(p)
	return p, nil
}
