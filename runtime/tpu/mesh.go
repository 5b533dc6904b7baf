package tpu

import (
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
// PyTorch's chunk cuts it, so that the last devices hold less, or nothing.
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
