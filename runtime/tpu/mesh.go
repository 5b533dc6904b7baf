package tpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// A DeviceMesh is devices in a grid with named axes; the last axis varies fastest.
type DeviceMesh struct{ mesh shape.Mesh }

// InitDeviceMesh makes a mesh of the given sizes, as PyTorch's init_device_mesh
// does: InitDeviceMesh([]int{2, 4}, "dp", "tp") has 8 devices. Axes without a
// name are called x, y and z.
func InitDeviceMesh(dims []int, names ...string) *DeviceMesh {
	m, err := shape.NewMesh(dims, names...)
	if err != nil {
		ambientEngine().fail("init_device_mesh", err)
	}
	return &DeviceMesh{m}
}

// Size is how many devices the mesh has.
func (m *DeviceMesh) Size() int { return m.mesh.Devices() }

// String is dp=2,tp=4.
func (m *DeviceMesh) String() string { return m.mesh.String() }

// A Placement is what one axis of a mesh does with a tensor.
type Placement = shape.Placement

// Shard cuts axis dim of the tensor in parts, one for each device along the axis
// of the mesh: equal ones, as far as there are elements.
func Shard(dim int) Placement { return Placement(dim) }

// Replicate holds a copy on each device along the axis of the mesh.
func Replicate() Placement { return shape.Replicated }

// Partial holds a part of a sum on each device along the axis of the mesh: for
// FromLocal alone. A tensor is never left in parts, so nothing redistributes to it.
func Partial() Placement { return shape.PartialSum }

// FromLocal makes one tensor of what each device of a mesh holds, in the order of
// the devices. Along an axis that shards, the parts come one after another; along
// one that replicates, the first counts; along Partial they are added, by an
// all-reduce between the devices. Where the placements say Partial, the sum is
// replicated; a Redistribute in the same program says otherwise at no more cost.
func FromLocal(m *DeviceMesh, parts []*Tensor, placements ...Placement) *Tensor {
	e := ambientEngine()
	if len(parts) > 0 {
		e = parts[0].engine()
	}
	someMesh("from_local", e, m)
	if len(parts) != m.Size() {
		e.fail("from_local", &shape.MeshError{Why: fmt.Sprintf("%d parts for %d devices", len(parts), m.Size())})
	}
	ps := slices.Clone(placements)
	for len(ps) < len(m.mesh.Dims) {
		ps = append(ps, Replicate())
	}
	sums := m.joined(parts, ps)
	stacked := make([]Placement, len(ps)) // each addend is where its devices are
	for a, p := range ps {
		switch {
		case p == Partial():
			stacked[a], ps[a] = Shard(0), Replicate()
		case p >= 0:
			stacked[a] = p + 1
		default:
			stacked[a] = p
		}
	}
	if len(sums) == 1 {
		return DistributeTensor(sums[0], m, ps...)
	}
	return DistributeTensor(DistributeTensor(Stack(0, sums...), m, stacked...).Sum(0), m, ps...)
}

// joined puts the parts of each addend together. The last axis varies fastest,
// among the parts and among the addends.
func (m *DeviceMesh) joined(parts []*Tensor, ps []Placement) []*Tensor {
	inner := 1 // addends that follow one another
	for a := len(m.mesh.Dims) - 1; a >= 0; a-- {
		n := m.mesh.Dims[a]
		if ps[a] == Partial() {
			inner *= n
			continue
		}
		var next []*Tensor
		for at := 0; at < len(parts); at += n * inner {
			for k := range inner {
				row := make([]*Tensor, n)
				for i := range row {
					row[i] = parts[at+i*inner+k]
				}
				if ps[a] >= 0 && n > 1 {
					row[0] = Cat(int(ps[a]), row...)
				}
				next = append(next, row[0])
			}
		}
		parts = next
	}
	return parts
}

// DeviceCount is how many devices there are. The simulator is one chip: it
// computes the same numbers on any mesh, and predicts the exchanges.
func DeviceCount() int {
	if d, ok := ambientEngine().d.Device().(device.Meshed); ok {
		return d.Devices()
	}
	return 1
}

// DistributeTensor places x on the devices of a mesh: a placement for each of
// its axes. What is computed of it is cut by XLA's partitioner, which adds the
// exchanges; numbers do not change. An axis that does not divide is cut as
// PyTorch's chunk cuts it, so that the last devices hold less, or nothing; real XLA
// cuts it so inside a program, and hands it over whole.
func DistributeTensor(x *Tensor, m *DeviceMesh, placements ...Placement) *Tensor {
	someMesh("distribute_tensor", x.engine(), m)
	return call(op.Distribute, placing(x, m, placements), x)
}

// someMesh refuses a mesh that nothing made.
func someMesh(name string, e *engine, m *DeviceMesh) {
	if m == nil {
		e.fail(name, &shape.MeshError{Why: "there is no mesh"})
	}
}

// placing are the attributes of distribute; missing placements replicate,
// negative axes do not exist.
func placing(x *Tensor, m *DeviceMesh, ps []Placement) op.Attrs {
	text := make([]string, len(ps))
	for i, p := range ps {
		text[i] = p.String()
	}
	for i := len(text); i < len(m.mesh.Dims); i++ {
		text = append(text, Replicate().String())
	}
	return op.Attrs{{Name: "mesh", Value: m.mesh.String()}, {Name: "placements", Value: strings.Join(text, ",")}}
}

// Redistribute is DistributeTensor of a tensor that is on a mesh already.
func (t *Tensor) Redistribute(m *DeviceMesh, placements ...Placement) *Tensor {
	return DistributeTensor(t, m, placements...)
}

// FullTensor gives every device of a mesh all of the tensor.
func (t *Tensor) FullTensor(m *DeviceMesh) *Tensor { return DistributeTensor(t, m) }

// sharding says where the parts of a computed tensor are; nil: it is on one device.
func (t *Tensor) sharding() *shape.Sharding {
	e := t.engine()
	Sync(t)
	s, err := e.d.Sharding(t.value())
	if err != nil {
		e.fail("placements", err)
	}
	return s
}

// Placements says where the tensor is, a placement for each axis of the mesh.
// It computes the tensor. nil: it is on one device, or the mesh cannot say it.
func (t *Tensor) Placements(m *DeviceMesh) []Placement {
	someMesh("placements", t.engine(), m)
	s := t.sharding()
	if s == nil || len(s.Devices) != m.Size() {
		return nil
	}
	ps, ok := m.mesh.Placements(t.view.Dims, s)
	if !ok {
		return nil
	}
	return ps
}

// ToLocal gives the part that one device of the mesh holds; all of it when the
// tensor is on one device.
func (t *Tensor) ToLocal(device int) *Tensor {
	s := t.sharding()
	if s == nil {
		return t
	}
	part, at := s.Part(t.view.Dims), s.TileOf(device)
	for i, n := range part {
		if d := t.view.Dims[i]; n < d {
			from := min(at[i]*n, d)
			t = t.Narrow(i, from, min(n, d-from))
		}
	}
	return t
}
