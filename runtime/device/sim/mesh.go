package sim

import (
	"strings"

	"github.com/tpush/tpush/runtime/device"
	"github.com/tpush/tpush/runtime/graph"
	"github.com/tpush/tpush/runtime/op"
	"github.com/tpush/tpush/runtime/shape"
)

// What the simulator knows of meshes: one chip computes all of a program, and
// where its parts would be on many is noted with the buffers, so that the
// exchanges between them can be priced.

// A meshed program was last cut for inputs at these places.
type meshed struct {
	places string
	outs   []*spot
	list   []device.Collective
}

// Sharding says where the parts of the buffer would be; nil: on one chip.
func (b *buffer) Sharding() *shape.Sharding {
	if b.spot == nil {
		return nil
	}
	s, err := b.spot.mesh.Place(b.spec.Dims, b.spot.on)
	if err != nil {
		return nil
	}
	return s
}

// places says whether a graph puts something on a mesh.
func places(g *graph.Graph) bool {
	for _, n := range g.Nodes {
		if n.Def.Name == op.Distribute {
			return true
		}
	}
	return false
}

// cut decides for a launch where its results would be on a mesh and what the
// devices would tell each other. It has nothing to do before something is on one.
func (x *executable) cut(l *device.Launch) error {
	l.Collectives = nil
	if x.places {
		x.dev.meshed = true
	}
	if !x.dev.meshed {
		return nil
	}
	in := make([]*spot, len(x.in))
	var b strings.Builder
	on := x.places
	for i := range in {
		if own, ok := l.In[i].(*buffer); ok {
			in[i] = own.spot
		}
		b.WriteString(in[i].String())
		b.WriteByte(' ')
		on = on || in[i] != nil
	}
	if !on {
		x.mesh = nil
		return nil
	}
	if x.mesh == nil || x.mesh.places != b.String() {
		outs, list, err := partitioned(x.graph, in, &x.dev.chip)
		if err != nil {
			return err
		}
		x.mesh = &meshed{b.String(), outs, list}
	}
	l.Collectives = x.mesh.list
	return nil
}

// spots notes with the results where they would be.
func (x *executable) spots(l *device.Launch) {
	if x.mesh == nil {
		return
	}
	for i, s := range x.mesh.outs {
		if b, ok := l.Out[i].(*buffer); ok && s != nil {
			f := *b.form
			f.spot = s
			b.form = &f
		}
	}
}
