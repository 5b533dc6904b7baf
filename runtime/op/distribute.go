package op

import (
	"github.com/tpush/tpush/runtime/kernel"
	"github.com/tpush/tpush/runtime/shape"
	"github.com/tpush/tpush/runtime/stablehlo"
)

// Distribute places a tensor on the devices of a mesh.
const Distribute Name = "distribute"

// distributeOps say where numbers are. They change none.
var distributeOps = []Def{
	{Name: Distribute, Torch: "distribute_tensor", Class: Collective,
		Doc: "The same elements, placed on the devices of a mesh.",
		Params: []Param{
			tensor("input"),
			{Name: "mesh", Kind: KString, Doc: "names and sizes of its axes"},
			{Name: "placements", Kind: KString, Doc: "one for each axis of the mesh: S(i) cuts axis i, R copies"},
		},
		Shape: distributeShape, DType: sameType,
		Grad:   func(b Builder, c *Call, dy []Value) []Value { return []Value{b.Do(Distribute, c.Attrs, dy[0])} },
		Kernel: kernel.Same, Lower: lowerDistribute, Cost: moves},
}

// Sharding gives what the attributes of a call of distribute say of a tensor.
func Sharding(dims []int, a Attrs) (*shape.Sharding, error) {
	mesh, err := shape.ParseMesh(a.Str("mesh"))
	if err != nil {
		return nil, err
	}
	ps, err := shape.ParsePlacements(a.Str("placements"))
	if err != nil {
		return nil, err
	}
	return mesh.Place(dims, ps)
}

func distributeShape(in []shape.Spec, a Attrs) ([]int, error) {
	_, err := Sharding(in[0].Dims, a)
	return in[0].Dims, err
}

func lowerDistribute(w *stablehlo.Writer, c *LowerCall) []stablehlo.Value {
	s, err := Sharding(c.Out[0].Dims, c.Attrs)
	if err != nil { // inference refused it before
		return c.In[:1]
	}
	return []stablehlo.Value{w.Sharding(c.In[0], s.String())}
}

// ReducedAxes gives the axes that a reduction goes over; false for rows of the
// class that do not reduce whole axes, as pooling.
func (d *Def) ReducedAxes(x shape.Spec, a Attrs) ([]int, bool) {
	named := false
	for _, p := range d.Params {
		named = named || p.Name == "dim"
	}
	if d.Class != Reduce || !named || len(d.Params) == 0 || !d.Params[0].Kind.IsTensor() {
		return nil, false
	}
	axes, err := axesOf(d.Name, x, a)
	return axes, err == nil
}
